"""Runs on the real gateway, on newly created tables: the daemon, and the bare sender with the daemon's calls."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Sequence

import read_metric
from bench_setup import Bench
from daemon_run import NullGateway, Watch, config_of, run_daemon
from measured_process import MeasuredProcess

FAMILY = "M"

MACHINES = 1000

# Between simulate's machines, server0001 to server1000: four regions of the same size.
SPLITS = (b"server0251", b"server0501", b"server0751")


@dataclass(frozen=True)
class Written:
    """What was written to the real gateway. `seconds` are from the first call to the last acknowledgement."""

    rows: int
    calls: int
    seconds: float
    cpu_s: float

    @property
    def rows_per_s(self) -> float:
        return self.rows / self.seconds

    def __add__(self, other: "Written") -> "Written":
        return Written(self.rows + other.rows, self.calls + other.calls, self.seconds + other.seconds, self.cpu_s + other.cpu_s)


def fresh_tables(bench: Bench, names: Sequence[str], splits: tuple[bytes, ...]) -> None:
    """Empty tables of these names, split there, in place of those that there are."""
    oracle = bench.stack().oracle
    there = oracle.tables()
    for name in names:
        if name in there:
            oracle.drop(name)
        oracle.create(name, FAMILY, splits)


def record_calls(bench: Bench, topic: str, tables: Mapping[str, Any], splits: tuple[bytes, ...],
                 changes: Optional[Mapping[str, Any]] = None) -> Path:
    """A file of the calls with which the daemon writes the whole topic to the real gateway."""
    fresh_tables(bench, list(tables), splits)
    with recorder(bench) as (path, address):
        run_daemon(bench, config_of(bench, topic, [address], tables, changes), bench.readings_of(topic))
    return path


@contextmanager
def recorder(bench: Bench) -> Iterator[tuple[Path, str]]:
    """Records the calls that go through it to the real gateway: the file, whole at the end, and the address to call."""
    path = bench.directory / f"{bench.unique('calls')}.bin"
    gateway = NullGateway(bench, ["--record", str(path), "--forward", bench.stack().gateways[0].address], None)
    try:
        yield path, gateway.address
    finally:
        gateway.end()
    if gateway.tally["calls_left_out"] > 0:
        raise RuntimeError(f"'{path}' holds not all calls: they were more than null-gateway records")


def daemon_writes(bench: Bench, topic: str, tables: Mapping[str, Any], changes: Optional[Mapping[str, Any]] = None) -> Written:
    """The daemon, from its first message to the last acknowledgement."""
    watch = Watch()
    config = config_of(bench, topic, [bench.stack().gateways[0].address], tables, changes)
    usage, samples = run_daemon(bench, config, bench.readings_of(topic), on_look=watch.look)
    return Written(read_metric.total(samples, "tidemark_hbase_rows_written_total"),
                   read_metric.total(samples, "tidemark_hbase_calls_total", 'outcome="ok"'),
                   watch.seconds, usage.cpu_s)


def bare_sender(bench: Bench, gateway: str, calls: Path, *options: str) -> dict[str, Any]:
    """Sends recorded calls; what bare-sender prints."""
    done = subprocess.run([bench.tool("bare-sender"), "--gateway", gateway, "--calls", calls, *options], check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def bare_writes(bench: Bench, topic: str, calls: Path, connections: int) -> Written:
    """The bare sender, with kcat reading the topic to nowhere beside it from the same moment on."""
    with kcat_beside(bench, topic):
        figures = bare_sender(bench, bench.stack().gateways[0].address, calls, "--connections", str(connections))
    return Written(figures["rows"], figures["calls"], figures["seconds"], figures["cpu_s"])


@contextmanager
def kcat_beside(bench: Bench, topic: str) -> Iterator[None]:
    kcat = MeasuredProcess(["kcat", "-C", "-b", bench.kafka().address, "-t", topic, "-o", "beginning", "-e", "-q"],
                           bench.log("kcat"), stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        usage = kcat.wait()
    if usage.exit_code != 0:
        raise RuntimeError(f"kcat ended with {usage.exit_code}, see '{bench.log('kcat')}'")

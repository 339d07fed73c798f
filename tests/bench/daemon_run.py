"""A run of the whole daemon over a full topic, from its start until the last offset is committed."""

from __future__ import annotations

import http.client
import json
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

import daemon as integration_daemon
import read_metric
from bench_setup import Bench
from measured_process import MeasuredProcess, Usage
from stack_services import free_port

# A look at the metrics costs the daemon some 0.3 ms; times are as exact as this.
LOOK_INTERVAL_S = 0.1
DEADLINE_S = 300


@dataclass(frozen=True)
class DaemonRun:
    """What one run cost. `seconds` are those from the first message to the last acknowledgement: the group's join is not
    counted."""

    readings: int
    usage: Usage
    rows: int
    calls: int
    bytes: int
    seconds: float
    metrics: list[tuple[str, float]]

    @property
    def cpu_us_per_reading(self) -> float:
        return self.usage.cpu_s * 1e6 / self.readings

    @property
    def readings_per_s(self) -> float:
        return self.readings / self.seconds

    def metric(self, name: str, labels: str = "") -> int:
        return read_metric.total(self.metrics, name, labels)


def tables_config(*, current: bool = True, history: bool = True) -> dict[str, Any]:
    """METRIC, a row for each reading; CURRENT_METRIC, a row for each machine: those of README.md."""
    tables = integration_daemon.metric_tables("METRIC", "CURRENT_METRIC")
    return {name: table for name, table in tables.items() if (current if name == "CURRENT_METRIC" else history)}


def config_of(bench: Bench, topic: str, gateways: Sequence[str], tables: Mapping[str, Any],
              changes: Optional[Mapping[str, Any]] = None) -> dict[str, Any]:
    """Only what has no default, so that what is measured is what an operator gets."""
    return integration_daemon.merged({
        "kafka": {"brokers": bench.kafka().address, "group": bench.unique("bench"), "topics": [topic]},
        "readings": {"format": "json", "time": {"field": "ts", "format": "epoch_ms"}},
        "tables": tables,
        "hbase": {"gateways": list(gateways)},
        "service": {"http": f"127.0.0.1:{free_port()}"},
    }, changes or {})


@contextmanager
def null_gateway(bench: Bench, *options: str, cpus: Optional[set[int]] = None) -> Iterator["NullGateway"]:
    gateway = NullGateway(bench, options, cpus)
    try:
        yield gateway
    finally:
        gateway.end()


class NullGateway:
    """A gateway that says yes and keeps nothing, and counts."""

    def __init__(self, bench: Bench, options: Sequence[str], cpus: Optional[set[int]]) -> None:
        self._process = MeasuredProcess([bench.tool("null-gateway"), *options], bench.log("null-gateway"), cpus,
                                        stdout=subprocess.PIPE)
        word, port = self._process.stdout.readline().split()
        assert word == b"port"
        self.address = f"127.0.0.1:{int(port)}"
        self.tally: dict[str, float] = {}
        self.usage: Optional[Usage] = None

    def end(self) -> None:
        """Stops it; what it counted is in `tally`."""
        if self.usage is None:
            stdout = self._process.stdout
            self._process.send_end()
            self.tally = {name.decode(): float(value) for name, value in (line.split() for line in stdout)}
            self.usage = self._process.wait()


def run_on_null_gateway(bench: Bench, topic: str, tables: Mapping[str, Any], changes: Optional[Mapping[str, Any]] = None,
                        gateway_options: Sequence[str] = (), cpus: Optional[set[int]] = None,
                        gateway_cpus: Optional[set[int]] = None, n_gateways: int = 1) -> DaemonRun:
    """Start to end of a daemon that reads the whole topic, against null gateways."""
    readings = bench.readings_of(topic)
    gateways = [NullGateway(bench, gateway_options, gateway_cpus) for _ in range(n_gateways)]
    config = config_of(bench, topic, [gateway.address for gateway in gateways], tables, changes)
    try:
        watch = Watch()
        usage, metrics = run_daemon(bench, config, readings, cpus, watch.look)
    finally:
        for gateway in gateways:
            gateway.end()

    def total(name: str) -> int:
        return int(sum(gateway.tally[name] for gateway in gateways))
    return DaemonRun(readings, usage, total("rows"), total("calls"), total("bytes"), watch.seconds, metrics)


class Watch:
    """When the daemon had not begun yet, and when all was written."""

    def __init__(self) -> None:
        self.begun_s: Optional[float] = None
        self.begun_cpu_s = 0.0  # what the daemon had used by then, for its start
        self._looks_s: list[float] = []  # since then

    def look(self, process: MeasuredProcess, metrics: list[tuple[str, float]]) -> None:
        now_s = time.monotonic()
        if read_metric.total(metrics, "tidemark_messages_received_total") == 0:
            self.begun_s, self.begun_cpu_s = now_s, process.cpu_s()
            self._looks_s.clear()
        self._looks_s.append(now_s)

    @property
    def seconds(self) -> float:
        """From the first message to the last acknowledgement. Each came between two looks, and is taken to be half-way: a look
        too much or too little, at the worst, and neither on average."""
        assert self.begun_s is not None, "the first look comes before the daemon answers"
        looks = self._looks_s
        return max((looks[-2] + looks[-1] - looks[0] - looks[1]) / 2, LOOK_INTERVAL_S)


def start_daemon(bench: Bench, name: str, config: Mapping[str, Any], cpus: Optional[set[int]] = None,
                 environment: Optional[Mapping[str, str]] = None) -> MeasuredProcess:
    """The daemon with this configuration; it logs to `bench.log(name)`."""
    path = bench.directory / f"{name}.yaml"
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")  # JSON is YAML
    return MeasuredProcess([bench.tidemark, "run", "--config", path], bench.log(name), cpus, environment)


def run_daemon(bench: Bench, config: Mapping[str, Any], readings: int, cpus: Optional[set[int]] = None,
               on_look: Callable[[MeasuredProcess, list[tuple[str, float]]], None] = lambda process, samples: None,
               ) -> tuple[Usage, list[tuple[str, float]]]:
    """Runs the daemon until `readings` messages are written, or kept as dead letters, and committed, and stops it; its cost and last metrics.

    `on_look` is given the process and its metrics each time that they are looked at.
    """
    name = bench.unique("daemon")
    process = start_daemon(bench, name, config, cpus)
    def all_is_written(metrics: list[tuple[str, float]]) -> bool:
        on_look(process, metrics)
        return (read_metric.total(metrics, "tidemark_messages_written_total")
                + read_metric.total(metrics, "tidemark_messages_dead_lettered_total")) >= readings
    try:
        samples = await_metrics(process, config["service"]["http"], bench.log(name), all_is_written)
    finally:
        usage = process.end()
    if usage.exit_code != 0:
        raise RuntimeError(f"the daemon ended with {usage.exit_code}, see '{bench.log(name)}'")
    committed = sum(bench.kafka().admin.committed_offsets(config["kafka"]["group"], config["kafka"]["topics"][0]).values())
    if committed != readings:
        raise RuntimeError(f"the daemon committed {committed} of {readings} messages, see '{bench.log(name)}'")
    return usage, samples


def await_metrics(process: MeasuredProcess, address: str, log: Path,
                  condition: Callable[[list[tuple[str, float]]], bool],
                  interval_s: float = LOOK_INTERVAL_S) -> list[tuple[str, float]]:
    """The daemon's metrics, once the condition holds of them; none of them while it does not answer."""
    give_up_at = time.monotonic() + DEADLINE_S
    while time.monotonic() < give_up_at:
        if process.has_ended():
            raise RuntimeError(f"the daemon ended by itself, see '{log}'")
        try:
            samples = read_metric.read(f"http://{address}/metrics")
        except (OSError, http.client.HTTPException):
            samples = []
        if condition(samples):
            return samples
        time.sleep(interval_s)
    raise RuntimeError(f"not done after {DEADLINE_S} s, see '{log}'")

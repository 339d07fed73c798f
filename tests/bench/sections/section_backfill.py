"""A backfill beside live readings: what `tidemark load` costs a daemon on the same gateway, and what its yielding costs a load alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional, Sequence

from bench_report import Report, spread
from bench_setup import Bench
from daemon_run import NullGateway, null_gateway, tables_config
from jvm_process import spawn
from measured_process import MeasuredProcess
from paced_daemon import Load, paced_daemon
from section_latency import NULL_OPTIONS

TITLE = "a backfill beside live readings, on a gateway whose calls take a fixed time"

# A call takes long enough that a busy machine's scheduling does not show. There are fewer servers than a load has writers, so
# that it queues, and live readings come so slowly that each is a call.
CALL_MS = 50
ROWS_PER_SECOND = 1_000_000
SERVERS = 2
LIVE_SHARE = 0.5
LIVE_RATE = int(LIVE_SHARE * SERVERS * 1000 / CALL_MS)
LEVEL_S = 20.0

FILES = 4
READINGS_BESIDE = 4_000_000
READINGS_ALONE = 1_600_000

FULL_SPEED: tuple[str, ...] = ()
YIELDING = ("--yield",)


@dataclass(frozen=True)
class Beside:
    """What was measured of a daemon, and of the load beside it."""

    live: Load
    calls_p50_ms: float  # of the live calls, as the gateway sees them
    calls_p99_ms: float
    load_rows_per_s: float


def run(bench: Bench, report: Report) -> None:
    _beside_live(bench, report)
    _alone(bench, report)


def _gateway_options(servers: int) -> list[str]:
    return ["--call-ms", str(CALL_MS), "--rows-per-second", str(ROWS_PER_SECOND), "--servers", str(servers), *NULL_OPTIONS]


# ---- beside live readings ----

def _beside_live(bench: Bench, report: Report) -> None:
    files = _files(bench, READINGS_BESIDE // (4 if bench.quick else 1))
    loads: dict[str, Optional[Sequence[str]]] = {"live alone": None, "with load": FULL_SPEED, "with load --yield": YIELDING}
    runs: dict[str, list[Beside]] = {name: [] for name in loads}
    for _ in range(bench.runs):
        turn = bench.turns.run(lambda: {name: _turn(bench, files, options) for name, options in loads.items()})
        for name, beside in turn.items():
            runs[name].append(beside)
    alone, full, yielding = runs.values()
    for name, ones, at_most in (("load", full, None), ("load --yield", yielding, 2)):
        report.ratio(f"p99 of live calls with {name} / alone", [a.calls_p99_ms / b.calls_p99_ms for a, b in zip(ones, alone)],
                     at_most=at_most)
        report.ratio(f"p99 of live readings with {name} / alone",
                     [a.live.percentile_ms(0.99) / b.live.percentile_ms(0.99) for a, b in zip(ones, alone)], at_most=at_most)
    report.ratio("rows/s beside live readings, load --yield / load",
                 [a.load_rows_per_s / b.load_rows_per_s for a, b in zip(yielding, full)])
    report.table(f"{LIVE_RATE} live readings/s, {LIVE_SHARE:.0%} of {SERVERS} servers; {CALL_MS} ms for a call and "
                 f"{1e6 / ROWS_PER_SECOND:.0f} us for a row",
                 ["what", "calls p50 ms", "calls p99 ms", "readings p50 ms", "readings p99 ms", "rows/call", "load rows/s"],
                 [[name, spread([one.calls_p50_ms for one in ones], 1), spread([one.calls_p99_ms for one in ones], 1),
                   *(spread([one.live.percentile_ms(share) for one in ones], 1) for share in (0.5, 0.99)),
                   spread([one.live.rows_per_call for one in ones], 1), spread([one.load_rows_per_s for one in ones], 0)]
                  for name, ones in runs.items()])
    report.note("A call's time is from when the gateway has it until its answer is due. A reading's is from Kafka's record time to the\n"
                "acknowledgement.")


def _turn(bench: Bench, files: Sequence[Path], options: Optional[Sequence[str]]) -> Beside:
    gateway = NullGateway(bench, _gateway_options(SERVERS), None)
    try:
        with paced_daemon(bench, gateway.address, tables_config(current=False)) as daemon:
            started_s = time.monotonic()
            with _loading(bench, gateway.address, files, options):
                live = daemon.load(LIVE_RATE, LEVEL_S / (4 if bench.quick else 1))
            loaded_s = time.monotonic() - started_s
            live_rows = daemon.rows_written()
    finally:
        gateway.end()
    return Beside(live, gateway.tally["small_calls_p50_ms"], gateway.tally["small_calls_p99_ms"],
                  (gateway.tally["rows"] - live_rows) / loaded_s)


@contextmanager
def _loading(bench: Bench, gateway: str, files: Sequence[Path], options: Optional[Sequence[str]]) -> Iterator[None]:
    """A load that is killed at the end, which comes before its own."""
    if options is None:
        yield
        return
    with bench.log("load").open("ab") as log:
        process = spawn(_command(bench, gateway, files, options), dict(os.environ), log, owned=True)
    try:
        yield
        if process.poll() is not None:
            raise RuntimeError(f"the load ended with {process.returncode} before it was measured, see '{bench.log('load')}'")
    finally:
        process.kill()
        process.wait()


# ---- alone ----

def _alone(bench: Bench, report: Report) -> None:
    files = _files(bench, READINGS_ALONE // (4 if bench.quick else 1))
    for servers in (SERVERS, 2 * FILES):
        rates: dict[Sequence[str], list[float]] = {FULL_SPEED: [], YIELDING: []}
        for _ in range(bench.runs):
            with null_gateway(bench, *_gateway_options(servers)) as gateway:
                turn = bench.turns.run(lambda: {options: _rows_per_s(bench, gateway.address, files, options) for options in rates})
            for options, rate in turn.items():
                rates[options].append(rate)
        report.ratio(f"rows/s of a load alone, load --yield / load, {servers} servers",
                     [a / b for a, b in zip(rates[YIELDING], rates[FULL_SPEED])], at_least=0.6)


def _rows_per_s(bench: Bench, gateway: str, files: Sequence[Path], options: Sequence[str]) -> float:
    log = bench.log("load")
    process = MeasuredProcess(_command(bench, gateway, files, options), log, stdout=subprocess.PIPE)
    text = process.stdout.read().decode()
    rate = re.search(r"messages in .*, ([\d,]+)/s", text)
    usage = process.wait()
    if usage.exit_code != 0 or rate is None:
        raise RuntimeError(f"the load ended with {usage.exit_code}, see '{log}': {text}")
    return float(rate[1].replace(",", ""))


# ---- files ----

def _command(bench: Bench, gateway: str, files: Sequence[Path], options: Sequence[str]) -> list[str]:
    """A load with its own configuration and marks."""
    directory = bench.directory / bench.unique("load")
    directory.mkdir()
    config = directory / "tidemark.yaml"
    config.write_text(json.dumps({
        "kafka": {"brokers": "127.0.0.1:1", "group": "load", "topics": ["load"]},
        "readings": {"format": "json", "time": {"field": "ts", "format": "epoch_ms"}},
        "tables": tables_config(current=False), "hbase": {"gateways": [gateway]}}), encoding="utf-8")
    return [str(bench.tidemark), "load", "-c", str(config), "--state-directory", str(directory), *options, *map(str, files)]


def _files(bench: Bench, readings: int) -> list[Path]:
    """Readings of one metric."""
    directory = bench.directory / bench.unique("files")
    directory.mkdir()
    paths = [directory / f"{part}.jsonl" for part in range(FILES)]
    for part, path in enumerate(paths):
        with path.open("wb") as file, bench.log("simulate").open("ab") as log:
            subprocess.run([bench.tidemark, "simulate", "--print", "--readings", str(readings // FILES), "--metrics", "1",
                            "--seed", str(part)], check=True, stdin=subprocess.DEVNULL, stdout=file, stderr=log)
    return paths

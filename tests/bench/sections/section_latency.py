"""Produced to acknowledged, at shares of what the daemon can do, with the batching that it chooses by itself."""

from __future__ import annotations

import statistics
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, ContextManager, Iterator, Mapping

from bench_report import Report, spread
from bench_setup import Bench
from daemon_run import null_gateway, run_on_null_gateway, tables_config
from paced_daemon import MACHINES, METRICS, Load, PacedDaemon, paced_daemon, percentile, recorded_latencies_ms
from real_gateway import bare_sender, daemon_writes, fresh_tables, recorder
from section_gateway import CONNECTIONS, SPLITS

TITLE = "latency from Kafka's record time to the acknowledgement, at 10 %, 50 % and 90 % of capacity"

READINGS = 200_000
SHARES = (0.1, 0.5, 0.9)
LEVEL_S = 5.0
# The first messages of a topic wait for connections and caches.
WAKE_S = 1.0
QUIET_RATE, QUIET_S = 100, 10.0
CHECK_RATE = 5000  # few enough that recording costs nothing
NULL_OPTIONS = ("--splits", ",".join(split.decode() for split in SPLITS))
# About what the real gateway makes of such rows, but always the same: calls wait in one queue for one server.
FIXED_OPTIONS = (*NULL_OPTIONS, "--call-ms", "5", "--rows-per-second", "60000")


@dataclass
class Levels:
    """What was measured at each rate, a value for each turn."""

    name: str
    tables: Mapping[str, Any]
    capacity: float = 0
    shares: tuple[float, ...] = SHARES
    loads: dict[str, list[Load]] = field(default_factory=dict)  # by level

    def add(self, level: str, load: Load) -> None:
        self.loads.setdefault(level, []).append(load)

    def rate(self, share: float) -> int:
        return max(int(self.capacity * share), 1)

    def p99_ms(self, level: str) -> list[float]:
        return [load.percentile_ms(0.99) for load in self.loads[level]]

    def rows(self) -> list[list[Any]]:
        return [[f"{self.name}, {level}", loads[0].rate, *(spread([load.percentile_ms(share) for load in loads], 1)
                                                           for share in (0.5, 0.99, 0.999)),
                 int(statistics.median(load.rows_per_call for load in loads))] for level, loads in self.loads.items()]


def _level(share: float) -> str:
    return f"{share:.0%}"


def _seconds(bench: Bench, seconds: float) -> float:
    return seconds / 5 if bench.quick else seconds


def _find_capacity(bench: Bench, daemon: PacedDaemon, full_topic_per_s: float) -> float:
    """What is written in a second while readings are being produced at the rate of a full topic: the producer and Kafka
    take their share of the same cores then."""
    return daemon.written_per_s(int(full_topic_per_s), LEVEL_S)


def _measure(bench: Bench, levels: Levels, daemon: PacedDaemon, *, quiet: bool) -> None:
    daemon.load(levels.rate(0.5), WAKE_S)
    for share in levels.shares:
        levels.add(_level(share), bench.turns.run(lambda: daemon.load(levels.rate(share), _seconds(bench, LEVEL_S))))
    if quiet:
        levels.add(f"{QUIET_RATE}/s", bench.turns.run(lambda: daemon.load(QUIET_RATE, _seconds(bench, QUIET_S))))


def _on_null_gateway(bench: Bench, levels: Levels, topic: str) -> None:
    full = run_on_null_gateway(bench, topic, levels.tables, gateway_options=NULL_OPTIONS).readings_per_s
    for _ in range(bench.runs):
        with null_gateway(bench, *NULL_OPTIONS) as gateway, paced_daemon(bench, gateway.address, levels.tables) as daemon:
            if levels.capacity == 0:
                levels.capacity = _find_capacity(bench, daemon, full)
            _measure(bench, levels, daemon, quiet=True)


@contextmanager
def _on_fixed_gateway(bench: Bench, tables: Mapping[str, Any]) -> Iterator[PacedDaemon]:
    with null_gateway(bench, *FIXED_OPTIONS) as gateway, paced_daemon(bench, gateway.address, tables) as daemon:
        yield daemon


def _capacity_on_fixed_gateway(bench: Bench, tables: Mapping[str, Any], topic: str) -> float:
    full = run_on_null_gateway(bench, topic, tables, gateway_options=FIXED_OPTIONS).readings_per_s
    with _on_fixed_gateway(bench, tables) as daemon:
        return _find_capacity(bench, daemon, full)


@contextmanager
def _on_real_gateway(bench: Bench, tables: Mapping[str, Any]) -> Iterator[PacedDaemon]:
    fresh_tables(bench, list(tables), SPLITS)
    with paced_daemon(bench, bench.stack().gateways[0].address, tables) as daemon:
        yield daemon


def _capacity_on_real_gateway(bench: Bench, tables: Mapping[str, Any], topic: str) -> float:
    for _ in range(2):  # the first one warms the gateway and HBase up
        fresh_tables(bench, list(tables), SPLITS)
        full = bench.readings_of(topic) / daemon_writes(bench, topic, tables).seconds
    with _on_real_gateway(bench, tables) as daemon:
        return _find_capacity(bench, daemon, full)


def _record_level(bench: Bench, rate: int, tables: Mapping[str, Any]) -> Path:
    """The calls that the daemon makes of readings at this rate on the real gateway: its batches."""
    fresh_tables(bench, list(tables), SPLITS)
    with recorder(bench) as (path, address), paced_daemon(bench, address, tables) as daemon:
        daemon.load(rate, _seconds(bench, LEVEL_S))
    return path


def _bare_rows(bench: Bench, report: Report, levels: Levels) -> list[list[Any]]:
    """The bare sender at the rates of `levels`, with the daemon's batches, on the real gateway."""
    rows = []
    for share in SHARES:
        rate = levels.rate(share)
        calls = _record_level(bench, rate, levels.tables)
        runs = []
        for _ in range(bench.runs):
            fresh_tables(bench, list(levels.tables), SPLITS)
            runs.append(bench.turns.run(lambda: bare_sender(bench, bench.stack().gateways[0].address, calls, "--connections",
                                                            str(CONNECTIONS), "--rate", str(rate))))
        rows.append([f"bare sender, {_level(share)}", rate,
                     *(spread([run["row_latency_ms"][name] for run in runs], 1) for name in ("p50", "p99", "p999")),
                     int(runs[0]["rows"] / runs[0]["calls"])])
        report.ratio(f"p99 at {_level(share)} load, real gateway, METRIC / bare sender's",
                     [own / run["row_latency_ms"]["p99"] for own, run in zip(levels.p99_ms(_level(share)), runs)],
                     at_most=2 if share == 0.5 else None)
    return rows


def _check_histogram(bench: Bench, report: Report) -> None:
    """The daemon's histogram beside what the gateway saw itself: cells that bear the record's time, when they came."""
    path = bench.directory / f"{bench.unique('calls')}.bin"
    tables = {name: {**table, "cell_time": "record"} for name, table in tables_config(current=False).items()}
    with null_gateway(bench, "--record", str(path), *NULL_OPTIONS) as gateway:
        with paced_daemon(bench, gateway.address, tables) as daemon:
            daemon.load(QUIET_RATE, WAKE_S)
            loads = [daemon.load(rate, _seconds(bench, LEVEL_S)) for rate in (QUIET_RATE, CHECK_RATE)]
    for load in loads:
        seen = recorded_latencies_ms(path, load)
        report.note(f"at {load.rate}/s, p50 and p99 in ms by the daemon's histogram: {load.percentile_ms(0.5):.1f} and "
                    f"{load.percentile_ms(0.99):.1f}; by when the null gateway had the cells: {percentile(seen, 0.5):.1f} and "
                    f"{percentile(seen, 0.99):.1f}")


OnGateway = Callable[[Bench, Mapping[str, Any]], ContextManager[PacedDaemon]]
CapacityOf = Callable[[Bench, Mapping[str, Any], str], float]


def _in_turns(bench: Bench, report: Report, topic: str, where: str, on_gateway: OnGateway, capacity_of: CapacityOf,
              shares: tuple[float, ...]) -> tuple[Levels, Levels, Levels]:
    """Two tables of history get as many rows as both tables may, and none of them waits for another: so what they take longer
    than one is the gateway's and HBase's, and what both tables take longer than they is the window's."""
    metric = tables_config(current=False)["METRIC"]
    alone, both = Levels("METRIC", {"METRIC": metric}, shares=shares), Levels("both tables", tables_config(), shares=shares)
    for levels in (alone, both):
        levels.capacity = capacity_of(bench, levels.tables, topic)
    two = Levels("METRIC twice", {"METRIC": metric, "METRIC_2": metric}, both.capacity, shares=(0.5,))
    for _ in range(bench.runs):
        for levels in (alone, two, both):
            with on_gateway(bench, levels.tables) as daemon:
                _measure(bench, levels, daemon, quiet=False)
    alone_ms, two_ms, both_ms = (levels.p99_ms("50%") for levels in (alone, two, both))
    report.ratio(f"p99 at 50% load, {where}, both tables / METRIC", [a / b for a, b in zip(both_ms, alone_ms)], at_most=2.5)
    report.ratio(f"p99 at 50% load, {where}, METRIC twice / METRIC", [a / b for a, b in zip(two_ms, alone_ms)])
    report.ratio(f"p99 at 50% load, {where}, both tables / METRIC twice", [a / b for a, b in zip(both_ms, two_ms)])
    return alone, two, both


def run(bench: Bench, report: Report) -> None:
    columns = ["what", "readings/s", "p50 ms", "p99 ms", "p99.9 ms", "rows/call"]
    topic = bench.topic(metrics=METRICS, readings=READINGS // (10 if bench.quick else 1), machines=MACHINES)
    null, null_both = Levels("METRIC", tables_config(current=False)), Levels("both tables", tables_config())
    for levels in (null, null_both):
        _on_null_gateway(bench, levels, topic)
    report.table("Null gateway; readings of 10 metrics, the producer's linger of 5 ms included", columns,
                 null.rows() + null_both.rows())
    report.ratio("p99 at 50% load, null gateway, METRIC", null.p99_ms("50%"), at_most=100, digits=1, unit="ms")
    report.ratio(f"p99 at {QUIET_RATE} readings/s, null gateway, METRIC", null.p99_ms(f"{QUIET_RATE}/s"), at_most=25, digits=1,
                 unit="ms")
    report.ratio("p99 at 50% load, null gateway, both tables", null_both.p99_ms("50%"), digits=1, unit="ms")
    report.ratio(f"p99 at {QUIET_RATE} readings/s, null gateway, both tables", null_both.p99_ms(f"{QUIET_RATE}/s"), digits=1,
                 unit="ms")
    _check_histogram(bench, report)
    fixed = _in_turns(bench, report, topic, "fixed service time", _on_fixed_gateway, _capacity_on_fixed_gateway, (0.5,))
    report.table("A gateway whose calls take 5 ms and 1/60 ms a row, one after another", columns, [row for levels in fixed for row in levels.rows()])
    alone, two, both = _in_turns(bench, report, topic, "real gateway", _on_real_gateway, _capacity_on_real_gateway, SHARES)
    report.table("Real gateway; for the bare sender a row's latency is from when it was due, with the wait for its batch", columns,
                 [*alone.rows(), *_bare_rows(bench, report, alone), *two.rows(), *both.rows()])
    report.note("With both tables a message ends when its row of CURRENT_METRIC does, which waits for newer values: "
                "batch.latest_window,\nwhile writes take long twice as long as one.")

"""What a reading costs as there is more of everything, at one rate: all lanes active, a gateway that says yes."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Optional

from bench_report import Report, spread
from bench_setup import Bench
from daemon_run import null_gateway, tables_config
from paced_daemon import PacedDaemon, Stream

TITLE = "the daemon's cost per reading as partitions, tables, lanes, keys, writers and gateways grow"

RATE = 40_000
SECONDS = 3.0
WARM_UP_S = 1.0

# Asked of the largest beside the smallest.
AT_MOST = 1.3


@dataclass
class Case:
    """One size of one thing; the rest is as by default."""

    size: int
    stream: Stream = Stream()
    tables: Mapping[str, Any] = field(default_factory=tables_config)
    changes: Optional[Mapping[str, Any]] = None
    n_gateways: int = 1
    n_regions: int = 1  # of each table


def hashed_tables() -> dict[str, Any]:
    """METRIC and CURRENT_METRIC with a hash in front of the key, so that readings spread over all regions."""
    bucket = {"hash": "md5", "of": [{"field": "host"}], "bytes": 2, "as": "raw"}
    return {name: {**table, "key": [bucket, *table["key"]]} for name, table in tables_config().items()}


def same_tables(n: int) -> dict[str, Any]:
    """METRIC under n names: each reading goes to all of them."""
    metric = tables_config(current=False)["METRIC"]
    return {f"METRIC_{i}": metric for i in range(n)}


DIMENSIONS = {
    "partitions": [Case(n, Stream(partitions=n)) for n in (1, 4, 16, 64)],
    "lanes": [Case(2 * n, tables=hashed_tables(), n_regions=n) for n in (1, 100, 1000)],
    "latest keys": [Case(n, Stream(machines=n)) for n in (1_000, 10_000, 100_000, 1_000_000)],
    "tables": [Case(n, tables=same_tables(n)) for n in (1, 2, 4, 8)],
    "writers": [Case(n, changes={"hbase": {"writers": n}}) for n in (1, 4, 16, 64)],
    "gateways": [Case(n, n_gateways=n) for n in (1, 2, 4)],
}

# Each table is a row more for each reading, so it is the cost of a row that is compared.
PER_ROW = {"tables"}
ASKED = {"partitions", "lanes", "latest keys"}


@contextmanager
def running(bench: Bench, case: Case) -> Iterator[PacedDaemon]:
    with ExitStack() as stack:
        gateways = [stack.enter_context(null_gateway(bench, "--regions", str(case.n_regions))) for _ in range(case.n_gateways)]
        daemon = PacedDaemon(bench, [gateway.address for gateway in gateways], case.tables, case.stream, case.changes)
        stack.callback(daemon.end)
        yield daemon


def measure(bench: Bench, cases: list[Case]) -> tuple[list[list[float]], list[list[float]], list[int]]:
    """Of each case: CPU us per reading of each turn, rows per call, and resident bytes at the end."""
    seconds = SECONDS / (5 if bench.quick else 1)
    with ExitStack() as stack:
        daemons = [stack.enter_context(running(bench, case)) for case in cases]
        for daemon in daemons:
            daemon.load(RATE, WARM_UP_S)
        turns = [bench.turns.run(lambda: [daemon.load(RATE, seconds) for daemon in daemons]) for _ in range(bench.runs)]
        resident = [daemon.rss_bytes() for daemon in daemons]
    loads = list(zip(*turns))
    return ([[load.cpu_us_per_reading for load in of_case] for of_case in loads],
            [[load.rows_per_call for load in of_case] for of_case in loads], resident)


def run(bench: Bench, report: Report) -> None:
    rows = []
    for name, cases in DIMENSIONS.items():
        costs, per_call, resident = measure(bench, cases)
        for case, cost, calls, rss_bytes in zip(cases, costs, per_call, resident):
            rows.append([f"{case.size:,} {name}", spread(cost), spread(calls, 0), rss_bytes / (1 << 20)])
        factor = cases[-1].size / cases[0].size if name in PER_ROW else 1
        report.ratio(f"cost of a {'row' if name in PER_ROW else 'reading'}, {cases[-1].size:,} {name} / {cases[0].size:,}",
                     [large / small / factor for small, large in zip(costs[0], costs[-1])],
                     at_most=AT_MOST if name in ASKED else None)
    report.table(f"Null gateway, METRIC and CURRENT_METRIC unless tables grow, {RATE:,} readings of 10 metrics a second",
                 ["how many", "us CPU/reading", "rows/call", "MiB resident"], rows)

"""What a reading costs as there is more of everything, at one rate: all lanes active, a null gateway."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Optional

from bench_report import Report, counted, spread
from bench_setup import Bench
from daemon_run import null_gateway, tables_config
from measured_process import MeasuredProcess
from paced_daemon import Load, PacedDaemon, Stream

TITLE = "the daemon's cost per reading as partitions, tables, lanes, keys, writers and gateways grow"

RATE = 40_000
SECONDS = 3.0
WARM_UP_S = 1.0

# Asked of the largest beside the smallest.
AT_MOST = 1.3
FLAT = 1.15


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
    "tables": [Case(n, tables=same_tables(n)) for n in (1, 4, 16)],
    "writers": [Case(n, changes={"hbase": {"writers": n}}) for n in (1, 4, 16, 64)],
    "gateways": [Case(n, n_gateways=n) for n in (1, 4, 16)],
}

# Each table is a row more for each reading, so it is the cost of a row that is compared.
PER_ROW = {"tables"}
ASKED = {"lanes": AT_MOST, "latest keys": AT_MOST, "tables": FLAT, "writers": FLAT, "gateways": FLAT}

# Most of what partitions cost is the Kafka client's own: a fetch, and what it makes of it, for each. So kcat, which has the
# same client and does nothing else, reads the same messages at the same time, and its growth is what ours is held against.
BESIDE_KCAT = "partitions"


@dataclass
class Subject:
    """What is measured under one case."""

    daemon: PacedDaemon
    kcat: Optional[MeasuredProcess]

    def load(self, seconds: float) -> tuple[Load, float]:
        """What the daemon made of it, and kcat's CPU us per reading."""
        before_s = self.kcat.cpu_s() if self.kcat is not None else 0
        load = self.daemon.load(RATE, seconds)
        after_s = self.kcat.cpu_s() if self.kcat is not None else 0
        return load, 1e6 * (after_s - before_s) / (RATE * seconds)


@contextmanager
def running(bench: Bench, case: Case, *, beside_kcat: bool) -> Iterator[Subject]:
    with ExitStack() as stack:
        gateways = [stack.enter_context(null_gateway(bench, "--regions", str(case.n_regions))) for _ in range(case.n_gateways)]
        daemon = PacedDaemon(bench, [gateway.address for gateway in gateways], case.tables, case.stream, case.changes)
        stack.callback(daemon.end)
        kcat = None
        if beside_kcat:
            kcat = MeasuredProcess(["kcat", "-C", "-q", "-b", bench.kafka().address, "-t", daemon.topic, "-o", "end"],
                                   bench.log("kcat"), stdout=subprocess.DEVNULL)
            stack.callback(kcat.end)
        yield Subject(daemon, kcat)


@dataclass
class Growth:
    """What was measured of one case, a value for each turn, and the resident bytes at the end."""

    case: Case
    cost_us: list[float]
    rows_per_call: list[float]
    kcat_us: list[float]
    rss_bytes: int


def measure(bench: Bench, cases: list[Case], *, beside_kcat: bool) -> list[Growth]:
    seconds = SECONDS / (5 if bench.quick else 1)
    with ExitStack() as stack:
        subjects = [stack.enter_context(running(bench, case, beside_kcat=beside_kcat)) for case in cases]
        for subject in subjects:
            subject.load(WARM_UP_S)
        turns = [bench.turns.run(lambda: [subject.load(seconds) for subject in subjects]) for _ in range(bench.runs)]
        return [Growth(case, [load.cpu_us_per_reading for load, _ in of_case], [load.rows_per_call for load, _ in of_case],
                       [kcat_us for _, kcat_us in of_case], subject.daemon.rss_bytes())
                for case, subject, of_case in zip(cases, subjects, zip(*turns))]


def growth_of(small: list[float], large: list[float], factor: float = 1) -> list[float]:
    return [after / before / factor for before, after in zip(small, large)]


def run(bench: Bench, report: Report) -> None:
    rows = []
    for name, cases in DIMENSIONS.items():
        beside_kcat = name == BESIDE_KCAT
        measured = measure(bench, cases, beside_kcat=beside_kcat)
        rows += [[counted(growth.case.size, name), spread(growth.cost_us), spread(growth.kcat_us) if beside_kcat else "",
                  spread(growth.rows_per_call, 0), growth.rss_bytes / (1 << 20)] for growth in measured]
        small, large = measured[0], measured[-1]
        what = f"{large.case.size:,} {name} / {small.case.size:,}"
        factor = large.case.size / small.case.size if name in PER_ROW else 1
        ours = growth_of(small.cost_us, large.cost_us, factor)
        report.ratio(f"cost of a {'row' if name in PER_ROW else 'reading'}, {what}", ours, at_most=ASKED.get(name))
        if beside_kcat:
            report.ratio(f"cost of a reading, {what}, beside kcat's own growth",
                         growth_of(growth_of(small.kcat_us, large.kcat_us), ours), at_most=AT_MOST)
    report.table(f"Null gateway, METRIC and CURRENT_METRIC unless tables grow, {RATE:,} readings/s of 10 metrics",
                 ["how many", "us CPU/reading", "kcat's", "rows/call", "MiB resident"], rows)

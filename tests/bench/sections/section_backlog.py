"""A backlog in what may slow it down: little memory, and messages that HBase refuses; on the real gateway."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Iterator, Mapping, Sequence

from bench_report import Report, spread
from bench_setup import REFUSED_ABOVE_BYTES, Bench
from daemon_run import tables_config
from real_gateway import MACHINES, SPLITS, Written, daemon_writes, fresh_tables

TITLE = "a backlog with little memory, and one with messages that HBase refuses"

READINGS = 100_000
METRICS = 10
ONE_REFUSED_IN = 230
WARM_UP_TURNS = 1


@dataclass(frozen=True)
class Case:
    name: str
    at_least: float  # asked of it, beside the first
    changes: Mapping[str, Any] = field(default_factory=dict)
    has_refused: bool = False


CASES = [
    Case("limits.memory: 256MiB, the default", 1),
    Case("limits.memory: 64MiB", 0.85, {"limits": {"memory": "64MiB"}}),
    Case("limits.memory: 32MiB", 0.6, {"limits": {"memory": "32MiB"}}),
    Case(f"one message in {ONE_REFUSED_IN} is refused", 0.2, has_refused=True),
]


def messages(n: int, *, has_refused: bool) -> Iterator[tuple[str, str]]:
    """Readings; one in so many has a cell more, that HBase refuses."""
    draw = random.Random(1)
    too_large = "x" * (REFUSED_ABOVE_BYTES + 1024)
    for i in range(n):
        host = f"server{draw.randrange(MACHINES) + 1:04d}"
        cells = "".join(f',"metric/name{metric:02d}":{draw.random() * 100:.2f}' for metric in range(METRICS))
        more = f',"blob":"{too_large}"' if has_refused and i % ONE_REFUSED_IN == ONE_REFUSED_IN // 2 else ""
        yield host, f'{{"host":"{host}","ts":{1_700_000_000_000 + i}{cells}{more}}}'


def run(bench: Bench, report: Report) -> None:
    n = READINGS // (10 if bench.quick else 1)
    topics = [bench.filled_topic(f"backlog-{has_refused}", messages(n, has_refused=has_refused)) for has_refused in (False, True)]
    turns = [bench.turns.run(partial(_turn, bench, topics, turn)) for turn in range(WARM_UP_TURNS + bench.runs)][WARM_UP_TURNS:]
    rows: list[Sequence[Any]] = []
    for case, done, base in zip(CASES, zip(*turns), [list(zip(*turns))[0]] * len(CASES)):
        if case is not CASES[0]:
            report.ratio(f"readings/s, {case.name} / the default",
                         [default.seconds / one.seconds for one, default in zip(done, base)], at_least=case.at_least)
        rows.append([case.name, spread([n / one.seconds / 1000 for one in done], 1), spread([one.cpu_s * 1e6 / n for one in done])])
    report.table(f"Readings of {METRICS} metrics to METRIC and CURRENT_METRIC, {MACHINES} devices, a real HBase",
                 ["backlog", "k readings/s", "us CPU/reading"], rows)


def _turn(bench: Bench, topics: Sequence[str], turn: int) -> list[Written]:
    """Each case once; another one begins in each turn."""
    done: dict[int, Written] = {}
    for place in range(len(CASES)):
        index = (place + turn) % len(CASES)
        case = CASES[index]
        tables = tables_config()
        fresh_tables(bench, list(tables), SPLITS)
        kept = {"dead_letters": {"file": str(bench.directory / f"{bench.unique('dead-letters')}.jsonl")}}
        done[index] = daemon_writes(bench, topics[case.has_refused], tables, {**case.changes, **kept})
    return [done[index] for index in range(len(CASES))]

"""What is in the tables and among the dead letters, against what the workload says: content, in both directions.

HBase is read by its own Java client, Kafka by kcat: nothing of tidemark is on the way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

import check_tables
from hbase_oracle import Oracle
from workload import Workload, digest, host_name, read_topic, records_of

# Headers of a dead letter (daemon/model/dead_letter.h) that say where the original was.
LETTER_PLACE = re.compile(rb"tidemark-partition=(\d+),.*?tidemark-offset=(\d+)")

SAMPLES = 5


@dataclass
class TableVerdict:
    comparison: check_tables.Comparison = field(default_factory=check_tables.Comparison)
    # Cells of one time and several values that hold an earlier sent one: what is in flight at a kill may land last.
    n_earlier_of_equal_times: int = 0


@dataclass
class DeadLettersVerdict:
    n_dead_letters: int = 0
    n_missing: int = 0
    n_unexpected: int = 0
    n_altered: int = 0
    n_repeated: int = 0
    samples: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        return self.n_missing + self.n_unexpected + self.n_altered == 0


def topic_differences(workload: Workload, brokers: str, topic: str, log_path: Path) -> list[str]:
    """The premise of all else: the topic holds what was sent, in the order of sending."""
    return workload.differs_from(records_of(brokers, topic, log_path))


def judge_history(oracle: Oracle, workload: Workload, table: str) -> TableVerdict:
    verdict = TableVerdict()
    for host, start, stop in _ranges(workload.n_hosts):
        expected = workload.truth.history_cells(host)
        found = _found(oracle, table, start, stop)
        for time_ms, column, losers in workload.truth.replaced_values(host):
            _forgive(verdict, expected, found, (f"{host_name(host)}#{time_ms}", column), time_ms, losers)
        verdict.comparison.add(expected, found)
    return verdict


def judge_latest(oracle: Oracle, workload: Workload, table: str) -> TableVerdict:
    verdict = TableVerdict()
    found_of_host: dict[str, list[tuple[str, str, int, str]]] = {}
    for cell in _found(oracle, table, b"", b""):
        found_of_host.setdefault(cell[0], []).append(cell)
    for host in range(workload.n_hosts):
        expected = workload.truth.latest_cells(host)
        found = found_of_host.pop(host_name(host), [])
        for time_ms, column, losers in workload.truth.replaced_values(host):
            _forgive(verdict, expected, found, (host_name(host), column), time_ms, losers)
        verdict.comparison.add(expected, found)
    for cells in found_of_host.values():
        verdict.comparison.add({}, cells)
    return verdict


def judge_dead_letters(workload: Workload, brokers: str, topic: str, log_path: Path) -> DeadLettersVerdict:
    """Each rejected message is among the dead letters, byte for byte, and no other is; more than once is allowed."""
    verdict = DeadLettersVerdict()
    seen: set[tuple[int, int]] = set()
    for headers, key, value in read_topic(brokers, topic, "%h\t%k\t%s", 3, log_path):
        verdict.n_dead_letters += 1
        found = LETTER_PLACE.search(headers)
        place = (int(found[1]), int(found[2])) if found else (-1, -1)
        verdict.n_repeated += place in seen
        if place in seen:
            continue
        seen.add(place)
        if place not in workload.rejected:
            verdict.n_unexpected += 1
            verdict.samples.append(f"unexpected: {place} {value[:200]!r} {headers[:400]!r}")
        elif workload.rejected[place] != digest(key, value):
            verdict.n_altered += 1
            verdict.samples.append(f"altered: {place} {key!r} {value[:200]!r}")
    missing = workload.rejected.keys() - seen
    verdict.n_missing = len(missing)
    verdict.samples += [f"missing: {place}" for place in sorted(missing)[:SAMPLES]]
    return verdict


def _ranges(n_hosts: int) -> Iterator[tuple[int, bytes, bytes]]:
    """Ranges of keys that cover a whole table, one for each host: the rows before the first host and behind the last too."""
    for host in range(n_hosts):
        start = host_name(host).encode() if host > 0 else b""
        stop = host_name(host + 1).encode() if host + 1 < n_hosts else b""
        yield host, start, stop


def _found(oracle: Oracle, table: str, start: bytes, stop: bytes) -> list[tuple[str, str, int, str]]:
    return [(cell.row.decode(errors="replace"), cell.qualifier.decode(errors="replace"), cell.timestamp_ms,
             cell.value.decode(errors="replace")) for cell in oracle.dump(table, start, stop)]


def _forgive(verdict: TableVerdict, expected: check_tables.Cells, found: list[tuple[str, str, int, str]],
             cell: tuple[str, str], time_ms: int, losers: set[str]) -> None:
    """Counts a value that was sent earlier for the same time, and expects it from now on."""
    if cell not in expected or expected[cell][0] != time_ms:
        return
    for row, column, found_ms, value in found:
        if (row, column) == cell and found_ms == time_ms and value in losers and value != expected[cell][1]:
            verdict.n_earlier_of_equal_times += 1
            expected[cell] = (time_ms, value)


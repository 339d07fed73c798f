#!/usr/bin/env python3
"""The judge of the runs with faults does find what is missing, wrong, too much, or among the dead letters wrongly."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "integration"), str(HERE.parent / "stack")]
import judge  # noqa: E402
from hbase_oracle import Cell  # noqa: E402
from workload import Message, Workload, digest, host_name  # noqa: E402

NO_DIFFERENCE = {"missing": 0, "wrong": 0, "unexpected": 0}


class FakeOracle:
    """A table in memory."""

    def __init__(self, cells: list[Cell]) -> None:
        self.cells = cells

    def dump(self, _: str, start: bytes = b"", stop: bytes = b"") -> list[Cell]:
        return [cell for cell in self.cells if start <= cell.row and (not stop or cell.row < stop)]


def some_workload() -> tuple[Workload, list[Message]]:
    workload = Workload(n_readings=2000, n_hosts=7, n_partitions=3, seed=5, poison_share=0.1, refused_bytes=100)
    return workload, list(workload.messages())


class Judge(unittest.TestCase):

    def setUp(self) -> None:
        self.workload, self.messages = some_workload()
        truth = self.workload.truth
        tables = (truth.history_cells, truth.latest_cells)
        self.history, self.latest = ([Cell(row.encode(), "M", column.encode(), time_ms, value.encode())
                                      for host in range(7) for (row, column), (time_ms, value) in table(host).items()]
                                     for table in tables)

    def counts(self, judge_table: object, cells: list[Cell]) -> dict[str, int]:
        verdict = judge_table(FakeOracle(cells), self.workload, "T")  # type: ignore[operator]
        return dict(verdict.comparison.counts)

    def test_tables(self) -> None:
        """Right content is right; one cell less, other or more is one difference of its kind."""
        for judge_table, cells in ((judge.judge_history, self.history), (judge.judge_latest, self.latest)):
            self.assertEqual(self.counts(judge_table, cells), NO_DIFFERENCE)
            self.assertEqual(self.counts(judge_table, cells[1:]), {**NO_DIFFERENCE, "missing": 1})
            first = cells[0]
            wrong = Cell(first.row, first.family, first.qualifier, first.timestamp_ms, b"other")
            self.assertEqual(self.counts(judge_table, [wrong, *cells[1:]]), {**NO_DIFFERENCE, "wrong": 1})
            for row in (b"", first.row, b"zzz"):
                more = Cell(row, "M", b"BLOB", 1, b"x")
                self.assertEqual(self.counts(judge_table, [*cells, more]), {**NO_DIFFERENCE, "unexpected": 1})

    def test_equal_times(self) -> None:
        """The earlier value of an equal time is counted apart; any other is wrong."""
        replaced = [(host, *rest) for host in range(7) for rest in self.workload.truth.replaced_values(host)]
        self.assertGreater(len(replaced), 0)
        for host, time_ms, column, losers in replaced:
            place = next(place for place, cell in enumerate(self.history) if cell.timestamp_ms == time_ms
                         and cell.qualifier == column.encode() and cell.row.startswith(host_name(host).encode()))
            cell = self.history[place]
            earlier = Cell(cell.row, cell.family, cell.qualifier, time_ms, min(losers).encode())
            verdict = judge.judge_history(FakeOracle([*self.history[:place], earlier, *self.history[place + 1:]]),  # type: ignore
                                          self.workload, "T")
            self.assertEqual(verdict.comparison.counts, NO_DIFFERENCE)
            self.assertEqual(verdict.n_earlier_of_equal_times, 1)

    def test_topic(self) -> None:
        """The same messages in the same order, and nothing else, are what was sent."""
        records = [(self.workload.partition_of(message.key), message.key, message.value) for message in self.messages]
        self.assertEqual(self.workload.differs_from(iter(records)), [])
        self.assertEqual(len(self.workload.differs_from(iter(records[1:]))), 1)
        self.assertEqual(len(self.workload.differs_from(iter([*records, records[0]]))), 1)

    def test_dead_letters(self) -> None:
        """Rejected ones, however often, are right; none missing, none more, none changed."""
        n_before = [0] * 3
        dead_letters = []
        for message in self.messages:
            partition = self.workload.partition_of(message.key)
            if message.is_rejected:
                self.assertEqual(self.workload.rejected[partition, n_before[partition]], digest(message.key, message.value))
                dead_letters.append([f"tidemark-partition={partition},tidemark-offset={n_before[partition]}".encode(), message.key,
                                message.value])
            n_before[partition] += 1
        self.assertGreater(len(dead_letters), 100)
        self.assertTrue(self.dead_letters_verdict(dead_letters).is_right)
        self.assertEqual(self.dead_letters_verdict([*dead_letters, dead_letters[0]]).n_repeated, 1)
        self.assertTrue(self.dead_letters_verdict([*dead_letters, dead_letters[0]]).is_right)
        self.assertEqual(self.dead_letters_verdict(dead_letters[1:]).n_missing, 1)
        self.assertEqual(
            self.dead_letters_verdict([*dead_letters, [b"tidemark-partition=9,tidemark-offset=1", b"", b""]]).n_unexpected, 1)
        self.assertEqual(self.dead_letters_verdict([[*dead_letters[0][:2], b"changed"], *dead_letters[1:]]).n_altered, 1)

    def dead_letters_verdict(self, dead_letters: list[list[bytes]]) -> judge.DeadLettersVerdict:
        with mock.patch.object(judge, "read_topic", lambda *_: iter(dead_letters)):
            return judge.judge_dead_letters(self.workload, "", "", HERE)


if __name__ == "__main__":
    unittest.main()

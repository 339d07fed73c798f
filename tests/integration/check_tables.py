#!/usr/bin/env python3
"""Compares HBase's content with the readings that were sent, cell by cell, in both directions.

HBase is read by its own Java client (tests/stack/java/HBaseOracle.java), not by tidemark and not through the gateway. The
expected content is computed here from the messages' JSON alone, by the rules that README.md promises: a history table has
one row for each (host, time) with one cell for each field; a latest table has, for each host and field, the value of the
greatest time; of equal times, the one sent last."""
import argparse
import json
import pathlib
import sys
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "stack"))
from hbase_oracle import Oracle  # noqa: E402
from stack import Stack  # noqa: E402

Cells = dict[tuple[str, str], tuple[int, str]]
"""(row key, qualifier) -> (cell timestamp in ms, value as text)"""

SAMPLES = 5  # of each kind of difference that are printed


def read_sent(path: pathlib.Path) -> typing.Iterator[dict[str, str]]:
    """Readings in the order they were sent; numbers keep the text they were written with."""
    with path.open() as lines:
        for line in lines:
            yield json.loads(line, parse_float=str, parse_int=str)


def expect(sent: typing.Iterable[dict[str, str]]) -> tuple[Cells, Cells]:
    """What the history and the latest table must hold."""
    history: Cells = {}
    latest: Cells = {}
    for reading in sent:
        host, time_ms = reading["host"], int(reading["ts"])
        for field, value in reading.items():
            if field in ("host", "ts"):
                continue
            history[f"{host}#{time_ms}", field] = (time_ms, value)
            newest = latest.get((host, field))
            if newest is None or time_ms >= newest[0]:
                latest[host, field] = (time_ms, value)
    return history, latest


class Comparison:
    """The differences of one table, which may be compared part by part."""

    def __init__(self) -> None:
        self.counts = {"missing": 0, "wrong": 0, "unexpected": 0}
        self.n_rows = 0
        self.n_cells = 0
        self._samples: dict[str, list[str]] = {kind: [] for kind in self.counts}

    def add(self, expected: Cells, found: typing.Iterable[tuple[str, str, int, str]]) -> None:
        """One part of the table: what it must hold, and all that it holds."""
        seen = set()
        for row, qualifier, time_ms, value in found:
            cell = (row, qualifier)
            if cell not in expected:
                self._note("unexpected", f"{row} {qualifier} @{time_ms} = {value}")
            elif expected[cell] != (time_ms, value):
                wanted = expected[cell]
                self._note("wrong", f"{row} {qualifier} @{time_ms} = {value}, wanted @{wanted[0]} = {wanted[1]}")
            seen.add(cell)
        for cell, (time_ms, value) in expected.items():
            if cell not in seen:
                self._note("missing", f"{cell[0]} {cell[1]} @{time_ms} = {value}")
        self.n_rows += len({row for row, _ in seen})
        self.n_cells += len(seen)

    def report(self, name: str) -> int:
        """Prints the differences; how many there are."""
        print(f"{name:<16} {self.n_rows:>9,} rows {self.n_cells:>11,} cells   "
              + "   ".join(f"{kind} {count}" for kind, count in self.counts.items()))
        for kind, samples in self._samples.items():
            for sample in samples:
                print(f"  {kind}: {sample}")
        return sum(self.counts.values())

    def _note(self, kind: str, text: str) -> None:
        self.counts[kind] += 1
        if len(self._samples[kind]) < SAMPLES:
            self._samples[kind].append(text)


def compare(name: str, expected: Cells, found: typing.Iterable[tuple[str, str, int, str]]) -> int:
    """Prints the differences of one table; how many there are."""
    comparison = Comparison()
    comparison.add(expected, found)
    return comparison.report(name)


def dump(oracle: Oracle, table: str) -> typing.Iterator[tuple[str, str, int, str]]:
    for cell in oracle.dump(table):
        yield cell.row.decode(), cell.qualifier.decode(), cell.timestamp_ms, cell.value.decode()


def check(oracle: Oracle, sent: pathlib.Path, history: str, latest: str) -> int:
    """How many cells are missing, wrong or unexpected in both tables together."""
    expected_history, expected_latest = expect(read_sent(sent))
    return (compare(history, expected_history, dump(oracle, history))
            + compare(latest, expected_latest, dump(oracle, latest)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stack", required=True, type=pathlib.Path, help="directory of a running stack")
    parser.add_argument("--sent", required=True, type=pathlib.Path, help="messages sent, one JSON object a line")
    parser.add_argument("--history", required=True, help="table with every reading")
    parser.add_argument("--latest", required=True, help="table with the newest values")
    options = parser.parse_args()
    oracle = Stack.attach(options.stack).oracle
    try:
        return 1 if check(oracle, options.sent, options.history, options.latest) else 0
    finally:
        oracle.stop()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The oracle of the random scenarios says what the documents' own examples say, the judge finds what is wrong, and a seed
always makes the same batch."""
from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from content import Stored, judge_tables  # noqa: E402
from generate import batch_of  # noqa: E402
from oracle import Message, Oracle, Outcome, Row, make_parts, parse_time, Bad, Text  # noqa: E402
from outside import Stand, stand_of  # noqa: E402
from shrink import Shrinker  # noqa: E402
from batch import Problem  # noqa: E402

TIME = {"field": "ts", "format": "epoch_ms"}
KEY = [{"field": "host"}, "#", {"time": "epoch_ms"}]
ALL = {"family": "M", "from": "*"}
T = 1_748_736_000_000


def message(offset: int, value: Any, partition: int = 0, timestamp_ms: int = T + 60_000, key: bytes = b"h1") -> Message:
    raw = value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
    return Message("t", partition, offset, key, raw, timestamp_ms, [])


def oracle_of(tables: dict[str, Any], **readings: Any) -> Oracle:
    return Oracle({"tables": tables, "readings": {"time": TIME, **readings}}, 300, T + 10**9)


class Keys(unittest.TestCase):

    def key(self, part: Any, time_ms: int = 1_426_535_612_045, **fields: str) -> bytes:
        return make_parts([part], {name: Text(value, value) for name, value in fields.items()}, time_ms)

    def test_examples_of_the_documents(self) -> None:
        meter = {"field": "meter", "width": 10, "pad": "0"}
        self.assertEqual(self.key(meter, meter="987654"), b"0000987654")
        self.assertEqual(self.key({**meter, "reversed": True}, meter="987654"), b"4567890000")
        self.assertEqual(self.key({"field": "exchange", "width": 6}, exchange="NYSE"), b"NYSE  ")
        self.assertEqual(self.key({"time": "epoch_ms"}), b"1426535612045")
        self.assertEqual(self.key({"time": "epoch_ms", "reversed": True}), b"9223370610319163762")
        self.assertEqual(self.key({"time": "yyyyMMddHHmm", "zone": "+01:00"}), b"201503162053")
        self.assertEqual(self.key({"time": "HHmm", "cut": "15m"}), b"1945")
        self.assertEqual(self.key({"field": "site", "default": "none"}), b"none")

    def test_the_repeated_hour_is_told_by_the_record(self) -> None:
        spec = {"format": "pattern", "pattern": "yyyy-MM-dd HH:mm:ss", "zone": "Europe/Berlin"}
        text = Text("2024-10-27 02:30:00", "2024-10-27 02:30:00")
        first = 1_729_989_000_000
        self.assertEqual(parse_time(text, spec, first + 5000), first)
        self.assertEqual(parse_time(text, spec, first + 3_605_000), first + 3_600_000)
        with self.assertRaises(Bad):
            parse_time(Text("2024-03-31 02:30:00", "2024-03-31 02:30:00"), spec, first)


class Messages(unittest.TestCase):

    def outcome(self, oracle: Oracle, value: Any) -> Outcome:
        return oracle.outcomes([message(0, value)])["t", 0, 0]

    def test_a_bad_reading_takes_its_message_or_itself(self) -> None:
        readings = [{"host": "a", "ts": T, "v": 1}, {"ts": T, "v": 2}]
        whole = self.outcome(oracle_of({"A": {"key": KEY, "columns": ALL}}), readings)
        self.assertEqual((whole.rows, set(whole.bad), whole.ends), ([], {None}, {"dead_lettered"}))
        part = self.outcome(oracle_of({"A": {"key": KEY, "columns": ALL}}, on_bad_reading="reading"), readings)
        self.assertEqual((len(part.rows), set(part.bad), part.ends), (1, {1}, {"dead_lettered"}))

    def test_ends(self) -> None:
        tables = {"A": {"key": KEY, "columns": ALL, "when": {"field": "v", "present": True}}}
        for value, end in (({"host": "a", "ts": T, "v": 1}, "written"), ({"host": "a", "ts": T}, "unmatched"),
                           (None, "skipped"), (b"{", "dead_lettered"), (b"", "dead_lettered")):
            self.assertEqual(self.outcome(oracle_of(tables), value).ends, {end}, value)

    def test_a_message_without_value_deletes_where_what_is_known_fits(self) -> None:
        for when, key, end in (({"field": "$topic", "equals": "t"}, b"h1", "written"),
                               ({"field": "$topic", "not_equals": "t"}, b"h1", "skipped"),
                               ({"field": "$header.x", "present": True}, b"h1", "skipped"),
                               ({"field": "host", "matches": "h*"}, b"h1", "written"),
                               ({"field": "host", "matches": "h*"}, b'{"host":"x"}', "skipped"),
                               ({"field": "v", "present": True}, b"h1", "written"),
                               ({"field": "v", "present": False}, b"h1", "written"),
                               ({"field": "v", "equals": "1"}, b'{"host":"h1","v":1}', "written"),
                               ({"field": "v", "equals": "1"}, b'{"host":"h1","v":2}', "skipped"),
                               ({"field": "v", "present": True}, b'{"host":"h1","v":null}', "skipped")):
            table = {"latest": "merge", "tombstone": "delete", "key": [{"field": "host"}], "columns": ALL, "when": when}
            found = oracle_of({"B": table}).outcomes([message(0, None, key=key)])
            self.assertEqual(found["t", 0, 0].ends, {end}, (when, key))

    def test_a_refused_row_is_a_letter_unless_replaced(self) -> None:
        table = {"B": {"latest": "merge", "key": [{"field": "host"}], "columns": ALL}}
        long = {"host": "a", "ts": T, "v": "x" * 400}
        for next_value, expected in ({"host": "a", "ts": T + 1, "v": 1}, "maybe"), ({"host": "a", "ts": T + 1, "w": 1}, "sure"):
            found = oracle_of(table).outcomes([message(0, long), message(1, next_value)])
            self.assertEqual(found["t", 0, 0].dead_letters, expected)


class Content(unittest.TestCase):
    """Of two values the greater time's stays, of equal times the later offset's."""

    def problems(self, values: list[Any], stored: Stored, ties: bool = False, **table: Any) -> list[str]:
        oracle = oracle_of({"B": {"latest": "merge", "key": [{"field": "host"}], "columns": ALL, **table}})
        outcomes = oracle.outcomes([message(offset, value) for offset, value in enumerate(values)])
        rows: list[Row] = [row for outcome in outcomes.values() for row in outcome.rows]
        return [text for _, text in judge_tables(oracle, rows, {"B": {b"a": stored}}, ties)]

    def test_what_is_right_and_what_is_not(self) -> None:
        values = [{"host": "a", "ts": T, "v": 1}, {"host": "a", "ts": T, "v": 2}, {"host": "a", "ts": T - 5, "v": 3, "w": 4}]
        right: Stored = {("M", b"v"): (T, b"2"), ("M", b"w"): (T - 5, b"4")}
        self.assertEqual(self.problems(values, right), [])
        older: Stored = {**right, ("M", b"v"): (T, b"1")}
        self.assertEqual(len(self.problems(values, older)), 1)
        self.assertEqual(self.problems(values, older, ties=True), [])
        for wrong in ({("M", b"v"): (T, b"2")}, {**right, ("M", b"x"): (T, b"1")}, {**right, ("M", b"w"): (T, b"4")}):
            self.assertEqual(len(self.problems(values, wrong)), 1, wrong)

    def test_replace_is_exactly_one_reading(self) -> None:
        values = [{"host": "a", "ts": T, "v": 1}, {"host": "a", "ts": T + 1, "w": 2}]
        self.assertEqual(self.problems(values, {("M", b"w"): (T + 1, b"2")}, latest="replace"), [])
        both: Stored = {("M", b"w"): (T + 1, b"2"), ("M", b"v"): (T, b"1")}
        self.assertEqual(len(self.problems(values, both, latest="replace")), 1)


class Stands(unittest.TestCase):
    """Where a partition is read on, by what the group has committed of it."""

    def test_what_the_log_holds_is_read_on(self) -> None:
        for note in "", "by hand", "tidemark 1 closed span=5", "tidemark 1 closed start=1763700000000":
            self.assertEqual(stand_of(7, note, 5, 9, {}, True), Stand(7, is_unsigned=not note.startswith("tidemark")))
        self.assertEqual(stand_of(9, "tidemark 1 closed", 5, 9, {}, True), Stand(9))

    def test_what_it_does_not_hold_halts(self) -> None:
        self.assertEqual(stand_of(10, "", 5, 9, {}, True), Stand(5, 1, 10))
        self.assertEqual(stand_of(3, "", 5, 9, {}, True), Stand(5, 2, 3, ("retention", 2)))
        self.assertEqual(stand_of(3, "", 5, 9, {"on_lost_offsets": "continue"}, True), Stand(5, left_out=("retention", 2)))

    def test_a_noted_halt_stays(self) -> None:
        for note, cause, wanted in (("tidemark 1 closed span=1000000 start=-10001", 1, 1000), ("tidemark 1 running start=-2", 2, 0)):
            self.assertEqual(stand_of(5, note, 5, 2000, {}, True), Stand(5, cause, wanted))
        self.assertEqual(stand_of(5, "tidemark 1 running start=-2", 5, 9, {"on_lost_offsets": "continue"}, True), Stand(5))

    def test_nothing_committed(self) -> None:
        latest = {"start": "latest"}
        self.assertEqual(stand_of(None, "", 5, 9, {}, False), Stand(5))
        self.assertEqual(stand_of(None, "", 5, 9, latest, False), Stand(9, left_out=("start", 4)))
        self.assertEqual(stand_of(None, "", 5, 9, latest, True), Stand(5))


class Batches(unittest.TestCase):

    def test_a_seed_makes_the_same_batch(self) -> None:
        self.assertEqual(json.dumps(batch_of(7, 5)), json.dumps(batch_of(7, 5)))
        self.assertNotEqual(json.dumps(batch_of(7, 5)), json.dumps(batch_of(8, 5)))

    def test_a_failure_is_shrunk_to_what_it_needs(self) -> None:
        """A run that fails where two messages and a table meet comes down to these."""
        def run(batch: dict[str, Any]) -> list[Problem]:
            return [Problem(one["name"], "content", "") for one in batch["scenarios"]
                    if sum('"host"' in str(message["value"]) for message in one["messages"]) >= 2]
        batch = batch_of(3, 4)
        small, _ = Shrinker(run).shrink(batch, run(batch))
        self.assertEqual([len(one["messages"]) for one in small["scenarios"]], [2])
        self.assertEqual([len(one["tables"]) for one in small["scenarios"]], [1])
        self.assertEqual(small["events"], [])


if __name__ == "__main__":
    unittest.main()

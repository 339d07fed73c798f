#!/usr/bin/env python3
"""Holds that what `tidemark scan` prints of the tables of each example, as JSON and as CSV, can be loaded again: into empty tables, cell
for cell, under its own key and under another.

    test_moved.py BUILD

The daemon writes the tables from the mock Kafka to the scripted gateway; the other tables are those of gateways of their own.
"""
from __future__ import annotations

import concurrent.futures
import io
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from example_cases import ROOT, ExampleCase, Message, all_cases

sys.path.insert(0, str(ROOT / "tests" / "scenarios"))
from processes import Gateway, Kafka  # noqa: E402

BUILD = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build").resolve()
PROGRAM = BUILD / "daemon/tidemark"
PATIENCE_S = 120
MOVED = b"moved|"
RECORD_TIME_MS = 1_600_000_000_000

# A field of the key that is nowhere in the table: the key cannot be made again, and is kept.
LOST = {("salted", "BATTERY"): "missing_field"}

Cells = dict[str, dict[bytes, dict[tuple[str, bytes], tuple[int, bytes]]]]


def left_out_formats() -> list[str]:
    done = subprocess.run([PROGRAM, "version"], capture_output=True, text=True, check=True)
    found = re.search(r"^ *built without: (.*)$", done.stdout, re.MULTILINE)
    return found.group(1).split(", ") if found else []


def with_other_keys(text: str) -> str:
    """The configuration with something in front of each key."""
    text = re.sub(r"\bkey: \[", f'key: ["{MOVED.decode()}", ', text)
    return re.sub(r"\bkey:\n( +)- ", rf'key:\n\1- "{MOVED.decode()}"\n\1- ', text)


class World:
    """The tables of one configuration behind a gateway of their own."""

    def __init__(self, gateway: Gateway, directory: Path, text: str, brokers: str = "127.0.0.1:1") -> None:
        self.gateway, self.directory = gateway, directory
        directory.mkdir()
        text = text.replace("kafka:\n", "kafka:\n  threads: 1\n").replace("127.0.0.1:9092", brokers).replace("127.0.0.1:9090", f"127.0.0.1:{self.gateway.greeting}")
        for schema in (ROOT / "config/examples").iterdir():
            if schema.suffix in (".avsc", ".desc"):
                (directory / schema.name).write_bytes(schema.read_bytes())
        self.config = directory / "tidemark.yaml"
        self.config.write_text(text + "\nservice: { http: off }\ndead_letters: { file: letters.jsonl }\n")
        self.run("tables", "create")

    def run(self, *words: str | Path, exit_code: int = 0) -> bytes:
        done = subprocess.run([PROGRAM, *words, "-c", self.config], capture_output=True, timeout=PATIENCE_S)
        assert done.returncode == exit_code, f"{words}: {done.returncode}: {done.stdout.decode()}{done.stderr.decode()}"
        return done.stdout

    def cells(self) -> Cells:
        return {table: rows for table, rows in self.gateway.dump(self.gateway.tables()).items()
                if rows and table != "tidemark_schemes"}

    def load(self, table: str, form: str, rows: bytes, *words: str) -> str:
        """What it says."""
        path = self.directory / f"{table.replace(':', '_')}.{form}"
        path.write_bytes(rows)
        return self.run("load", "--scanned", table, "--format", form, "--state-directory", self.directory / "state", *words, path).decode()


class Moving(unittest.TestCase):
    maxDiff = None

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="tidemark-moved-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.worlds = 0

    def world(self, text: str, brokers: str = "127.0.0.1:1") -> World:
        self.worlds += 1
        gateway = Gateway(BUILD / "tests/fault/scripted-gateway")
        self.addCleanup(gateway.end)
        return World(gateway, self.directory / str(self.worlds), text, brokers)

    def written(self, text: str, messages: list[Message]) -> World:
        """The tables as the daemon writes them."""
        kafka = Kafka(BUILD / "tests/fault/mock-kafka")
        self.addCleanup(kafka.end)
        topic = re.search(r"topics: \[([\w.]+)\]", text)
        assert topic
        kafka.ask("topic", topic[1], "1")
        for message in messages:
            key = message.key.encode() if message.key is not None else None
            kafka.ask(*kafka.produce_command(topic[1], 0, key, message.value, message.timestamp_ms or RECORD_TIME_MS, []))
        kafka.ask("flush")
        made = self.world(text, kafka.greeting)
        made.run("run", "--until-end")
        return made

    def write(self, rows: bytes) -> Path:
        path = self.directory / "rows"
        path.write_bytes(rows)
        return path


class Moved(Moving):
    case: ExampleCase

    def indexes(self, text: str) -> set[str]:
        found = re.findall(r"^  (\w+):\n(?:    .*\n)*?    index_of: ", text, re.MULTILINE)
        return set(found)

    def move(self, old: World, text: str, form: str, keeps_keys: bool = False) -> tuple[Cells, set[str]]:
        """The tables that the rows of @old make by the configuration @text; and which of them had to keep their keys."""
        new, kept = self.world(text), set()
        for table in old.cells():
            if table in self.indexes(text):
                new.run("load", "--scanned", table, self.directory / "none", exit_code=64)
                continue
            rows = old.run("scan", table, "-f", form)
            is_lost = (self.case.name, table) in LOST
            if is_lost and not keeps_keys:
                said = new.run("load", "--dry-run", "--scanned", table, "--format", form, self.write(rows), exit_code=65).decode()
                self.assertIn(LOST[self.case.name, table], said)
                kept.add(table)
            said = new.load(table, form, rows, *(["--keep-keys"] if keeps_keys or is_lost else []))
            self.assertNotIn("dead letters", said, rows)
        return new.cells(), kept

    def test_moved(self) -> None:
        text = self.case.config_path.read_text()
        old = self.written(text, self.case.messages)
        cells = old.cells()
        self.assertEqual({table: len(rows) for table, rows in cells.items()}, {table: len(rows) for table, rows in self.case.rows.items()})
        for form in ("json", "csv"):
            with self.subTest(form):
                self.assertEqual(self.move(old, text, form)[0], cells)
            with self.subTest(f"{form}, keys kept"):
                self.assertEqual(self.move(old, text, form, keeps_keys=True)[0], cells)
        with self.subTest("another key"):
            found, lost = self.move_to_other_key(old, text)
            self.assertEqual({table: {row.removeprefix(MOVED): of_row for row, of_row in rows.items()} for table, rows in found.items()},
                             {table: rows for table, rows in cells.items() if table not in lost})

    def move_to_other_key(self, old: World, text: str) -> tuple[Cells, set[str]]:
        new, lost = self.world(with_other_keys(text)), {table for name, table in LOST if name == self.case.name}
        for table in old.cells().keys() - self.indexes(text) - lost:
            self.assertNotIn("dead letters", new.load(table, "json", old.run("scan", table, "-f", "json")))
        found = new.cells()
        for rows in found.values():
            self.assertTrue(all(row.startswith(MOVED) for row in rows))
        return found, lost


DECLARED = """
kafka:
  brokers: "127.0.0.1:9092"
  group: declared
  topics: [declared]
readings:
  time: { field: ts, format: epoch_us }
  on_bad_reading: reading
tables:
  NAMES:
    key: [{ field: id }, "#", { time: epoch_us }]
    columns:
      - { family: a, from: [{ field: speed, as: v }, { pattern: "temp.*", as: "t_*" }] }
      - { family: b, from: ["disk/*"], strip_prefix: "disk/", prefix: "d_" }
      - { family: c, from: "*", nulls: empty }
  UNITS:
    key: [{ field: id }, "#", { time: epoch_ms }]
    columns: { family: u, from: [{ field: temp.f, scale: 0.5, offset: -17.75, as: c }, speed], encode: json }
  PACKED:
    latest: packed
    key: [{ field: id, case: lower }]
    columns: { family: p, from: "*", pack: json, qualifier: [all] }
  RECORD:
    cell_time: record
    key: [{ field: id }, "#", { time: epoch_ms, reversed: true, binary: true }]
    columns: { family: r, from: "*", key_fields: true }
  MADE:
    when: { field: kind, equals: made }
    key: [{ hash: md5, of: [id], bytes: 2 }, { field: id }]
    latest: merge
    columns:
      - { family: m, from: [{ value: [{ time: yyyyMMdd }], as: day }, speed] }
hbase:
  gateways: ["127.0.0.1:9090"]
"""

TIME_US = 1_426_535_612_045_678

READINGS: list[dict[str, Any]] = [
    {"id": "a", "ts": TIME_US, "speed": 5, "temp.f": 451, "temp.room": 21.50, "disk/sda": "full, \"really\"", "kind": "made"},
    {"id": "a", "ts": TIME_US + 1, "speed": "5", "empty": "", "nothing": None, "text": "line\nbreak \\x41 \u0001 ü \U0001F30A"},
    {"id": "A", "ts": TIME_US + 2_000_000, "speed": 1e3, "list": [1, {"x": "y"}], "yes": True, "kind": "made", "row": "a field called so"},
    {"id": "b, c", "ts": TIME_US + 3_000, "speed": -0.5, "temp.f": 32, "time": "as well", "a:b": "c", "column": 1, "kind": "made"},
]


class Declared(Moving):
    """Tables whose cells do not say their fields, kinds or times by themselves."""

    def setUp(self) -> None:
        super().setUp()
        self.old = self.written(DECLARED, [Message(json.dumps(reading).encode()) for reading in READINGS])

    def scan(self, table: str, form: str = "json") -> bytes:
        return self.old.run("scan", table, "-f", form)

    def test_moved(self) -> None:
        cells = self.old.cells()
        self.assertEqual({table: len(rows) for table, rows in cells.items()}, {"NAMES": 4, "UNITS": 3, "PACKED": 2, "RECORD": 3, "MADE": 3})
        for form in ("json", "csv"):
            for text, front in ((DECLARED, b""), (with_other_keys(DECLARED), MOVED)):
                with self.subTest(form, front=front):
                    new = self.world(text)
                    for table in cells:
                        self.assertNotIn("dead letters", new.load(table, form, self.scan(table, form)))
                    found = new.cells()
                    self.assertEqual({table: {row.removeprefix(front): of_row for row, of_row in rows.items()}
                                      for table, rows in found.items()}, cells)

    def refused(self, text: str, table: str, rows: bytes, *words: str) -> str:
        """What is said of rows of which nothing is taken."""
        new = self.world(text)
        said = new.run("load", "--dry-run", "--scanned", table, *words, self.write(rows), exit_code=65).decode()
        self.assertIn(f"             0 rows for {table}\n", said)
        return said

    def test_other_columns(self) -> None:
        """Nothing of a row is left out because the table it goes to has no column for it."""
        fewer = DECLARED.replace('      - { family: c, from: "*", nulls: empty }\n', "")
        rows = self.scan("NAMES").splitlines(True)[0]
        self.assertIn("the row has a cell of this field, but the table does not produce one, in 'kind'", self.refused(fewer, "NAMES", rows))
        packed = DECLARED.replace('{ family: p, from: "*",', "{ family: p, from: [id, ts, speed],")
        self.assertIn("the row has a cell of this field, but the table does not produce one", self.refused(packed, "PACKED", self.scan("PACKED")))
        made = self.scan("MADE").splitlines(True)[0]
        self.assertIn("the row has cells that the table does not produce from its fields",
                      self.refused(DECLARED.replace("{ value: [{ time: yyyyMMdd }], as: day }, ", ""), "MADE", made))

    def test_unpacked(self) -> None:
        """The same fields in cells of their own: other columns are no matter where each field has one."""
        new = self.world(DECLARED.replace("latest: packed", "latest: merge").replace(", pack: json, qualifier: [all]", ""))
        new.load("PACKED", "json", self.scan("PACKED"))
        self.assertEqual(new.cells()["PACKED"][b"b, c"]["p", b"speed"][1], b"-0.5")
        self.assertEqual(new.cells()["PACKED"][b"a"]["p", b"list"][1], b'[1, {"x": "y"}]')

    def test_as_stored(self) -> None:
        """A cell that does not look as it is declared is not written as if it did."""
        rows = self.scan("PACKED").replace(b'"type":"number"', b'"type":"stored"')
        self.assertIn("a cell that was printed as stored", self.refused(DECLARED, "PACKED", rows))

    def test_other_lines(self) -> None:
        for rows, words, why in ((b"[]\n", ["-f", "json"], "a line that is not one row"),
                                 (b'{"row":"a"}\n', ["-f", "json"], "cells"),
                                 (b"a,b\n1,2\n", ["-f", "csv"], "a cell without 'timestamp_ms' or 'value'"),
                                 (self.old.run("scan", "RECORD", "-f", "csv", "--column", "speed"), ["-f", "csv"], "a cell without"),
                                 (self.old.run("scan", "MADE", "-f", "json", "--raw"), ["-f", "json"], "missing_field"),
                                 (self.scan("MADE"), ["--keep-keys"], "the table's declared key did not produce the row")):
            with self.subTest(why):
                self.assertIn(why, self.refused(DECLARED, "RECORD", rows, *words))

    def test_time_that_no_cell_says(self) -> None:
        """Where cells bear the record's time, and columns are made of the event's."""
        text = DECLARED.replace("family: r, from", "family: r, qualifier: [{ time: HHmm }, {name: true}], from")
        new = self.world(text)
        new.run("load", "--scanned", "RECORD", self.directory / "none", exit_code=64)


def suites() -> list[unittest.TestSuite]:
    loader, left_out = unittest.defaultTestLoader, left_out_formats()
    found = [loader.loadTestsFromName(name, Declared) for name in loader.getTestCaseNames(Declared)]
    for case in all_cases():
        if case.format not in left_out:
            found.append(loader.loadTestsFromTestCase(type(f"Moved_{case.name.replace('-', '_')}", (Moved,), {"case": case})))
    return found


def run(suite: unittest.TestSuite) -> bool:
    stream = io.StringIO()
    is_good = unittest.TextTestRunner(stream, verbosity=2).run(suite).wasSuccessful()
    print(stream.getvalue(), flush=True)
    return is_good


def main() -> int:
    """Several at a time: most of it is waiting for groups of the mock Kafka."""
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        results = list(pool.map(run, suites()))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

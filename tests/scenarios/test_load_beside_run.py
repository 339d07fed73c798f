#!/usr/bin/env python3
"""`tidemark load` beside a daemon that writes the same latest tables: history from files and readings from Kafka, drawn in any order, the
load killed and run again. Whatever came last, each row holds what the greatest event time left of it.

    test_load_beside_run.py BUILD
"""
from __future__ import annotations

import json
import random
import subprocess
import unittest
from typing import Any

from load_case import BUILD, PROGRAM, LoadCase
from processes import Daemon, Kafka

N = 9000
THINGS = 30
TIME_MS = 1_500_000_000_000
COLUMNS = {"family": "M", "from": "*"}
KEY = [{"field": "h"}]
TABLES = {"MERGE": {"latest": "merge", "key": KEY, "columns": COLUMNS},
          "REPLACE": {"latest": "replace", "key": KEY, "columns": COLUMNS},
          "PACKED": {"latest": "packed", "key": KEY, "columns": {**COLUMNS, "pack": "json"}}}


def reading(number: int) -> dict[str, Any]:
    """No two of one time; of each thing some have a column that the next one lacks."""
    return {"h": f"h{number % THINGS:02}", "ts": TIME_MS + number * 7, "v": number, f"w{number // THINGS % 3}": f"text {number}"}


def fields(number: int) -> dict[str, str]:
    return {name: str(value) for name, value in reading(number).items() if name not in ("h", "ts")}


class LoadBesideRun(LoadCase):
    def setUp(self) -> None:
        super().setUp()
        for table in TABLES:
            self.gateway.ask("table", table, "M")
        self.kafka = Kafka(BUILD / "tests/fault/mock-kafka")
        self.addCleanup(self.kafka.end)
        self.kafka.ask("topic", "t", "1")
        self.topics["kafka"] |= {"brokers": self.kafka.greeting, "threads": 1}
        self.changes = {"tables": TABLES}
        self.draw = random.Random(11)

    def produce(self, numbers: list[int]) -> None:
        self.kafka.ask_all([self.kafka.produce_command("t", 0, None, json.dumps(reading(number)).encode(), TIME_MS + N * 10, []) for number in numbers])
        self.kafka.ask("flush")

    def run_daemon(self) -> Daemon:
        daemon = Daemon(PROGRAM, json.loads(self.config().read_text()), self.directory, "daemon")
        self.addCleanup(daemon.stop, 60)
        self.assertTrue(daemon.wait_ready(60, "no reason"), daemon.log())
        return daemon

    def load_until(self, marked: int, path: Any) -> None:
        """Begins to load, and is killed when so many records are marked."""
        process = subprocess.Popen(self.command("--rate", "3000", path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.wait(lambda: self.marked() >= marked or process.poll() is not None)
        self.assertIsNone(process.poll(), "it ended by itself: nothing was killed")
        process.kill()
        process.communicate()

    def assert_newest(self) -> None:
        found = self.gateway.dump(list(TABLES))
        for thing in range(THINGS):
            row, numbers = f"h{thing:02}".encode(), range(thing, N, THINGS)
            newest = numbers[-1]
            merged = {name: (TIME_MS + number * 7, value) for number in numbers for name, value in fields(number).items()}
            self.assertEqual(self.texts(found["MERGE"][row]), merged)
            self.assertEqual(self.texts(found["REPLACE"][row]), {name: (TIME_MS + newest * 7, value) for name, value in fields(newest).items()})
            ((time_ms, packed),) = found["PACKED"][row].values()
            self.assertEqual((time_ms, {name: str(value) for name, value in json.loads(packed).items()}), (TIME_MS + newest * 7, fields(newest)))

    @staticmethod
    def texts(cells: dict[tuple[str, bytes], tuple[int, bytes]]) -> dict[str, tuple[int, str]]:
        return {name.decode(): (time_ms, value.decode()) for (_, name), (time_ms, value) in cells.items()}

    def test_any_order(self) -> None:
        numbers = self.draw.sample(range(N), N)
        of_kafka, of_file = numbers[:N // 2], numbers[N // 2:]
        path = self.write("history.jsonl", b"".join(json.dumps(reading(number)).encode() + b"\n" for number in of_file))
        daemon = self.run_daemon()
        for part, marked in enumerate((500, 1500)):
            self.produce(of_kafka[part * 1500:(part + 1) * 1500])
            self.load_until(marked, path)
        self.produce(of_kafka[3000:])
        self.load(path)
        self.wait(lambda: self.kafka.committed("g", [("t", 0)])["t", 0] == len(of_kafka))
        self.assertEqual(daemon.stop(60), 0, daemon.log())
        self.assert_newest()

    def test_history_behind_what_is_newest(self) -> None:
        """All that the file holds is older than what the daemon has written already: none of it shows."""
        daemon = self.run_daemon()
        self.produce(list(range(N - 3 * THINGS, N)))
        self.wait(lambda: self.kafka.committed("g", [("t", 0)])["t", 0] == 3 * THINGS)
        older = self.draw.sample(range(N - 3 * THINGS), N - 3 * THINGS)
        self.load(self.write("history.jsonl", b"".join(json.dumps(reading(number)).encode() + b"\n" for number in older)))
        self.assertEqual(daemon.stop(60), 0, daemon.log())
        self.assert_newest()


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""What tests of `tidemark load` begin with: files of numbered readings, and what of them is in the tables of a scripted gateway."""
from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable

from processes import Gateway

BUILD = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build").resolve()
PROGRAM = BUILD / "daemon/tidemark"
TIME_MS = 1_500_000_000_000
HOSTS = 50
PATIENCE_S = 120


def reading(number: int) -> dict[str, Any]:
    return {"h": f"h{number % HOSTS:02}", "ts": TIME_MS + number, "v": number, "w": f"text {number}"}


def lines(first: int, n: int) -> bytes:
    return b"".join(json.dumps(reading(number)).encode() + b"\n" for number in range(first, first + n))


class LoadCase(unittest.TestCase):
    gateway: Gateway

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="tidemark-load-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.gateway = Gateway(BUILD / "tests/fault/scripted-gateway")
        self.addCleanup(self.gateway.end)
        for table in ("METRIC", "CURRENT"):
            self.gateway.ask("table", table, "M")
        self.readings: dict[str, Any] = {"time": {"field": "ts", "format": "epoch_ms"}}
        self.changes: dict[str, Any] = {}
        self.settle = "1s"
        self.key: list[Any] = [{"field": "h"}, "#", {"time": "epoch_ms"}]
        self.gateways = [f"127.0.0.1:{self.gateway.greeting}"]
        self.topics: dict[str, Any] = {"kafka": {"brokers": "127.0.0.1:1", "group": "g", "topics": ["t"], "threads": 2, "commit_interval": "100ms"}}

    def config(self) -> Path:
        path = self.directory / "tidemark.yaml"
        columns = {"family": "M", "from": "*"}
        sections = {
            **self.topics, "hbase": {"gateways": self.gateways, "uncertain_timeout": self.settle, "call_timeout": "1s"}, "readings": self.readings,
            "tables": {"METRIC": {"key": self.key, "columns": columns},
                       "CURRENT": {"latest": "replace", "key": [{"field": "h"}], "columns": columns}}, **self.changes}
        path.write_text(json.dumps({name: section for name, section in sections.items() if section is not None}))
        return path

    def command(self, *words: str | Path) -> list[str]:
        return [str(PROGRAM), "load", "-c", str(self.config()), "--state-directory", str(self.directory / "state"), *map(str, words)]

    def load(self, *words: str | Path, exit_code: int = 0, data: bytes | None = None, limit_bytes: int | None = None) -> str:
        """What it says."""
        done = subprocess.run(self.command(*words), input=data, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=PATIENCE_S)
        text = done.stdout.decode()
        self.assertEqual(done.returncode, exit_code, text)
        return text

    def verify(self, *words: str | Path, exit_code: int = 0) -> str:
        done = subprocess.run([str(PROGRAM), "verify", "-c", str(self.config()), "--state-directory", str(self.directory / "state"), "--files",
                               *map(str, words)], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def write(self, name: str, data: bytes) -> Path:
        path = self.directory / name
        path.write_bytes(data)
        return path

    def numbers(self) -> list[int]:
        """What is in the table of all."""
        rows = self.gateway.dump(["METRIC"])["METRIC"]
        return sorted(int(cells["M", b"v"][1]) for cells in rows.values())

    def assert_loaded(self, numbers: range | list[int]) -> None:
        self.assertEqual(self.numbers(), sorted(numbers))
        newest: dict[bytes, int] = {}
        for number in numbers:
            host = f"h{number % HOSTS:02}".encode()
            newest[host] = max(number, newest.get(host, -1))
        rows = self.gateway.dump(["CURRENT"])["CURRENT"]
        self.assertEqual({row: int(cells["M", b"v"][1]) for row, cells in rows.items()}, newest)

    def dead_letters(self) -> list[dict[str, Any]]:
        path = self.directory / "state/load-dead-letters.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def wait(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            self.assertLess(time.monotonic(), deadline, "waited in vain")
            time.sleep(0.02)

    def marked(self) -> int:
        """How many records all marks are behind."""
        return sum(int(line.split("=")[1]) - 1 for path in (self.directory / "state").glob("*.mark")
                   for line in path.read_text().splitlines() if line.startswith("offset="))

"""The processes of a run of scenarios: the mock Kafka, the scripted gateway, and the daemon itself."""
from __future__ import annotations

import json
import os
import re
import shlex
import signal
import struct
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Iterator


class ProcessFailed(Exception):
    """A process of the harness, not the daemon, did what it must not."""


def unescape(text: str) -> bytes:
    return re.sub(rb"\\x([0-9A-F]{2})", lambda match: bytes([int(match[1], 16)]), text.encode("latin1"))


def to_hex(data: bytes | None) -> str:
    return "-" if data is None else data.hex() or "''"


def from_hex(text: str) -> bytes | None:
    return None if text == "-" else bytes.fromhex(text)


class LineProcess:
    """A program that takes a command a line and ends each answer with "ok" or "error TEXT"."""

    def __init__(self, program: Path, *arguments: str) -> None:
        self.name = program.name
        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        encoding="latin1")
        self.lock = threading.Lock()
        assert self.process.stdout
        self.greeting = self.process.stdout.readline().split()[-1]

    def ask(self, *words: str) -> list[str]:
        return self.ask_all([words])

    def ask_all(self, commands: list[tuple[str, ...]]) -> list[str]:
        """The lines of all answers. Commands go out in pieces, so that neither side's pipe fills up."""
        lines: list[str] = []
        with self.lock:
            for start in range(0, len(commands), 20):
                piece = commands[start:start + 20]
                assert self.process.stdin
                try:
                    self.process.stdin.write("".join(
                        " ".join(word if word == "''" else shlex.quote(word) for word in words) + "\n" for words in piece))
                    self.process.stdin.flush()
                except OSError as error:
                    raise ProcessFailed(f"{self.name} has ended") from error
                for words in piece:
                    lines += self.answer(words)
        return lines

    def answer(self, words: tuple[str, ...]) -> Iterator[str]:
        assert self.process.stdout
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line == "ok":
                return
            if line.startswith("error "):
                raise ProcessFailed(f"{self.name}: {' '.join(words)[:200]}: {line}")
            yield line
        raise ProcessFailed(f"{self.name} ended at: {' '.join(words)[:200]}")

    def is_running(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.close()
            self.process.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()


class Kafka(LineProcess):
    """The mock cluster."""

    def clear(self, *requests: str) -> None:
        """No error that is still to come for these hits who asks next."""
        self.ask_all([("clear", request) for request in requests])

    def number(self, *words: str) -> int:
        return int(self.ask(*words)[0].split()[1])

    def note(self, group: str, source: tuple[str, int]) -> str:
        return self.ask("note", group, source[0], str(source[1]))[0].removeprefix("note ")

    def produce_command(self, topic: str, partition: int, key: bytes | None, value: bytes | None, timestamp_ms: int,
                        headers: list[tuple[str, bytes]]) -> tuple[str, ...]:
        return ("produce", topic, str(partition), to_hex(key), to_hex(value), str(timestamp_ms),
                *(f"{name}={data.hex()}" for name, data in headers))

    def committed(self, group: str, partitions: list[tuple[str, int]]) -> dict[tuple[str, int], int]:
        answers = self.ask_all([("committed", group, topic, str(partition)) for topic, partition in partitions])
        return {place: int(line.split()[1]) for place, line in zip(partitions, answers)}

    def read(self, topic: str, partitions: int) -> list[dict[str, Any]]:
        records = []
        for line in self.ask("read", topic, str(partitions)):
            _, partition, offset, timestamp, key, value, *headers = line.split(" ")
            records.append({"partition": int(partition), "offset": int(offset), "timestamp": int(timestamp),
                            "key": from_hex(key), "value": from_hex(value),
                            "headers": [(name, from_hex(data)) for name, _, data in (one.partition("=") for one in headers)]})
        return records


class Gateway(LineProcess):
    """The scripted gateway and the tables behind it."""

    def tables(self) -> list[str]:
        return [line.split(" ", 1)[1] for line in self.ask("tables")]

    def dump(self, tables: list[str]) -> dict[str, dict[bytes, dict[tuple[str, bytes], tuple[int, bytes]]]]:
        """Table, row, (family, qualifier): time and value, as a reader sees them."""
        found: dict[str, dict[bytes, dict[tuple[str, bytes], tuple[int, bytes]]]] = {}
        for table in tables:
            rows = found.setdefault(table, {})
            for line in self.ask("dump", table):
                row, column, time_ms, value = line.split("\t", 3)
                family, _, qualifier = column.partition(":")
                rows.setdefault(unescape(row), {})[family, unescape(qualifier)] = (int(time_ms), unescape(value))
        return found

    def stats(self) -> dict[str, int]:
        words = [line.split(" ", 1) for line in self.ask("stats")]
        return {name: int(value) for name, value in words if value.isdigit()}


class Daemon:
    """tidemark run, as its users run it."""

    def __init__(self, program: Path, config: dict[str, Any], directory: Path, name: str, state: Path | None = None,
                 clock: Path | None = None) -> None:
        self.port = 0
        self.config_path = directory / f"{name}.yaml"
        self.log_path = directory / f"{name}.log"
        config = {**config, "service": {"http": "127.0.0.1:0", "log_format": "text", **config.get("service", {})}}
        self.config_path.write_text(json.dumps(config, indent=1, ensure_ascii=False))
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([program, "run", "-c", self.config_path], stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL,
                                            env={**os.environ, **({"STATE_DIRECTORY": str(state)} if state else {}),
                                                 **({"TIDE_CLOCK_FILE": str(clock)} if clock else {})})
        self.clock = clock
        self.exit_code: int | None = None

    def get(self, path: str) -> tuple[int, str]:
        """Status and text; 0 while it does not listen yet, or no more."""
        if self.port == 0:
            match = re.search(r"metrics at (?:https?://\S+:|port )(\d+)", self.log())
            if match is None:
                return 0, "not listening yet"
            self.port = int(match[1])
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def metrics(self) -> dict[str, dict[tuple[str, ...], float]]:
        """Name: values of the labels, in their order: number."""
        found: dict[str, dict[tuple[str, ...], float]] = {}
        for line in self.get("/metrics")[1].splitlines():
            match = re.fullmatch(r"(tidemark_\w+)(?:\{(.*)\})? (\S+)", line)
            if match:
                labels = tuple(re.findall(r'\w+="((?:[^"\\]|\\.)*)"', match[2] or ""))
                found.setdefault(match[1], {})[labels] = float(match[3])
        return found

    def is_running(self) -> bool:
        return self.process.poll() is None

    def wait_ready(self, patience_s: float, or_says: str) -> bool:
        """Until it takes readings, or gives this as the reason why it does not."""
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline and self.is_running():
            status, text = self.get("/readyz")
            if status == 200 or or_says in text:
                return True
            time.sleep(0.05)
        return False

    def set_clock(self, by_s: int) -> None:
        """Sets the wall clock of a program that was built for it (tests/fault/program/shifted_clock.c)."""
        if self.clock:
            with open(self.clock, "r+b") as file:  # mapped by the program: written in place
                ahead_ns, = struct.unpack("q", file.read(8))
                file.seek(0)
                file.write(struct.pack("q", ahead_ns + by_s * 10**9))

    def kill(self) -> None:
        self.process.kill()
        self.exit_code = self.process.wait()

    def stop(self, patience_s: float) -> int:
        """Its exit code; -9 when it had to be killed."""
        if self.is_running():
            self.process.send_signal(signal.SIGTERM)
        try:
            self.exit_code = self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.kill()
        return self.exit_code if self.exit_code is not None else -9

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def last_lines(self) -> str:
        """What it said last that is more than a notice, and its last line."""
        lines = [line[:300] for line in self.log().splitlines()]
        bad = [line for line in lines if re.search(r"Z (crit|error|warning) ", line)]
        return "\n".join([*bad[-4:], *lines[-1:]])

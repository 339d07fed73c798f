"""What is in HBase, told by HBase's own Java client (java/HBaseOracle.java). One JVM answers all questions of a run."""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Iterator, Optional

import java_flags
import java_program
import maven_jars
from jvm_process import StackError, spawn

SOURCE = maven_jars.HERE / "java" / "HBaseOracle.java"

# A first question starts the JVM (about 1.5 s); a major compaction or a scan of a large table may take minutes.
ANSWER_DEADLINE_S = 300

READ_SIZE_BYTES = 1 << 20


@dataclass(frozen=True)
class Cell:
    """One cell of one version, as it is in the table."""

    row: bytes
    family: str
    qualifier: bytes
    timestamp_ms: int
    value: bytes


@dataclass(frozen=True)
class Digest:
    """Equal for two tables, or two states of one, when all rows, columns, time stamps and values are equal."""

    rows: int
    cells: int
    sha256: str


class Oracle:
    """Asks HBase directly, past the gateway. The JVM is started by the first question and lives until `stop`."""

    def __init__(self, zookeeper_port: int, log_path: Path) -> None:
        self._zookeeper_port = zookeeper_port
        self._log_path = log_path
        self._child: Optional[subprocess.Popen[bytes]] = None
        self._answer = bytearray()
        self._lock = threading.Lock()

    def ask(self, *words: str, deadline_s: float = ANSWER_DEADLINE_S) -> list[str]:
        """Sends one command and returns its lines; one question at a time, from any thread."""
        with self._lock:
            if self._child is None:
                self._start()
            assert self._child is not None and self._child.stdin is not None
            self._child.stdin.write((" ".join(words) + "\n").encode("utf-8"))
            self._child.stdin.flush()
            lines: list[str] = []
            for line in self._lines(time.monotonic() + deadline_s):
                if line == "OK":
                    return lines
                if line.startswith("ERR "):
                    raise StackError(f"oracle, asked '{' '.join(words)}': {line[4:]}")
                lines.append(line)
        raise StackError(f"the oracle ended, asked '{' '.join(words)}' (its log is '{self._log_path}')")

    def dump(self, table: str, start: bytes = b"", stop: bytes = b"") -> list[Cell]:
        """Every cell of every version from row `start` to before row `stop`, in HBase's order."""
        words = ["dump", table]
        for option, bound in (("--start", start), ("--stop", stop)):
            if bound:
                words += [option, bound.hex()]
        return [_parse_cell(line) for line in self.ask(*words)]

    def count(self, table: str) -> tuple[int, int]:
        """The number of rows and the number of cells."""
        rows, cells = self.ask("count", table)[0].split("\t")
        return int(rows), int(cells)

    def digest(self, table: str) -> Digest:
        rows, cells, sha256 = self.ask("digest", table)[0].split("\t")
        return Digest(int(rows), int(cells), sha256)

    def create(self, table: str, family: str, splits: tuple[bytes, ...] = ()) -> None:
        self.ask("create", table, family, *(split.hex() for split in splits))

    def drop(self, table: str) -> None:
        self.ask("drop", table)

    def truncate(self, table: str) -> None:
        """Empties the table and keeps its splits."""
        self.ask("truncate", table)

    def snapshot(self, table: str, name: str) -> None:
        self.ask("snapshot", table, name)

    def restore(self, table: str, name: str) -> None:
        """Replaces the table's content with the snapshot's."""
        self.ask("restore", table, name)

    def clone(self, table: str, name: str) -> None:
        """Makes a table of the snapshot."""
        self.ask("clone", table, name)

    def enable(self, table: str) -> None:
        self.ask("enable", table)

    def disable(self, table: str) -> None:
        self.ask("disable", table)

    def tables(self) -> list[str]:
        return self.ask("tables")

    def describe(self, table: str) -> list[list[str]]:
        """Lists of ['attribute', name, value], ['family', name, setting...], ['region', start hex, end hex]."""
        return [line.split("\t") for line in self.ask("describe", table)]

    def flush(self, table: str) -> None:
        self.ask("flush", table)

    def major_compact(self, table: str) -> None:
        self.ask("major-compact", table)

    def split(self, table: str, key: bytes) -> None:
        """Splits a region at this key; returns when both halves are online."""
        self.ask("split", table, key.hex())

    def unassign(self, table: str, key: bytes) -> None:
        """Takes the region of this key offline: calls for its rows fail or wait until `assign`."""
        self.ask("unassign", table, key.hex())

    def assign(self, table: str, key: bytes) -> None:
        self.ask("assign", table, key.hex())

    def move_region(self, table: str, key: bytes) -> str:
        """Moves the region to another server, or takes it offline and brings it back where there is one; where it is then."""
        return self.ask("move-region", table, key.hex())[0]

    def set(self, table: str, name: str, value: str) -> None:
        """An attribute of the table, such as READONLY, or a setting of HBase's for this table alone."""
        self.ask("set", table, name, value)

    def limit_space(self, table: str, size_bytes: int, policy: str) -> None:
        """A space quota, of an HBase that has quotas; policy: "NO_INSERTS" for instance."""
        self.ask("limit-space", table, str(size_bytes), policy)

    def limit_rate(self, table: str, kind: str, per_hour: int) -> None:
        """A quota of the rate, of an HBase that has quotas; kind: "WRITE_NUMBER" for instance."""
        self.ask("limit-rate", table, kind, str(per_hour))

    def grant(self, table: str, user: str, actions: str) -> None:
        """As the shell's grant, "RW" for instance; of an HBase that checks rights (CHECKS_RIGHTS)."""
        self.ask("grant", table, user, actions)

    def stop(self) -> None:
        """Ends the JVM; a later question starts a new one."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            assert self._child.stdin is not None and self._child.stdout is not None
            self._child.stdin.close()
            self._child.stdout.close()
        self._child = None
        self._answer.clear()

    def _start(self) -> None:
        command = [java_flags.java(), *java_flags.hbase("oracle", self._log_path, heap="256m", peak_speed=False),
                   "HBaseOracle", str(self._zookeeper_port), "serve"]
        classes = java_program.compiled("oracle", [SOURCE], maven_jars.classpath_file("hbase"))
        environment = java_flags.environment(f"{classes}:{maven_jars.classpath('hbase')}")
        with open(self._log_path, "ab") as log:
            self._child = spawn(command, environment, log, owned=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                bufsize=0)

    def _lines(self, give_up_at: float) -> Iterator[str]:
        """The lines of the answer as they come, until the end of the stream."""
        assert self._child is not None and self._child.stdout is not None
        output: IO[bytes] = self._child.stdout
        poller = select.poll()
        poller.register(output, select.POLLIN)
        while True:
            *complete, rest = self._answer.split(b"\n")
            self._answer = bytearray(rest)
            for line in complete:
                yield line.decode("utf-8")
            left_s = give_up_at - time.monotonic()
            if left_s <= 0 or not poller.poll(left_s * 1000):
                self.stop()
                raise StackError(f"the oracle has not answered in time (its log is '{self._log_path}')")
            part = os.read(output.fileno(), READ_SIZE_BYTES)
            if not part:
                self.stop()
                return
            self._answer += part


def _parse_cell(line: str) -> Cell:
    row, family, qualifier, timestamp_ms, value = line.split("\t")
    return Cell(bytes.fromhex(row), family, bytes.fromhex(qualifier), int(timestamp_ms), bytes.fromhex(value))

"""What every integration test begins with: a topic, tables and a group of its own on the shared stack."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import unittest
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, TypeVar

import check_tables
from cell_table import CellTable
from daemon import DEADLINE_S, Daemon, configuration, metric_tables
from jvm_process import spawn
from stack import Stack
from stack_services import Kafka
from version_table import VersionTable

# Exit codes of sysexits.h that README.md promises.
EX_USAGE, EX_DATAERR, EX_UNAVAILABLE, EX_TEMPFAIL, EX_CONFIG = 64, 65, 69, 75, 78

# A flow that lasts long enough for something to happen in the middle of it.
FLOW = ("--readings", "30000", "--devices", "300", "--metrics", "5", "--late", "2%", "--repeat", "1%", "--shuffle", "50")
SLOWLY = ("--rate", "5000")
WRITTEN = "tidemark_messages_written_total"

Reading = Mapping[str, Any]
Test = TypeVar("Test", bound=Callable[..., None])


def long(test: Test) -> Test:
    """Marks a test that ./check --long runs, and ./check does not."""
    setattr(test, "is_long", True)
    return test


def by_name(test: Test) -> Test:
    """Marks a test that runs only where it is named, as a stage of its own does."""
    setattr(test, "is_long", None)
    return test


class Case(unittest.TestCase):
    """Names are made from the test's, so that no two tests meet in a topic, group or table."""

    # Set by run.py before the first test.
    stack: Stack
    tidemark: Path
    directory: Path

    # What lives as long as the stack; closed by run.py.
    at_end: contextlib.ExitStack

    # What tests of secured gateways have seen, and what tests of versions have.
    seen = CellTable()
    versions = VersionTable()

    # Of the commands, beside that of the tests.
    command_environment: Mapping[str, str] = {}

    longMessage = True
    maxDiff = 4000

    def setUp(self) -> None:
        self.name = self.id().rsplit(".", 1)[1].removeprefix("test_")
        self.history = f"{self.name}_METRIC"
        self.latest = f"{self.name}_CURRENT"
        self.work = self.directory / self.name
        self.work.mkdir()
        self.sent = self.work / "sent.jsonl"
        self._simulation_log = self.work / "simulate.log"

    @property
    def kafka(self) -> Kafka:
        """Where the test's topics and groups are."""
        return self.stack.kafka

    # What is there before the daemon

    def create_topic(self, partitions: int, name: Optional[str] = None) -> str:
        topic = name or self.name
        self.kafka.admin.create_topic(topic, partitions)
        self.addCleanup(self.kafka.admin.delete_topic, topic)
        return topic

    def create_tables(self, splits: tuple[bytes, ...] = ()) -> None:
        """The history and the latest table, by the Java client."""
        self.create_table(self.history, "M", splits)
        self.create_table(self.latest, "M")

    def create_table(self, table: str, family: str, splits: tuple[bytes, ...] = ()) -> None:
        self.stack.oracle.create(table, family, splits)
        self.addCleanup(self.stack.oracle.drop, table)

    def drop_later(self, *tables: str) -> None:
        """For tables that tidemark makes."""
        for table in tables:
            self.addCleanup(lambda name=table: name in self.stack.oracle.tables() and self.stack.oracle.drop(name))

    # The daemon and the commands

    def daemon(self, name: str = "daemon", *, gateways: Optional[list[str]] = None, tables: Optional[Mapping[str, Any]] = None,
               topic: Optional[str] = None, changes: Optional[Mapping[str, Any]] = None) -> Daemon:
        """Configured, not started; killed at the test's end if it runs then."""
        config = configuration(
            brokers=self.kafka.address, group=self.name, topic=topic or self.name,
            gateways=gateways or [gateway.address for gateway in self.stack.gateways[:2]],
            tables=tables or metric_tables(self.history, self.latest), changes=changes)
        daemon = Daemon(self.tidemark, self.work, name, config, self.kafka.admin)
        self.addCleanup(daemon.kill9)
        return daemon

    def run_to_end(self, daemon: Daemon, *options: str, code: int = 0) -> None:
        """Writes what is in the topic and not yet committed, and ends by itself."""
        daemon.start("--until-end", *options)
        self.assertEqual(daemon.wait_end(), code, daemon.log_tail())

    def command(self, *words: str, code: int = 0, stdin: str = "") -> str:
        """Runs a command to its end and expects this exit code; what it printed."""
        done = self.run_command(*words, stdin=stdin)
        self.assertEqual(done.returncode, code, f"tidemark {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def run_command(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(self.tidemark), *words], input=stdin, capture_output=True, text=True, check=False,
                              timeout=DEADLINE_S, env={**os.environ, **self.command_environment})

    # Messages

    def simulate(self, *options: str, topic: Optional[str] = None) -> int:
        """Sends synthetic readings and keeps them in `sent`; their number, with those sent twice."""
        return self.finish(self.simulate_in_background(*options, topic=topic))

    def simulate_in_background(self, *options: str, topic: Optional[str] = None) -> subprocess.Popen[bytes]:
        command = [str(self.tidemark), "simulate", "--brokers", self.kafka.address, "--topic", topic or self.name,
                   "--log", str(self.sent), *options]
        with self._simulation_log.open("ab") as log:
            process = spawn(command, {**os.environ, **self.command_environment}, log, owned=True)
        self.addCleanup(_end, process)
        return process

    def begin_flow(self, daemon: Daemon, n_written: int) -> subprocess.Popen[bytes]:
        """Starts the daemon and a flow; returns when this many messages are written, most are still to be sent."""
        daemon.start()
        simulation = self.simulate_in_background(*FLOW, *SLOWLY)
        daemon.wait_metric(WRITTEN, n_written)
        return simulation

    def finish(self, simulation: subprocess.Popen[bytes], *, load_s: int = 0) -> int:
        """Waits until everything is sent; the number of readings sent, with those sent twice. load_s: that it is spread over."""
        self.assertEqual(simulation.wait(load_s + DEADLINE_S), 0, self._simulation_log.read_text(encoding="utf-8"))
        return self.count_sent()

    def assert_in_the_middle(self, simulation: subprocess.Popen[bytes], daemon: Daemon) -> None:
        """There is something left to be sent or to be written: what happens now happens in the middle of a flow."""
        if simulation.poll() is not None:
            end = sum(self.kafka.admin.latest_offsets(daemon.topic).values())
            self.assertLess(daemon.committed(), end, "everything is written already")

    def count_sent(self) -> int:
        with self.sent.open("rb") as lines:
            return sum(1 for _ in lines)

    def sent_readings(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.sent.read_text(encoding="utf-8").splitlines()]

    def send(self, messages: Iterable[str | Reading], *, topic: Optional[str] = None, partition: int = 0) -> int:
        """Sends messages to one partition, in this order; their number."""
        lines = [message if isinstance(message, str) else json.dumps(message, separators=(",", ":")) for message in messages]
        subprocess.run(["kcat", "-P", "-q", "-b", self.kafka.address, "-t", topic or self.name, "-p", str(partition)],
                       input="".join(f"{line}\n" for line in lines), text=True, check=True, timeout=DEADLINE_S,
                       capture_output=True)
        return len(lines)

    def log_sent(self, readings: Sequence[Reading]) -> None:
        """Puts readings into `sent`, where the tables are compared with them."""
        with self.sent.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(reading) + "\n" for reading in readings)

    # What must hold

    def assert_tables_hold_what_was_sent(self, history: Optional[str] = None, latest: Optional[str] = None) -> None:
        """Both tables, cell by cell, read by HBase's Java client."""
        with contextlib.redirect_stdout(io.StringIO()) as differences:
            n_differences = check_tables.check(self.stack.oracle, self.sent, history or self.history, latest or self.latest)
        self.assertEqual(n_differences, 0, differences.getvalue())

    def assert_accounting_balances(self, daemon: Daemon) -> None:
        """Every message that this process received has ended in one counter."""
        ends = {name: daemon.metric(f"tidemark_messages_{name}") for name in (
            "received_total", "written_total", "skipped_total", "unmatched_total", "expired_total", "dead_lettered_total",
            "handed_back_total", "in_flight")}
        received = ends.pop("received_total")
        self.assertEqual(received, sum(ends.values()), f"received {received}, ended {ends}")
        self.assertEqual(ends["in_flight"], 0)

    def assert_all_is_written(self, daemon: Daemon, n_messages: int) -> None:
        """Committed, in the tables, and accounted for."""
        daemon.wait_committed(n_messages)
        self.assert_tables_hold_what_was_sent()
        self.assert_accounting_balances(daemon)

    def end_flow(self, simulation: subprocess.Popen[bytes], daemon: Daemon) -> None:
        """The rest of it is written, and an orderly stop leaves nothing."""
        self.assert_all_is_written(daemon, self.finish(simulation))
        self.assertEqual(daemon.stop(), 0, daemon.log_tail())

    def cells(self, table: str) -> dict[tuple[str, str], tuple[int, str]]:
        """Of a table: (row key, column) -> (cell time in ms, value)."""
        return {(cell.row.decode(), f"{cell.family}:{cell.qualifier.decode()}"): (cell.timestamp_ms, cell.value.decode())
                for cell in self.stack.oracle.dump(table)}


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()

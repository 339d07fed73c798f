#!/usr/bin/env python3
"""Shows that the stack does what README.md says: about a minute and a half on two idle cores."""

from __future__ import annotations

import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Callable

import thrift_probe
from hbase_oracle import Cell
from jvm_process import StackError
from kafka_admin import KafkaError
from stack import Stack

HERE = Path(__file__).resolve().parent

TIMESTAMP_MS = 1_426_535_612_045

# Thrift's binary protocol: type numbers of a string, of a 64-bit integer, of a struct and of a list.
STRING, I64, STRUCT, LIST = 11, 10, 12, 15
STOP = b"\x00"

# What HBase's ZooKeeper forgives by default is 10 s; the stack's own setting is what lets a longer sleep pass.
SUSPENSION_S = 12


def _field(kind: int, number: int, value: bytes) -> bytes:
    return struct.pack(">bh", kind, number) + value


def _binary(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


def _structs(elements: list[bytes]) -> bytes:
    return struct.pack(">bi", STRUCT, len(elements)) + b"".join(elements)


def put_multiple(port: int, table: str, cells: list[Cell]) -> None:
    """THBaseService.putMultiple in bytes (unframed, binary), one TPut per cell; its reply must be the empty one."""
    puts = []
    for cell in cells:
        value = b"".join((_field(STRING, 1, _binary(cell.family.encode())), _field(STRING, 2, _binary(cell.qualifier)),
                          _field(STRING, 3, _binary(cell.value)),
                          _field(I64, 4, struct.pack(">q", cell.timestamp_ms)), STOP))
        puts.append(_field(STRING, 1, _binary(cell.row)) + _field(LIST, 2, _structs([value])) + STOP)
    name = _binary(b"putMultiple") + struct.pack(">i", 1)
    arguments = _field(STRING, 1, _binary(table.encode())) + _field(LIST, 2, _structs(puts)) + STOP
    expected = struct.pack(">I", 0x80010002) + name + STOP
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(struct.pack(">I", 0x80010001) + name + arguments)
        reply = thrift_probe.receive_exactly(connection, len(expected))
    if reply != expected:
        raise AssertionError(f"putMultiple was refused: {reply!r}")


def some_cells(prefix: str, count: int) -> list[Cell]:
    return [Cell(f"{prefix}#{timestamp_ms}".encode(), "METRIC", b"CPU/CPU1_USR", timestamp_ms, b"\x00\xff\n%d" % i)
            for i, timestamp_ms in enumerate(range(TIMESTAMP_MS, TIMESTAMP_MS + count))]


def processes_of(directory: Path) -> list[str]:
    """The command lines of all processes that name this directory."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\x00", b" ").decode("utf-8", errors="replace")
        except OSError:
            continue
        if str(directory) in line:
            found.append(line)
    return found


def kcat(stack: Stack, *words: str, given: str = "") -> str:
    command = ["kcat", "-q", "-b", stack.kafka.address, *words]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


class StackTest(unittest.TestCase):
    """One stack for all tests; each uses a table or a topic of its own."""

    directory: Path
    stack: Stack

    @classmethod
    def setUpClass(cls) -> None:
        cls.directory = Path(tempfile.mkdtemp(prefix="tidemark-stack-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.stack = cls.enterClassContext(Stack(cls.directory, gateways=1))

    def test_the_oracle_dumps_what_was_put_through_the_gateway(self) -> None:
        cells = some_cells("server1", 500)
        self.stack.oracle.create("PUT", "METRIC")
        put_multiple(self.stack.gateways[0].port, "PUT", cells)
        self.assertEqual(self.stack.oracle.dump("PUT"), cells)
        self.assertEqual(self.stack.oracle.dump("PUT", start=cells[10].row, stop=cells[12].row), cells[10:12])
        self.assertEqual(self.stack.oracle.count("PUT"), (500, 500))

    def test_equal_contents_have_equal_digests_whatever_the_order_of_writing(self) -> None:
        cells = some_cells("server2", 50)
        for table, order in (("DIGEST1", cells), ("DIGEST2", cells[::-1])):
            self.stack.oracle.create(table, "METRIC")
            put_multiple(self.stack.gateways[0].port, table, order)
        self.assertEqual(self.stack.oracle.digest("DIGEST1"), self.stack.oracle.digest("DIGEST2"))
        put_multiple(self.stack.gateways[0].port, "DIGEST2", some_cells("server3", 1))
        self.assertNotEqual(self.stack.oracle.digest("DIGEST1"), self.stack.oracle.digest("DIGEST2"))

    def test_rows_survive_a_compaction_a_split_and_a_move(self) -> None:
        cells = some_cells("server4", 100)
        self.stack.oracle.create("REGIONS", "METRIC", splits=(b"b", b"t"))
        put_multiple(self.stack.gateways[0].port, "REGIONS", cells)
        before = self.stack.oracle.digest("REGIONS")
        self.stack.oracle.flush("REGIONS")
        self.stack.oracle.major_compact("REGIONS")
        self.stack.oracle.split("REGIONS", cells[50].row)
        self.stack.oracle.move_region("REGIONS", cells[0].row)
        starts = [line[1] for line in self.stack.oracle.describe("REGIONS") if line[0] == "region"]
        self.assertEqual(starts, ["", b"b".hex(), cells[50].row.hex(), b"t".hex()])
        self.assertEqual(self.stack.oracle.digest("REGIONS"), before)

    def test_the_oracle_reports_a_refusal_and_goes_on(self) -> None:
        with self.assertRaisesRegex(StackError, "NOSUCH"):
            self.stack.oracle.count("NOSUCH")
        self.stack.oracle.create("ANSWERED", "METRIC")
        self.assertIn("ANSWERED", self.stack.oracle.tables())

    def test_a_killed_gateway_comes_back_on_its_port_even_when_a_helper_thread_starts_it(self) -> None:
        gateway = self.stack.gateways[0]
        first = gateway.pid
        gateway.kill9()
        self.assertIsNone(gateway.pid)
        with self.assertRaises(ConnectionRefusedError):
            put_multiple(gateway.port, "AGAIN", [])
        helper = threading.Thread(target=gateway.start)
        helper.start()
        helper.join()
        self.assertNotIn(gateway.pid, (None, first))
        self.stack.oracle.create("AGAIN", "METRIC")
        put_multiple(gateway.port, "AGAIN", some_cells("server5", 1))

    def test_gateways_of_every_format_answer_in_their_own_format_only(self) -> None:
        formats: list[dict[str, Any]] = [{"kind": "thrift2", "framed": True, "compact": True},
                                         {"kind": "thrift1", "framed": False, "compact": False}]
        for own, other in (formats, formats[::-1]):
            gateway = self.stack.add_gateway(**own)
            self.assertTrue(thrift_probe.is_answering(gateway.port, **own))
            self.assertFalse(thrift_probe.is_answering(gateway.port, **other, timeout_s=0.5))
            gateway.stop()

    def test_hbase_keeps_rows_over_a_stop_and_over_a_long_suspension(self) -> None:
        port = self.stack.gateways[0].port
        self.stack.oracle.create("KEPT", "METRIC")
        put_multiple(port, "KEPT", some_cells("server6", 1000))
        before = self.stack.oracle.digest("KEPT")
        self.stack.hbase.stop()
        self.stack.hbase.start()
        self.assertEqual(self.stack.oracle.digest("KEPT"), before)
        self.stack.hbase.suspend()
        time.sleep(SUSPENSION_S)
        self.stack.hbase.resume()
        put_multiple(port, "KEPT", some_cells("server7", 1))
        self.assertEqual(self.stack.oracle.count("KEPT"), (1001, 1001))

    def test_kafka_counts_what_kcat_produced_also_after_kill9(self) -> None:
        admin = self.stack.kafka.admin
        admin.create_topic("counted", partitions=3, config={"max.message.bytes": "100000"})
        kcat(self.stack, "-P", "-t", "counted", given="".join(f"reading {i}\n" for i in range(1000)))
        self.assertEqual(sum(admin.latest_offsets("counted").values()), 1000)
        self.stack.kafka.kill9()
        self.stack.kafka.start()
        self.assertEqual(sum(admin.latest_offsets("counted").values()), 1000)
        self.assertEqual(admin.earliest_offsets("counted"), {0: 0, 1: 0, 2: 0})

    def test_topics_grow_lose_old_messages_and_go(self) -> None:
        admin = self.stack.kafka.admin
        admin.create_topic("changing")
        with self.assertRaisesRegex(KafkaError, "TOPIC_ALREADY_EXISTS"):
            admin.create_topic("changing")
        kcat(self.stack, "-P", "-t", "changing", "-p", "0", given="a\nb\nc\n")
        admin.delete_records("changing", partition=0, before_offset=2)
        self.assertEqual(admin.earliest_offsets("changing"), {0: 2})
        admin.add_partitions("changing", 4)
        self.assertEqual(admin.topics()["changing"], 4)
        admin.delete_topic("changing")
        with self.assertRaisesRegex(KafkaError, "UNKNOWN_TOPIC_OR_PARTITION"):
            admin.latest_offsets("changing")

    def test_committed_offsets_of_a_group_are_seen(self) -> None:
        admin = self.stack.kafka.admin
        admin.create_topic("committed", partitions=2)
        self.assertEqual(admin.committed_offsets("readers", "committed"), {})
        kcat(self.stack, "-P", "-t", "committed", "-p", "1", given="a\nb\nc\n")
        kcat(self.stack, "-G", "readers", "-c", "3", "-X", "auto.offset.reset=earliest", "committed")
        self.assertEqual(admin.committed_offsets("readers", "committed"), {1: 3})


class EndTest(unittest.TestCase):
    """Nothing is left running, however a stack ends."""

    def setUp(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="tidemark-stack-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def await_none_left(self) -> None:
        """The kernel kills the orphans at once, but not before the test's next line."""
        self.await_that(lambda: not processes_of(self.directory))
        self.assertEqual(processes_of(self.directory), [])

    @staticmethod
    def await_that(condition: Callable[[], bool]) -> None:
        give_up_at = time.monotonic() + 30
        while not condition() and time.monotonic() < give_up_at:
            time.sleep(0.02)

    def test_a_killed_owner_takes_its_stack_along(self) -> None:
        program = f"import sys; sys.path.insert(0, {str(HERE)!r}); from stack import Stack; Stack(sys.argv[1]).start()"
        owner = subprocess.Popen([sys.executable, "-c", program, str(self.directory)], stderr=subprocess.DEVNULL)
        self.await_that(lambda: sum("java" in line for line in processes_of(self.directory)) >= 2)
        self.assertGreaterEqual(len(processes_of(self.directory)), 3)
        owner.kill()
        owner.wait()
        self.await_none_left()

    def test_the_command_line_starts_a_stack_and_ends_all_of_it(self) -> None:
        self.run_stack("up")
        environment = dict(word.split("=", 1) for word in shlex.split(self.run_stack("env")))
        self.assertTrue(Path(environment["HBASE_CLASSPATH_FILE"]).is_file())
        self.assertEqual(self.run_stack("status").count("process "), 3)
        self.run_stack("topic", "create", "readings", "--partitions", "2")
        self.run_stack("gateway", "kill", "--index", "0")
        self.assertEqual(self.run_stack("status", expected_status=1).count("not running"), 1)
        self.run_stack("gateway", "start", "--index", "0")
        self.run_stack("oracle", "create", "METRIC", "METRIC")
        self.run_stack("down", "--graceful")
        self.assertEqual(processes_of(self.directory), [])
        self.run_stack("up")
        self.assertEqual(self.run_stack("oracle", "tables"), "METRIC\n")
        self.assertEqual(Stack.attach(self.directory).kafka.admin.topics(), {"readings": 2})
        self.run_stack("down")
        self.assertEqual(processes_of(self.directory), [])
        self.run_stack("status", expected_status=1)

    def run_stack(self, command: str, *words: str, expected_status: int = 0) -> str:
        done = subprocess.run([sys.executable, str(HERE / "stack.py"), command, "--dir", str(self.directory), *words],
                              stdout=subprocess.PIPE, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, expected_status, f"stack.py {command} {' '.join(words)}")
        return done.stdout


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
"""Tests the bare sender and the null gateway's recorder: recorded calls arrive again byte for byte, in every wire format."""

from __future__ import annotations

import itertools
import json
import os
import signal
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

# More than a compact sequence of one byte can count.
N_CALLS = 300

# As tests/bench/call_recorder.h writes it.
MAGIC = b"tidecal1"
FILE_HEAD_BYTES = 16
CALL_HEAD = struct.Struct("=IIq")


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes([*out, value])


def _compact_call(table: bytes, sequence: int, n_rows: int) -> bytes:
    row = b"\x18" + _varint(3) + b"row" + b"\x00"
    head = b"\x82\x21" + _varint(sequence) + _varint(11) + b"putMultiple"
    return head + b"\x18" + _varint(len(table)) + table + b"\x19" + bytes([n_rows << 4 | 12]) + row * n_rows + b"\x00"


def _binary_call(table: bytes, sequence: int, n_rows: int) -> bytes:
    row = struct.pack(">bhi", 11, 1, 3) + b"row" + b"\x00"
    head = struct.pack(">Ii11si", 0x80010001, 11, b"putMultiple", sequence)
    return (head + struct.pack(">bhi", 11, 1, len(table)) + table + struct.pack(">bhbi", 15, 2, 12, n_rows) + row * n_rows
            + b"\x00")


def _calls_file(framed: bool, compact: bool, tables: list[bytes]) -> bytes:
    parts = [MAGIC, struct.pack("=ii", framed, compact)]
    for sequence, table in enumerate(tables):
        n_rows = sequence % 5
        call = (_compact_call if compact else _binary_call)(table, sequence, n_rows)
        if framed:
            call = struct.pack(">I", len(call)) + call
        parts += [CALL_HEAD.pack(len(call), n_rows, 0), call]
    return b"".join(parts)


def _without_times(file: bytes) -> bytes:
    """The same file with the calls' times, which differ, as 0."""
    out = bytearray(file)
    at = FILE_HEAD_BYTES
    while at < len(out):
        n_bytes, _, _ = CALL_HEAD.unpack_from(out, at)
        out[at + CALL_HEAD.size - 8:at + CALL_HEAD.size] = bytes(8)
        at += CALL_HEAD.size + n_bytes
    return bytes(out)


class BareSender(unittest.TestCase):
    def setUp(self) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self.addCleanup(self._directory.cleanup)
        self.sent = Path(self._directory.name) / "sent"
        self.recorded = Path(self._directory.name) / "recorded"

    def _gateway(self, *options: str, record: str = "recorded") -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen([os.environ["NULL_GATEWAY"], "--record", str(self.recorded.with_name(record)), *options],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        assert process.stdout is not None
        self.addCleanup(process.stdout.close)
        return process, "127.0.0.1:" + process.stdout.readline().split()[1]

    def _send(self, address: str, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([os.environ["BARE_SENDER"], "--gateway", address, "--calls", str(self.sent), *options],
                              capture_output=True, text=True, check=False, timeout=60)

    def test_what_is_sent_is_recorded_again(self) -> None:
        for framed, compact in itertools.product((False, True), repeat=2):
            with self.subTest(framed=framed, compact=compact):
                self.sent.write_bytes(_calls_file(framed, compact, [b"METRIC"] * N_CALLS))
                gateway, address = self._gateway(*["--framed"] * framed, *["--compact"] * compact)
                done = self._send(address, "--connections", "1", "--rate", "10000")
                self.assertEqual(done.returncode, 0, done.stderr)
                gateway.send_signal(signal.SIGTERM)
                gateway.wait(60)
                figures = json.loads(done.stdout)
                self.assertEqual((figures["calls"], figures["rows"]), (N_CALLS, N_CALLS * 2))
                self.assertLessEqual(figures["call_latency_ms"]["p50"], figures["row_latency_ms"]["max"])
                self.assertEqual(_without_times(self.recorded.read_bytes()), self.sent.read_bytes())

    def test_tables_of_the_daemon_itself_are_not_recorded(self) -> None:
        self.sent.write_bytes(_calls_file(False, False, [b"METRIC", b"tidemark_schemes"]))
        gateway, address = self._gateway()
        self.assertEqual(self._send(address).returncode, 0)
        gateway.send_signal(signal.SIGTERM)
        gateway.wait(60)
        self.assertEqual(_without_times(self.recorded.read_bytes()), _calls_file(False, False, [b"METRIC"]))

    def test_a_gateway_that_forwards_looks_on(self) -> None:
        self.sent.write_bytes(_calls_file(False, False, [b"METRIC"] * N_CALLS))
        behind, address_behind = self._gateway(record="behind")
        before, address = self._gateway("--forward", address_behind)
        self.assertEqual(self._send(address, "--connections", "1").returncode, 0)
        for gateway in (before, behind):
            gateway.send_signal(signal.SIGTERM)
            gateway.wait(60)
        for path in (self.recorded, self.recorded.with_name("behind")):
            self.assertEqual(_without_times(path.read_bytes()), self.sent.read_bytes())

    def test_any_answer_but_yes_ends_it(self) -> None:
        _, address = self._gateway("--framed")
        self.sent.write_bytes(_calls_file(False, False, [b"METRIC"]))
        done = self._send(address)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("bare-sender: ", done.stderr)

    def test_a_foreign_file_is_refused(self) -> None:
        self.sent.write_bytes(b"something else")
        done = self._send("127.0.0.1:1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("was not written by null-gateway --record", done.stderr)


if __name__ == "__main__":
    unittest.main()

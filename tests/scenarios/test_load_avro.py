#!/usr/bin/env python3
"""`tidemark load` of Avro's object container files: schemas, codecs, marks within blocks, dead letters that are files, and files that are
not as they should be.

    test_load_avro.py BUILD
"""
from __future__ import annotations

import base64
import gzip
import json
import subprocess
import unittest
import zlib
from typing import Any

from load_case import PROGRAM, LoadCase, lines, reading

SYNC = bytes(range(16))
SCHEMA = {"type": "record", "name": "R", "fields": [
    {"name": "h", "type": "string"}, {"name": "v", "type": ["null", "long"]}, {"name": "w", "type": "string"},
    {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}}]}


def zigzag(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    data = b""
    while value >= 0x80:
        data, value = data + bytes([value & 0x7F | 0x80]), value >> 7
    return data + bytes([value])


def run(data: bytes) -> bytes:
    return zigzag(len(data)) + data


def record(value: dict[str, Any]) -> bytes:
    return run(value["h"].encode()) + zigzag(1) + zigzag(value["v"]) + run(value["w"].encode()) + zigzag(value["ts"])


def head(codec: str = "deflate", schema: Any = None) -> bytes:
    return (b"Obj\x01" + zigzag(2) + run(b"avro.schema") + run(json.dumps(schema or SCHEMA).encode()) + run(b"avro.codec") + run(codec.encode())
            + zigzag(0) + SYNC)


def block(records: list[bytes]) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return zigzag(len(records)) + run(packer.compress(b"".join(records)) + packer.flush()) + SYNC


def blocks(first: int, n: int, per_block: int = 100) -> bytes:
    return b"".join(block([record(reading(number)) for number in range(start, min(start + per_block, first + n))])
                    for start in range(first, first + n, per_block))


class LoadAvro(LoadCase):
    def setUp(self) -> None:
        """The configuration's own schema is another: the file's counts."""
        super().setUp()
        schema = self.write("other.avsc", b'{"type":"record","name":"Other","fields":[{"name":"x","type":"int"}]}')
        self.readings = {"format": "avro", "schema": str(schema), "time": {"field": "ts", "format": "epoch_s"}}

    def test_files_of_several_schemas(self) -> None:
        path = self.write("a.avro", head() + blocks(0, 1000))
        wide = {**SCHEMA, "fields": [*SCHEMA["fields"], {"name": "more", "type": "boolean"}]}
        records = [record(reading(number)) + b"\x01" for number in range(1000, 1500)]
        other = self.write("b.avro.gz", gzip.compress(head(schema=wide) + block(records)))
        said = self.load(path, other)
        self.assertIn("2 of 2 files loaded: 1,500 messages in ", said)
        self.assert_loaded(range(1500))
        self.assertEqual(self.gateway.dump(["CURRENT"])["CURRENT"][b"h49"]["M", b"more"][1], b"true")
        self.assertIn("2 of 2 files: loaded before", self.load(path, other))
        self.assertIn("all is right", self.verify(path, other))
        self.load("-", data=head() + blocks(1500, 10))
        self.assertEqual(self.numbers(), list(range(1510)))

    def test_one_consumer_for_all_schemas(self) -> None:
        """It reads each file by that file's own."""
        self.topics["kafka"]["threads"] = 1
        short = {**SCHEMA, "fields": [field for field in SCHEMA["fields"] if field["name"] != "w"]}
        shorts = [b"".join((run(f"h{number % 50:02}".encode()), zigzag(1), zigzag(number), zigzag(reading(number)["ts"])))
                  for number in range(500, 1000)]
        said = self.load(self.write("a.avro", head() + blocks(0, 500)), self.write("b.avro", head(schema=short) + block(shorts)),
                         self.write("c.avro", head() + blocks(1000, 500)))
        self.assertIn("3 of 3 files loaded: 1,500 messages in ", said)
        self.assert_loaded(range(1500))

    def test_killed_again_and_again(self) -> None:
        path = self.write("a.avro", head() + blocks(0, 20_000))
        for _ in range(3):
            before = self.marked()
            process = subprocess.Popen(self.command("--rate", "8000", path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.wait(lambda: self.marked() > before + 500)
            process.kill()
            process.communicate()
        self.load(path)
        self.assert_loaded(range(20_000))

    def test_dead_letters_are_files(self) -> None:
        """Of a record that cannot be used, and of one that HBase refuses: each says its schema, and can be loaded again."""
        self.gateway.ask("max-cell", "1000")
        records = [record(reading(number)) for number in range(300)]
        records[100] = record({**reading(100), "ts": -7})
        records[200] = record({**reading(200), "w": "x" * 2000})
        self.load(self.write("a.avro", head() + block(records[:150]) + block(records[150:])))
        self.assertEqual(self.numbers(), sorted({*range(300)} - {100, 200}))
        letters = {letter["offset"]: base64.b64decode(letter["value"]) for letter in self.dead_letters()}
        self.assertEqual(letters.keys(), {101, 201})
        for words in ((), ("--to-topic", "t")):
            done = subprocess.run([PROGRAM, "dead-letters", "replay", "--all", "--dry-run", *words, "-c", self.config(), "--file",
                                   self.directory / "state/load-dead-letters.jsonl"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, "its message is an Avro file with one record" in done.stderr), (64, True), done.stderr)
        self.gateway.ask("max-cell", "100000")
        self.load(self.write("letter.avro", letters[201]))
        self.assertEqual(self.numbers(), sorted({*range(300)} - {100}))
        self.assertIn("1 rejected: time_", self.load("--dry-run", self.write("other.avro", letters[101]), exit_code=65))

    def test_not_as_they_should_be(self) -> None:
        whole = head() + blocks(0, 500)
        for name, data, why in (
                ("cut", whole[:-30], "it ends within a block, like a truncated copy; everything before is loaded"),
                ("marker", whole[:-16] + bytes(16), "a block does not end with the sync marker of the file's header"),
                ("codec", head("xz") + blocks(0, 10), "with the codec 'xz'; supported are null, deflate, zstandard and snappy"),
                ("lines", lines(0, 10), "it does not begin like an Avro object container"),
                ("strings", head(schema=["null", "string"]) + blocks(0, 10), "its schema cannot be used")):
            with self.subTest(name):
                self.assertIn(why, self.load(self.write(f"{name}.avro", data), exit_code=65))
        self.assertEqual(self.numbers(), list(range(400)))

    def test_container_is_no_message(self) -> None:
        """Where one message is wanted, it is not a broken one."""
        data = head() + blocks(0, 10)
        for words in (["explain"], ["bench", "--messages", self.write("a.avro", data)]):
            done = subprocess.run([PROGRAM, *words, "-c", self.config()], input=data, capture_output=True, check=False)
            self.assertIn(b" is an object container file, which only 'init' and 'load' can read", done.stderr)
            self.assertEqual(done.returncode, 65)

    def test_grown(self) -> None:
        path = self.write("a.avro", (head() + blocks(0, 500))[:-30])
        self.load(path, exit_code=65)
        path.write_bytes(head() + blocks(0, 500))
        self.load(path)
        self.assert_loaded(range(500))
        path.write_bytes(head() + blocks(0, 600))
        self.load(path)
        self.assert_loaded(range(600))


if __name__ == "__main__":
    unittest.main(verbosity=2)

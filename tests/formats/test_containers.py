#!/usr/bin/env python3
"""Compares Avro's container files, written by fastavro with random schemas, records, codecs and blocks, with what the daemon finds in
them: each object, byte for byte; and broken ones: what is found then is what the file began with.

    test_containers.py SPLIT_CONTAINER [--seed N] [--files N]
"""
from __future__ import annotations

import argparse
import io
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "stack"))
import python_packages  # noqa: E402

CODECS = ["null", "deflate", "zstandard", "snappy"]


def objects_of(schema: object, records: list[object]) -> list[str]:
    import fastavro
    found = []
    for record in records:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, schema, record)
        found.append(stream.getvalue().hex())
    return found


def split(program: str, path: Path, data: bytes) -> tuple[int, list[str]]:
    path.write_bytes(data)
    done = subprocess.run([program, path], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (0, 1), f"it ended with {done.returncode}: {done.stderr}"
    return done.returncode, done.stdout.splitlines()


def faults_of(program: str, draw: random.Random, n_files: int) -> tuple[list[str], int]:
    """And how many objects there were."""
    import fastavro
    from avro_peer import SCHEMAS, _value
    from peer import broken
    faults, n_objects = [], 0
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.avro")
        for number in range(n_files):
            schema, codec = draw.choice(list(SCHEMAS.values())), draw.choice(CODECS)
            records = [_value(draw, schema) for _ in range(draw.choice([0, 1, 2, 50, 400]))]
            stream = io.BytesIO()
            fastavro.writer(stream, schema, records, codec=codec, sync_interval=draw.choice([1, 100, 16000]))
            data, expected = stream.getvalue(), objects_of(schema, records)
            n_objects += len(expected)
            if split(program, path, data) != (0, expected):
                faults.append(f"file {number}, {codec}, {len(expected)} objects: others were found")
            split(program, path, broken(draw, data, [b"\x00", b"\x02", b"\xff\xff\xff\x7f"]))
            cut = data[:draw.randrange(len(data))]
            found = split(program, path, cut)[1]
            if found != expected[:len(found)]:
                faults.append(f"file {number}, {codec}, cut off after {len(cut)} bytes: others were found")
    return faults, n_objects


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--files", type=int, default=400)
    options = parser.parse_args()
    python = python_packages.environment("formats", HERE / "requirements.txt")
    if Path(sys.prefix) != python.parent.parent:
        os.execv(python, [str(python), __file__, *sys.argv[1:]])
    faults, n_objects = faults_of(options.program, random.Random(options.seed), options.files)
    print("1..1")
    print(f"{'not ok' if faults else 'ok'} 1 - {options.files} containers of Avro, {n_objects} objects", *faults[:20], sep="\n# ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

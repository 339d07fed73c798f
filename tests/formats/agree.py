#!/usr/bin/env python3
"""Compares what the daemon makes of random messages with what independent decoders make of them.

    agree.py BUILD/tests/formats/decode-messages [--messages N] [--broken N] [--seed N] [FORMAT...]

The same readings, the same names, kinds and values, or both refuse. FORMAT_peer.py is the decoder of a format and draws its
messages. The decoders' packages come from PyPI into an environment of their own, once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, Iterator

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "stack"))
import python_packages  # noqa: E402

FORMATS = ["json", "influx", "csv", "msgpack", "avro", "protobuf", "layout"]
REQUIREMENTS = HERE / "requirements.txt"
# Of a format at the most: the rest is alike.
SHOWN = 5
REST = """
kafka: { brokers: b, group: g, topics: [t] }
hbase: { gateways: [g] }
tables: { T: { key: [{ field: host }, "#", { time: epoch_ms }], columns: { family: M, from: "*" } } }
"""


def decoded(program: str, config: str, messages: list[bytes]) -> list[Any]:
    """What the daemon makes of each message."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "formats.yaml")
        path.write_text(config + REST, encoding="utf-8")
        done = subprocess.run([program, str(path)], input=b"".join(struct.pack(">I", len(m)) + m for m in messages),
                              stdout=subprocess.PIPE, check=True)
    lines = done.stdout.split(b"\n")[:-1]
    assert len(lines) == len(messages), f"{len(lines)} answers to {len(messages)} messages"
    return [json.loads(line) for line in lines]


def is_same(kind: str, text: str, value: Any) -> bool:
    from peer import Raw, Text
    if value is None or isinstance(value, bool):
        return (kind, text) == (("null", "") if value is None else ("bool", "true" if value else "false"))
    if isinstance(value, Raw):
        return kind == "json" and text.startswith("[") and (value.value is None or is_same_json(json.loads(text), value.value))
    if isinstance(value, Text):
        return (kind, text) == ("number", str(value))
    if isinstance(value, Decimal):
        return kind == "number" and Decimal(text) == value
    if isinstance(value, str):
        return (kind, text) == ("string", value)
    return kind == "number" and (int(text) == value if isinstance(value, int) else is_same_float(float(text), value))


def is_same_json(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(is_same_json, ours, theirs))
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and ours.keys() == theirs.keys() and all(is_same_json(ours[name], theirs[name]) for name in ours)
    if isinstance(theirs, str) and type(theirs) is not str or isinstance(theirs, float):
        return isinstance(ours, (int, float)) and is_same_float(float(ours), float(theirs))
    return type(ours) is type(theirs) and ours == theirs


def is_same_float(ours: float, theirs: float) -> bool:
    """Of 32 bits, the text that is read back as the same float is shorter."""
    if ours == theirs:
        return True
    try:
        return theirs == struct.unpack("f", struct.pack("f", ours))[0]
    except OverflowError:
        return False


def is_same_reading(ours: list[list[str]], theirs: dict[str, Any]) -> bool:
    return ({name for name, _, _ in ours} == set(theirs) and len(ours) == len(theirs)
            and all(is_same(kind, text, theirs[name]) for name, kind, text in ours))


def compare(peer: Any, name: str, message: bytes, ours: Any) -> tuple[bool, str]:
    """Whether it was taken, and what differs."""
    from peer import Refused, Unsure
    try:
        theirs: Any = peer.decode(name, message)
    except Unsure:
        return False, ""
    except Refused as refused:
        return False, "" if isinstance(ours, dict) else f"taken, but by the other refused: {refused}"
    if isinstance(ours, dict):
        return True, f"refused, but by the other taken: {theirs}"
    if len(ours) == len(theirs) and all(map(is_same_reading, ours, theirs)):
        return True, ""
    return True, f"not the same as {theirs}"


def messages_of(peer: Any, name: str, draw: random.Random, n: int, n_broken: int) -> Iterator[bytes]:
    from peer import broken
    for _ in range(n):
        yield peer.message(name, draw)
    for _ in range(n_broken):
        yield broken(draw, peer.message(name, draw), peer.WORDS)


def run(options: argparse.Namespace) -> int:
    failed = 0
    for format_name in options.formats or FORMATS:
        peer = import_module(f"{format_name}_peer")
        for name, config in peer.CONFIGS.items():
            n, n_broken = (-(-number // len(peer.CONFIGS)) for number in (options.messages, options.broken))
            messages = list(messages_of(peer, name, random.Random(f"{options.seed} {format_name} {name}"), n, n_broken))
            outcomes = [(*compare(peer, name, message, ours), message, ours)
                        for message, ours in zip(messages, decoded(options.program, config, messages))]
            different = [outcome for outcome in outcomes if outcome[1]]
            taken = sum(outcome[0] for outcome in outcomes)
            # Some are passed over, where the peer reads them in a way of its own; never nearly all.
            is_good = not different and taken > n // 2
            print(f"{'ok' if is_good else 'not ok'} - {format_name} {name}: {len(messages)} messages, {taken} taken, "
                  f"{len(different)} differ")
            for _, text, message, ours in different[:SHOWN]:
                print(f"#   {message!r}\n#     {ours}\n#     {text}")
            failed += not is_good
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--messages", type=int, default=100000)
    parser.add_argument("--broken", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("formats", nargs="*")
    options = parser.parse_intermixed_args()
    python = python_packages.environment("formats", REQUIREMENTS)
    if Path(sys.prefix) != python.parent.parent:
        os.execv(python, [str(python), __file__, *sys.argv[1:]])
    return run(options)


if __name__ == "__main__":
    sys.exit(main())

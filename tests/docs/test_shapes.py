#!/usr/bin/env python3
"""The tables of shapes and of steps in docs/input.md: each message becomes the readings that its line says.

    test_shapes.py BUILD
"""
from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/input.md"
CONFIG = """kafka: {{ brokers: "127.0.0.1:9092", group: shapes, topics: [t] }}
hbase: {{ gateways: ["127.0.0.1:9090"] }}
dead_letters: {{ file: letters.jsonl }}
readings: {{ time: record, {options} }}
tables: {{ T: {{ key: [{{ time: epoch_ms }}], columns: {{ family: M, from: "*" }} }} }}
"""


def lines_of_table(heading: str) -> list[list[str]]:
    """Messages, options and readings of each line; of messages that are cut, none."""
    part = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| `")]
    return [cells for cells in lines if "..." not in cells[0]]


def fields_of(program: str, messages: list[str], options: str, key: str = "") -> list[set[str]]:
    """The fields of each reading that a table takes."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "shapes.yaml")
        path.write_text(CONFIG.format(options=options), encoding="utf-8")
        done = subprocess.run([program, "explain", "--offline", "-f", "json", "-c", str(path), "--key", key], input="\n".join(messages) + "\n",
                              stdout=subprocess.PIPE, check=False, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stdout
    return [{cell["qualifier"] for cell in answer["cells"]} for answer in answers if "reading" in answer]


def expected(text: str, n_messages: int) -> list[set[str]]:
    if text == "none":
        return []
    readings: list[set[str]] = []
    for part in text.split("; "):
        readings.append(readings[-1] if part == "the same" else set(re.findall(r"`([^`]+)`", part)))
    return readings * n_messages if text.endswith("of both") else readings


def main() -> int:
    program, failed = str(Path(sys.argv[1], "daemon/tidemark")), 0
    lines = lines_of_table("Shapes")
    steps = lines_of_table("Fields made of fields")
    print(f"1..{len(lines) + len(steps)}")
    for number, (messages, options, readings) in enumerate(lines, 1):
        sent = re.findall(r"`([^`]+)`", messages)
        # {NAME} needs quotes in a mapping between braces.
        quoted = [re.sub(r"(\S*\{\w\S*)", r'"\1"', option) for option in re.findall(r"`([^`]+)`", options)]
        fields = fields_of(program, sent, ", ".join(quoted))
        wanted = expected(readings, len(sent))
        failed += fields != wanted
        print(f"{'ok' if fields == wanted else 'not ok'} {number} - {options}: {fields}")
    for number, (message, step, readings) in enumerate(steps, len(lines) + 1):
        sent, *keys = re.findall(r"`([^`]+)`", message)
        fields = fields_of(program, [sent], f"fields: [{step.strip('`')}]", "".join(keys))
        wanted = expected(readings, 1)
        failed += fields != wanted
        print(f"{'ok' if fields == wanted else 'not ok'} {number} - {step}: {fields}")
    return 1 if failed or min(len(lines), len(steps)) < 8 else 0


if __name__ == "__main__":
    sys.exit(main())

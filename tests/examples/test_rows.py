#!/usr/bin/env python3
"""Holds every file of config/examples to its case: the rows that its messages become, byte for byte.

    test_rows.py build/daemon/tidemark

Asks `tidemark explain`, which runs the daemon's own code, so it needs no Kafka and no HBase. What a table keeps of several
readings is worked out here, by the rules of the table's latest mode.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from example_cases import ROOT, ExampleCase, Message, Rows, all_cases, differences

# A message without an own time gets this one.
RECORD_TIME_MS = 1_600_000_000_000


class ExplainError(Exception):
    """A message of a case was not taken."""


def explain(tidemark: str, case: ExampleCase, message: Message) -> list[dict[str, Any]]:
    words = [tidemark, "explain", "--offline", "-f", "json", "-c", str(case.config_path),
             "--timestamp", str(message.timestamp_ms or RECORD_TIME_MS)]
    if message.key is not None:
        words += ["--key", message.key]
    words.append("--tombstone" if message.value is None else "--whole")
    done = subprocess.run(words, input=message.value or b"", capture_output=True)
    if done.returncode != 0:
        raise ExplainError(f"exit code {done.returncode}: {done.stdout.decode()}{done.stderr.decode()}")
    return [line for line in map(json.loads, done.stdout.splitlines()) if "row_hex" in line]


def cells_of(row: dict[str, Any]) -> dict[bytes, tuple[int, bytes]]:
    cells = {}
    for cell in row["cells"]:
        value = bytes.fromhex(cell["value_hex"]) if "value_hex" in cell else cell["value"].encode()
        cells[f"{cell['family']}:{cell['qualifier']}".encode()] = (cell["timestamp_ms"], value)
    return cells


class Tables:
    """What HBase keeps: of each cell the one of the greatest time, of equal times the last; deletes hide up to their time."""

    def __init__(self) -> None:
        self._cells: dict[str, Rows] = {}
        self._deleted_to_ms: dict[tuple[str, bytes], int] = {}

    def write(self, row: dict[str, Any]) -> None:
        key = bytes.fromhex(row["row_hex"])
        if "deletes_to_ms" in row:
            place = row["table"], key
            self._deleted_to_ms[place] = max(self._deleted_to_ms.get(place, 0), row["deletes_to_ms"])
        kept = self._cells.setdefault(row["table"], {}).setdefault(key, {})
        for column, (time_ms, value) in cells_of(row).items():
            if column not in kept or kept[column][0] <= time_ms:
                kept[column] = (time_ms, value)

    def rows(self, table: str) -> Rows:
        result: Rows = {}
        for key, cells in self._cells.get(table, {}).items():
            hidden_to_ms = self._deleted_to_ms.get((table, key), -1)
            seen = {column: cell for column, cell in cells.items() if cell[0] > hidden_to_ms}
            if seen:
                result[key] = seen
        return result

    def names(self) -> set[str]:
        return {table for table in self._cells if self.rows(table)}


def warnings(tidemark: str, case: ExampleCase) -> list[str]:
    """What `check` says that the case does not expect."""
    done = subprocess.run([tidemark, "check", "--offline", "-c", str(case.config_path)], capture_output=True, text=True)
    warned = [line for line in (done.stdout + done.stderr).splitlines() if "warning: " in line and "warning: librdkafka " not in line]
    if len(warned) == len(case.warnings) and all(text in line for text, line in zip(case.warnings, warned)):
        return []
    return [f"warned of {warned}, not of {case.warnings}"]


def faults(tidemark: str, case: ExampleCase) -> list[str]:
    found = warnings(tidemark, case)
    for order in (case.messages, list(reversed(case.messages))):
        tables = Tables()
        try:
            for message in order:
                for row in explain(tidemark, case, message):
                    tables.write(row)
        except ExplainError as error:
            return [str(error)]
        if tables.names() != set(case.rows):
            found.append(f"tables: wanted {sorted(case.rows)}, found {sorted(tables.names())}")
        for table, rows in case.rows.items():
            found += [f"{table}: {line}" for line in differences(rows, tables.rows(table))]
    return found


def shows_first_message(case: ExampleCase) -> bool:
    """Whether the head comment of the example does."""
    first = case.messages[0]
    head = "".join(line.lstrip("# ") for line in case.config_path.read_text(encoding="utf-8").split("\n\n")[0].splitlines(True))
    if not first.is_json and first.value is not None:
        return first.value.hex(" ") in head.replace("\n", " ") or first.value.decode("utf-8", "replace").rstrip("\n") in head
    brackets = (r"\[\{", r"\}\]") if first.value is not None and first.value.startswith(b"[") else (r"\{", r"\}")
    found = re.search(r"%s.*?%s(?=\n(?!\s*\"))" % brackets, head, re.DOTALL)
    message = found.group(0).replace("\n", " ") if found else ""
    return first.value is not None and json.loads(message) == json.loads(first.value)


def left_out_formats(tidemark: str) -> list[str]:
    """Those that this program was built without."""
    done = subprocess.run([tidemark, "version"], capture_output=True, text=True, check=True)
    found = re.search(r"^ *built without: (.*)$", done.stdout, re.MULTILINE)
    return found.group(1).split(", ") if found else []


def main() -> int:
    tidemark = sys.argv[1]
    left_out = left_out_formats(tidemark)
    cases = list(all_cases())
    print(f"1..{len(cases) + 1}")
    failed = 0
    for number, case in enumerate(cases, 1):
        if case.format in left_out:
            print(f"ok {number} - {case.name} # SKIP built without {case.format}")
            continue
        lines = faults(tidemark, case)
        if not shows_first_message(case):
            lines.append(f"the message in the comment of {case.config_path.name} is not the case's first one")
        failed += bool(lines)
        print(f"{'not ok' if lines else 'ok'} {number} - {case.name}", *(f"# {line}" for line in lines), sep="\n")
    without = {path.stem for path in (ROOT / "config" / "examples").glob("*.yaml")} ^ {case.name for case in cases}
    print(f"{'not ok' if without else 'ok'} {len(cases) + 1} - every example has a case", *sorted(without), sep="\n# ")
    return 1 if failed or without else 0


if __name__ == "__main__":
    sys.exit(main())

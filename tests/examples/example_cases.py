"""The cases beside the files of config/examples: NAME.json holds messages, the rows that they must become, and reads.

A message is the JSON object itself, or of another format {"#text": "..."} or {"#hex": "..."}. A row key, qualifier or value stands as tidemark prints it: bytes that are no printable ASCII as \\xHH. Of a cell stands its
value, or [value, cell time in ms]; "@" is the time of the others. "*" is any value. "warnings" is what the example is
warned of when it is loaded; most are not.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ANY = b"*"

# row key -> "family:qualifier" -> (cell time in ms, value)
Rows = dict[bytes, dict[bytes, tuple[int, bytes]]]


def unprintable(text: str) -> bytes:
    """The bytes that tidemark prints so."""
    return re.sub(rb"\\x([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode("utf-8"))


@dataclass(frozen=True)
class Message:
    """A Kafka record; no value is a tombstone."""

    value: Optional[bytes]
    key: Optional[str] = None
    timestamp_ms: Optional[int] = None
    is_json: bool = True


@dataclass(frozen=True)
class Read:
    """A read command, without its -c and -f; and what each row that it prints must hold, None: must not."""

    command: list[str]
    rows: list[Mapping[str, Any]]


class ExampleCase:
    def __init__(self, path: Path) -> None:
        content = json.loads(path.read_text(encoding="utf-8"))
        self.name = path.stem
        self.config_path = ROOT / "config" / "examples" / f"{path.stem}.yaml"
        found = re.search(r"^  format: (\w+)$", self.config_path.read_text(encoding="utf-8"), re.MULTILINE)
        self.format = found.group(1) if found else "json"
        self.messages = [self._message(message) for message in content["messages"]]
        self.rows: dict[str, Rows] = {table: {unprintable(key): self._cells(cells) for key, cells in rows.items()}
                                      for table, rows in content["rows"].items()}
        self.reads = [Read(read["command"], read["rows"]) for read in content["reads"]]
        self.warnings: list[str] = content.get("warnings", [])
        self.splits: dict[str, list[bytes]] = {table: [unprintable(point) for point in points]
                                               for table, points in content.get("splits", {}).items()}

    @staticmethod
    def _message(message: Mapping[str, Any]) -> Message:
        if "#text" in message:
            return Message(message["#text"].encode(), is_json=False)
        if "#hex" in message:
            return Message(bytes.fromhex(message["#hex"]), message.get("#key"), is_json=False)
        if "#value" not in message:
            return Message(json.dumps(message).encode())
        value = message["#value"]
        return Message(None if value is None else json.dumps(value).encode(), message.get("#key"), message.get("#timestamp_ms"))

    @staticmethod
    def _cells(cells: Mapping[str, Any]) -> dict[bytes, tuple[int, bytes]]:
        common = cells.get("@")
        result = {}
        for column, value in cells.items():
            if column != "@":
                text, time_ms = value if isinstance(value, list) else (value, common)
                result[unprintable(column)] = (time_ms, unprintable(text))
        return result


def all_cases() -> Iterator[ExampleCase]:
    for path in sorted(HERE.glob("*.json")):
        yield ExampleCase(path)


def differences(expected: Rows, found: Rows) -> list[str]:
    """A line for each cell that is missing, wrong or too much."""
    lines = []
    for key in sorted(expected.keys() | found.keys()):
        wanted, got = expected.get(key, {}), found.get(key, {})
        for column in sorted(wanted.keys() | got.keys()):
            want, have = wanted.get(column), got.get(column)
            if want is not None and have is not None and want[1] == ANY:
                have = (have[0], ANY)
            if want != have:
                lines.append(f"{key!r} {column!r}: wanted {want}, found {have}")
    return lines

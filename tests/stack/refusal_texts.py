"""What gateways refused rows with, kept as test data: tests/unit/gateway/refusals.ini, which the test of failure_class reads."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from gateway_calls import Refusal

PATH = Path(__file__).resolve().parents[1] / "unit" / "gateway" / "refusals.ini"

HEAD = """# What HBase 2.6.1 and its Thrift gateway answer to rows that they do not take, as they said it: written by
# tests/stack/refusals.py, which provokes each, and read by tests/unit/gateway/test-failure-class.c. What differs from run to run
# (ports, times, the names of regions) is replaced. 'outcome' and what follows is what failure_class must make of it.
"""

# What differs from run to run or from machine to machine, and what stands there instead.
MASKS = (
    (r"\b(localhost|127\.0\.0\.1)([:,])\d+", r"\1\g<2>16020"),
    (r"\b1[789]\d{11}\b", "1718040000000"),  # the time of now: start codes, region ids
    (r"\b[0-9a-f]{32}\b", "0123456789abcdef0123456789abcdef"),  # regions
    (r"\bport=\d+", "port=16020"),
    (r"\bBackoff time of \d+ms", "Backoff time of 7200000ms"),
    (r"\b(id|waitTime|rpcTimeout|callTimeout|callDuration|startTime|globalStartTime)=\d+", r"\1=1"),
    (r"\b20\d\d-\d\d-\d\dT[0-9:.]+Z", "2026-01-01T00:00:00Z"),
    (r"(?m)^(\tat (?:java|jdk)\.[\w.]+/.*):\d+\)$", r"\1)"),  # another release of Java has other lines
    (r"\$\$Lambda\S*?/0x[0-9a-f]+", "$$Lambda"),
)


@dataclass(frozen=True)
class Wanted:
    """What failure_class must make of a text; remedy: words of the remedy."""

    outcome: str
    remedy: str = ""
    is_certain: bool = False
    is_for_size: bool = False


@dataclass(frozen=True)
class Entry:
    """name: of the case and the call. varies: what is said depends on the moment, and nobody need be told that it has changed."""

    name: str
    refusal: Refusal
    wanted: Wanted
    varies: bool = False

    def lines(self) -> str:
        refusal, wanted = self.refusal, self.wanted
        fields: dict[str, Optional[str]] = {
            "kind": refusal.kind,
            "can_retry": None if refusal.can_retry is None else str(refusal.can_retry).lower(),
            "type": None if refusal.type is None else str(refusal.type),
            "text": _escaped(refusal.text) or None,
            "outcome": wanted.outcome,
            "certain": "true" if wanted.is_certain else None,
            "for_size": "true" if wanted.is_for_size else None,
            "remedy": wanted.remedy or None,
        }
        return f"\n[{self.name}]\n" + "".join(f"{name}={value}\n" for name, value in fields.items() if value is not None)


def masked(refusal: Refusal, directory: Path) -> Refusal:
    text = refusal.text.replace(str(directory), "/stack").replace(socket.gethostname(), "localhost")
    for pattern, instead in MASKS:
        text = re.sub(pattern, instead, text)
    return Refusal(refusal.kind, text, refusal.can_retry, refusal.type)


def write(entries: list[Entry]) -> None:
    """In place of those of the same names; others stay."""
    groups = {**_kept(), **{entry.name: entry.lines() for entry in entries}}
    PATH.write_text(HEAD + "".join(groups[name] for name in sorted(groups)), encoding="utf-8")


def changes(entries: list[Entry]) -> list[str]:
    """What is not as it is kept, without the lines of stack traces."""
    kept = _kept()
    return [f"{entry.name}\n  was{_told(kept.get(entry.name, ''))}\n  is{_told(entry.lines())}" for entry in entries
            if not entry.varies and _told(entry.lines()) != _told(kept.get(entry.name, ""))]


def _kept() -> dict[str, str]:
    """The lines of each entry by its name."""
    text = PATH.read_text(encoding="utf-8") if PATH.exists() else ""
    return {group.partition("]")[0]: f"\n[{group}" for group in text.split("\n[")[1:]}


def _told(lines: str) -> str:
    return re.sub(r"(\\n\\tat [^\\]*)+", "", lines.partition("]")[2]).replace("\n", "\n    ").rstrip()


def _escaped(text: str) -> str:
    """As GLib's key files have it."""
    text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    return re.sub(r"^ ", r"\\s", text)

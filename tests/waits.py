"""The waits of docs/status.md: the sentence that `tidemark status` has for each, its metric, alert and command."""
from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

BEGIN, END = "<!-- waits begin -->", "<!-- waits end -->"
CODE = re.compile(r"`([^`]+)`")


class Wait(NamedTuple):
    sentence: str  # "limit: text", with ... for what differs
    metrics: list[str]  # each may have a label: NAME{label="value"}
    alerts: list[str]
    commands: list[str]  # words in capitals are names that the sentence has

    @property
    def limit(self) -> str:
        return self.sentence.split(":")[0]

    def is_told_by(self, text: str) -> bool:
        return re.fullmatch(".*".join(map(re.escape, self.sentence.split("..."))), text) is not None


def waits(root: Path) -> list[Wait]:
    text = (root / "docs/status.md").read_text(encoding="utf-8")
    table = text.partition(BEGIN)[2].partition(END)[0]
    found = []
    for line in table.splitlines()[3:]:
        sentence, metrics, alerts, commands = re.split(r"(?<!\\) \| ", line.strip("| "))
        found.append(Wait(CODE.findall(sentence)[0], CODE.findall(metrics), re.findall(r"\[(\w+)\]", alerts), CODE.findall(commands)))
    return found


def named(table: list[Wait], words: str) -> list[Wait]:
    """Those whose sentence is this, or else has it in it."""
    return [wait for wait in table if words == wait.sentence] or [wait for wait in table if words in wait.sentence]


def command_pattern(command: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\b[A-Z]{2,}\b", r"\\S+", re.escape(command).replace(r"\ ", " ")))

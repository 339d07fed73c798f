"""What a run has seen of each transport in each situation: one table, of what the daemon and its commands said."""

from __future__ import annotations

import re

from links import ALL

# What differs from run to run, and says nothing.
NOISE = (
    (re.compile(r"\S*/[^/\s]+\.yaml:\d+:\d+"), "FILE"),
    (re.compile(r"/[^\s':]*tidemark-integration-[^/]*/"), "…/"),
    (re.compile(r"(?<=:)\d{5}\b"), "PORT"),
    (re.compile(r"\b\d+(?= ms\b)"), "N"),
)

# What is longer stands below the table, under a number.
WIDTH = 25


class CellTable:
    """Situations down, transports across; an empty cell was not run."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str], str] = {}

    def __bool__(self) -> bool:
        return bool(self._cells)

    def record(self, transport: str, situation: str, seen: str) -> None:
        for pattern, instead in NOISE:
            seen = pattern.sub(instead, seen)
        self._cells[situation, transport] = seen

    def markdown(self) -> str:
        """Situations in the order in which they were met."""
        situations = list(dict.fromkeys(situation for situation, _ in self._cells))
        met = list(dict.fromkeys(transport for _, transport in self._cells))
        transports = sorted(met, key=lambda name: ALL.index(name) if name in ALL else len(ALL))
        sentences: dict[str, int] = {}
        lines = [_row(["", *transports]), _row(["---"] * (1 + len(transports)))]
        for situation in situations:
            seen = (self._cells.get((situation, transport), "") for transport in transports)
            lines.append(_row([situation, *(_short(text, sentences) for text in seen)]))
        return "\n".join([*lines, "", *(f"{number}. {text}" for text, number in sentences.items())]) + "\n"


def _short(text: str, sentences: dict[str, int]) -> str:
    return text if len(text) <= WIDTH else f"[{sentences.setdefault(text, len(sentences) + 1)}]"


def _row(words: list[str]) -> str:
    return f"| {' | '.join(words)} |"

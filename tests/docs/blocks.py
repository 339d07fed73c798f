"""The fenced blocks of the documents, and the commands in them."""
from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

_FENCE = re.compile(r"^( *)```(\S*)\s*$")
_CONTINUED = re.compile(r"(\\|\||&&|\|\|)$")


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def first(self) -> str:
        return self.text.split("\n", 1)[0]


def pages(root: Path) -> list[Path]:
    return [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]


def blocks_of(page: str, text: str) -> Iterator[Block]:
    begin, indent, language, inside = 0, "", "", None
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if inside is None and fence:
            begin, indent, language, inside = number, fence[1], fence[2], []
        elif inside is not None and fence and not fence[2]:
            yield Block(page, begin, language, "".join(f"{one.removeprefix(indent)}\n" for one in inside))
            inside = None
        elif inside is not None:
            inside.append(line)
    if inside is not None:
        yield Block(page, begin, "unclosed", "\n".join(inside))


def commands(text: str) -> Iterator[str]:
    """One after the other; lines that go on are put together, comments left out."""
    whole = ""
    for line in text.splitlines():
        line = re.sub(r"(^|\s+)#(\s.*)?$", "", line).rstrip()
        whole = f"{whole} {line.strip()}".strip() if whole else line
        if whole and not _CONTINUED.search(line):
            yield whole
            whole = ""
        whole = whole.removesuffix("\\")
    if whole:
        yield whole


def answers(text: str) -> Iterator[tuple[str, list[str]]]:
    """Of a console block: each command with the lines printed below it."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, *lines = part.splitlines()
        while _CONTINUED.search(command):
            command = f"{command.removesuffix(chr(92))} {lines.pop(0).strip()}"
        yield command, lines


def programs(command: str) -> list[str]:
    """The programs that a command calls: the first words between its pipes and semicolons. Quotes are no place for either."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", command)
    words = [part.split() for part in re.split(r"\|\||&&|[|;]|\$\(", bare)]
    plain = [[word for word in part if word not in ("if", "!", "then", "else", "fi") and "=" not in word] for part in words]
    return [part[0] for part in plain if part]

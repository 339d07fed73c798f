#!/usr/bin/env python3
"""Writes the reference of the commands in docs/commands.md, from the output of `--help`.

    write_reference.py TIDEMARK docs/commands.md [--check]

With --check it writes nothing, and fails if the page differs.
"""
import re
import sys
from pathlib import Path

from help_text import commands_of, help_of, items_of

_REFERENCE = re.compile(r"(<!-- commands: begin [^\n]*-->\n).*(<!-- commands: end -->)", re.S)


def plain(text):
    """Words in quotes and options become code, with their quotes if a shell needs them; other characters that Markdown would
    interpret are escaped."""
    def replaced(match):
        quoted, option, special = match.groups()
        if special is not None:
            return "\\" + special
        return f"`'{quoted}'`" if quoted is not None and re.search(r"[$={]", quoted) else f"`{quoted or option}`"

    return re.sub(r"(?<!\w)'([^']+)'(?!\w)|(--[a-z-]+)|([\\*_<])", replaced, text)


def cell(text):
    """A text in a table, which a | would end even inside code."""
    return plain(text).replace("|", "\\|")


def section(name, text):
    lines = [f"### {name}", "", text.summary, "", f"`{text.usage}`", "", "| option | meaning |", "|---|---|"]
    lines += [f"| `{option}` | {cell(meaning)} |" for option, meaning in text.options]
    lines += ["", "| exit code | meaning |", "|---|---|"]
    lines += [f"| {code} | {cell(meaning)} |" for code, meaning in text.codes]
    for paragraph in text.details:
        items = list(items_of(paragraph))
        lines.append("")
        lines += [f"- `{item}`: {plain(meaning)}" if item else plain(meaning) for item, meaning in items]
    return "\n".join(lines) + "\n"


def main(tidemark, page, mode=""):
    text = Path(page).read_text(encoding="utf-8")
    sections = "\n".join(section(name, help_of(tidemark, name)) for name in commands_of(tidemark))
    expected = _REFERENCE.sub(lambda marks: f"{marks[1]}\n{sections}\n{marks[2]}", text)
    if mode == "--check":
        return 0 if expected == text else f"{page} is not what --help prints: `./check --write` writes it"
    Path(page).write_text(expected, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

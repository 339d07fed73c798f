"""Messages of comma-separated values, and what they hold by Python's csv."""

from __future__ import annotations

import csv
import io
import random
import re
from typing import Any, Iterator

from peer import Reading, Refused, Text, Unsure, letters

COLUMNS = ["host", "at", "load", "note"]
CONFIGS = {
    "with header": "readings: { format: csv, csv: { header: true }, time: record }",
    "declared columns": "readings: { format: csv, csv: { columns: [host, at, load, note], null_values: [NA, '-'] }, time: record }",
    "semicolons": "readings: { format: csv, csv: { header: true, delimiter: ';' }, time: record }",
    "tabs without quotes": "readings: { format: csv, csv: { header: true, delimiter: \"\\t\", quotes: false }, time: record }",
}
DELIMITERS = {"semicolons": ";", "tabs without quotes": "\t"}
NULLS = {"declared columns": {"NA", "-"}}

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")
_LONGEST_NUMBER = 64


class _Quoted(str):
    """A value that stood in quotes."""


def _has_quotes(config: str) -> bool:
    return config != "tabs without quotes"


def _physical_lines(text: str) -> list[str]:
    """Python takes a carriage return for a line's end where the lines are its own; here a line feed alone is one."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _rows(config: str, text: str) -> Iterator[list[str]]:
    rows = csv.reader(_physical_lines(text), delimiter=DELIMITERS.get(config, ","), strict=True,
                      quoting=csv.QUOTE_MINIMAL if _has_quotes(config) else csv.QUOTE_NONE)
    try:
        yield from rows
    except csv.Error as error:
        raise Refused(str(error)) from error


def _marked(config: str, text: str) -> str:
    """@text with a mark in front of each value that stands in quotes, which the library does not tell of; and refused where a
    quote stands in a value without, which the library takes."""
    delimiter = re.escape(DELIMITERS.get(config, ","))
    marked, at = [], 0
    value = re.compile(rf'(?:"(?:[^"]|"")*"|[^"{delimiter}\n]*)(?P<end>{delimiter}|\n|\Z|.)', re.DOTALL)
    while at < len(text):
        found = value.match(text, at)
        if found.group("end") == '"':
            raise Refused("a quote within a value")
        marked.append('"Q' + found.group()[1:] if text[at] == '"' else found.group())
        at = found.end()
    return "".join(marked)


def _value(config: str, text: str) -> Any:
    if isinstance(text, _Quoted):
        return str(text)
    if text in NULLS.get(config, {""}):
        return None
    if _NUMBER.match(text):
        if len(text) > _LONGEST_NUMBER:
            raise Refused("a long number")
        return Text(text)
    return {"true": True, "false": False}.get(text, text)


def _check_quotes(rows: list[list[str]], marked: list[list[str]]) -> list[list[str]]:
    """@rows whose values know whether they stood in quotes."""
    if [len(row) for row in rows] != [len(row) for row in marked]:
        raise Unsure
    return [[_Quoted(value) if mark == "Q" + value else value for value, mark in zip(*pair)] for pair in zip(rows, marked)]


def decode(config: str, message: bytes) -> list[Reading]:
    try:
        text = message.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(str(error)) from error
    if "\r\r" in text:
        raise Unsure  # the library takes any number of them for a line's end
    rows = [row for row in _rows(config, text) if row]
    if _has_quotes(config):
        rows = _check_quotes(rows, [row for row in _rows(config, _marked(config, text)) if row])
    if not rows:
        raise Refused("no line")
    names = COLUMNS if config == "declared columns" else list(map(str, rows.pop(0)))
    if not rows:
        raise Refused("a header alone")
    named = [name for name in names if name]  # a column without a name is left out
    if any(len(row) != len(names) for row in rows) or len(set(named)) != len(named):
        raise Refused("values that are not the columns'")
    return [{name: _value(config, value) for name, value in zip(names, row) if name} for row in rows]


# ---- random messages ----

def _text(draw: random.Random, config: str) -> str:
    alphabet = "abcxyz ,;'#\\/é€😀" + ("\"\t\n" if _has_quotes(config) else "\"")
    return letters(draw, alphabet, 0, 8)


def _drawn(draw: random.Random, config: str) -> Any:
    return draw.choice([
        lambda: draw.randint(-10**6, 10**6), lambda: draw.uniform(-1e3, 1e3), lambda: _text(draw, config), lambda: _text(draw, config),
        lambda: draw.choice(["", "NA", "-", "true", "false", "True", "007", "+1", ".5", "1.", "1e3", "2.50E-7", "-0", " 1", "0x1"])])()


def message(config: str, draw: random.Random) -> bytes:
    names = COLUMNS if config == "declared columns" else [f"f{i}{_text(draw, config)}" for i in range(draw.randint(1, 6))]
    out = io.StringIO(newline="")
    quoting = draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    if not _has_quotes(config):
        quoting = csv.QUOTE_NONE
    rows = csv.writer(out, delimiter=DELIMITERS.get(config, ","), lineterminator=draw.choice(["\n", "\r\n"]), quoting=quoting,
                      quotechar='"' if _has_quotes(config) else None)
    if config != "declared columns":
        rows.writerow(names)
    for _ in range(draw.choice([1, 1, 2, 3, 5])):
        rows.writerow([_drawn(draw, config) or ("x" if len(names) == 1 else "") for _ in names])
    text = out.getvalue()
    if draw.random() < 0.3:
        text = text.removesuffix("\n").removesuffix("\r")
    return (draw.choice(["", "", "", "\n", "\ufeff"]) + text).encode()


WORDS = [b",", b";", b"\t", b"\n", b"\r\n", b"\r", b'"', b'""', b'",', b',"', b'"\n', b"NA", b"-", b"true", b"1", b"007", b"\xff", b"\0",
         b"1" * 65]

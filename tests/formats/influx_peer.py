"""Messages in InfluxDB's line protocol, and what they hold by line-protocol-parser, which reads a line."""

from __future__ import annotations

import random
import re

from line_protocol_parser import LineFormatError, parse_line

from peer import Reading, Refused, Unsure, letters

CONFIGS = {"lines": "readings: { format: influx }"}

# A line ends at a line break outside of quotes, and quotes mean something at the begin of a field's value alone.
_LINE = re.compile(r'(?:\\[ ,=]|[^ \n])*'
                   r'(?: (?:="(?:\\["\\]|[^"])*"|\\[ ,=]|[^\n])*)?'
                   r'(?:\n|\Z)')
_NAME = re.compile(r'(?:\\[ ,=]|[^ ,=])+')
_KEY_OF_FIELD = re.compile(r'((?:\\[ ,=]|[^ ,=])*)=("(?:\\["\\]|[^"])*"|[^ ,]*),?')


def _lines(text: str) -> list[str]:
    lines, at = [], 0
    while at < len(text):
        start = re.compile(r"[ \n]*(?:\r\n[ \n]*)*").match(text, at)
        at = start.end()
        if at >= len(text):
            break
        if text[at] == "#":
            end = text.find("\n", at)
            at = end + 1 if end >= 0 else len(text)
            continue
        found = _LINE.match(text, at)
        if found is None or found.end() == at:
            raise Refused("no line")
        lines.append(found.group().removesuffix("\n").removesuffix("\r"))
        at = found.end()
    return lines


def _count_of_names(line: str) -> int:
    """Tags and fields of a line that is right. The library takes quotes within a text, and a name that stands there twice."""
    head = re.match(r"(?:\\[ ,=]|[^ ])*", line).group()
    tags = len(re.findall(r"(?:\\[ ,=]|[^,])+", head)) - 1
    at, fields = len(head) + len(line[len(head):]) - len(line[len(head):].lstrip(" ")), 0
    while True:
        found = _KEY_OF_FIELD.match(line, at)
        if found is None:
            return tags + fields
        fields += 1
        at = found.end()
        if line[at - 1] != ",":
            if line[at:at + 1].strip(" "):
                raise Refused("bytes behind a closing quote")
            return tags + fields


def _reading(line: str) -> Reading:
    try:
        point = parse_line(line)
    except LineFormatError as error:
        raise Refused(str(error)) from error
    if point is None:
        raise Unsure  # a comment, behind a tab
    names = [*point["tags"], *point["fields"]]
    if len(set(names)) != len(names) or len(names) != _count_of_names(line) or {"measurement", "time"} & set(names):
        raise Refused("a name stands twice")
    reading = {"measurement": point["measurement"], **point["tags"], **point["fields"]}
    if point["time"] is not None:
        reading["time"] = point["time"]
    return reading


# Two backslashes in front of what would end a name, which the library reads in one way in tags and in another in fields; numbers
# beyond a double, which it refuses; and a carriage return within a line, which it skips.
_OWN_WAY = re.compile(rb'\\\\+[ ,=]|[eE][+-]?[0-9]{3}|[0-9]{300}|\r(?!\n)')


def decode(_config: str, message: bytes) -> list[Reading]:
    if _OWN_WAY.search(message):
        raise Unsure
    lines = _lines(message.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    if not lines or any("\udc80" <= c <= "\udcff" for line in lines for c in line):
        raise Refused("no line, or one that is not UTF-8")
    return [_reading(line) for line in lines]


# ---- random messages ----

def _name(draw: random.Random, special: str) -> str:
    # A backslash in front of another is read in two ways by the library; at the end of a name it would take what follows with
    # it, and a # at the begin of a line is a comment.
    name = re.sub(r"\\+(?=[\\ ,=]|\Z)", "", letters(draw, "abcxyz019_-./:\"'\\#é€ ,=", 1, 8)).lstrip("#\ufeff ")
    return "".join(f"\\{c}" if c in special else c for c in name) or "n"


def _number(draw: random.Random) -> str:
    return draw.choice([
        lambda: str(draw.randint(-10**6, 10**6)), lambda: repr(draw.uniform(-1e3, 1e3)), lambda: repr(10 ** draw.uniform(-30, 30)),
        lambda: f"{draw.randint(-2**63, 2**63 - 1)}i", lambda: f"{draw.randint(0, 2**64 - 1)}u",
        lambda: f"0{draw.randint(0, 99)}", lambda: f".{draw.randint(0, 99)}", lambda: f"-{draw.randint(0, 99)}.",
        lambda: f"{draw.randint(0, 9)}.e+{draw.randint(0, 20)}"])()


def _value(draw: random.Random) -> str:
    kind = draw.randrange(10)
    if kind < 6:
        return _number(draw)
    if kind < 8:
        return draw.choice(["t", "T", "true", "True", "TRUE", "f", "F", "false", "False", "FALSE"])
    text = letters(draw, "abc ,=#é€\n\t'", 0, 10)
    return '"' + "".join(draw.choice(['\\"', "\\\\", "\\n"]) if draw.random() < 0.1 else c for c in text) + '"'


def _line(draw: random.Random) -> str:
    tags = "".join(f",t{i}{_name(draw, ' ,=')}={_name(draw, ' ,=')}" for i in range(draw.randrange(4)))
    fields = ",".join(f"f{i}{_name(draw, ' ,=')}={_value(draw)}" for i in range(draw.randint(1, 5)))
    time = draw.choice(["", "", f" {draw.randint(-2**62, 2**62)}", f" {draw.randint(0, 2**62)}"])
    return f"{_name(draw, ' ,')}{tags} {fields}{time}"


def message(_config: str, draw: random.Random) -> bytes:
    lines = [_line(draw) for _ in range(draw.choice([1, 1, 1, 2, 3, 8]))]
    if draw.random() < 0.1:
        lines.insert(draw.randrange(len(lines) + 1), draw.choice(["", "# a comment, \"", "  "]))
    return (draw.choice(["\n", "\n", "\r\n"]).join(lines) + draw.choice(["", "\n"])).encode()


# Bytes that mean something, for messages that are broken.
WORDS = [b",", b"=", b" ", b"\\", b'"', b"\n", b"\r\n", b"#", b"i", b"u", b"1", b".", b"e", b"-", b"t", b"\xff", b"t0a=b,", b"time="]

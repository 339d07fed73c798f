"""Messages in JSON, with what stands around their readings, and what they hold by Python's own parser."""

from __future__ import annotations

import json
import random
import re
from typing import Any, Optional

from peer import Raw, Reading, Refused, Text, letters

CONFIGS = {
    "plain": "readings: { time: record }",
    "root": "readings: { time: record, root: payload }",
    "inner root": "readings: { time: record, root: payload/after, arrays: index }",
    "each": "readings: { time: record, each: metrics }",
    "root and each": "readings: { time: record, root: payload, each: metrics }",
}
ROOTS: dict[str, list[str]] = {"root": ["payload"], "inner root": ["payload", "after"], "root and each": ["payload"]}
EACH = {"each", "root and each"}

_SPACE = re.compile(r"[ \t\r\n]*")


class Members(list[tuple[str, Any]]):
    """An object, with all that stands in it."""


def _refuse(constant: str) -> None:
    raise Refused(constant)


def _no_surrogates(text: str) -> str:
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise Refused("half a character")
    return text


_DECODER = json.JSONDecoder(object_pairs_hook=Members, parse_float=Text, parse_int=Text, parse_constant=_refuse)


def _values(text: str) -> list[Any]:
    """The values that stand one after the other."""
    values, at = [], _SPACE.match(text).end()
    if at == len(text):
        raise Refused("nothing")
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise Refused(str(error)) from error
        values.append(value)
        at = _SPACE.match(text, at).end()
    return values


def _items(values: list[Any]) -> list[Any]:
    """The same, or those in the one list that a message is."""
    if isinstance(values[0], list) and not isinstance(values[0], Members):
        if len(values) > 1:
            raise Refused("text behind the list")
        return values[0]
    return values


def _check_texts(value: Any) -> None:
    if isinstance(value, Members):
        for name, inner in value:
            _no_surrogates(name)
            _check_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_texts(inner)
    elif isinstance(value, str):
        _no_surrogates(value)


def _members(value: Any) -> Members:
    if not isinstance(value, Members):
        raise Refused("no object")
    return value


def _wanted(value: Any, name: str) -> tuple[Any, Members]:
    """The member called @name, and the others."""
    found = [inner for other, inner in _members(value) if other == name]
    if len(found) != 1 or found[0] is None:
        raise Refused(f"not one {name}")
    return found[0], Members(member for member in value if member[0] != name)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) and not isinstance(value, Members) else [value]


def _put(reading: dict[str, Any], names: set[str], name: str, value: Any, index: bool) -> None:
    if name in names or (isinstance(value, Text) and len(value) > 64):
        raise Refused(name)
    names.add(name)
    if isinstance(value, Members):
        for inner, below in value:
            _put(reading, names, f"{name}/{inner}", below, index)
    elif isinstance(value, list) and index:
        for at, below in enumerate(value):
            _put(reading, names, f"{name}/{at}", below, index)
    elif isinstance(value, list):
        reading[name] = Raw("list")
    else:
        reading[name] = value


def _reading(around: Members, value: Any, index: bool) -> Reading:
    reading: dict[str, Any] = {}
    names: set[str] = set()
    for name, inner in around:
        _put(reading, names, name, inner, index)
    names = set(reading)
    for name, inner in _members(value):
        _put(reading, names, name, inner, index)
    return reading


def values(message: bytes) -> list[Any]:
    """Those of a message, one after the other."""
    try:
        text = message.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(str(error)) from error
    found = _values(text)
    _check_texts(found)
    return found


def decode(config: str, message: bytes) -> list[Reading]:
    items = _items(values(message))
    for name in ROOTS.get(config, []):
        items = [_wanted(item, name)[0] for item in items]
    if config in ROOTS:
        items = [inner for item in items for inner in _listed(item)]
    index = config == "inner root"
    readings = []
    for item in items:
        inside, around = _wanted(item, "metrics") if config in EACH else ([item], Members())
        if not isinstance(inside, list):
            raise Refused("no list")
        _reading(around, Members(), index)
        readings += [_reading(around, value, index) for value in _listed(inside)]
    return readings


# ---- random messages ----

def _number(draw: random.Random) -> str:
    return draw.choice([str(draw.randint(-10**6, 10**6)), repr(draw.uniform(-1e3, 1e3)), "-0", "1e3", "2.50E-7",
                        str(draw.randint(-2**80, 2**80))])


def _string(draw: random.Random) -> str:
    text = json.dumps(letters(draw, "abcxyz/ {}[],:\"\\\n\té€😀", 0, 8), ensure_ascii=draw.random() < 0.5)
    return text


def _object(draw: random.Random, prefix: str, depth: int, extra: Optional[tuple[str, str]] = None) -> str:
    members = [(f'"{prefix}{i}{letters(draw, "abé", 0, 2)}"', _value(draw, depth)) for i in range(draw.randrange(4))]
    if extra is not None:
        members.insert(draw.randint(0, len(members)), extra)
    space = draw.choice(["", "", " ", "\n"])
    return "{" + f",{space}".join(f"{name}:{space}{value}" for name, value in members) + space + "}"


def _value(draw: random.Random, depth: int) -> str:
    kind = draw.randrange(10)
    if depth > 0 and kind == 0:
        return _object(draw, "n", depth - 1)
    if depth > 0 and kind == 1:
        return "[" + ",".join(_value(draw, depth - 1) for _ in range(draw.randrange(3))) + "]"
    if kind < 6:
        return _number(draw)
    return draw.choice(["true", "false", "null"]) if kind == 6 else _string(draw)


def _around(draw: random.Random, names: list[str], inner: str, depth: int = 2) -> str:
    for name in reversed(names):
        inner = _object(draw, "o", depth, (f'"{name}"', inner))
    return inner


def _item(config: str, draw: random.Random) -> str:
    if config not in EACH:
        reading = _object(draw, "f", 2)
        some = draw.random() < 0.2 and config in ROOTS
        return _around(draw, ROOTS.get(config, []), f"[{reading},{_object(draw, 'f', 1)}]" if some else reading)
    readings = ",".join(_object(draw, "f", 2) for _ in range(draw.randrange(4)))
    return _around(draw, ROOTS.get(config, []), _object(draw, "e", 2, ('"metrics"', f"[{readings}]")))


def message(config: str, draw: random.Random) -> bytes:
    items = [_item(config, draw) for _ in range(draw.choice([1, 1, 1, 2, 3]))]
    if draw.random() < 0.3:
        return f"[{','.join(items)}]".encode()
    return draw.choice(["\n", " ", ""]).join(items).encode()


WORDS = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"null", b"0", b"\xff", b'"payload":', b'"metrics":', b'"f0":1,', b"\\ud800",
         b"\n", b"e", b"-", b"."]

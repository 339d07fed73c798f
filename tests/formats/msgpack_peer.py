"""Messages in MessagePack, and what they hold by Python's msgpack."""

from __future__ import annotations

import math
import random
import struct
from typing import Any

import msgpack

from peer import Raw, Reading, Refused, Text, letters

CONFIGS = {
    "arrays as json": "readings: { format: msgpack, time: record }",
    "arrays by index": "readings: { format: msgpack, time: record, arrays: index }",
}


class Members(list[tuple[Any, Any]]):
    """A map, with all that stands in it."""


def name_of(name: Any) -> str:
    """A text, or the digits of an integer."""
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise Refused("a name")
    return str(name)


def _put(reading: dict[str, Any], names: set[str], name: str, value: Any, index: bool) -> None:
    if name in names:
        raise Refused(name)
    names.add(name)
    if isinstance(value, Members):
        for inner, below in value:
            _put(reading, names, f"{name}/{name_of(inner)}", below, index)
    elif isinstance(value, list) and index:
        for at, below in enumerate(value):
            _put(reading, names, f"{name}/{at}", below, index)
    elif isinstance(value, list):
        _check(value)
        reading[name] = Raw("list")
    else:
        reading[name] = _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        raise Refused("not finite")
    if isinstance(value, msgpack.ExtType):
        raise Refused("an extension")
    if isinstance(value, msgpack.Timestamp):
        if value.nanoseconds == 0:
            return value.seconds
        whole = value.seconds * 10**9 + value.nanoseconds
        return Text(f"{'-' if whole < 0 else ''}{abs(whole) // 10**9}.{abs(whole) % 10**9:09}")
    return value


def _check(value: Any) -> None:
    """A list is kept as its text, in which all must be what it may be."""
    if isinstance(value, Members):
        for name, inner in value:
            name_of(name)
            _check(inner)
    elif isinstance(value, list):
        for inner in value:
            _check(inner)
    else:
        _plain(value)


def _values(message: bytes) -> list[Any]:
    unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, object_pairs_hook=Members, max_buffer_size=len(message))
    unpacker.feed(message)
    values = []
    while unpacker.tell() < len(message):
        try:
            values.append(unpacker.unpack())
        except msgpack.OutOfData as error:
            raise Refused("the message ends") from error
        except Exception as error:  # whatever it is that msgpack, or Python, does not like in it
            raise Refused(str(error)) from error
    return values


def decode(config: str, message: bytes) -> list[Reading]:
    values = _values(message)
    if not values:
        raise Refused("nothing")
    if isinstance(values[0], list) and not isinstance(values[0], Members):
        if len(values) > 1:
            raise Refused("bytes after the array")
        values = values[0]
    readings = []
    for value in values:
        if not isinstance(value, Members):
            raise Refused("no map")
        reading: dict[str, Any] = {}
        names: set[str] = set()
        for name, inner in value:
            _put(reading, names, name_of(name), inner, config == "arrays by index")
        readings.append(reading)
    return readings


# ---- random messages ----

def _scalar(draw: random.Random) -> Any:
    return draw.choice([
        lambda: draw.randint(-40, 140), lambda: draw.randint(-2**63, -1), lambda: draw.randint(0, 2**64 - 1),
        lambda: draw.randint(-70000, 70000), lambda: draw.uniform(-1e3, 1e3), lambda: 10 ** draw.uniform(-38, 38),
        lambda: struct.unpack(">f", struct.pack(">f", draw.uniform(-10, 10)))[0], lambda: True, lambda: False, lambda: None,
        lambda: letters(draw, "abc/\"\\\n\x00é€😀", 0, 40), lambda: letters(draw, "abé", 0, 4).encode(),
        lambda: msgpack.Timestamp(draw.randint(-2**40, 2**40), draw.choice([0, draw.randrange(10**9)]))])()


def _value(draw: random.Random, depth: int) -> Any:
    kind = draw.randrange(8)
    if depth > 0 and kind == 0:
        return _map(draw, depth - 1)
    if depth > 0 and kind == 1:
        return [_value(draw, depth - 1) for _ in range(draw.choice([0, 1, 2, 3, 20]))]
    return _scalar(draw)


def _map(draw: random.Random, depth: int) -> dict[str, Any]:
    return {f"f{i}{letters(draw, 'abé', 0, 3)}": _value(draw, depth) for i in range(draw.choice([0, 1, 2, 5, 5, 20]))}


def message(_config: str, draw: random.Random) -> bytes:
    single = draw.random() < 0.3
    maps = [_map(draw, 2) for _ in range(draw.choice([1, 1, 2, 3]))]
    if draw.random() < 0.3:
        return msgpack.packb(maps, use_single_float=single)
    return b"".join(msgpack.packb(one, use_single_float=single) for one in maps)


WORDS = [b"\x80", b"\x81\xa1a", b"\x91", b"\xa2f0", b"\xc0", b"\xc1", b"\xc4\x01\xff", b"\xd4\x05\x01", b"\xcb\x7f\xf8\0\0\0\0\0\0",
         b"\xdd\xff\xff\xff\xff", b"\xdf\0\0\0\1", b"\xc3", b"\x00", b"\xff"]

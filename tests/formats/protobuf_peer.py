"""Messages in protobuf, of the types in readings.proto, and what they hold by Python's protobuf."""

from __future__ import annotations

import math
import random
import struct
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from peer import Raw, Reading, Refused, Text, Unsure, letters

SET = Path(__file__).resolve().parent / "readings.desc"
_OPTIONS = f"format: protobuf, time: record, schema: {SET}"
CONFIGS = {
    "arrays as json": f"readings: {{ {_OPTIONS}, message: plant.Reading }}",
    "arrays by index": f"readings: {{ {_OPTIONS}, message: plant.Reading, arrays: index }}",
    "without presence": f"readings: {{ {_OPTIONS}, message: plant.Plain }}",
    "proto2": f"readings: {{ {_OPTIONS}, message: old.Reading }}",
    "confluent": f"readings: {{ {_OPTIONS}, framing: confluent }}",
}
TYPES = {"arrays as json": "plant.Reading", "arrays by index": "plant.Reading", "without presence": "plant.Plain",
         "proto2": "old.Reading", "confluent": "plant.Other.Inner"}
# A zero byte, an id, and [3, 0]: the first message within the file's fourth.
FRAME = b"\0\0\0\1\2\4\6\0"
WRAPPERS = {f"google.protobuf.{kind}Value"
            for kind in ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "String", "Bytes", "Bool"]}


def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(SET.read_bytes()).file:
        # Extensions are fields that nobody knows.
        del file.extension[:]
        pool.Add(file)
    return pool


POOL = _pool()
CLASSES = {name: message_factory.GetMessageClass(POOL.FindMessageTypeByName(name)) for name in TYPES.values()}


def _is_map(field: Any) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _scalar(field: Any, value: Any) -> Any:
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(value)
        return value if named is None else named.name
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        raise Refused("not finite")
    return value


class Members(dict[str, Any]):
    """A message that is no single value, or a map."""


def _key(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _value(field: Any, value: Any) -> Any:
    """The value of a field, or one of a list's."""
    if field.message_type is None:
        return _scalar(field, value)
    name = field.message_type.full_name
    if name in WRAPPERS:
        return _scalar(field.message_type.fields_by_name["value"], value.value)
    if name == "google.protobuf.Timestamp":
        if not 0 <= value.nanos < 10**9:
            raise Refused("nanoseconds")
        if value.nanos == 0:
            return value.seconds
        whole = value.seconds * 10**9 + value.nanos
        return Text(f"{'-' if whole < 0 else ''}{abs(whole) // 10**9}.{abs(whole) % 10**9:09}")
    return _members(value)


def _members(message: Any) -> Members:
    members = Members()
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if _is_map(field):
            inner = field.message_type.fields_by_name["value"]
            if len(value) > 0:
                members[field.name] = Members((_key(key), _value(inner, value[key])) for key in list(value))
        elif field.is_repeated:
            if len(value) > 0:
                members[field.name] = [_value(field, one) for one in value]
        elif not field.has_presence or message.HasField(field.name):
            members[field.name] = _value(field, value)
    return members


def _put(reading: dict[str, Any], names: set[str], name: str, value: Any, index: bool) -> None:
    if name in names:
        raise Refused(name)
    names.add(name)
    if isinstance(value, list) and not index:
        reading[name] = Raw("list", value)
    elif isinstance(value, (Members, list)):
        for inner, below in value.items() if isinstance(value, Members) else enumerate(value):
            _put(reading, names, f"{name}/{inner}", below, index)
    else:
        reading[name] = value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while data[at] >= 0x80:
        value, shift, at = value | (data[at] & 0x7F) << shift, shift + 7, at + 1
    return (value | data[at] << shift) & (2**64 - 1), at + 1


def _check_texts(descriptor: Any, data: bytes, at: int = 0) -> int:
    """All of a message that was parsed, up to its end or its group's: of a text that another one replaces, the library is content
    with less."""
    while at < len(data):
        tag, at = _varint(data, at)
        field = descriptor.fields_by_number.get(tag >> 3) if descriptor is not None else None
        wire = tag & 7
        is_known = field is not None and wire == _WIRES.get(_KINDS[field.type], 0)
        if not is_known and descriptor is not None and descriptor.GetOptions().map_entry:
            # Python's library passes over the whole entry then, libprotobuf over the field.
            raise Unsure
        if wire == 0:
            _, at = _varint(data, at)
        elif wire == 2:
            length, at = _varint(data, at)
            value, at = data[at:at + length], at + length
            if field is not None and _KINDS[field.type] == "string":
                value.decode("utf-8")
            elif field is not None and _KINDS[field.type] == "message":
                _check_texts(field.message_type, value)
        elif wire == 3:
            at = _check_texts(field.message_type if field is not None and _KINDS[field.type] == "group" else None, data, at)
        elif wire == 4:
            return at
        else:
            at += 8 if wire == 1 else 4
    return at


def decode(config: str, message: bytes) -> list[Reading]:
    if config == "confluent":
        if message[:1] != FRAME[:1] or message[5:8] != FRAME[5:]:
            # Another message of the file, or none.
            raise Unsure if message[:1] == FRAME[:1] else Refused("no frame")
        message = message[len(FRAME):]
    elif not message:
        raise Refused("empty")
    parsed = CLASSES[TYPES[config]]()
    try:
        parsed.ParseFromString(message)
        if not parsed.IsInitialized():
            raise Refused("a required field is not there")
        _check_texts(parsed.DESCRIPTOR, message)
        members = _members(parsed)
    except (DecodeError, UnicodeDecodeError) as error:
        raise Refused(str(error)) from error
    reading: dict[str, Any] = {}
    names: set[str] = set()
    for name, value in members.items():
        _put(reading, names, name, value, config == "arrays by index")
    return [reading]


# ---- random messages ----

_INTEGERS = {"int32": (-2**31, 2**31 - 1), "sint32": (-2**31, 2**31 - 1), "sfixed32": (-2**31, 2**31 - 1),
             "int64": (-2**63, 2**63 - 1), "sint64": (-2**63, 2**63 - 1), "sfixed64": (-2**63, 2**63 - 1),
             "uint32": (0, 2**32 - 1), "fixed32": (0, 2**32 - 1), "uint64": (0, 2**64 - 1), "fixed64": (0, 2**64 - 1)}
_KINDS = {number: name.removeprefix("TYPE_").lower()
          for name, number in descriptor_pb2.FieldDescriptorProto.Type.items()}
# How a value is written, where that is no varint.
_WIRES = {"double": 1, "fixed64": 1, "sfixed64": 1, "string": 2, "bytes": 2, "message": 2, "group": 3, "float": 5, "fixed32": 5,
          "sfixed32": 5}


def _draw_scalar(draw: random.Random, field: Any) -> Any:
    kind = _KINDS[field.type]
    if kind in _INTEGERS:
        least, most = _INTEGERS[kind]
        return draw.choice([draw.randint(least, most), draw.randint(max(least, -100), 100), 0, least, most])
    if kind == "enum":
        return draw.choice([value.number for value in field.enum_type.values] + ([] if field.enum_type.is_closed else [77]))
    if kind == "bool":
        return draw.random() < 0.5
    if kind == "string":
        return letters(draw, "abc/\"\\\n\0é€😀", 0, 40)
    if kind == "bytes":
        return draw.randbytes(draw.randrange(20))
    value = draw.choice([draw.uniform(-1e3, 1e3), 10 ** draw.uniform(-37, 38), 0.0, -0.0, float(draw.randint(-10**6, 10**6))])
    return struct.unpack("f", struct.pack("f", value))[0] if kind == "float" else value


def _fill(draw: random.Random, message: Any, depth: int) -> None:
    for field in message.DESCRIPTOR.fields:
        if draw.random() < 0.6 and not field.is_required:
            continue
        if field.message_type is None:
            if field.is_repeated:
                getattr(message, field.name).extend(_draw_scalar(draw, field) for _ in range(draw.choice([0, 1, 2, 20])))
            else:
                setattr(message, field.name, _draw_scalar(draw, field))
        elif _is_map(field):
            _fill_map(draw, getattr(message, field.name), field.message_type.fields_by_name, depth)
        elif depth > 0:
            below = getattr(message, field.name)
            for _ in range(draw.randrange(3) if field.is_repeated else 1):
                inner = below.add() if field.is_repeated else below
                inner.SetInParent()
                _fill_message(draw, inner, depth - 1)


def _fill_message(draw: random.Random, message: Any, depth: int) -> None:
    if message.DESCRIPTOR.full_name == "google.protobuf.Timestamp":
        message.seconds, message.nanos = draw.randint(-2**40, 2**40), draw.choice([0, draw.randrange(10**9)])
    else:
        _fill(draw, message, depth)


def _fill_map(draw: random.Random, entries: Any, fields: Any, depth: int) -> None:
    for _ in range(draw.randrange(4)):
        key = _draw_scalar(draw, fields["key"])
        if fields["value"].message_type is None:
            entries[key] = _draw_scalar(draw, fields["value"])
        else:
            _fill_message(draw, entries[key], max(depth - 1, 0))


def message(config: str, draw: random.Random) -> bytes:
    made = CLASSES[TYPES[config]]()
    framed = FRAME if config == "confluent" else b""
    text = b""
    while not text:
        _fill(draw, made, 2)
        text = made.SerializePartialToString(deterministic=True)
    return framed + text


WORDS = [b"\0", b"\x07", b"\x08\x01", b"\x0a\x01a", b"\x10\0", b"\x12", b"\x72\x02\x10\x02", b"\x82\x01\0", b"\x8a\x01\0", b"\x0b", b"\x0c",
         b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", b"\xa8\x01\x05", b"\xd3\x3e\xd4\x3e", b"\xff",
         b"\x18\x03"]

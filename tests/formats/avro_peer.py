"""Messages in Avro, by schemas that are drawn too, and what they hold by fastavro."""

from __future__ import annotations

import atexit
import datetime
import io
import json
import math
import random
import struct
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro

from peer import Raw, Reading, Refused, Unsure, letters

# All of one scale: fastavro rounds what has more digits than the precision, which shows in the exponent.
DECIMAL = {"logicalType": "decimal", "precision": 18, "scale": 2}
LOGICAL = [("long", "timestamp-millis"), ("long", "timestamp-micros"), ("long", "local-timestamp-millis"), ("int", "date"),
           ("int", "time-millis"), ("long", "time-micros")]
PLAIN = ["boolean", "int", "long", "float", "double", "string", "bytes"]
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)


# ---- random schemas ----

def _type(draw: random.Random, names: list[int], depth: int) -> Any:
    kind = draw.randrange(12 if depth > 0 else 9)
    names[0] += 1
    if kind < 4:
        return draw.choice(PLAIN)
    if kind == 4:
        base, logical = draw.choice(LOGICAL)
        return {"type": base, "logicalType": logical}
    if kind == 5:
        return {"type": "bytes", **DECIMAL}
    if kind == 6:
        return {"type": "fixed", "name": f"F{names[0]}", "size": draw.choice([0, 1, 16])}
    if kind == 7:
        return {"type": "enum", "name": f"E{names[0]}", "symbols": ["A", "BB", "C_3"]}
    if kind == 8:
        return ["null", draw.choice(["long", "string", "double", {"type": "long", "logicalType": "timestamp-millis"}])]
    if kind == 9:
        return {"type": "array", "items": draw.choice(["long", "string", ["null", "double"], _record(draw, names, depth - 1)])}
    if kind == 10:
        return {"type": "map", "values": _type(draw, names, depth - 1)}
    inner = _record(draw, names, depth - 1)
    return draw.choice([inner, ["null", inner], ["null", "string", inner]])


def _record(draw: random.Random, names: list[int], depth: int) -> dict[str, Any]:
    names[0] += 1
    name = f"R{names[0]}"
    return {"type": "record", "name": name,
            "fields": [{"name": f"f{i}", "type": _type(draw, names, depth)} for i in range(draw.choice([1, 2, 5, 10]))]}


DIRECTORY = tempfile.TemporaryDirectory()
atexit.register(DIRECTORY.cleanup)
SCHEMAS: dict[str, Any] = {}
CONFIGS: dict[str, str] = {}
for number in range(40):
    _draw = random.Random(f"schema {number}")
    by_index = number % 3 == 0
    _name = f"schema {number}{' by index' if by_index else ''}"
    _schema: Any = _record(_draw, [0], 3)
    # No bytes at all are no message.
    _schema["fields"].append({"name": "last", "type": "int"})
    if number % 4 == 0:
        _schema = {"type": "array", "items": _schema}
    _path = Path(DIRECTORY.name, f"{number}.avsc")
    _path.write_text(json.dumps(_schema), encoding="utf-8")
    SCHEMAS[_name] = fastavro.parse_schema(_schema)
    CONFIGS[_name] = (f"readings: {{ format: avro, schema: {_path}, time: record"
                      f"{', arrays: index' if by_index else ''} }}")
# The messages that were drawn, before any was broken.
GOOD: set[tuple[str, bytes]] = set()


# ---- what a message holds ----

def _put(reading: dict[str, Any], name: str, value: Any, index: bool) -> None:
    if isinstance(value, dict):
        for inner, below in value.items():
            _put(reading, f"{name}/{inner}", below, index)
    elif isinstance(value, list) and index:
        for at, below in enumerate(value):
            _put(reading, f"{name}/{at}", below, index)
    elif isinstance(value, list):
        _check(value)
        reading[name] = Raw("list")
    else:
        reading[name] = _plain(value)


def _check(value: Any) -> None:
    """A list is kept as its text, in which all must be what it may be."""
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            _check(inner)
    else:
        _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        raise Refused("not finite")
    if isinstance(value, Decimal) and value.as_tuple().exponent != -DECIMAL["scale"]:
        raise Unsure("rounded")
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:  # a local timestamp, of milliseconds
            return value.isoformat(timespec="milliseconds" if value.microsecond else "seconds")
        past = value - EPOCH
        return Decimal((past.days * 86400 + past.seconds) * 10**6 + past.microseconds) / 10**6
    if isinstance(value, datetime.time):
        return Decimal((value.hour * 3600 + value.minute * 60 + value.second) * 10**6 + value.microsecond) / 10**6
    return value.isoformat() if isinstance(value, datetime.date) else value


def _read(config: str, message: bytes) -> Any:
    stream = io.BytesIO(message)
    try:
        value = fastavro.schemaless_reader(stream, SCHEMAS[config])
    except UnicodeDecodeError as error:
        raise Refused(str(error)) from error
    except (OverflowError, ValueError, MemoryError) as error:  # a date that Python does not have, say
        raise Unsure(str(error)) from error
    except (EOFError, IndexError, struct.error, TypeError) as error:
        raise Refused(str(error)) from error
    if stream.tell() < len(message):
        raise Refused("bytes behind it")
    return value


def decode(config: str, message: bytes) -> list[Reading]:
    value = _read(config, message)
    if (config, message) not in GOOD:
        # fastavro takes booleans, indices and lengths that are none: what was so written is written in another way. And ints
        # of 64 bits.
        again = io.BytesIO()
        try:
            fastavro.schemaless_writer(again, SCHEMAS[config], value)
        except Exception as error:  # whatever it is that fastavro cannot write
            raise Unsure(str(error)) from error
        if again.getvalue() != message or not fastavro.validate(value, SCHEMAS[config], raise_errors=False):
            raise Unsure("written in another way")
    readings = []
    for record in value if isinstance(value, list) else [value]:
        reading: dict[str, Any] = {}
        for name, inner in record.items():
            _put(reading, name, inner, "by index" in config)
        readings.append(reading)
    return readings


# ---- random messages ----

def _moment(draw: random.Random, per_second: int) -> datetime.datetime:
    return EPOCH + datetime.timedelta(microseconds=draw.randint(-10**9 * per_second, 4 * 10**9 * per_second) * (10**6 // per_second))


def _logical(draw: random.Random, kind: str) -> Any:
    per_second = 1000 if kind.endswith("millis") else 10**6
    if kind == "decimal":
        return Decimal(draw.randint(-10**draw.randint(1, 17), 10**17)) / 100
    if kind == "date":
        return datetime.date.fromordinal(draw.randint(1, datetime.date.max.toordinal()))
    if kind.startswith("time-"):
        return (EPOCH + datetime.timedelta(microseconds=draw.randrange(86400 * per_second) * (10**6 // per_second))).time()
    moment = _moment(draw, per_second)
    return moment.replace(tzinfo=None) if kind.startswith("local") else moment


def _value(draw: random.Random, schema: Any) -> Any:
    if isinstance(schema, list):
        return _value(draw, draw.choice(schema))
    if isinstance(schema, dict):
        if "logicalType" in schema:
            return _logical(draw, schema["logicalType"])
        kind = schema["type"]
        if kind == "record":
            return {field["name"]: _value(draw, field["type"]) for field in schema["fields"]}
        if kind == "array":
            return [_value(draw, schema["items"]) for _ in range(draw.choice([0, 1, 2, 3, 20]))]
        if kind == "map":
            return {f"k{i}{letters(draw, 'abé', 0, 3)}": _value(draw, schema["values"]) for i in range(draw.choice([0, 1, 3]))}
        if kind == "enum":
            return draw.choice(schema["symbols"])
        if kind == "fixed":
            return draw.randbytes(schema["size"])
        return _value(draw, kind)
    return {"null": lambda: None, "boolean": lambda: draw.random() < 0.5,
            "int": lambda: draw.choice([draw.randint(-100, 100), draw.randint(-2**31, 2**31 - 1)]),
            "long": lambda: draw.choice([draw.randint(-100, 100), draw.randint(-2**63, 2**63 - 1)]),
            "float": lambda: draw.uniform(-1e3, 1e3), "double": lambda: draw.choice([draw.uniform(-1e3, 1e3), 10 ** draw.uniform(-300, 300)]),
            "string": lambda: letters(draw, "abc/\"\\\n\x00é€😀", 0, 40), "bytes": lambda: draw.randbytes(draw.randint(0, 9))}[schema]()


def message(config: str, draw: random.Random) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, SCHEMAS[config], _value(draw, SCHEMAS[config]))
    GOOD.add((config, out.getvalue()))
    return out.getvalue()


WORDS = [b"\x00", b"\x01", b"\x02", b"\x04", b"\x80", b"\xff", b"\x7f", b"\xff\xff\xff\xff\x0f", b"\x02\xff",
         b"\x00\x00\x00\x00\x00\x00\xf8\x7f", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"]

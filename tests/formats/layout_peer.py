"""Where readings are in a message, in each structured format: a plain model of root, each, positions, zip, outer_prefix and
on_missing, over what other decoders make of the message."""

from __future__ import annotations

import atexit
import io
import json
import random
import tempfile
from pathlib import Path
from typing import Any, Callable, Optional

import fastavro
import msgpack

import json_peer
import msgpack_peer
import protobuf_peer
from peer import Raw, Reading, Refused, Text, Unsure, letters

# ---- the model ----


class Members(list[tuple[str, Any]]):
    """An object."""


class Unset(list[Any]):
    """Of protobuf, a list that is not there: around readings a list of none, and as a member nothing."""


class UnsetMembers(Members):
    """Of protobuf, a map that is not there."""


class BadReading(Exception):
    """A reading cannot be used."""


def is_list(value: Any) -> bool:
    return isinstance(value, list) and not isinstance(value, Members)


def is_scalar(value: Any) -> bool:
    return not isinstance(value, list)


def put(reading: dict[str, Any], names: set[str], name: str, value: Any) -> None:
    if isinstance(value, (Unset, UnsetMembers)):
        return
    if name in names:
        raise BadReading(name)
    names.add(name)
    if isinstance(value, Members):
        for inner, below in value:
            put(reading, names, f"{name}/{inner}", below)
    else:
        reading[name] = Raw("list") if isinstance(value, list) else value


class Layout:
    """All readings of a message; one that is left out is empty."""

    def __init__(self, how: dict[str, Any]) -> None:
        self.steps: list[str] = how["each"].split("/") if "each" in how else []
        self.root: list[str] = how["root"].split("/") if "root" in how else []
        self.positions: Optional[list[str]] = how.get("positions")
        self.zip: bool = how.get("zip", False)
        self.prefix: str = how.get("outer_prefix", "")
        self.missing: str = how.get("on_missing", "reject")
        self.alone: bool = how.get("on_bad_reading") == "reading"
        self.readings: list[Reading] = []
        self.n_bad = 0

    def fields_around(self, outer: dict[str, Any], members: list[tuple[str, Any]], prefix: str) -> dict[str, Any]:
        fields, names = dict(outer), set(outer)
        try:
            for name, value in members:
                put(fields, names, prefix + name, value)
        except BadReading as error:
            raise Refused(str(error)) from error
        return fields

    def bad(self, why: str) -> None:
        if not self.alone:
            raise Refused(why)
        self.n_bad += 1
        self.readings.append({})

    def reading(self, outer: dict[str, Any], members: list[tuple[str, Any]]) -> None:
        fields, names = dict(outer), set(outer)
        try:
            for name, value in members:
                put(fields, names, name, value)
        except BadReading as error:
            self.bad(str(error))
        else:
            self.readings.append(fields)

    def no_reading(self, value: Any) -> None:
        if not self.steps:
            raise Refused("no object")
        if value is None and self.missing == "skip":
            self.readings.append({})
        else:
            self.bad("no object")

    def by_positions(self, outer: dict[str, Any], values: list[Any]) -> None:
        assert self.positions is not None
        if len(values) != len(self.positions):
            self.bad("positions")
        else:
            self.reading(outer, [(name, value) for name, value in zip(self.positions, values) if name != "_"])

    def zipped(self, outer: dict[str, Any], members: Members) -> None:
        columns = [(name, value) for name, value in members if is_list(value)]
        around = self.fields_around(outer, [member for member in members if not is_list(member[1])], "")
        if not columns or len({len(values) for _, values in columns}) > 1:
            raise Refused("lengths")
        for row in zip(*(values for _, values in columns)):
            self.reading(around, [(name, value) for (name, _), value in zip(columns, row)])

    def item(self, value: Any, outer: dict[str, Any]) -> None:
        if isinstance(value, Members):
            (self.zipped if self.zip else self.reading)(outer, value)
        elif self.positions is None or (value is None and self.missing == "skip"):
            self.no_reading(value)
        elif is_list(value) and value and not is_scalar(value[0]):
            for inner in value:
                self.item(inner, outer)
        else:
            self.by_positions(outer, value if is_list(value) else [value])

    def one_or_list(self, value: Any, at: int, outer: dict[str, Any], may_be_reading: bool) -> None:
        is_reading = (may_be_reading and self.positions is not None and at == len(self.steps)
                      and is_list(value) and value and is_scalar(value[0]))
        for inner in value if is_list(value) and not is_reading else [value]:
            self.step(inner, at, outer)

    def lacks(self, value: Members, outer: dict[str, Any]) -> None:
        if self.missing == "reject":
            raise Refused("missing")
        if self.missing == "skip":
            self.readings.append({})
        else:
            self.reading(outer, value)

    def prefix_at(self, at: int) -> str:
        return self.prefix + "".join(f"{step}/" for step in self.steps[:at] if not step.startswith("{"))

    def step(self, value: Any, at: int, outer: dict[str, Any]) -> None:
        if at == len(self.steps):
            self.item(value, outer)
            return
        name = self.steps[at]
        if not isinstance(value, Members):
            self.no_reading(value)
        elif name.startswith("{"):
            if len({inner_name for inner_name, _ in value}) < len(value):
                raise Refused("twice")
            if self.positions is None or at + 1 < len(self.steps):
                scalars = [member for member in value if is_scalar(member[1]) and member[1] is not None]
                if scalars and len(scalars) == len(value):
                    self.fields_around(outer, scalars, self.prefix_at(at))
                    self.bad("no object")
                    return
                outer = self.fields_around(outer, scalars, self.prefix_at(at))
                value = Members(member for member in value if not is_scalar(member[1]) or member[1] is None)
            for inner_name, inner in value:
                self.one_or_list(inner, at + 1, self.fields_around(outer, [(name[1:-1], inner_name)], ""), True)
        else:
            around = self.fields_around(outer, [member for member in value if member[0] != name], self.prefix_at(at))
            found = [inner for other, inner in value if other == name]
            if len(found) > 1:
                raise Refused("twice")
            if not found or found[0] is None:
                self.lacks(value, outer)
            elif is_scalar(found[0]) and self.positions is None:
                raise Refused("no list")
            else:
                self.one_or_list(found[0], at + 1, around, False)

    def from_root(self, value: Any, at: int) -> None:
        if at == len(self.root):
            self.one_or_list(value, 0, {}, True)
            return
        if not isinstance(value, Members):
            raise Refused("no object")
        found = [inner for name, inner in value if name == self.root[at]]
        if len(found) > 1:
            raise Refused("twice")
        if not found or found[0] is None:
            self.lacks(value, {})
        else:
            self.from_root(found[0], at + 1)

    def message(self, values: list[Any]) -> list[Reading]:
        first = values[0]
        if is_list(first):
            is_reading = self.positions is not None and not self.steps and not self.root and first and is_scalar(first[0])
            if not is_reading:
                if len(values) > 1:
                    raise Refused("behind the list")
                values = first
        for value in values:
            if self.root:
                self.from_root(value, 0)
            else:
                self.step(value, 0, {})
        if self.n_bad > 0 and len(self.readings) == 1:
            raise Refused("its only reading")
        return self.readings


# ---- layouts ----

ANY: dict[str, dict[str, Any]] = {
    "nested": {"each": "devices/readings"},
    "nested alone": {"each": "devices/readings", "on_bad_reading": "reading"},
    "names": {"each": "servers/{server}", "on_bad_reading": "reading"},
    "names of names": {"each": "{host}/disks/{disk}"},
    "prefix": {"each": "a/b", "outer_prefix": "event/"},
    "positions": {"each": "values", "positions": ["ts", "v"]},
    "one position": {"each": "values", "positions": ["v"], "on_bad_reading": "reading", "on_missing": "skip"},
    "a list": {"positions": ["ts", "_", "v"], "on_bad_reading": "reading"},
    "names of lists": {"each": "s/{n}", "positions": ["ts", "v"], "on_bad_reading": "reading"},
    "root of lists": {"root": "p", "positions": ["ts", "v"]},
    "zip": {"each": "hourly", "zip": True},
    "zip alone": {"root": "p", "each": "hourly/{n}", "zip": True, "on_bad_reading": "reading", "outer_prefix": "o_"},
    "zip a message": {"zip": True},
    "root or nothing": {"root": "p/after", "on_missing": "skip"},
    "root or reading": {"root": "p/after", "on_missing": "reading", "on_bad_reading": "reading"},
    "each or nothing": {"each": "d/m", "on_missing": "skip", "on_bad_reading": "reading"},
    "each or reading": {"root": "p", "each": "d/m", "on_missing": "reading"},
}
# Of the record below.
AVRO: dict[str, dict[str, Any]] = {
    "nested": {"each": "devices/readings"},
    "nested alone": {"each": "devices/readings", "on_bad_reading": "reading", "on_missing": "skip"},
    "names": {"each": "servers/{server}", "on_bad_reading": "reading"},
    "prefix": {"each": "devices", "outer_prefix": "e_", "on_missing": "reading", "on_bad_reading": "reading"},
    "positions": {"each": "rows", "positions": ["ts", "v"], "on_bad_reading": "reading"},
    "zip": {"each": "lists", "zip": True},
    "root": {"root": "devices", "on_missing": "skip"},
}
# Of plant.Reading.
PROTOBUF: dict[str, dict[str, Any]] = {
    "list": {"each": "parts", "outer_prefix": "e_"},
    "nested": {"each": "parts/inner", "on_missing": "reading"},
    "nested or nothing": {"each": "parts/inner", "on_missing": "skip"},
    "names": {"each": "by_place/{place}"},
    "names in a list": {"each": "parts/by_name/{name_of}", "positions": ["v"]},
    "positions": {"each": "values", "positions": ["v"]},
    "zip": {"each": "parts", "zip": True},
    "root": {"root": "part/inner", "each": "marks", "positions": ["mark"], "on_missing": "skip"},
}
INNER = {"type": "record", "name": "Inner", "fields": [{"name": "v", "type": "double"}, {"name": "w", "type": ["null", "string"]}]}
DEVICE = {"type": "record", "name": "Device", "fields": [
    {"name": "id", "type": "string"},
    {"name": "readings", "type": ["null", {"type": "array", "items": ["null", "long", INNER]}, "Inner"]},
    {"name": "n", "type": "int"}]}
SCHEMA = {"type": "record", "name": "Top", "fields": [
    {"name": "g", "type": "string"},
    {"name": "devices", "type": ["null", {"type": "array", "items": ["null", "long", DEVICE]}, "Device"]},
    {"name": "servers", "type": {"type": "map", "values": ["null", "string", "Inner", {"type": "array", "items": "Inner"}]}},
    {"name": "rows", "type": {"type": "array", "items": ["null", "long", {"type": "array", "items": ["null", "long", "string"]}]}},
    {"name": "lists", "type": {"type": "record", "name": "Lists", "fields": [
        {"name": "a", "type": {"type": "array", "items": "long"}}, {"name": "u", "type": "string"},
        {"name": "b", "type": {"type": "array", "items": ["null", "Inner", "double"]}}]}},
    {"name": "last", "type": "int"}]}

DIRECTORY = tempfile.TemporaryDirectory()
atexit.register(DIRECTORY.cleanup)
SCHEMA_FILE = Path(DIRECTORY.name, "layout.avsc")
SCHEMA_FILE.write_text(json.dumps(SCHEMA), encoding="utf-8")
PARSED = fastavro.parse_schema(SCHEMA)
# Messages in Avro and protobuf, before any was broken.
GOOD: set[bytes] = set()
FORMATS = {"json": (ANY, ""), "msgpack": (ANY, ""), "avro": (AVRO, f", schema: {SCHEMA_FILE}"),
           "protobuf": (PROTOBUF, f", schema: {protobuf_peer.SET}, message: plant.Reading")}
LAYOUTS = {f"{name} {layout}": (name, how) for name, (layouts, _) in FORMATS.items() for layout, how in layouts.items()}
CONFIGS = {key: f"readings: {{ format: {name}, time: record{FORMATS[name][1]}, "
                + ", ".join(f"{option}: {json.dumps(value)}" for option, value in how.items()) + " }"
           for key, (name, how) in LAYOUTS.items()}


# ---- random values ----

def _scalar(draw: random.Random) -> Any:
    return draw.choice([draw.randint(-5, 300), True, None, letters(draw, "abé\n\"", 0, 4), draw.randint(0, 9)])


def _value(draw: random.Random, depth: int) -> Any:
    kind = draw.randrange(8)
    if depth > 0 and kind == 0:
        return _object(draw, depth - 1)
    return [_value(draw, 0) for _ in range(draw.randrange(3))] if depth > 0 and kind == 1 else _scalar(draw)


def _object(draw: random.Random, depth: int) -> Members:
    names = draw.sample(["v", "w", "x", "é", "q\n", "ts"], draw.randrange(4))
    if names and draw.random() < 0.02:
        names.append(names[0])
    return Members((name, _value(draw, depth)) for name in names)


def _leaf(how: dict[str, Any], draw: random.Random) -> Any:
    if "positions" in how and draw.random() < 0.9:
        n = len(how["positions"]) + draw.choice([0] * 40 + [-1, 1])
        values = [_value(draw, 1) if i > 0 else draw.randint(0, 9) for i in range(n)]
        return values[0] if n == 1 and draw.random() < 0.5 else values
    if how.get("zip"):
        n = draw.randrange(4)
        names = draw.sample(["a", "b", "c"], draw.randint(1, 3))
        lists = [(name, [_value(draw, 1) for _ in range(n + draw.choice([0] * 60 + [1]))]) for name in names]
        return Members(draw.sample(lists + [("u", _value(draw, 1))], len(lists) + 1))
    return _object(draw, 2)


def _inside(steps: list[str], how: dict[str, Any], draw: random.Random) -> Any:
    noise = draw.random()
    if noise < 0.04:
        return draw.choice([None, None, 7, "x", []])
    if draw.random() < 0.3 and not (not steps and "positions" in how and draw.random() < 0.9):
        return _way(steps, how, draw)
    items = [_way(steps, how, draw) for _ in range(draw.randrange(4))]
    return items + [draw.choice([None, 5, []])] if noise > 0.95 else items


def _around(name: str, inner: Any, draw: random.Random) -> Members:
    around = Members((other, _value(draw, 1)) for other in draw.sample(["g", "h", "i", "\"j"], draw.randrange(3)))
    if draw.random() > 0.03:
        around.insert(draw.randint(0, len(around)), (name, inner))
    return around


def _way(steps: list[str], how: dict[str, Any], draw: random.Random) -> Any:
    if not steps:
        return _leaf(how, draw)
    if steps[0].startswith("{"):
        return Members((name, _inside(steps[1:], how, draw)) for name in draw.sample(["s1", "s2", "é", "\n"], draw.randrange(3)))
    return _around(steps[0], _inside(steps[1:], how, draw), draw)


def _rooted(how: dict[str, Any], draw: random.Random) -> Any:
    steps = how["each"].split("/") if "each" in how else []
    roots = how["root"].split("/") if "root" in how else []
    value = _way(steps, how, draw) if not roots or draw.random() < 0.5 else [_way(steps, how, draw) for _ in range(draw.randrange(3))]
    for name in reversed(roots):
        value = _around(name, None if draw.random() < 0.05 else value, draw)
    return value


def _values(how: dict[str, Any], draw: random.Random) -> list[Any]:
    return [_rooted(how, draw) for _ in range(draw.choice([1, 1, 2, 3]))]


# ---- formats ----

def _json_text(value: Any, draw: random.Random) -> str:
    if isinstance(value, Members):
        return "{" + ",".join(f"{_json_text(name, draw)}:{_json_text(inner, draw)}" for name, inner in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_json_text(inner, draw) for inner in value) + "]"
    return json.dumps(value, ensure_ascii=draw.random() < 0.5)


def _packed(value: Any) -> bytes:
    packer = msgpack.Packer()
    if isinstance(value, Members):
        return packer.pack_map_header(len(value)) + b"".join(_packed(name) + _packed(inner) for name, inner in value)
    if isinstance(value, list):
        return packer.pack_array_header(len(value)) + b"".join(map(_packed, value))
    return packer.pack(value)


def _avro_inner(draw: random.Random) -> dict[str, Any]:
    return {"v": draw.choice([0.5, 2.0]), "w": draw.choice([None, "x"])}


def _some(draw: random.Random, make: Callable[[random.Random], Any], bad: list[Any]) -> list[Any]:
    return [draw.choice(bad) if draw.random() < 0.06 else make(draw) for _ in range(draw.randrange(4))]


def _avro_device(draw: random.Random) -> dict[str, Any]:
    readings = draw.choice([None, _avro_inner(draw)] + [_some(draw, _avro_inner, [None, 5])] * 8)
    return {"id": letters(draw, "abé", 0, 3), "readings": readings, "n": draw.randrange(9)}


def _avro_message(draw: random.Random) -> bytes:
    n = draw.randrange(3)
    value = {
        "g": "g", "last": 1,
        "devices": draw.choice([None, _avro_device(draw)] + [_some(draw, _avro_device, [None, 5])] * 8),
        "servers": {f"s{i}": draw.choice([None, "x"] + [_avro_inner(draw)] * 10 + [[_avro_inner(draw)]] * 3) for i in range(n)},
        "rows": _some(draw, lambda draw: [draw.randrange(9), draw.choice(["a", None, 3])][:draw.choice([2] * 20 + [0, 1])], [None, 5]),
        "lists": {"a": list(range(n)), "u": "C", "b": [draw.choice([None, 1.5, _avro_inner(draw)]) for _ in range(n + (draw.random() < .05))]}}
    out = io.BytesIO()
    fastavro.schemaless_writer(out, PARSED, value)
    return out.getvalue()


def _tree(value: Any) -> Any:
    """The same, in the model's own classes."""
    if isinstance(value, (json_peer.Members, msgpack_peer.Members)):
        return Members((msgpack_peer.name_of(name), _tree(inner)) for name, inner in value)
    if isinstance(value, dict):
        return Members((name, _tree(inner)) for name, inner in value.items())
    return [_tree(inner) for inner in value] if isinstance(value, list) else msgpack_peer._plain(value)


def _protobuf_tree(message: Any) -> Members:
    there = protobuf_peer._members(message)
    members = Members()
    for field in message.DESCRIPTOR.fields:
        if field.name not in there:
            if protobuf_peer._is_map(field):
                members.append((field.name, UnsetMembers()))
            elif field.is_repeated:
                members.append((field.name, Unset()))
            continue
        value = getattr(message, field.name)
        is_message = field.message_type is not None and field.message_type.full_name.startswith("plant.")
        if protobuf_peer._is_map(field) and field.message_type.fields_by_name["value"].message_type is not None:
            members.append((field.name, Members((protobuf_peer._key(key), _protobuf_tree(value[key])) for key in sorted(value, key=str))))
        elif protobuf_peer._is_map(field):
            members.append((field.name, Members(sorted(there[field.name].items(), key=lambda entry: entry[0].encode()))))
        elif field.is_repeated:
            members.append((field.name, [_protobuf_tree(one) if is_message else inner for one, inner in zip(value, there[field.name])]))
        else:
            members.append((field.name, _protobuf_tree(value) if is_message else _tree(there[field.name])))
    return members


def decode(config: str, message: bytes) -> list[Reading]:
    name, how = LAYOUTS[config]
    layout = Layout(how)
    if name == "json":
        values = json_peer.values(message)
        return layout.message([_tree(value) for value in values])
    if name == "msgpack":
        try:
            values = msgpack_peer._values(message)
        except Refused as refused:
            if "utf-8" in str(refused):  # what is left out need be none
                raise Unsure(str(refused)) from refused
            raise
        if not values:
            raise Refused("nothing")
        return layout.message([_tree(value) for value in values])
    if name == "avro":
        if message not in GOOD:
            raise Unsure("written in another way")
        value = fastavro.schemaless_reader(io.BytesIO(message), PARSED)
        return layout.message([_tree(value)])
    if message not in GOOD:
        raise Unsure("in another order")
    parsed = protobuf_peer.CLASSES["plant.Reading"]()
    parsed.ParseFromString(message)
    return layout.message([_protobuf_tree(parsed)])


def message(config: str, draw: random.Random) -> bytes:
    name, how = LAYOUTS[config]
    if name in ("avro", "protobuf"):
        made = _avro_message(draw) if name == "avro" else protobuf_peer.message("arrays as json", draw)
        GOOD.add(made)
        return made
    values = _values(how, draw)
    if draw.random() < 0.3:
        values = [values]
    return "\n".join(_json_text(value, draw) for value in values).encode() if name == "json" else b"".join(map(_packed, values))


WORDS = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"null", b"0", b"\xc0", b"\x90", b"\x80", b"\x91", b"\x81"]

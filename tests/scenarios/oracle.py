"""What tables and dead letters must hold after some messages: a plain program, written from what README.md, docs/guarantees.md,
docs/dead-letters.md, docs/configuration.md and the pages that it lists promise, and from nothing else.

It knows nothing of batches, lanes or retries: a message becomes rows, or it is bad; of two values of a cell the one of the
greater time stays, of equal times the one of the later offset of the partition.
"""
from __future__ import annotations

import datetime
import fnmatch
import hashlib
import json
import re
import struct
import zlib
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Iterator
from zoneinfo import ZoneInfo

DAY_MS = 86_400_000
UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": DAY_MS}
YEAR_2200_MS = 7_258_118_400_000
UTC = datetime.timezone.utc


class Bad(Exception):
    """A reading or a message that cannot be used; it names the reasons that a dead letter may give."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(*reasons)
        self.reasons = frozenset(reasons)


class Number(str):
    """A number of JSON, as it was written."""


class Pairs(list):  # type: ignore[type-arg]
    """An object of JSON: its members in their order."""


def duration_ms(text: str) -> int:
    match = re.fullmatch(r"(\d+)(ms|s|m|h|d)", text)
    assert match, text
    return int(match[1]) * UNITS_MS[match[2]]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# ---- messages to readings ----

def no_constant(text: str) -> Any:
    raise ValueError(text)


DECODER = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=Number, parse_float=Number, parse_constant=no_constant)


def json_text(value: Any) -> str:
    """A value as JSON, its numbers as they came."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, Pairs):
        return "{" + ",".join(f"{json.dumps(name, ensure_ascii=False)}:{json_text(one)}" for name, one in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(json_text(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def depth_of(value: Any) -> int:
    if isinstance(value, Pairs):
        return 1 + max((depth_of(one) for _, one in value), default=0)
    if isinstance(value, list):
        return 1 + max((depth_of(one) for one in value), default=0)
    return 0


def documents(text: str) -> list[Any]:
    """All JSON values of the text: one, or several one after the other."""
    values, at = [], 0
    while True:
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n"))
        if at == len(text):
            return values
        value, at = DECODER.raw_decode(text, at)
        values.append(value)


def readings_of(payload: bytes, options: dict[str, Any]) -> list[Pairs]:
    """The objects of a message. Raises Bad where it is bad as a whole."""
    if len(payload) > options.get("max_message_size", 1 << 20):
        raise Bad("too_large")
    try:
        text = payload.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise Bad("utf8", "parse") from None
    if not text.strip(" \t\r\n"):
        raise Bad("empty")
    try:
        values = documents(text)
    except ValueError:
        raise Bad("parse", "depth") from None
    if len(values) == 1 and isinstance(values[0], list) and not isinstance(values[0], Pairs):
        values = values[0]
    if not all(isinstance(value, Pairs) for value in values):
        raise Bad("parse", "type")
    if any(depth_of(value) > options.get("max_depth", 32) for value in values):
        raise Bad("depth", "type", "duplicate_field")
    return values


def fields_of(reading: Pairs, options: dict[str, Any]) -> dict[str, Any]:
    """A flat reading: names to texts, None for null, (text,) for what stays a list's JSON text. Raises Bad."""
    found: dict[str, Any] = {}

    def put(name: str, value: Any) -> None:
        if isinstance(value, Pairs):
            for inner, one in value:
                put(name + options.get("separator", "/") + inner, one)
            return
        if isinstance(value, list):
            mode = options.get("arrays", "json")
            if mode == "reject":
                raise Bad("type")
            if mode == "index":
                for index, one in enumerate(value):
                    put(f"{name}{options.get('separator', '/')}{index}", one)
                return
            value = Text(json_text(value), value)
        elif isinstance(value, bool):
            is_number = options.get("booleans", "text") == "number"
            value = Text(str(int(value)), Number(int(value))) if is_number else Text(str(value).lower(), value)
        elif value is not None:
            value = Text(str(value), value)
        if name in found:
            raise Bad("duplicate_field")
        found[name] = value

    for name, value in reading:
        put(name, value)
    if len(found) > options.get("max_fields", 1024):
        raise Bad("too_many_fields")
    return found


@dataclass
class Text:
    """A value: its text, and what it was in JSON."""
    text: str
    raw: Any


# ---- conditions ----

def matches(text: str, patterns: Any) -> bool:
    return any(fnmatch.fnmatchcase(text, pattern.replace("[", "[[]")) for pattern in as_list(patterns))


def holds(condition: dict[str, Any], fields: dict[str, Any]) -> bool:
    value = fields.get(condition["field"])
    text = value.text if value is not None else None
    checks = [
        "present" not in condition or condition["present"] == (text is not None),
        "equals" not in condition or (text is not None and text in as_list(condition["equals"])),
        "not_equals" not in condition or text is None or text not in as_list(condition["not_equals"]),
        "matches" not in condition or (text is not None and matches(text, condition["matches"])),
        "not_matches" not in condition or text is None or not matches(text, condition["not_matches"]),
    ]
    return all(checks)


# ---- times ----

PATTERN_PARTS = [("yyyy", "%Y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S")]


def utc_ms(moment: datetime.datetime) -> int:
    return (moment - datetime.datetime(1970, 1, 1, tzinfo=UTC)) // datetime.timedelta(milliseconds=1)


def zone_of(name: str) -> datetime.tzinfo:
    match = re.fullmatch(r"([+-])(\d\d):(\d\d)", name)
    if match:
        offset = datetime.timedelta(hours=int(match[2]), minutes=int(match[3]))
        return datetime.timezone(offset if match[1] == "+" else -offset)
    return UTC if name == "UTC" else ZoneInfo(name)


def clock(time_ms: int, zone: str) -> datetime.datetime:
    moment = datetime.datetime(1970, 1, 1, tzinfo=UTC) + datetime.timedelta(milliseconds=time_ms)
    return moment.astimezone(zone_of(zone))


def instants(wall: datetime.datetime, zone: str) -> list[int]:
    """All instants at which clocks of the zone show this: none, one or two."""
    found = {utc_ms(wall.replace(tzinfo=zone_of(zone), fold=fold)) for fold in (0, 1)}
    return sorted(ms for ms in found if clock(ms, zone).replace(tzinfo=None) == wall)


def parse_pattern(text: str, spec: dict[str, Any], record_ms: int) -> int:
    form = spec["pattern"]
    for letters, code in PATTERN_PARTS:
        form = form.replace(letters, code)
    try:
        wall = datetime.datetime.strptime(text, form)
    except ValueError:
        raise Bad("time_invalid") from None
    if wall.strftime(form) != text:
        raise Bad("time_invalid")
    found = instants(wall, spec["zone"])
    if not found:
        raise Bad("time_invalid", "time_implausible", "time_ambiguous", "time_skipped")
    if len(found) == 1:
        return found[0]
    # The hour that clocks show twice: the pass that the record fits to, if it does to one alone: the reading came to it within what
    # lies between the two, or the sender's clock was ahead.
    apart_s = (found[1] - found[0]) // 1000
    ahead_s = min(duration_ms(spec.get("max_future", "10m")) // 1000, apart_s // 2)
    told = [ms for ms in found if -ahead_s <= record_ms // 1000 - ms // 1000 < apart_s]
    if len(told) != 1:
        raise Bad("time_ambiguous")
    return told[0]


def parse_time(value: Any, spec: dict[str, Any], record_ms: int) -> int:
    """The event time as the specification reads it, without looking at bounds. Raises Bad."""
    if spec["format"] == "record":
        return record_ms
    if value is None:
        raise Bad("missing_field")
    if spec["format"] in ("epoch_ms", "epoch_s"):
        if not isinstance(value.raw, Number) or not re.fullmatch(r"-?\d+", value.raw):
            raise Bad("time_invalid", "time_implausible", "type")
        return int(value.raw) * (1 if spec["format"] == "epoch_ms" else 1000)
    if isinstance(value.raw, (Number, bool, list)):
        raise Bad("time_invalid", "type")
    if spec["format"] == "rfc3339":
        if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", value.text):
            raise Bad("time_invalid")
        try:
            return utc_ms(datetime.datetime.fromisoformat(value.text.replace("Z", "+00:00")))
        except ValueError:
            raise Bad("time_invalid") from None
    return parse_pattern(value.text, spec, record_ms)


@dataclass
class EventTime:
    ms: int
    is_future: bool  # beyond max_future; then only kept out of latest tables


def event_time(fields: dict[str, Any], spec: dict[str, Any], record_ms: int) -> EventTime:
    ms = parse_time(fields.get(spec.get("field", "")), spec, record_ms)
    earliest = utc_ms(datetime.datetime.fromisoformat(spec.get("earliest", "2000-01-01")).replace(tzinfo=UTC))
    if ms < earliest or ms >= YEAR_2200_MS:
        raise Bad("time_implausible")
    if ms <= record_ms + duration_ms(spec.get("max_future", "10m")):
        return EventTime(ms, False)
    if spec.get("on_future", "reject") == "reject" or ms > record_ms + 3650 * DAY_MS:
        raise Bad("time_future")
    return EventTime(ms, True)


def slot_start(time_ms: int, slot: str, zone: str) -> int:
    """The beginning of the slot by the zone's clocks."""
    wall = clock(time_ms, zone).replace(tzinfo=None)
    midnight = wall.replace(hour=0, minute=0, second=0, microsecond=0)
    if slot == "day":
        wall = midnight
    elif slot == "week":
        wall = midnight - datetime.timedelta(days=wall.weekday())
    elif slot == "month":
        wall = midnight.replace(day=1)
    elif slot == "year":
        wall = midnight.replace(month=1, day=1)
    else:
        width = datetime.timedelta(milliseconds=3_600_000 if slot == "hour" else duration_ms(slot))
        wall = midnight + (wall - midnight) // width * width
    return utc_ms(wall.replace(tzinfo=zone_of(zone)))


def time_part(part: dict[str, Any], time_ms: int) -> bytes:
    zone = part.get("zone", "UTC")
    if "cut" in part:
        time_ms = slot_start(time_ms, part["cut"], zone)
    form = part["time"]
    if form.startswith("epoch_"):
        divisor, width = {"epoch_s": (1000, 10), "epoch_ms": (1, 13)}[form]
        number = time_ms // divisor
        if part.get("reversed"):
            number, width = (1 << 63) - 1 - number, 19
        return struct.pack(">q", number) if part.get("binary") else b"%0*d" % (width, number)
    wall = clock(time_ms, zone)
    values = {"yyyy": f"{wall.year:04}", "MM": f"{wall.month:02}", "dd": f"{wall.day:02}", "HH": f"{wall.hour:02}",
              "mm": f"{wall.minute:02}", "ss": f"{wall.second:02}", "d": str(wall.day), "M": str(wall.month),
              "H": str(wall.hour)}
    return re.sub("yyyy|MM|dd|HH|mm|ss|d|M|H", lambda match: values[match[0]], form).encode()


# ---- keys ----

def key_case(text: str, case: str) -> str:
    change = {"as_is": lambda c: c, "lower": str.lower, "upper": str.upper}[case]
    return "".join(change(c) if c.isascii() else c for c in text)


def pad_value(raw: bytes, part: dict[str, Any]) -> bytes:
    if len(raw) > part["width"]:
        if part.get("long") != "cut":
            raise Bad("bad_key")
        raw = raw[:part["width"]]
    pad = part.get("pad", " ").encode()
    right = part.get("align", "right" if pad == b"0" else "left") == "right"
    return raw.rjust(part["width"], pad) if right else raw.ljust(part["width"], pad)


def integer_value(text: str, part: dict[str, Any]) -> bytes:
    bits, signed = int(part["as"].lstrip("uint")), part["as"].startswith("int")
    if not re.fullmatch(r"-?\d+", text):
        raise Bad("bad_key", "number")
    number = int(text) + ((1 << bits - 1) if signed else 0)
    if not 0 <= number < 1 << bits:
        raise Bad("bad_key", "number")
    if "range" in part and not part["range"][0] <= int(text) <= part["range"][1]:
        raise Bad("bad_key", "number")
    return number.to_bytes(bits // 8, "big")


def default_text(default: Any, fields: dict[str, Any]) -> str:
    for one in as_list(default):
        if isinstance(one, str):
            return one
        if all(holds(condition, fields) for condition in as_list(one["when"])):
            return one["value"]
    raise Bad("missing_field")


def field_part(part: dict[str, Any], fields: dict[str, Any], following: Any) -> bytes:
    value = fields.get(part["field"])
    if value is None:
        if "default" not in part:
            raise Bad("missing_field", "bad_key")
        text = default_text(part["default"], fields)
    elif isinstance(value.raw, list):
        raise Bad("bad_key", "type")
    else:
        text = value.text
    if part.get("strip_spaces"):
        text = text.replace(" ", "")
    text = key_case(text, part.get("case", "as_is"))
    if not text or "\0" in text:
        raise Bad("missing_field", "bad_key")
    if part.get("as", "text") != "text":
        return integer_value(text, part)
    raw = text.encode()
    if "width" in part:
        if not text.strip(" "):
            raise Bad("bad_key", "missing_field")
        raw = pad_value(raw, part)
    elif isinstance(following, str) and following.encode() in raw:
        raise Bad("bad_key")
    return raw[::-1] if part.get("reversed") else raw


def hashed(part: dict[str, Any], fields: dict[str, Any]) -> bytes:
    raw = b"\0".join(field_part(one if isinstance(one, dict) else {"field": one}, fields, None) for one in as_list(part["of"]))
    if part["hash"] == "crc32":
        digest = struct.pack(">I", zlib.crc32(raw))
    else:
        digest = hashlib.new(part["hash"], raw).digest()
    return digest[:part.get("bytes", len(digest))]


def salted(part: dict[str, Any], fields: dict[str, Any]) -> bytes:
    first = part.get("first", 0)
    width = len(str(first + part["salt"] - 1))
    if part.get("by") != "number":
        return b"%0*d" % (width, first + int.from_bytes(hashed(part, fields)[:8], "big") % part["salt"])
    text = field_part({"field": part["of"][0]}, fields, None).decode()
    if not re.fullmatch(r"\d+", text):
        raise Bad("bad_key", "number")
    return b"%0*d" % (width, first + int(text) % part["salt"])


def make_parts(parts: Any, fields: dict[str, Any], time_ms: int, name: str = "") -> bytes:
    listed, made = as_list(parts), b""
    for part, following in zip(listed, [*listed[1:], None]):
        if isinstance(part, str):
            made += part.encode()
        elif "hex" in part:
            made += bytes.fromhex(part["hex"])
        elif "name" in part:
            made += name.encode()
        elif "time" in part:
            made += time_part(part, time_ms)
        elif "salt" in part:
            made += salted(part, fields)
        elif "hash" in part:
            made += hashed(part, fields) if part.get("as") == "raw" else hashed(part, fields).hex().encode()
        else:
            made += field_part(part, fields, following)
    return made


def fields_in(parts: Any) -> Iterator[str]:
    """The fields that stand in a key; what is only hashed does not."""
    for part in as_list(parts):
        if isinstance(part, dict):
            if "field" in part:
                yield part["field"]


# ---- cells ----

def float_holds(text: str) -> bool:
    """Whether no other number of as many digits as text has is nearer to its float, or one that is makes another float."""
    digits = len(Decimal(text).normalize().as_tuple().digits)
    nearest = f"{float(text):.{digits - 1}e}"
    return Decimal(nearest) == Decimal(text) or float(nearest) != float(text)


def encoded(value: Text, how: str) -> bytes:
    if how == "json":
        return json_text(value.raw).encode()
    if how == "int64":
        if not isinstance(value.raw, Number):
            raise Bad("number", "type")
        whole = Fraction(Decimal(value.raw))
        if whole.denominator != 1 or not -(1 << 63) <= whole < 1 << 63:
            raise Bad("number")
        return struct.pack(">q", int(whole))
    if how == "float64":
        if not isinstance(value.raw, Number):
            raise Bad("number", "type")
        if not float_holds(value.raw):
            raise Bad("number")
        return struct.pack(">d", float(value.raw))
    return value.text.encode()


def named_fields(entry: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for one in as_list(entry["from"]):
        if isinstance(one, str) and "*" not in one and "?" not in one:
            yield one, {}
        elif isinstance(one, dict) and "field" in one:
            yield one["field"], one


def patterns_of(entry: dict[str, Any]) -> list[str]:
    return [one for one in as_list(entry["from"]) if isinstance(one, str) and one != "*" and re.search(r"[*?]", one)]


def taken_by(entry: dict[str, Any], entries: list[dict[str, Any]], used: set[str],
             fields: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The fields of the reading that an entry takes, each with its own options."""
    named = {name for one in entries for name, _ in named_fields(one)}
    by_pattern = [pattern for one in entries if one is not entry for pattern in patterns_of(one)]
    own = dict(named_fields(entry))
    for name in fields:
        if name.startswith("$"):
            continue
        if name in own:
            yield name, own[name]
        elif name not in named and (name not in used or entry.get("key_fields")):
            if matches(name, patterns_of(entry)) or ("*" in as_list(entry["from"]) and not matches(name, by_pattern)):
                yield name, {}


def qualifier_of(entry: dict[str, Any], name: str, own: dict[str, Any], fields: dict[str, Any], time_ms: int) -> bytes:
    if "as" in own:
        return own["as"].encode()
    name = name.replace(" ", "") if entry.get("strip_spaces") else name
    name = entry.get("prefix", "") + key_case(name, entry.get("case", "as_is"))
    return make_parts(entry["qualifier"], fields, time_ms, name) if "qualifier" in entry else name.encode()


Cells = dict[tuple[str, bytes], Any]  # (family, qualifier) -> bytes, or a dict where all fields are in one cell


def cells_of(table: dict[str, Any], fields: dict[str, Any], time_ms: int, used: set[str]) -> Cells:
    entries, cells = as_list(table["columns"]), Cells()
    for entry in entries:
        packed = entry.get("pack", "json" if table.get("latest") == "packed" else "none") != "none"
        inside: dict[str, str] = {}
        for name, own in taken_by(entry, entries, used, fields):
            value = fields[name]
            if value is None:
                if entry.get("nulls", "skip") == "reject":
                    raise Bad("missing_field", "bad_column", "type", "number")
                if entry.get("nulls", "skip") == "skip":
                    continue
            if packed:
                inside[own.get("as", name)] = json_text(value.raw)
                continue
            qualifier = qualifier_of(entry, name, own, fields, time_ms)
            cells[entry["family"], qualifier] = \
                encoded(value, own.get("encode", entry.get("encode", "text"))) if value is not None else b""
        for one in as_list(entry["from"]):
            if isinstance(one, dict) and "value" in one:
                cells[entry["family"], one["as"].encode()] = make_parts(one["value"], fields, time_ms)
        if packed and inside:
            cells[entry["family"], make_parts(entry.get("qualifier", "r"), fields, time_ms)] = inside
    if not cells:
        raise Bad("no_cells")
    return cells


def cell_size(value: Any) -> int:
    if isinstance(value, bytes):
        return len(value)
    return len(json.dumps(value))  # near enough: values are long by far, or short by far


def cell_equals(value: Any, stored: bytes) -> bool:
    if isinstance(value, bytes):
        return value == stored
    try:
        return {name: json_text(one) for name, one in DECODER.decode(stored.decode())} == value
    except (ValueError, UnicodeDecodeError):
        return False


# ---- rows ----

@dataclass(eq=False)
class Row:
    """What one reading, or a tombstone, writes to one row."""
    table: str      # as it is called in HBase
    declared: str   # as it is called in the configuration
    key: bytes
    time_ms: int    # of its cells, and of the delete
    cells: Cells
    source: tuple[str, int, int]  # topic, partition, offset
    reading: int
    is_delete: bool = False
    is_long: bool = False  # it has a cell that HBase refuses
    state: str = "certain"  # or optional, or never


@dataclass
class Outcome:
    """What a message becomes."""
    rows: list[Row] = field(default_factory=list)
    bad: dict[int | None, frozenset[str]] = field(default_factory=dict)  # reading (None: all) -> reasons
    n_readings: int = 0
    ends: set[str] = field(default_factory=set)  # the counters, one of which it ends in
    dead_letters: str = "none"  # of those for refused rows: none, maybe, sure


def table_name(declared: str, table: dict[str, Any], time_ms: int) -> str:
    zone = table.get("name_zone", "UTC")
    return re.sub(r"\{(.*?)\}", lambda match: time_part({"time": match[1], "zone": zone}, time_ms).decode(), declared)


def beats(one: Row, other: Row, or_may: bool = False) -> bool:
    """The value of one stays, not that of the other. Between partitions, or inside of one message, equal times decide
    nothing; @or_may: then both may."""
    if one.time_ms != other.time_ms:
        return one.time_ms > other.time_ms
    if one.source[:2] != other.source[:2] or one.source == other.source:
        return or_may
    return one.source[2] > other.source[2]


@dataclass
class Message:
    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: list[tuple[str, bytes]]

    @property
    def source(self) -> tuple[str, int, int]:
        return self.topic, self.partition, self.offset

    def own_fields(self) -> dict[str, Any]:
        texts = {"$topic": self.topic, "$partition": str(self.partition), "$offset": str(self.offset),
                 "$timestamp": str(self.timestamp_ms)}
        if self.key is not None:
            texts["$key"] = self.key.decode("utf-8", "replace")
        texts.update({f"$header.{name}": value.decode("utf-8", "replace") for name, value in self.headers})
        return {name: Text(text, text) for name, text in texts.items()}


class Oracle:
    """Judges by a configuration what messages become."""

    def __init__(self, config: dict[str, Any], max_cell_bytes: int, now_ms: int) -> None:
        self.tables: dict[str, Any] = config["tables"]
        self.readings: dict[str, Any] = config.get("readings", {})
        self.max_cell_bytes = max_cell_bytes
        self.now_ms = now_ms

    def time_spec(self, table: dict[str, Any]) -> dict[str, Any]:
        def whole(spec: Any) -> dict[str, Any]:
            return {"format": spec} if isinstance(spec, str) else spec or {}
        default = whole(self.readings.get("time"))
        bounds = {name: default[name] for name in ("earliest", "max_future", "on_future") if name in default}
        return {**bounds, **whole(table["time"])} if "time" in table else default

    def conditions(self, table: dict[str, Any]) -> list[dict[str, Any]]:
        """Its own, and of an index those of the table whose rows it tells."""
        data = self.tables.get(table.get("index_of", ""), {})
        return [*as_list(table.get("when", [])), *as_list(data.get("when", []))]

    def row_of(self, declared: str, message: Message, fields: dict[str, Any], reading: int) -> Row | str:
        """The row, or why there is none: unmatched, expired, future. Raises Bad."""
        table = self.tables[declared]
        if not all(holds(condition, fields) for condition in self.conditions(table)):
            return "unmatched"
        spec = self.time_spec(table)
        time = event_time(fields, spec, message.timestamp_ms)
        if time.is_future and table.get("latest", "none") != "none":
            return "future"
        used = {*fields_in(table["key"]), spec.get("field", "")}
        key = make_parts(table["key"], fields, time.ms)
        cells = cells_of(table, fields, time.ms, used)
        cell_time = table.get("cell_time", "event")
        cell_ms = {"event": time.ms, "record": message.timestamp_ms}[cell_time]
        if "ttl" in table and cell_ms + duration_ms(table["ttl"]) < self.now_ms:
            return "expired"
        name = table_name(declared, table, time.ms)
        is_long = any(cell_size(value) > self.max_cell_bytes for value in cells.values())
        return Row(name, declared, key, cell_ms, cells, message.source, reading, is_long=is_long)

    def rows_of_reading(self, message: Message, reading: Pairs, index: int) -> list[Row] | set[str]:
        """Its rows, or why there are none. Raises Bad."""
        fields = {**fields_of(reading, self.readings), **message.own_fields()}
        found, bad = [], frozenset[str]()
        for declared in self.tables:
            try:
                found.append(self.row_of(declared, message, fields, index))
            except Bad as problem:
                bad |= problem.reasons
        if bad:
            raise Bad(*bad)
        rows = [row for row in found if isinstance(row, Row)]
        if not rows and "future" in found:
            raise Bad("time_future")
        return rows or {str(why) for why in found} - {"unmatched"} or {"unmatched"}

    def tombstone(self, message: Message) -> Outcome:
        """It deletes where all holds that can be known without a value: of the record, of the row key, of a JSON key."""
        rows = []
        for declared, table in self.tables.items():
            if table.get("tombstone") != "delete":
                continue
            named = list(fields_in(table["key"]))
            text = (message.key or b"").decode()
            fields = fields_of(DECODER.decode(text), self.readings) if text.startswith("{") else {named[0]: Text(text, text)}
            known = {**fields, **message.own_fields()}
            judged = [one for one in self.conditions(table) if one["field"].startswith("$") or one["field"] in {*named, *known}]
            if not all(holds(one, known) for one in judged):
                continue
            key = make_parts(table["key"], fields, message.timestamp_ms)
            rows.append(Row(declared, declared, key, message.timestamp_ms, Cells(), message.source, 0, is_delete=True))
        return Outcome(rows, ends={"written"} if rows else {"skipped"})

    def outcome(self, message: Message) -> Outcome:
        try:
            if message.value is None:
                return self.tombstone(message)
            readings = readings_of(message.value, self.readings)
        except Bad as problem:
            return self.whole_bad(problem.reasons)
        outcome, whys = Outcome(n_readings=len(readings)), set[str]()
        for index, reading in enumerate(readings):
            try:
                made = self.rows_of_reading(message, reading, index)
            except Bad as problem:
                outcome.bad[index] = problem.reasons
                continue
            if isinstance(made, list):
                outcome.rows += made
            else:
                whys |= made
        policy = self.readings.get("on_bad_message", "dead_letter")
        takes_all = self.readings.get("on_bad_reading", "message") == "message" or len(readings) == 1 or policy == "stop"
        if outcome.bad and takes_all:
            return self.whole_bad(frozenset().union(*outcome.bad.values()))
        if outcome.bad and policy == "dead_letter":
            outcome.ends = {"dead_lettered"}
        else:
            outcome.ends = {"written"} if outcome.rows else whys or {"skipped"}
        return outcome

    def whole_bad(self, reasons: frozenset[str]) -> Outcome:
        policy = self.readings.get("on_bad_message", "dead_letter")
        ends = {"dead_letter": "dead_lettered", "skip": "skipped", "stop": "stopped"}[policy]
        return Outcome(bad={None: reasons}, ends={ends})

    def outcomes(self, messages: list[Message]) -> dict[tuple[str, int, int], Outcome]:
        found = {message.source: self.outcome(message) for message in messages}
        if self.readings.get("on_bad_message") == "stop":
            self.cut_at_stops(found)
        self.refuse(found)
        return found

    @staticmethod
    def cut_at_stops(found: dict[tuple[str, int, int], Outcome]) -> None:
        """A message that stops its partition and all behind it are not read."""
        stops: dict[tuple[str, int], int] = {}
        for (topic, partition, offset), outcome in found.items():
            if "stopped" in outcome.ends:
                stops[topic, partition] = min(offset, stops.get((topic, partition), offset))
        for source in [source for source in found if source[2] >= stops.get(source[:2], source[2] + 1)]:
            del found[source]

    def refuse(self, found: dict[tuple[str, int, int], Outcome]) -> None:
        """HBase refuses rows with too long a cell: no cell of them is written, and the message becomes a dead letter. Where a
        later value took the long one's place before it was sent, there was nothing to refuse."""
        by_row: dict[tuple[str, bytes], list[Row]] = {}
        for outcome in found.values():
            for row in outcome.rows:
                by_row.setdefault((row.table, row.key), []).append(row)
        for outcome in found.values():
            for row in outcome.rows:
                if row.is_long:
                    replaced = self.may_be_replaced(row, by_row[row.table, row.key])
                    row.state = "optional" if replaced else "never"
                    outcome.dead_letters = "sure" if not replaced or outcome.dead_letters == "sure" else "maybe"
            if outcome.dead_letters != "none":
                outcome.ends = {"dead_lettered"} | (outcome.ends if outcome.dead_letters == "maybe" else set())
                self.refuse_dependents(outcome)

    def may_be_replaced(self, row: Row, others: list[Row]) -> bool:
        """Each of the row's long cells may have been replaced before it was sent by one that is short, or deleted."""
        whole = self.tables[row.declared].get("latest") == "replace"
        newer = [other for other in others if other is not row and beats(other, row, True)]
        if whole or any(other.is_delete for other in newer):
            return bool(newer)
        return all(any(column in other.cells and cell_size(other.cells[column]) <= self.max_cell_bytes for other in newer)
                   for column, value in row.cells.items() if cell_size(value) > self.max_cell_bytes)

    def refuse_dependents(self, outcome: Outcome) -> None:
        """An index never names a row that is not there."""
        for row in outcome.rows:
            target = self.tables[row.declared].get("index_of")
            for data in outcome.rows:
                if data.declared == target and data.reading == row.reading and data.state != "certain":
                    row.state = data.state

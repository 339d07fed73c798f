#!/usr/bin/env python3
"""Holds payloads that ordinary senders have, and with them the rows that they become, or the sentence that rejects them.

    test_payloads.py BUILD [--others]

payloads.json has a case a line: the message, what is set of `readings`, and the rows, by their keys. A case is for every
structured format that can hold its message, unless `only` names some. Without --others, only messages in JSON, and those that are
given byte by byte, are read: the others need what requirements.txt names.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

sys.path.append(str(Path(__file__).resolve().parents[1] / "stack"))
import python_packages  # noqa: E402

Case = dict[str, Any]

CASES = Path(__file__).with_name("payloads.json")
RECORD_TIME = "2026-11-28T13:09:43Z"
AVRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class CannotHold(Exception):
    """The format has no such message."""


# ---- writing messages ----

def merged(one: Any, other: Any) -> Any:
    """A value with the members of both, of which a schema is made."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {name: merged(one.get(name), other.get(name)) for name in {**one, **other}}
    if isinstance(one, list) and isinstance(other, list):
        return one + other
    return other if one is None else one


def as_avro(message: Any) -> tuple[bytes, str]:
    """With records where all names may be those of fields, else with maps; the schema beside it."""
    import io
    import fastavro
    n_records = 0

    def kind_of(values: list[Any]) -> Any:
        nonlocal n_records
        kinds: list[Any] = []
        if any(value is None for value in values):
            kinds.append("null")
        for python, kind in ((bool, "boolean"), (int, "long"), (float, "double"), (str, "string")):
            if any(type(value) is python for value in values):
                kinds.append(kind)
        lists = [value for value in values if isinstance(value, list)]
        if lists:
            kinds.append({"type": "array", "items": kind_of([item for value in lists for item in value]) or "null"})
        objects = [value for value in values if isinstance(value, dict)]
        if objects:
            names = list(dict.fromkeys(name for value in objects for name in value))
            if all(AVRO_NAME.fullmatch(name) for name in names):
                n_records += 1
                kinds.append({"type": "record", "name": f"R{n_records}", "fields": [
                    {"name": name, "type": kind_of([value.get(name) for value in objects])} for name in names]})
            else:
                kinds.append({"type": "map", "values": kind_of([value for its in objects for value in its.values()])})
        return kinds[0] if len(kinds) == 1 else kinds

    for item in message if isinstance(message, list) else [message]:
        if not isinstance(item, dict) or not all(map(AVRO_NAME.fullmatch, item)):
            raise CannotHold  # a message is a record, or an array of them
    schema = kind_of([message])
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), message)
    return out.getvalue(), json.dumps(schema)


def as_protobuf(message: Any) -> tuple[bytes, bytes]:
    """With maps where a name may not be that of a field; what is null is not there. The descriptor set beside it."""
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
    file = descriptor_pb2.FileDescriptorProto(name="payload.proto", package="payload", syntax="proto3")
    scalars = ((bool, "TYPE_BOOL"), (int, "TYPE_INT64"), (float, "TYPE_DOUBLE"), (str, "TYPE_STRING"))

    def describe(field: Any, values: list[Any]) -> None:
        values = [value for value in values if value is not None]
        if not values or any(isinstance(value, list) for value in values):
            raise CannotHold
        if all(isinstance(value, dict) for value in values):
            field.type, field.type_name = field.TYPE_MESSAGE, f".payload.{message_type(values)}"
            return
        for python, kind in scalars:
            if all(type(value) is python for value in values):
                field.type = getattr(field, kind)
                return
        raise CannotHold

    def message_type(objects: list[Any]) -> str:
        made = file.message_type.add(name=f"M{len(file.message_type)}")
        for name in dict.fromkeys(name for value in objects for name in value):
            values = [value.get(name) for value in objects]
            if not AVRO_NAME.fullmatch(name):
                raise CannotHold
            if all(value is None for value in values):
                continue
            field = made.field.add(name=name, number=len(made.field) + 1, label=1, json_name=name)
            items = [value for value in values if value is not None]
            if all(isinstance(value, list) for value in items):
                field.label = field.LABEL_REPEATED
                describe(field, [item for value in items for item in (value or [])])
                if any(item is None for value in items for item in value):
                    raise CannotHold
            elif all(isinstance(value, dict) for value in items) and any(
                    not AVRO_NAME.fullmatch(inner) or made.name == "M0" and len(value) > 1 and looks_like_map(value)
                    for value in items for inner in value):
                entry = made.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
                entry.options.map_entry = True
                key = entry.field.add(name="key", number=1, label=1)
                key.type = key.TYPE_STRING
                describe(entry.field.add(name="value", number=2, label=1), [value for its in items for value in its.values()])
                field.label, field.type = field.LABEL_REPEATED, field.TYPE_MESSAGE
                field.type_name = f".payload.{made.name}.{entry.name}"
            else:
                describe(field, values)
                if field.type != field.TYPE_MESSAGE:
                    field.proto3_optional, field.oneof_index = True, len(made.oneof_decl)
                    made.oneof_decl.add(name=f"_{name}")
        return made.name

    def looks_like_map(value: dict[str, Any]) -> bool:
        return all(isinstance(inner, dict) for inner in value.values())

    def without_nulls(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without_nulls(inner) for name, inner in value.items() if inner is not None}
        return [without_nulls(item) for item in value] if isinstance(value, list) else value

    if not isinstance(message, dict):
        raise CannotHold
    message_type([message])
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName("payload.M0"))
    made = json_format.ParseDict(without_nulls(message), kind())
    return made.SerializeToString(), descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


def as_msgpack(message: Any) -> tuple[bytes, None]:
    import msgpack
    return msgpack.packb(message), None


def as_json(message: Any) -> tuple[bytes, None]:
    return json.dumps(message).encode(), None


WRITERS: dict[str, Callable[[Any], tuple[bytes, Any]]] = {
    "json": as_json, "msgpack": as_msgpack, "avro": as_avro, "protobuf": as_protobuf}


def messages(case: Case, with_others: bool) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """By format: its bytes, and what is set beside the format, with a file's content where its name is to be."""
    if "text" in case:
        text = case["text"]
        yield case["only"][0], bytes.fromhex(text[4:]) if text.startswith("hex:") else text.encode(), {}
        return
    for name in WRITERS if with_others else ("json",):
        if name not in case.get("only", WRITERS):
            continue
        try:
            message, schema = WRITERS[name](case["message"])
        except CannotHold:
            continue
        yield name, message, {} if schema is None else {"schema": schema} | (
            {"message": "payload.M0"} if name == "protobuf" else {})


# ---- what becomes of them ----

def answers(program: str, case: Case, message: bytes, readings: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The rows, and the sentences of what was rejected, each with its remedy."""
    with tempfile.TemporaryDirectory() as directory:
        schema = readings.get("schema")
        if schema is not None:
            path = Path(directory, "schema")
            path.write_bytes(schema if isinstance(schema, bytes) else schema.encode())
            readings = readings | {"schema": str(path)}
        topic = case.get("topic", "t")
        config = {"kafka": {"brokers": "127.0.0.1:9092", "group": "payloads", "topics": [topic]},
                  "hbase": {"gateways": ["127.0.0.1:9090"]}, "dead_letters": {"file": "letters.jsonl"}, "readings": readings,
                  "tables": {"T": {"key": case.get("key", [{"time": "epoch_ms"}]),
                                   "columns": case.get("columns", {"family": "M", "from": "*"})}}}
        if not any("time" in part for part in config["tables"]["T"]["key"]):  # type: ignore[index]
            config["tables"]["T"]["latest"] = "merge"  # type: ignore[index]
        config_path = Path(directory, "payload.yaml")
        config_path.write_text(json.dumps(config), encoding="utf-8")
        done = subprocess.run([program, "explain", "--offline", "-f", "json", "--whole", "-c", str(config_path), "--topic", topic,
                               "--timestamp", RECORD_TIME, "--key", case.get("record_key", "")], input=message,
                              capture_output=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode not in (0, 65):
        return {}, [done.stderr.decode()]
    rows = {line["row"]: {cell["qualifier"]: shown(cell) for cell in line["cells"]} for line in lines if "row" in line}
    return rows, [f"{line['text']}; {line['remedy']}" for line in lines if "rejected" in line]


def shown(cell: dict[str, Any]) -> str:
    """Its value, with bytes that are no printable ASCII as \\xHH."""
    value = bytes.fromhex(cell["value_hex"]) if "value_hex" in cell else cell["value"].encode()
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}" for byte in value)


def fault(case: Case, rows: dict[str, Any], sentences: list[str]) -> Optional[str]:
    if rows != case.get("rows", {}):
        return f"rows {json.dumps(rows)}, and {sentences}"
    wanted = case.get("sentence", [])
    if len(sentences) != len(wanted) or not all(part in sentence for part, sentence in zip(wanted, sentences)):
        return f"sentences {sentences}"
    return None


def main() -> int:
    program, with_others = str(Path(sys.argv[1], "daemon/tidemark")), "--others" in sys.argv
    if with_others:
        python = python_packages.environment("formats", CASES.with_name("requirements.txt"))
        if Path(sys.prefix) != python.parent.parent:
            os.execv(python, [str(python), __file__, *sys.argv[1:]])
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    number = n_failed = 0
    for case in cases:
        for name, message, options in messages(case, with_others):
            number += 1
            found = fault(case, *answers(program, case, message, {"format": name} | case["readings"] | options))
            n_failed += found is not None
            text = case.get("text") or json.dumps(case["message"], ensure_ascii=False)
            print(f"{'not ok' if found else 'ok'} {number} - {case['id']} {name}: {text!r}" + (f": {found}" if found else ""))
    print(f"1..{number}")
    return 1 if n_failed or number < len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())

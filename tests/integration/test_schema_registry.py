"""Avro, protobuf and JSON by Confluent's serializers and a real schema registry, which fails at the start and in between."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Optional, Sequence

import python_packages
from case import Case, Reading
from daemon import Daemon, metric_tables, wait_until
from kafka_records import Record
from schema_registry import RegistryDoor, SchemaRegistry

SERIALIZER = Path(python_packages.__file__).with_name("confluent_messages.py")
REQUIREMENTS = SERIALIZER.with_name("confluent_requirements.txt")

START_MS = 1_426_535_612_045
HOSTS = 20
PARTITIONS = 2

# More than an int holds.
WIDE = 1 << 40

# No registry gives that away here.
UNKNOWN_ID = 987_654


def avro(*fields: tuple[str, Any]) -> dict[str, Any]:
    at = {"type": "long", "logicalType": "timestamp-millis"}
    return {"type": "record", "name": "Reading", "namespace": "plant",
            "fields": [{"name": name, "type": kind} for name, kind in (("host", "string"), ("at", at), *fields)]}


def protobuf(*fields: tuple[str, int, str]) -> list[dict[str, Any]]:
    """Two files, one of which imports the other; the fields are optional, so that only what was sent is there."""
    def field(name: str, number: int, kind: str, oneof: Optional[int] = None) -> dict[str, Any]:
        made = {"name": name, "number": number, "label": "LABEL_OPTIONAL"}
        made |= {"type": "TYPE_MESSAGE", "typeName": kind} if kind.startswith(".") else {"type": kind}
        return made | ({} if oneof is None else {"proto3Optional": True, "oneofIndex": oneof})

    def file(name: str, imports: Sequence[str], message: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "package": "plant", "syntax": "proto3", "dependency": list(imports), "messageType": [message]}

    site = {"name": "Site", "field": [field("city", 1, "TYPE_STRING")]}
    reading = {"name": "Reading", "oneofDecl": [{"name": f"_{name}"} for name, _, _ in fields], "field": [
        field("host", 1, "TYPE_STRING"), field("at", 2, ".google.protobuf.Timestamp"), field("site", 3, ".plant.Site"),
        *(field(*its, oneof=place) for place, its in enumerate(fields))]}
    return [file("plant/site.proto", [], site),
            file("plant/reading.proto", ["google/protobuf/timestamp.proto", "plant/site.proto"], reading)]


# By version: a field is added; one is removed, and one widened from 32 bits to 64.
AVRO = (avro(("v", "int"), ("note", "string")),
        avro(("v", "int"), ("note", "string"), ("w", ["null", "double"])),
        avro(("v", "long"), ("w", ["null", "double"])))
# Types of their own subjects: a reading has a place, and a place is in a zone.
ZONE = {"type": "enum", "name": "Zone", "namespace": "plant", "symbols": ["NORTH", "SOUTH"]}
PLACE = {"type": "record", "name": "Place", "namespace": "plant",
         "fields": [{"name": "city", "type": "string"}, {"name": "zone", "type": "plant.Zone"}]}
PLACED = avro(("v", "int"), ("place", "plant.Place"))

PROTOBUF = (protobuf(("v", 4, "TYPE_INT32"), ("note", 5, "TYPE_STRING")),
            protobuf(("v", 4, "TYPE_INT32"), ("note", 5, "TYPE_STRING"), ("w", 6, "TYPE_DOUBLE")),
            protobuf(("v", 4, "TYPE_INT64"), ("w", 6, "TYPE_DOUBLE")))
JSON = tuple({"title": "Reading", "type": "object", "additionalProperties": False, "required": ["host", "at"], "properties": {
    name: {"type": "integer" if name in ("at", "v") else "number" if name == "w" else "string"} for name in ("host", "at", *names)}}
             for names in (("v", "note"), ("v", "note", "w"), ("v", "w")))
ALL_OF_PROTOBUF = protobuf(("v", 4, "TYPE_INT64"), ("note", 5, "TYPE_STRING"), ("w", 6, "TYPE_DOUBLE"))


class SchemaRegistries(Case):

    def setUp(self) -> None:
        super().setUp()
        self.registry = SchemaRegistry(self.work)
        self.registry.start()
        self.addCleanup(self.registry.kill9)
        self.door = self.enterContext(RegistryDoor(self.registry))
        self.avro, self.protobuf, self.json = (f"{self.name}_{format_name}" for format_name in ("avro", "protobuf", "json"))
        self.descriptor_set = self.work / "plant.desc"
        self.n_made = 0
        self.n_sent = {self.avro: 0, self.protobuf: 0, self.json: 0}

    def configured(self) -> Daemon:
        at = {"field": "at", "format": "epoch_s"}
        sources = {
            "avro": {"topics": [self.avro], "readings": {"format": "avro", "registry": {"url": self.door.url}, "time": at}},
            "protobuf": {"topics": [self.protobuf], "readings": {
                "format": "protobuf", "schema": str(self.descriptor_set), "message": "plant.Reading",
                "framing": "confluent", "time": at}},
            "json": {"topics": [self.json], "readings": {
                "format": "json", "framing": "confluent", "time": {"field": "at", "format": "epoch_ms"}}}}
        return self.daemon(tables=metric_tables(self.history, self.latest), changes={
            "kafka": {"topics": None}, "readings": None, "sources": sources,
            "dead_letters": {"file": str(self.work / "letters.jsonl"), "max_ratio": 1}})

    def readings(self, n: int, version: int) -> list[dict[str, Any]]:
        made = []
        for number in range(self.n_made, self.n_made + n):
            reading = {"host": f"host{number % HOSTS:02}", "at": START_MS + 1000 * number, "v": number}
            if version < 2:
                reading["note"] = f"no {number}"
            else:
                reading["v"] = WIDE + number
            if version > 0:
                reading["w"] = number / 4 + 0.125
            made.append(reading)
        self.n_made += n
        return made

    def serialized(self, topic: str, readings: Sequence[Reading], **order: Any) -> list[bytes]:
        """By Confluent's serializer, which registers the schema."""
        python = python_packages.environment("confluent", REQUIREMENTS, "--no-deps")
        done = subprocess.run([str(python), str(SERIALIZER)], check=False, capture_output=True, text=True,
                              input=json.dumps({"registry": self.registry.url, "topic": topic, "values": readings, **order}))
        self.assertEqual(done.returncode, 0, done.stderr)
        return [bytes.fromhex(line) for line in done.stdout.split()]

    def avro_messages(self, version: int, n: int = 300) -> list[bytes]:
        """Of new readings, which the tables are to hold."""
        readings = [{**reading, "host": f"avro-{reading['host']}"} for reading in self.readings(n, version)]
        self.expect(readings)
        return self.serialized(self.avro, readings, avro=AVRO[version])

    def placed_messages(self, n: int = 100) -> list[bytes]:
        """By a schema that refers to another, which refers to a third."""
        zone = self.register("zone", ZONE)
        place = self.register("plant/place", PLACE, zone)
        readings = self.readings(n, 0)
        for reading in readings:
            del reading["note"]
            reading["host"] = f"placed-{reading['host']}"
        self.log_sent([{"host": its["host"], "ts": its["at"], "v": its["v"], "place/city": "Oslo", "place/zone": "SOUTH"}
                       for its in readings])
        return self.serialized(self.avro, [{**its, "place": {"city": "Oslo", "zone": "SOUTH"}} for its in readings],
                               avro=PLACED, references=[zone, place])

    def register(self, subject: str, schema: dict[str, Any], *references: dict[str, Any]) -> dict[str, Any]:
        """The reference to it."""
        body = json.dumps({"schema": json.dumps(schema), "references": references}).encode()
        request = urllib.request.Request(f"{self.registry.url}/subjects/{urllib.parse.quote(subject, '')}/versions", body,
                                         {"Content-Type": "application/vnd.schemaregistry.v1+json"})
        with urllib.request.urlopen(request, timeout=30):
            return {"name": f"{schema['namespace']}.{schema['name']}", "subject": subject, "version": 1}

    def protobuf_messages(self, version: int, n: int = 300) -> list[bytes]:
        readings = [{**reading, "host": f"protobuf-{reading['host']}", "site": {"city": f"C{version}"}}
                    for reading in self.readings(n, version)]
        self.expect(readings)
        times = [time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(reading["at"] // 1000)) + f".{reading['at'] % 1000:03}Z"
                 for reading in readings]
        return self.serialized(self.protobuf, [{**reading, "at": at} for reading, at in zip(readings, times)],
                               protobuf=PROTOBUF[version], message="plant.Reading")

    def json_messages(self, version: int, n: int = 300) -> list[bytes]:
        readings = [{**reading, "host": f"json-{reading['host']}"} for reading in self.readings(n, version)]
        self.expect(readings)
        return self.serialized(self.json, readings, json=JSON[version])

    def expect(self, readings: Sequence[Reading]) -> None:
        """As JSON would have sent them."""
        flat = []
        for reading in readings:
            cells = {name: value for name, value in reading.items() if name not in ("at", "site")}
            flat.append({**cells, "ts": reading["at"], **({"site/city": reading["site"]["city"]} if "site" in reading else {})})
        self.log_sent(flat)

    def produce(self, topic: str, messages: Sequence[bytes], partitions: Sequence[int] = range(PARTITIONS)) -> None:
        now_ms = int(time.time() * 1000)
        for place, partition in enumerate(partitions):
            self.kafka.admin.produce(topic, partition, [
                Record(None, message, now_ms) for message in messages[place::len(partitions)]])
        self.n_sent[topic] += len(messages)

    def held(self, daemon: Daemon) -> set[tuple[str, int]]:
        """Partitions that wait for a schema, as the daemon says."""
        with urllib.request.urlopen(f"http://{daemon.http}/status", timeout=5) as answer:
            partitions = json.load(answer)["partitions"]
        return {(its["topic"], its["partition"]) for its in partitions if "schema" in its["pauses"]}

    def wait_for_all(self, daemon: Daemon, topic: str) -> None:
        wait_until(lambda: daemon.committed(topic) == self.n_sent[topic],
                   lambda: f"{daemon.committed(topic)} of {self.n_sent} in {topic}\n{daemon.log_tail()}")

    def test_serializers_of_confluent(self) -> None:
        """Every cell of three versions of each schema, while the registry fails in two ways; a number that is no schema's."""
        for topic in self.n_sent:
            self.create_topic(PARTITIONS, topic)
        self.create_tables()
        self.serialized(self.protobuf, [], protobuf=ALL_OF_PROTOBUF, message="plant.Reading",
                        descriptor_set=str(self.descriptor_set))
        daemon = self.configured()

        # Not to be reached at the start: what needs it waits, and what does not is written.
        self.produce(self.avro, self.avro_messages(0))
        self.produce(self.protobuf, self.protobuf_messages(0))
        self.produce(self.json, self.json_messages(0))
        daemon.start()
        self.wait_for_all(daemon, self.protobuf)
        self.wait_for_all(daemon, self.json)
        both = {(self.avro, partition) for partition in range(PARTITIONS)}
        wait_until(lambda: self.held(daemon) == both, lambda: f"held are {self.held(daemon)}\n{daemon.log_tail()}")
        wait_until(lambda: "cannot query the schema registry" in daemon.log_text(), daemon.log_tail)
        self.assertEqual(daemon.committed(self.avro), 0)
        self.door.open()
        self.wait_for_all(daemon, self.avro)
        wait_until(lambda: "answers again" in daemon.log_text(), daemon.log_tail)

        # It hangs while schemas change: the partition that has a new one waits, and the other is written.
        second, known, third = self.avro_messages(1), self.avro_messages(0), self.avro_messages(2)
        second_protobuf, third_protobuf = self.protobuf_messages(1), self.protobuf_messages(2)
        both_of_json = self.json_messages(1) + self.json_messages(2)
        before = daemon.committed(self.avro)
        self.registry.suspend()
        self.addCleanup(self.registry.resume)
        self.produce(self.avro, second, [0])
        self.produce(self.avro, known, [1])
        self.produce(self.protobuf, second_protobuf)
        wait_until(lambda: self.held(daemon) == {(self.avro, 0)}, lambda: f"held are {self.held(daemon)}")
        wait_until(lambda: daemon.committed(self.avro) == before + len(known), daemon.log_tail)
        self.produce(self.avro, third, [0])
        self.produce(self.protobuf, third_protobuf)
        self.produce(self.json, both_of_json)
        self.wait_for_all(daemon, self.protobuf)
        self.wait_for_all(daemon, self.json)
        self.assertEqual(daemon.committed(self.avro), before + len(known))
        self.registry.resume()
        self.wait_for_all(daemon, self.avro)
        wait_until(lambda: self.held(daemon) == set(), lambda: f"held are {self.held(daemon)}")
        self.assertEqual(daemon.metric("tidemark_messages_dead_lettered_total"), 0)

        # A schema of types that other subjects declare.
        self.produce(self.avro, self.placed_messages())
        self.wait_for_all(daemon, self.avro)
        self.assertEqual(daemon.metric("tidemark_messages_dead_lettered_total"), 0, daemon.log_tail())

        # Asked for once, whichever partition's message it is.
        unknown = [b"\0" + UNKNOWN_ID.to_bytes(4, "big") + bytes([number]) for number in range(10)]
        self.produce(self.avro, unknown)
        self.produce(self.avro, self.avro_messages(2))
        self.wait_for_all(daemon, self.avro)
        self.assertEqual(self.door.n_asked[f"/schemas/ids/{UNKNOWN_ID}"], 1, self.door.n_asked)
        letters = [json.loads(line) for line in self.command("dead-letters", "list", "--config", str(daemon.config_path),
                                                             "--format", "json").splitlines()]
        self.assertEqual(len(letters), len(unknown))
        for letter in letters:
            self.assertEqual((letter["topic"], letter["reason"]), (self.avro, "parse"), letter)
            self.assertIn("no schema with the number", json.dumps(letter))

        self.assert_tables_hold_what_was_sent()
        self.assert_accounting_balances(daemon)
        self.assert_verified(daemon)
        self.assertEqual(daemon.stop(), 0, daemon.log_tail())

    def assert_verified(self, daemon: Daemon) -> None:
        lines = self.command("verify", "--config", str(daemon.config_path), "--format", "json").splitlines()
        summary = json.loads(lines[-1])
        self.assertEqual((summary["messages"], summary["differences"], summary["whole"]),
                         (sum(self.n_sent.values()), 0, True), lines)

"""Messages of other projects' own serializers, through the real Kafka and HBase, with every cell compared: Telegraf's line
protocol and JSON, and Debezium's changes with their deletes. Confluent's are in test_schema_registry."""

from __future__ import annotations

import json
import random
import subprocess
import time
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence
from zoneinfo import ZoneInfo

import go_program
import java_flags
import java_program
import maven_jars
from case import Case
from kafka_records import Record

Metric = dict[str, Any]
Cells = dict[tuple[str, str], tuple[int, str]]

# The tags of a metric, each of which tells apart what one host measures at one moment.
TELEGRAF = {"cpu": ("cpu", ("cpu0", "cpu1", "cpu-total")), "disk": ("path", ("/", "/home 2")), "net": ("interface", ("eth0", "wlan,0"))}
BATCH = 25

CLOCK = ZoneInfo("America/New_York")


class Producers(Case):

    def send_records(self, topic: str, records: Sequence[Record]) -> None:
        self.create_topic(1, topic)
        self.kafka.admin.produce(topic, 0, records)

    def output_of(self, command: list[str], text: str, environment: Optional[dict[str, str]] = None) -> list[str]:
        done = subprocess.run(command, input=text, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def newest_cells(self, table: str) -> Cells:
        """Without older versions, which stand behind."""
        found: Cells = {}
        for cell in self.stack.oracle.dump(table):
            found.setdefault((cell.row.decode(), cell.qualifier.decode()), (cell.timestamp_ms, cell.value.decode()))
        return found

    # Telegraf

    def test_serializers_of_telegraf(self) -> None:
        """Line protocol in batches, JSON in batches, and JSON with a metric a message: three tables of the same rows."""
        topics = {f"{self.name}_{form}": form for form in ("influx", "json", "json-batch")}
        program = str(go_program.built(Path(go_program.__file__).with_name("go") / "telegraf_messages"))
        metrics = list(self.metrics(400))
        batches = "".join(json.dumps(metrics[start:start + BATCH]) + "\n" for start in range(0, len(metrics), BATCH))
        for topic, form in topics.items():
            now_ms = int(time.time() * 1000)
            messages = self.output_of([program, form], batches)
            self.assertEqual(len(messages), len(metrics) if form == "json" else len(metrics) // BATCH)
            self.send_records(topic, [Record(None, bytes.fromhex(message), now_ms) for message in messages])

        of_json = {"format": "json", "each": "metrics", "on_missing": "reading", "time": {"field": "timestamp", "format": "epoch_ms"}}
        daemon = self.daemon(changes={"kafka": {"topics": None}, "readings": None, "sources": {
            form: {"topics": [topic], "readings": {"format": "influx"} if form == "influx" else of_json}
            for topic, form in topics.items()}}, tables={
            topic: self.telegraf_table(form) | {"sources": form} for topic, form in topics.items()})
        self.drop_later(*topics)
        self.command("tables", "create", "-c", str(daemon.config_path))
        self.run_to_end(daemon)
        for topic, form in topics.items():
            self.assertEqual(self.newest_cells(topic), self.telegraf_cells(metrics, form), form)

    @staticmethod
    def metrics(n: int) -> Iterator[Metric]:
        rng = random.Random(44)
        start_ms = int(time.time() * 1000) - 600_000
        for number in range(n):
            name = rng.choice(list(TELEGRAF))
            tag, values = TELEGRAF[name]
            yield {"name": name, "tags": {"host": f"edge {number % 7}", tag: rng.choice(values)},
                   "time_ns": (start_ms + number // 20 * 1000) * 1_000_000 + number % 20 * 1_000_000,
                   "fields": {"count": rng.randrange(-1 << 40, 1 << 62), "load": rng.choice([68.75, -0.1, 1e-7, 2.5e21, 3.0]),
                              "up": rng.random() < 0.5, "note": rng.choice(["ok", 'a "b"\\ c', "ü, = ;", "0012"])}}

    @staticmethod
    def telegraf_table(form: str) -> dict[str, Any]:
        tags = "" if form == "influx" else "tags/"
        parts: list[Any] = [{"field": f"{tags}host"}, "#", {"field": "measurement" if form == "influx" else "name"}, "#",
                            {"time": "epoch_ms"}]
        for tag, _ in TELEGRAF.values():
            parts += ["#", {"field": f"{tags}{tag}", "default": "-"}]
        return {"key": parts, "columns": {"family": "M", "from": "*", "strip_prefix": "fields/"}}

    @staticmethod
    def telegraf_cells(metrics: Sequence[Metric], form: str) -> Cells:
        expected: Cells = {}
        for its in metrics:
            time_ms = its["time_ns"] // 1_000_000
            tags = "#".join(its["tags"].get(tag, "-") for tag, _ in TELEGRAF.values())
            for name, value in its["fields"].items():
                text = value if isinstance(value, str) else json.dumps(value) if not isinstance(value, float) else go_float(value, form)
                expected[f"{its['tags']['host']}#{its['name']}#{time_ms}#{tags}", name] = (time_ms, text)
        return expected

    # Debezium

    def test_converter_of_debezium(self) -> None:
        """Changes and deletes of rows, with Connect's schemas and without: the rows as they are in the end, and each change."""
        changes = list(self.changes(300))
        for schemas in (False, True):
            with self.subTest(schemas=schemas):
                self.read_changes(changes, schemas)

    def read_changes(self, changes: Sequence[list[str]], schemas: bool) -> None:
        now, past = (f"{self.name}_{what}_{int(schemas)}" for what in ("now", "past"))
        base = "payload/" if schemas else ""
        records = self.records_of(changes, schemas)
        self.send_records(now, records)
        self.send_records(past, records)
        readings: dict[str, Any] = {"format": "json", "root": f"{base}after", "on_missing": "skip",
                                    "fields": [{"open": "$key"}, {"decimal": "price", "scale": 2}]}
        local = {"field": "changed", "format": "epoch_us", "local": True, "zone": str(CLOCK)}
        row_key = {"field": f"key/{base}id"}
        columns = {"family": "d", "from": ["name", "price"]}
        daemon = self.daemon(f"daemon-{int(schemas)}", changes={"kafka": {"topics": None, "group": now}, "readings": None, "sources": {
            "now": {"topics": [now], "readings": readings | {"time": "record"}},
            "past": {"topics": [past], "readings": readings | {"time": local}}}}, tables={
            now: {"sources": "now", "latest": "replace", "tombstone": "delete", "key": [row_key], "columns": columns},
            past: {"sources": "past", "key": [row_key, "#", {"time": "epoch_us"}], "columns": columns}})
        self.drop_later(now, past)
        self.command("tables", "create", "-c", str(daemon.config_path))
        self.run_to_end(daemon)

        rows: dict[str, dict[str, tuple[int, str]]] = {}
        each: Cells = {}
        for operation, number, name, price, local_us in changes:
            at_us = local_epoch_us(int(local_us))
            cells = {} if operation == "d" else {"name": name, "price": price}
            rows[number] = {column: (at_us // 1000, value) for column, value in cells.items()}
            each.update({(f"{number}#{at_us}", column): (at_us // 1000, value) for column, value in cells.items()})
        self.assertEqual(self.newest_cells(now), {(row, column): cell for row, cells in rows.items() for column, cell in cells.items()})
        self.assertEqual(self.newest_cells(past), each)

    @staticmethod
    def changes(n: int) -> Iterator[list[str]]:
        """Of 20 rows; of a row that is not there, an insert. Each is some milliseconds after the one before."""
        rng = random.Random(44)
        present: set[int] = set()
        start = datetime.now(CLOCK).replace(tzinfo=None, microsecond=123)
        start_us = int(start.replace(tzinfo=timezone.utc).timestamp()) * 1_000_000 + 123 - 3600 * 1_000_000
        for number in range(n):
            row = rng.randrange(20)
            operation = "c" if row not in present else rng.choice("uud")
            (present.discard if operation == "d" else present.add)(row)
            price = Decimal(rng.choice([0, 1, -1, 127, 128, -129, 12354, rng.randrange(-10**30, 10**30)])).scaleb(-2)
            yield [operation, str(row), rng.choice(["pump", "ä \"b\""]) + f" {number}", f"{price:.2f}", str(start_us + number * 10_000)]

    def records_of(self, changes: Sequence[list[str]], schemas: bool) -> list[Record]:
        """As Debezium would have sent them; the message behind a delete is a millisecond later."""
        jars = maven_jars.classpath_file("debezium")
        classes = java_program.compiled("debezium-messages", [Path(maven_jars.__file__).with_name("java") / "DebeziumMessages.java"], jars)
        lines = self.output_of([java_flags.java(), *java_flags.QUICK_START, "DebeziumMessages", str(schemas).lower()],
                               "".join("\t".join(change) + "\n" for change in changes),
                               java_flags.environment(f"{classes}:{jars.read_text(encoding='utf-8').strip()}"))
        records = []
        following = iter(changes)
        for line in lines:
            key, value = line.split(" ")
            if value == "-":
                records.append(Record(bytes.fromhex(key), None, at_ms + 1))
            else:
                at_ms = local_epoch_us(int(next(following)[4])) // 1000
                records.append(Record(bytes.fromhex(key), bytes.fromhex(value), at_ms))
        return records


def local_epoch_us(local_us: int) -> int:
    """Microseconds since 1970 of what a clock in New York shows, given as if it showed UTC."""
    seconds, fraction = divmod(local_us, 1_000_000)
    shown = datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=CLOCK)
    return int(shown.timestamp()) * 1_000_000 + fraction


def go_float(value: float, form: str) -> str:
    """As Go prints it: in JSON with an exponent where it is below 1e-6 or from 1e21 on, in line protocol never."""
    if form == "influx":
        return f"{Decimal(repr(value)):f}".removesuffix(".0")
    return f"{value:g}".replace("e-0", "e-") if abs(value) < 1e-6 or abs(value) >= 1e21 else repr(value).removesuffix(".0")

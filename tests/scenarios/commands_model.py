#!/usr/bin/env python3
"""Random questions, verifications, loads and rollups of the real program, each compared with a plain model.

    commands_model.py --build BUILD [--seed N] [--worlds N] [--jobs N] [--counts FILE]

A world is a key scheme, tables and readings that follow from its seed: duplicates, corrections, readings that overwrite others, late ones, ones
without a field, and lines that are none. They are loaded from files, killed at random, into a scripted gateway; then `scan`, `latest` and
`get` are asked, faults are put into the store and `verify` must count them, and days are rolled up, killed, into tables that are dropped
or stand in another cluster.
"""
from __future__ import annotations

import argparse
import base64
import copy
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from content import Stored, judge_tables  # noqa: E402
from oracle import Message, Oracle, as_list, fields_of, make_parts, readings_of, time_part  # noqa: E402
from plain_model import Question, Store, Verdicts, answer, tellable, writes_of  # noqa: E402
from processes import Gateway, Kafka  # noqa: E402

BASE_MS = 1_748_736_000_000  # 2025-06-01T00:00:00Z
DAY_MS = 86_400_000
QUESTIONS, VERIFICATIONS = 40, 8  # of a world
PATIENCE_S = 120
FAMILY = "M"
WORDS = ("right", "conflict", "missing", "wrong", "stale", "unexpected", "overwritten", "deleted", "corrected", "superseded", "beyond",
         "unexplained")
DIFFERENCES = ("missing", "wrong", "stale", "unexpected", "overwritten")


class Difference(Exception):
    """The program and the model do not agree."""


def shown_cells(row: dict[str, Any]) -> Stored:
    """Of a row as commands print it in JSON."""
    return {(cell["family"], cell["qualifier"].encode()): (cell["timestamp_ms"], cell["value"].encode()) for cell in row["cells"]}


# ---- key schemes ----

def draw_field(rng: random.Random, name: str, is_last: bool) -> list[Any]:
    """A field of a key, and the text behind it that ends it."""
    part: dict[str, Any] = {"field": name}
    behind = [] if is_last and rng.random() < 0.7 else [rng.choice(["#", "|", "_"])]
    if name == "n":
        part |= rng.choice([{"as": "int32"}, {"as": "uint16"}, {"width": 5, "pad": "0"}, {"width": 5, "pad": "0", "reversed": True}, {}])
        return [part, *([] if "as" in part or "width" in part else behind)]
    if rng.random() < 0.35:
        part["case"] = rng.choice(["lower", "upper"])
    if rng.random() < 0.3 and name != "$tags":
        part |= {"width": rng.choice([2, 3, 16]), "long": "cut"} if rng.random() < 0.7 else {"width": 16}
        behind = behind if rng.random() < 0.3 else []
    if rng.random() < 0.15 and "width" in part:
        part["reversed"] = True
    if name == "site" and rng.random() < 0.7:
        part["default"] = rng.choice(["none", [{"when": {"field": "host", "matches": "h*"}, "value": "roof"}, "none"]])
    return [part, *behind]


def draw_time(rng: random.Random) -> dict[str, Any]:
    return rng.choice([
        {"time": "epoch_ms"}, {"time": "epoch_ms"}, {"time": "epoch_ms", "reversed": True}, {"time": "epoch_ms", "binary": True},
        {"time": "epoch_s"}, {"time": "yyyyMMddHHmmss"}, {"time": "epoch_ms", "cut": rng.choice(["hour", "6h", "day"])},
        {"time": "yyyyMMdd", "zone": rng.choice(["UTC", "+05:30"])}, {"time": "yyyyMMdd", "cut": "month"}])


def draw_key(rng: random.Random, names: list[str], with_time: bool) -> list[Any]:
    chosen = rng.sample(names, rng.randint(1, min(3, len(names))))
    pieces = [draw_field(rng, name, index == len(chosen) - 1 and not with_time) for index, name in enumerate(chosen)]
    if with_time:
        pieces.insert(rng.choice([len(pieces), len(pieces), len(pieces), 0, rng.randint(0, len(pieces))]), [draw_time(rng)])
    fields = [part for piece in pieces for part in piece if isinstance(part, dict) and "field" in part]
    of = [rng.choice([part["field"], {name: value for name, value in part.items() if name not in ("default", "reversed")}])
          for part in rng.sample(fields, rng.randint(1, len(fields)))]
    if rng.random() < 0.35:
        head = {"hash": rng.choice(["md5", "sha1", "sha256", "crc32"]), "of": of}
        head |= rng.choice([{}, {"as": "raw"}, {"bytes": 2}, {"bytes": 4, "as": "raw"}])
        pieces.insert(0, [head])
    elif rng.random() < 0.3:
        pieces.insert(0, [{"salt": rng.choice([2, 3, 12]), "of": of, "hash": rng.choice(["md5", "crc32"])}, "-"])
    if rng.random() < 0.1 and len(chosen) > 1 and "hash" in pieces[0][0]:
        pieces.remove(rng.choice([piece for piece in pieces[1:] if "field" in piece[0]]))  # it is only hashed
    return [part for piece in pieces for part in piece]


def time_of(key: list[Any]) -> dict[str, Any]:
    return next(part for part in key if isinstance(part, dict) and "time" in part)


def in_front_of_the_time(key: list[Any]) -> set[str]:
    """The fields that must be given for rows to come by time; a salt that is not known is merged."""
    found = set()
    for part in key[:key.index(time_of(key))]:
        if isinstance(part, dict) and "salt" not in part:
            for one in [part, *as_list(part.get("of", []))]:
                found |= {one["field"]} if isinstance(one, dict) and "field" in one else {one} if isinstance(one, str) else set()
    return found


def hashes_more_than_it_shows(key: list[Any]) -> bool:
    """A hash of a value as it came, whose field stands in the key in another form: what is asked for does not tell the hash."""
    hashed = {one for part in key if isinstance(part, dict) and "hash" in part for one in as_list(part["of"]) if isinstance(one, str)}
    return any(isinstance(part, dict) and part.get("field") in hashed and len(part) > 1 for part in key)


# ---- readings ----

class Readings:
    """Draws the lines of a file, each with the JSON that the oracle reads in its place."""

    def __init__(self, rng: random.Random, is_influx: bool) -> None:
        self.rng, self.is_influx = rng, is_influx
        self.hosts = rng.sample(["h1", "h10", "H1", "h2", "h200", "server-one.example", "Server-one.example", "x"], rng.choice([1, 2, 4, 6]))
        self.step_ms = rng.choice([1, 1000, 3_600_000, 20_000_000])
        self.n_times = rng.choice([2, 6, 20])
        self.spoiled = rng.choice([0, 0, 0.1])
        self.made: list[dict[str, Any]] = []

    def fresh(self) -> dict[str, Any]:
        rng = self.rng
        reading = {"host": rng.choice(self.hosts), "n": rng.randrange(40), "site": rng.choice(["s1", "s2", "Site3"]),
                   "ts": BASE_MS + rng.randrange(self.n_times) * self.step_ms, "v": rng.randrange(1000), "w": rng.choice(["on", "off", "idle"])}
        if rng.random() < 0.2:
            del reading["site"]
        if rng.random() < 0.3:
            reading["u"] = rng.random() < 0.5 if not self.is_influx else rng.randrange(9)
        if rng.random() < 0.3:
            del reading[rng.choice(["v", "w"])]
        return reading

    def reading(self) -> dict[str, Any]:
        """One that is new, or one of before: again, corrected, in the place of another, or late."""
        if not self.made or self.rng.random() < 0.6:
            reading = self.fresh()
        else:
            reading = dict(self.rng.choice(self.made))
            kind = self.rng.choice(["again", "corrected", "overwrites", "late"])
            if kind == "corrected" and "v" in reading:
                reading["v"] = self.rng.randrange(1000)
            elif kind == "overwrites":
                reading |= {"w": self.rng.choice(["broken", "fixed"]), "v": self.rng.randrange(1000)}
            elif kind == "late":
                reading["ts"] = max(reading["ts"] - self.step_ms, BASE_MS)
        self.made.append(reading)
        return reading

    def line(self) -> tuple[bytes, bytes]:
        """As it stands in the file, and as the oracle reads it."""
        reading = self.reading()
        if self.rng.random() < self.spoiled:
            return self.spoil(reading)
        return self.text_of(reading), json.dumps(self.seen(reading)).encode()

    def spoil(self, reading: dict[str, Any]) -> tuple[bytes, bytes]:
        if self.is_influx or self.rng.random() < 0.5:
            return b"{broken", b"{broken"
        reading = {name: value for name, value in reading.items() if name != self.rng.choice(["host", "n", "ts"])}
        return json.dumps(reading).encode(), json.dumps(reading).encode()

    @staticmethod
    def tags(reading: dict[str, Any]) -> str:
        return ",".join(f"{name}={reading[name]}" for name in ("host", "n", "site") if name in reading)

    def seen(self, reading: dict[str, Any]) -> dict[str, Any]:
        if not self.is_influx:
            return reading
        texts = {name: str(value) for name, value in reading.items() if name in ("host", "n", "site")}
        return {**reading, **texts, "measurement": "m", "$tags": self.tags(reading)}

    def text_of(self, reading: dict[str, Any]) -> bytes:
        if not self.is_influx:
            return json.dumps(reading).encode()
        values = [f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}i"
                  for name, value in reading.items() if name in ("v", "w", "u")] or ["e=1i"]
        return f"m,{self.tags(reading)} {','.join(values)} {reading['ts']}000000".encode()


# ---- a world ----

class World:
    """One key scheme with its readings, in a gateway of its own."""

    def __init__(self, seed: int, build: Path, gateway: Gateway, kafka: Kafka, directory: Path) -> None:
        self.program, self.gateway, self.kafka, self.directory = build / "daemon/tidemark", gateway, kafka, directory
        self.rng = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.topic = f"topic-{seed}"
        self.is_influx = self.rng.random() < 0.25
        self.n_files = self.rng.choice([1, 1, 2])
        self.files = [directory / f"readings-{index}{self.rng.choice(['', '.gz'])}" for index in range(self.n_files)]
        self.config = directory / "tidemark.yaml"
        self.draw_tables()
        self.lines = [self.draw_lines() for _ in self.files]
        self.made: dict[str, Store] = {}
        self.of_rows: dict[str, dict[bytes, Any]] = {}
        self.group = ""  # of the last verification of a part of the topic

    def draw_tables(self) -> None:
        """Until the program takes the keys: most that are drawn are refused, since the end of a field could not be told."""
        names = ["host", "n", "site", "host", *(["$tags"] if self.is_influx else [])]
        columns = self.rng.choice([{"family": FAMILY, "from": "*"}, {"family": FAMILY, "from": ["w"]}, {"family": FAMILY, "from": ["v", "w"]},
                                   {"family": FAMILY, "from": "*", "prefix": "p_"}])
        while True:
            self.keys = {"HISTORY": draw_key(self.rng, list(dict.fromkeys(names)), True), "LATEST": draw_key(self.rng, ["host", "site", "n"], False)}
            self.tables = {"HISTORY": {"key": self.keys["HISTORY"], "columns": columns},
                           "LATEST": {"key": self.keys["LATEST"], "latest": self.rng.choice(["merge", "replace"]), "columns": columns}}
            self.write_config()
            if all(self.run(command, table, "--plan", code=None).returncode == 0 for command, table in (("scan", "HISTORY"), ("scan", "LATEST"))):
                return

    def write_config(self) -> None:
        readings: dict[str, Any] = {"format": "influx"} if self.is_influx else {"time": {"field": "ts", "format": "epoch_ms"}}
        readings["on_bad_message"] = "dead_letter"
        self.config.write_text(json.dumps({
            "kafka": {"brokers": self.kafka.greeting, "group": "g", "topics": [self.topic]},
            "hbase": {"gateways": [f"127.0.0.1:{self.gateway.greeting}"], "uncertain_timeout": "1s", "call_timeout": "1s"},
            "readings": readings, "dead_letters": {"max_ratio": 1}, "tables": self.tables}))

    def draw_lines(self) -> list[tuple[bytes, bytes]]:
        readings = Readings(self.rng, self.is_influx)
        return [readings.line() for _ in range(self.rng.choice([5, 30, 80]))]

    def run(self, command: str, *words: Any, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([str(self.program), command, "-c", str(self.config), *map(str, words)], capture_output=True, text=True,
                              check=False, timeout=PATIENCE_S, stdin=subprocess.DEVNULL)
        if code is not None and done.returncode != code:
            raise Difference(f"{command} {' '.join(map(str, words))}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
        return done

    def run_killed(self, n_kills: int, longest_s: float, command: str, *words: Any) -> subprocess.CompletedProcess[str]:
        """Killed so many times, and then to its end."""
        for _ in range(n_kills):
            self.run_killed_once(longest_s, command, *words)
        return self.run(command, *words, code=None)

    def run_killed_once(self, longest_s: float, command: str, *words: Any) -> None:
        process = subprocess.Popen([str(self.program), command, "-c", str(self.config), *map(str, words)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            process.wait(self.rng.uniform(0.02, longest_s))
        except subprocess.TimeoutExpired:
            process.kill()
        self.counts["kills"] += process.wait() == -signal.SIGKILL

    def messages(self, from_topic: bool) -> list[Message]:
        """What the oracle reads: of files by line from 1, of a topic by offset from 0, a partition for each file."""
        return [Message(self.topic if from_topic else str(self.files[part]), part if from_topic else 0, index + (0 if from_topic else 1), None,
                        seen, BASE_MS + 400 * DAY_MS, []) for part, lines in enumerate(self.lines) for index, (_, seen) in enumerate(lines)]

    def oracle(self) -> Oracle:
        readings = {"time": {"field": "ts", "format": "epoch_ms"}}
        return Oracle({"tables": self.tables, "readings": readings}, 1 << 20, BASE_MS + 400 * DAY_MS)

    def state(self) -> Path:
        return self.directory / "state"

    # ---- load ----

    def load(self) -> None:
        for table in self.tables:
            self.gateway.ask("table", table, FAMILY)
        for path, lines in zip(self.files, self.lines):
            text = b"".join(line + b"\n" for line, _ in lines)
            path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
        n_kills = self.rng.choice([0, 1, 2, 3])
        if self.rng.random() < 0.5:
            self.gateway.ask("fault", "none", f"delay-apply-ms={self.rng.choice([20, 200])}", "max-hits=20")
        rate = self.rng.choice([[], ["--rate", sum(map(len, self.lines)) * 3]])
        done = self.run_killed(n_kills, 0.6, "load", "--state-directory", self.state(), *rate, *self.files)
        self.gateway.ask("clear")
        self.counts["loads"] += 1
        oracle, messages = self.oracle(), self.messages(False)
        outcomes = oracle.outcomes(messages)
        rows = [row for outcome in outcomes.values() for row in outcome.rows]
        bad = {source for source, outcome in outcomes.items() if outcome.bad}
        expected = {65} if not rows else {0}
        if done.returncode not in expected | ({0} if n_kills else set()):
            raise Difference(f"load: exit code {done.returncode}, not {expected}\n{done.stdout}{done.stderr}")
        self.made = self.gateway.dump(list(self.tables))
        for _, problem in judge_tables(oracle, rows, self.made, False):
            raise Difference(f"load: {problem}")
        letters = self.state() / "load-dead-letters.jsonl"
        kept = {(one["topic"], one["partition"], one["offset"])
                for one in map(json.loads, letters.read_text().splitlines() if letters.exists() else [])}
        if kept != bad:
            raise Difference(f"load: dead letters of {sorted(kept ^ bad)} are too many or missing")
        self.of_rows = {table: {} for table in self.tables}
        values = {message.source: message.value or b"" for message in messages}
        for row in rows:
            self.of_rows[row.table].setdefault(row.key, fields_of(readings_of(values[row.source], {})[row.reading], {}))

    # ---- questions ----

    def draw_question(self, table: str) -> Question:
        rng, question = self.rng, Question()
        key, of_rows, cells = self.keys[table], self.of_rows[table], self.made[table]
        for name in rng.sample(tellable(key), min(rng.choice([0, 1, 1, 2]), len(tellable(key)))):
            known = [fields[name].text for fields in of_rows.values() if fields.get(name) is not None] or ["none"]
            text = rng.choice(known)
            question.fields[name] = rng.choice([text, text, text, text.swapcase(), text + "z", text[:-1] or "q", "none", "roof", "7"])
        if table == "HISTORY" and rng.random() < 0.5:
            times = sorted({time_ms for row in cells.values() for time_ms, _ in row.values()}) or [BASE_MS]
            low, high = sorted([rng.choice(times) + rng.choice([-1, 0, 1]), rng.choice(times) + rng.choice([-1, 0, 1, 1])])
            question.from_ms = low if rng.random() < 0.8 else None
            question.to_ms = high if rng.random() < 0.8 and high > low else None
        if rng.random() < 0.15:
            question.column = FAMILY, rng.choice([column[1] for row in cells.values() for column in row] or [b"v"])
        return question

    def get(self, table: str) -> None:
        """A row by its key, or one that is not there."""
        row = self.rng.choice(list(self.made[table]) or [b"h"]) + self.rng.choice([b"", b"", b"", b"?"])
        done = self.run("get", table, "--hex", row.hex(), "-f", "json", code=None)
        self.counts["queries"] += 1
        found = [shown_cells(json.loads(line)) for line in done.stdout.splitlines()]
        expected = [self.made[table][row]] if row in self.made[table] else []
        if found != expected or done.returncode != int(not expected):
            raise Difference(f"get {table} --hex {row.hex()}: shows {found}, not {expected}; exit code {done.returncode}\n{done.stderr}")

    def ask(self) -> None:
        table = self.rng.choice(["HISTORY", "HISTORY", "LATEST"])
        if self.rng.random() < 0.05:
            self.get(table)
            return
        command = "latest" if table == "LATEST" and self.rng.random() < 0.7 else "scan"
        order = self.rng.choice(["", "", "--reverse", "--newest-first", "--oldest-first"][:5 if table == "HISTORY" else 3]) \
            if command == "scan" else ""
        by_time = order.endswith("-first")
        question = self.draw_question(table)
        if by_time and self.of_rows[table] and self.rng.random() < 0.7:
            fields = self.rng.choice(list(self.of_rows[table].values()))
            question.fields |= {name: fields[name].text for name in in_front_of_the_time(self.keys[table]).intersection(tellable(self.keys[table]))
                                if name in fields}
        words = [f"{name}={value}" for name, value in question.fields.items()]
        words += [f"--from={question.from_ms}"] if question.from_ms is not None else []
        words += [f"--to={question.to_ms}"] if question.to_ms is not None else []
        words += [f"--column={question.column[0]}:{question.column[1].decode()}"] if question.column else []
        limit = self.rng.choice([0, 0, 0, 1, 3])
        words += [f"--limit={limit}"] if limit else []
        done = self.run(command, table, *words, *([order] if order else []), "-f", "json", code=None)
        self.counts["queries"] += 1
        expected = answer(question, self.keys[table], self.made[table], self.of_rows[table])
        said = f"{command} {table} {' '.join(words)} {order}, key {json.dumps(self.keys[table])}"
        if by_time and not in_front_of_the_time(self.keys[table]) <= question.fields.keys():
            if done.returncode != 64:
                raise Difference(f"{said}: exit code {done.returncode}, though the key does not sort so by time")
            return
        may_refuse = not expected or by_time and hashes_more_than_it_shows(self.keys[table])
        if done.returncode == 64 and may_refuse:
            return
        if done.returncode != 0:
            raise Difference(f"{said}: exit code {done.returncode}\n{done.stderr}")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        found = {bytes.fromhex(row["row_hex"]): shown_cells(row) for row in rows}
        keys = [bytes.fromhex(row["row_hex"]) for row in rows]
        if len(found) != len(rows):
            raise Difference(f"{said}: a row comes twice")
        if by_time:
            part = {name: value for name, value in time_of(self.keys[table]).items() if name != "reversed"}
            slots = {row: time_part(part, next(iter(cells.values()))[0]) for row, cells in expected.items()}
            wanted = sorted(slots.values(), reverse=order == "--newest-first")[:limit or None]
            if [slots.get(row) for row in keys] != wanted:
                raise Difference(f"{said}: shows {keys}, in another order than {wanted}")
        elif "salt" not in self.keys[table][0]:
            wanted = sorted(expected, reverse=bool(order))[:limit or None]
            if keys != wanted:
                raise Difference(f"{said}: shows {keys}, not {wanted}")
        elif len(keys) != min(limit or len(expected), len(expected)):
            raise Difference(f"{said}: shows {keys}, not all of {sorted(expected)}")
        for row, cells in found.items():
            if cells != expected.get(row):
                raise Difference(f"{said}: of {row!r} shows {cells}, not {expected.get(row)}")

    # ---- verify ----

    def put_store(self, store: dict[str, Store]) -> None:
        for table, rows in store.items():
            self.gateway.ask("drop", table)
            self.gateway.ask("table", table, FAMILY)
            self.gateway.ask_all([("put", table, row.hex(), family, qualifier.hex(), str(time_ms), value.hex() or "''")
                                  for row, cells in rows.items() for (family, qualifier), (time_ms, value) in cells.items()])

    def spoil_store(self) -> dict[str, Store]:
        """A copy with some faults in it."""
        rng, store = self.rng, copy.deepcopy(self.made)
        for _ in range(rng.choice([0, 1, 1, 2, 4])):
            table = rng.choice(list(store))
            if not store[table]:
                continue
            row = rng.choice(list(store[table]))
            cells = store[table][row]
            column = rng.choice(list(cells))
            time_ms, value = cells[column]
            kind = rng.choice(["row gone", "cell gone", "value", "older", "newer", "older column", "stray row", "of another row"])
            if kind == "row gone" or kind == "cell gone" and len(cells) == 1:
                del store[table][row]
            elif kind == "cell gone":
                del cells[column]
            elif kind == "value":
                cells[column] = time_ms, value + b"?"
            elif kind == "older":
                cells[column] = max(time_ms - rng.choice([1, 1000, DAY_MS]), 1), value
            elif kind == "newer":
                cells[column] = time_ms + rng.choice([1, 1000, DAY_MS]), value
            elif kind == "older column":
                cells[FAMILY, b"gone"] = max(time_ms - rng.choice([0, 1, 1000, DAY_MS]), 1), b"old"
            elif kind == "stray row":
                store[table].setdefault(row + b"!", {})[column] = time_ms, value
            else:
                cells[column] = rng.choice(list(rng.choice(list(store[table].values())).values()))
        return store

    def draw_letters(self, path: Path) -> set[tuple[str, int, int]]:
        """Dead letters that say something, or nothing, of what must be there. Returns the messages of which nothing is expected."""
        may = set()
        lines = []
        for part, texts in enumerate(self.lines):
            for offset, (text, _) in enumerate(texts):
                if self.rng.random() > 0.05:
                    continue
                kind = self.rng.choice(["refused", "other content", "rejected"])
                lines.append(json.dumps({
                    "kept_at": "2026-07-26T12:34:56.789Z", "topic": self.topic, "partition": part, "offset": offset, "timestamp_ms": BASE_MS,
                    "reason": "missing_field" if kind == "rejected" else "refused_by_hbase", "text": "x", "attempts": 1, "version": "0.1.0",
                    "key": None, "value": base64.b64encode(text + b" " * (kind == "other content")).decode(), "headers": []}))
                if kind == "refused":
                    may.add((self.topic, part, offset))
        path.write_text("".join(line + "\n" for line in lines))
        return may

    def commit(self) -> dict[int, int]:
        """Somewhere in each partition, for a group that has committed nothing before."""
        self.group = f"{self.topic}-{self.counts['verify runs']}"
        committed = {part: self.rng.randint(1, len(lines)) for part, lines in enumerate(self.lines)}
        self.kafka.ask_all([("commit", self.group, self.topic, str(part), str(offset), "''") for part, offset in committed.items()])
        return committed

    def verify(self) -> None:
        rng = self.rng
        store = self.spoil_store()
        if store != self.made:
            self.put_store(store)
        from_topic, may, committed = rng.random() < 0.5, set(), {}
        words: list[Any] = ["-f", "json", "--sample=0", "--memory=1MiB"]
        if from_topic:
            letters = self.directory / "letters.jsonl"
            may = self.draw_letters(letters)
            committed = self.commit() if rng.random() < 0.4 else {}
            words += ["--letters", letters, *(["--group", self.group] if committed else ["--to-end"])]
        else:
            words += ["--state-directory", self.state(), "--files", *self.files]
        allow_unexpected, allow_overwritten = rng.random() < 0.2, rng.random() < 0.3
        words += ["--allow-unexpected"] * allow_unexpected + ["--allow-overwritten"] * allow_overwritten
        done = self.run("verify", *words, code=None)
        self.counts["verify runs"] += 1
        found = {one["table"]: one for one in map(json.loads, done.stdout.splitlines()) if one["type"] == "table"}
        oracle, messages = self.oracle(), self.messages(from_topic)
        parts = {(message.topic, message.partition): index
                 for index, message in enumerate({(one.topic, one.partition): one for one in messages}.values())}
        writes = list(writes_of(oracle, messages, parts, may, committed, self.is_influx))
        total: Counter[str] = Counter()
        for name, table in self.tables.items():
            counts = Verdicts(table, [write for write in writes if write.row.declared == name], store[name],
                              from_topic and not allow_unexpected).counts
            total += counts
            shown = {word: found.get(name, {}).get(word, 0) for word in WORDS}
            if shown != {word: counts[word] for word in WORDS}:
                raise Difference(f"verify {' '.join(map(str, words))}: of {name} {json.dumps(table)} it counts "
                                 f"{ {word: n for word, n in shown.items() if n} }, not {dict(counts)}\n{done.stderr}")
        self.verdicts += total
        expected = int(any(total[word] for word in DIFFERENCES if word != "overwritten" or not allow_overwritten))
        if done.returncode != expected:
            raise Difference(f"verify {' '.join(map(str, words))}: exit code {done.returncode}, not {expected}\n{done.stdout}{done.stderr}")
        if store != self.made:
            self.put_store(self.made)

    def produce(self) -> None:
        self.kafka.ask("topic", self.topic, str(self.n_files))
        self.kafka.ask_all([self.kafka.produce_command(self.topic, part, None, line, BASE_MS + 400 * DAY_MS, [])
                            for part, lines in enumerate(self.lines) for line, _ in lines])
        self.kafka.ask("flush")

    def all(self) -> None:
        self.load()
        self.put_store(self.made)  # without older versions of cells, which a question for a time range would bring up
        self.produce()
        for _ in range(QUESTIONS):
            self.ask()
        for _ in range(VERIFICATIONS):
            self.verify()


# ---- rollups ----

class Rollup:
    """A table of days in two clusters, whose days are copied, killed, dropped and copied again."""

    DAY_START_MS = BASE_MS + DAY_MS  # 2025-06-02
    KEYS: list[Any] = [
        [{"field": "meter", "width": 4, "pad": "0"}, "#", {"time": "yyyyMMdd"}],
        [{"field": "meter", "width": 4, "pad": "0", "reversed": True}, "#", {"time": "yyyyMMdd"}],
        [{"time": "yyyyMMdd"}, "#", {"field": "meter"}],
        [{"hash": "md5", "of": ["meter"], "bytes": 2}, {"field": "meter"}, "#", {"time": "yyyyMMdd"}],
        [{"salt": 3, "of": ["meter"], "hash": "md5"}, "-", {"field": "meter"}, "#", {"time": "yyyyMMdd"}],
        [{"field": "meter"}, "#", {"time": "yyyyMMdd", "cut": "month"}],
        [{"field": "meter"}, "#", {"time": "epoch_ms"}],
    ]

    def __init__(self, world: World, other: Gateway) -> None:
        self.world, self.rng = world, world.rng
        self.key = self.rng.choice(self.KEYS)
        self.gateways = [world.gateway, other]
        self.sources = [self.draw_source(), self.draw_source()]
        self.at = 0

    def draw_source(self) -> Store:
        """The day, and what is beside it, in the same rows where these hold more than a day."""
        source: Store = {}
        for meter in self.rng.sample(range(1000), self.rng.choice([3, 40, 120])):
            for _ in range(self.rng.choice([1, 2, 5])):
                time_ms = self.DAY_START_MS + self.rng.choice([-1, 0, DAY_MS - 1, DAY_MS, self.rng.randrange(-DAY_MS, 2 * DAY_MS)])
                self.add(source, meter, time_ms)
        return source

    def add(self, source: Store, meter: int, time_ms: int) -> None:
        row = make_parts(self.key, fields_of(readings_of(b'{"meter":"%d"}' % meter, {})[0], {}), time_ms)
        cells = source.setdefault(row, {})
        column = FAMILY, f"{time_ms // 900_000 % 96}".encode()
        cells[column] = max(cells.get(column, (0, b"")), (time_ms, b"%d" % self.rng.randrange(1000)))

    def expected(self) -> Store:
        day = Question(from_ms=self.DAY_START_MS, to_ms=self.DAY_START_MS + DAY_MS)
        copied = {row: day.shows(cells) for row, cells in self.sources[self.at].items()}
        return {row: cells for row, cells in copied.items() if cells}

    def put(self, at: int) -> None:
        self.gateways[at].ask_all([("put", "SENSOR", row.hex(), family, qualifier.hex(), str(time_ms), value.hex())
                                   for row, cells in self.sources[at].items() for (family, qualifier), (time_ms, value) in cells.items()])

    def set_up(self) -> None:
        for at, gateway in enumerate(self.gateways):
            keys = sorted(self.sources[at])
            splits = sorted({row.decode() for row in self.rng.sample(keys, min(3, len(keys) - 1)) if row != keys[0]})
            gateway.ask("table", "SENSOR", FAMILY, *splits)
            gateway.ask("cluster", f"cluster-{at}")
            self.put(at)
        self.move(0)

    def move(self, at: int) -> None:
        self.at = at
        columns = {"family": FAMILY, "from": ["kwh"], "qualifier": [{"time": "HHmm", "cut": "15m"}]}
        self.world.config.write_text(json.dumps({
            "kafka": {"brokers": "127.0.0.1:1", "group": "g", "topics": ["t"]},
            "hbase": {"gateways": [f"127.0.0.1:{self.gateways[at].greeting}"], "call_timeout": "1s"},
            "readings": {"time": {"field": "ts", "format": "epoch_ms"}},
            "tables": {"SENSOR": {"key": self.key, "columns": columns}}}))

    def roll_up(self, n_kills: int, *options: str) -> None:
        """To its end. Where it says that the counts differ, it is told what to do, which must help."""
        words = ["SENSOR", "--day", "2025-06-02", "--state", self.world.state(), "--threads", self.rng.choice([1, 3]), *options]
        rate = ["--rate", self.rng.choice([30, 60])] if n_kills else []
        done = self.world.run_killed(n_kills, 1.8, "rollup", *words, *rate)
        self.world.counts["rollups"] += 1
        if done.returncode == 1 and "run it again with --refresh" in done.stdout:
            self.world.counts["rollups that said so"] += 1
            done = self.world.run("rollup", *words, "--refresh", code=None)
        found = self.gateways[self.at].dump(["SENSOR_20250602"])["SENSOR_20250602"]
        if done.returncode != 0 or found != self.expected():
            missing, extra = self.expected().keys() - found.keys(), found.keys() - self.expected().keys()
            raise Difference(f"rollup {' '.join(map(str, words))}, key {json.dumps(self.key)}: exit code {done.returncode}, rows missing: "
                             f"{sorted(missing)}, too many: {sorted(extra)}\n{done.stdout}{done.stderr}")

    def drop_copy(self) -> None:
        if "SENSOR_20250602" in self.gateways[self.at].tables():
            self.gateways[self.at].ask("drop", "SENSOR_20250602")

    def all(self) -> None:
        self.set_up()
        words = ["SENSOR", "--day", "2025-06-02", "--state", self.world.state(), "--threads", "1", "--rate", "40"]
        for _ in range(self.rng.choice([1, 2, 4])):
            kind = self.rng.choice(["killed", "killed", "whole", "dropped", "elsewhere", "late"])
            if kind == "killed":
                self.world.run_killed_once(1.8, "rollup", *words)
            elif kind == "whole":
                self.roll_up(self.rng.choice([0, 1]))
            elif kind == "dropped":
                self.drop_copy()
            elif kind == "elsewhere":
                self.move(1 - self.at)
            else:
                self.add(self.sources[self.at], self.rng.randrange(1000), self.DAY_START_MS + self.rng.randrange(DAY_MS))
                self.put(self.at)
                self.roll_up(0, "--refresh")
        self.roll_up(self.rng.choice([0, 1, 2]))


# ---- all of them ----

class Session:
    """Worlds side by side, each with a gateway and brokers of its own."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.lock = threading.Lock()
        self.next_seed = arguments.seed
        self.counts: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.differences: list[str] = []

    def take(self) -> int | None:
        with self.lock:
            if self.next_seed >= self.arguments.seed + self.arguments.worlds:
                return None
            self.next_seed += 1
            return self.next_seed - 1

    def run_world(self, seed: int, kafka: Kafka, gateways: list[Gateway]) -> None:
        directory = Path(tempfile.mkdtemp(prefix="tidemark-model-"))
        world = World(seed, self.arguments.build, gateways[0], kafka, directory)
        for part in (world.all, lambda: Rollup(world, gateways[1]).all()):
            try:
                part()
            except Difference as difference:
                with self.lock:
                    self.differences.append(str(difference))
                    print(f"seed {seed}, in {directory}: {difference}", flush=True)
            for gateway in gateways:
                gateway.ask("clear")
                for table in gateway.tables():
                    gateway.ask("drop", table)
            shutil.rmtree(world.state(), ignore_errors=True)
        with self.lock:
            self.counts += world.counts
            self.verdicts += world.verdicts
        if not self.differences:
            shutil.rmtree(directory, ignore_errors=True)

    def work(self) -> None:
        kafka = Kafka(self.arguments.build / "tests/fault/mock-kafka")
        gateways = [Gateway(self.arguments.build / "tests/fault/scripted-gateway") for _ in range(2)]
        try:
            while (seed := self.take()) is not None:
                self.run_world(seed, kafka, gateways)
        finally:
            for process in (kafka, *gateways):
                process.end()

    def run(self) -> int:
        began = time.monotonic()
        with ThreadPoolExecutor(self.arguments.jobs) as pool:
            for future in [pool.submit(self.work) for _ in range(self.arguments.jobs)]:
                future.result()
        counted = ", ".join(f"{n} {name}" for name, n in sorted(self.counts.items()))
        print(f"{self.arguments.worlds} worlds from seed {self.arguments.seed} in {time.monotonic() - began:.0f} s: {counted}, "
              f"{len(self.differences)} differences; cells by what verify says: "
              + ", ".join(f"{self.verdicts[word]} {word}" for word in WORDS))
        if self.arguments.counts:
            asked = sum(self.counts[name] for name in ("queries", "verify runs", "loads", "rollups"))
            self.arguments.counts.write_text(f"{asked - len(self.differences)} {len(self.differences)} 0\n")
        return len(self.differences)


def main() -> int:
    parser = argparse.ArgumentParser(description="questions, verifications, loads and rollups against a plain model")
    parser.add_argument("--build", type=Path, required=True, help="a build directory")
    parser.add_argument("--seed", type=int, default=1, help="of the first world (1)")
    parser.add_argument("--worlds", type=int, default=8, help=f"each has a load, {QUESTIONS} queries, {VERIFICATIONS} verify runs and rollups (8)")
    parser.add_argument("--jobs", type=int, default=4, help="worlds side by side (4)")
    parser.add_argument("--counts", type=Path, help="a file for: passed failed skipped")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    os.environ.pop("STATE_DIRECTORY", None)
    return 1 if Session(arguments).run() else 0


if __name__ == "__main__":
    sys.exit(main())

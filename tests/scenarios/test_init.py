#!/usr/bin/env python3
"""From a message to rows: `tidemark init` on messages of shapes that no example has, what it writes in `check` and `explain`, the whole
way through a mock Kafka and a scripted gateway, the questions on a terminal, and the commands of docs/first-hour.md as printed.

    test_init.py BUILD
"""
from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from processes import Gateway, Kafka

PATIENCE_S = 300  # far beyond what any step takes
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "first-hour.md"
NOW_MS = int(time.time() * 1000) - 60_000


def iso(ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + f".{ms % 1000:03}Z"


# Messages, what else is said, and the row keys of the history and of the latest table.
Shape = tuple[str, list[Any], list[str], set[str], set[str]]
SHAPES: list[Shape] = [
    ("nested, seconds", [{"turbine": {"name": f"t{i % 2}", "park": "sea"}, "epoch": NOW_MS // 1000 + i, "rpm": 12 + i, "kw": 1.5 * i}
                         for i in range(4)], [],
     {f"t{i % 2}#{(NOW_MS // 1000 + i) * 1000}" for i in range(4)}, {"t0", "t1"}),
    ("a list, microseconds", [[{"probe": "x", "t": NOW_MS * 1000 + 7, "ph": 7.1}, {"probe": "y", "t": NOW_MS * 1000 + 8, "ph": 6.9}]], [],
     {f"x#{NOW_MS * 1000 + 7}", f"y#{NOW_MS * 1000 + 8}"}, {"x", "y"}),
    ("a number for a key, nanoseconds", [{"meter_id": 4711, "val": {"kwh": 1}, "timestamp": NOW_MS * 1000000 + 1}], [],
     {f"4711#{NOW_MS * 1000000 + 1}"}, {"4711"}),
    ("long form, RFC 3339", [{"metric": m, "value": v, "asset": "press/1", "when": iso(NOW_MS)} for m, v in (("bar", 5), ("temp", 60))], [],
     {f"press/1#{m}#{NOW_MS}" for m in ("bar", "temp")}, {"press/1#bar", "press/1#temp"}),
    ("a time without zone", [{"tank": "T1", "at": iso(NOW_MS)[:19], "level": 3}], ["--zone", "UTC"],
     {f"T1#{NOW_MS // 1000 * 1000}"}, {"T1"}),
    ("a name that holds the separator", [{"tag": "AI#7", "ts": str(NOW_MS), "v": "1.25"}], [], {f"AI#7|{NOW_MS}"}, {"AI#7"}),
    ("a name that holds them all", [{"tag": "a#b|c~d!e", "ts": NOW_MS, "v": 2}], ["--key", "tag", "--table", "plant:RAW"], set(), set()),
    ("names that YAML reads otherwise", [{"no: #1": "k1", "a \"b\" {c}": 1, "true": NOW_MS, "ü": [1, 2]}],
     ["--key", "no: #1", "--time", "true"], {f"k1#{NOW_MS}"}, {"k1"}),
    ("the record's own time", [{"gate": "g1", "n": 1}], ["--time", "$timestamp"], set(), {"g1"}),
    ("salted", [{"bus": "b1", "sent_ms": NOW_MS, "lat": 1.5, "time": NOW_MS}], ["--salt", "4", "--key", "bus"], set(), {"b1"}),
]


class Scene:
    def __init__(self, build: Path, directory: Path) -> None:
        self.program, self.directory = build / "daemon" / "tidemark", directory
        self.kafka = Kafka(build / "tests" / "fault" / "mock-kafka")
        self.gateway = Gateway(build / "tests" / "fault" / "scripted-gateway")

    def end(self) -> None:
        self.kafka.end()
        self.gateway.end()

    def run(self, *words: str, text: str = "", code: int = 0) -> str:
        done = subprocess.run([self.program, *words], cwd=self.directory, input=text, capture_output=True, text=True, timeout=PATIENCE_S)
        if done.returncode != code:
            raise AssertionError(f"tidemark {' '.join(words)}: exit code {done.returncode}, not {code}:\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr


def explained_keys(scene: Scene, file: str, text: str) -> dict[str, set[str]]:
    keys: dict[str, set[str]] = {}
    for line in scene.run("explain", "--offline", "-f", "json", "-c", file, text=text).splitlines():
        row = json.loads(line)
        keys.setdefault(row["table"], set()).add(row["row"])
    return keys


def test_shapes(scene: Scene) -> None:
    """Each shape: written, without a problem, and every message becomes the rows that it should."""
    for number, (what, messages, words, history, latest) in enumerate(SHAPES):
        file = f"shape-{number}.yaml"
        lines = "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages)
        shown = scene.run("init", "-c", file, *words, text=lines)
        assert "is written. Next:" in shown, f"{what}: {shown}"
        checked = scene.run("check", "--offline", "-c", file)
        assert "no problems" in checked, f"{what}: {checked}"
        keys = explained_keys(scene, file, lines)
        assert len(keys) == 2, f"{what}: {keys}"
        names = sorted(keys, key=lambda name: "CURRENT_" in name)
        for name, expected in zip(names, (history, latest)):
            assert not expected or keys[name] == expected, f"{what}: {name} has {keys[name]}, not {expected}"
        for row in sum((list(rows) for rows in keys.values()), []):
            assert row.replace("\\", "\\\\") in shown or isinstance(messages[0], list) or len(messages) > 1 or not history, f"{what}: '{row}' is not shown:\n{shown}"
        assert ("line 1, reading 2 of 2" not in shown and f"\nand 1 more: tidemark explain --offline -c {file}\n" in shown) == \
            isinstance(messages[0], list), shown
    before = (scene.directory / "shape-0.yaml").read_bytes()
    missing = scene.run("init", "no-such-file.jsonl", "-c", "missing.yaml", code=74)
    assert "cannot open 'no-such-file.jsonl'" in missing, missing
    refused = scene.run("init", "-c", "shape-0.yaml", text=lines, code=74)
    assert "already exists" in refused, refused
    assert (scene.directory / "shape-0.yaml").read_bytes() == before
    for text, code in ((f'{{"host":"a","ts":{NOW_MS}}}', 65), ('{"host":"a"', 65), ('{"host":"a","v":1}', 65),
                       (f'{{"host":"a","ts":"{iso(NOW_MS)[:19]}","v":1}}', 64)):
        scene.run("init", "-c", "none.yaml", text=text, code=code)
        assert not (scene.directory / "none.yaml").exists(), text
    print(f"shapes: {len(SHAPES)} written, checked and explained; none is written twice")


def test_splits(scene: Scene) -> None:
    """Of things enough the history gets regions, which are made; a salt has its own, and of few things the file says how to get them."""
    lines = "".join(json.dumps({"pump": f"p-{37 * i % 40:02}", "ts": NOW_MS + i, "bar": i}) + "\n" for i in range(80))
    for name, text, words, expected in (("many", lines, [], [b"p-1", b"p-2", b"p-3"]), ("few", lines[:200], [], []),
                                        ("salted", lines, ["--salt", "2"], [])):
        scene.run("init", "-c", f"{name}.yaml", *words, text=text)
        assert "no problems" in scene.run("check", "--offline", "-c", f"{name}.yaml")
        written = (scene.directory / f"{name}.yaml").read_text()
        found = re.findall(r"^    splits: \[(.*)\]$", written, re.MULTILINE)
        assert found == [", ".join(point.decode() for point in expected)] * bool(expected), f"{name}: {written}"
        joined = written.replace("\n    #", "")
        assert ("'tidemark tables create METRIC --sample " in joined) == (name != "salted"), f"{name}: {written}"
    planned = scene.run("tables", "create", "--dry-run", "-c", "many.yaml")
    assert re.search(r"create .METRIC.*'p-1'.*'p-2'.*'p-3'", planned) and planned.count("p-1") == 1, planned
    print("splits: of many things, not of few, nor beside a salt")


def test_forms(scene: Scene) -> None:
    """Lines without a line of names, and lists of readings in each message: nothing is left to be written by hand."""
    lines = "p 1;" + iso(NOW_MS) + ";1,5;2,25\np 2;" + iso(NOW_MS) + ";1;2\n"
    scene.run("init", "--format", "csv", "--columns", "pump,at,low,high", "-c", "columns.yaml", text=lines)
    assert "no problems" in scene.run("check", "--offline", "-c", "columns.yaml")
    keys = explained_keys(scene, "columns.yaml", lines)
    assert keys == {"METRIC": {f"p {i}#{NOW_MS}" for i in (1, 2)}, "CURRENT_METRIC": {"p 1", "p 2"}}, keys
    message = json.dumps({"id": 7, "data": {"buoy": "b", "at": NOW_MS, "obs": [{"k": "wave", "v": 1}, {"k": "temp", "v": 2}]}}) + "\n"
    scene.run("init", "--each", "data/obs", "-c", "each.yaml", text=message)
    keys = explained_keys(scene, "each.yaml", message)
    assert keys == {"METRIC": {f"7#{k}#{NOW_MS}" for k in ("wave", "temp")}, "CURRENT_METRIC": {"7#wave", "7#temp"}}, keys
    (scene.directory / "each.json").write_text(json.dumps(json.loads(message), indent=1))
    said = scene.run("init", "--each", "data/obs", "-c", "file.yaml", "each.json")
    assert "\nand 1 more: tidemark explain --offline -c file.yaml --whole < each.json\n" in said, said
    said = scene.run("init", "--each", "data/obs", "--key", "data/buoy", "-c", "one.yaml", text=message)
    assert "2 values would be overwritten by another reading with the same key and time" in said, said
    for words, code in ((["--columns", "a,b"], 64), (["--each", "a", "--format", "csv"], 64), (["--each", "none"], 65),
                        (["--format", "csv", "--time", iso(NOW_MS)], 64), (["--format", "csv"], 65),
                        (["--columns", "pump,,x,y", "--format", "csv", "--key", "pump", "--time", "$timestamp"], 78)):
        scene.run("init", *words, "-c", "none.yaml", text=lines if "csv" in words else message, code=code)
        assert not (scene.directory / "none.yaml").exists()
    print("forms: columns and lists of readings")


def round_of_machines(rounds: int) -> str:
    """Machines of few sites, each once a round."""
    return "".join(json.dumps({"site": f"s{i % 4}", "machine": f"m-{i % 40}", "ts": NOW_MS + i, "temp": i / 2}) + "\n" for i in range(40 * rounds))


def test_doubts(scene: Scene) -> None:
    """What the samples cannot tell is not taken unseen: machines that share their site's rows would be lost."""
    for text, part in ((round_of_machines(1), "no value of 'machine' (text, 40 different) repeats in these 40 readings"),
                       (f'{{"host":"a","ts":{NOW_MS},"v":1}}\n{{"host":"a","ts":{NOW_MS},"v":2}}\n', "in these 2 readings, 1 value would be overwritten")):
        for words in ([], ["--yes"]):
            refused = scene.run("init", *words, "-c", "doubt.yaml", text=text, code=65)
            assert part in refused and not (scene.directory / "doubt.yaml").exists(), refused
    mixed = f'{{"host":"a","ts":{NOW_MS},"v":1}}\n{{"host":"a#","ts":{NOW_MS},"load":2}}\n{{"host":"a","ts":{NOW_MS}}}\n'
    refused = scene.run("init", "--yes", "-c", "rejects.yaml", text=mixed, code=65)
    assert "1 of the samples would be rejected, so nothing is written" in refused, refused
    assert "'when: { field: value, present: true }'" in refused, refused
    said = scene.run("init", "--yes", "--key", "site", "-c", "site.yaml", text=round_of_machines(1))
    assert "is a guess" not in said, said
    scene.run("init", "--yes", "-c", "machine.yaml", text=round_of_machines(2))
    text = (scene.directory / "machine.yaml").read_text()
    assert "    key: [{ field: machine }, \"#\", { time: epoch_ms }]\n" in text, text
    (scene.directory / "doubt.jsonl").write_text(round_of_machines(1))
    terminal = Terminal(scene, "init", "doubt.jsonl", "-c", "asked-key.yaml")
    terminal.answer("[ts]: ", "\n")
    terminal.read_until("no value of 'machine' (text, 40 different) repeats")
    terminal.answer("separated by commas [site]: ", "machine\n")
    for _ in range(5):
        terminal.answer("]: ", "\n")
    terminal.read_until("asked-key.yaml is written")
    assert terminal.end() == 0
    print("doubts: refused, asked, and said otherwise")


def fit(file: Path) -> None:
    """There is one port, and several tests at a time; and the mock's group may be in a rebalance when the second of two consumers ends."""
    file.write_text(file.read_text().replace("kafka:\n", "kafka:\n  threads: 1\n", 1) + "\nservice:\n  http: off\n")


def test_from_topic(scene: Scene) -> None:
    """Topic, init, check, tables, run, rows; nothing is committed before the daemon does."""
    scene.kafka.ask("topic", "valves", "2")
    readings = [{"valve": {"id": f"v{i % 3}"}, "at": NOW_MS + i, "open": i / 10} for i in range(30)]
    for i, reading in enumerate(readings):
        scene.kafka.ask(*scene.kafka.produce_command("valves", i % 2, None, json.dumps(reading).encode(), NOW_MS + i, []))
    scene.kafka.ask(*scene.kafka.produce_command("valves", 0, b"v1", None, NOW_MS, []))  # a tombstone is no sample
    scene.kafka.ask("flush")
    begin = time.monotonic()
    shown = scene.run("init", "--from-topic", "-b", scene.kafka.greeting, "-t", "valves", "--count", "10", "--group", "first",
                      "--gateways", f"127.0.0.1:{scene.gateway.greeting}", "-c", "valves.yaml")
    assert "partition " in shown and "line 1" not in shown, shown  # the message is named by its place in the topic
    assert set(scene.kafka.committed("first", [("valves", 0), ("valves", 1)]).values()) <= {-1, -1001}
    file = scene.directory / "valves.yaml"
    fit(file)
    scene.run("tables", "create", "-c", "valves.yaml")
    scene.run("check", "-c", "valves.yaml")
    scene.run("run", "--until-end", "-c", "valves.yaml")
    seconds = time.monotonic() - begin
    tables = scene.gateway.dump(["METRIC", "CURRENT_METRIC"])
    expected = {f"v{i % 3}#{NOW_MS + i}".encode(): {("M", b"open"): (NOW_MS + i, str(i / 10).encode())} for i in range(30)}
    assert tables["METRIC"] == expected, tables["METRIC"]
    newest = {f"v{i % 3}".encode(): {("M", b"open"): (NOW_MS + i, str(i / 10).encode())} for i in range(27, 30)}
    assert tables["CURRENT_METRIC"] == newest, tables["CURRENT_METRIC"]
    print(f"from a topic to rows: {seconds:.1f} s")


def test_spread(scene: Scene) -> None:
    """Samples are of the topic's begin, middle and end, and of as many devices as are asked for; what is found then, `explain` and
    `check` find as well."""
    scene.kafka.ask("topic", "wide", "2")
    for i in range(1000):
        pump = "rare" if 700 <= i < 704 else f"p{i // 200}"
        message = json.dumps({"pump": pump, "ts": NOW_MS + i, "bar": i + 0.5}).encode()
        scene.kafka.ask(*scene.kafka.produce_command("wide", i % 2, None, message, NOW_MS + i, []))
    scene.kafka.ask("flush")
    words = ["init", "--from-topic", "-b", scene.kafka.greeting, "-t", "wide", "--gateways", f"127.0.0.1:{scene.gateway.greeting}", "--group", "wide",
             "--table", "WIDE"]
    said = scene.run(*words, "--count", "100", "-c", "wide.yaml")
    assert re.search(r"^pump +100 +5 ", said, re.MULTILINE), said  # p0 to p4
    assert f"samples: 100 messages of 2 partitions, from {iso(NOW_MS)} to {iso(NOW_MS + 999)}" in said, said
    said = scene.run(*words, "--count", "100", "--devices", "6", "-c", "all.yaml")
    assert re.search(r"^pump +(400|1000) +6 ", said, re.MULTILINE), said
    said = scene.run(*words, "--devices", "7", "-c", "more.yaml")
    assert "note: 6 of the 7 devices were seen" in said and re.search(r"^pump +1000 +6 ", said, re.MULTILINE), said
    scene.run("init", "--devices", "2", "-c", "none.yaml", text="{}", code=64)
    file = scene.directory / "wide.yaml"
    file.write_text(file.read_text().replace('key: [{ field: pump }, "#", { time: epoch_ms }]', "key: [{ field: pump }]"))
    fit(file)
    scene.run("tables", "create", "-c", "wide.yaml")
    explained = scene.run("explain", "--offline", "--from-topic", "--count", "1000", "-f", "json", "-c", "wide.yaml")
    assert sum('"table":"WIDE"' in line for line in explained.splitlines()) == 1000
    checked = scene.run("check", "--from-topic", "-c", "wide.yaml")
    assert "the newest 1,000 messages were tried, 0 would be rejected" in checked, checked
    print("spread: samples of all of a topic, and of as many devices as asked for")


def test_kafka_properties(scene: Scene) -> None:
    """They are the connection's that reads the samples, and stand in the file; of secrets, only where they are."""
    (scene.directory / "password").write_text("s3cret")
    (scene.directory / "password").chmod(0o600)
    words = ["init", "--from-topic", "-b", scene.kafka.greeting, "-t", "valves"]

    def properties(*given: str) -> list[str]:
        return [word for one in given for word in ("--kafka", one)]
    scene.run(*words, "-c", "asked.yaml", *properties("fetch.wait.max.ms=20", "sasl.username=meter", "sasl.password={ file: password }"))
    text = (scene.directory / "asked.yaml").read_text()
    assert "  librdkafka:\n    fetch.wait.max.ms: 20\n    sasl.username: meter\n    sasl.password: { file: password }\n" in text, text
    assert "no problems" in scene.run("check", "--offline", "-c", "asked.yaml")
    said = scene.run(*words, "-c", "none.yaml", *properties("security.protocol=ssl"), code=69)  # these brokers speak no TLS
    assert "SSL" in said, said
    said = scene.run("init", "--from-topic", "-b", scene.kafka.greeting, "-t", "nosuch", "-c", "none.yaml", code=69)
    assert "topic 'nosuch' does not exist" in said, said
    for given, code, what in (("sasl.password=s3cret", 64, "'sasl.password={ file: PATH }'"), ("ssl.ca.location", 64, "NAME=VALUE"),
                              ("group.id=other", 78, "use 'kafka.group'"), ("sasl.password={ file: missing }", 78, "missing"),
                              ("no.such=1", 78, "no.such")):
        said = scene.run(*words, "-c", "none.yaml", *properties(given), code=code)
        assert what in said and "s3cret" not in said, said
    # without a connection, what `check --offline` would refuse is not written either
    (scene.directory / "valves.jsonl").write_text(f'{{"host":"h1","ts":{NOW_MS},"v":1}}\n')
    for given, what in ((["no.such=1"], "'no.such' is not a property of librdkafka"), (["fetch.min.byte=1"], "did you mean 'fetch.min.bytes'"),
                        (["security.protocol=ssl", "ssl.ca.location=/no/such.pem"], "nothing is written: kafka.librdkafka: 'ssl.ca.location'")):
        said = scene.run("init", "valves.jsonl", "-c", "none.yaml", *properties(*given), code=78)
        assert what in said and "is written. Next" not in said, said
    assert not (scene.directory / "none.yaml").exists()
    print("properties of Kafka: handed on, written, refused")


AVRO = json.dumps({"type": "record", "name": "Reading", "fields": [
    {"name": "host", "type": "string"}, {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "count", "type": "int"}]})
DESCRIPTORS = Path(__file__).resolve().parents[1] / "formats" / "readings.desc"  # of plant.Reading: host, count, at


def varint(number: int) -> bytes:
    return bytes([number & 0x7F | 0x80]) + varint(number >> 7) if number > 0x7F else bytes([number])


def avro(host: str, count: int) -> bytes:
    return varint(2 * len(host)) + host.encode() + varint(2 * (NOW_MS + count)) + varint(2 * count)


def protobuf(host: str, count: int) -> bytes:
    seconds, ms = divmod(NOW_MS + count, 1000)
    moment = b"\x08" + varint(seconds) + (b"\x10" + varint(ms * 1000000) if ms > 0 else b"")
    return b"\x0A" + varint(len(host)) + host.encode() + b"\x20" + varint(count) + b"\xBA\x01" + varint(len(moment)) + moment


class Registry(BaseHTTPRequestHandler):
    """It knows one schema, number 7, and tells it to one user, meter:s3cret."""

    def do_GET(self) -> None:
        known = self.path.startswith("/schemas/ids/7") and self.headers["Authorization"] == "Basic bWV0ZXI6czNjcmV0"
        body = json.dumps({"schema": AVRO} if known else {"error_code": 40403, "message": "Schema not found"}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def container_samples(scene: Scene) -> None:
    """What `load` reads of Avro is a sample too, with the schema in it, or with another that the topic's messages have."""
    def run(data: bytes) -> bytes:
        return varint(2 * len(data)) + data
    records = b"".join(avro(f"h{i % 2}", i) for i in range(6))
    whole = (b"Obj\x01" + varint(2) + run(b"avro.schema") + run(AVRO.encode()) + varint(0) + bytes(16)
             + varint(12) + run(records) + bytes(16))
    (scene.directory / "history.avro").write_bytes(whole)
    said = scene.run("init", "--format", "avro", "history.avro", "-c", "history.yaml")
    assert f"METRIC  h0#{NOW_MS}\n" in said and "the configuration uses the schema in 'history.avro'" in said, said
    assert f"  schema: {scene.directory}/history.avro\n" in (scene.directory / "history.yaml").read_text()
    scene.run("check", "--offline", "-c", "history.yaml")
    said = scene.run("load", "--dry-run", "-c", "history.yaml", "history.avro")
    assert " 6 rows for METRIC\n" in said, said
    scene.run("init", "--format", "avro", "--schema", "reading.avsc", "history.avro", "-c", "history-2.yaml")
    assert "reading.avsc" in (scene.directory / "history-2.yaml").read_text()
    (scene.directory / "cut.avro").write_bytes(whole[:-20])
    said = scene.run("init", "--format", "avro", "cut.avro", "-c", "none.yaml", code=65)
    assert "it ends within a block" in said, said
    said = scene.run("init", "--format", "avro", "--schema", "reading.avsc", "-c", "none.yaml", text=whole.decode("latin-1"), code=65)
    assert "an object container file, which only 'init' and 'load' can read" in said, said


def test_schemas(scene: Scene) -> None:
    """Messages that a schema describes: from a topic to rows, and from a file; of a build without them it is said."""
    registry = HTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=registry.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{registry.server_address[1]}"
    (scene.directory / "reading.avsc").write_text(AVRO)
    (scene.directory / "etc").mkdir()
    (scene.directory / "registry.password").write_text("s3cret")
    (scene.directory / "registry.password").chmod(0o600)
    built_in = re.search(r"^  readings +(.*)$", scene.run("version"), re.MULTILINE)
    assert built_in
    cases = (("AVRO", ["--format", "avro", "--schema", "reading.avsc"], avro),
             ("NUMBERED", ["--format", "avro", "--registry", address, "--registry-user", "meter", "--registry-password", "registry.password"],
              lambda host, count: b"\0\0\0\0\7" + avro(host, count)),
             ("PROTOBUF", ["--format", "protobuf", "--schema", str(DESCRIPTORS), "--message", "plant.Reading"], protobuf),
             ("FRAMED", ["--format", "protobuf", "--schema", str(DESCRIPTORS), "--framing", "confluent"],
              lambda host, count: b"\0\0\0\0\1\2\4" + protobuf(host, count)))
    for table, words, message in cases:
        if words[1] not in built_in[1]:
            said = scene.run("init", *words, "-c", "none.yaml", code=78)
            assert "is not supported by this build, which lacks" in said, said
            continue
        scene.kafka.ask("topic", table, "1")
        for i in range(6):
            scene.kafka.ask(*scene.kafka.produce_command(table, 0, None, message(f"h{i % 2}", i), NOW_MS, []))
        scene.kafka.ask("flush")
        file = scene.directory / f"{table}.yaml"
        scene.run("init", "--from-topic", *words, "-b", scene.kafka.greeting, "-t", table, "--table", table, "--group", table,
                  "--gateways", f"127.0.0.1:{scene.gateway.greeting}", "-c", file.name)
        fit(file)
        scene.run("tables", "create", "-c", file.name)
        scene.run("run", "--until-end", "-c", file.name)
        rows = scene.gateway.dump([table])[table]
        assert set(rows) == {f"h{i % 2}#{NOW_MS + i}".encode() for i in range(6)}, f"{table}: {rows}"
        (scene.directory / "sample").write_bytes(message("h9", 1))
        said = scene.run("init", *words, "sample", "-c", f"etc/{table}.yaml")
        assert f"METRIC  h9#{NOW_MS + 1}\n" in said, said
        scene.run("check", "--offline", "-c", f"etc/{table}.yaml")
        (scene.directory / "sample").write_bytes(b"\xFF\xFF")
        said = scene.run("init", *words, "sample", "-c", "none.yaml", code=65)
        assert "the whole: " in said and "'--schema'" in said, said
    if "avro" in built_in[1]:
        container_samples(scene)
    descriptors = ["--schema", str(DESCRIPTORS)]
    for words, what in ((["--format", "avro"], "needs '--schema'"), (["--format", "avro", *descriptors, "--registry", address], "not both"),
                        (["--format", "protobuf", *descriptors], "and '--message'"), (["--format", "protobuf"], "a descriptor set"),
                        (descriptors, "'--schema' is for"), (["--registry", address], "'--registry' is for"),
                        (["--registry-user", "meter"], "are for '--registry'"),
                        (["--message", "a.B"], "'--message' is for"),
                        (["--format", "influx", "--framing", "confluent"], "'--framing' is for")):
        said = scene.run("init", *words, "-c", "none.yaml", code=64)
        assert what in said, said
    assert not (scene.directory / "none.yaml").exists()
    registry.shutdown()
    print(f"schemas: {', '.join(table for table, *_ in cases)}")


class Terminal:
    """A command whose input, output and errors are a terminal."""

    def __init__(self, scene: Scene, *words: str) -> None:
        self.said = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(scene.directory)
            os.execv(scene.program, [str(scene.program), *words])

    def read_until(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.said:
            if time.monotonic() > deadline or not self.read():
                raise AssertionError(f"'{text}' is not said:\n{self.said}")

    def read(self) -> bool:
        if not select.select([self.fd], [], [], 1)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the terminal's other end is closed
            return False
        self.said += data.decode(errors="replace").replace("\r\n", "\n")
        return data != b""

    def answer(self, question: str, text: str) -> None:
        self.read_until(question)
        self.said = self.said.split(question, 1)[1]
        os.write(self.fd, text.encode())

    def end(self) -> int:
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_terminal(scene: Scene) -> None:
    """Proposals are taken by Enter, a wrong answer is asked for again, and the end of the input writes nothing."""
    (scene.directory / "ask.jsonl").write_text(json.dumps({"rack": "r1", "host": "h1", "ts": NOW_MS, "made": NOW_MS - 5000, "v": 1}) + "\n")
    terminal = Terminal(scene, "init", "ask.jsonl", "-c", "ask.yaml", "--gateways", "h:9090")
    terminal.answer("Field of the time, or $timestamp for the record's own time [ts]: ", "mad\n")
    terminal.answer("did you mean 'made'?", "")
    terminal.answer("[ts]: ", "made\n")
    terminal.answer("Fields of the row key in order, separated by commas [", "rack, host\n")
    terminal.answer("History table", "RACKS\n")
    terminal.answer("Kafka brokers [127.0.0.1:9092]: ", "\n")
    terminal.answer("Topic [metrics]: ", "hosts\n")
    terminal.answer("Topic for dead letters, or 'file' [file]: ", "letters\n")
    terminal.read_until("ask.yaml is written")
    assert "gateways [" not in terminal.said  # an option has said it
    assert terminal.end() == 0
    text = (scene.directory / "ask.yaml").read_text()
    for part in ("field: made\n", "key: [{ field: rack }, \"#\", { field: host }, \"#\", { time: epoch_ms }]\n", "  CURRENT_RACKS:\n",
                 "topics: [hosts]\n", "brokers: \"127.0.0.1:9092\"\n", "topic: letters\n", "gateways: [\"h:9090\"]\n"):
        assert part in text, f"'{part}' is not in:\n{text}"
    terminal = Terminal(scene, "init", "ask.jsonl", "-c", "ended.yaml")
    terminal.answer("[ts]: ", "\x04")
    terminal.read_until("nothing is written")
    assert terminal.end() != 0 and not (scene.directory / "ended.yaml").exists()
    # the sample itself from the terminal, and questions behind its end
    terminal = Terminal(scene, "init", "-c", "typed.yaml")
    terminal.answer("end with Ctrl-D", f'{{"host":"h1","ts":{NOW_MS},"v":1}}\n\x04')
    for _ in range(7):
        terminal.answer("]: ", "\n")
    terminal.read_until("typed.yaml is written")
    assert terminal.end() == 0
    print("terminal: answers taken, refused and missing")


def guide_commands() -> list[str]:
    """The guide's commands up to the service, which is root's."""
    return re.findall(r"^```sh\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_guide(scene: Scene) -> None:
    """docs/first-hour.md as printed, with the addresses of this test."""
    scene.kafka.ask("topic", "pumps", "1")
    home = scene.directory / "guide"
    home.mkdir()
    blocks = guide_commands()
    assert len(blocks) >= 6, blocks
    shown = ""
    for block in blocks:
        here = block.replace("127.0.0.1:9092", scene.kafka.greeting).replace("127.0.0.1:9090", f"127.0.0.1:{scene.gateway.greeting}")
        done = subprocess.run(["sh", "-e", "-c", here], cwd=home, capture_output=True, text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PATH": f"{scene.program.parent}:{os.environ['PATH']}"})
        assert done.returncode == 0, f"{block}\nexit code {done.returncode}:\n{done.stdout}{done.stderr}"
        shown += done.stdout
        file = home / "pumps.yaml"
        if file.exists() and "service:" not in file.read_text():
            fit(file)
    for part in ("at                3          ", "time, rfc3339", "  PUMPS  p-1#", "CURRENT_PUMPS"):
        assert part in shown, f"'{part}' is not shown:\n{shown}"
    rows = scene.gateway.dump(["PUMPS", "CURRENT_PUMPS"])
    assert len(rows["PUMPS"]) == 3 and set(rows["CURRENT_PUMPS"]) == {b"p-1", b"p-2", b"p-3"}, rows
    print(f"first-hour.md: {len(blocks)} blocks of commands")


def main() -> int:
    build = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="tidemark-init-") as directory:
        scene = Scene(build, Path(directory))
        try:
            for test in (test_shapes, test_splits, test_forms, test_doubts, test_terminal, test_from_topic, test_spread,
                         test_kafka_properties, test_schemas, test_guide):
                test(scene)
        finally:
            scene.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())

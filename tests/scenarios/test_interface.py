#!/usr/bin/env python3
"""Holds to interface.txt what others build on and no renaming may change: names and forms that a running daemon, its commands
and its references show. With --write, makes that file anew.

    test_interface.py BUILD [--write]
"""
from __future__ import annotations

import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any, Iterator

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from built import build_of  # noqa: E402 pylint: disable=wrong-import-position
from processes import Gateway, Kafka, unescape

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
GOLDEN = HERE / "interface.txt"
HEAD = "# What others build on, as test_interface.py sees it from outside: lines may come, none may change or go\n"
PATIENCE_S = 60
TIME_MS = 1500000000000
SCHEMES = "tidemark_schemes"
MAX_CELL_BYTES = 2000  # what the gateway takes: a longer value makes a refused row

# Each kind of key part whose description is kept with its table; and the kinds of tables that print something else.
TABLES: dict[str, Any] = {
    "HISTORY": {"key": [{"field": "host"}, "#", {"time": "epoch_ms"}], "columns": {"family": "M", "from": "*"}, "ttl": "36500d"},
    "CURRENT": {"latest": "merge", "key": [{"field": "host"}], "columns": {"family": "M", "from": "*"}},
    "NEWEST": {"latest": "merge", "index_of": "HISTORY", "key": [{"field": "host"}],
               "columns": {"family": "M", "from": [{"value": {"time": "epoch_ms", "binary": True}, "as": "ts"}]}},
    "PARTS": {"key": [{"salt": 4, "of": "host"}, {"hash": "murmur3", "of": "host", "bytes": 4}, {"field": "host"}, "#",
                      {"field": "rack", "width": 6, "pad": "0", "long": "cut", "case": "lower", "default": "none"},
                      {"field": "n", "as": "uint32", "range": [0, 1000], "default": "0"}, {"hex": "00ff"},
                      {"time": "epoch_s", "reversed": True, "binary": True}],
              "columns": {"family": "M", "from": "*"}},
    "DAYS": {"key": [{"field": "host"}, {"time": "yyyyMMdd", "cut": "day", "zone": "Europe/Berlin"}],
             "columns": {"family": "M", "from": ["cpu"], "qualifier": [{"time": "HHmm", "cut": "15m"}]}},
}


def shape(value: Any, path: str = "") -> Iterator[str]:
    """Where each member of JSON stands: "cells[].time"."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from shape(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for member in value:
            yield from shape(member, f"{path}[]")
    if path and not isinstance(value, dict):
        yield path


def shapes(text: str) -> set[str]:
    found: set[str] = set()
    for line in text.splitlines():
        found |= set(shape(json.loads(line)))
    return found


class Scene:
    """A mock Kafka and a scripted gateway, a daemon that has written and refused, and commands beside it."""

    def __init__(self, build: Path, directory: Path) -> None:
        self.build = build
        self.program = build / "daemon" / "tidemark"
        self.directory = directory
        self.kafka = Kafka(build / "tests" / "fault" / "mock-kafka")
        self.gateway = Gateway(build / "tests" / "fault" / "scripted-gateway")
        self.kafka.ask("topic", "t", "1")
        self.kafka.ask("topic", "letters", "1")
        self.gateway.ask("max-cell", str(MAX_CELL_BYTES))
        self.config: dict[str, Any] = {
            "kafka": {"brokers": self.kafka.greeting, "group": "g", "topics": ["t"], "threads": 1,
                      "librdkafka": {"fetch.wait.max.ms": 20}},
            "hbase": {"gateways": [f"127.0.0.1:{self.gateway.greeting}"]},
            "readings": {"time": {"field": "ts", "format": "epoch_ms"}},
            "tables": TABLES, "service": {"http": "127.0.0.1:0", "log_format": "json"}}
        self.state = directory / "state"
        self.file_config = self.write_config("file.yaml", {"file": "letters.jsonl"})
        self.topic_config = self.write_config("topic.yaml", {"topic": "letters"}, "boards")

    def write_config(self, name: str, dead_letters: dict[str, str], source: str = "") -> Path:
        path = self.directory / name
        config = {**self.config, "dead_letters": dead_letters, "kafka": {**self.config["kafka"], "group": path.stem}}
        if source:
            config["sources"] = {source: {"topics": config["kafka"].pop("topics"), "readings": config.pop("readings")}}
        path.write_text(json.dumps(config))
        return path

    def end(self) -> None:
        self.kafka.end()
        self.gateway.end()

    def run(self, words: str, text: str = "") -> tuple[int, str]:
        done = subprocess.run([self.program, *words.split()], cwd=self.directory, input=text, capture_output=True, text=True,
                              timeout=PATIENCE_S)
        return done.returncode, done.stdout

    def output(self, words: str, text: str = "", good: tuple[int, ...] = (0,)) -> str:
        code, out = self.run(f"{words} -c {self.file_config}", text)
        if code not in good:
            raise AssertionError(f"tidemark {words}: exit code {code}: {out}")
        return out

    def produce(self, *values: str) -> None:
        for i, value in enumerate(values):
            self.kafka.ask(*self.kafka.produce_command("t", 0, b"k", value.encode(), TIME_MS + i, [("trace", b"1")]))
        self.kafka.ask("flush")

    def consume(self, config: Path, state: Path, until: tuple[str, ...]) -> tuple[str, str, int]:
        """A daemon that runs until its metrics say so: the metrics, its log, its exit code."""
        log = self.directory / f"{config.stem}.log"
        state.mkdir()
        with open(log, "wb") as errors:
            daemon = subprocess.Popen([self.program, "run", "-c", config], cwd=self.directory, stderr=errors,
                                      env={**os.environ, "STATE_DIRECTORY": str(state)})
        try:
            text, deadline = "", time.monotonic() + PATIENCE_S
            while not all(re.search(one, text) for one in until):
                if time.monotonic() > deadline or daemon.poll() is not None:
                    raise AssertionError(f"the daemon does not come so far:\n{log.read_text()}\n{text}")
                time.sleep(0.05)
                port = re.search(r"page and metrics at https?://\S+:(\d+)/", log.read_text())
                if port:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port[1]}/metrics", timeout=10) as reply:
                        text = reply.read().decode()
            daemon.terminate()
            code = daemon.wait(PATIENCE_S)  # what it still writes is part of its log
            return text, log.read_text(), code
        finally:
            daemon.kill()


def reference(name: str, begin: str, end: str) -> str:
    text = (DOCS / name).read_text()
    return text[text.index(begin):text.index(end)]


def yaml_keys() -> Iterator[str]:
    """The tables of docs/options.md, which a test of the program holds to its own."""
    section = ""
    for line in reference("options.md", "<!-- reference begins -->", "<!-- reference ends -->").splitlines():
        if line.startswith("## "):
            section = line[3:]
        row = re.match(r"\| <a id=\S+</a>`(\S+)` \| (.*?) \|", line)
        if row:
            words = re.findall(r"`([^`]+)`", row[2]) if row[2].startswith("one of") else []
            yield f"{section}: {row[1]}" + (f" = {' '.join(words)}" if words else "")


def reasons() -> Iterator[str]:
    """The table of docs/dead-letters.md, likewise."""
    return iter(re.findall(r"^\| `(\w+)` \|", reference("dead-letters.md", "<!-- reasons: begin", "<!-- reasons: end"), re.M))


def metric_names() -> Iterator[str]:
    """The table of docs/metrics.md, likewise."""
    return iter(re.findall(r"^\| `(tidemark_\w+)` \| (?:\w+) \|",
                           reference("metrics.md", "<!-- metrics: begin", "<!-- metrics: end"), re.M))


def labels(metrics: str) -> Iterator[str]:
    for name, inside in re.findall(r"^(tidemark_\w+)\{(.*)\} ", metrics, re.M):
        for label, value in re.findall(r'(\w+)="([^"]*)"', inside):
            yield f"{name} {label}" + (f"={value}" if label in ("method", "outcome", "reason") else "")


def commands(scene: Scene) -> Iterator[str]:
    for command in re.findall(r"^  ([a-z-]+) {2,}", scene.run("--help")[1], re.M):
        yield command
        for letter, option in re.findall(r"^ +(?:-(\w), )?--([a-z-]+)", scene.run(f"{command} --help")[1], re.M):
            yield f"{command} --{option}" + (f" -{letter}" if letter else "")


def output_forms(scene: Scene) -> Iterator[str]:
    """What programs read of the commands: members of JSON, columns of CSV."""
    good, bad = '{"host":"h","ts":%d,"cpu":1,"rack":"r"}\n' % TIME_MS, '{"ts":\n'
    for words, text in (("explain --offline", good + bad), ("tables show", ""), ("scan HISTORY host=h", ""),
                        ("scan HISTORY host=h --plan", ""), ("get CURRENT host=h", ""), ("latest CURRENT host=h", ""),
                        ("dead-letters list", ""), ("offsets show", ""), ("verify --to-end", ""),
                        ("bench --messages - --readings 10 --runs 1", good),
                        ("bench --plan --interval 5s --messages - --readings 10 --runs 1", good)):
        for place in sorted(shapes(scene.output(f"{words} -f json", text, (0, 1, 65)))):
            yield f"{words}: {place}"
        if words.split()[0] in ("scan", "get", "latest"):
            yield f"{words}: csv {scene.output(f'{words} -f csv').splitlines()[0]}"


def exit_codes(scene: Scene) -> Iterator[str]:
    wrong = scene.directory / "wrong.yaml"
    wrong.write_text("kafka: { broker: b }\n")
    lost = scene.directory / "lost.yaml"
    lost.write_text(json.dumps({**scene.config, "hbase": {"gateways": ["127.0.0.1:1"]}}))
    for what, words in (("differences", f"verify --to-end -c {scene.file_config}"),
                        ("unknown option", "scan --colour"),
                        ("unreadable message", f"explain --offline -c {scene.file_config}"), ("no gateway", f"tables show -c {lost}"),
                        ("wrong configuration", f"check --offline -c {wrong}"), ("no such file", "check --offline -c absent.yaml"),
                        ("no differences", "version")):
        yield f"{what}: {scene.run(words, '{')[0]}"


def kept_files(scene: Scene) -> Iterator[str]:
    """What a daemon keeps in its state directory: names and content."""
    code, text = scene.run(f"rollup DAYS --day 2017-07-14 --state {scene.state} -c {scene.file_config}")
    assert code == 0, text
    for path in sorted(scene.state.iterdir()):
        # A name of sixteen digits may happen to have no letter: one of some 1,800 has none.
        text = re.sub(r"^[0-9a-f]{16}$", "16 HEX DIGITS", path.read_text(), flags=re.M)
        text = re.sub(r"^mockCluster\w+", "CLUSTER", re.sub(r"^[0-9]+$", "PID", text, flags=re.M), flags=re.M)
        yield f"state/{path.name}: {text!r}"
    for path in sorted(scene.directory.glob("letters.jsonl*")):
        yield path.name


def kept_schemes(scene: Scene) -> Iterator[str]:
    """What stays in HBase, and is compared with the next program's words."""
    for line in scene.gateway.ask("dump", SCHEMES):
        row, column, _, value = line.split("\t", 3)
        yield f"table {SCHEMES}: {row} {column} {unescape(value).decode()}"
    made = Gateway(scene.build / "tests" / "fault" / "scripted-gateway")
    try:
        config = scene.directory / "made.yaml"
        config.write_text(json.dumps({**scene.config, "hbase": {"gateways": [f"127.0.0.1:{made.greeting}"]}}))
        code, text = scene.run(f"tables create -c {config}")
        assert code == 0, text
        for line in scene.run(f"tables show -f json -c {config}")[1].splitlines():
            table = json.loads(line)
            for attribute in table["attributes"]:
                if "scheme" in attribute["value"]:
                    yield f"attribute {attribute['name']} of {table['table']}: {attribute['value']}"
    finally:
        made.end()


def dead_letter_headers(scene: Scene) -> Iterator[str]:
    return (name for record in scene.kafka.read("letters", 1) for name, _ in record["headers"])


def collect(scene: Scene) -> dict[str, set[str]]:
    big = "x" * (2 * MAX_CELL_BYTES)
    good = '{"host":"h","ts":%d,"cpu":1,"rack":"r"}' % TIME_MS
    scene.produce(good, '{"ts":', '[%s,{"host":"h"}]' % good, '{"host":"h","ts":%d,"cpu":"%s"}' % (TIME_MS + 1, big))
    for table in TABLES:
        scene.gateway.ask("table", table, "M")
    scene.gateway.ask("fault", "io-error", "call=putMultiple", "max-hits=2")
    kept = ('reason="parse"', 'reason="missing_field"', 'reason="refused_by_hbase"')
    until = tuple(f"tidemark_dead_letters_total{{{one}}} 1" for one in kept)
    shown = ("kafka_committed_offset{", "kafka_consumer_lag{", "kafka_consumer_lag_seconds{", "kafka_rebalances_total{", "kafka_stored_offset{",
             f"messages_dead_lettered_total{{.*{kept[2]}")
    shown += (r"kafka_consumer_lag\{[^}]*\} 0\n",)  # all is committed: what shared a refused row is written
    metrics, log, code = scene.consume(scene.file_config, scene.state, (*until, *shown))
    scene.gateway.ask("table", SCHEMES, "s")
    metrics_2, log_2, _ = scene.consume(scene.topic_config, scene.directory / "state-2", (*until, *shown))
    scene.produce('{"host":"missing","ts":%d,"cpu":2}' % TIME_MS)
    letters = (scene.directory / "letters.jsonl").read_text()
    return {
        "commands": set(commands(scene)),
        "exit codes": {*exit_codes(scene), f"stopped: {code}"},
        "configuration": set(yaml_keys()),
        "reasons of dead letters": set(reasons()),
        "dead letters in a file": shapes(letters),
        "dead letters in a topic, headers": set(dead_letter_headers(scene)),
        "members of the log": shapes(log + log_2),
        "metrics": set(metric_names()),
        "labels of metrics": set(labels(metrics + metrics_2)),
        "output": set(output_forms(scene)),
        "files": set(kept_files(scene)),
        "schemes": set(kept_schemes(scene)),
    }


def main() -> int:
    build = build_of(sys.argv, "daemon/tidemark", "tests/fault/mock-kafka", "tests/fault/scripted-gateway")
    with tempfile.TemporaryDirectory(prefix="tidemark-interface-") as directory:
        scene = Scene(build, Path(directory))
        try:
            found = collect(scene)
        finally:
            scene.end()
    text = HEAD + "".join(f"== {name}\n" + "".join(f"{line}\n" for line in sorted(lines)) for name, lines in found.items())
    if "--write" in sys.argv:
        GOLDEN.write_text(text)
        return 0
    differences = list(difflib.unified_diff(GOLDEN.read_text().splitlines(), text.splitlines(), "interface.txt", "the program",
                                            lineterm="", n=0))
    print("\n".join(differences))
    if differences:
        print("Others build on each line of interface.txt: what is there must stay as it is. Something new: "
              "./check --write")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

"""The programs of docs/other-programs.md read tables that tidemark wrote, and print what the page says."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from case import Case, long
from daemon import DEADLINE_S

import java_flags
import java_program
import maven_jars

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/docs"))
from blocks import Block, blocks_of  # noqa: E402 pylint: disable=wrong-import-position

PAGE = ROOT / "docs/other-programs.md"
PHOENIX_TYPES = maven_jars.HERE / "java" / "PhoenixTypes.java"
TABLES = ("METRIC", "CURRENT_METRIC")
TIME_MS = 1426535612045


def block(language: str, begins: str = "") -> Block:
    """The page's first block of this language whose first line begins so."""
    text = PAGE.read_text(encoding="utf-8")
    return next(one for one in blocks_of("page", text) if one.language == language and one.first.startswith(begins))


class OtherPrograms(Case):

    def configured(self, tables: str) -> str:
        """A configuration with these tables, which are YAML."""
        path = self.work / "tidemark.yaml"
        gateways = json.dumps([gateway.address for gateway in self.stack.gateways[:2]])
        path.write_text(f'kafka: {{ brokers: "{self.kafka.address}", group: {self.name}, topics: [{self.name}] }}\n'
                        f"hbase: {{ gateways: {gateways} }}\n"
                        "readings: { time: { field: ts, format: epoch_ms } }\n"
                        f"service: {{ http: off }}\n{tables}", encoding="utf-8")
        return str(path)

    def write_readings(self) -> str:
        """The tables of the page with their readings; the configuration's path."""
        config = self.configured(block("yaml").text)
        self.drop_later(*TABLES)
        self.create_topic(1)
        self.command("tables", "create", "-c", config)
        self.send(block("json").text.splitlines())
        self.command("run", "--until-end", "-c", config)
        return config

    def printed(self, command: list[str], **environment: str) -> list[str]:
        done = subprocess.run(command, cwd=self.work, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
                              timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def python(self, begins: str, *arguments: str, **environment: str) -> list[str]:
        program = self.work / "program.py"
        program.write_text(block("python", begins).text, encoding="utf-8")
        return self.printed(["/usr/bin/python3", str(program), *arguments], **environment)

    def test_other_programs_read_what_was_written(self) -> None:
        config = self.write_readings()
        expected = block("text").text.splitlines()

        source = self.work / "ReadMetrics.java"
        source.write_text(block("java").text, encoding="utf-8")
        classes = java_program.compiled("read-metrics", [source], maven_jars.classpath_file("hbase"))
        java = [java_flags.java(), *java_flags.hbase("reader", self.work / "reader.log", heap="128m", peak_speed=False), "ReadMetrics",
                f"127.0.0.1:{self.stack.hbase.zookeeper_port}"]
        self.assertEqual(self.printed(java, CLASSPATH=f"{classes}:{maven_jars.classpath('hbase')}"), expected, "Java")

        subprocess.run(["thrift", "--gen", "py", "-out", str(self.work), str(ROOT / "thrift/hbase.thrift")], check=True)
        host, port = self.stack.gateways[0].address.split(":")
        self.assertEqual(self.python("# read_metrics.py", host, port), expected, "Python by a gateway")

        # As `tidemark` on the path, with the configuration in its usual place.
        tool = self.work / "tidemark"
        tool.write_text(f'#!/bin/sh\nexec "{self.tidemark}" "$@" -c "{config}"\n', encoding="ascii")
        tool.chmod(0o755)
        self.assertEqual([line.replace("None", "-") for line in self.python("# scan.py", PATH=f"{self.work}:{os.environ['PATH']}")],
                         expected[:-1], "Python by scan")  # of the history alone

    @long
    def test_other_programs_phoenix_types(self) -> None:
        """Each line of the page's table: the bytes that tidemark makes of the value, decoded by Phoenix's type."""
        section = PAGE.read_text(encoding="utf-8").split("\n## Phoenix\n")[1]
        rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| `(\w+)` \| `?([^`|]+?)`? \|$", section, re.M)
        self.assertGreater(len(rows), 10)
        asked = "".join(f"{kind} {self.bytes_of(part, value)}\n" for part, value, kind, _ in rows)
        hbase = maven_jars.classpath_file("hbase").read_text(encoding="utf-8").strip()
        classpath = self.work / "phoenix.classpath"
        classpath.write_text(f"{maven_jars.classpath('phoenix')}:{hbase}", encoding="utf-8")
        classes = java_program.compiled("phoenix-types", [PHOENIX_TYPES], classpath)
        done = subprocess.run([java_flags.java(), *java_flags.QUICK_START, "PhoenixTypes"], input=asked, capture_output=True, text=True,
                              check=False, timeout=DEADLINE_S, env=java_flags.environment(f"{classes}:{classpath.read_text()}"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(*row[:3], seen) for row, seen in zip(rows, done.stdout.splitlines(), strict=True)], rows)

    def bytes_of(self, part: str, value: str) -> str:
        """The hexadecimal bytes of a value by `encode`, or by a part of a key."""
        column = f"from: [v], {part}" if part.startswith("encode") else f"from: [{{ value: {part}, as: v }}]"
        config = self.configured(f'tables: {{ T: {{ key: [{{ time: epoch_ms }}], columns: {{ family: M, {column} }} }} }}\n')
        reading = f'{{"ts":{TIME_MS},"v":{value}}}\n'
        cell = json.loads(self.command("explain", "--offline", "-f", "json", "-c", config, stdin=reading).splitlines()[0])["cells"][0]
        return str(cell.get("value_hex") or cell["value"].encode().hex())

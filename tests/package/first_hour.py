"""A newcomer's first hour with the installed package, by the commands of README.md: a configuration of his own messages, tables, the
service, its page in a real Chromium, a reload, a gateway that goes away, dead letters, an upgrade; every cell is compared."""
from __future__ import annotations

import json
import re
import threading
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable

from browser import Browser, assert_has
from clean_root import CleanRoot
from stack_services import free_port
from world import World

ROOT = Path(__file__).resolve().parents[2]
UNIT = "tidemark.service"
CONFIGURATION = "/etc/tidemark/tidemark.yaml"
DEAD_LETTERS = "/var/lib/tidemark/dead-letters.jsonl"
# Of a shape that no example has.
TOPIC, HISTORY, LATEST = "boilers", "METRIC", "CURRENT_METRIC"
# Of a clock that has lost its battery: before `readings.time.earliest`, which an operator may put earlier.
LOST_MS = 915148800000


def commands() -> list[str]:
    """README's, behind the installation."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    block = next(block for block in blocks if "apt install ./" in block)
    return [line for line in block.splitlines() if line.startswith(("tidemark ", "systemctl "))]


class FirstHour:
    def __init__(self, machine: CleanRoot, world: World, browser: Browser | None) -> None:
        self.machine, self.world, self.browser = machine, world, browser
        self.init, self.check, self.start = commands()
        self.port = free_port()
        self.begin_ms = int(time.time()) * 1000 - 7_200_000
        self.sent: list[dict[str, Any]] = []

    # Messages, and what they must become

    def reading(self, at_ms: int) -> dict[str, Any]:
        number = len(self.sent)
        taken = datetime.fromtimestamp(at_ms / 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"boiler": {"serial": f"B-{number % 3}", "hall": "east"}, "taken": taken, "temp": {"in": number, "out": number / 4}}

    def send(self, number: int = 10) -> None:
        for _ in range(number):
            self.sent.append(self.reading(self.begin_ms + len(self.sent) * 1000))
        self.world.send(TOPIC, [json.dumps(one) for one in self.sent[-number:]])

    def expected(self) -> dict[str, Any]:
        history: dict[bytes, Any] = {}
        latest: dict[bytes, Any] = {}
        def time_of(reading: dict[str, Any]) -> int:
            return int(datetime.fromisoformat(reading["taken"]).timestamp()) * 1000
        for one in sorted(self.sent, key=time_of):
            serial, at_ms = one["boiler"]["serial"], time_of(one)
            values = {"boiler/hall": one["boiler"]["hall"], "temp/in": one["temp"]["in"], "temp/out": one["temp"]["out"]}
            cells = {("M", name.encode()): (at_ms, str(value).encode()) for name, value in values.items()}
            history[f"{serial}#{at_ms:013}".encode()] = latest[serial.encode()] = cells
        return {HISTORY: history, LATEST: latest}

    def assert_rows(self) -> str:
        """Each reading that was sent is there, and nothing else; every cell, its value and time."""
        expected = self.expected()
        def found() -> dict[str, Any]:
            return {table: self.world.cells(table) for table in expected}
        if not self.machine.wait(lambda: found() == expected):
            for table, cells in found().items():
                wanted = expected[table]
                missing, other = wanted.keys() - cells.keys(), cells.keys() - wanted.keys()
                wrong = [row for row in wanted.keys() & cells.keys() if wanted[row] != cells[row]]
                assert cells == wanted, f"{table}: missing {sorted(missing)[:9]}, unexpected {sorted(other)[:9]}, wrong {sorted(wrong)[:9]}"
        return f"{len(expected[HISTORY])} rows and {len(expected[LATEST])} latest ones, every cell as sent"

    # What an operator sees

    def page(self, *patterns: str) -> str:
        """Until the page has it; without a Chromium, nobody looks."""
        if self.browser is None:
            return "no Chromium here"
        assert_has(self.browser.page(f"http://127.0.0.1:{self.port}/"), *patterns)
        return "in Chromium"

    def wait_status(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Until the status is so, whatever the configuration is."""
        seen: list[dict[str, Any]] = [{}]
        def is_so() -> bool:
            said = self.machine.run("tidemark", "status", "--url", f"http://127.0.0.1:{self.port}", "-f", "json").stdout
            seen[0] = json.loads(said) if said else {}
            return bool(said) and holds(seen[0])
        assert self.machine.wait(is_so), json.dumps(seen[0])[:3000]
        return seen[0]

    def wait_log(self, pattern: str) -> None:
        assert self.machine.wait(lambda: re.search(pattern, self.machine.journal("-u", UNIT)) is not None), \
            pattern + ":\n" + self.machine.journal("-u", UNIT)[-3000:]

    def edit(self, before: str, after: str) -> None:
        text = self.machine.path(CONFIGURATION).read_text()
        assert before in text, text
        self.machine.path(CONFIGURATION).write_text(text.replace(before, after))

    def wait_reload(self, member: str, text: str) -> None:
        """Status and log say it."""
        self.wait_status(lambda status: text in (status["reload"][member] or ""))
        self.wait_log(re.escape(text))

    # The steps

    def configured(self) -> str:
        self.world.make_topic(TOPIC)
        self.send()
        words = self.init.replace("KAFKA:9092", self.world.brokers).replace("TOPIC", TOPIC).replace("HBASE:9090", self.world.gateway)
        self.machine.out("mkdir", "-p", str(Path(CONFIGURATION).parent))
        shown = self.machine.out("sh", "-c", words)
        assert re.search(r"^taken .* time, rfc3339$", shown, re.M) and re.search(r"^boiler/serial .* key$", shown, re.M), shown
        # The usual port may be in use on the host; and a mock Kafka gives a restarted daemon its partitions when its session is over, and
        # may refuse commits while the second of two consumers leaves.
        self.edit("kafka:\n", "kafka:\n  session_timeout: 6s\n  threads: 1\n")
        with open(self.machine.path(CONFIGURATION), "a", encoding="utf-8") as configuration:
            configuration.write(f"\nlimits:\n  drain_timeout: 2s\nservice:\n  http: 127.0.0.1:{self.port}\n")
        return words.partition("#")[0].strip()

    def tables(self) -> str:
        missing = self.machine.run("sh", "-c", self.check)
        assert missing.returncode == 1 and HISTORY in missing.stdout, missing
        assert "`tidemark tables create`" in self.check
        self.machine.out("tidemark", "tables", "create")
        self.machine.out("sh", "-c", self.check)
        return "`check` misses the tables, then nothing"

    def started(self) -> str:
        self.machine.out("sh", "-c", self.start)
        said = self.assert_rows()
        self.machine.out("tidemark", "status")
        return said

    def looked_at(self) -> str:
        self.wait_status(lambda status: status["ready"])
        return self.page(r'id="state" class="badge good">ready<', rf"<h2>Tables</h2>.*{LATEST}", rf"<h2>Partitions</h2>.*{TOPIC}")

    def reloaded(self) -> str:
        self.edit("service:\n", "service:\n  log_levle: debug\n")
        refused = self.machine.run("systemctl", "reload", UNIT)
        assert refused.returncode != 0, refused
        self.wait_reload("error", "log_levle")
        assert "--url" in self.machine.run("tidemark", "status").stderr
        self.page(r"The last reload failed; the previous configuration stays in force: [^<]*log_levle")
        self.send()
        self.assert_rows()
        self.edit("log_levle", "log_level")
        self.machine.out("systemctl", "reload", UNIT)
        self.wait_reload("applied", "service.log_level")
        self.send()
        self.assert_rows()
        return "a broken file changes nothing and is said everywhere, a good one is taken over"

    def outage(self) -> str:
        self.world.gateway_away()
        try:
            self.send()
            self.wait_status(lambda status: status["gateways"][0]["state"] == "down" and status["bottleneck"]["limit"] == "gateway")
            said = self.machine.run("tidemark", "status").stdout
            assert re.search(re.escape(self.world.gateway) + r" +down", said), said
            self.wait_log(r"gateway unavailable: .*" + re.escape(self.world.gateway))
            assert self.machine.wait(lambda: "gateways 0/1 up" in self.machine.show(UNIT, "StatusText")), self.machine.show(UNIT, "StatusText")
            text = self.machine.show(UNIT, "StatusText")
            self.page(r"Gateways – in trouble", r"0 of 1 up", r'class="bad">down<')
        finally:
            self.world.gateway_back()
        self.assert_rows()
        self.wait_status(lambda status: status["ready"])
        return f"page, status and log say it ({text}); then it goes on, nothing is missing"

    def dead_letters(self) -> str:
        """Of a clock that was wrong; once told so, tidemark takes the readings."""
        lost = [self.reading(LOST_MS + i * 1000) for i in range(3)]
        self.world.send(TOPIC, [json.dumps(one) for one in lost])
        self.wait_status(lambda status: status["dead_letters"]["kept"] == len(lost))
        listed = self.machine.out("tidemark", "dead-letters", "list", "--file", DEAD_LETTERS)
        assert listed.count("time_implausible") == len(lost), listed
        self.page(r"<h2>Dead letters by reason</h2>.*time_implausible")
        self.assert_rows()
        self.edit("  time:\n", "  time:\n    earliest: 1990-01-01\n")
        self.machine.out("systemctl", "reload", UNIT)
        self.wait_reload("needs_restart", "readings.time.earliest")
        self.machine.out("systemctl", "restart", UNIT)
        self.machine.out("tidemark", "dead-letters", "replay", "--file", DEAD_LETTERS, "--reason", "time_implausible")
        self.sent += lost
        return f"{len(lost)} listed and, once {{ earliest: 1990-01-01 }} is in force, replayed: {self.assert_rows()}"

    def while_they_come(self, upgrade: Callable[[], None]) -> str:
        """An upgrade while readings come, before, in and behind it."""
        over = threading.Event()
        failed: list[BaseException] = []

        def flow() -> None:
            try:
                while not over.wait(0.1):
                    self.send(1)
            except BaseException as error:  # pylint: disable=broad-except
                failed.append(error)
        before = len(self.sent)
        flowing = threading.Thread(target=flow)
        flowing.start()
        try:
            upgrade()
        finally:
            over.set()
            flowing.join()
        assert not failed, failed
        came = len(self.sent) - before
        self.send()
        return f"{came} readings came meanwhile: {self.assert_rows()}"

    def steps(self):
        return [("init from messages", self.configured), ("checked, tables created", self.tables), ("service started", self.started),
                ("page looked at", self.looked_at), ("reloaded", self.reloaded), ("gateway away", self.outage),
                ("dead letters", self.dead_letters)]

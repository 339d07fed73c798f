#!/usr/bin/env python3
"""Two versions of the program in one group: two daemons are exchanged one after the other, up and down again, by a stop and by a kill,
while readings come; no row is lost or wrong, and each reads what the other has left.

    test_rolling.py BUILD [PROGRAM]     PROGRAM: the other version; the same one where it is not given
"""
from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from processes import Daemon, Gateway, Kafka

PARTITIONS = 4
TIME_MS = 1500000000000
PATIENCE_S = 90
ROUND = 25  # messages for each partition, one of them unusable


class Rolling:
    def __init__(self, build: Path, programs: list[Path], directory: Path) -> None:
        self.kafka = Kafka(build / "tests" / "fault" / "mock-kafka")
        self.gateway = Gateway(build / "tests" / "fault" / "scripted-gateway")
        self.programs, self.directory = programs, directory
        self.daemons: list[Daemon] = []
        self.sent = 0
        self.rows: dict[bytes, int] = {}
        self.bad: set[tuple[int, int]] = set()
        self.kafka.ask("topic", "t", str(PARTITIONS))
        self.gateway.ask("table", "METRIC", "M")

    def end(self) -> None:
        for daemon in self.daemons:
            if daemon.is_running():
                daemon.kill()
        self.kafka.end()
        self.gateway.end()

    def config(self) -> dict[str, Any]:
        return {"kafka": {"brokers": self.kafka.greeting, "group": "g", "topics": ["t"], "threads": 1, "session_timeout": "6s",
                          "librdkafka": {"fetch.wait.max.ms": 20}},
                "limits": {"drain_timeout": "3s"},
                "hbase": {"gateways": [f"127.0.0.1:{self.gateway.greeting}"], "call_timeout": "2s", "uncertain_timeout": "3s"},
                "readings": {"time": {"field": "ts", "format": "epoch_ms"}},
                "tables": {"METRIC": {"key": [{"field": "host"}, "#", {"time": "epoch_ms"}], "columns": {"family": "M", "from": "*"}}}}

    def start(self, place: int, version: int) -> Daemon:
        """The daemon of a place keeps its state directory, whatever its version."""
        state = self.directory / f"state-{place}"
        state.mkdir(exist_ok=True)
        daemon = Daemon(self.programs[version], self.config(), self.directory, f"daemon-{len(self.daemons)}", state)
        self.daemons.append(daemon)
        if not daemon.wait_ready(PATIENCE_S, "never said"):
            raise AssertionError(f"{self.programs[version]} is not ready:\n{daemon.log()}")
        return daemon

    def send(self) -> None:
        """A row of its own for each message, and one that all of a partition write again at the same time: its last offset wins."""
        commands = []
        for _ in range(ROUND):
            for partition in range(PARTITIONS):
                offset = self.sent
                value = json.dumps([{"host": f"own-{partition}", "ts": TIME_MS + offset, "v": offset},
                                    {"host": f"same-{partition}", "ts": TIME_MS, "v": offset}]).encode()
                if offset % ROUND == 7:
                    self.bad.add((partition, offset))
                    value = b"{"
                else:
                    self.rows[f"own-{partition}#{TIME_MS + offset}".encode()] = offset
                    self.rows[f"same-{partition}#{TIME_MS}".encode()] = offset
                commands.append(self.kafka.produce_command("t", partition, None, value, TIME_MS, []))
            self.sent += 1
        self.kafka.ask_all(commands)
        self.kafka.ask("flush")

    def wait_committed(self) -> None:
        places = [("t", partition) for partition in range(PARTITIONS)]
        deadline = time.monotonic() + PATIENCE_S
        while any(offset != self.sent for offset in self.kafka.committed("g", places).values()):
            if time.monotonic() > deadline:
                raise AssertionError(f"committed {self.kafka.committed('g', places)} of {self.sent}:\n{self.daemons[-1].log()}")
            time.sleep(0.1)

    def letters(self, place: int, version: int) -> list[dict[str, Any]]:
        done = subprocess.run(
            [self.programs[version], "dead-letters", "list", "-f", "json", "-c", self.directory / "daemon-0.yaml", "--file",
             self.directory / f"state-{place}" / "dead-letters.jsonl"], capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def judge(self) -> None:
        found = {key: int(cells["M", b"v"][1]) for key, cells in self.gateway.dump(["METRIC"])["METRIC"].items()}
        assert found == self.rows, f"{len(self.rows.items() - found.items())} rows are missing or wrong, " \
                                   f"{len(found.keys() - self.rows.keys())} are too many"
        kept = set()
        for place in range(2):
            lists = [self.letters(place, version) for version in range(2)]
            assert lists[0] == lists[1], f"the versions list {len(lists[0])} and {len(lists[1])} dead letters differently"
            kept |= {(letter["partition"], letter["offset"]) for letter in lists[0]}
        assert kept == self.bad, f"dead letters of {sorted(kept)} instead of {sorted(self.bad)}"

    def roll(self) -> None:
        running = [self.start(0, 0), self.start(1, 0)]
        for version in (1, 0):
            for place in range(2):
                self.send()
                if place == 0:
                    running[place].kill()
                elif (code := running[place].stop(PATIENCE_S)) not in (0, 75):  # 75: what it has not written is read again
                    raise AssertionError(f"exit code {code}:\n{running[place].log()}")
                self.send()
                running[place] = self.start(place, version)
                print(f"place {place}: {self.programs[version]}", flush=True)
            self.send()
            self.wait_committed()
            self.judge()
            print(f"{len(self.rows)} rows, {len(self.bad)} dead letters: all right", flush=True)
        for daemon in running:
            assert daemon.stop(PATIENCE_S) == 0, daemon.log()


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    program = build / "daemon" / "tidemark"
    other = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else program
    with tempfile.TemporaryDirectory() as directory:
        rolling = Rolling(build, [other, program], Path(directory))
        try:
            rolling.roll()
        finally:
            rolling.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())

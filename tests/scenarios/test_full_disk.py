#!/usr/bin/env python3
"""A disk that takes nothing, under dead letters and all files of the state directory: the daemon starts and writes, says what it cannot
keep, holds where it must, and goes on by itself when there is room. So does a rollup under its marks, when it is run again.

    test_full_disk.py BUILD

The disk is full for this process alone: its limit for the size of files is 0, and is changed while it runs.
"""
from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

from processes import Daemon, Gateway, Kafka

PATIENCE_S = 90
TIME_MS = 1500000000000
LIMITS = resource.getrlimit(resource.RLIMIT_FSIZE)
# Why partitions pause, as docs/status.md has them: each is a series from the start.
REASONS = ["commit", "dead_letters", "halted", "memory", "operator", "schema", "span", "table"]


def ignore_the_signal() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def take_the_room() -> None:
    ignore_the_signal()
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, LIMITS[1]))


class DaemonWithoutRoom(Daemon):
    """Its log goes through a pipe, which has room."""

    def __init__(self, program: Path, config: dict[str, Any], directory: Path, name: str, state: Path) -> None:
        self.port, self.exit_code = 0, None
        self.config_path, self.log_path = directory / f"{name}.yaml", directory / f"{name}.log"
        service = {"http": "127.0.0.1:0", "log_format": "text", **config.get("service", {})}
        self.config_path.write_text(json.dumps({**config, "service": service}))
        with open(self.log_path, "wb") as log:
            self.copy = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=log)
        self.process = subprocess.Popen([program, "run", "-c", self.config_path], stdout=self.copy.stdin, stderr=self.copy.stdin,
                                        stdin=subprocess.DEVNULL, preexec_fn=take_the_room,
                                        env={**os.environ, "STATE_DIRECTORY": str(state)})
        assert self.copy.stdin
        self.copy.stdin.close()

    def make_room(self) -> None:
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, LIMITS)


class Scene:
    def __init__(self, build: Path, directory: Path) -> None:
        self.program, self.directory, self.state = build / "daemon/tidemark", directory, directory / "state"
        self.state.mkdir()
        self.kafka = Kafka(build / "tests/fault/mock-kafka")
        self.gateway = Gateway(build / "tests/fault/scripted-gateway")
        self.kafka.ask("topic", "t", "1")
        self.gateway.ask("table", "METRIC", "M")
        self.config = {"kafka": {"brokers": self.kafka.greeting, "group": "g", "topics": ["t"], "threads": 1, "session_timeout": "6s"},
                       "hbase": {"gateways": [f"127.0.0.1:{self.gateway.greeting}"]}, "limits": {"drain_timeout": "2s"},
                       "readings": {"time": {"field": "ts", "format": "epoch_ms"}},
                       "tables": {"METRIC": {"key": [{"field": "h"}, "#", {"time": "epoch_ms"}],
                                             "columns": {"family": "M", "from": "*"}}}}
        self.daemons: list[Daemon] = []

    def wait(self, what: str, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < deadline and self.daemons[-1].is_running(), f"waited in vain: {what}\n{self.daemons[-1].log()}"
            time.sleep(0.1)
        print(f"ok: {what}", flush=True)

    def produce(self, values: list[bytes]) -> None:
        self.kafka.ask_all([self.kafka.produce_command("t", 0, b"k", value, int(time.time() * 1000), []) for value in values])
        self.kafka.ask("flush")

    def committed(self) -> int:
        return self.kafka.committed("g", [("t", 0)])["t", 0]

    def paused_for(self) -> list[str]:
        by_reason = self.daemons[-1].metrics().get("tidemark_kafka_paused_partitions", {})
        assert sorted(labels[0] for labels in by_reason) == REASONS, by_reason
        return sorted(labels[0] for labels, number in by_reason.items() if number > 0)

    def run(self) -> None:
        daemon = DaemonWithoutRoom(self.program, self.config, self.directory, "full", self.state)
        self.daemons.append(daemon)
        self.wait("it is ready all the same", lambda: daemon.get("/readyz")[0] == 200)
        for text in ("cannot store this daemon's static member name", "cannot store the key fingerprint of table 'METRIC'"):
            self.wait(f"it says: {text}", lambda text=text: text in daemon.log())
        good = [json.dumps({"h": "a", "ts": TIME_MS + i, "v": i}).encode() for i in range(20)]
        assert self.paused_for() == [], "from the start each reason is there, and 0"
        self.produce(good[:10] + [b"{"] + good[10:])
        self.wait("it reports that it cannot write dead letters", lambda: "cannot write dead letters: " in daemon.log())
        self.wait("it is not ready, and names them", lambda: "cannot write dead letters" in daemon.get("/readyz")[1])
        self.wait("its partition pauses for them", lambda: self.paused_for() == ["dead_letters"])
        assert self.committed() <= 10, "a message was passed over"
        assert not (self.state / "instance").exists() and not (self.state / "scheme-METRIC").exists()
        daemon.make_room()
        self.wait("nothing pauses any more", lambda: self.paused_for() == [])
        self.wait("all is committed", lambda: self.committed() == 21)
        self.wait("it is ready again", lambda: daemon.get("/readyz")[0] == 200)
        self.wait("the state is kept", lambda: (self.state / "instance").exists() and (self.state / "scheme-METRIC").exists())
        self.wait("it says so", lambda: "of the state directory written" in daemon.log())
        assert len((self.state / "dead-letters.jsonl").read_text().splitlines()) == 1
        assert len(self.gateway.dump(["METRIC"])["METRIC"]) == 20
        assert daemon.stop(PATIENCE_S) == 0, daemon.log()
        self.daemons.append(Daemon(self.program, self.config, self.directory, "next", self.state))
        self.wait("the next one has the static member name", lambda: "joining as static member '" in self.daemons[-1].log())
        self.wait("and is ready", lambda: self.daemons[-1].get("/readyz")[0] == 200)
        assert "cannot keep" not in self.daemons[-1].log()

    # ---- tidemark rollup ----

    def rollup(self, before: Callable[[], None]) -> subprocess.Popen[str]:
        """Of the day of all readings; a region after the other."""
        return subprocess.Popen([self.program, "rollup", "-c", self.daemons[-1].config_path, "METRIC", "--day", "2017-07-14", "--to", "COPY",
                                 "--threads", "1", "--state", self.state], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, preexec_fn=before)

    def assert_says(self, process: subprocess.Popen[str], code: int, *parts: str) -> None:
        try:
            output, errors = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
        assert process.returncode == code, f"{process.returncode}\n{output}{errors}"
        for part in parts:
            assert part in output + errors, f"not said: {part}\n{output}{errors}"

    def roll_up(self) -> None:
        marks = self.state / "rollup-COPY"
        self.gateway.ask("split", "METRIC", "b")
        more = [json.dumps({"h": "b", "ts": TIME_MS + i, "v": i}).encode() for i in range(20)]
        self.produce(more)
        self.wait("the second region has rows", lambda: len(self.gateway.dump(["METRIC"])["METRIC"]) == 40)

        self.assert_says(self.rollup(take_the_room), 74, f"cannot write '{marks}'")
        assert not marks.exists() and not self.gateway.dump(["COPY"])["COPY"], "it copied what it cannot remember"
        print("ok: without room for its marks a rollup does not begin, and says so", flush=True)

        # The second region takes nothing, so that it runs until the disk is full.
        self.gateway.ask("fault", "io-error", "call=putMultiple", "table=COPY", "row-prefix=b")
        process = self.rollup(ignore_the_signal)
        self.wait("the first region is copied", lambda: len(self.gateway.dump(["COPY"]).get("COPY", {})) == 20)
        self.wait("and its marks are kept", lambda: marks.exists() and b"rows=20\n" in marks.read_bytes())
        before = marks.read_bytes()
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, LIMITS[1]))
        self.assert_says(process, 74, f"cannot write '{marks}'")
        assert marks.read_bytes() == before and [one.name for one in self.state.glob("rollup-*")] == [marks.name], "what was kept is spoilt"
        print("ok: a disk that becomes full ends it, and spoils no mark", flush=True)

        self.gateway.ask("clear")
        self.assert_says(self.rollup(ignore_the_signal), 0, "continuing an interrupted run", "verified: HBase holds 40 rows, 40 cells")
        assert self.gateway.dump(["COPY"])["COPY"] == self.gateway.dump(["METRIC"])["METRIC"]
        print("ok: with room it goes on behind its marks, and all is there", flush=True)

    def end(self) -> None:
        for daemon in self.daemons:
            if daemon.is_running():
                daemon.kill()
        self.kafka.end()
        self.gateway.end()


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        scene = Scene(Path(sys.argv[1]).resolve(), Path(directory))
        try:
            scene.run()
            scene.roll_up()
        finally:
            scene.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())

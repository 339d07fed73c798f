#!/usr/bin/env python3
"""The life of the units under a real systemd, between a mock Kafka and a scripted gateway, printed as it goes: started,
sandboxed, suspended, reloaded, killed, moved to another HBase cluster, out of disk space, misconfigured, stopped, and two of them side
by side.

    test_unit_life.py BUILD

Exit 77 (skipped) where this machine does not permit the namespaces for it.
"""
from __future__ import annotations

import json
import re
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scenarios"))
from machine import Machine, NotPermitted  # noqa: E402
from processes import Gateway, Kafka  # noqa: E402

SKIPPED = 77
TIME_MS = 1500000000000
MAX_EXPOSURE = 15  # in tenths, as tests/style/check_unit.py has it
UNIT = "tidemark.service"
DOCS = Path(__file__).resolve().parents[2] / "docs"
COMPANY = ["tidemark@north.service", "tidemark@south.service"]

# A test has no half minute for a watchdog. Where the program has an AddressSanitizer: at its end that looks for leaks with a call
# that the unit's filter refuses.
DROP_IN = "[Service]\nWatchdogSec=4\nRestartSec=500ms\nEnvironment=ASAN_OPTIONS=detect_leaks=0\n"


class Life:
    def __init__(self, machine: Machine, kafka: Kafka, gateway: Gateway) -> None:
        self.machine, self.kafka, self.gateway = machine, kafka, gateway
        self.produced = self.rows = 0
        self.began = time.monotonic()

    # ---- the steps ----

    def say(self, text: str) -> None:
        """A step is over: what the journal has of it, then what it showed."""
        for line in self.machine.journal("--cursor-file=/run/cursor", "--output=short-monotonic").splitlines():
            print("   ", line)
        print(f"== {time.monotonic() - self.began:5.1f} s: {text}", flush=True)

    def configure(self, name: str, **changes: Any) -> None:
        config = {
            "kafka": {"brokers": self.kafka.greeting, "group": name, "topics": ["t"], "threads": 1, "session_timeout": "6s",
                      "librdkafka": {"fetch.wait.max.ms": 20}},
            "limits": {"drain_timeout": "2s"},
            "hbase": {"gateways": [f"127.0.0.1:{self.gateway.greeting}"]},
            "readings": {"time": {"field": "ts", "format": "epoch_ms"}},
            "tables": {"METRIC": {"key": [{"field": "host"}, "#", {"time": "epoch_ms"}], "columns": {"family": "M", "from": "*"}}},
            "service": {"http": "off"}, **changes}
        self.machine.write(f"/etc/tidemark/{name}.yaml", json.dumps(config))

    def says(self, text: str, unit: str = UNIT) -> bool:
        """In this run of the unit."""
        return re.search(text, self.machine.journal("--output=cat", f"_SYSTEMD_INVOCATION_ID={self.machine.show(unit, 'InvocationID')}",
                                                    f"_PID={self.machine.show(unit, 'ExecMainPID')}")) is not None

    def wait_ready(self, unit: str = UNIT) -> None:
        assert self.machine.wait(lambda: self.machine.show(unit, "ActiveState") == "active"), \
            f"{unit} is not ready:\n{self.machine.journal('-u', unit)}"

    def wait_restarted(self, n_restarts: int) -> None:
        assert self.machine.wait(lambda: self.machine.show(UNIT, "NRestarts") == str(n_restarts)), \
            f"not restarted:\n{self.machine.journal('-u', UNIT)}"
        self.wait_ready()

    def rows_pass(self) -> None:
        """New readings become rows; none is missing."""
        for _ in range(10):
            self.rows += 1
            self.produce({"host": "a", "ts": TIME_MS + self.rows, "v": self.rows})
        self.gateway.ask("wait", "METRIC", str(self.rows), "60000")

    def produce(self, value: Any) -> None:
        self.produced += 1
        self.kafka.ask(*self.kafka.produce_command("t", 0, b"k", json.dumps(value).encode(), TIME_MS, []))
        self.kafka.ask("flush")

    def wait_says(self, *texts: str) -> None:
        for text in texts:
            assert self.machine.wait(lambda: self.says(text)), f"'{text}' is not said:\n{self.machine.journal('-u', UNIT)}"

    # ---- the unit's life, in this order ----

    def starts(self) -> None:
        self.machine.out("systemctl", "start", UNIT)  # returns when READY=1 was sent
        assert self.machine.show(UNIT, "ActiveState") == "active"
        assert self.says("ready: ") and self.says(f"^tidemark .*: configuration '/etc/tidemark/tidemark.yaml', group 'tidemark', topics t, "
                                                  f"gateways 127.0.0.1:{self.gateway.greeting}\n")
        # docs/messages.md has the id, and the journal finds the event and its fields by it.
        up = re.search(r"\| `gateway-up` \| .*`(\w{32})` \|$", (DOCS / "messages.md").read_text(), re.MULTILINE)
        assert up and f"127.0.0.1:{self.gateway.greeting}" in self.machine.journal("--output-fields=GATEWAY", "--output=cat",
                                                                                      f"MESSAGE_ID={up[1]}")
        self.rows_pass()
        self.say(f"started, ready; status: {self.machine.show(UNIT, 'StatusText')}")

    def is_sandboxed(self) -> None:
        said = self.machine.out("systemd-analyze", "security", f"--threshold={MAX_EXPOSURE}", UNIT).splitlines()[-1]
        pid = self.machine.show(UNIT, "MainPID")
        status = dict(line.split(":\t", 1) for line in self.machine.out("cat", f"/proc/{pid}/status").splitlines() if ":\t" in line)
        assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0, status
        assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status
        assert int(status["Uid"].split()[0]) >= 61184, status["Uid"]  # what DynamicUser= draws from
        mounts = [line.split() for line in self.machine.out("cat", f"/proc/{pid}/mountinfo").splitlines()]
        options = {fields[4]: fields[5].split(",") for fields in mounts}
        assert "ro" in options["/"] and "rw" in options["/var/lib/private/tidemark"], options
        assert self.machine.out("stat", "--format=%a", "/var/lib/private/tidemark").strip() == "700"
        self.say(f"sandboxed: {said}; user {status['Uid'].split()[0]}, no capability, system calls filtered, the disk read-only")

    def is_watched(self) -> None:
        self.machine.out("systemctl", "kill", "--kill-whom=main", "--signal=STOP", UNIT)
        self.wait_restarted(1)
        assert "Watchdog timeout" in self.machine.journal("-u", UNIT)
        self.rows_pass()
        self.say("suspended with SIGSTOP: the watchdog killed it, it was started again and goes on")

    def is_reloaded(self) -> None:
        """The same process goes on, by the new file or, where that has a mistake, by the old one."""
        pid = self.machine.show(UNIT, "MainPID")
        self.machine.out("systemctl", "reload", UNIT)
        self.wait_says("reloaded: no changes")
        self.configure("tidemark", service={"http": "off", "log_level": "debug"})
        self.machine.out("systemctl", "reload", UNIT)
        self.wait_says("reloaded: service.log_level")
        self.configure("tidemark", service={"http": "off", "log_levle": "info"})
        refused = self.machine.run("systemctl", "reload", UNIT)
        assert refused.returncode != 0, refused
        self.wait_says("reload failed, the previous configuration stays in force: .*log_levle")
        assert self.machine.wait(lambda: self.machine.show(UNIT, "StatusText").startswith("reload failed")), \
            self.machine.show(UNIT, "StatusText")
        self.wait_ready()
        self.rows_pass()
        self.configure("tidemark")
        self.machine.out("systemctl", "reload", UNIT)
        assert self.machine.wait(lambda: not self.machine.show(UNIT, "StatusText").startswith("reload failed"))
        self.wait_ready()
        self.rows_pass()
        assert self.machine.show(UNIT, "MainPID") == pid
        self.say("reloaded: the same process goes on, also over a file with a mistake, for which `systemctl reload` fails")

    def survives_a_kill(self) -> None:
        self.machine.out("systemctl", "kill", "--kill-whom=main", "--signal=KILL", UNIT)
        self.wait_restarted(2)
        self.rows_pass()
        self.say("killed with SIGKILL: started again, and goes on")

    def accepts_another_cluster(self) -> None:
        """As docs/operate.md tells to start once with an option."""
        self.gateway.ask("cluster", "another")
        self.machine.out("systemctl", "restart", "--no-block", UNIT)
        self.wait_says("gateway refused: .* belongs to HBase cluster another.*; it gets no rows")
        guide = (DOCS / "operate.md").read_text()
        lines = re.findall(r"`(\[Service\]|ExecStart=.*?)`", guide[guide.index("### Start once with an option"):])[:3]
        override = re.search(r"`(/run/systemd/system/tidemark.service.d/\S+)`", guide)
        program = re.search(r"path=(\S+) ", self.machine.show(UNIT, "ExecStart"))
        assert len(lines) == 3 and override and program, guide
        self.machine.write(override[1], "\n".join(lines).replace("/usr/bin/tidemark", program[1]) + "\n")
        self.machine.out("systemctl", "daemon-reload")  # as `systemctl edit` does at its end
        self.machine.out("systemctl", "restart", UNIT)
        self.wait_says("the gateways belong to HBase cluster another .*, which was accepted")
        self.rows_pass()
        self.machine.out("rm", override[1])
        self.machine.out("systemctl", "daemon-reload")
        self.machine.out("systemctl", "restart", UNIT)
        self.rows_pass()
        self.say("another HBase cluster: refused, accepted by a start with the option, and known to the next start")

    def holds_on_a_full_disk(self) -> None:
        """Dead letters have no room: the offset waits, and when there is room all goes on by itself."""
        letters, filler = "/var/lib/private/tidemark/dead-letters.jsonl", "/var/lib/filler"
        assert self.machine.run("dd", "if=/dev/zero", f"of={filler}", "bs=64k").returncode != 0
        self.produce("no reading")
        held = self.produced - 1
        self.wait_says("cannot write dead letters: .*No space left on device", "no longer ready: cannot write dead letters",
                       "1 of 1 partitions pause: cannot write dead letters")
        assert self.kafka.committed("tidemark", [("t", 0)]) == {("t", 0): held}
        assert self.machine.out("cat", letters) == ""
        self.machine.out("rm", filler)
        self.wait_says("dead letters can be written again", "ready again after [0-9]+ s: ", "partitions continue, after [0-9]+ s, lag")
        self.rows_pass()
        assert self.machine.out("cat", letters).count("\n") == 1
        self.say("no room for a dead letter: held, said, and gone on with when there was room")

    def stops(self) -> None:
        self.machine.out("systemctl", "stop", UNIT)
        assert self.machine.show(UNIT, "ActiveState") == "inactive"
        assert self.machine.show(UNIT, "Result") == "success" and self.machine.show(UNIT, "ExecMainStatus") == "0"
        assert self.says("stopped: all messages read are acknowledged and committed")
        assert self.kafka.committed("tidemark", [("t", 0)]) == {("t", 0): self.produced}
        self.say(f"stopped: exit code 0, offset {self.produced} committed")

    def waits_for_a_person(self) -> None:
        self.configure("tidemark", tables={"METRIC": {"key": []}})
        assert self.machine.run("systemctl", "start", UNIT).returncode != 0
        assert self.machine.show(UNIT, "ActiveState") == "failed"
        assert self.machine.show(UNIT, "ExecMainStatus") == "78" and self.machine.show(UNIT, "NRestarts") == "0"
        self.say("wrongly configured: exit code 78, and not started again")

    def has_company(self) -> None:
        states = []
        for unit in COMPANY:
            self.configure(unit[9:14])
        self.machine.out("systemctl", "start", *COMPANY)
        for unit in COMPANY:
            self.wait_ready(unit)
            states.append(self.machine.out("cat", f"/var/lib/private/{unit.removesuffix('.service')}/instance"))
        assert states[0] != states[1]
        self.machine.out("systemctl", "start", "tidemark@absent")  # its condition is not met
        assert self.machine.show("tidemark@absent", "ActiveState") == "inactive"
        self.machine.out("systemctl", "stop", *COMPANY)
        for unit in COMPANY:
            assert self.machine.show(unit, "Result") == "success" and self.says("stopped: all messages read", unit)
            assert self.kafka.committed(unit[9:14], [("t", 0)]) == {("t", 0): self.produced}
        self.say("two of tidemark@.service: each its configuration, group, state directory and name in the group")

    def live(self) -> None:
        self.machine.write(f"/run/systemd/system/{UNIT}.d/test.conf", DROP_IN)
        self.machine.write("/run/systemd/system/tidemark@.service.d/test.conf", DROP_IN)
        # What nobody names is forgotten when it has ended, and how.
        self.machine.write("/run/systemd/system/test.target.d/test.conf", f"[Unit]\nAfter={UNIT} {' '.join(COMPANY)}\n")
        self.machine.out("systemctl", "daemon-reload")
        self.configure("tidemark")
        for step in (self.starts, self.is_sandboxed, self.is_watched, self.is_reloaded, self.survives_a_kill,
                     self.accepts_another_cluster, self.holds_on_a_full_disk, self.stops, self.waits_for_a_person, self.has_company):
            try:
                step()
            except BaseException:
                self.say(f"failed: {step.__name__}")
                raise


def main() -> int:
    build = Path(sys.argv[1])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # as of a time limit: the machine goes with us
    kafka = Kafka(build / "tests" / "fault" / "mock-kafka")
    gateway = Gateway(build / "tests" / "fault" / "scripted-gateway")
    try:
        kafka.ask("topic", "t", "1")
        gateway.ask("table", "METRIC", "M")
        with tempfile.TemporaryDirectory() as directory:
            try:
                machine = Machine([build / "daemon" / "tidemark", *sorted((build / "systemd").glob("*.service"))],
                                  Path(directory) / "console")
            except NotPermitted as reason:
                print(f"skipped: {reason}")
                return SKIPPED
            try:
                Life(machine, kafka, gateway).live()
            finally:
                machine.end()
    finally:
        kafka.end()
        gateway.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs one batch of scenarios through the daemon: feeds messages step by step while faults and events happen, waits until
all is done, and judges from outside.

A batch is plain data, as JSON keeps it: `config` (the daemon's, without tables, topics and addresses), `steps`, `pauses_ms`,
`events`, and `scenarios`. A scenario has topics, tables, messages and faults of its own, so that many share one daemon.
"""
from __future__ import annotations

import base64
import copy
import json
import re
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from content import judge_tables
from oracle import Message, Oracle, Outcome, Row
from outside import CODES, MSG_SIZE_TOO_LARGE, Stand, noted_halt, stand_of
from processes import Daemon, Gateway, Kafka, ProcessFailed

GROUP = "scenarios"
DEAD_LETTERS = "letters"
STILL_S = 30.0     # nothing has moved for so long beyond hbase.uncertain_timeout, and work is outstanding: a standstill
ENDLESS_S = 240.0  # something moves, and it comes to no end
MAX_ENDS = 5
COLLECT_S = 2.0    # the mock keeps 5 MiB of a partition: sooner than so many dead letters can be written


NOT_JUDGED = "not judged"


class NotJudged(Exception):
    """What there was to be judged could not be read to its end, which says nothing of the daemon."""


@dataclass
class Problem:
    scenario: str  # its name, or "batch"
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.scenario}: {self.kind}: {self.text}"


@dataclass
class Programs:
    tidemark: Path
    mock_kafka: Path
    gateway: Path
    shifted: Path | None = None  # the daemon with a clock that can be set


@dataclass
class DeadLetter:
    source: tuple[str, int, int]
    reading: int | None
    reason: str
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: list[tuple[str, bytes | None]]


def to_bytes(value: Any) -> bytes | None:
    """Bytes as a batch keeps them: text, {"hex": "…"}, or null."""
    if value is None:
        return None
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value.encode()


def topic_of(scenario: dict[str, Any], index: int) -> str:
    return f"{scenario['name']}-{index}"


def table_of(scenario: dict[str, Any], name: str) -> str:
    return f"{scenario['name'].upper()}_{name}"


def tables_of(scenario: dict[str, Any]) -> dict[str, Any]:
    """The scenario's tables under their names in this run, each taking only the scenario's own topics."""
    topics = [topic_of(scenario, index) for index in range(len(scenario["topics"]))]
    found = {}
    for name, table in scenario["tables"].items():
        table = copy.deepcopy(table)
        when = table.get("when", [])
        table["when"] = [{"field": "$topic", "equals": topics}, *(when if isinstance(when, list) else [when])]
        if "index_of" in table:
            table["index_of"] = table_of(scenario, table["index_of"])
        found[table_of(scenario, name)] = table
    return found


class Batch:
    """One run."""

    def __init__(self, batch: dict[str, Any], programs: Programs, directory: Path) -> None:
        self.batch, self.programs, self.directory = batch, programs, directory
        self.scenarios: list[dict[str, Any]] = batch["scenarios"]
        self.problems: list[Problem] = []
        self.messages: list[Message] = []
        self.ends: dict[tuple[str, int], int] = {
            (topic_of(scenario, index), partition): 0 for scenario in self.scenarios
            for index, count in enumerate(scenario["topics"]) for partition in range(count)}
        self.stands: dict[tuple[str, int], Stand] = {source: Stand(0) for source in self.ends}
        self.daemons: list[Daemon] = []
        self.ended: list[Daemon] = []
        self.n_ends = 0  # of daemons that said that they are to be started again
        self.n_daemons = self.n_joined = 0
        # Partitions change hands, if only while several threads join: what was done may be done twice.
        self.is_disturbed = batch["config"].get("kafka", {}).get("threads", 2) > 1
        self.dead_letter_folder = directory / "letters"
        self.records: dict[int, dict[str, Any]] = {}  # of the topic of dead letters, by offset
        self.collected = 0.0
        self.refusals: list[tuple[str, ...]] = []  # commands: of the topic of dead letters
        self.n_refusals = 0
        settle_s = 0 if batch.get("long_settle") else int(batch["config"]["hbase"]["uncertain_timeout"].rstrip("s"))
        self.still_s = STILL_S + settle_s
        self.known: tuple[int, dict[tuple[str, int, int], Outcome]] = (-1, {})
        self.oracles: dict[str, Oracle] = {}

    # ---- start ----

    def config(self) -> dict[str, Any]:
        config = copy.deepcopy(self.batch["config"])
        config.setdefault("kafka", {}).update(
            brokers=self.kafka.greeting, group=GROUP,
            topics=[topic_of(scenario, index) for scenario in self.scenarios for index in range(len(scenario["topics"]))])
        config["kafka"].setdefault("librdkafka", {})["fetch.wait.max.ms"] = 20  # the mock answers no sooner
        config.setdefault("hbase", {})["gateways"] = [f"127.0.0.1:{self.gateway.greeting}"]
        dead_letters = config.setdefault("dead_letters", {})
        if dead_letters.pop("place", "topic") == "topic":
            dead_letters["topic"] = DEAD_LETTERS
        else:
            dead_letters["file"] = str(self.dead_letter_folder / f"letters{self.n_joined or ''}.jsonl")  # one each
        config["tables"] = {name: table for scenario in self.scenarios for name, table in tables_of(scenario).items()}
        return config

    def prepare(self) -> None:
        self.dead_letter_folder.mkdir()
        self.gateway.ask("max-cell", str(self.batch["max_cell"]))
        self.kafka.ask_all([("topic", topic_of(scenario, index), str(count)) for scenario in self.scenarios
                            for index, count in enumerate(scenario["topics"])])
        self.kafka.ask("topic", DEAD_LETTERS, "1")
        path = self.directory / "tables.yaml"
        path.write_text(json.dumps(self.config()))
        made = subprocess.run([self.programs.tidemark, "tables", "create", "-c", path], capture_output=True, text=True)
        if made.returncode != 0:
            raise ProcessFailed(f"tables create: {made.stdout[-500:]}{made.stderr[-1500:]}")
        if self.batch.get("before"):
            self.set_faults(0)
            self.commit_before()

    def commit_before(self) -> None:
        """The first messages and what the group has committed, before any daemon: judges where each partition stands."""
        offsets = {(topic_of(scenario, one["topic"]), one["partition"]): one
                   for scenario in self.scenarios for one in scenario.get("offsets", [])}
        for source, one in offsets.items():
            if one.get("fill"):
                self.kafka.ask("fill", source[0], str(source[1]), str(one["fill"]))
                self.messages += [Message(*source, offset, None, None, 1, []) for offset in range(one["fill"])]
                self.ends[source] = one["fill"]
        self.produce(0)
        self.kafka.ask_all([("commit", GROUP, source[0], str(source[1]), str(one["offset"]), one["note"] or "''")
                            for source, one in offsets.items()])
        state = self.state_directory()
        if self.batch.get("remembered"):
            (state / "started-groups").write_text(f"{self.kafka.ask('cluster')[0].split()[1]} {GROUP}\n")
        has_begun = bool(offsets) or bool(self.batch.get("remembered"))
        for source, end in self.ends.items():
            one = offsets.get(source, {})
            begin = self.kafka.number("begin", source[0], str(source[1])) if one.get("fill") else 0
            self.stands[source] = stand_of(one.get("offset"), one.get("note", ""), begin, end, self.batch["config"]["kafka"],
                                           has_begun)
        self.known = (-1, {})

    def state_directory(self) -> Path:
        """Of the daemon that is started next: each that joins has its own, and a restarted one that of the first."""
        path = self.directory / f"state-{self.n_joined}"
        path.mkdir(exist_ok=True)
        return path

    def start_daemon(self) -> None:
        clock, clocks_s = None, self.batch.get("clocks_s")
        if clocks_s and self.programs.shifted:
            clock = self.directory / f"clock-{self.n_daemons}"
            clock.write_bytes(struct.pack("q", clocks_s[self.n_daemons % len(clocks_s)] * 10**9))
        self.n_daemons += 1
        program = self.programs.shifted if clock and self.programs.shifted else self.programs.tidemark
        state = self.state_directory() if self.batch.get("before") else None
        self.daemons.append(Daemon(program, self.config(), self.directory, f"daemon-{self.n_daemons}", state, clock))

    # ---- what happens ----

    def produce(self, step: int) -> None:
        commands = []
        for scenario in self.scenarios:
            for one in scenario["messages"]:
                if one["step"] != step:
                    continue
                source = topic_of(scenario, one.get("topic", 0)), one.get("partition", 0)
                message = Message(*source, self.ends[source], to_bytes(one.get("key")), to_bytes(one["value"]), one["ts"],
                                  [(name, to_bytes(value) or b"") for name, value in one.get("headers", [])])
                self.ends[source] += 1
                self.messages.append(message)
                commands.append(self.kafka.produce_command(*source, message.key, message.value, message.timestamp_ms,
                                                           message.headers))
        pardon = [("clear", "produce")] if self.refusals else []  # what is refused are dead letters, not these
        self.kafka.ask_all([*pardon, *commands, ("flush",), *self.refusals])

    def set_faults(self, step: int) -> None:
        for scenario in self.scenarios:
            for fault in scenario.get("faults", []):
                if fault["step"] != step or fault["table"] not in scenario["tables"]:
                    continue
                table = table_of(scenario, fault["table"])
                if fault["do"] in ("split", "merge"):
                    self.gateway.ask(fault["do"], table, fault["key"])
                    continue
                for call in fault.get("calls", ["putMultiple", "mutateRow"]):
                    self.gateway.ask("fault", fault["do"], f"table={table}", f"call={call}", *fault.get("words", []))

    def happen(self, event: dict[str, Any]) -> None:
        words = {name: one for name, one in event.items() if name not in ("step", "do", "after_ms")}
        getattr(self, f"event_{event['do']}")(**words)

    def supervise(self) -> None:
        """As systemd does: a daemon that ends with 75 is started again."""
        if time.monotonic() - self.collected > COLLECT_S:
            try:
                self.collect_dead_letters()
            except ProcessFailed:  # an error that the scenario asked for: the next look finds the same
                pass
        for index, daemon in enumerate(self.daemons):
            if not daemon.is_running() and daemon.process.poll() == 75 and self.n_ends < MAX_ENDS:
                self.n_ends += 1
                self.is_disturbed = True
                self.look_for_findings(self.daemons.pop(index))
                self.start_daemon()
                return

    def event_restart(self) -> None:
        self.is_disturbed = True
        self.stop(self.daemons.pop(0), (0, 75))
        self.start_daemon()

    def event_kill(self) -> None:
        self.is_disturbed = True
        self.daemons[0].kill()
        self.look_for_findings(self.daemons.pop(0))
        self.judge_kill()
        self.start_daemon()

    def event_join(self) -> None:
        self.is_disturbed = True
        self.n_joined += 1
        self.start_daemon()

    def event_leave(self) -> None:
        if len(self.daemons) > 1:
            self.stop(self.daemons.pop(0), (0, 75))

    def event_reset(self) -> None:
        self.gateway.ask("reset")

    def event_gateway(self) -> None:
        self.gateway.ask("kill")
        time.sleep(0.3)
        self.gateway.ask("start")

    def event_dead_letters_fail(self) -> None:
        self.kafka.ask("fail", "produce", "19", "30")
        if self.dead_letter_folder.exists():
            self.dead_letter_folder.rename(self.directory / f"letters-away-{time.monotonic_ns()}")

    def event_dead_letters_repair(self) -> None:
        self.kafka.ask("clear", "produce")
        self.dead_letter_folder.mkdir(exist_ok=True)

    def event_commits_fail(self) -> None:
        self.is_disturbed = True
        self.kafka.ask("fail", "offset-commit", "27", "3")

    def event_fetches_fail(self) -> None:
        self.kafka.ask("fail", "fetch", "-195", "2")

    def event_errors(self, request: str, code: int, n: int) -> None:
        self.is_disturbed = True
        self.kafka.ask("fail", request, str(code), str(n))

    def event_coordinator(self, broker: int) -> None:
        self.is_disturbed = True
        self.kafka.ask("coordinator", GROUP, str(broker))

    def event_clock(self, by_s: int) -> None:
        self.is_disturbed = True
        for daemon in self.daemons:
            daemon.set_clock(by_s)

    def event_refuse(self, codes: list[list[int]]) -> None:
        """From now on the topic of dead letters takes some batches only."""
        self.is_disturbed = True
        self.n_refusals += sum(n for code, n in codes if code == MSG_SIZE_TOO_LARGE)
        self.refusals = [("fail", "produce", str(code), str(n)) for code, n in codes]
        self.kafka.ask_all(self.refusals)

    def event_accept(self) -> None:
        """All of them again. What has no dead letter has not waited for that."""
        outcomes = self.outcomes()
        unclean = {source[:2] for source, outcome in outcomes.items() if outcome.bad or outcome.dead_letters != "none"}
        targets = {source: target for source, target in self.targets().items() if source not in unclean}
        self.wait_committed(targets, "held by dead letters of others")
        self.refusals = []
        self.kafka.clear("produce")

    def wait_committed(self, targets: dict[tuple[str, int], int], kind: str) -> None:
        started = moved = time.monotonic()
        before = None
        while True:
            self.supervise()
            committed = self.kafka.committed(GROUP, list(targets))
            behind = {source: target for source, target in targets.items() if committed[source] != target and target > 0}
            now = time.monotonic()
            if not behind:
                return
            if committed != before:
                before, moved = committed, now
            if now - moved > self.still_s or now - started > ENDLESS_S:
                for source, target in behind.items():
                    self.fail(self.scenario_of(source[0]), kind, f"after {now - started:.0f} s {source} is committed up to "
                              f"{committed[source]} of {target}")
                return
            time.sleep(0.25)

    def wait_ready(self) -> bool:
        deadline = time.monotonic() + ENDLESS_S
        while time.monotonic() < deadline:
            self.supervise()
            if self.daemons[0].wait_ready(1, "is halted"):
                return True
            if not self.daemons[0].is_running() and self.daemons[0].process.poll() != 75:
                return False
        return False

    def wait_stands(self) -> None:
        """Until all that must halt has, and where the others begin is committed: only then may the logs grow."""
        if not self.batch.get("before"):
            return
        self.wait_committed({source: stand.offset for source, stand in self.stands.items() if not stand.cause
                             and stand.left_out[0] == "start"}, "begin")
        deadline = time.monotonic() + STILL_S
        while self.halts_missing() and time.monotonic() < deadline:
            self.supervise()
            time.sleep(0.1)
        for source, text in self.halts_missing().items():
            self.fail(self.scenario_of(source[0]), "halt", text)

    def halts_missing(self) -> dict[tuple[str, int], str]:
        """Partitions that must be halted: the log's beginning is committed, and a note of the halt."""
        found = {}
        halted = [source for source, stand in self.stands.items() if stand.cause]
        committed = self.kafka.committed(GROUP, halted) if halted else {}
        for source in halted:
            stand, note = self.stands[source], self.kafka.note(GROUP, source)
            if committed[source] != stand.offset or noted_halt(note) != (stand.cause, stand.wanted):
                found[source] = f"of {source}: committed is {committed[source]} with '{note}', not {stand.offset} with a halt " \
                                f"of cause {stand.cause} at {stand.wanted}"
        return found

    def wait_flow(self) -> None:
        """Until messages flow, or for a moment: from then on the steps' pauses are what happens between them."""
        for _ in range(100):
            received = self.daemons[0].metrics().get("tidemark_messages_received_total", {})
            if sum(received.values()) >= len(self.outcomes()):
                return
            time.sleep(0.05)

    def play(self) -> None:
        for step in range(self.batch["steps"]):
            if step == 1:
                if not self.wait_ready():
                    self.fail("batch", "not ready", self.daemons[0].get("/readyz")[1].strip()[:300])
                    return
                self.wait_flow()
                self.wait_stands()
            self.supervise()
            events = [event for event in self.batch["events"] if event["step"] == step]
            if step > 0 or not self.batch.get("before"):
                self.set_faults(step)
            for event in events:
                if "after_ms" not in event:
                    self.happen(event)
            # The mock's errors for dead letters would hit these messages, too: a place that fails is repaired by then.
            if step > 0 or not self.batch.get("before"):
                self.produce(step)
            began = time.monotonic()
            for event in events:
                if "after_ms" in event:
                    time.sleep(max(began + event["after_ms"] / 1000 - time.monotonic(), 0))
                    self.happen(event)
            time.sleep(max(began + self.batch["pauses_ms"][step] / 1000 - time.monotonic(), 0))
        if self.n_refusals != 1:  # that one may be still to come
            self.event_dead_letters_repair()

    # ---- the end ----

    def run(self) -> list[Problem]:
        self.kafka = Kafka(self.programs.mock_kafka, "--brokers", str(self.batch.get("brokers", 1)))
        self.gateway = Gateway(self.programs.gateway)
        try:
            self.prepare()
            self.start_daemon()
            self.play()
            if not self.problems:
                self.wait_done()
            self.finish()
        except NotJudged as error:
            self.fail("batch", NOT_JUDGED, str(error))
        except ProcessFailed as error:
            self.fail("batch", "harness", str(error))
        finally:
            for daemon in self.daemons:
                daemon.kill()
            self.gateway.end()
            self.kafka.end()
        return self.problems

    def fail(self, scenario: str, kind: str, text: str) -> None:
        self.problems.append(Problem(scenario, kind, text))

    def scenario_of(self, name: str) -> str:
        """Of a topic or a table."""
        return name.lower().replace("_", "-").split("-")[0]

    def outcomes(self) -> dict[tuple[str, int, int], Outcome]:
        """What becomes of all messages. Tables and topics of scenarios do not meet, so each is asked for by itself."""
        if self.known[0] == len(self.messages):
            return self.known[1]
        found: dict[tuple[str, int, int], Outcome] = {}
        for scenario in self.scenarios:
            config = {"readings": self.batch["config"].get("readings", {}), "tables": tables_of(scenario)}
            oracle = Oracle(config, self.batch["max_cell"], int(time.time() * 1000))
            self.oracles[scenario["name"]] = oracle
            found.update(oracle.outcomes([one for one in self.messages if self.scenario_of(one.topic) == scenario["name"]
                                          and self.is_read(one)]))
        self.known = len(self.messages), found
        return found

    def is_read(self, message: Message) -> bool:
        stand = self.stands[message.source[:2]]
        return not stand.cause and message.offset >= stand.offset

    def targets(self) -> dict[tuple[str, int], int]:
        """What is to be committed: the ends, or the first message that stops its partition."""
        if self.batch["config"].get("readings", {}).get("on_bad_message") != "stop":
            return {source: stand.offset if stand.cause else self.ends[source] for source, stand in self.stands.items()}
        targets = {source: stand.offset for source, stand in self.stands.items()}
        for topic, partition, offset in self.outcomes():
            targets[topic, partition] = max(targets[topic, partition], offset + 1)
        return targets

    def progress(self, committed: dict[tuple[str, int], int]) -> tuple[float, ...]:
        metrics = [daemon.metrics() for daemon in self.daemons]
        return (self.n_ends, sum(committed.values()), self.gateway.stats()["rows_written"],
                *(sum(sum(one.get(name, {}).values()) for one in metrics) for name in (
                    "tidemark_messages_received_total", "tidemark_dead_letters_total", "tidemark_hbase_poison_rows_total",
                    "tidemark_kafka_rewinds_total")))

    def is_done(self, committed: dict[tuple[str, int], int], targets: dict[tuple[str, int], int]) -> bool:
        if self.batch.get("long_settle"):
            # An offset may wait for as long as an abandoned call may land. What is newer, and all else, may not.
            return not self.content_problems(self.outcomes(), self.read_dead_letters(), None, True)
        return all(committed[source] == target or target == 0 for source, target in targets.items())

    def wait_done(self) -> None:
        started = moved = time.monotonic()
        before, targets = None, self.targets()
        while True:
            self.supervise()
            committed = self.kafka.committed(GROUP, list(self.ends))
            if self.is_done(committed, targets):
                return
            if not all(daemon.is_running() for daemon in self.daemons):
                return
            now, progress = time.monotonic(), self.progress(committed)
            if progress != before:
                before, moved = progress, now
            if now - moved > self.still_s or now - started > ENDLESS_S:
                self.tell_standstill(committed, targets, now - started)
                return
            time.sleep(0.25)

    def tell_standstill(self, committed: dict[tuple[str, int], int], targets: dict[tuple[str, int], int], after_s: float) -> None:
        if self.batch.get("long_settle"):
            for problem in self.content_problems(self.outcomes(), self.read_dead_letters(), None, True):
                self.problems.append(Problem(problem.scenario, f"not there after {after_s:.0f} s", problem.text))
            return
        self.fail("batch", "ready", " | ".join(daemon.get("/readyz")[1].strip()[:300] for daemon in self.daemons))
        for (topic, partition), target in targets.items():
            if committed[topic, partition] != target and target > 0:
                self.fail(self.scenario_of(topic), "standstill", f"after {after_s:.0f} s {topic}/{partition} is committed up to "
                          f"{committed[topic, partition]} of {target}")

    def stop(self, daemon: Daemon, good: tuple[int, ...]) -> None:
        code = daemon.stop(60)
        if code not in good:
            self.fail("batch", "exit", f"the daemon ended with {code}: {daemon.last_lines()}")
        self.look_for_findings(daemon)

    def look_for_findings(self, daemon: Daemon) -> None:
        self.ended.append(daemon)
        if "(null)" in daemon.log():
            self.fail("batch", "sentence", daemon.log()[max(daemon.log().index("(null)") - 200, 0):][:300])
        for sign in ("ERROR: AddressSanitizer", "runtime error:", "ERROR: LeakSanitizer"):
            if sign in daemon.log():
                at = daemon.log().index(sign)
                self.fail("batch", "sanitizer", daemon.log()[max(at - 200, 0):at + 1500])

    def finish(self) -> None:
        if not self.problems:
            self.judge_counters()
        for daemon in self.daemons:
            if not daemon.is_running():
                self.fail("batch", "exit", f"the daemon ended with {daemon.process.poll()}: {daemon.last_lines()}")
            else:
                self.stop(daemon, (0, 75) if self.batch.get("long_settle") or self.problems else (0,))
        self.daemons.clear()
        self.wait_quiet()
        self.judge_end()
        self.judge_stands()
        self.judge_refusals()

    def wait_quiet(self) -> None:
        """Until every abandoned call has landed."""
        deadline = time.monotonic() + STILL_S
        while self.gateway.stats()["calls_in_flight"] > 0 and time.monotonic() < deadline:
            time.sleep(0.05)

    # ---- the verdict ----

    def collect_dead_letters(self) -> None:
        """What repeated messages lead to is more than the mock keeps: it is read before that is dropped."""
        self.collected = time.monotonic()
        next_offset = max(self.records, default=-1) + 1
        if self.kafka.number("end", DEAD_LETTERS, "0") == next_offset:
            return
        records = self.kafka.read(DEAD_LETTERS, 1)
        if records and records[0]["offset"] > next_offset:
            raise NotJudged(f"the mock dropped the dead letters {next_offset} to {records[0]['offset'] - 1} before they were read")
        self.records.update({record["offset"]: record for record in records})

    def read_dead_letters(self) -> list[DeadLetter]:
        """All there are. What a busy machine does not read in time is asked for again."""
        deadline = time.monotonic() + STILL_S
        while True:
            try:
                self.collect_dead_letters()
                break
            except ProcessFailed as error:
                if not self.kafka.is_running():
                    raise
                if time.monotonic() > deadline:
                    raise NotJudged(f"the dead letters could not be read to the end: {error}") from error
        found = [self.topic_dead_letter(record) for record in self.records.values()]
        for path in sorted(self.directory.glob("letters*/letters*.jsonl*")):
            if not path.name.endswith((".lock", ".torn")):
                found += [self.file_dead_letter(json.loads(line)) for line in path.read_text().split("\n") if line.endswith("}")]
        return found

    @staticmethod
    def topic_dead_letter(record: dict[str, Any]) -> DeadLetter:
        own = {name: value.decode() for name, value in record["headers"] if name.startswith("tidemark-")}
        source = own["tidemark-topic"], int(own["tidemark-partition"]), int(own["tidemark-offset"])
        reading = int(own["tidemark-reading"]) if "tidemark-reading" in own else None
        return DeadLetter(source, reading, own["tidemark-reason"], record["key"], record["value"],
                          int(own["tidemark-timestamp"]),
                      [header for header in record["headers"] if not header[0].startswith("tidemark-")])

    @staticmethod
    def file_dead_letter(line: dict[str, Any]) -> DeadLetter:
        def plain(text: str | None) -> bytes | None:
            return None if text is None else base64.b64decode(text)
        return DeadLetter((line["topic"], line["partition"], line["offset"]), line.get("reading"), line["reason"],
                      plain(line["key"]), plain(line["value"]), line["timestamp_ms"],
                      [(header["name"], plain(header["value"])) for header in line.get("headers", [])])

    def rows(self, outcomes: dict[tuple[str, int, int], Outcome], dead_letters: list[DeadLetter],
             committed: dict[tuple[str, int], int] | None) -> dict[str, list[Row]]:
        """By scenario: what must be in the tables, and what may be. @committed: only what lies below must."""
        refused = {dead_letter.source for dead_letter in dead_letters if dead_letter.reason == "refused_by_hbase"}
        found: dict[str, list[Row]] = {scenario["name"]: [] for scenario in self.scenarios}
        for source, outcome in outcomes.items():
            for row in outcome.rows:
                row = copy.copy(row)
                if row.state == "optional" and outcome.dead_letters == "maybe" and source not in refused:
                    row.state = "certain"
                elif row.state == "certain" and source in refused:
                    row.state = "optional"  # the dead letter is the whole message; other rows of it may be there
                if row.state == "certain" and committed is not None and source[2] >= committed[source[:2]]:
                    row.state = "optional"
                found[self.scenario_of(source[0])].append(row)
        return found

    def content_problems(self, outcomes: dict[tuple[str, int, int], Outcome], dead_letters: list[DeadLetter],
                         committed: dict[tuple[str, int], int] | None, ties: bool) -> list[Problem]:
        rows, stored = self.rows(outcomes, dead_letters, committed), self.gateway.dump(self.gateway.tables())
        problems = self.dead_letter_problems(outcomes, dead_letters, committed)
        for name, oracle in self.oracles.items():
            own = {table: found for table, found in stored.items() if self.scenario_of(table) == name}
            problems += [Problem(name, "content", text) for _, text in judge_tables(oracle, rows[name], own, ties)]
        return problems

    def dead_letter_problems(self, outcomes: dict[tuple[str, int, int], Outcome], dead_letters: list[DeadLetter],
                        committed: dict[tuple[str, int], int] | None) -> list[Problem]:
        problems: list[Problem] = []
        originals = {message.source: message for message in self.messages}
        kept: dict[tuple[tuple[str, int, int], Any], int] = {}
        keeps = self.batch["config"].get("readings", {}).get("on_bad_message", "dead_letter") == "dead_letter"

        def fail(source: tuple[str, int, int], text: str) -> None:
            problems.append(Problem(self.scenario_of(source[0]), "dead letter", f"of {'/'.join(map(str, source))} {text}"))

        for dead_letter in dead_letters:
            outcome, original = outcomes.get(dead_letter.source), originals.get(dead_letter.source)
            if outcome is None or original is None:
                fail(dead_letter.source, "is there, and nothing says so")
                continue
            which = self.which_dead_letter(dead_letter, outcome, keeps)
            if which is None:
                fail(dead_letter.source, f"says {dead_letter.reason}, reading {dead_letter.reading}; expected "
                     f"{dict(outcome.bad) or 'none'}, refused: {outcome.dead_letters}")
            if (dead_letter.key, dead_letter.value, dead_letter.timestamp_ms, dead_letter.headers) != \
                    (original.key, original.value, original.timestamp_ms, original.headers):
                fail(dead_letter.source, "is not the original byte for byte")
            kept[dead_letter.source, which] = kept.get((dead_letter.source, which), 0) + 1
        for (source, _), count in kept.items():
            if count > 1 and not self.is_disturbed:
                fail(source, f"is there {count} times")
        for source, outcome in outcomes.items():
            if committed is not None and source[2] >= committed[source[:2]]:
                continue
            needed: list[Any] = ["whole" if which is None else which for which in outcome.bad] if keeps else []
            needed += ["refused"] if outcome.dead_letters == "sure" else []
            for which in needed:
                if (source, which) not in kept:
                    fail(source, f"is missing: {which}, {[sorted(reasons) for reasons in outcome.bad.values()]}")
        return problems

    @staticmethod
    def which_dead_letter(dead_letter: DeadLetter, outcome: Outcome, keeps: bool) -> Any:
        """Which of the message's expected dead letters this is: "refused", "whole", or the reading; None: none."""
        if dead_letter.reason == "refused_by_hbase":
            return "refused" if outcome.dead_letters != "none" else None
        for reading, reasons in outcome.bad.items():
            if keeps and dead_letter.reason in reasons and reading in (None, dead_letter.reading):
                return reading if reading is not None else "whole"
        return None

    def judge_refusals(self) -> None:
        """Who is refused once for its size, with others, is not told of as one that is too large."""
        told = [line for daemon in self.ended for line in daemon.log().splitlines() if "refuses a dead letter whose key and value" in line]
        if told and self.n_refusals <= 1:
            self.fail("batch", "refusal", f"{self.n_refusals} batches were refused for their size, and the log tells: {told[0]}")

    def judge_stands(self) -> None:
        """What is not read is halted, or counted; and a log line tells of it."""
        for source, text in self.halts_missing().items():
            self.fail(self.scenario_of(source[0]), "halt", f"at the end, {text}")
        logs = "\n".join(daemon.log() for daemon in self.ended)
        told = {(topic, int(partition)) for topic, partition in re.findall(r"topic '(\S+)' partition (\d+) is halted: ", logs)}
        for source in {source for source, stand in self.stands.items() if stand.cause} ^ told:
            self.fail(self.scenario_of(source[0]), "halt", f"of {source} is {'told' if source in told else 'not told'} by the log")
        unsigned = sum(stand.is_unsigned for stand in self.stands.values())
        found = sum(map(int, re.findall(r"(\d+) partitions? resumed at committed offsets that have no note", logs)))
        if found < unsigned:  # of one beyond the end, too, before that is known
            self.fail("batch", "unsigned", f"the log tells of {found} offsets without a note, not of {unsigned} at least")
        for reason, pattern in (("start", r"skipping ([\d,]+) messages?"),
                                ("retention", r"lost ([\d,]+) messages? of \d+ partitions?, deleted")):
            expected = sum(stand.left_out[1] for stand in self.stands.values() if stand.left_out[0] == reason and not stand.cause)
            found = sum(int(number.replace(",", "")) for number in re.findall(pattern, logs))
            if found < expected or found > expected and not self.is_disturbed:
                self.fail("batch", "left out", f"the log tells of {found} messages for '{reason}', not of {expected}")

    def judge_kill(self) -> None:
        """Below what is committed, all must be there at any instant."""
        self.kafka.clear(*CODES)
        committed = self.kafka.committed(GROUP, list(self.ends))
        for problem in self.content_problems(self.outcomes(), self.read_dead_letters(), committed, True):
            self.problems.append(Problem(problem.scenario, f"after a kill, {problem.kind}", problem.text))

    def judge_end(self) -> None:
        self.kafka.clear(*CODES)
        outcomes, dead_letters = self.outcomes(), self.read_dead_letters()
        committed = self.kafka.committed(GROUP, list(self.ends))
        for source, offset in committed.items():
            if offset > self.ends[source]:
                self.fail(self.scenario_of(source[0]), "commit", f"{source} is committed up to {offset} of {self.ends[source]}")
        unfinished = bool(self.problems) or bool(self.batch.get("long_settle"))
        ties = bool(self.batch.get("long_settle"))  # the last value is written once more when the call cannot land any more
        self.problems += self.content_problems(outcomes, dead_letters, committed if unfinished else None, ties)

    def judge_counters(self) -> None:
        """The accounting balances, by topic and partition, when nothing moves."""
        problems: list[Problem] = []
        for _ in range(40):
            problems = [one for daemon in self.daemons for one in self.counter_problems(daemon.metrics())]
            if not problems:
                return
            time.sleep(0.25)
        self.problems += problems

    def counter_problems(self, metrics: dict[str, dict[tuple[str, ...], float]]) -> list[Problem]:
        ends = ("written", "dead_lettered", "unmatched", "expired", "skipped", "handed_back")
        problems = self.unread_problems(metrics)
        for unit in ("messages", "readings"):
            for source, received in metrics.get(f"tidemark_{unit}_received_total", {}).items():
                ways = {end: sum(number for labels, number in metrics.get(f"tidemark_{unit}_{end}_total", {}).items()
                                 if labels[:2] == source) for end in ends}
                flying = metrics.get(f"tidemark_{unit}_in_flight", {}).get(source, 0)
                if received != sum(ways.values()) + flying or flying and not self.batch.get("long_settle"):
                    problems.append(Problem(self.scenario_of(source[0]), "accounting",
                                            f"{unit} of {source}: received {received:.0f}, {ways}, in flight {flying:.0f}"))
        if not self.is_disturbed and not self.batch.get("long_settle"):
            problems += self.count_problems(metrics)
        return problems

    def unread_problems(self, metrics: dict[str, dict[tuple[str, ...], float]]) -> list[Problem]:
        """No partition is without a position, each halted one counts as that, and one daemon has counted what is left out."""
        problems = []
        unlocated = sum(metrics.get("tidemark_kafka_partitions_without_position", {}).values())
        if unlocated > 0:
            problems.append(Problem("batch", "position", f"{unlocated:.0f} partitions have none, and nothing moves"))
        if self.is_disturbed or len(self.daemons) > 1:
            return problems
        for reason in ("start", "retention", "taken"):
            expected = sum(stand.left_out[1] for stand in self.stands.values() if stand.left_out[0] == reason)
            counted = metrics.get("tidemark_messages_never_read_total", {}).get((reason,), 0)
            if counted != expected:
                problems.append(Problem("batch", "left out", f"{counted:.0f} messages counted for '{reason}', not {expected}"))
        return problems

    def count_problems(self, metrics: dict[str, dict[tuple[str, ...], float]]) -> list[Problem]:
        """One daemon has had all messages: it must have counted each as what it is, once, also where it has read it again."""
        problems = []
        outcomes = self.outcomes()
        for end in ("written", "dead_lettered", "unmatched", "expired", "skipped"):
            counted: dict[str, float] = {}
            for (topic, *_), number in metrics.get(f"tidemark_messages_{end}_total", {}).items():
                counted[topic] = counted.get(topic, 0) + number
            for topic in {topic for topic, _ in self.ends}:
                own = [outcome for source, outcome in outcomes.items() if source[0] == topic]
                least = sum(outcome.ends == {end} for outcome in own)
                most = sum(end in outcome.ends for outcome in own)
                if not least <= counted.get(topic, 0) <= most:
                    problems.append(Problem(self.scenario_of(topic), "counter", f"{end} of {topic} is "
                                            f"{counted.get(topic, 0):.0f}, expected {least} to {most}"))
        return problems

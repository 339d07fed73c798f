"""Where a run begins, and how it ends; what becomes of offsets that the outside has changed."""

import datetime
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Optional

from case import EX_UNAVAILABLE, Case, long
from daemon import DEADLINE_S, Daemon, wait_until
from jvm_process import spawn

START_MS = 1_426_535_612_045

COMMITTED = "tidemark_kafka_committed_offset"
HELD = "tidemark_kafka_halted_partitions"
LEFT_OUT = "tidemark_messages_never_read_total"
RECEIVED = "tidemark_messages_received_total"
STRANGERS = "tidemark_kafka_group_foreign_members"
WITHOUT_POSITION = "tidemark_kafka_partitions_without_position"


class End(Case):

    def test_until_end(self) -> None:
        """Ends by itself with 0 when all that was there is written."""
        self.create_topic(3)
        self.create_tables()
        n_messages = self.simulate("--readings", "3000", "--devices", "100", "--metrics", "3")
        daemon = self.daemon()
        self.run_to_end(daemon)
        self.assertIn("stopped: all messages read are acknowledged and committed [", daemon.log_text())
        self.assertEqual(daemon.committed(), n_messages)
        self.assert_tables_hold_what_was_sent()
        # With nothing left, it ends as well.
        self.run_to_end(daemon)

    def test_missing_table_at_start(self) -> None:
        """`startup: fail` ends with 69 and names the command; `wait` waits for the table, and then writes."""
        self.create_topic(1)
        self.create_table(self.history, "M")
        readings = [{"host": "a", "ts": START_MS + i, "v": i} for i in range(10)]
        self.log_sent(readings)
        self.send(readings)
        failing = self.daemon("failing", changes={"service": {"startup": "fail"}})
        failing.start()
        self.assertEqual(failing.wait_end(), EX_UNAVAILABLE, failing.log_tail())
        self.assertIn(self.latest, failing.log_text())
        self.assertIn("tidemark tables create", failing.log_text())

        waiting = self.daemon("waiting")
        waiting.start()
        wait_until(lambda: "tidemark tables create" in waiting.log_text(), lambda: f"says nothing\n{waiting.log_tail()}")
        self.create_table(self.latest, "M")
        waiting.wait_committed(len(readings))
        self.assert_tables_hold_what_was_sent()
        self.assertEqual(waiting.stop(), 0)


class Start(Case):

    def check_start(self, start: str, first: int) -> None:
        """A new group that begins at `start` writes the messages from `first` on: those there, and one sent now."""
        group = f"{self.name}-{first}"
        table = f"{self.history}_{first}"
        self.create_table(table, "M")
        tables = {table: {"key": [{"field": "host"}, "#", {"time": "epoch_ms"}], "columns": {"family": "M", "from": "*"}}}
        daemon = self.daemon(group, tables=tables, changes={"kafka": {"group": group, "start": start}})
        daemon.start()
        daemon.wait_ready()
        self.n_sent += self.send([{"host": "a", "ts": START_MS + self.n_sent, "v": self.n_sent}])
        daemon.wait_committed(self.n_sent)
        found = sorted(int(value) for _, value in self.cells(table).values())
        self.assertEqual(found, list(range(first, self.n_sent)), f"start: {start}\n{daemon.log_tail()}")
        self.assertEqual(daemon.stop(), 0)

    def test_new_group_start(self) -> None:
        """earliest, a time, and latest begin where they say."""
        self.create_topic(1)
        batches = [[{"host": "a", "ts": START_MS + i, "v": i} for i in part] for part in (range(5), range(5, 12))]
        self.n_sent = self.send(batches[0])
        # Whole seconds: what was sent before is before it, what is sent from then on is not.
        border_s = int(time.time()) + 1
        wait_until(lambda: time.time() >= border_s, "the clock stands still")
        self.n_sent += self.send(batches[1])
        border = datetime.datetime.fromtimestamp(border_s, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.check_start("earliest", 0)
        self.check_start(border, 5)
        self.check_start("latest", self.n_sent)

    def test_known_group_goes_on(self) -> None:
        """`start` is for new groups only: a group with offsets goes on where it was."""
        self.create_topic(1)
        self.create_tables()
        readings = [{"host": "a", "ts": START_MS + i, "v": i} for i in range(20)]
        daemon = self.daemon(changes={"kafka": {"start": "latest"}})
        daemon.start()
        daemon.wait_ready()
        self.send(readings[:10])
        daemon.wait_committed(10)
        self.assertEqual(daemon.stop(), 0)
        self.send(readings[10:])
        daemon.start()
        daemon.wait_committed(20)
        self.sent.write_text("".join(json.dumps(reading) + "\n" for reading in readings), encoding="utf-8")
        self.assert_tables_hold_what_was_sent()
        self.assertEqual(daemon.stop(), 0)


class OffsetTrust(Case):

    def setUp(self) -> None:
        super().setUp()
        self.n_sent = 0

    def send_more(self, count: int, *, topic: Optional[str] = None, partition: int = 0) -> None:
        """Readings that no other has the row of, all of which are to be in the tables in the end."""
        readings = [{"host": f"h{i % 50:02}", "ts": START_MS + i, "v": i} for i in range(self.n_sent, self.n_sent + count)]
        self.n_sent += count
        self.send(readings, topic=topic, partition=partition)
        self.log_sent(readings)

    def recreate_topic(self, topic: str) -> None:
        self.kafka.admin.delete_topic(topic)
        self.kafka.admin.create_topic(topic, 1)

    def committed(self, daemon: Daemon) -> dict[int, int]:
        return self.kafka.admin.committed_offsets(daemon.group, daemon.topic)

    def wait_halted(self, daemon: Daemon, why: str) -> None:
        wait_until(lambda: why in daemon.readiness()[1], lambda: f"{daemon.readiness()}\n{daemon.log_tail()}")
        daemon.wait_metric(HELD, 1)

    def offsets(self, daemon: Daemon, *words: str) -> list[dict[str, Any]]:
        output = self.command("offsets", *words, "--config", str(daemon.config_path), "--format", "json")
        return [json.loads(line) for line in output.splitlines()]

    def move_past_the_halt(self, daemon: Daemon, why: str, new_offset: int) -> None:
        """As the halt's sentence says; the daemon is stopped."""
        halted, = (line for line in self.offsets(daemon, "show") if "halted" in line)
        self.assertIn(why, halted["halted"])
        moved, = (line for line in self.offsets(daemon, "move", "--to", "past-halt") if line["result"] == "moved")
        self.assertEqual((moved["partition"], moved["new"]), (halted["partition"], new_offset))

    def test_topic_recreated_shorter(self) -> None:
        """K1: the halt outlasts a restart, whatever comes meanwhile; the operator's move reads all of the new topic."""
        self.create_topic(1)
        self.create_tables()
        daemon = self.daemon()
        daemon.start()
        self.send_more(1_000)
        daemon.wait_committed(1_000)
        self.recreate_topic(self.name)
        self.wait_halted(daemon, "the next offset was 1000")
        self.send_more(5_000)
        for _ in range(2):
            self.assertEqual(daemon.stop(), 0, daemon.log_tail())
            self.assertEqual(self.committed(daemon), {0: 0})
            daemon.start()
            self.wait_halted(daemon, "the next offset was 1000")
        self.assertEqual(daemon.metric(RECEIVED), 0)
        self.assertEqual(daemon.stop(), 0, daemon.log_tail())
        self.move_past_the_halt(daemon, "created", 0)
        daemon.start()
        self.assert_all_is_written(daemon, 5_000)
        self.assertEqual(daemon.stop(), 0)

    def assert_recreated_longer_is_noticed(self, case: str, suspended: bool, commit_interval: str) -> None:
        topic = self.create_topic(1, f"{self.name}_{case}")
        daemon = self.daemon(case, topic=topic, changes={"kafka": {"group": topic, "commit_interval": commit_interval}})
        daemon.start()
        self.send_more(1_000, topic=topic)
        daemon.wait_committed(1_000)
        wait_until(lambda: daemon.metric(COMMITTED) == 1_000, daemon.log_tail)
        # Each look at the brokers knows the log by what was read before it; the first may have come before the messages.
        for total in (1_001, 1_002):
            self.send_more(1, topic=topic)
            daemon.wait_metric(COMMITTED, total)
        if suspended:
            daemon.send(signal.SIGSTOP)
        self.recreate_topic(topic)
        self.send_more(1_500, topic=topic)
        daemon.send(signal.SIGCONT)
        self.wait_halted(daemon, "the topic was deleted and created again")
        wait_until(lambda: self.committed(daemon) == {0: 0}, daemon.log_tail)
        self.assertEqual(daemon.stop(), 0, daemon.log_tail())
        self.move_past_the_halt(daemon, "created again", 0)
        daemon.start()
        daemon.wait_committed(1_500)
        self.assertEqual(daemon.stop(), 0)

    def test_topic_recreated_longer(self) -> None:
        """K2: that the new topic holds the old offset, and that the daemon has committed for it already, hides nothing."""
        self.create_tables()
        self.assert_recreated_longer_is_noticed("committed", False, "100ms")
        self.assert_tables_hold_what_was_sent()

    @long
    def test_topic_recreated_longer_at_other_times(self) -> None:
        """K2: before the daemon has committed for the new topic, and while it is suspended."""
        self.create_tables()
        self.assert_recreated_longer_is_noticed("at_once", False, "1s")
        self.assert_recreated_longer_is_noticed("suspended", True, "1s")
        self.assert_tables_hold_what_was_sent()

    def kcat_member(self, output: Path) -> subprocess.Popen[bytes]:
        with output.open("ab") as log:
            process = spawn(["kcat", "-u", "-b", self.kafka.address, "-G", self.name, self.name], dict(os.environ), log, owned=True)
        self.addCleanup(process.kill)
        return process

    def test_stranger_in_the_group(self) -> None:
        """K3: what a stranger took is halted for and read again; while it is there everybody who asks is told."""
        self.create_topic(2)
        self.create_tables()
        daemon = self.daemon(changes={"kafka": {"threads": 1}})
        daemon.start()
        for partition in (0, 1):
            self.send_more(100, partition=partition)
        daemon.wait_committed(200)
        read_by_stranger = self.work / "kcat.log"
        stranger = self.kcat_member(read_by_stranger)
        daemon.wait_metric(STRANGERS, 1)
        wait_until(lambda: "not tidemark: 'rdkafka'" in daemon.readiness()[1], daemon.log_tail)
        wait_until(lambda: "has members other than tidemark: 'rdkafka' at /127.0.0.1" in daemon.log_text(), daemon.log_tail)
        check = self.command("check", "--config", str(daemon.config_path), code=1)
        self.assertIn("PROBLEM  has members that are not tidemark: 'rdkafka'", check)
        for partition in (0, 1):
            self.send_more(500, partition=partition)
        daemon.wait_metric("tidemark_messages_written_total", 700)
        wait_until(lambda: read_by_stranger.read_bytes().count(b'{"host":') == 500, daemon.log_tail)
        stranger.send_signal(signal.SIGTERM)
        self.assertEqual(stranger.wait(DEADLINE_S), 0)
        self.wait_halted(daemon, "a consumer that is not tidemark was in the group")
        self.assertEqual(daemon.metric(LEFT_OUT, 'reason="taken"'), 500)
        self.assertEqual(daemon.stop(), 0, daemon.log_tail())
        self.move_past_the_halt(daemon, "not tidemark", 100)
        daemon.start()
        daemon.wait_committed(1_200)
        self.assert_tables_hold_what_was_sent()
        self.assertEqual(daemon.stop(), 0)

    def test_offsets_that_are_gone(self) -> None:
        """K4: `kafka.start: latest` begins a group; that of one that has started before is not begun again."""
        self.create_topic(1)
        self.create_tables()
        daemon = self.daemon(changes={"kafka": {"start": "latest"}})
        state = self.work / "state"
        state.mkdir()
        daemon.environment["STATE_DIRECTORY"] = str(state)
        self.send([{"host": "before", "ts": START_MS, "v": i} for i in range(30)])
        daemon.start()
        wait_until(lambda: self.committed(daemon) == {0: 30}, daemon.log_tail)
        self.assertIn("skipping 30 messages", daemon.log_text())
        self.assertEqual(daemon.metric(LEFT_OUT, 'reason="start"'), 30)
        self.assertEqual(daemon.stop(), 0)
        self.kafka.admin.delete_group(daemon.group)
        self.send_more(700)
        daemon.start()
        daemon.wait_committed(730)
        self.assertIn("has started before but has no committed offsets for 1 partition", daemon.log_text())
        self.assertEqual(daemon.metric(LEFT_OUT), 0)
        self.assertEqual(daemon.stop(), 0)
        self.assertEqual(sum(1 for row, _ in self.cells(self.history) if row.startswith("h")), 700)
        self.kafka.admin.delete_group(daemon.group)
        del daemon.environment["STATE_DIRECTORY"]
        daemon.start()
        daemon.wait_metric(LEFT_OUT, 730)
        self.assertIn("skipping 730 messages", daemon.log_text())
        self.assertEqual(daemon.stop(), 0)

    def test_broker_restarts_while_joining(self) -> None:
        """C1: a coordinator that goes and comes back while the group is joined leaves no partition without a position."""
        self.create_topic(4)
        self.create_tables()
        daemon = self.daemon()
        for turn in range(2):
            for partition in range(4):
                self.send_more(50, partition=partition)
            daemon.start()
            if turn > 0:
                wait_until(lambda: daemon.health()[0] == 200, daemon.log_tail)
            self.kafka.kill9()
            self.kafka.start()
            daemon.wait_committed(200 * (turn + 1))
            daemon.wait_ready()
            self.assertEqual(daemon.metric(WITHOUT_POSITION), 0)
            self.assertEqual(daemon.stop(), 0, daemon.log_tail())
        self.assert_tables_hold_what_was_sent()

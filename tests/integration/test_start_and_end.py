"""Where a run begins, and how it ends."""

import datetime
import json
import time

from case import EX_DATAERR, EX_TEMPFAIL, EX_UNAVAILABLE, Case
from daemon import wait_until

START_MS = 1_426_535_612_045


class End(Case):

    def test_until_end(self) -> None:
        """Ends by itself with 0 when all that was there is written."""
        self.create_topic(3)
        self.create_tables()
        n_messages = self.simulate("--readings", "3000", "--machines", "100", "--metrics", "3")
        daemon = self.daemon()
        daemon.start("--until-end")
        self.assertEqual(daemon.wait_end(), 0, daemon.log_tail())
        self.assertIn("stopped: all that was read is acknowledged and committed\n", daemon.log_text())
        self.assertEqual(daemon.committed(), n_messages)
        self.assert_tables_hold_what_was_sent()
        # With nothing left, it ends as well.
        daemon.start("--until-end")
        self.assertEqual(daemon.wait_end(), 0, daemon.log_tail())

    def test_bad_message_stops_its_partition(self) -> None:
        """Ends with 65; all before the bad message, and the other partition, are written and committed, nothing behind it."""
        self.create_topic(2)
        self.create_tables()
        good = [{"host": "a", "ts": START_MS + i, "v": i} for i in range(10)]
        other = [{"host": "b", "ts": START_MS + i, "v": i} for i in range(10)]
        self.send([*good, "{not json", {"host": "a", "ts": START_MS + 99, "v": 99}], partition=0)
        self.send(other, partition=1)
        self.log_sent([*good, *other])
        daemon = self.daemon(changes={"readings": {"on_bad_message": "stop"}})
        daemon.start("--until-end")
        self.assertEqual(daemon.wait_end(), EX_DATAERR, daemon.log_tail())
        self.assertEqual(self.stack.kafka.admin.committed_offsets(daemon.group, daemon.topic), {0: 10, 1: 10})
        self.assert_tables_hold_what_was_sent()
        self.assertIn("offset 10", daemon.log_text())

    def test_bad_message_is_skipped(self) -> None:
        """With `skip` it is counted and passed over."""
        self.create_topic(1)
        self.create_tables()
        good = [{"host": "a", "ts": START_MS + i, "v": i} for i in range(10)]
        self.send([*good[:5], "{not json", '{"host":"a"}', *good[5:]])
        self.log_sent(good)
        daemon = self.daemon(changes={"readings": {"on_bad_message": "skip"}})
        daemon.start()
        daemon.wait_committed(12)
        self.assertEqual(daemon.metric("tidemark_messages_skipped_total"), 2)
        self.assert_accounting_balances(daemon)
        self.assert_tables_hold_what_was_sent()
        self.assertEqual(daemon.stop(), 0)

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

    def test_stop_while_hbase_hangs(self) -> None:
        """SIGTERM ends in time with 75, nothing unfinished is committed, and the next run writes it."""
        self.create_topic(2)
        self.create_tables()
        n_first = self.simulate("--readings", "1000", "--machines", "20", "--metrics", "3")
        sent_first = self.sent.read_text(encoding="utf-8")
        daemon = self.daemon(changes={"limits": {"drain_timeout": "2s"}})
        daemon.start()
        daemon.wait_committed(n_first)
        self.stack.hbase.suspend()
        try:
            n_second = self.simulate("--readings", "500", "--machines", "20", "--metrics", "3", "--seed", "2")
            daemon.wait_metric("tidemark_messages_in_flight", n_second)
            began = time.monotonic()
            self.assertEqual(daemon.stop(deadline_s=30), EX_TEMPFAIL, daemon.log_tail())
            self.assertLess(time.monotonic() - began, 12, "drain_timeout is 2 s")
            self.assertEqual(daemon.committed(), n_first)
        finally:
            self.stack.hbase.resume()
        self.sent.write_text(sent_first + self.sent.read_text(encoding="utf-8"), encoding="utf-8")
        daemon.start()
        daemon.wait_committed(n_first + n_second)
        self.assert_tables_hold_what_was_sent()
        self.assertEqual(daemon.stop(), 0)


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

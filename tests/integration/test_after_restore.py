"""The procedures of docs/offsets.md for tables and topics that are not what the offsets say: each writes what is missing again."""

import re
import time
from typing import Any

from case import Case, long
from daemon import Daemon, metric_tables


class AfterRestore(Case):

    def begin(self, n_readings: int = 300) -> Daemon:
        """Everything is written once."""
        self.create_topic(2)
        self.create_tables()
        self.simulate("--readings", str(n_readings), "--seed", "7")
        daemon = self.daemon()
        self.run_to_end(daemon)
        self.assert_tables_hold_what_was_sent()
        return daemon

    def simulate_more(self, n_readings: int, seed: int) -> None:
        """Beside those that were sent before, whose log it would write over."""
        before = self.sent.read_text(encoding="utf-8")
        self.simulate("--readings", str(n_readings), "--seed", str(seed))
        self.sent.write_text(before + self.sent.read_text(encoding="utf-8"), encoding="utf-8")

    def move(self, daemon: Daemon, to: str) -> str:
        return self.command("offsets", "move", "--to", to, self.name, "--config", str(daemon.config_path))

    def assert_verified(self, daemon: Daemon) -> None:
        self.run_to_end(daemon)
        self.assert_tables_hold_what_was_sent()
        self.assertIn("all is right", self.command("verify", "--config", str(daemon.config_path)))

    def test_table_truncated(self) -> None:
        daemon = self.begin()
        self.stack.oracle.truncate(self.history)
        self.assertEqual(self.cells(self.history), {})
        self.run_to_end(daemon)
        self.assertEqual(self.cells(self.history), {})  # what is committed is not read again by itself
        self.move(daemon, "beginning")
        self.assert_verified(daemon)

    @long
    def test_table_dropped(self) -> None:
        daemon = self.begin()
        self.stack.oracle.drop(self.latest)
        self.drop_later("tidemark_schemes")
        self.command("tables", "create", "--config", str(daemon.config_path))
        self.move(daemon, "beginning")
        self.assert_verified(daemon)

    def test_table_restored_from_a_snapshot(self) -> None:
        """From the moment of the snapshot on; what is older is in it."""
        daemon = self.begin()
        snapshot = f"{self.name}_snapshot"
        self.stack.oracle.snapshot(self.history, snapshot)
        taken = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
        self.simulate_more(200, 8)
        self.run_to_end(daemon)
        self.stack.oracle.restore(self.history, snapshot)
        moved = self.move(daemon, taken)
        self.assertRegex(moved, r"moved")
        self.assert_verified(daemon)

    @long
    def test_table_moved(self) -> None:
        """A table with another name continues where the first one stopped."""
        daemon = self.begin()
        snapshot, name = f"{self.name}_snapshot", f"{self.name}_NEW"
        self.stack.oracle.snapshot(self.history, snapshot)
        self.stack.oracle.clone(name, snapshot)
        self.drop_later(name)
        self.simulate_more(200, 8)
        moved = self.daemon("moved", tables=metric_tables(name, self.latest))
        self.run_to_end(moved)
        self.assert_tables_hold_what_was_sent(history=name)
        self.assertIn("all is right", self.command("verify", "--config", str(moved.config_path)))

    def test_another_key(self) -> None:
        """A table with the new key beside the old one, filled from the topic."""
        self.begin()
        name = f"{self.name}_BY_HASH"
        tables: dict[str, Any] = metric_tables(self.history, self.latest)
        tables[name] = {"key": [{"hash": "md5", "of": ["host"], "bytes": 4}, {"field": "host"}, "#", {"time": "epoch_ms"}],
                        "columns": {"family": "M", "from": "*"}}
        daemon = self.daemon("keys", tables=tables)
        self.drop_later(name, "tidemark_schemes")
        self.command("tables", "create", name, "--config", str(daemon.config_path))
        self.move(daemon, "beginning")
        self.assert_verified(daemon)
        old = {(re.sub(r"^[0-9a-f]{8}", "", row), column): cell for (row, column), cell in self.cells(name).items()}
        self.assertEqual(old, self.cells(self.history))

    @long
    def test_topic_recreated(self) -> None:
        """Kafka has deleted the group's offsets with the topic, so that the new log is read from its beginning."""
        daemon = self.begin()
        self.kafka.admin.delete_topic(self.name)
        self.kafka.admin.create_topic(self.name, 2)
        self.simulate_more(100, 9)
        self.run_to_end(daemon)
        self.assert_tables_hold_what_was_sent()

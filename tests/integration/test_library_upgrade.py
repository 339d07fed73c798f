"""The client library of Kafka is exchanged under one daemon of a group after the other."""

from __future__ import annotations

from pathlib import Path

import newer_librdkafka
from case import WRITTEN, Case
from daemon import Daemon, wait_until


class LibraryUpgrade(Case):

    def test_rolling_upgrade_of_librdkafka(self) -> None:
        """While readings flow, with members of both libraries in the group for a while: nothing is lost."""
        self.create_topic(4)
        self.create_tables()
        first, second = self.daemon("first"), self.daemon("second")
        for daemon in (first, second):
            daemon.start()
        simulation = self.simulate_in_background("--readings", "8000", "--devices", "50", "--metrics", "3", "--rate", "400")
        for daemon in (first, second):
            daemon.wait_metric(WRITTEN, 200)
        self.upgrade(first)
        self.upgrade(second)
        self.assert_in_the_middle(simulation, first)
        n_messages = self.finish(simulation)
        first.wait_committed(n_messages)
        self.assert_tables_hold_what_was_sent()
        for daemon in (first, second):
            self.assert_accounting_balances(daemon)
            self.assertEqual(daemon.stop(), 0)

    def upgrade(self, daemon: Daemon) -> None:
        """Returns when it writes again, with the newer one."""
        self.assertFalse(self.runs_newer(daemon))
        self.assertEqual(daemon.stop(), 0)
        daemon.environment["LD_LIBRARY_PATH"] = str(newer_librdkafka.folder())
        daemon.start()
        wait_until(lambda: daemon.metric(WRITTEN) > 0, daemon.log_tail)
        self.assertTrue(self.runs_newer(daemon))

    @staticmethod
    def runs_newer(daemon: Daemon) -> bool:
        return str(newer_librdkafka.folder()) in Path(f"/proc/{daemon.pid}/maps").read_text(encoding="utf-8")

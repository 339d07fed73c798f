"""Outages of what is around the daemon, beside the gateways': the broker, HBase as a whole, one region."""

import struct

from case import Case
from daemon import wait_until

# Label of calls that got no answer.
ABANDONED = 'outcome="unknown"'

START_MS = 1_426_535_612_045


CLOCK_BACK_S = 600

# kafka.session_timeout of daemon.py's daemons.
SESSION_S = 6


class Outages(Case):

    def test_clock_set_back(self) -> None:
        """K5, E9: the wall clock is set back by ten minutes among messages, in a build whose clock the test sets: the client of a
        real broker is woken, so commits go on within a session, and its member stays in the group."""
        self.create_topic(3)
        self.create_tables()
        clock = self.work / "clock"
        clock.write_bytes(struct.pack("q", 0))
        daemon = self.daemon()
        daemon.program = self.tidemark.parent.parent / "tests" / "fault" / "tidemark-shifted-clock"
        daemon.environment["TIDE_CLOCK_FILE"] = str(clock)
        simulation = self.begin_flow(daemon, 6_000)
        self.assert_in_the_middle(simulation, daemon)
        with clock.open("r+b") as file:
            file.write(struct.pack("q", -CLOCK_BACK_S * 1_000_000_000))
        wait_until(lambda: f"the wall clock was set back by {CLOCK_BACK_S}.0 s" in daemon.log_text(), daemon.log_tail)
        committed = daemon.committed()
        wait_until(lambda: daemon.committed() > committed, daemon.log_tail, SESSION_S)
        n_messages = self.finish(simulation)
        self.assert_all_is_written(daemon, n_messages)
        self.assertEqual(daemon.metric("tidemark_kafka_rebalances_total", 'type="lost"'), 0, daemon.log_tail())
        self.assertEqual(daemon.stop(), 0)

    def test_abandoned_call_does_not_win(self) -> None:
        """A value whose call got no answer lands late, and still the later value of the same time is there in the end."""
        self.create_topic(1)
        self.create_tables()
        daemon = self.daemon(changes={"hbase": {"call_timeout": "1s", "uncertain_timeout": "10s"}})
        daemon.start()
        daemon.wait_ready()
        hosts = [f"host{host:02}" for host in range(20)]
        # The connections are open and have worked before HBase hangs.
        n_sent = self.send([{"host": host, "ts": START_MS - 1, "value": "before"} for host in hosts])
        daemon.wait_committed(n_sent)
        self.stack.hbase.suspend()
        try:
            n_sent += self.send([{"host": host, "ts": START_MS, "value": "abandoned"} for host in hosts])
            wait_until(lambda: daemon.metric("tidemark_hbase_calls_total", ABANDONED) >= 2,
                       lambda: f"no call is given up\n{daemon.log_tail()}")
            n_sent += self.send([{"host": host, "ts": START_MS, "value": "last"} for host in hosts])
            daemon.wait_metric("tidemark_messages_received_total", n_sent)
        finally:
            self.stack.hbase.resume()
        daemon.wait_committed(n_sent)
        self.assertGreater(daemon.metric("tidemark_kafka_rewinds_total", 'reason="conflict"'), 0)
        self.assertEqual(self.cells(self.latest), {(host, "M:value"): (START_MS, "last") for host in hosts})
        in_history = self.cells(self.history)
        self.assertEqual({host: in_history[f"{host}#{START_MS}", "M:value"][1] for host in hosts}, dict.fromkeys(hosts, "last"))
        self.assert_accounting_balances(daemon)
        self.assertEqual(daemon.stop(), 0)

    def test_one_region_is_offline(self) -> None:
        """The rows of other regions go on; those of the region are written when it is back."""
        self.create_topic(3)
        self.create_tables(splits=(b"server0100", b"server0200"))
        daemon = self.daemon(changes={"hbase": {"call_timeout": "2s", "uncertain_timeout": "5s"}})
        daemon.start()
        daemon.wait_ready()
        n_messages = self.simulate("--readings", "3000", "--devices", "300", "--metrics", "3")
        daemon.wait_committed(n_messages)
        sent_before = self.sent.read_text(encoding="utf-8")

        self.stack.oracle.unassign(self.history, b"server0100")
        try:
            n_second = self.simulate("--readings", "3000", "--devices", "300", "--metrics", "3", "--seed", "2",
                                     "--start-time", "2015-03-16")
            self.sent.write_text(sent_before + self.sent.read_text(encoding="utf-8"), encoding="utf-8")

            def rows_outside() -> int:
                dump = self.stack.oracle.dump
                return len({cell.row for cell in dump(self.history, stop=b"server0100")}
                           | {cell.row for cell in dump(self.history, start=b"server0200")})
            # Machines 1 to 99 and 200 to 300, twenty readings each.
            wait_until(lambda: rows_outside() == 20 * (99 + 101),
                       lambda: f"{rows_outside()} rows outside of the region that is offline\n{daemon.log_tail()}")
            self.assertLess(daemon.committed(), n_messages + n_second)
        finally:
            self.stack.oracle.assign(self.history, b"server0100")
        self.assert_all_is_written(daemon, n_messages + n_second)
        self.assertEqual(daemon.stop(), 0)

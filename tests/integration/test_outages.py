"""Outages of what is around the daemon, beside the gateways': the broker, HBase as a whole, one region."""

from case import EX_TEMPFAIL, Case
from daemon import wait_until
from test_main_job import FLOW, SLOWLY, WRITTEN

# Label of calls that got no answer.
ABANDONED = 'outcome="unknown"'

START_MS = 1_426_535_612_045


class Outages(Case):

    def test_broker_killed_and_restarted(self) -> None:
        """The only broker dies and comes back, among messages that are no readings: the accounting balances,
        nothing is missing. What is lost, and moves once more at once, is committed when no earlier call can land any more."""
        self.create_topic(3)
        self.create_tables()
        daemon = self.daemon(changes={"readings": {"on_bad_message": "skip"}, "hbase": {"call_timeout": "1s", "settle": "5s"}})
        daemon.start()
        simulation = self.simulate_in_background(*FLOW, *SLOWLY, "--poison", "1%")
        daemon.wait_metric(WRITTEN, 6_000)
        self.assert_in_the_middle(simulation, daemon)
        self.stack.kafka.kill9()
        self.stack.kafka.start()
        n_readings = self.finish(simulation)
        n_messages = sum(self.stack.kafka.admin.latest_offsets(self.name).values())
        self.assertGreater(n_messages, n_readings)
        daemon.wait_committed(n_messages)
        self.assert_tables_hold_what_was_sent()
        self.assert_accounting_balances(daemon)
        # A group that is still moving partitions may lose the last commit: "some messages are left for the next start".
        self.assertIn(daemon.stop(), (0, EX_TEMPFAIL))

    def test_hbase_hangs(self) -> None:
        """Calls get no answer and are abandoned; when HBase wakes up all of them land in some order: the content is right."""
        self.create_topic(3)
        self.create_tables()
        daemon = self.daemon(changes={"hbase": {"call_timeout": "1s", "settle": "5s"}})
        daemon.start()
        simulation = self.simulate_in_background(*FLOW, *SLOWLY)
        daemon.wait_metric(WRITTEN, 6_000)
        self.stack.hbase.suspend()
        try:
            wait_until(lambda: daemon.metric("tidemark_hbase_calls_total", ABANDONED) >= 4,
                       lambda: f"no call is given up\n{daemon.log_tail()}")
            self.assert_in_the_middle(simulation, daemon)
        finally:
            self.stack.hbase.resume()
        n_messages = self.finish(simulation)
        daemon.wait_committed(n_messages)
        self.assert_tables_hold_what_was_sent()
        self.assert_accounting_balances(daemon)
        self.assertEqual(daemon.stop(), 0)

    def test_abandoned_call_does_not_win(self) -> None:
        """A value whose call got no answer lands late, and still the later value of the same time is there in the end."""
        self.create_topic(1)
        self.create_tables()
        daemon = self.daemon(changes={"hbase": {"call_timeout": "1s", "settle": "10s"}})
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
        self.assertGreater(daemon.metric("tidemark_rows_healed_total"), 0)
        self.assertEqual(self.cells(self.latest), {(host, "M:value"): (START_MS, "last") for host in hosts})
        in_history = self.cells(self.history)
        self.assertEqual({host: in_history[f"{host}#{START_MS}", "M:value"][1] for host in hosts}, dict.fromkeys(hosts, "last"))
        self.assert_accounting_balances(daemon)
        self.assertEqual(daemon.stop(), 0)

    def test_one_region_is_offline(self) -> None:
        """The rows of other regions go on; those of the region are written when it is back."""
        self.create_topic(3)
        self.create_tables(splits=(b"server0100", b"server0200"))
        daemon = self.daemon(changes={"hbase": {"call_timeout": "2s", "settle": "5s"}})
        daemon.start()
        daemon.wait_ready()
        n_messages = self.simulate("--readings", "3000", "--machines", "300", "--metrics", "3")
        daemon.wait_committed(n_messages)
        sent_before = self.sent.read_text(encoding="utf-8")

        self.stack.oracle.unassign(self.history, b"server0100")
        try:
            n_second = self.simulate("--readings", "3000", "--machines", "300", "--metrics", "3", "--seed", "2",
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
        daemon.wait_committed(n_messages + n_second)
        self.assert_tables_hold_what_was_sent()
        self.assert_accounting_balances(daemon)
        self.assertEqual(daemon.stop(), 0)

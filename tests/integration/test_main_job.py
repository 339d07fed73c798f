"""The main job: everything sent is in the tables, whoever is killed in between."""

from case import FLOW, SLOWLY, WRITTEN, Case
from daemon import wait_until


class MainJob(Case):

    def test_main_job(self) -> None:
        """kill -9 half way and a restart: content exact, counters balance, everything committed."""
        self.create_topic(6)
        self.create_tables(splits=(b"server0100", b"server0200"))
        daemon = self.daemon()
        simulation = self.begin_flow(daemon, 12_000)
        self.assert_in_the_middle(simulation, daemon)
        daemon.kill9()
        committed_at_kill = daemon.committed()

        daemon.start()
        n_messages = self.finish(simulation)
        self.assertGreater(n_messages, 30_000)
        self.assertLess(committed_at_kill, n_messages)
        self.assert_all_is_written(daemon, n_messages)
        self.assertEqual(daemon.metric(WRITTEN), n_messages - committed_at_kill)
        self.assertEqual(daemon.stop(), 0)
        self.assertEqual(daemon.committed(), n_messages)

    def test_two_daemons_one_killed(self) -> None:
        """They share six partitions; the survivor takes over what the other left unfinished."""
        self.create_topic(6)
        self.create_tables()
        daemons = [self.daemon("first"), self.daemon("second")]
        for daemon in daemons:
            daemon.start()
        wait_until(lambda: all(daemon.metric("tidemark_kafka_rebalances_total") for daemon in daemons), "no assignment")
        for daemon in daemons:
            daemon.wait_ready()
        simulation = self.simulate_in_background(*FLOW, *SLOWLY)
        for daemon in daemons:
            daemon.wait_metric(WRITTEN, 3_000)
        self.assert_in_the_middle(simulation, daemons[0])
        daemons[0].kill9()

        self.end_flow(simulation, daemons[1])


class Gateways(Case):

    def test_gateway_killed_and_restarted(self) -> None:
        """The only gateway dies and comes back: nothing is missing, and nobody had to do anything."""
        self.create_topic(3)
        self.create_tables()
        gateway = self.stack.gateways[0]
        daemon = self.daemon(gateways=[gateway.address])
        simulation = self.begin_flow(daemon, 6_000)
        gateway.kill9()
        try:
            wait_until(lambda: daemon.metric("tidemark_gateway_up") == 0, "the gateway still counts as up")
            self.assert_in_the_middle(simulation, daemon)
        finally:
            gateway.start()
        n_messages = self.finish(simulation)
        self.assert_all_is_written(daemon, n_messages)
        self.assertEqual(daemon.metric("tidemark_gateway_up"), 1)
        self.assertEqual(daemon.stop(), 0)

    def test_region_split(self) -> None:
        """Both tables' regions split while rows are written: nothing is missing."""
        self.create_topic(3)
        self.create_tables()
        daemon = self.daemon(changes={"hbase": {"region_refresh": "5s"}})
        daemon.start()
        simulation = self.simulate_in_background(*FLOW, "--rate", "3000")
        daemon.wait_metric(WRITTEN, 6_000)
        self.stack.oracle.split(self.history, b"server0150")
        self.assert_in_the_middle(simulation, daemon)
        self.stack.oracle.split(self.latest, b"server0150")
        n_messages = self.finish(simulation)
        self.assert_all_is_written(daemon, n_messages)
        daemon.wait_metric("tidemark_table_regions", 4)
        self.assertEqual(daemon.stop(), 0)

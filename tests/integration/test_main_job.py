"""The main job: everything sent is in the tables, though the daemon is killed in between."""

from case import WRITTEN, Case


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

"""Gateways of every wire format, and what is none."""

from case import EX_UNAVAILABLE, Case
from daemon import metric_tables


class WireModes(Case):

    def test_transport_is_found_out(self) -> None:
        """`transport: auto` with each of the formats: the tables are right."""
        self.create_topic(2)
        n_messages = self.simulate("--readings", "1000", "--devices", "20", "--metrics", "3", "--late", "2%")
        for framed, compact in ((True, False), (False, True), (True, True)):
            with self.subTest(framed=framed, compact=compact):
                gateway = self.stack.add_gateway(framed=framed, compact=compact)
                self.addCleanup(gateway.kill9)
                self.check_mode(gateway.address, f"{'framed' if framed else 'unframed'}_{'compact' if compact else 'binary'}",
                                n_messages)

    def check_mode(self, address: str, mode: str, n_messages: int) -> None:
        history, latest = f"{self.history}_{mode}", f"{self.latest}_{mode}"
        self.drop_later(history, latest)
        daemon = self.daemon(mode, gateways=[address], tables=metric_tables(history, latest),
                             changes={"kafka": {"group": f"{self.name}-{mode}"}})
        self.command("tables", "create", "--config", str(daemon.config_path))
        self.assertIn(mode.replace("_", ", "), self.command("check", "--config", str(daemon.config_path)))
        self.run_to_end(daemon)
        self.assertEqual(daemon.committed(), n_messages)
        self.assert_tables_hold_what_was_sent(history, latest)
        shown = self.command("scan", "--config", str(daemon.config_path), history, "--format", "json")
        self.assertEqual(len(shown.splitlines()), 1000)

    def test_gateway_of_thrift1(self) -> None:
        """Told in one sentence, and nothing of the wire's innards."""
        old = self.stack.add_gateway(kind="thrift1")
        self.addCleanup(old.kill9)
        config = self.daemon(gateways=[old.address]).config_path
        done = self.run_command("check", "--config", str(config))
        self.assertEqual(done.returncode, EX_UNAVAILABLE, done.stdout + done.stderr)
        told, = (line for line in (done.stdout + done.stderr).splitlines() if old.address in line)
        self.assertIn("thrift1", told)

"""Gateways of every wire format, and what is none."""

import contextlib
import socket

from case import EX_UNAVAILABLE, Case
from daemon import metric_tables, wait_until
from stack import free_port


class WireModes(Case):

    def check_refused(self, address: str, code: int, *words: str) -> None:
        """`check` names the gateway in one sentence that holds these words, and nothing of the wire's innards."""
        config = self.daemon(f"refused-{address.rsplit(':', 1)[1]}", gateways=[address]).config_path
        done = self.run_command("check", "--config", str(config))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        lines = [line for line in (done.stdout + done.stderr).splitlines() if address in line]
        self.assertEqual(len(lines), 1, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, lines[0])

    def test_transport_is_found_out(self) -> None:
        """`transport: auto` with each of the formats: the tables are right."""
        self.create_topic(2)
        n_messages = self.simulate("--readings", "1000", "--machines", "20", "--metrics", "3", "--late", "2%")
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
        daemon.start("--until-end")
        self.assertEqual(daemon.wait_end(), 0, daemon.log_tail())
        self.assertEqual(daemon.committed(), n_messages)
        self.assert_tables_hold_what_was_sent(history, latest)
        shown = self.command("scan", "--config", str(daemon.config_path), history, "--format", "json")
        self.assertEqual(len(shown.splitlines()), 1000)

    def test_framed_gateway_cannot_split(self) -> None:
        """A framed gateway would make wrong splits: the shell's command is printed, or an unframed gateway taken."""
        gateway = self.stack.add_gateway(framed=True)
        self.addCleanup(gateway.kill9)
        self.drop_later(self.history, self.latest, "tidemark_schemes")
        tables = metric_tables(self.history, self.latest)
        tables[self.history]["splits"] = ["server0100", "server0200"]
        daemon = self.daemon(gateways=[gateway.address], tables=tables)
        done = self.run_command("tables", "create", "--config", str(daemon.config_path))
        self.assertNotEqual(done.returncode, 0)
        text = done.stdout + done.stderr
        self.assertIn("framed", text)
        self.assertIn(f'create "{self.history}"', text)
        self.assertIn("server0100", text)
        self.assertNotIn(self.history, self.stack.oracle.tables())

        mixed = self.daemon("mixed", gateways=[gateway.address, self.stack.gateways[0].address], tables=tables)
        self.command("tables", "create", "--config", str(mixed.config_path))
        self.assertEqual([line[1] for line in self.stack.oracle.describe(self.history) if line[0] == "region"],
                         ["", b"server0100".hex(), b"server0200".hex()])

    def test_what_is_no_gateway(self) -> None:
        """A gateway of the other kind, a closed port and a web server are each told in one sentence."""
        self.create_topic(1)
        self.create_tables()
        old = self.stack.add_gateway(kind="thrift1")
        self.addCleanup(old.kill9)
        self.check_refused(old.address, EX_UNAVAILABLE, "thrift1")
        self.check_refused(f"127.0.0.1:{free_port()}", EX_UNAVAILABLE, "connection refused")
        web = self.daemon("web")
        web.start()
        wait_until(lambda: web.metric("tidemark_memory_budget_bytes"), "the endpoint does not answer")
        self.check_refused(web.http, EX_UNAVAILABLE, "HTTP")
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
            self.check_refused(f"127.0.0.1:{silent.getsockname()[1]}", EX_UNAVAILABLE)

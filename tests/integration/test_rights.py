"""An HBase that is stricter than others: a right that is missing holds one table, until it is granted as the daemon says, and calls
that are too large for it go in smaller ones."""

from __future__ import annotations

import contextlib
import io
import re
from typing import Mapping

import check_tables
from case import Case, long
from daemon import wait_until
from hbase_oracle import Oracle
from stack_services import CHECKS_RIGHTS, Gateway, HBase, free_port

USER = "tidemark"
N_READINGS = 100

LIMIT_BYTES = 100_000


class Rights(Case):

    def start_hbase(self, settings: Mapping[str, str]) -> tuple[Gateway, Oracle]:
        """With both tables."""
        hbase = HBase(self.work, HBase.choose_ports(), settings=settings)
        # Without Kerberos a client is who it says.
        gateway = Gateway(self.work, 0, hbase.zookeeper_port, free_port(), jvm_flags=[f"-DHADOOP_USER_NAME={USER}"])
        oracle = Oracle(hbase.zookeeper_port, self.work / "oracle.log")
        for service in (hbase, gateway):
            self.addCleanup(service.kill9)
            service.start()
        self.addCleanup(oracle.stop)
        for table in (self.history, self.latest):
            oracle.create(table, "M")
        return gateway, oracle

    @long
    def test_right_that_is_missing(self) -> None:
        """On one table of two: the other's rows are written, and the command that is printed sets the rest going."""
        gateway, oracle = self.start_hbase(CHECKS_RIGHTS)
        oracle.grant(self.history, USER, "RW")
        self.create_topic(1)
        daemon = self.daemon(gateways=[gateway.address])
        n_messages = self.simulate("--readings", str(N_READINGS), "--devices", "10")

        missing = re.compile(rf"user '{USER}' lacks the right (?:READ|WRITE) on table '{self.latest}'; grant it in the HBase shell: "
                             rf'grant "({USER})", "(RW)", "({self.latest})"')
        said = self.command("check", "--config", str(daemon.config_path), code=1)
        self.assertEqual(len(missing.findall(said)), 1, said)

        daemon.start()
        wait_until(lambda: missing.search(daemon.log_text()), daemon.log_tail)
        wait_until(lambda: oracle.count(self.history)[0] == N_READINGS, daemon.log_tail)
        self.assertEqual(oracle.count(self.latest)[0], 0)
        self.assertEqual(daemon.committed(), 0)
        found = missing.search(daemon.log_text())
        assert found is not None
        self.seen.record("plain", "no right on one table", found.group())
        user, rights, table = found.groups()
        oracle.grant(table, user, rights)
        daemon.wait_committed(n_messages)
        self.assertEqual(oracle.count(self.latest)[0], 10)
        self.assertEqual(daemon.stop(), 0)

    @long
    def test_k11_calls_above_the_limit(self) -> None:
        """A backlog, of which calls are made as large as they may be: all of it is written."""
        gateway, oracle = self.start_hbase({"hbase.ipc.max.request.size": str(LIMIT_BYTES)})
        self.create_topic(1)
        n_messages = self.simulate("--readings", "5000", "--devices", "100")
        daemon = self.daemon(gateways=[gateway.address])
        daemon.start()
        daemon.wait_committed(n_messages)
        self.assertIn("RPC data length of ", daemon.log_text())
        self.assertEqual(daemon.metric("tidemark_messages_dead_lettered_total"), 0)
        self.assertEqual(daemon.stop(), 0)
        with contextlib.redirect_stdout(io.StringIO()) as differences:
            n_differences = check_tables.check(oracle, self.sent, self.history, self.latest)
        self.assertEqual(n_differences, 0, differences.getvalue())

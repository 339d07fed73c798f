"""An HBase that asks who may do what: a right that is missing holds one table, until it is granted as the daemon says."""

from __future__ import annotations

import re

from case import Case, long
from daemon import wait_until
from hbase_oracle import Oracle
from stack_services import CHECKS_RIGHTS, Gateway, HBase, free_port

USER = "tidemark"
N_READINGS = 100


class Rights(Case):

    @long
    def test_right_that_is_missing(self) -> None:
        """On one table of two: the other's rows are written, and the command that is printed sets the rest going."""
        hbase = HBase(self.work, HBase.choose_ports(), settings=CHECKS_RIGHTS)
        # Without Kerberos a client is who it says.
        gateway = Gateway(self.work, 0, hbase.zookeeper_port, free_port(), jvm_flags=[f"-DHADOOP_USER_NAME={USER}"])
        oracle = Oracle(hbase.zookeeper_port, self.work / "oracle.log")
        for service in (hbase, gateway):
            self.addCleanup(service.kill9)
            service.start()
        self.addCleanup(oracle.stop)
        for table in (self.history, self.latest):
            oracle.create(table, "M")
        oracle.grant(self.history, USER, "RW")
        self.create_topic(1)
        daemon = self.daemon(gateways=[gateway.address])
        n_messages = self.simulate("--readings", str(N_READINGS), "--machines", "10")

        missing = re.compile(rf"user '{USER}' has no right (?:READ|WRITE) on table '{self.latest}'; in the HBase shell: "
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

"""Gateways of older releases in front of the same HBase: what they lack is done without."""

from case import Case, long
from daemon import metric_tables


class OlderGateways(Case):

    def check_release(self, release: str, created: bool) -> None:
        """From `check` to `verify`. `created`: the gateway can create tables; otherwise they are there."""
        gateway = self.stack.add_gateway(jars=f"hbase-{release}")
        self.addCleanup(gateway.kill9)
        self.create_topic(2)
        n_messages = self.simulate("--readings", "2000", "--machines", "20", "--metrics", "3", "--late", "2%")
        daemon = self.daemon(gateways=[gateway.address])
        config = str(daemon.config_path)
        if created:
            self.drop_later(self.history, self.latest)
            self.command("tables", "create", "--config", config)
        else:
            refused = self.run_command("tables", "create", "--config", config)
            self.assertIn("cannot create tables, which HBase's gateways can from HBase 2.2 on; use the HBase shell: create \"",
                          refused.stdout + refused.stderr)
            self.create_tables()
            self.assertIn("can show it from HBase 2.2 on", self.command("check", "--config", config))
        self.run_to_end(daemon)
        self.assertEqual(daemon.committed(), n_messages)
        self.assert_tables_hold_what_was_sent(self.history, self.latest)
        self.assertIn("all is right", self.command("verify", "--config", config))
        shown = self.command("scan", "--config", config, self.history, "--format", "json")
        self.assertEqual(len(shown.splitlines()), 2000)

    def test_hbase_2_2(self) -> None:
        """It cannot list namespaces, so one is created to see whether it is there."""
        self.check_release("2.2", created=True)
        namespace = f"{self.name}_ns"
        table = f"{namespace}:METRIC"
        self.drop_later(table)
        daemon = self.daemon("namespaced", gateways=[self.stack.gateways[-1].address], tables=metric_tables(table, self.latest))
        for _ in range(2):
            self.command("tables", "create", "--config", str(daemon.config_path))
            self.stack.oracle.drop(table)

    def test_hbase_2_4(self) -> None:
        self.check_release("2.4", created=True)

    @long
    def test_hbase_2_0(self) -> None:
        self.check_release("2.0", created=False)

    @long
    def test_hbase_1_4(self) -> None:
        self.check_release("1.4", created=False)

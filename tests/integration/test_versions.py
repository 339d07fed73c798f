"""The main job with each version of HBase's gateway, of Kafka and of librdkafka that docs/install.md names, step by step.

What a step showed is held against versions.json, of which the documents' tables are made.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import Optional

import newer_librdkafka
from case import Case, by_name
from daemon import metric_tables
from stack_services import Kafka, ZooKeeperKafka
from version_table import OK, VersionTable

N_READINGS = 2000

# The lines of `check` that are about a product.
CHECKED = {"HBase": ("gateway", "table"), "Kafka": ("brokers", "topic"), "librdkafka": ("librdkafka",)}

# What only the wheel's build lacks, not the version.
OF_THE_WHEEL = re.compile(r"GSSAPI(; )?")


def noted(checked: str, product: str) -> str:
    """What `check` notes of it."""
    notes = []
    for cells in (re.split(r" {2,}", line, maxsplit=3) for line in checked.splitlines()):
        if len(cells) == 4 and cells[0] in CHECKED[product] and (cells[2] != OK or cells[3].startswith("lacks: ")):
            clauses = [clause for clause in cells[3].split("; ") if "settings cannot be read" in clause]
            notes.append(clauses[0].split(": ")[0] if clauses else OF_THE_WHEEL.sub("", cells[3]))
    return " and ".join(sorted({note for note in notes if note != "lacks: "})) or OK


class Versions(Case):

    broker: Optional[Kafka] = None

    @property
    def kafka(self) -> Kafka:
        return self.broker or self.stack.kafka

    def check_version(self, *versions: str, gateway: Optional[str] = None, created: bool = True, names: str = "") -> None:
        """From `check` to `verify`, recorded of each of these versions. `created`: the gateway can create tables."""
        steps: dict[str, str] = {}
        suffix = f"_{names}" if names else ""
        topic, history, latest = (f"{name}{suffix}" for name in (self.name, self.history, self.latest))
        letters = f"{topic}_letters"
        for name in (topic, letters):
            self.create_topic(2, name)
        self.sent.unlink(missing_ok=True)
        n_messages = self.simulate("--readings", str(N_READINGS), "--devices", "20", "--metrics", "3", "--late", "2%", topic=topic)
        n_messages += self.send(["poison"], topic=topic)
        daemon = self.daemon(f"daemon{suffix}", gateways=[gateway] if gateway else None, topic=topic, tables=metric_tables(history, latest),
                             changes={"kafka": {"group": topic, "instance": topic}, "dead_letters": {"topic": letters}})
        daemon.environment.update(self.command_environment)
        config = str(daemon.config_path)
        if created:
            self.drop_later(history, latest)
            self.command("tables", "create", "--config", config)
            steps["tables create"] = OK
        else:
            refused = self.run_command("tables", "create", "--config", config)
            self.assertIn("cannot create tables: this needs a gateway of HBase 2.2 or later; use the HBase shell: create \"",
                          refused.stdout + refused.stderr)
            self.create_table(history, "M")
            self.create_table(latest, "M")
            steps["tables create"] = "use the HBase shell"
        checked = self.command("check", "--config", config)
        daemon.start()
        daemon.wait_metric("tidemark_messages_written_total", 1)
        daemon.kill9()
        self.run_to_end(daemon)
        self.assertEqual(daemon.committed(), n_messages)
        self.assert_tables_hold_what_was_sent(history, latest)
        steps["run, killed and again"] = OK
        self.assertIn("all is right", self.command("verify", "--config", config))
        steps["verify"] = OK
        self.assertEqual(len(self.command("scan", "--config", config, history, "--format", "json").splitlines()), N_READINGS)
        steps["scan"] = OK
        # Once more where the daemon was killed before it was committed.
        self.assertIn(sum(self.kafka.admin.latest_offsets(letters).values()), (1, 2))
        self.assertIn(topic, self.command("dead-letters", "list", "--config", config))
        steps["dead letters"] = OK
        seen = {version: {"check": noted(checked, version.split()[0]), **steps} for version in versions}
        self.versions.record(seen)
        self.assertEqual(seen, {version: VersionTable.kept().steps(version) for version in versions}, "other than in versions.json")

    # HBase, by its gateway in front of the same HBase

    def check_gateway(self, release: str, version: str, created: bool = True) -> str:
        gateway = self.stack.add_gateway(jars=f"hbase-{release}")
        self.addCleanup(gateway.kill9)
        self.check_version(f"HBase {version}", gateway=gateway.address, created=created)
        return gateway.address

    def test_hbase_2_2(self) -> None:
        """It cannot list namespaces, so one is created to see whether it is there."""
        address = self.check_gateway("2.2", "2.2.6")
        table = f"{self.name}_ns:METRIC"
        self.drop_later(table)
        daemon = self.daemon("namespaced", gateways=[address], tables=metric_tables(table, self.latest))
        for _ in range(2):
            self.command("tables", "create", "--config", str(daemon.config_path))
            self.stack.oracle.drop(table)

    def test_hbase_2_4(self) -> None:
        self.check_gateway("2.4", "2.4.17")

    @by_name
    def test_hbase_2_0(self) -> None:
        self.check_gateway("2.0", "2.0.0", created=False)

    @by_name
    def test_hbase_1_4(self) -> None:
        self.check_gateway("1.4", "1.4.13", created=False)

    # Kafka

    def check_broker(self, broker: Kafka, version: str) -> None:
        self.broker = broker
        self.addCleanup(broker.kill9)
        broker.start()
        self.check_version(f"Kafka {version}")

    def test_kafka_2_8(self) -> None:
        """With ZooKeeper: HBase's."""
        self.check_broker(ZooKeeperKafka(self.work / self.name, self.stack.hbase.address, component="kafka-2.8"), "2.8.2")

    @by_name
    def test_kafka_3_7(self) -> None:
        self.check_broker(Kafka(self.work, Kafka.choose_ports(), component="kafka-3.7"), "3.7.1")

    # librdkafka

    @by_name
    def test_what_is_built_with(self) -> None:
        self.check_version("HBase 2.6.1", "Kafka 4.1.1", "librdkafka 2.0.2")

    def test_librdkafka(self) -> None:
        for version in newer_librdkafka.WHEELS:
            with self.subTest(version=version):
                self.command_environment = {"LD_LIBRARY_PATH": str(newer_librdkafka.folder(version))}
                self.assertRegex(self.command("version"), rf"librdkafka +{re.escape(version)} ")
                self.check_properties()
                self.check_version(f"librdkafka {version}", names=version.replace(".", "_"))

    def check_properties(self) -> None:
        """Each property that this librdkafka has was judged: the unit test asks the library that it runs with."""
        test = self.tidemark.parents[1] / "tests/unit/test-kafka-conf"
        done = subprocess.run([test], env={**os.environ, **self.command_environment}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

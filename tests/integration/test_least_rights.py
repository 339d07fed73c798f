"""With the rights that docs/security.md prints the daemon does its whole job; without one of them it says which, and how it is
granted. The page's own lines are carried out, on a broker and an HBase that ask who may do what."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import check_tables
from case import Case, long
from certificates import Authority
from daemon import Daemon, metric_tables, wait_until
from hbase_oracle import Oracle
from secure_kafka import AUTHORIZED, GRANTED_USER, PASSWORD, SecureKafka
from stack_services import CHECKS_RIGHTS, Gateway, HBase, free_port

PAGE = Path(__file__).resolve().parents[2] / "docs" / "security.md"

# What is granted there.
TOPIC, LETTERS, GROUP = "metrics", "metrics-dead-letters", "tidemark"
HISTORY, LATEST, SCHEMES = "METRIC", "CURRENT_METRIC", "tidemark_schemes"

N_READINGS, N_MACHINES = 200, 10
TS_MS = 1426535612045

KAFKA_SAYS = re.compile(rf"user '{GRANTED_USER}' may not [^:]*: grant \w+, for example with kafka-acls (--add [^,;(\n]*)")
HBASE_SAYS = re.compile(rf"user '{GRANTED_USER}' lacks the right (?:READ|WRITE) on table '\w+'; grant it in the HBase shell: "
                        r'(grant "\w+", "\w+", "\w+")')


def block(heading: str, language: str) -> list[str]:
    """The first of a section: others are for somebody else."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.search(rf"^```{language}\n(.*?)^```", section, re.M | re.S)
    assert found is not None, f"{PAGE}: '{heading}' has no block '{language}'"
    return found[1].splitlines()


def kafka_lines() -> list[list[str]]:
    """The words behind the address."""
    lines = [shlex.split(line) for line in block("Least rights in Kafka", "sh")]
    assert all(line[:3] == ["kafka-acls", "--bootstrap-server", "b1:9092"] for line in lines), lines
    return [line[3:] for line in lines]


def hbase_lines() -> list[str]:
    return block("Least rights in HBase", "hbase")


def grant(oracle: Oracle, line: str) -> None:
    """As the shell does. HBase's jars have none."""
    words = re.fullmatch(r'grant "([^"]+)", "([RWXCA]+)", "([^"@]+)"', line)
    assert words is not None, line
    oracle.grant(words[3], words[1], words[2])


class LeastRights(Case):

    broker: SecureKafka
    oracle: Oracle
    gateway: Gateway

    @classmethod
    def setUpClass(cls) -> None:
        directory = cls.directory / cls.__name__
        directory.mkdir()
        cls.broker = SecureKafka(directory, Authority(directory / "authority", "stack authority"), settings=AUTHORIZED)
        hbase = HBase(directory, HBase.choose_ports(), settings=CHECKS_RIGHTS)
        # Without Kerberos a client is who it says.
        cls.gateway = Gateway(directory, 0, hbase.zookeeper_port, free_port(), jvm_flags=[f"-DHADOOP_USER_NAME={GRANTED_USER}"])
        cls.oracle = Oracle(hbase.zookeeper_port, directory / "oracle.log")
        cls.addClassCleanup(cls.oracle.stop)
        for service in (cls.broker, hbase, cls.gateway):
            cls.addClassCleanup(service.kill9)
            service.launch()
        cls.broker.await_ready()
        for topic in (TOPIC, LETTERS):
            cls.broker.admin.create_topic(topic, 1)
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda words: cls.broker.acls(*words), kafka_lines()))
        hbase.await_ready()
        cls.gateway.await_ready()
        for table, family in ((HISTORY, "M"), (LATEST, "M"), (SCHEMES, "s")):
            cls.oracle.create(table, family)
        for line in hbase_lines():
            grant(cls.oracle, line)

    @property
    def kafka(self) -> SecureKafka:
        return self.broker

    def least(self, name: str = "daemon") -> Daemon:
        password = self.work / "password"
        password.write_text(PASSWORD, encoding="ascii")
        password.chmod(0o600)
        return self.daemon(name, gateways=[self.gateway.address], topic=TOPIC, tables=metric_tables(HISTORY, LATEST), changes={
            "dead_letters": {"topic": LETTERS},
            "kafka": {"brokers": self.broker.address_of("SASL"), "group": GROUP, "librdkafka": {
                "security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": GRANTED_USER,
                "sasl.password": {"file": str(password)}, "topic.metadata.refresh.interval.ms": 500}}})

    def send_both(self, name: str) -> None:
        """A reading, and what becomes a dead letter."""
        self.send([{"host": name, "ts": TS_MS, "CPU": 1}, "no reading"], topic=TOPIC)

    def end_of(self, topic: str) -> int:
        return sum(self.broker.admin.latest_offsets(topic).values())

    def check_says(self, daemon: Daemon, says: re.Pattern[str], n_times: int) -> list[str]:
        """What was granted or taken away is so a moment later."""
        said: list[str] = []

        def holds() -> bool:
            done = self.run_command("check", "--config", str(daemon.config_path))
            said[:] = [done.stdout + done.stderr]
            return len(says.findall(said[0])) == n_times and done.returncode == (1 if n_times else 0)
        wait_until(holds, lambda: said[0])
        return says.findall(said[0])

    def test_they_are_enough(self) -> None:
        """Group, topic, tables, the keys that are remembered, a dead letter, the commit."""
        for table in (HISTORY, LATEST, SCHEMES):
            self.oracle.truncate(table)  # rights stay
        n_letters = self.end_of(LETTERS)
        daemon = self.least()
        self.check_says(daemon, re.compile("PROBLEM"), 0)
        daemon.start()
        self.simulate("--readings", str(N_READINGS), "--devices", str(N_MACHINES), topic=TOPIC)
        self.send_both("last")
        self.log_sent([{"host": "last", "ts": TS_MS, "CPU": 1}])
        daemon.wait_committed(self.end_of(TOPIC))
        self.assertEqual(daemon.stop(), 0)
        with contextlib.redirect_stdout(io.StringIO()) as differences:
            n_differences = check_tables.check(self.oracle, self.sent, HISTORY, LATEST)
        self.assertEqual(n_differences, 0, differences.getvalue())
        self.assertEqual(self.oracle.count(SCHEMES)[0], 2)
        self.assertEqual(self.end_of(LETTERS), n_letters + 1)
        # Who may not create a table does not see its families.
        self.assertNotRegex(daemon.log_text(), "may not|no right (?!CREATE )")

    @long
    def test_each_right_in_kafka(self) -> None:
        """Taken away, told by `check` and by the daemon, granted as that one says: it goes on."""
        for number, words in enumerate(kafka_lines()):
            with self.subTest(right=" ".join(words)):
                daemon = self.least(f"daemon-{number}")
                self.broker.acls("--remove", "--force", *words[1:])
                self.assertEqual([shlex.split(one) for one in self.check_says(daemon, KAFKA_SAYS, 1)], [words])
                daemon.start()
                self.send_both("server")
                found = wait_until(lambda: KAFKA_SAYS.search(daemon.log_text()), daemon.log_tail)
                self.assertEqual(shlex.split(found[1]), words)
                self.broker.acls(*shlex.split(found[1]))
                daemon.wait_committed(self.end_of(TOPIC))
                self.assertEqual(daemon.stop(), 0)

    @long
    def test_each_right_in_hbase(self) -> None:
        """As those in Kafka, but for what `run` does without: it only writes into its tables, and `check` asks for both."""
        for number, (line, right) in enumerate((line, right) for line in hbase_lines() for right in "RW"):
            table = line.split('"')[5]
            with self.subTest(line=line, right=right):
                # What is kept there is not written again.
                self.oracle.truncate(SCHEMES)
                daemon = self.least(f"daemon-{number}")
                self.oracle.grant(table, GRANTED_USER, "RW".replace(right, ""))
                self.assertEqual(set(self.check_says(daemon, HBASE_SAYS, 2 if table == SCHEMES else 1)), {line})
                daemon.start()
                self.send_both("server")
                if right == "W" or table == SCHEMES:
                    found = wait_until(lambda: HBASE_SAYS.search(daemon.log_text()), daemon.log_tail)
                    self.assertEqual(found[1], line)
                    grant(self.oracle, found[1])
                daemon.wait_committed(self.end_of(TOPIC))
                self.assertEqual(daemon.stop(), 0)
                grant(self.oracle, line)

"""Every wait of docs/status.md that can be had on real Kafka and HBase: one look at `tidemark status` has its cause and its command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar, Mapping, NamedTuple, Optional, Sequence

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
import java_flags  # noqa: E402
import maven_jars  # noqa: E402
from case import WRITTEN, Case, long  # noqa: E402
from daemon import DEADLINE_S, Daemon, wait_until  # noqa: E402
from hbase_oracle import Oracle  # noqa: E402
from secure_kafka import AUTHORIZED  # noqa: E402
from stack_services import Gateway, HBase, Kafka, free_port  # noqa: E402
from transactional_producer import TransactionalProducer  # noqa: E402
from waits import Wait, command_pattern, named, waits  # noqa: E402

START_MS = 1_426_535_612_045

# What is true while nobody can know more yet.
PASSING = ("no gateway is up: starting", "nothing to read", "to be read, and consumers", "have not yet reported", "asking a gateway", "has assigned no partitions",
           "no assignment yet", "writers wait for the gateways", "has reached its limit of concurrent calls")

# Waits that are not provoked here: why not, and the test that shows them.
ELSEWHERE = {
    "kafka: nothing to read": ("it is no wait", "tests/prometheus/test_questions.py test_why_is_lag_growing"),
    "kafka: the brokers have not yet reported": ("it lasts for moments after the start", "tests/unit/service/test-service.c /bottleneck/kafka"),
    "to be read, and consumers and writers wait": ("it lasts for moments", "tests/unit/service/test-service.c /bottleneck/kafka"),
    "until the group confirms": ("a broker that refuses the first commit alone", "tests/unit/service/test-service.c /bottleneck/what-pauses"),
    "kafka.max_span_messages": ("it takes a million messages", "tests/unit/service/test-service.c /bottleneck/what-pauses"),
    "cannot write to '...': ...": ("the machine's disk would be full", "tests/scenarios/test_full_disk.py class"),
    "region: waiting for the tables: ...; 'tidemark check' tries gateways and tables": (
        "what HBase answers differs", "tests/unit/service/test-service.c /bottleneck/a-region"),
    "region: nothing is written to table '...': ...": (
        "each answer of HBase has its own", "tests/integration/test_rights.py test_right_that_is_missing"),
    "waiting for Kafka: the group '...' has assigned no partitions for": (
        "a member that is silent for minutes", "tests/fault/pipeline/test-pipeline-kafka.c has assigned no partitions for"),
    "kafka: not ready: ...": ("whatever else it may be", "tests/unit/service/test-service.c /bottleneck/not-ready"),
    "halted: halted partitions hold back": ("its partitions halt by the same rule", "tests/unit/service/test-service.c /bottleneck/kafka"),
    "takes several times as long": ("no real gateway is slow at will", "tests/prometheus/test_questions.py test_which_gateway_is_slow"),
    "all ... writers wait": ("it depends on the machine", "tests/prometheus/test_questions.py test_why_is_lag_growing"),
    "the only writer waits": ("it depends on the machine", "tests/unit/service/test-service.c /bottleneck/a-gateway"),
    "has reached its limit": ("it depends on the machine", "tests/unit/service/test-service.c /bottleneck/a-region"),
    "a consumer waits for it": ("it depends on the machine", "tests/unit/service/test-service.c /bottleneck/memory"),
    "for it, while writers": ("it depends on the machine", "tests/unit/service/test-service.c /bottleneck/memory"),
    "a consumer thread uses": ("it depends on the machine", "tests/unit/service/test-service.c /bottleneck/cpu"),
}


class Told(NamedTuple):
    state: str
    seconds: float
    sentence: str
    commands: Sequence[str]


def reading(number: int, **more: Any) -> dict[str, Any]:
    return {"host": f"host{number % 20:02}", "ts": START_MS + number, "v": number, **more}


class Waits(Case):
    table: ClassVar[list[Wait]] = waits(ROOT)
    drill: ClassVar[list[Told]] = []

    # Of a test that has one of its own.
    own_kafka: Optional[Kafka] = None

    @property
    def kafka(self) -> Kafka:
        return self.own_kafka or self.stack.kafka

    @classmethod
    def setUpClass(cls) -> None:
        cls.addClassCleanup(lambda: print("\n".join(
            ["| state | seconds | `Limited by` | command |", "|---|---|---|---|",
             *(f"| {told.state} | {told.seconds:.1f} | {told.sentence} | {', '.join(told.commands)} |" for told in cls.drill)])))

    def setUp(self) -> None:
        super().setUp()
        self.n_sent = 0

    # The daemon

    def configured(self, name: str = "daemon", **options: Any) -> Daemon:
        tables = {self.history: {"key": [{"field": "host"}, "#", {"time": "epoch_ms"}], "columns": {"family": "M", "from": "*"}}}
        return self.daemon(name, tables=tables, **options)

    def running(self, environment: Optional[Mapping[str, str]] = None, **options: Any) -> Daemon:
        """One that has written something."""
        self.create_topic(1)
        self.create_table(self.history, "M")
        daemon = self.configured(**options)
        daemon.environment.update(environment or {})
        daemon.start()
        daemon.wait_ready()
        self.send_readings(20)
        daemon.wait_metric(WRITTEN, 20)
        return daemon

    def send_readings(self, count: int, **more: Any) -> None:
        self.send([reading(self.n_sent + number, **more) for number in range(count)])
        self.n_sent += count

    def status(self, daemon: Daemon) -> tuple[str, str]:
        """One look: the whole of it, with broken lines joined, and what limits."""
        self.assertIsNotNone(daemon.pid, daemon.log_tail())
        done = self.run_command("status", "--url", f"http://{daemon.http}")
        said = re.sub(r"\n {14}(?=\S)", " ", done.stdout)
        reason = re.search(r"^Reason +(.*)$", said, re.M)
        limited = re.search(r"^Limited by +(.*)$", said, re.M)
        text = limited[1] if limited else f"nothing, for there is no status: {done.stderr}"
        return said, text.replace("see the reason above", reason[1]) if reason else text

    def look(self, daemon: Daemon, fragment: str, *details: str, after: Sequence[str] = ()) -> None:
        """Until it is told with the details, and nothing else before it but what passes, or what is true before it: that look has the command, too, and
        the metrics of the wait agree."""
        (wait,) = named(self.table, fragment)
        began = time.monotonic()

        def told() -> Optional[tuple[str, str]]:
            said, limited = self.status(daemon)
            is_told = wait.is_told_by(limited)
            if is_told and all(detail in limited for detail in details):
                return said, limited
            if not is_told and not limited.startswith("nothing, for") and not any(part in limited for part in (*PASSING, *after)):
                raise AssertionError(f"told of something else:\n{limited}\nnot of:\n{wait.sentence}\n{daemon.log_tail()}")
            return None
        said, limited = wait_until(told, lambda: f"never told: {wait.sentence}\n{self.status(daemon)[0]}\n{daemon.log_tail()}")
        self.drill.append(Told(self.name.replace("_", " "), time.monotonic() - began, limited, wait.commands))
        for command in wait.commands:
            self.assertRegex(said, command_pattern(command))
        for metric in (f'tidemark_limited_by{{limit="{wait.limit}"}}', *wait.metrics):
            name, _, labels = metric.rstrip("}").partition("{")
            wait_until(lambda name=name, labels=labels: daemon.metric(name, labels) > 0, lambda metric=metric: f"{metric} is 0")

    def go_on(self, daemon: Daemon) -> None:
        """The wait is over: what was sent is written, and nothing limits."""
        wait_until(lambda: "nothing to read" in self.status(daemon)[1] and daemon.readiness()[0] == 200, lambda: self.status(daemon)[0])
        wait_until(lambda: daemon.metric(WRITTEN) >= self.n_sent, daemon.log_tail)

    # What an operator has done

    def test_paused(self) -> None:
        state = self.work / "state"
        state.mkdir()
        daemon = self.running({"STATE_DIRECTORY": str(state)})
        self.command("pause", "--state-directory", str(state), "--reason", "HBase upgrade", "--until", "+2h")
        self.send_readings(5)
        self.look(daemon, "paused: ", "everything has been paused since", "(HBase upgrade)")
        self.command("resume", "--state-directory", str(state))
        self.go_on(daemon)

    def test_rate(self) -> None:
        daemon = self.running(changes={"limits": {"rows_per_second": 5}})
        self.send_readings(400)
        self.look(daemon, "rate: ", "'limits.rows_per_second'")

    # Kafka

    def administrate(self, main_class: str, *words: str) -> None:
        """One of Kafka's own tools."""
        subprocess.run([java_flags.java(), "-cp", maven_jars.classpath("kafka"), main_class, "--bootstrap-server", self.kafka.address,
                        *words], check=True, timeout=DEADLINE_S, capture_output=True)

    def set_quota(self, kind: str, bytes_per_second: int) -> None:
        def configure(*words: str) -> None:
            self.administrate("kafka.admin.ConfigCommand", "--alter", *words, "--entity-type", "clients", "--entity-name", "tidemark")
        configure("--add-config", f"{kind}={bytes_per_second}")
        self.addCleanup(configure, "--delete-config", kind)

    def start_kafka(self, settings: Mapping[str, str]) -> None:
        """A broker of the test's own."""
        self.own_kafka = Kafka(self.work, Kafka.choose_ports(), settings=settings)
        self.addCleanup(self.own_kafka.kill9)
        self.own_kafka.start()

    def test_quota_of_the_brokers(self) -> None:
        """K10: brokers that make the consumers wait say so, and it is passed on."""
        self.create_topic(1)
        self.create_table(self.history, "M")
        self.send_readings(2000, pad="x" * 5000)
        self.set_quota("consumer_byte_rate", 20000)
        daemon = self.configured()
        daemon.start()
        self.look(daemon, "brokers delay the consumers", after=("asking",))
        daemon.kill9()

    def test_topic_missing(self) -> None:
        self.create_table(self.history, "M")
        daemon = self.configured()
        daemon.start()
        self.look(daemon, "the topic '...' does not exist", f"'{self.name}'", after=("Subscribed topic not available",))

    @long
    def test_broker_hangs(self) -> None:
        daemon = self.running()
        self.stack.kafka.suspend()
        self.addCleanup(self.stack.kafka.resume)
        self.look(daemon, "no broker answers", after=("no partition is assigned to this daemon; ", "timed out"))
        self.stack.kafka.resume()
        self.go_on(daemon)

    @long
    def test_broker_stopped(self) -> None:
        self.start_kafka({})
        daemon = self.running()
        self.kafka.stop()
        self.look(daemon, "no broker answers", "Connection refused", after=("Connection refused",))
        self.kafka.start()
        self.go_on(daemon)

    @long
    def test_coordinator_away(self) -> None:
        """A broker that cannot make the topic of the groups' offsets."""
        self.start_kafka({"offsets.topic.replication.factor": "3"})
        self.create_topic(1)
        self.create_table(self.history, "M")
        daemon = self.configured()
        daemon.start()
        self.look(daemon, "the coordinator of the group", f"'{self.name}'")
        daemon.kill9()

    @long
    def test_rights_in_kafka(self) -> None:
        """Denied and given again, one after the other: the group, the dead letters' topic, the topic."""
        self.start_kafka({"authorizer.class.name": AUTHORIZED["authorizer.class.name"], "allow.everyone.if.no.acl.found": "true"})
        letters = self.create_topic(1, f"{self.name}_letters")
        daemon: Optional[Daemon] = None
        for fragment, operation, what in (("may not be in group", "Read", ("--group", self.name)),
                                          ("may not write to topic", "Write", ("--topic", letters)),
                                          ("may not read topic", "Read", ("--topic", self.name))):
            with self.subTest(fragment):
                rule = ("--deny-principal", "User:ANONYMOUS", "--operation", operation, *what)
                self.administrate("org.apache.kafka.tools.AclCommand", "--add", *rule)
                if daemon is None:
                    self.create_topic(1)
                    self.create_table(self.history, "M")
                    daemon = self.configured(changes={"dead_letters": {"topic": letters, "max_ratio": 1}})
                    daemon.start()
                if operation == "Write":
                    self.send(["{"])
                self.look(daemon, fragment, after=("FindCoordinator",))
                self.administrate("org.apache.kafka.tools.AclCommand", "--remove", "--force", *rule)
                self.send(["{"])  # the client knows only by a message that a topic may be read again
                self.go_on(daemon)

    def test_another_member_has_the_only_partition(self) -> None:
        """The one whose name comes first."""
        self.running(changes={"kafka": {"instance": "a", "threads": 1}})
        other = self.configured("other", changes={"kafka": {"instance": "b", "threads": 1}})
        other.start()
        self.look(other, "no partition is assigned to this daemon; ", after=("has assigned no partitions",))

    @long
    def test_stranger_in_the_group(self) -> None:
        self.create_topic(2)
        self.create_table(self.history, "M")
        daemon = self.configured()
        daemon.start()
        daemon.wait_ready()
        stranger = subprocess.Popen(["kcat", "-b", self.kafka.address, "-G", self.name, self.name], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        self.addCleanup(stranger.wait)
        self.addCleanup(stranger.kill)
        self.look(daemon, "members of the group are not tidemark", after=("no partition is assigned to this daemon; ", "waiting for Kafka"))

    def kafka_lag(self, group: str) -> list[str]:
        """The LAG of each partition, as Kafka's own tool shows it."""
        output = subprocess.run([java_flags.java(), "-cp", maven_jars.classpath("kafka"),
                                 "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", "--bootstrap-server",
                                 self.kafka.address, "--describe", "--group", group],
                                check=True, timeout=DEADLINE_S, capture_output=True, text=True).stdout
        header, *rows = [line.split() for line in output.splitlines() if line.strip()]
        return [row[header.index("LAG")] for row in rows]

    def test_transaction_that_stays_open(self) -> None:
        """K8, K10: the marker at the end of an idle topic is no lag, for Kafka's own tool neither; what is behind an open
        transaction is named as that, and is read when it ends."""
        self.create_topic(1)
        self.create_table(self.history, "M")
        daemon = self.configured()
        daemon.start()
        producer = TransactionalProducer(self.kafka.address, self.name, self.name)
        self.addCleanup(producer.end)
        producer.send([json.dumps(reading(number)) for number in range(5)])
        producer.commit()
        daemon.wait_metric(WRITTEN, 5)
        wait_until(lambda: daemon.metric("tidemark_kafka_committed_offset") == 6 and daemon.metric("tidemark_kafka_consumer_lag") == 0,
                   daemon.log_tail)
        self.assertEqual(self.kafka_lag(daemon.group), ["0"])
        producer.send([json.dumps(reading(number)) for number in range(5, 8)])
        self.send([reading(number) for number in range(8, 12)])
        self.look(daemon, "until a transaction ends", f"7 messages cannot be read until a transaction ends, which is open at offset 6 of "
                  f"'{self.name}' partition 0")
        producer.commit()
        self.n_sent = 12
        self.go_on(daemon)
        self.assertEqual(daemon.stop(), 0)

    # Messages

    def test_halted(self) -> None:
        daemon = self.running(changes={"readings": {"on_bad_message": "stop"}})
        self.send(["{"])
        self.look(daemon, "all partitions are halted", f"topic '{self.name}' partition 0 is halted at offset 20")

    def test_registry_away(self) -> None:
        self.create_topic(1)
        self.create_table(self.history, "M")
        url = f"http://127.0.0.1:{free_port()}"
        daemon = self.configured(changes={"readings": {"format": "avro", "registry": {"url": url},
                                                       "time": {"field": "at", "format": "epoch_s"}}})
        daemon.start()
        daemon.wait_ready()
        self.send(["\0\0\0\0\7xyz"])
        self.look(daemon, "cannot be read without a schema", f"curl {url}/schemas/ids/7")

    def with_letters(self, **more: Any) -> Daemon:
        letters = self.create_topic(1, f"{self.name}_letters")
        return self.running(changes={"dead_letters": {"topic": letters, "max_ratio": 1, **more}})

    def test_topic_of_dead_letters_missing(self) -> None:
        daemon = self.with_letters()
        self.kafka.admin.delete_topic(f"{self.name}_letters")
        self.send(["{"])
        self.look(daemon, "does not exist: create it with 'kafka-topics.sh --create --topic")
        self.kafka.admin.create_topic(f"{self.name}_letters")
        self.go_on(daemon)

    def test_too_many_dead_letters(self) -> None:
        daemon = self.with_letters(max_ratio=0.1)
        self.send(["{"] * 300)
        self.look(daemon, "above dead_letters.max_ratio", "most frequent reason: 'parse'")

    @long
    def test_quota_of_the_dead_letters(self) -> None:
        daemon = self.with_letters()
        self.set_quota("producer_byte_rate", 500)
        self.send(["{" + "x" * 3000] * 30)
        self.look(daemon, "did not acknowledge a dead letter", "a quota for this user or client")

    # HBase

    def test_gateway_starts_and_stops(self) -> None:
        self.create_topic(1)
        self.create_table(self.history, "M")
        gateway = Gateway(self.work, 0, self.stack.hbase.zookeeper_port, free_port())
        self.addCleanup(gateway.kill9)
        daemon = self.configured(gateways=[gateway.address])
        daemon.start()
        self.look(daemon, "no gateway is up", "connection refused", after=("no answer yet from",))
        gateway.start()
        self.go_on(daemon)
        gateway.stop()
        self.look(daemon, "no gateway is up", gateway.address, after=("nothing to read",))

    def test_table_missing(self) -> None:
        self.create_topic(1)
        daemon = self.configured()
        daemon.start()
        self.look(daemon, "waiting for the tables: table", f"'{self.history}'")

    def test_table_dropped(self) -> None:
        daemon = self.running()
        self.stack.oracle.drop(self.history)
        self.send_readings(5)
        self.look(daemon, "create the table with", f"'{self.history}'")
        self.stack.oracle.create(self.history, "M")
        self.go_on(daemon)

    @long
    def test_table_disabled(self) -> None:
        """The gateway is silent while it waits for the table: what is told then names the command that knows."""
        daemon = self.running()
        self.stack.oracle.disable(self.history)
        self.send_readings(5)
        self.look(daemon, "has not answered a call", after=("has failed",))
        self.assertIn(f'enable "{self.history}"', self.command("check", "--config", str(daemon.config_path), code=1))
        self.stack.oracle.enable(self.history)
        self.go_on(daemon)

    @long
    def test_region_offline(self) -> None:
        daemon = self.running(changes={"hbase": {"call_timeout": "1s"}})
        self.stack.oracle.unassign(self.history, b"")
        self.send_readings(5)
        self.look(daemon, "have failed for ... s: ...; 'tidemark check", f"the first region of '{self.history}'")
        self.stack.oracle.assign(self.history, b"")
        self.go_on(daemon)

    @long
    def test_hbase_hangs(self) -> None:
        daemon = self.running(changes={"hbase": {"call_timeout": "20s", "uncertain_timeout": "30s"}})
        self.stack.hbase.suspend()
        self.addCleanup(self.stack.hbase.resume)
        self.send_readings(5)
        self.look(daemon, "has not answered a call")
        self.stack.hbase.resume()
        self.go_on(daemon)

    @long
    def test_quota_of_hbase(self) -> None:
        hbase = HBase(self.work, HBase.choose_ports(), settings={"hbase.quota.enabled": "true", "hbase.quota.refresh.period": "1000"})
        gateway = Gateway(self.work, 0, hbase.zookeeper_port, free_port())
        oracle = Oracle(hbase.zookeeper_port, self.work / "oracle.log")
        for service in (hbase, gateway):
            self.addCleanup(service.kill9)
            service.start()
        self.addCleanup(oracle.stop)
        oracle.create(self.history, "M")
        oracle.limit_rate(self.history, "WRITE_NUMBER", 1)
        self.create_topic(1)
        daemon = self.configured(gateways=[gateway.address])
        daemon.start()
        daemon.wait_ready()

        def is_throttled() -> bool:
            """The quota is known only a while after it was set, and the first call of an hour is allowed."""
            self.send_readings(20)
            return any(daemon.metric("tidemark_hbase_calls_total", f'outcome="{outcome}"') > 0 for outcome in ("retry", "unknown"))
        wait_until(is_throttled, daemon.log_tail)
        self.look(daemon, "HBase throttles", after=("has not answered a call", "have failed"))

"""What is around the package: a Kafka and an HBase with its gateway, either both made up, or the real ones of tests/stack."""
from __future__ import annotations

import json
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "scenarios"), str(TESTS / "stack")]
from kafka_admin import Record  # noqa: E402
from processes import Gateway, Kafka  # noqa: E402
from stack import Stack  # noqa: E402

TOPIC, TABLE = "t", "ROWS"
TIME_MS = 1500000000000
# What takes a second or two, on a machine that is busy with a build.
PATIENCE_S = 90

# Of a table: row key -> (family, column) -> cell time in ms, value.
Cells = dict[bytes, dict[tuple[str, bytes], tuple[int, bytes]]]


class World:
    """`brokers` and `gateway` are addresses."""

    brokers: str
    gateway: str

    def __init__(self) -> None:
        self.rows = 0
        self.make_topic(TOPIC)
        self.make_table(TABLE, "M")

    def make_topic(self, topic: str) -> None:
        """Of one partition."""
        raise NotImplementedError

    def make_table(self, table: str, family: str) -> None:
        raise NotImplementedError

    def send(self, topic: str, values: list[str]) -> None:
        """Returns when Kafka has them."""
        raise NotImplementedError

    def cells(self, table: str) -> Cells:
        """Of each cell the newest version, read past tidemark; nothing of a table that is not there."""
        raise NotImplementedError

    def gateway_away(self) -> None:
        raise NotImplementedError

    def gateway_back(self) -> None:
        raise NotImplementedError

    def end(self) -> None:
        raise NotImplementedError

    def configuration(self, group: str, http: str = "off", gateway: str = "") -> str:
        """Brokers come from the environment, as they do in a container."""
        return json.dumps({
            "kafka": {"brokers": {"env": "BROKERS"}, "group": group, "topics": [TOPIC], "threads": 1, "session_timeout": "6s"},
            "limits": {"drain_timeout": "2s"},
            "hbase": {"gateways": [gateway or self.gateway]},
            "readings": {"time": {"field": "ts", "format": "epoch_ms"}},
            "tables": {TABLE: {"key": [{"field": "host"}, "#", {"time": "epoch_ms"}], "columns": {"family": "M", "from": "*"}}},
            "service": {"http": http}})

    def row_passes(self) -> None:
        """A new reading becomes a row."""
        self.rows += 1
        self.send(TOPIC, [json.dumps({"host": "a", "ts": TIME_MS + self.rows, "v": self.rows})])
        deadline = time.monotonic() + PATIENCE_S
        while len(self.cells(TABLE)) < self.rows:
            assert time.monotonic() < deadline, f"{len(self.cells(TABLE))} rows of {self.rows}"
            time.sleep(0.1)


class MockWorld(World):
    """A mock Kafka and a scripted gateway of BUILD."""

    def __init__(self, build: Path) -> None:
        self._kafka = Kafka(build / "tests" / "fault" / "mock-kafka")
        self._hbase = Gateway(build / "tests" / "fault" / "scripted-gateway")
        self.brokers, self.gateway = self._kafka.greeting, f"127.0.0.1:{self._hbase.greeting}"
        super().__init__()

    def make_topic(self, topic: str) -> None:
        self._kafka.ask("topic", topic, "1")

    def make_table(self, table: str, family: str) -> None:
        self._hbase.ask("table", table, family)

    def send(self, topic: str, values: list[str]) -> None:
        now_ms = int(time.time() * 1000)
        self._kafka.ask_all([self._kafka.produce_command(topic, 0, None, value.encode(), now_ms, []) for value in values])
        self._kafka.ask("flush")

    def cells(self, table: str) -> Cells:
        return self._hbase.dump([table])[table] if table in self._hbase.tables() else {}

    def gateway_away(self) -> None:
        self._hbase.ask("kill")

    def gateway_back(self) -> None:
        self._hbase.ask("start")

    def end(self) -> None:
        self._kafka.end()
        self._hbase.end()


class StackWorld(World):
    """Tables are read by HBase's own client."""

    def __init__(self, directory: Path) -> None:
        self._stack = Stack(directory)
        self._stack.start()
        self.brokers, self.gateway = self._stack.kafka.address, self._stack.gateways[0].address
        try:
            super().__init__()
        except BaseException:
            self.end()
            raise

    def make_topic(self, topic: str) -> None:
        self._stack.kafka.admin.create_topic(topic, 1)

    def make_table(self, table: str, family: str) -> None:
        self._stack.oracle.create(table, family)

    def send(self, topic: str, values: list[str]) -> None:
        now_ms = int(time.time() * 1000)
        self._stack.kafka.admin.produce(topic, 0, [Record(None, value.encode(), now_ms) for value in values])

    def cells(self, table: str) -> Cells:
        found: Cells = {}
        for cell in self._stack.oracle.dump(table) if table in self._stack.oracle.tables() else []:
            found.setdefault(cell.row, {}).setdefault((cell.family, cell.qualifier), (cell.timestamp_ms, cell.value))
        return found

    def gateway_away(self) -> None:
        self._stack.gateways[0].kill9()

    def gateway_back(self) -> None:
        self._stack.gateways[0].start()

    def end(self) -> None:
        self._stack.stop()

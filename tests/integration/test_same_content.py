"""The tables are a function of the readings: not of their order, their repetition, or how often they are read."""

from typing import Any

from case import Case
from daemon import metric_tables

START_MS = 1_426_535_612_045
N_HOSTS, N_TIMES = 40, 100


def readings() -> list[dict[str, Any]]:
    return [{"host": f"host{host:03}", "ts": START_MS + time * 1000 + host, "CPU/USR": host * 1000 + time, "MEM": f"m{time}"}
            for time in range(N_TIMES) for host in range(N_HOSTS)]


class SameContent(Case):

    def write(self, messages: list[dict[str, Any]], topic: str, history: str, latest: str, group: str) -> None:
        self.create_topic(2, topic)
        half = len(messages) // 2
        self.send(messages[:half], topic=topic, partition=0)
        self.send(messages[half:], topic=topic, partition=1)
        self.read_into(topic, history, latest, group)

    def read_into(self, topic: str, history: str, latest: str, group: str) -> None:
        daemon = self.daemon(group, topic=topic, tables=metric_tables(history, latest), changes={"kafka": {"group": group}})
        self.run_to_end(daemon)

    def test_same_tables_under_order_and_replay(self) -> None:
        """In order, backwards with each repeated, and in order once more: equal byte for byte."""
        in_order = readings()
        backwards = [reading for reading in reversed(in_order) for _ in range(2)]
        other_history, other_latest = f"{self.history}_2", f"{self.latest}_2"
        for table in (self.history, self.latest, other_history, other_latest):
            self.create_table(table, "M")

        self.write(in_order, f"{self.name}-in-order", self.history, self.latest, f"{self.name}-a")
        digests = [self.stack.oracle.digest(table) for table in (self.history, self.latest)]
        self.assertEqual([digest.rows for digest in digests], [N_HOSTS * N_TIMES, N_HOSTS])
        self.write(backwards, f"{self.name}-backwards", other_history, other_latest, f"{self.name}-b")
        self.assertEqual([self.stack.oracle.digest(table) for table in (other_history, other_latest)], digests)
        self.read_into(f"{self.name}-in-order", self.history, self.latest, f"{self.name}-c")
        self.assertEqual([self.stack.oracle.digest(table) for table in (self.history, self.latest)], digests)

        self.log_sent(in_order)
        self.assert_tables_hold_what_was_sent()

"""Readings that are older than their table keeps them, rows that HBase forgets by itself, and records that have no time."""

import time
from typing import Any

from case import Case
from daemon import wait_until
from kafka_records import Record


class TimeToLive(Case):

    def test_readings_older_than_their_time_to_live(self) -> None:
        """They would be acknowledged and never be read: they are counted, not sent, and committed."""
        self.create_topic(1)
        row_ttl, family_ttl, kept = names = [f"{self.name}_{kind}" for kind in ("ROW", "FAMILY", "KEPT")]
        self.drop_later(*names)

        def table(**options: Any) -> dict[str, Any]:
            return {"key": [{"field": "host"}, "#", {"time": "epoch_ms"}], "columns": {"family": "M", "from": "*"}, **options}
        here = {"field": "host", "matches": "kept*"}
        daemon = self.daemon(tables={row_ttl: table(ttl="12s"), kept: table(when=here),
                                     family_ttl: table(families={"M": {"ttl": "10d"}})})
        self.command("tables", "create", "--config", str(daemon.config_path))
        daemon.start()
        daemon.wait_ready()
        now_ms = int(time.time() * 1000)
        old_ms = now_ms - 11 * 24 * 3600 * 1000
        n_sent = self.send([{"host": "old", "ts": old_ms, "a": 1}, {"host": "kept old", "ts": old_ms, "a": 2},
                            {"host": "day", "ts": now_ms - 24 * 3600 * 1000, "a": 3}, {"host": "new", "ts": now_ms, "a": 4}])
        daemon.wait_committed(n_sent)
        self.assertEqual({row.split("#")[0] for row, _ in self.cells(row_ttl)}, {"new"})
        self.assertEqual({row.split("#")[0] for row, _ in self.cells(family_ttl)}, {"day", "new"})
        self.assertEqual({row.split("#")[0] for row, _ in self.cells(kept)}, {"kept old"})
        expired = {table: daemon.metric("tidemark_rows_expired_total", f'table="{table}"') for table in names}
        self.assertEqual(expired, {row_ttl: 3, family_ttl: 2, kept: 0})
        self.assertEqual(daemon.metric("tidemark_messages_expired_total"), 1)
        self.assertEqual(daemon.metric("tidemark_messages_written_total"), 3)
        self.assert_accounting_balances(daemon)
        wait_until(lambda: not self.cells(row_ttl), "HBase still shows a row whose time to live is over", 30)
        self.assertEqual(daemon.stop(), 0, daemon.log_tail())

    def test_records_without_a_time(self) -> None:
        """A row of 1969 or 1970 would be worse than a dead letter that says what is missing."""
        self.create_topic(1)
        self.create_tables()
        letters = self.work / "letters.jsonl"
        daemon = self.daemon(changes={"readings": {"time": {"format": "record", "field": None}}, "dead_letters": {"file": str(letters)}})
        timed_ms = int(time.time() * 1000)
        self.kafka.admin.produce(self.name, 0, [Record(None, b'{"host":"timeless","v":1}', -1), Record(None, b'{"host":"timed","v":2}', timed_ms)])
        daemon.start()
        daemon.wait_committed(2)
        daemon.wait_ready()
        self.assertEqual(set(self.cells(self.history)), {(f"timed#{timed_ms}", "M:v")})
        self.assertEqual(set(self.cells(self.latest)), {("timed", "M:v")})
        self.assertIn("the record has no time of its own", letters.read_text(encoding="utf-8"))
        self.assertNotRegex(self.command("status", "--config", str(daemon.config_path)), "19(69|70)-")
        self.assertEqual(daemon.stop(), 0, daemon.log_tail())

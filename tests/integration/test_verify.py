"""`tidemark verify` on real Kafka and HBase: beside a daemon that writes, of tables that are right, and of ones that are not."""

import json
import time
from typing import Any

import check_tables
from case import EX_DATAERR, Case
from daemon import wait_until

START_MS = 1_426_535_612_045


class Verify(Case):

    def verify(self, *words: str, code: int = 0) -> list[dict[str, Any]]:
        output = self.command("verify", "--config", str(self.config), "--format", "json", *words, code=code)
        return [json.loads(line) for line in output.splitlines()]

    def samples(self, lines: list[dict[str, Any]]) -> set[tuple[str, str, str, str]]:
        """(kind, table, row, qualifier)"""
        return {(line["kind"], line["table"], line["row"], line["qualifier"]) for line in lines if line["type"] == "sample"}

    def counts(self, lines: list[dict[str, Any]], table: str) -> dict[str, int]:
        counts, = (line for line in lines if line.get("table") == table and line["type"] == "table")
        return counts

    def test_verify(self) -> None:
        """Right while the daemon writes and afterwards; then whatever another one has spoilt is found, and nothing else."""
        readings = 6_000
        self.create_topic(3)
        self.create_tables(splits=(b"server0050",))
        daemon = self.daemon(changes={"kafka": {"commit_interval": "200ms"}})
        self.config = daemon.config_path
        daemon.start()
        simulation = self.simulate_in_background("--readings", str(readings), "--devices", "100", "--metrics", "5", "--rate", "2000",
                                                 "--late", "5%", "--repeat", "2%", "--shuffle", "200", "--start-time", str(START_MS))
        daemon.wait_metric("tidemark_messages_written_total", readings // 10)
        wait_until(lambda: daemon.committed() > 0, "nothing is committed")
        beside = self.verify()
        self.assertEqual(beside[-1]["differences"], 0, beside)
        sent = self.finish(simulation)
        daemon.wait_committed(sent)
        after = self.verify()
        self.assertEqual((after[-1]["messages"], after[-1]["differences"], after[-1]["whole"]), (sent, 0, True), after)
        history, latest = check_tables.expect(check_tables.read_sent(self.sent))
        self.assertEqual(self.counts(after, self.history)["right"], len(history))
        self.assertEqual(self.counts(after, self.latest)["right"], len(latest))
        self.assertEqual(daemon.stop(), 0, daemon.log_tail())
        small = self.verify("--memory", "1")
        self.assertGreater(small[-1]["passes"], 1)
        self.assertEqual(small[-1]["differences"], 0, small)

        # Another topic is written to the same tables, and one machine is forgotten.
        (row, field), (time_ms, _) = next(iter(history.items()))
        host = row.split("#")[0]
        newest = max(cell[0] for cell in latest.values())
        gone = next(name for name, _ in latest if name != host)
        self.command("latest", self.latest, f"host={gone}", "--forget", "--yes", "--config", str(self.config))
        other = self.create_topic(1, f"{self.name}_other")
        spoiler = self.daemon("spoiler", topic=other, changes={"kafka": {"group": other}})
        self.send([{"host": host, "ts": time_ms, field: "spoilt"}, {"host": "stray", "ts": time_ms, "x": "1"},
                   {"host": "stray", "ts": newest + 1000, "x": "1"}], topic=other)
        self.run_to_end(spoiler)
        spoilt = self.verify("--sample", "100", code=1)
        wanted = {("wrong", self.history, row, field), ("unexpected", self.history, f"stray#{time_ms}", "x"),
                  ("unexpected", self.latest, "stray", "x")}
        wanted |= {("missing", self.latest, gone, name) for machine, name in latest if machine == gone}
        if latest[host, field][0] == time_ms:
            wanted.add(("wrong", self.latest, host, field))
        self.assertEqual(self.samples(spoilt), wanted)

        # What came last and is not written: nothing is said of it until it is committed, or unless it is asked for.
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
        time.sleep(2)
        self.send([{"host": host, "ts": newest + 5, field: "late"}])
        self.assertEqual(self.samples(self.verify("--sample", "100", code=1)), wanted)
        ahead = self.verify("--to-end", "--from", since, "--allow-unexpected", code=1)
        self.assertEqual(ahead[-1]["messages"], 1)
        self.assertEqual(self.samples(ahead), {("missing", self.history, f"{host}#{newest + 5}", field),
                                               ("stale", self.latest, host, field)})
        self.verify("--to-end", "--to", since, code=1)
        self.command("verify", "--config", str(self.config), "--group", "nobody", code=EX_DATAERR)

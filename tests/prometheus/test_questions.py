#!/usr/bin/env python3
"""The five questions of an operator (docs/operate.md): a daemon is put into each state, and `tidemark status` answers in words,
by names and figures; so do the gauges that the dashboard shows.

    test_questions.py BUILD
"""
from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from outages import MOVED, World

BUILD = Path(sys.argv[1]).resolve()


class Questions(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.world = World(BUILD, Path(directory.name) / "world", lambda: False, lambda: None)
        self.addCleanup(self.world.end)

    def start(self) -> None:
        self.world.start()
        self.world.wait_ready()

    def status(self) -> str:
        done = subprocess.run([BUILD / "daemon/tidemark", "status", "--url", f"http://{self.world.address}"], capture_output=True, text=True)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 100, line)
        return done.stdout

    def wait_said(self, *patterns: str) -> str:
        """Until the screen has each of these, with what is broken over lines made one."""
        said = ""

        def is_said() -> bool:
            nonlocal said
            said = re.sub(r"\n {14}(?=\S)", " ", self.status())
            return all(re.search(pattern, said, re.M) for pattern in patterns)
        try:
            self.world.wait(f"{patterns}", is_said)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{said}") from None
        return said

    def gauge(self, name: str) -> dict[tuple[str, ...], float]:
        return self.world.running().metrics()[name]

    def wait_limit(self, limit: str) -> None:
        names = ("kafka", "cpu", "gateway", "region", "memory", "dead_letters", "halted", "paused", "rate", "registry")
        others = {(name,) for name in names} - {(limit,)}
        self.world.wait(f"limited by {limit}", lambda: self.gauge("tidemark_limited_by") == {(limit,): 1, **dict.fromkeys(others, 0)})

    def test_why_is_lag_growing(self) -> None:
        self.world.config["batch"] = {"max_rows": 10}
        self.start()
        self.wait_said(r"^Limited by    kafka: nothing to read")
        self.world.gateway.ask("fault", "none", "call=putMultiple", "delay-reply-ms=600")
        self.world.send_readings(8000)  # minutes of work for four writers, however slowly this test asks
        self.wait_said(rf"^Limited by    gateway: all 4 writers wait for the gateways, and [1-9][\d,]* rows? waits? for them; a call takes \S+ s at "
                       rf"'127.0.0.1:{self.world.gateway.greeting}', the slowest; if the gateways have free threads, raise hbase.writers and restart$",
                       r"^Kafka         2 partitions, .* lag [1-9][\d,]* messages \(.*s\), in flight [1-9]")
        self.wait_limit("gateway")

    def test_no_broker_answers(self) -> None:
        self.start()
        self.world.wait("a broker answers", lambda: self.gauge("tidemark_kafka_up") == {(): 1})
        self.world.kafka.ask("down", "-1")
        self.wait_said(r"^Limited by    kafka: no broker answers: .*Connection refused")
        self.wait_limit("kafka")
        self.world.wait("its gauge", lambda: self.gauge("tidemark_kafka_up") == {(): 0})

    def test_which_gateway_is_slow(self) -> None:
        slow, quick = (f"127.0.0.1:{one.greeting}" for one in self.world.gateways)
        self.world.config["hbase"]["gateways"] = [quick, slow]
        self.world.flows = True
        self.start()
        self.world.gateway.ask("fault", "none", "call=putMultiple", "delay-reply-ms=400")
        self.wait_said(rf"^Limited by    gateway: gateway '{slow}' takes several times as long per row as the fastest; (the daemon keeps up|until it is repaired, remove it from hbase.gateways) .*$",
                       rf"^{slow} +slow ",
                       rf"^{quick} +up ")

    def test_what_was_dead_lettered_and_why(self) -> None:
        self.start()
        self.world.send([b"{", b"{", b'{"h":"a","v":1}'])
        at = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
        self.wait_said(rf"^Dead letters  3 stored since the start, the first at {at}, in .*letters\.jsonl$",
                       rf"^parse +2  {at}  not in the declared format: ",
                       rf"^missing_field +1  {at}  a field that the key or the time needs (?s:.*?)'ts'",  # to its end, on lines below
                       rf"^{at}  t +[01] +\d  parse")

    def test_is_it_safe_to_restart(self) -> None:
        self.start()
        self.wait_said(r"^Restart now   yes: nothing is in flight$")
        self.world.wait("its gauge", lambda: self.gauge("tidemark_restart_clean") == {(): 1})
        self.world.gateway.ask("fault", "io-error", "call=putMultiple", "row-prefix=x", MOVED)
        self.world.send_readings(40)
        self.wait_said(r"^Restart now   better not: [\d,]+ messages are in flight, and the stop may not write them within 2 s .* without loss; "
                       r"calls to the region of 'T' from 'x' have failed for \d+ s: ")
        self.assertEqual(self.gauge("tidemark_restart_clean"), {(): 0})
        self.world.send_readings(400)  # the other region is not hot because this one takes nothing
        self.wait_said(r"^Hot region    none: the first region of 'T' receives \d+ rows/s, .*; calls to other regions of its table fail")
        self.world.gateway.ask("clear")
        self.wait_said(r"^Restart now   yes: nothing is in flight$")

    def test_which_region_is_hot(self) -> None:
        self.start()
        self.wait_said(r"^Hot region    none: no rows are written now$")
        self.world.wait("its regions are known", lambda: self.gauge("tidemark_table_regions") == {("T",): 2})
        self.world.send_readings(400)
        self.wait_said(r"^Hot region    none: the (first region of 'T'|region of 'T' from 'x') receives \d+ rows/s, 5\d % of all; the other one of its table \d+ rows/s")
        self.world.send_readings(2000, {"h": "x1"})
        self.wait_said(r"^Hot region    hot: the region of 'T' from 'x' receives \d+ rows/s, [89]\d % of all; the other one of its table \d+ rows/s; "
                       r"see docs/row-keys.md for keys that spread rows$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

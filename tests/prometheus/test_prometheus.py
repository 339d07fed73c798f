#!/usr/bin/env python3
"""A real Prometheus scrapes a daemon, and evaluates every query that is printed: those of the documents, of the dashboard and
of the alert rules. Exit code 77 where there is no prometheus.

    test_prometheus.py BUILD ROOT
"""
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

BUILD, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "tests/scenarios"))
from processes import Daemon, Gateway, Kafka  # noqa: E402

PATIENCE_S = 90
GOOD, BAD = 200, 5
TIME_MS = 1500000000000


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def printed_queries():
    """Those between ```promql and ``` in the documents."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for query in re.findall(r"^```promql\n(.*?)^```", path.read_text(), re.M | re.S):
            yield path.name, query


def dashboard_queries():
    for panel in json.loads((ROOT / "config/prometheus/dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], (target["expr"].replace("$__rate_interval", "1m").replace("$__range", "1h")
                                   .replace("$job", ".*").replace("$instance", ".*"))


class Scene:
    def __init__(self, directory):
        self.directory = directory
        self.kafka = Kafka(BUILD / "tests/fault/mock-kafka")
        self.gateway = Gateway(BUILD / "tests/fault/scripted-gateway")
        self.kafka.ask("topic", "t", "2")
        self.gateway.ask("table", "T", "M")
        self.daemon = Daemon(BUILD / "daemon/tidemark", {
            "kafka": {"brokers": self.kafka.greeting, "group": "g", "topics": ["t"], "threads": 1},
            "hbase": {"gateways": [f"127.0.0.1:{self.gateway.greeting}"]},
            "readings": {"time": {"field": "ts", "format": "epoch_ms"}},
            "tables": {"T": {"key": [{"field": "h"}, "#", {"time": "epoch_ms"}], "columns": {"family": "M", "from": "*"}}},
            "dead_letters": {"file": str(directory / "letters.jsonl")}}, directory, "daemon")
        self.wait("the daemon is ready", lambda: self.daemon.get("/readyz")[0] == 200)
        self.port = free_port()
        self.prometheus = self.start_prometheus()
        self.wait("Prometheus has scraped", lambda: self.answer("up{job='tidemark'} == 1"))

    def start_prometheus(self):
        rules = ROOT / "config/prometheus/alerts.yaml"
        config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(rules)],
                  "scrape_configs": [{"job_name": "tidemark",
                                      "static_configs": [{"targets": [f"127.0.0.1:{self.daemon.port}"]}]}]}
        path = self.directory / "prometheus.yml"
        path.write_text(json.dumps(config))
        with open(self.directory / "prometheus.log", "wb") as log:
            return subprocess.Popen(["prometheus", f"--config.file={path}", f"--storage.tsdb.path={self.directory}/data",
                                     f"--web.listen-address=127.0.0.1:{self.port}"], stdout=log, stderr=log)

    def wait(self, what, is_so):
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited in vain: {what}\n{self.daemon.log()}")
            time.sleep(0.1)

    def ask(self, path, **words):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(words)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it starts
                raise
            raise AssertionError(f"{words}: {error.read().decode()}") from error

    def answer(self, query):
        """What the query comes to now."""
        try:
            return self.ask("query", query=query)["result"]
        except urllib.error.URLError:
            return []

    def numbers(self, query):
        return [float(one["value"][1]) for one in self.answer(query)]

    def rules(self):
        return self.ask("rules")["groups"][0]["rules"]

    def produce(self):
        values = [json.dumps({"h": f"h{i}", "ts": TIME_MS + i, "v": i}) for i in range(GOOD)] + ["{"] * BAD
        now_ms = int(time.time() * 1000)
        self.kafka.ask_all([self.kafka.produce_command("t", i % 2, b"k", value.encode(), now_ms, [])
                            for i, value in enumerate(values)])
        self.kafka.ask("flush")

    def end(self):
        for process in (getattr(self, "prometheus", None), self.daemon.process):
            if process is not None:
                process.kill()
                process.wait()
        self.kafka.end()
        self.gateway.end()


class Queries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.scene = Scene(Path(cls.directory.name))
        cls.addClassCleanup(cls.scene.end)

    def assert_answers(self, queries):
        for place, query in queries:
            with self.subTest(place=place, query=query):
                self.scene.wait(f"{place}: {query}", lambda query=query: self.answer_while_rows_come(query))

    def answer_while_rows_come(self, query):
        """What regions take a second is 0 soon after the last row, and then has no series."""
        if "tidemark_region_rows_per_second" in query and not self.scene.answer(query):
            self.scene.produce()
        return self.scene.answer(query)

    def test_1_the_accounting_holds_from_the_start(self):
        identities = [query for _, query in printed_queries() if "\n== " in query]
        self.assertEqual(len(identities), 2)
        for query in identities:
            self.assertEqual(len(self.scene.answer(query)), 2, query)

    def test_2_the_accounting_holds_after_readings(self):
        self.scene.produce()
        for count, query in ((GOOD + BAD, "sum(tidemark_messages_received_total)"),
                             (BAD, 'sum(tidemark_dead_letters_total{reason="parse"})'),
                             (GOOD, "sum(tidemark_hbase_rows_written_total)"), (0, "sum(tidemark_messages_in_flight)")):
            self.scene.wait(query, lambda query=query, count=count: self.scene.numbers(query) == [count])
        for _, query in printed_queries():
            if "\n== " in query:
                self.assertEqual(len(self.scene.answer(query)), 2, query)

    def test_3_each_query_of_the_documents_has_an_answer(self):
        self.assert_answers(printed_queries())

    def test_4_each_panel_has_an_answer(self):
        # While all is well, and where nothing is looked back at.
        may_be_empty = ("failing_seconds", "tidemark_gateway_slow")
        queries = list(dashboard_queries())
        for _, query in queries:
            self.scene.answer(query)
        self.assert_answers(one for one in queries if not any(word in one[1] for word in may_be_empty))

    def test_5_an_alert_is_seen_in_an_outage_and_goes_with_it(self):
        self.scene.wait("the rules are evaluated", lambda: {rule["health"] for rule in self.scene.rules()} == {"ok"})
        down = next(rule["query"] for rule in self.scene.rules() if rule["name"] == "TidemarkGatewayDown")
        self.assertEqual(self.scene.answer(down), [])
        self.scene.gateway.ask("kill")
        self.scene.produce()
        self.scene.wait("the gateway is down", lambda: self.scene.answer(down))
        pending = 'ALERTS{alertname="TidemarkGatewayDown"}'
        self.scene.wait("the alert is pending", lambda: self.scene.answer(pending))
        self.scene.gateway.ask("start")
        self.scene.wait("the gateway is up", lambda: not self.scene.answer(down))
        self.scene.wait("the alert is gone", lambda: not self.scene.answer(pending))


if __name__ == "__main__":
    if shutil.which("prometheus") is None:
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

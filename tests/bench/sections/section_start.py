"""From the start of the process to the first row that is acknowledged, without the group's join, which is Kafka's."""

from __future__ import annotations

import re
import time
from datetime import datetime, timezone

import read_metric
from bench_report import Report
from bench_setup import Bench
from daemon_run import await_metrics, config_of, null_gateway, start_daemon, tables_config

TITLE = "start of the process to the first row, a null gateway"

READINGS = 20_000

# "2026-11-21T18:02:28.308Z info tide-start: table 'METRIC' has 1 region"
LINE = re.compile(r"^(\S+)Z \S+ \S+: (.*)$")


def logged_at_s(log: str, text: str) -> list[float]:
    """When the lines with this text were logged, as seconds since 1970."""
    return [datetime.fromisoformat(match[1]).replace(tzinfo=timezone.utc).timestamp()
            for match in map(LINE.match, log.splitlines()) if match and text in match[2]]


def start_ms(bench: Bench, topic: str) -> float:
    """One start over a topic that is full."""
    name = bench.unique("start")
    with null_gateway(bench) as gateway:
        config = config_of(bench, topic, [gateway.address], tables_config())
        begun_s = time.time()
        process = start_daemon(bench, name, config)
        try:
            await_metrics(process, config["service"]["http"], bench.log(name), interval_s=0.002, condition=lambda samples:
                          read_metric.total(samples, "tidemark_messages_written_total") > 0)
            written_s = time.time()
        finally:
            process.end()
    log = bench.log(name).read_text(encoding="utf-8")
    tables_s, assigned_s = max(logged_at_s(log, "has 1 region")), min(logged_at_s(log, "assigned: "))
    return 1000 * ((tables_s - begun_s) + (written_s - assigned_s))


def run(bench: Bench, report: Report) -> None:
    topic = bench.topic(metrics=10, readings=READINGS, machines=1000)
    report.ratio("start to the first row written, without the group's join", [bench.turns.run(lambda: start_ms(bench, topic)) for _ in range(bench.runs)],
                 at_most=1000, digits=0, unit="ms")

"""The whole daemon against a null gateway, real Kafka in front, beside kcat reading the same topic to nowhere."""

from __future__ import annotations

import statistics

from bench_report import Report, counted, spread
from bench_setup import Bench
from daemon_run import DaemonRun, run_on_null_gateway, tables_config
from measured_process import run_measured

TITLE = "the daemon's own cost: real Kafka, a null gateway, kcat beside it"

MACHINES = 1000

# metrics of a reading: (readings of the topic, asked: times kcat's CPU, for METRIC and CURRENT_METRIC)
LOADS = {1: (2_000_000, 1.7), 10: (1_000_000, 2.0), 100: (200_000, 3.5)}


def kcat_us(bench: Bench, topic: str) -> float:
    """CPU of kcat for each message of the topic, read to nowhere."""
    usage = run_measured(["kcat", "-C", "-b", bench.kafka().address, "-t", topic, "-o", "beginning", "-e", "-q"],
                         bench.log("kcat"))
    return usage.cpu_s * 1e6 / bench.readings_of(topic)


def run(bench: Bench, report: Report) -> None:
    rows: list[list[object]] = []
    for metrics, (readings, at_most) in LOADS.items():
        topic = bench.topic(metrics=metrics, readings=readings // (10 if bench.quick else 1), machines=MACHINES)
        kcat: list[float] = []
        runs: dict[str, list[DaemonRun]] = {"METRIC": [], "METRIC + CURRENT_METRIC": []}
        for turn in range(bench.runs + 1):
            figures = bench.turns.run(lambda: (kcat_us(bench, topic), {
                name: run_on_null_gateway(bench, topic, tables_config(current="CURRENT" in name)) for name in runs}))
            if turn > 0:  # the first one warms the page cache and Kafka up
                kcat.append(figures[0])
                for name in runs:
                    runs[name].append(figures[1][name])
        rows.append([f"kcat, {counted(metrics, 'metrics')}, {bench.message_bytes(topic)} bytes", spread(kcat), "", "", "", "", ""])
        for name, done in runs.items():
            rows.append([f"  {name}", spread([one.cpu_us_per_reading for one in done]),
                         spread([one.readings_per_s / 1000 for one in done], 0),
                         spread([one.readings / one.usage.cpu_s / 1000 for one in done], 0),
                         statistics.median(one.rows / one.readings for one in done),
                         int(statistics.median(one.rows / one.calls for one in done)),
                         max(one.usage.max_rss_bytes for one in done) / (1 << 20)])
        report.ratio(f"CPU per reading of {counted(metrics, 'metrics')}, both tables / kcat",
                     [one.cpu_us_per_reading / floor for one, floor in zip(runs["METRIC + CURRENT_METRIC"], kcat)],
                     at_most=at_most)
    report.table(f"CPU of the whole process; readings of {MACHINES} devices in turn, batch.latest_window at its default",
                 ["what", "us CPU/reading", "k readings/s", "k readings/CPU s", "rows/reading", "rows/call", "MiB peak"], rows)
    _one_core(bench, report)


def _one_core(bench: Bench, report: Report) -> None:
    """The daemon on one core, everybody else on the others."""
    topic = bench.topic(metrics=1, readings=LOADS[1][0] // (10 if bench.quick else 1), machines=MACHINES)
    runs = [bench.turns.run(lambda: run_on_null_gateway(bench, topic, tables_config(), cpus={0}, gateway_cpus={1}))
            for _ in range(bench.runs)]
    report.ratio("readings of 1 metric with the process on one core, both tables", [one.readings_per_s / 1000 for one in runs],
                 at_least=300, digits=0, unit="k/s")

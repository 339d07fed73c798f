"""What each setting changes, one at a time, beside the defaults: the figures of docs/benchmarks.md."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Mapping, Sequence

import daemon as integration_daemon
from bench_report import Report, spread
from bench_setup import Bench
from daemon_run import tables_config
from real_gateway import MACHINES, SPLITS, Written, daemon_writes, fresh_tables
from section_end_to_end import packed_tables

TITLE = "one setting at a time, on the real gateway"

READINGS = 100_000
METRICS = 10
WARM_UP_TURNS = 1


@dataclass(frozen=True)
class Variant:
    """The defaults but for one thing."""

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    gateway: Mapping[str, Any] = field(default_factory=dict)  # how the gateway is started
    tables: Mapping[str, Any] = field(default_factory=tables_config)


VARIANTS = [
    Variant("defaults"),
    Variant("batch.max_rows: 100", {"batch": {"max_rows": 100}}),
    Variant("batch.max_rows: 3000", {"batch": {"max_rows": 3000}}),
    Variant("hbase.writers: 1", {"hbase": {"writers": 1}}),
    Variant("hbase.writers: 2", {"hbase": {"writers": 2}}),
    Variant("hbase.writers: 16", {"hbase": {"writers": 16}}),
    Variant("kafka.threads: 1", {"kafka": {"threads": 1}}),
    Variant("batch.latest_window_max: 5ms", {"batch": {"latest_window_max": "5ms"}}),
    Variant("limits.memory: 64MiB", {"limits": {"memory": "64MiB"}}),
    Variant("pack: json, latest: packed", tables=packed_tables("METRIC", "CURRENT_METRIC")),
    Variant("gateway framed", gateway={"framed": True}),
    Variant("gateway framed, compact", gateway={"framed": True, "compact": True}),
    Variant("gateway with -XX:+UseParallelGC", gateway={"jvm_flags": ["-XX:+UseParallelGC"]}),
    Variant("gateway with -Xmx2g", gateway={"jvm_flags": ["-Xmx2g"]}),
    Variant("gateway framed, -XX:+UseParallelGC -Xmx2g",
            gateway={"framed": True, "jvm_flags": ["-XX:+UseParallelGC", "-Xmx2g"]}),
]


def run(bench: Bench, report: Report) -> None:
    topic = bench.topic(metrics=METRICS, readings=READINGS // (10 if bench.quick else 1), machines=MACHINES)
    stack = bench.stack()
    addresses = [stack.add_gateway(**variant.gateway).address if variant.gateway else stack.gateways[0].address
                 for variant in VARIANTS]
    turns = [bench.turns.run(partial(_turn, bench, topic, addresses, turn)) for turn in range(WARM_UP_TURNS + bench.runs)][WARM_UP_TURNS:]
    runs = dict(zip((variant.name for variant in VARIANTS), zip(*turns)))
    rows: list[Sequence[Any]] = []
    for name, done in runs.items():
        beside = [bench.readings_of(topic) / one.seconds / (bench.readings_of(topic) / default.seconds)
                  for one, default in zip(done, runs["defaults"])]
        rows.append([name, spread([bench.readings_of(topic) / one.seconds / 1000 for one in done], 1), spread(beside),
                     int(statistics.median(one.rows / one.calls for one in done)),
                     statistics.median(one.cpu_s * 1e6 / bench.readings_of(topic) for one in done)])
    report.table(f"Readings of {METRICS} metrics to METRIC and CURRENT_METRIC, {MACHINES} devices, a real HBase",
                 ["setting", "k readings/s", "times the defaults", "rows/call", "us CPU/reading"], rows)


def _turn(bench: Bench, topic: str, addresses: Sequence[str], turn: int) -> list[Written]:
    """Each variant once; another one begins in each turn."""
    done: dict[int, Written] = {}
    for place in range(len(VARIANTS)):
        index = (place + turn * 4) % len(VARIANTS)
        variant = VARIANTS[index]
        fresh_tables(bench, list(variant.tables), SPLITS)
        changes = integration_daemon.merged({"hbase": {"gateways": [addresses[index]]}}, variant.changes)
        done[index] = daemon_writes(bench, topic, variant.tables, changes)
    return [done[index] for index in range(len(VARIANTS))]

"""The memory of what reads a large table: `scan` over ten million rows, real Kafka and HBase."""

from __future__ import annotations

import json

from bench_report import Report
from bench_setup import Bench
from daemon_run import config_of, tables_config
from real_gateway import daemon_writes, fresh_tables
from section_read import MACHINES, SPLITS, Reading, measured

TITLE = "the memory of a scan over ten million rows"

ROWS = 10_000_000
METRICS = 1

# Of the resident memory, from a tenth of the way to its end: what is held for each row would make ten times of it.
AT_MOST = 1.1

PARTS = 10


def run(bench: Bench, report: Report) -> None:
    rows = ROWS // (10 if bench.quick else 1)
    topic = bench.topic(metrics=METRICS, readings=rows, machines=MACHINES)
    tables = tables_config(current=False)
    fresh_tables(bench, list(tables), SPLITS)
    written = daemon_writes(bench, topic, tables)
    config = bench.directory / "memory.yaml"
    config.write_text(json.dumps(config_of(bench, topic, [bench.stack().gateways[0].address], tables)), encoding="utf-8")
    scan = measured(bench, rows, [bench.tidemark, "scan", "-c", config, "METRIC", "-f", "json"])
    way = _along_the_way(scan)
    report.table(f"METRIC has {rows:,} rows of one cell, written at {written.rows_per_s / 1000:,.1f} k rows/s, read at "
                 f"{scan.rows_per_s / 1000:,.1f} k rows/s; MiB resident after each share of the time",
                 ["reader", *(f"{100 * (part + 1) // PARTS} %" for part in range(PARTS)), "at most"],
                 [["scan -f json", *way, scan.peak_bytes / (1 << 20)]])
    report.ratio("resident memory of scan, at the end / after a tenth of the rows", [way[-1] / way[0]], at_most=AT_MOST)


def _along_the_way(reading: Reading) -> list[float]:
    """MiB resident at the end of each part of the time."""
    rss = reading.rss_bytes
    return [rss[max(len(rss) * (part + 1) // PARTS - 1, 0)] / (1 << 20) for part in range(PARTS)]

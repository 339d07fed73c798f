"""The real gateway: the daemon beside a bare sender of the same rows, which nothing can be faster than."""

from __future__ import annotations

import statistics

from bench_report import Report, spread
from bench_setup import Bench
from daemon_run import tables_config
from real_gateway import MACHINES, SPLITS, Written, bare_writes, daemon_writes, fresh_tables, record_calls

TITLE = "the real gateway: the daemon, and a bare sender of its calls with kcat beside it"

METRICS = 10
READINGS = 200_000

# The JVMs of the gateway and of HBase get faster for some runs after their start.
WARM_UP_TURNS = 1

# As many as the daemon has by default (hbase.writers).
CONNECTIONS = 4


def run(bench: Bench, report: Report) -> None:
    topic = bench.topic(metrics=METRICS, readings=READINGS // (10 if bench.quick else 1), machines=MACHINES)
    rows = []
    for name, current in (("METRIC", False), ("METRIC + CURRENT_METRIC", True)):
        tables = tables_config(current=current)
        calls = record_calls(bench, topic, tables, SPLITS)  # warms up, too
        daemon: list[Written] = []
        bare: list[Written] = []

        def daemon_run() -> Written:
            fresh_tables(bench, list(tables), SPLITS)
            return daemon_writes(bench, topic, tables)

        def bare_run() -> Written:
            fresh_tables(bench, list(tables), SPLITS)
            return bare_writes(bench, topic, calls, CONNECTIONS)

        # Seen here: every other run is slower, whoever's it is. So a turn has each at an odd place and at an even one.
        def turn() -> tuple[Written, Written]:
            first = daemon_run()
            floor = bare_run() + bare_run()
            return first + daemon_run(), floor

        for _ in range(WARM_UP_TURNS + bench.runs):
            done, floor = bench.turns.run(turn)
            daemon.append(done)
            bare.append(floor)
        del daemon[:WARM_UP_TURNS], bare[:WARM_UP_TURNS]
        report.ratio(f"rows/s of the daemon / of the bare sender, {name}",
                     [one.rows_per_s / floor.rows_per_s for one, floor in zip(daemon, bare)],
                     at_least=None if current else 0.95)
        rows += [[f"{who}, {name}", spread([one.rows_per_s / 1000 for one in runs], 1),
                  int(statistics.median(one.rows / 2 for one in runs)), int(statistics.median(one.rows / one.calls for one in runs)),
                  statistics.median(one.cpu_s * 1e6 / one.rows for one in runs)]
                 for who, runs in (("daemon", daemon), ("bare sender", bare))]
    report.table(f"Rows of {METRICS} cells to 4 regions of a real HBase; {CONNECTIONS} connections, as by default",
                 ["who", "k rows/s", "rows/run", "rows/call", "us CPU/row"], rows)
    report.note("The bare sender's calls are those of a run of the daemon on the real gateway. With METRIC alone both send the same "
                "rows;\nhow many latest rows the daemon merges differs from run to run, so there rows/s are compared.")

"""The reading side through one real gateway: scan, latest, verify and rollup beside a bare reader and Java's Thrift client."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Sequence

import java_flags
import java_program
import maven_jars
from bench_report import Report, spread
from bench_setup import Bench
from daemon_run import config_of, tables_config
from measured_process import MeasuredProcess
from peers import peer
from real_gateway import daemon_writes, fresh_tables
from stack_services import Gateway

TITLE = "the reading side, real Kafka and HBase: scan, latest, verify and rollup beside a bare reader and Java"

ROWS = 1_000_000
MACHINES = 100_000
METRICS = 2
# As simulate names them: server0001.bbb.com to server100000.bbb.com.
SPLITS = (b"server3", b"server55", b"server78")

# As many as tidemark asks for where rows are small (TIDE_TABLE_SCAN_MAX_PAGE_ROWS): with fewer, everybody is slower.
PAGE_ROWS = 2000
# Java reads twice in one process, and the second time counts.
JAVA_TIMES = 2

AT_LEAST_BARE = 0.9
AT_LEAST_WRITE = 0.5

# Between looks at the resident memory.
LOOK_S = 0.2


@dataclass
class Reading:
    """One reader's run over a table."""

    rows: int
    seconds: float
    cpu_s: float
    rss_bytes: list[int] = field(default_factory=list)  # as it went
    peak_bytes: int = 0

    @property
    def rows_per_s(self) -> float:
        return self.rows / self.seconds


def run(bench: Bench, report: Report) -> None:
    topic = bench.topic(metrics=METRICS, readings=ROWS // (10 if bench.quick else 1), machines=MACHINES)
    gateway = bench.stack().add_gateway(framed=True)
    tables = tables_config()
    changes = {"hbase": {"gateways": [gateway.address]}}
    fresh_tables(bench, list(tables), SPLITS)
    written = daemon_writes(bench, topic, tables, changes)
    config = bench.directory / "read.yaml"
    config.write_text(json.dumps(config_of(bench, topic, [gateway.address], tables)), encoding="utf-8")
    turns = [bench.turns.run(lambda: _turn(bench, gateway, config, topic)) for _ in range(bench.runs + 1)][1:]
    runs = {name: [turn[name] for turn in turns] for name in turns[0]}
    report.table(f"METRIC has {bench.readings_of(topic):,} rows of {METRICS} cells, CURRENT_METRIC {_latest_rows(bench, topic):,}, 4 regions each; "
                 f"one framed gateway; the daemon wrote {written.rows_per_s / 1000:,.1f} k rows/s",
                 ["reader", "k rows/s", "us CPU/row", "MiB at first", "MiB at last", "MiB at most"],
                 [[name, spread([one.rows_per_s / 1000 for one in done], 1), spread([one.cpu_s * 1e6 / one.rows for one in done], 2),
                   *_memory(done)] for name, done in runs.items()])
    _report_ratios(report, runs, written.rows_per_s)


def _memory(done: Sequence[Reading]) -> list[Any]:
    """Resident after a tenth of the time, at the end, and at most, of the last run."""
    rss = done[-1].rss_bytes
    if not rss:
        return ["", "", ""]
    return [rss[len(rss) // 10] / (1 << 20), rss[-1] / (1 << 20), done[-1].peak_bytes / (1 << 20)]


def _report_ratios(report: Report, runs: dict[str, list[Reading]], written_per_s: float) -> None:
    for name in ("scan -f json", "scan -f csv", "latest -f json"):
        floor = "bare, CURRENT_METRIC" if name.startswith("latest") else "bare, METRIC"
        report.ratio(f"rows/s, {name} / bare reader", [one.rows_per_s / beside.rows_per_s for one, beside in zip(runs[name], runs[floor])],
                     at_least=AT_LEAST_BARE)
    report.ratio("rows/s, scan -f json / Java's Thrift client",
                 [one.rows_per_s / beside.rows_per_s for one, beside in zip(runs["scan -f json"], runs["java, METRIC"])])
    report.ratio("rows/s, verify / the daemon's writing", [one.rows_per_s / written_per_s for one in runs["verify"]],
                 at_least=AT_LEAST_WRITE)


def _turn(bench: Bench, gateway: Gateway, config: Path, topic: str) -> dict[str, Reading]:
    latest = _latest_rows(bench, topic)
    metric = bench.readings_of(topic)

    def tidemark(rows: int, *words: str) -> Reading:
        return measured(bench, rows, [bench.tidemark, words[0], "-c", config, *words[1:]])

    def bare(rows: int, table: str) -> Reading:
        return measured(bench, rows, [bench.tool("bare-reader"), gateway.address, table, str(PAGE_ROWS)])
    copy = bench.unique("COPY")
    done = {
        "bare, METRIC": bare(metric, "METRIC"),
        "scan -f json": tidemark(metric, "scan", "METRIC", "-f", "json"),
        "java, METRIC": _java(bench, gateway, "METRIC"),
        "scan -f csv": tidemark(metric, "scan", "METRIC", "-f", "csv"),
        "bare, CURRENT_METRIC": bare(latest, "CURRENT_METRIC"),
        "latest -f json": tidemark(latest, "latest", "CURRENT_METRIC", "-f", "json"),
        "verify": tidemark(metric + latest, "verify", "--to-end", "-f", "json"),
        "rollup": tidemark(metric, "rollup", "METRIC", "--to", copy, "--allow-open-day", "--day", _day(), "--state", str(bench.directory)),
    }
    bench.stack().oracle.drop(copy)
    return done


def _latest_rows(bench: Bench, topic: str) -> int:
    return min(MACHINES, bench.readings_of(topic))


def _day() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())


def measured(bench: Bench, rows: int, command: Sequence[str | Path]) -> Reading:
    """From the process's start to its end."""
    log = bench.log(bench.unique("reader"))
    process = MeasuredProcess(command, log, stdout=subprocess.DEVNULL)
    rss: list[tuple[int, int]] = []
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(LOOK_S):
            with contextlib.suppress(OSError):
                rss.append((process.rss_bytes(), process.peak_rss_bytes()))
    watching = threading.Thread(target=watch)
    watching.start()
    usage = process.wait()
    ended.set()
    watching.join()
    if usage.exit_code != 0:
        raise RuntimeError(f"'{' '.join(map(str, command))}' ended with {usage.exit_code}, see '{log}'")
    return Reading(rows, usage.wall_s, usage.cpu_s, [now for now, _ in rss if now > 0], max((peak for _, peak in rss), default=0))


def _java(bench: Bench, gateway: Gateway, table: str) -> Reading:
    """Its own figures, of the last time: a JVM's start is not what is compared."""
    jars = maven_jars.classpath_file("hbase")
    classes = java_program.compiled("bench-thrift-reader", [peer.HERE / "java" / "ThriftReader.java"], jars)
    command = [java_flags.java(), *java_flags.hbase("thrift-reader", bench.log("thrift-reader"), heap=peer.HEAP, peak_speed=True),
               "ThriftReader", *gateway.address.split(":"), table, str(PAGE_ROWS), str(JAVA_TIMES)]
    done = subprocess.run(command, env=java_flags.environment(f"{classes}:{jars.read_text(encoding='utf-8').strip()}"), check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    figures = json.loads(done.stdout.splitlines()[-1])
    return Reading(figures["rows"], figures["seconds"], figures["cpu_seconds"])

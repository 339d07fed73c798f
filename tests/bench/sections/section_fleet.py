"""Daemons of one group: what a reading costs as there are more of them, and what one that joins or leaves costs all."""

from __future__ import annotations

import json
import os
import statistics
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

import newer_librdkafka
import read_metric
from bench_report import Report, spread
from bench_setup import Bench
from daemon_run import await_metrics, config_of, null_gateway, start_daemon, tables_config
from measured_process import MeasuredProcess, cpu_s_of
from paced_daemon import Load, Samples, Stream, percentile, recorded_latencies_ms, send

TITLE = "1 to 16 daemons of one group, 256 partitions, null gateways: cost of a reading, and of a rebalance"

SIZES = (1, 2, 4, 8, 16)
PARTITIONS = 256

# Small, since all daemons, the producer, Kafka and the gateway share the cores: sixteen daemons together stay below half of two.
STREAM = Stream(metrics=10, partitions=PARTITIONS)
RATE_EACH = 2000
IDLE_S = 2.0
SECONDS = 5.0
WARM_UP_S = 1.5
AT_MOST = 1.3

# Of a rebalance: readings of one metric, each cell with its record's time, so that the gateway sees how long each has waited.
WAITING = Stream(metrics=1, partitions=PARTITIONS)
WAITING_EACH = 400
WAITING_S = 7.0
CHANGE_AFTER_S = 2.0
LATE_MS = 500


@dataclass(frozen=True)
class Cost:
    """Of one load on a group."""

    us_per_reading: float  # of all daemons
    broker_us_per_reading: float
    rows_per_call: float
    idle_cores: float  # that all daemons keep busy when nothing comes; 0: was not looked at
    cpu_s: float
    load: Load  # when it was

    @property
    def us_less_idle(self) -> float:
        """Without what the same time costs when nothing comes."""
        seconds = (self.load.ended_epoch_us - self.load.begun_epoch_us) / 1e6
        return self.us_per_reading * (1 - self.idle_cores * seconds / self.cpu_s)


def _assigned(address: str) -> int:
    """Partitions that the daemon has; none while it does not answer."""
    try:
        with urllib.request.urlopen(f"http://{address}/status", timeout=5) as answer:
            return int(json.load(answer)["kafka"]["assigned_partitions"])
    except OSError:
        return 0


class Group:
    """The daemons of one group on one gateway, one consumer each. Use `running_group`."""

    def __init__(self, bench: Bench, gateway: str, tables: Mapping[str, Any], stream: Stream, changes: Mapping[str, Any],
                 environment: Optional[Mapping[str, str]]) -> None:
        self._bench = bench
        self._stream = stream
        self._topic = bench.unique("fleet")
        bench.kafka().admin.create_topic(self._topic, stream.partitions)
        self._config = config_of(bench, self._topic, [gateway], tables, changes)
        self._environment = environment
        self._members: list[tuple[MeasuredProcess, str, Path]] = []
        self._gone: list[Samples] = []  # what members that left said last
        self._gone_cpu_s = 0.0
        self._n_sent = 0

    def __len__(self) -> int:
        return len(self._members)

    def start_one(self) -> None:
        name = self._bench.unique("member")
        config = config_of(self._bench, self._topic, self._config["hbase"]["gateways"], self._config["tables"], {
            "kafka": self._config["kafka"]})  # its own port
        process = start_daemon(self._bench, name, config, environment=self._environment)
        self._members.append((process, config["service"]["http"], self._bench.log(name)))

    def stop_one(self) -> None:
        """The one that came last leaves in good order."""
        process, address, log = self._members.pop()
        self._gone.append(await_metrics(process, address, log, bool))
        usage = process.end()
        self._gone_cpu_s += usage.cpu_s
        if usage.exit_code != 0:
            raise RuntimeError(f"a daemon ended with {usage.exit_code}, see '{log}'")

    def grow_to(self, size: int) -> None:
        while len(self) < size:
            self.start_one()
        self.await_shared_out()

    def looks(self) -> list[Samples]:
        return [await_metrics(process, address, log, bool) for process, address, log in self._members]

    def total(self, name: str, labels: str = "") -> int:
        return sum(read_metric.total(samples, name, labels) for samples in [*self._gone, *self.looks()])

    def _await(self, condition: Any, what: str) -> None:
        give_up_at = time.monotonic() + 120
        while not condition():
            if time.monotonic() > give_up_at:
                raise RuntimeError(f"{what} has not come, see the logs beside '{self._members[0][2]}'")
            time.sleep(0.2)

    def await_shared_out(self) -> None:
        """Each member has its share of the partitions."""
        def is_shared_out() -> bool:
            shares = [_assigned(address) for _, address, _ in self._members]
            return sum(shares) == self._stream.partitions and min(shares) >= self._stream.partitions // len(shares)
        self._await(is_shared_out, "an even share for each member")

    def idle_cores(self) -> float:
        before_s = self._cpu_s()
        time.sleep(IDLE_S)
        return (self._cpu_s() - before_s) / IDLE_S

    def load(self, rate: int, seconds: float, change: Optional[Any] = None, *, idle_cores: float = 0.0) -> Cost:
        """Readings at this rate for so long, with `change` made after a while, until all are written."""
        n, broker = int(rate * seconds), self._bench.kafka().pid
        rows, calls = self.total("tidemark_hbase_rows_written_total"), self.total("tidemark_hbase_calls_total", 'outcome="ok"')
        before_s, broker_s, begun_us = self._cpu_s(), cpu_s_of(broker), time.time_ns() // 1000
        sending = send(self._bench, self._topic, n, rate, self._stream, self._n_sent)
        self._n_sent += n
        if change is not None:
            time.sleep(CHANGE_AFTER_S)
            change()
        if sending.wait() != 0:
            raise RuntimeError(f"'{' '.join(map(str, sending.args))}' ended with {sending.returncode}")
        self._await_written()
        ended_us, cpu_s = time.time_ns() // 1000, self._cpu_s() - before_s
        rows_per_call = 0.0 if change is not None else (
            (self.total("tidemark_hbase_rows_written_total") - rows) / (self.total("tidemark_hbase_calls_total", 'outcome="ok"') - calls))
        return Cost(1e6 * cpu_s / n, 1e6 * (cpu_s_of(broker) - broker_s) / n, rows_per_call, idle_cores, cpu_s,
                    Load(rate, 0, 0, [], begun_us, ended_us))

    def _cpu_s(self) -> float:
        return self._gone_cpu_s + sum(process.cpu_s() for process, _, _ in self._members)

    def _await_written(self) -> None:
        """By the committed offsets: a partition that changed hands has no series that count from its beginning."""
        admin, group = self._bench.kafka().admin, self._config["kafka"]["group"]
        self._await(lambda: sum(admin.committed_offsets(group, self._topic).values()) >= self._n_sent, "the last reading")

    def end(self) -> None:
        for process, _, _ in self._members:
            process.send_end()
        for process, _, _ in self._members:
            process.wait()
        self._bench.kafka().admin.delete_topic(self._topic)


@contextmanager
def running_group(bench: Bench, gateway: str, tables: Mapping[str, Any], stream: Stream, kafka: Mapping[str, Any],
                  environment: Optional[Mapping[str, str]] = None) -> Iterator[Group]:
    group = Group(bench, gateway, tables, stream, {"kafka": {"threads": 1, **kafka}}, environment)
    try:
        yield group
    finally:
        group.end()


# ---- what a reading costs ----

def _costs(bench: Bench) -> list[Cost]:
    """Of a group that grows: a load at each size, so much for each daemon."""
    costs = []
    with null_gateway(bench) as gateway, running_group(bench, gateway.address, tables_config(), STREAM, {}) as group:
        for size in SIZES:
            group.grow_to(size)
            group.load(size * RATE_EACH, WARM_UP_S)
            costs.append(group.load(size * RATE_EACH, SECONDS / (5 if bench.quick else 1), idle_cores=group.idle_cores()))
    return costs


def _report_costs(bench: Bench, report: Report) -> None:
    turns = [bench.turns.run(lambda: _costs(bench)) for _ in range(bench.runs)]
    by_size = list(zip(*turns))
    report.table(f"{RATE_EACH:,} readings/s of 10 metrics per daemon, METRIC and CURRENT_METRIC, {PARTITIONS} partitions in all",
                 ["daemons", "us CPU/reading", "without idle CPU", "rows/call", "broker's us/reading"],
                 [[str(size), spread([one.us_per_reading for one in costs]), spread([one.us_less_idle for one in costs]),
                   spread([one.rows_per_call for one in costs], 1), spread([one.broker_us_per_reading for one in costs])] for size, costs in zip(SIZES, by_size)])
    report.ratio(f"cost of a reading, {SIZES[-1]} daemons / {SIZES[0]}",
                 [turn[-1].us_per_reading / turn[0].us_per_reading for turn in turns], at_most=AT_MOST)


# ---- what a rebalance costs ----

@dataclass(frozen=True)
class Change:
    """One that joined or left, beside a load of the same length without."""

    what: str
    size: int  # of the group with it
    cpu_s: float  # more than without
    handed_back: int
    load: Load


def _changes(bench: Bench, assignment: str, record: Path) -> list[tuple[str, list[Change], Cost]]:
    """By size: how the load went without, and with a daemon that joins, and one that leaves."""
    tables = {name: {**table, "cell_time": "record"} for name, table in tables_config(current=False).items()}
    environment = {**os.environ, "LD_LIBRARY_PATH": str(newer_librdkafka.folder())}
    seen = []
    with null_gateway(bench, "--record", str(record)) as gateway, \
            running_group(bench, gateway.address, tables, WAITING, {"assignment": assignment}, environment) as group:
        for size in SIZES[1:]:
            rate, handed_back = size * WAITING_EACH, "tidemark_messages_handed_back_total"
            group.grow_to(size - 1)
            group.load(rate, WARM_UP_S)
            still = group.load(rate, WAITING_S)
            changes = []
            for what, change in (("joins", group.start_one), ("leaves", group.stop_one)):
                before = group.total(handed_back)
                cost = group.load(rate, WAITING_S, change)
                group.await_shared_out()
                changes.append(Change(what, size, cost.cpu_s - still.cpu_s, group.total(handed_back) - before, cost.load))
            seen.append((assignment, changes, still))
    return seen


def _report_changes(bench: Bench, report: Report) -> None:
    rows: list[list[Any]] = []
    for assignment in ("eager", "cooperative"):
        record = bench.directory / f"{bench.unique('waits')}.bin"
        for _, changes, still in bench.turns.run(lambda: _changes(bench, assignment, record)):
            calm = recorded_latencies_ms(record, still.load)
            for one in changes:
                waits = recorded_latencies_ms(record, one.load)
                late = sum(wait > LATE_MS for wait in waits) / len(waits)
                # A reading a second comes of each partition: what is late by so much stands for so many seconds without reading.
                rows.append([f"{assignment}, of {one.size} one {one.what}", int(max(waits)), int(max(calm)), 100 * late,
                             statistics.fmean(waits) - statistics.fmean(calm), percentile(waits, 0.5), one.cpu_s, one.handed_back])
        record.unlink()
    report.table(f"{WAITING_EACH} readings/s of 1 metric per daemon, METRIC, {PARTITIONS} partitions, {WAITING_S:.0f} s around each "
                 f"change; librdkafka {newer_librdkafka.VERSION}",
                 ["change", "longest wait ms", "else", f"% later than {LATE_MS} ms", "ms later on average", "p50 ms", "more CPU s",
                  "handed back"], rows)
    report.note("A wait is from the record's time to the gateway: the longest is how long the slowest partition was not read. "
                "The CPU of a daemon that joins\nhas its start in it.")


def run(bench: Bench, report: Report) -> None:
    _report_costs(bench, report)
    _report_changes(bench, report)

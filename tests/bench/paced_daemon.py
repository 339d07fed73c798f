"""A daemon that reads a stream of a given rate, and the time of each reading from Kafka to the gateway's acknowledgement."""

from __future__ import annotations

import math
import os
import re
import struct
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

import read_metric
from bench_setup import Bench
from daemon_run import await_metrics, config_of, start_daemon
from jvm_process import spawn

PARTITIONS = 4
METRICS = 10
MACHINES = 1000

# What librdkafka's producers wait by default: it is part of every latency here.
LINGER = "5ms"

LOOK_INTERVAL_S = 0.25

WRITTEN = "tidemark_messages_written_total"
LATENCY = "tidemark_write_latency_seconds_bucket"

Samples = list[tuple[str, float]]


@dataclass(frozen=True)
class Stream:
    """What comes, and from how many."""

    metrics: int = METRICS
    machines: int = MACHINES
    partitions: int = PARTITIONS


@dataclass(frozen=True)
class Load:
    """What a daemon made of readings that came at a rate."""

    rate: int
    cpu_us_per_reading: float  # of the whole daemon
    rows_per_call: float
    buckets: list[tuple[float, int]]  # (upper bound in s, messages up to it), ascending
    begun_epoch_us: int
    ended_epoch_us: int

    def percentile_ms(self, share: float) -> float:
        """Interpolated within the histogram's bucket; infinite beyond the last bound."""
        rank = share * self.buckets[-1][1]
        below_s, below_n = 0.0, 0
        for bound_s, n in self.buckets:
            if n >= rank:
                return 1000 * (below_s + (bound_s - below_s) * (rank - below_n) / max(n - below_n, 1))
            below_s, below_n = bound_s, n
        return math.inf


def send(bench: Bench, topic: str, readings: int, rate: int, stream: Stream, seed: int) -> subprocess.Popen[bytes]:
    """Starts a producer of so many readings at this rate."""
    with bench.log("simulate").open("ab") as log:
        return spawn([str(bench.tidemark), "simulate", "-b", bench.kafka().address, "-t", topic, "--readings", str(readings),
                      "--rate", str(rate), "--linger", LINGER, "--metrics", str(stream.metrics), "--devices", str(stream.machines),
                      "--seed", str(seed)], dict(os.environ), log, owned=True)


class PacedDaemon:
    """Use `paced_daemon`."""

    def __init__(self, bench: Bench, gateways: Sequence[str], tables: Mapping[str, Any], stream: Stream = Stream(),
                 changes: Optional[Mapping[str, Any]] = None) -> None:
        self._bench = bench
        self._stream = stream
        self.topic = bench.unique("paced")
        bench.kafka().admin.create_topic(self.topic, stream.partitions)
        self._config = config_of(bench, self.topic, gateways, tables, changes)
        self._n_sent = 0
        self._process = start_daemon(bench, self.topic, self._config)
        # A partition shows its series when it is assigned.
        self._await(lambda samples: sum(series.startswith(WRITTEN) for series, _ in samples) >= stream.partitions)

    def _await(self, condition: Callable[[Samples], bool]) -> Samples:
        return await_metrics(self._process, self._config["service"]["http"], self._bench.log(self.topic), condition)

    def _look(self) -> Samples:
        return self._await(bool)

    def load(self, rate: int, seconds: float) -> Load:
        """Sends readings at this rate for so long, and waits until all are written."""
        before, cpu_before_s = self._look(), self._process.cpu_s()
        begun_epoch_us = time.time_ns() // 1000
        sending = self._send(rate, seconds)
        if sending.wait() != 0:
            raise RuntimeError(f"'{' '.join(map(str, sending.args))}' ended with {sending.returncode}")
        after = self._await_all_written()
        ended_epoch_us = time.time_ns() // 1000
        cpu_us = 1e6 * (self._process.cpu_s() - cpu_before_s)

        def gain(name: str, labels: str = "") -> int:
            return read_metric.total(after, name, labels) - read_metric.total(before, name, labels)
        counts_before = dict(_buckets(before))
        return Load(rate, cpu_us / gain(WRITTEN), gain("tidemark_hbase_rows_written_total") / gain("tidemark_hbase_calls_total", 'outcome="ok"'),
                    [(bound_s, count - counts_before[bound_s]) for bound_s, count in _buckets(after)],
                    begun_epoch_us, ended_epoch_us)

    def written_per_s(self, rate: int, seconds: float) -> float:
        """What is written in a second while readings are sent at this rate, or as fast as it goes; all is written afterwards."""
        looks: list[tuple[float, int]] = []
        n_before = self._n_sent
        sending = self._send(rate, seconds)
        end_s = time.monotonic() + seconds
        while sending.poll() is None and time.monotonic() < end_s:
            written = read_metric.total(self._look(), WRITTEN)
            if written > n_before:
                looks.append((time.monotonic(), written))
            time.sleep(LOOK_INTERVAL_S)
        sending.terminate()
        sending.wait()
        self._n_sent = sum(self._bench.kafka().admin.latest_offsets(self.topic).values())
        self._await_all_written()
        (first_s, first), (last_s, last) = looks[0], looks[-1]
        return (last - first) / (last_s - first_s)

    def _send(self, rate: int, seconds: float) -> subprocess.Popen[bytes]:
        n = max(int(rate * seconds), 1)
        sending = send(self._bench, self.topic, n, rate, self._stream, self._n_sent)
        self._n_sent += n
        return sending

    def _await_all_written(self) -> Samples:
        return self._await(lambda samples: read_metric.total(samples, WRITTEN) >= self._n_sent)

    def rows_written(self) -> int:
        return read_metric.total(self._look(), "tidemark_hbase_rows_written_total")

    def rss_bytes(self) -> int:
        return self._process.rss_bytes()

    def end(self) -> None:
        self._process.end()
        self._bench.kafka().admin.delete_topic(self.topic)


@contextmanager
def paced_daemon(bench: Bench, gateway: str, tables: Mapping[str, Any]) -> Iterator[PacedDaemon]:
    """A daemon with a topic of its own, whose partitions it has."""
    daemon = PacedDaemon(bench, [gateway], tables)
    try:
        yield daemon
    finally:
        daemon.end()


def _buckets(samples: Samples) -> list[tuple[float, int]]:
    """Of the latency histogram: (upper bound, messages up to it), cumulative as Prometheus has it."""
    bounds = []
    for series, value in samples:
        if series.startswith(LATENCY):
            bounds.append((float(series.split('le="')[1].split('"')[0].replace("+Inf", "inf")), int(value)))
    return sorted(bounds)


# In the binary protocol the time of all cells of a put, its field 3, or of one cell, field 4: an i64. Values here are decimal
# text, so no value holds this.
CELL_TIME = re.compile(rb"\x0a\x00[\x03\x04](.{8})", re.DOTALL)
CALL_HEAD = struct.Struct("=IIq")
FILE_HEAD_BYTES = 16


def recorded_latencies_ms(calls: Path, load: Load) -> list[float]:
    """Of each time of cells that null-gateway recorded during a load: from it, which must be the record's (cell_time: record), to
    when its call was there. Sorted."""
    latencies: list[float] = []
    content = calls.read_bytes()
    at = FILE_HEAD_BYTES
    while at + CALL_HEAD.size <= len(content):
        n_bytes, _, received_us = CALL_HEAD.unpack_from(content, at)
        at += CALL_HEAD.size
        if load.begun_epoch_us <= received_us <= load.ended_epoch_us:
            latencies += [received_us / 1000 - struct.unpack(">q", time)[0]
                          for time in CELL_TIME.findall(content, at, at + n_bytes)]
        at += n_bytes
    return sorted(latencies)


def percentile(sorted_values: list[float], share: float) -> float:
    return sorted_values[round((len(sorted_values) - 1) * share)]

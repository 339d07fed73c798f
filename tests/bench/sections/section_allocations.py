"""How often the whole daemon allocates memory for a reading, and who asks for it: its own code, or Kafka's client."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path

from bench_report import Report
from bench_setup import Bench
from daemon_run import config_of, null_gateway, tables_config
from measured_process import run_measured

TITLE = "allocations of the whole daemon: real Kafka, a null gateway"

# The difference of two loads: what a start and an end allocate is in both.
SMALL, LARGE = 200_000, 1_200_000

# A line of allocation_tally.c: thread, object, calls.
_LINE = struct.Struct("=16s40sQ")

# Kafka's client, and the libraries that only it calls in this path. Its threads are "rdk:...".
_KAFKA_OBJECTS = ("librdkafka", "libsasl", "libssl", "libcrypto", "libzstd", "liblz4", "libz.so")


def _tally(bench: Bench, topic: str) -> Counter[tuple[str, str]]:
    """Calls of malloc and its kin by thread and library, from the daemon's start until it has read the topic."""
    name = bench.unique("allocations")
    config_path, tally_path = bench.directory / f"{name}.yaml", bench.directory / f"{name}.tally"
    with null_gateway(bench) as gateway:
        config_path.write_text(json.dumps(config_of(bench, topic, [gateway.address], tables_config())) + "\n",
                               encoding="utf-8")
        run_measured(["env", f"TIDEMARK_TALLY={tally_path}", f"LD_PRELOAD={bench.tool('liballocation-tally.so')}",
                      bench.tidemark, "run", "--until-end", "--config", config_path], bench.log(name))
    return _read(tally_path)


def _read(path: Path) -> Counter[tuple[str, str]]:
    tally: Counter[tuple[str, str]] = Counter()
    for thread, library, calls in _LINE.iter_unpack(path.read_bytes()):
        if thread[0] != 0:
            tally[_text(thread), _text(library)] += calls
    return tally


def _text(padded: bytes) -> str:
    return padded.partition(b"\0")[0].decode()


def _is_of_kafka(thread: str, library: str) -> bool:
    return thread.startswith("rdk:") or library.startswith(_KAFKA_OBJECTS)


def run(bench: Bench, report: Report) -> None:
    scale = 10 if bench.quick else 1
    small, large = (bench.topic(metrics=10, readings=readings // scale) for readings in (SMALL, LARGE))
    added = (LARGE - SMALL) / scale
    ours: list[float] = []
    kafka: list[float] = []
    by_line: Counter[tuple[str, str]] = Counter()
    for _ in range(bench.runs):
        by_line = _tally(bench, large)
        by_line.subtract(_tally(bench, small))
        ours.append(sum(calls for line, calls in by_line.items() if not _is_of_kafka(*line)) / added)
        kafka.append(sum(calls for line, calls in by_line.items() if _is_of_kafka(*line)) / added)
    report.table(f"Calls of malloc, calloc and realloc by {added:,.0f} more readings of 10 metrics, both tables; the last run",
                 ["thread", "library", "calls", "per 1,000 readings"],
                 [[thread, library, calls, calls * 1000 / added] for (thread, library), calls in by_line.most_common()
                  if calls != 0])
    # Some for each call to a gateway, each fetch and each second are no allocations of a reading.
    report.ratio("allocations per reading by tidemark itself", ours, at_most=0.01, digits=4)
    report.ratio("allocations per reading by Kafka's client", kafka)

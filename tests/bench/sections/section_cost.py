"""What a reading costs the whole machine: client, gateway, HBase and Kafka, for the same tables, with the settings that they come
with and with those that docs/benchmarks.md recommends."""

from __future__ import annotations

import dataclasses
import statistics
from contextlib import ExitStack
from typing import Any, Mapping, Sequence

from bench_report import Report, spread
from bench_setup import Bench
from section_end_to_end import KINDS, Run, all_turns, contenders_of, paired

TITLE = "CPU of the whole machine per reading: tidemark, a Java program and Flink SQL, on one stack with the same settings"

# docs/benchmarks.md, "Gateway and HBase settings": HBase's are for all contenders, the gateway's for those that use one.
RECOMMENDED_HBASE = {"hbase.hregion.compacting.memstore.type": "BASIC"}
RECOMMENDED_HBASE_JVM = ("-XX:+UseParallelGC",)
RECOMMENDED_GATEWAY: Mapping[str, Any] = {"jvm_flags": ["-XX:+UseParallelGC", "-Xmx1g"]}

NAMES = ("tidemark", "tidemark packed", "java", "flink")

# Those of the whole machine that tidemark may have: of whose, and how much.
ASKED = (("tidemark", "java", 0.5), ("tidemark", "flink", 0.6), ("tidemark packed", "java", 0.18))


def run(bench: Bench, report: Report) -> None:
    recommended = dataclasses.replace(bench, directory=bench.directory / "recommended", hbase_settings=RECOMMENDED_HBASE,
                                      hbase_jvm_flags=RECOMMENDED_HBASE_JVM, _stack=None, _topics={})
    recommended.directory.mkdir(parents=True, exist_ok=True)
    _measure(bench, report, "default", {})
    bench.stop()
    try:
        _measure(recommended, report, "recommended", RECOMMENDED_GATEWAY)
    finally:
        recommended.stop()


def _measure(bench: Bench, report: Report, settings: str, gateway: Mapping[str, Any]) -> None:
    with ExitStack() as cleanup:
        contenders = contenders_of(bench, cleanup, NAMES, gateway)
        turns = all_turns(bench, contenders)
    runs: dict[str, list[Run]] = {name: [turn[name] for turn in turns] for name in NAMES}
    rows: list[Sequence[object]] = []
    for name, done in runs.items():
        rows.append([name, spread([one.machine_us_per_reading for one in done], 1),
                     statistics.median(one.cpu_us_per_reading for one in done),
                     *(statistics.median(one.service_us_per_reading(kind) for one in done) for kind in KINDS)])
    report.table(f"{settings.capitalize()} settings, CPU us per reading", ["contender", "whole machine", "client", *KINDS], rows)
    for name, beside, at_most in ASKED:
        report.ratio(f"whole machine's CPU, {settings} settings, {name} / {beside}",
                     paired(runs, name, beside, "machine_us_per_reading"), at_most=at_most)

"""The stages of a reading's path alone, on one thread, without Kafka and gateway: time, and allocations."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from bench_report import Report
from bench_setup import Bench

TITLE = "the stages of a reading's path, each alone: nanoseconds and allocations"

READINGS = 50_000
STAGES = ["decode", "map", "key", "append", "encode", "seal", "ack", "all"]


def run(bench: Bench, report: Report) -> None:
    readings = READINGS // (10 if bench.quick else 1)
    done = bench.turns.run(lambda: subprocess.run([str(bench.tool("bench-stages")), str(readings), str(bench.runs)],
                                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True))
    rows: list[list[object]] = []
    allocations: list[float] = []
    for shape in map(json.loads, done.stdout.splitlines()):
        stages: dict[str, dict[str, Any]] = {stage["stage"]: stage for stage in shape["stages"]}
        rows.append([f"{shape['name']}, {shape['bytes_per_message']:.0f} bytes",
                     *(round(stages[name]["ns_per_reading"]) for name in STAGES),
                     f"{stages['all']['min_ns']:,.0f}..{stages['all']['max_ns']:,.0f}"])
        allocations.append(max(stage["allocations_per_reading"] for stage in shape["stages"]))
    report.table(f"Nanoseconds of CPU for a reading, medians of {bench.runs} runs (key is part of map, encode of append)",
                 ["tables and readings", *STAGES, "all, min..max"], rows)
    report.ratio("allocations per reading in the path's stages, each shape", allocations, at_most=0)

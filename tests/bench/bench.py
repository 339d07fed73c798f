#!/usr/bin/env python3
"""Measures tidemark, its lower bounds and its peers on one machine in one run.

    bench.py --build BUILD_DIRECTORY [--only SECTION]... [--runs N] [--quick] [--json FILE]

Each section is a module sections/section_NAME.py. Figures of machines differ and so do those of one machine from hour
to hour: so what is compared runs in turns, and what counts is the ratio within a turn; given are the median of all turns and
the least and the greatest. A turn in which other processes had more than a little of the machine is run again.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "sections"), str(HERE.parent / "integration"), str(HERE.parent / "stack")]
from bench_report import Report, machine_facts  # noqa: E402
from bench_setup import Bench  # noqa: E402
from machine_load import Turns  # noqa: E402

# In the order in which they run: the short ones first.
SECTIONS = ["micro", "allocations", "client", "start", "growth", "fleet", "gateway", "read", "memory", "load", "backfill", "latency", "end_to_end",
            "cost", "tuning", "backlog", "links"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="a build of the project, best with --buildtype=release")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="only this section; may be given several times")
    parser.add_argument("--runs", type=int, help="turns of each comparison, after those that warm up (5; 1 with --quick)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the load: shows that it works, measures little")
    parser.add_argument("--json", type=Path, help="where all figures go, each run's")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="a directory for logs and data, kept afterwards")
    arguments = parser.parse_args()
    directory = arguments.keep or Path(tempfile.mkdtemp(prefix="tidemark-bench-"))
    directory.mkdir(parents=True, exist_ok=True)
    runs = arguments.runs or (1 if arguments.quick else 5)
    bench = Bench(arguments.build.absolute(), directory.absolute(), runs, arguments.quick)
    report = Report(machine_facts(bench.tidemark))
    report.print_facts()
    try:
        for name in arguments.only or SECTIONS:
            section = importlib.import_module(f"section_{name}")
            started = time.monotonic()
            report.begin_section(name, section.TITLE)
            bench.turns = Turns(max_repeats=0) if arguments.quick else Turns()
            section.run(bench, report)
            report.end_section(bench.turns, time.monotonic() - started)
    finally:
        bench.stop()
    report.print_ratios()
    if arguments.json:
        report.write(arguments.json)
    if arguments.keep is None:
        shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())

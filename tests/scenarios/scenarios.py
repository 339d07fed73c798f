#!/usr/bin/env python3
"""Random whole-pipeline scenarios: the real daemon between a mock Kafka and a scripted gateway, judged from outside.

    scenarios.py --build BUILD [--seed N] [--count N] [--seconds N] [--jobs N] [--size N] [--counts FILE] [--keep-going]
    scenarios.py --build BUILD --replay FILE
    scenarios.py --events [--seed N] [--count N]
"""
from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from batch import NOT_JUDGED, Batch, Problem, Programs  # noqa: E402
from generate import batch_of  # noqa: E402
from outside import kind_of  # noqa: E402
from shrink import Shrinker  # noqa: E402


BATCH_S = 15.0  # what most take; half of it is the group's join and hbase.uncertain_timeout


def programs_of(build: Path, tidemark: Path | None) -> Programs:
    shifted = tidemark or build / "tests/fault/tidemark-shifted-clock"  # not there under ThreadSanitizer
    return Programs(tidemark or build / "daemon/tidemark", build / "tests/fault/mock-kafka",
                    build / "tests/fault/scripted-gateway", shifted if shifted.exists() else None)


def run_batch(batch: dict[str, Any], programs: Programs, keep: bool = False) -> list[Problem]:
    directory = Path(tempfile.mkdtemp(prefix="tidemark-scenarios-"))
    try:
        return Batch(batch, programs, directory).run()
    finally:
        if keep:
            print(f"kept: {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)


class Session:
    """Batches side by side until the time is over or enough have run."""

    def __init__(self, arguments: argparse.Namespace, programs: Programs) -> None:
        self.arguments, self.programs = arguments, programs
        self.started = time.monotonic()
        self.lock = threading.Lock()
        self.next_seed = arguments.seed
        self.n_run = self.n_not_judged = 0
        self.failed: list[tuple[dict[str, Any], list[Problem]]] = []

    def take(self) -> int | None:
        with self.lock:
            begun = (self.next_seed - self.arguments.seed) * self.arguments.size
            late = time.monotonic() - self.started > max(self.arguments.seconds - BATCH_S, 0.1)
            if late or begun >= self.arguments.count or self.failed and not self.arguments.keep_going:
                return None
            self.next_seed += 1
            return self.next_seed - 1

    def work(self) -> None:
        while (seed := self.take()) is not None:
            batch = batch_of(seed, self.arguments.size)
            started = time.monotonic()
            problems = run_batch(batch, self.programs)
            with self.lock:
                self.n_run += self.arguments.size
                if problems and all(problem.kind == NOT_JUDGED for problem in problems):
                    self.n_not_judged += self.arguments.size
                    print(f"seed {seed}: not judged: {problems[0].text}")
                elif problems:
                    self.failed.append((batch, problems))
                    print(f"seed {seed}: {len(problems)} problems after {time.monotonic() - started:.1f} s, "
                          f"{self.n_run} scenarios and {time.monotonic() - self.started:.0f} s since the start")
                    for problem in problems[:6]:
                        print(f"   {str(problem)[:600]}")
                elif self.arguments.verbose:
                    print(f"seed {seed}: {time.monotonic() - started:.1f} s, events {[e['do'] for e in batch['events']]}")
                sys.stdout.flush()

    def run(self) -> int:
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
            for future in [pool.submit(self.work) for _ in range(self.arguments.jobs)]:
                future.result()
        took = time.monotonic() - self.started
        failed = sum(len({problem.scenario for problem in problems}) for _, problems in self.failed)
        print(f"{self.n_run} scenarios from seed {self.arguments.seed} in {took:.1f} s "
              f"({self.n_run / max(took, 0.1):.1f} a second), {failed} failed, {self.n_not_judged} not judged")
        if self.arguments.counts:
            passed = max(self.n_run - self.n_not_judged - failed, 0)
            self.arguments.counts.write_text(f"{passed} {failed} {self.n_not_judged}\n")
        return failed


def replay(arguments: argparse.Namespace, programs: Programs) -> int:
    problems = run_batch(json.loads(arguments.replay.read_text()), programs, keep=True)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


def print_events(seed: int, n_batches: int, size: int) -> None:
    """How often the batches of @n_batches seeds draw what."""
    drawn: collections.Counter[str] = collections.Counter()
    for batch in (batch_of(seed + index, size) for index in range(n_batches)):
        for event in batch["events"]:
            drawn[f"event {event['do']}" + (f" {event['request']} {event['code']}" if event["do"] == "errors" else "")] += 1
        drawn.update(f"batch: {name}" for name in ("before", "remembered", "clocks_s", "brokers") if batch.get(name))
        for scenario in batch["scenarios"]:
            drawn.update(f"offset: {kind_of(one)}" for one in scenario.get("offsets", []))
    for name, count in sorted(drawn.items()):
        print(f"{count:5} {name}")


def main() -> int:
    parser = argparse.ArgumentParser(description="random scenarios through the daemon, judged from outside")
    parser.add_argument("--build", type=Path, help="a build directory")
    parser.add_argument("--events", action="store_true", help="run nothing: count what --count scenarios draw")
    parser.add_argument("--tidemark", type=Path, help="another daemon than the build's")
    parser.add_argument("--seed", type=int, default=None, help="of the first batch; without it, at random")
    parser.add_argument("--count", type=int, default=10**9, help="scenarios at the most")
    parser.add_argument("--seconds", type=float, default=10**9, help="in all; a batch that has begun comes to its end")
    parser.add_argument("--size", type=int, default=25, help="scenarios in a batch")
    parser.add_argument("--jobs", type=int, default=6, help="batches side by side")
    parser.add_argument("--keep-going", action="store_true", help="after a failure, too; nothing is shrunk")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--counts", type=Path, help="a file for: passed failed skipped")
    parser.add_argument("--found", type=Path, default=Path("."), help="where the shrunk scenario is written")
    parser.add_argument("--replay", type=Path, help="run this batch, as a failure wrote it")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    if arguments.events:
        print_events(arguments.seed or 1, min(arguments.count, 7500) // arguments.size, arguments.size)
        return 0
    if arguments.build is None:
        parser.error("--build is needed to run any")
    programs = programs_of(arguments.build.resolve(), arguments.tidemark)
    if arguments.replay:
        return replay(arguments, programs)
    if arguments.count == 10**9 and arguments.seconds == 10**9:
        arguments.seconds = 30.0
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(1, 10**6) * 1000
    print(f"seed {arguments.seed}, {arguments.size} scenarios a batch, {arguments.jobs} batches side by side", flush=True)
    session = Session(arguments, programs)
    failed = session.run()
    if session.failed and not arguments.keep_going and not arguments.no_shrink:
        batch, problems = session.failed[0]
        shrinker = Shrinker(lambda one: run_batch(one, programs))
        small, why = shrinker.shrink(batch, problems)
        path = arguments.found / f"scenario-{batch['seed']}.json"
        path.write_text(json.dumps(small, indent=1, ensure_ascii=False) + "\n")
        print(f"shrunk to {path} ({shrinker.n_runs} runs); run it again with --replay {path}:")
        print(json.dumps(small, ensure_ascii=False))
        for problem in why[:5]:
            print(problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Breaks something of a real Kafka, HBase and three daemons every three seconds, then proves that nothing is lost and nothing wrong.

    chaos.py --tidemark build/daemon/tidemark [--readings 1000000] [--duration 600] [--seed 1] [--poison 3%]

Readings are sent at a steady rate for the whole duration. What breaks follows from the seed, which is printed. The tables are
judged cell by cell by HBase's own client against what was sent (judge.py), dead letters likewise by kcat.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Mapping

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "integration"), str(HERE.parent / "stack")]
from daemon import configuration, metric_tables, wait_until  # noqa: E402
from faults import Conductor, Scene  # noqa: E402
from fleet import RSS_ALLOWANCE_KIB, Fleet, books_difference  # noqa: E402
from judge import judge_history, judge_latest, judge_letters, topic_differences  # noqa: E402
from jvm_process import StackError  # noqa: E402
from maven_jars import JarError  # noqa: E402
from stack import Stack  # noqa: E402
from stack_services import TWO_REGION_SERVERS, free_port  # noqa: E402
from workload import Feeder, Workload, host_name  # noqa: E402

TOPIC, LETTERS, GROUP = "chaos", "chaos-letters", "chaos"
HISTORY, LATEST = "METRIC", "CURRENT_METRIC"

N_PARTITIONS = 12
N_HOSTS = 240
N_REGIONS = 6

BUDGET_MIB = 64

START_DEADLINE_S = 120
FEED_DEADLINE_S = 180
DRAIN_DEADLINE_S = 300

# HBase refuses a cell above this, tidemark and the gateways' client do not: a row that only its writing shows to be poison.
REFUSED_BYTES = 8 << 10

# In the gateway a call lives for 12 s: an abandoned one has landed or failed when tidemark's settle time is over.
GATEWAY_SETTINGS = {
    "hbase.client.operation.timeout": "12000",
    "hbase.rpc.timeout": "10000",
}


@dataclass
class Check:
    """One thing that must hold; `text` says how it is, or what is wrong."""

    name: str
    holds: bool
    text: str


@dataclass
class Result:
    checks: list[Check] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    def check(self, name: str, holds: bool, text: str) -> None:
        self.checks.append(Check(name, holds, text))
        print(f"{'ok' if holds else 'FAILED':<7} {name:<22} {text}", flush=True)

    @property
    def n_failed(self) -> int:
        return sum(not check.holds for check in self.checks)


class Run:
    """One run on a stack that is up."""

    def __init__(self, stack: Stack, options: argparse.Namespace, directory: Path, result: Result) -> None:
        self.stack = stack
        self.options = options
        self.directory = directory
        self.result = result
        self.workload = Workload(n_readings=options.readings, n_hosts=N_HOSTS, n_partitions=N_PARTITIONS, seed=options.seed,
                                 poison_share=options.poison, refused_bytes=REFUSED_BYTES + 1024)
        self.messages_per_s = options.readings * (1 + options.poison) / options.duration
        self.fleet = Fleet(options.tidemark, directory, self._config, options.daemons, self.messages_per_s, stack.kafka.admin)
        self.scene = Scene(stack, self.fleet, (HISTORY, LATEST), N_HOSTS, lambda host: host_name(host).encode())

    def run(self) -> None:
        try:
            self._prepare()
            self._break_things()
            self._drain()
            self._judge()
        finally:
            self.scene.close()
            self.fleet.kill()

    def _config(self, _: int) -> Mapping[str, Any]:
        bad_messages: dict[str, Any] = {"readings": {"on_bad_message": "stop"}}
        if self.options.poison > 0:
            bad_messages = {"readings": {"on_bad_message": "dead_letter"}, "dead_letters": {"topic": LETTERS}}
        return configuration(
            brokers=self.stack.kafka.address, group=GROUP, topic=TOPIC,
            gateways=[gateway.address for gateway in self.stack.gateways], tables=metric_tables(HISTORY, LATEST),
            changes={
                "hbase": {"call_timeout": "5s", "settle": "20s", "region_refresh": "5s"},
                "limits": {"memory": f"{BUDGET_MIB}MiB"},
                "service": {"http": f"127.0.0.1:{free_port()}"},
                **bad_messages,
            })

    def _prepare(self) -> None:
        admin = self.stack.kafka.admin
        admin.create_topic(TOPIC, N_PARTITIONS)
        admin.create_topic(LETTERS, 3)
        splits = tuple(host_name(N_HOSTS * region // N_REGIONS).encode() for region in range(1, N_REGIONS))
        self.stack.oracle.create(HISTORY, "M", splits)
        self.stack.oracle.create(LATEST, "M")
        self.fleet.start(START_DEADLINE_S)

    def _break_things(self) -> None:
        options = self.options
        feeder = Feeder(self.workload, self.stack.kafka.address, TOPIC, self.messages_per_s,
                        self.directory / "kcat.log")
        conductor = Conductor(self.scene, options.seed, lambda line: print(line, flush=True))
        print(f"seed {options.seed}: {options.readings:,} readings in {options.duration} s, about "
              f"{self.messages_per_s:,.0f} messages a second; a fault every 3 s", flush=True)
        try:
            feeder.start()
            conductor.run(options.duration)
            feeder.finish(FEED_DEADLINE_S)
        except BaseException:
            feeder.kill()
            raise
        self._tell_faults(conductor)
        complaints = conductor.complaints + self.scene.complaints
        self.result.check("faults are mended", not complaints, "\n".join(complaints) or f"{len(conductor.faults)} faults")
        self.result.figures["faults"] = [asdict(fault) for fault in conductor.faults]

    def _tell_faults(self, conductor: Conductor) -> None:
        took_of_kind: dict[str, list[float]] = {}
        for fault in conductor.faults:
            took_of_kind.setdefault(fault.kind, []).append((fault.recovered_s or 0) - fault.started_s)
        print(f"\n{'fault':<16} {'times':>5} {'median':>9} {'longest':>9}   until mended")
        for kind, took_s in sorted(took_of_kind.items()):
            print(f"{kind:<16} {len(took_s):>5} {statistics.median(took_s):>7.1f} s {max(took_s):>7.1f} s")
        print()

    def _drain(self) -> None:
        """All daemons run until everything is committed, then stop cleanly."""
        admin = self.stack.kafka.admin
        started = time.monotonic()
        ends = admin.latest_offsets(TOPIC)
        n_in_topic = sum(ends.values())
        self.result.check("all was sent", n_in_topic == self.workload.n_messages,
                          f"{n_in_topic:,} messages in the topic, {self.workload.n_messages:,} sent")
        lagging: dict[int, int] = {}

        def is_drained() -> bool:
            committed = admin.committed_offsets(GROUP, TOPIC)
            lagging.clear()
            lagging.update({place: end - committed.get(place, 0) for place, end in ends.items() if end != committed.get(place, 0)})
            return not lagging
        try:
            wait_until(is_drained, "", DRAIN_DEADLINE_S)
        except AssertionError:
            logs = "\n".join(member.daemon.log_tail() for member in self.fleet.members)
            self.result.check("all is committed", False, f"after {DRAIN_DEADLINE_S} s these partitions lag: {lagging}\n{logs}")
        else:
            self.result.check("all is committed", True, f"{time.monotonic() - started:.1f} s after the last fault was mended")
        self._stop_daemons()

    def _stop_daemons(self) -> None:
        codes = self.fleet.stop(START_DEADLINE_S)
        lives = self.fleet.lives
        self.result.check("daemons end cleanly", codes == [0] * len(codes), f"exit codes {codes}")
        left = [books_difference(member.life.totals) or member.life.totals.get("tidemark_messages_in_flight", 0)
                for member in self.fleet.members]
        complaints = self.fleet.complaints + ([f"at the end they differ by {left}"] if any(left) else [])
        self.result.check("books balance", not complaints, "\n".join(complaints) or f"of {len(lives)} processes")
        peak_kib = max(life.peak_rss_kib for life in lives)
        allowed_kib = (BUDGET_MIB << 10) + RSS_ALLOWANCE_KIB
        self.result.check("memory is bounded", 0 < peak_kib <= allowed_kib,
                          f"peak {peak_kib / 1024:.1f} MiB of {allowed_kib // 1024} MiB")
        self._tell_repeated_work()

    def _tell_repeated_work(self) -> None:
        """What the last look at each process saw: what it did in its last second before a kill is not in it."""
        received, handed_back, rows = (self.fleet.total(f"tidemark_{name}_total") for name in (
            "messages_received", "messages_handed_back", "hbase_rows_written"))
        sent = self.workload.n_messages
        figures = {"messages_sent": sent, "messages_received": received, "messages_handed_back": handed_back,
                   "rows_written": rows, "processes": len(self.fleet.lives), "daemons": [asdict(life) for life in self.fleet.lives]}
        self.result.figures.update(figures)
        print(f"        repeated work: {received:,} messages received for {sent:,} sent ({received / sent:.3f}), {handed_back:,} handed "
              f"back; {rows:,} rows written for {self._n_history_rows():,} of {HISTORY}", flush=True)

    def _n_history_rows(self) -> int:
        return sum(len(slots) for slots in self.workload.truth.history.values())

    def _judge(self) -> None:
        brokers, log_path = self.stack.kafka.address, self.directory / "kcat.log"
        differences = topic_differences(self.workload, brokers, TOPIC, log_path)
        self.result.check("topic is as sent", not differences, "; ".join(differences) or f"{self.workload.n_messages:,} messages, "
                          f"{self.workload.n_repeated:,} of them repeated, {self.workload.n_conflicting:,} of equal time")
        for name, judge, table in (("history is right", judge_history, HISTORY), ("latest is right", judge_latest, LATEST)):
            verdict = judge(self.stack.oracle, self.workload, table)
            comparison = verdict.comparison
            comparison.report(table)
            self.result.check(name, not any(comparison.counts.values()), f"{comparison.counts}; the earlier of equal times in "
                              f"{verdict.n_earlier_of_equal_times} cells")
            self.result.figures[table] = {"rows": comparison.n_rows, "cells": comparison.n_cells, **comparison.counts,
                                          "earlier_of_equal_times": verdict.n_earlier_of_equal_times}
        if self.options.poison > 0:
            letters = judge_letters(self.workload, brokers, LETTERS, log_path)
            self.result.check("letters are right", letters.is_right, "\n".join(
                [f"{letters.n_letters:,} letters of {len(self.workload.guilty):,} guilty messages: missing {letters.n_missing}, innocent "
                 f"{letters.n_innocent}, altered {letters.n_altered}; {letters.n_repeated} repeated", *letters.samples[:10]]))
            self.result.figures["letters"] = asdict(letters)


def share(text: str) -> float:
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tidemark", required=True, type=lambda text: Path(text).absolute(), help="the binary to test")
    parser.add_argument("--readings", type=int, default=1_000_000, help="how many (default: 1000000)")
    parser.add_argument("--duration", type=float, default=600, help="for how many seconds faults happen (default: 600)")
    parser.add_argument("--seed", type=int, default=1, help="what follows from it: readings and faults (default: 1)")
    parser.add_argument("--poison", type=share, default=0.0, help="share of messages that can never be written, such as 3%%")
    parser.add_argument("--daemons", type=int, default=3)
    parser.add_argument("--gateways", type=int, default=3)
    parser.add_argument("--counts", type=Path, help="file that gets 'passed failed skipped'")
    parser.add_argument("--summary", type=Path, help="file that gets all figures, in JSON")
    return parser.parse_args()


def main() -> int:
    options = parse()
    # Both ways of ending early leave nothing running behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    directory = Path(tempfile.mkdtemp(prefix="tidemark-chaos-"))
    result = Result()
    started = time.monotonic()
    hbase_settings = dict(TWO_REGION_SERVERS)
    if options.poison > 0:
        hbase_settings["hbase.server.keyvalue.maxsize"] = str(REFUSED_BYTES)
    try:
        with Stack(directory / "stack", gateways=options.gateways, hbase_settings=hbase_settings,
                   gateway_settings=GATEWAY_SETTINGS) as stack:
            print(f"stack is up after {time.monotonic() - started:.1f} s", flush=True)
            Run(stack, options, directory, result).run()
    except (AssertionError, StackError, JarError, OSError) as error:
        result.check("the run", False, str(error))
    except KeyboardInterrupt:
        shutil.rmtree(directory, ignore_errors=True)
        print("interrupted")
        return 1
    result.figures["seconds"] = round(time.monotonic() - started, 1)
    print(f"{len(result.checks) - result.n_failed} of {len(result.checks)} hold, after {result.figures['seconds']} s")
    if options.counts is not None:
        options.counts.write_text(f"{len(result.checks) - result.n_failed} {result.n_failed} 0\n", encoding="ascii")
    if options.summary is not None:
        checks = [asdict(check) for check in result.checks]
        settings = {name: str(value) for name, value in vars(options).items()}
        options.summary.write_text(json.dumps({"options": settings, "checks": checks, **result.figures}, indent=1) + "\n",
                                   encoding="utf-8")
    if result.n_failed:
        print(f"\nthe logs are in {directory}")
        return 1
    shutil.rmtree(directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

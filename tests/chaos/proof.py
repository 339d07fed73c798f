"""What the runs with faults have in common: a topic, tables and daemons on a stack of their own, and what must hold at the end."""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import signal
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Protocol, Sequence

from daemon import configuration, merged, metric_tables
from fleet import RSS_ALLOWANCE_KIB, Fleet, accounting_difference
from judge import judge_dead_letters, judge_history, judge_latest, topic_differences
from jvm_process import StackError
from links import LINKS, Link, open_link, plain_gateways
from maven_jars import JarError
from stack import Stack
from stack_services import free_port
from workload import Feeder, Workload, host_name

TOPIC, DEAD_LETTERS, GROUP = "chaos", "chaos-dead-letters", "chaos"
HISTORY, LATEST = "METRIC", "CURRENT_METRIC"

N_PARTITIONS = 12
N_HOSTS = 240
N_REGIONS = 6

BUDGET_MIB = 64

START_DEADLINE_S = 120
FEED_DEADLINE_S = 180
DRAIN_DEADLINE_S = 180
LAG_INTERVAL_S = 1.0
DRAIN_BOUND_S = 1800  # for all of it, however slow the machine is

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


class Happening(Protocol):
    """One run on a stack that is up, as `run` below starts it."""

    def run(self) -> None: ...


class Proof:
    """One run on a stack that is up. What happens between start and drain is `happen`, of each kind of run."""

    def __init__(self, stack: Stack, link: Link, directory: Path, result: Result, workload: Workload, *, tidemark: Path,
                 n_daemons: int, messages_per_s: float, changes: Mapping[str, Any], has_dead_letters: bool = False) -> None:
        """`changes`: to the daemons' configuration."""
        self.stack = stack
        self.link = link
        self.directory = directory
        self.result = result
        self.workload = workload
        self.messages_per_s = messages_per_s
        self.has_dead_letters = has_dead_letters
        self._changes = changes
        self.fleet = Fleet(tidemark, directory, self._config, n_daemons, messages_per_s, stack.kafka.admin)

    def run(self) -> None:
        try:
            self._prepare()
            self.happen()
            self._drain()
            self._stop_daemons()
            self._judge()
        finally:
            self.close()
            self.fleet.kill()

    def happen(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Wakes whatever is suspended."""
        self.stack.hbase.resume()
        self.stack.kafka.resume()
        for proxy in self.link.proxies:
            proxy.resume()

    def feeder(self) -> Feeder:
        return Feeder(self.workload, self.stack.kafka.address, TOPIC, self.messages_per_s, self.directory / "kcat.log")

    def lag(self) -> dict[int, int]:
        """For each partition that is not committed to its end, how much is missing."""
        admin = self.stack.kafka.admin
        committed = admin.committed_offsets(GROUP, TOPIC)
        return {place: end - committed.get(place, 0) for place, end in admin.latest_offsets(TOPIC).items()
                if end != committed.get(place, 0)}

    def _config(self, _: int) -> Mapping[str, Any]:
        base = configuration(
            brokers=self.stack.kafka.address, group=GROUP, topic=TOPIC,
            gateways=self.link.addresses, tables=metric_tables(HISTORY, LATEST),
            changes={
                # The daemons have state directories, for what is paused; a name there would keep a killed one in the group.
                "kafka": {"instance": "none"},
                "hbase": {"call_timeout": "5s", "uncertain_timeout": "20s", "region_refresh": "5s"},
                "readings": {"on_bad_message": "dead_letter" if self.has_dead_letters else "stop"},
                "limits": {"memory": f"{BUDGET_MIB}MiB"},
                "service": {"http": f"127.0.0.1:{free_port()}"},
            })
        changes = {**self._changes, **({"dead_letters": {"topic": DEAD_LETTERS}} if self.has_dead_letters else {})}
        return merged(merged(base, self.link.changes), changes)

    def _prepare(self) -> None:
        admin = self.stack.kafka.admin
        admin.create_topic(TOPIC, N_PARTITIONS)
        if self.has_dead_letters:
            admin.create_topic(DEAD_LETTERS, 3)
        splits = tuple(host_name(N_HOSTS * region // N_REGIONS).encode() for region in range(1, N_REGIONS))
        self.stack.oracle.create(HISTORY, "M", splits)
        self.stack.oracle.create(LATEST, "M")
        self.fleet.start(START_DEADLINE_S)

    def _drain(self) -> None:
        """All daemons run until everything is committed."""
        started = time.monotonic()
        n_in_topic = sum(self.stack.kafka.admin.latest_offsets(TOPIC).values())
        self.result.check("all was sent", n_in_topic == self.workload.n_messages,
                          f"{n_in_topic:,} messages in the topic, {self.workload.n_messages:,} sent")
        least, moved = n_in_topic, started
        wait = threading.Event().wait
        while (lag := sum(self.lag().values())) > 0:
            now = time.monotonic()
            if lag < least:
                least, moved = lag, now
            if now - moved > DRAIN_DEADLINE_S or now - started > DRAIN_BOUND_S:
                logs = "\n".join(member.daemon.log_tail() for member in self.fleet.members)
                self.result.check("all is committed", False, f"after {now - started:.0f} s, {now - moved:.0f} of them without progress, "
                                  f"these partitions lag: {self.lag()}\n{logs}")
                return
            wait(LAG_INTERVAL_S)
        self.result.check("all is committed", True, f"{time.monotonic() - started:.1f} s after all was sent and repaired")

    def _stop_daemons(self) -> None:
        codes = self.fleet.stop(START_DEADLINE_S)
        lives = self.fleet.lives
        self.result.check("daemons end cleanly", not any(codes), f"exit codes {codes}")
        left = [accounting_difference(member.life.totals) or member.life.totals.get("tidemark_messages_in_flight", 0)
                for member in self.fleet.members]
        complaints = self.fleet.complaints + ([f"at the end they differ by {left}"] if any(left) else [])
        self.result.check("accounting balances", not complaints, "\n".join(complaints) or f"of {len(lives)} processes")
        peak_kib = max(life.peak_rss_kib for life in lives)
        allowed_kib = (BUDGET_MIB << 10) + RSS_ALLOWANCE_KIB
        self.result.figures["peak_rss_kib"] = peak_kib
        if not self.fleet.has_sanitizer:
            self.result.check("memory is bounded", 0 < peak_kib <= allowed_kib,
                              f"peak {peak_kib / 1024:.1f} MiB of {allowed_kib // 1024} MiB")
        self._tell_repeated_work()

    def _tell_repeated_work(self) -> None:
        """What the last look at each process saw: what it did in its last second before a kill is not in it."""
        received, handed_back, rows = (self.fleet.total(f"tidemark_{name}_total") for name in (
            "messages_received", "messages_handed_back", "hbase_rows_written"))
        sent = self.workload.n_messages
        n_history_rows = sum(len(slots) for slots in self.workload.truth.history.values())
        self.result.figures.update({
            "messages_sent": sent, "messages_received": received, "messages_handed_back": handed_back, "rows_written": rows,
            "processes": len(self.fleet.lives), "daemons": [asdict(life) for life in self.fleet.lives]})
        print(f"        repeated work: {received:,} messages received for {sent:,} sent ({received / sent:.3f}), {handed_back:,} handed "
              f"back; {rows:,} rows written for {n_history_rows:,} of {HISTORY}", flush=True)

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
        if self.has_dead_letters:
            dead_letters = judge_dead_letters(self.workload, brokers, DEAD_LETTERS, log_path)
            self.result.check("dead letters are right", dead_letters.is_right, "\n".join(
                [f"{dead_letters.n_dead_letters:,} dead letters of {len(self.workload.rejected):,} rejected messages: missing "
                 f"{dead_letters.n_missing}, unexpected {dead_letters.n_unexpected}, altered {dead_letters.n_altered}; "
                 f"{dead_letters.n_repeated} repeated", *dead_letters.samples[:10]]))
            self.result.figures["dead_letters"] = asdict(dead_letters)


def write_looks(path: Optional[Path], looks: Sequence[object]) -> None:
    """What was seen, a line each, into the file that was asked for."""
    if path is None:
        return
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, fieldnames=list(vars(looks[0])))
        writer.writeheader()
        writer.writerows(vars(look) for look in looks)


def parser(description: str, *, readings: Optional[int] = None) -> argparse.ArgumentParser:
    """The options of every run."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tidemark", required=True, type=lambda text: Path(text).absolute(), help="the binary to test")
    if readings is not None:
        options.add_argument("--readings", type=int, default=readings, help=f"how many (default: {readings})")
    options.add_argument("--seed", type=int, default=1, help="what follows from it: readings and faults (default: 1)")
    options.add_argument("--gateways", type=int, default=3)
    options.add_argument("--link", choices=LINKS, default="plain", help="between daemons, gateways and broker (default: plain)")
    options.add_argument("--counts", type=Path, help="file that gets 'passed failed skipped'")
    options.add_argument("--summary", type=Path, help="file that gets all figures, in JSON")
    return options


def run(options: argparse.Namespace, make: Callable[[Stack, Link, Path, Result], Happening], *,
        hbase_settings: Optional[Mapping[str, str]] = None, gateway_settings: Optional[Mapping[str, str]] = None) -> int:
    """Starts a stack, lets it happen, writes the files; the exit code."""
    # Both ways of ending early leave nothing running behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    directory = Path(tempfile.mkdtemp(prefix="tidemark-chaos-"))
    result = Result()
    started = time.monotonic()
    try:
        of_gateways = {**GATEWAY_SETTINGS, **(gateway_settings or {})}
        with (Stack(directory / "stack", gateways=plain_gateways(options.link, options.gateways), hbase_settings=hbase_settings,
                    gateway_settings=of_gateways) as stack,
              open_link(options.link, stack, options.gateways, of_gateways) as link):
            print(f"stack is up after {time.monotonic() - started:.1f} s; link: {options.link}", flush=True)
            make(stack, link, directory, result).run()
    except (AssertionError, StackError, JarError, OSError) as error:
        result.check("the run", False, str(error))
    except KeyboardInterrupt:
        shutil.rmtree(directory, ignore_errors=True)
        print("interrupted")
        return 1
    result.figures["seconds"] = round(time.monotonic() - started, 1)
    _report(options, result)
    if result.n_failed:
        print(f"\nthe logs are in {directory}")
        return 1
    shutil.rmtree(directory, ignore_errors=True)
    return 0


def _report(options: argparse.Namespace, result: Result) -> None:
    n_passed = len(result.checks) - result.n_failed
    print(f"{n_passed} of {len(result.checks)} hold, after {result.figures['seconds']} s")
    if options.counts is not None:
        options.counts.write_text(f"{n_passed} {result.n_failed} 0\n", encoding="ascii")
    if options.summary is not None:
        settings = {name: str(value) for name, value in vars(options).items()}
        everything = {"options": settings, "checks": [asdict(check) for check in result.checks], **result.figures}
        options.summary.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")

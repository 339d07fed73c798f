#!/usr/bin/env python3
"""HBase hangs for minutes while readings go on coming: memory stays flat, polling and membership go on, all is caught up with.

    outage.py --tidemark build/daemon/tidemark [--minutes 5] [--rate 3000] [--csv FILE]

One daemon. Every five seconds it is looked at; the table is printed and, in full, written to --csv. If its threads ceased to
poll for 30 s, the group would lose it (kafka.max_poll_interval), and a rebalance would be counted.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "integration"), str(HERE.parent / "stack")]
import proof  # noqa: E402
from fleet import memory_kib, totals_of  # noqa: E402
from links import Link  # noqa: E402
from proof import BUDGET_MIB, DRAIN_DEADLINE_S, FEED_DEADLINE_S, N_HOSTS, N_PARTITIONS, Proof, Result  # noqa: E402
from stack import Stack  # noqa: E402
from workload import Workload  # noqa: E402

LOOK_INTERVAL_S = 5.0

# Readings flow for this long before HBase hangs; what is measured then is a daemon that is warm.
BEFORE_S = 30.0

# Once the budget is full, memory may go on growing by this much: the heap's slack.
GROWTH_ALLOWANCE_KIB = 8 << 10

# Part of the outage after which the budget is full.
FULL_AFTER = 0.4

COLUMNS = ("rss_mib", "budget_used_mib", "paused", "pauses", "rebalances", "lag", "in_flight", "received", "written", "unanswered")


@dataclass(frozen=True)
class Look:
    """The daemon at one moment."""

    at_s: float
    phase: str
    is_healthy: bool
    rss_mib: float
    budget_used_mib: float
    paused: int
    pauses: int
    rebalances: int
    lag: int
    in_flight: int
    received: int
    written: int
    unanswered: int


class Outage(Proof):

    def __init__(self, stack: Stack, link: Link, options: argparse.Namespace, directory: Path, result: Result) -> None:
        self.outage_s = options.minutes * 60
        workload = Workload(n_readings=int((BEFORE_S + self.outage_s) * options.rate), n_hosts=N_HOSTS,
                            n_partitions=N_PARTITIONS, seed=options.seed)
        super().__init__(stack, link, directory, result, workload, tidemark=options.tidemark, n_daemons=1,
                         messages_per_s=options.rate, changes={"kafka": {"session_timeout": "30s", "max_poll_interval": "30s"}})
        self.options = options
        self.looks: list[Look] = []
        self._started = time.monotonic()
        self._wait = threading.Event().wait

    def happen(self) -> None:
        feeder = self.feeder()
        self._started = time.monotonic()
        print(f"{'time':>6} {'phase':<7} {' '.join(f'{name:>15}' for name in COLUMNS)}", flush=True)
        try:
            feeder.start()
            self._look_for(BEFORE_S, "before")
            self.stack.hbase.suspend()
            self._look_for(self.outage_s, "outage")
            self.stack.hbase.resume()
            resumed = time.monotonic()
            feeder.finish(FEED_DEADLINE_S)
            while self._look("after").lag > 0 and time.monotonic() < resumed + DRAIN_DEADLINE_S:
                self._wait(LOOK_INTERVAL_S)
        except BaseException:
            feeder.kill()
            raise
        self._check()
        proof.write_looks(self.options.csv, self.looks)

    def _look_for(self, duration_s: float, phase: str) -> None:
        end = time.monotonic() + duration_s
        while time.monotonic() < end:
            self._look(phase)
            self._wait(min(LOOK_INTERVAL_S, max(0.0, end - time.monotonic())))

    def _look(self, phase: str) -> Look:
        """A daemon that does not answer at once is a finding: its HTTP thread has nothing to wait for."""
        member = self.fleet.members[0]
        samples = member.watch()
        if samples is None or member.daemon.pid is None:
            raise AssertionError(f"the daemon does not answer\n{member.daemon.log_tail()}")
        totals = totals_of(samples)
        unanswered = sum(int(value) for series, value in samples
                         if series.startswith("tidemark_hbase_calls_total") and 'outcome="unknown"' in series)
        look = Look(
            at_s=round(time.monotonic() - self._started, 1), phase=phase, is_healthy=member.daemon.health()[0] == 200,
            rss_mib=round(memory_kib(member.daemon.pid, "VmRSS") / 1024, 1),
            budget_used_mib=round(totals["tidemark_memory_used_bytes"] / (1 << 20), 1), paused=totals["tidemark_kafka_paused"],
            pauses=totals["tidemark_kafka_pauses_total"], rebalances=totals["tidemark_kafka_rebalances_total"],
            lag=sum(self.lag().values()), in_flight=totals["tidemark_messages_in_flight"],
            received=totals["tidemark_messages_received_total"], written=totals["tidemark_messages_written_total"],
            unanswered=unanswered)
        self.looks.append(look)
        print(f"{look.at_s:>6} {phase:<7} {' '.join(f'{getattr(look, name):>15,}' for name in COLUMNS)}", flush=True)
        return look

    def _check(self) -> None:
        check = self.result.check
        before, outage, after = ([look for look in self.looks if look.phase == phase] for phase in ("before", "outage", "after"))
        full = [look for look in outage if look.at_s >= outage[0].at_s + FULL_AFTER * self.outage_s]
        growth_mib = max(look.rss_mib for look in full) - full[0].rss_mib
        check("memory is flat", growth_mib * 1024 <= GROWTH_ALLOWANCE_KIB,
              f"{full[0].rss_mib} MiB when {FULL_AFTER:.0%} of the outage were over, {growth_mib:+.1f} MiB at the most after that")
        used_mib = max(look.budget_used_mib for look in self.looks)
        check("budget is kept", used_mib <= BUDGET_MIB, f"{used_mib} MiB of {BUDGET_MIB} MiB used at the most")
        check("membership is kept", self.looks[-1].rebalances == before[0].rebalances,
              f"{self.looks[-1].rebalances - before[0].rebalances} rebalances since the start of the run")
        check("health is kept", all(look.is_healthy for look in self.looks), f"/healthz at {len(self.looks)} looks")
        caught_up_s = after[-1].at_s - outage[-1].at_s
        speed_per_s = (after[-1].written - outage[-1].written) / max(caught_up_s, 1)
        check("it catches up", after[-1].lag == 0 and speed_per_s > 1.5 * self.messages_per_s,
              f"{after[-1].written - outage[-1].written:,} messages in {caught_up_s:.0f} s, {speed_per_s:,.0f} a second; "
              f"{self.messages_per_s:,.0f} a second came in")
        self.result.figures.update(growth_mib=growth_mib, caught_up_s=caught_up_s, catch_up_messages_per_s=round(speed_per_s),
                                   looks=[vars(look) for look in self.looks])


def main() -> int:
    parser = proof.parser(__doc__ or "")
    parser.add_argument("--minutes", type=float, default=5, help="how long HBase hangs, up to 9 (default: 5)")
    parser.add_argument("--rate", type=float, default=3000, help="messages a second (default: 3000)")
    parser.add_argument("--csv", type=Path, help="file that gets the table")
    options = parser.parse_args()
    return proof.run(options, lambda stack, link, directory, result: Outage(stack, link, options, directory, result))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A daemon runs for an hour, with reconnects and rebalances all the time: its memory and descriptors must not grow.

    soak.py --tidemark build/daemon/tidemark [--minutes 60] [--rate 1000] [--csv FILE] [--abandon]

A second daemon joins the group for half of every minute. Every three minutes a gateway is killed and started again. Every ten
minutes no reading comes for 45 s, and the gateways cut the connections that are idle. Connections have a greatest age, too.
Before all that, HBase stands still for 40 s and then the daemon for 20 s, so that the heap has been as large as any later
hiccup of HBase, or of Kafka's group, makes it.
With --abandon none of these troubles comes, and once a minute a gateway stands still for longer than a call may take: calls
are given up, and land all the same. No committed offset with messages behind it may then stand still for longer than two
settle times.
With a binary that has the address sanitizer, what counts is its verdict on leaks at the end of each process: its exit code.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "integration"), str(HERE.parent / "stack")]
import proof  # noqa: E402
from fleet import memory_kib, n_descriptors, totals_of  # noqa: E402
from links import Link  # noqa: E402
from proof import FEED_DEADLINE_S, GROUP, N_HOSTS, N_PARTITIONS, START_DEADLINE_S, TOPIC, Proof, Result  # noqa: E402
from stack import Stack  # noqa: E402
from workload import Feeder, Workload  # noqa: E402

LOOK_INTERVAL_S = 5.0
TELL_INTERVAL_S = 60.0

GUEST_STAYS_S = 30.0
GUEST_IS_GONE_S = 30.0
GATEWAY_EVERY_S = 180.0
SILENCE_EVERY_S = 600.0
SILENCE_S = 45.0
FIRST_OUTAGE_S = 40.0
FIRST_FREEZE_S = 20.0  # below the session timeout

# Below idle_ping's default of 30 s, so that idle connections are cut before they are tried.
GATEWAY_IDLE_CUT_MS = 20_000

MAX_CONNECTION_AGE = "2m"

ABANDON_EVERY_S = 60.0
GATEWAY_STANDS_STILL_S = 8.0  # past hbase.call_timeout

# Two settle times of 20 s, and what is between a rewind and the commit behind it: the gateway that stands still, a commit, two looks.
COMMITTED_STANDS_STILL_S = 2 * 20.0 + GATEWAY_STANDS_STILL_S + 5.0 + 2 * LOOK_INTERVAL_S

# What is compared: the medians of the second and of the last quarter of the run. The first quarter is for warming up.
GROWTH_ALLOWANCE_KIB = 4 << 10
DESCRIPTORS_ALLOWANCE = 4


@dataclass(frozen=True)
class Look:
    """The daemon that lives all the time, at one moment."""

    at_s: float
    rss_kib: int
    descriptors: int
    connects: int
    rebalances: int
    received: int
    written: int
    in_flight: int
    rewinds: int


class Soak(Proof):

    def __init__(self, stack: Stack, link: Link, options: argparse.Namespace, directory: Path, result: Result) -> None:
        self.duration_s = options.minutes * 60
        workload = Workload(n_readings=int(self.duration_s * options.rate), n_hosts=N_HOSTS, n_partitions=N_PARTITIONS,
                            seed=options.seed)
        super().__init__(stack, link, directory, result, workload, tidemark=options.tidemark, n_daemons=2,
                         messages_per_s=options.rate,
                         changes={"kafka": {"session_timeout": "30s"}, "limits": {"drain_timeout": "20s"},
                                  "hbase": {"max_connection_age": MAX_CONNECTION_AGE}})
        self.options = options
        self.looks: list[Look] = []
        self.n_visits = 0
        self.n_gateways_killed = 0
        self.n_silences = 0
        self.n_stood_still = 0
        self.longest_wait_s = 0.0
        self._moved: dict[int, tuple[int, float]] = {}  # partition -> (committed offset, since when)
        self.complaints: list[str] = []
        self._over = threading.Event()

    def happen(self) -> None:
        feeder = self.feeder()
        started = time.monotonic()
        troubles = ((self._guest_leaves_and_joins, GUEST_STAYS_S), (self._kill_gateway, GATEWAY_EVERY_S),
                    (lambda: self._be_silent(feeder), SILENCE_EVERY_S))
        if self.options.abandon:
            troubles = ((self._hold_gateway, ABANDON_EVERY_S - GATEWAY_STANDS_STILL_S),)
        troublemakers = [threading.Thread(target=self._repeat, args=trouble, daemon=True) for trouble in troubles]
        try:
            feeder.start()
            self._grow()
            for thread in troublemakers:
                thread.start()
            self._watch(started, feeder.is_done)
            self._over.set()
            for thread in troublemakers:
                thread.join()
            feeder.finish(FEED_DEADLINE_S)
        except BaseException:
            self._over.set()
            feeder.kill()
            raise
        self._check()

    def _grow(self) -> None:
        self.stack.hbase.suspend()
        try:
            self._over.wait(FIRST_OUTAGE_S)
        finally:
            self.stack.hbase.resume()
        self._over.wait(FIRST_FREEZE_S)
        daemon = self.fleet.members[0]
        daemon.freeze()
        try:
            self._over.wait(FIRST_FREEZE_S)
        finally:
            daemon.thaw()

    def _repeat(self, act: Callable[[], None], every_s: float) -> None:
        while not self._over.wait(every_s):
            try:
                act()
            except Exception as error:  # of any kind: it is the run's result, not this thread's end
                self.complaints.append(str(error))

    def _guest_leaves_and_joins(self) -> None:
        guest = self.fleet.members[1]
        code = guest.stop(START_DEADLINE_S)
        if code != 0:
            self.complaints.append(f"{guest.name} ended with {code} after SIGTERM\n{guest.daemon.log_tail()}")
        self._over.wait(GUEST_IS_GONE_S)
        guest.start()
        guest.await_ready(START_DEADLINE_S)
        self.n_visits += 1

    def _kill_gateway(self) -> None:
        gateway = self.stack.gateways[self.n_gateways_killed % len(self.stack.gateways)]
        self.n_gateways_killed += 1
        gateway.kill9()
        gateway.start()

    def _hold_gateway(self) -> None:
        gateway = self.stack.gateways[self.n_stood_still % len(self.stack.gateways)]
        self.n_stood_still += 1
        gateway.suspend()
        try:
            self._over.wait(GATEWAY_STANDS_STILL_S)
        finally:
            gateway.resume()

    def _look_at_offsets(self, at_s: float) -> None:
        committed = self.stack.kafka.admin.committed_offsets(GROUP, TOPIC)
        ends = self.stack.kafka.admin.latest_offsets(TOPIC)
        for place, offset in committed.items():
            known, since_s = self._moved.get(place, (-1, at_s))
            if offset != known or offset == ends[place]:
                self._moved[place] = (offset, at_s)
            else:
                self.longest_wait_s = max(self.longest_wait_s, at_s - since_s)

    def _be_silent(self, feeder: Feeder) -> None:
        feeder.pause(SILENCE_S)
        self.n_silences += 1

    def _watch(self, started: float, is_over: Callable[[], bool]) -> None:
        told_s = -TELL_INTERVAL_S
        print(f"{'time':>8} {'rss MiB':>8} {'files':>6} {'connects':>9} {'rebalances':>11} {'received':>11} {'written':>11} "
              f"{'in flight':>10}", flush=True)
        while not is_over():
            if self.options.abandon:
                self._look_at_offsets(time.monotonic() - started)
            look = self._look(time.monotonic() - started)
            if look is not None and look.at_s - told_s >= TELL_INTERVAL_S:
                told_s = look.at_s
                print(f"{look.at_s:>6.0f} s {look.rss_kib / 1024:>8.1f} {look.descriptors:>6} {look.connects:>9,} "
                      f"{look.rebalances:>11,} {look.received:>11,} {look.written:>11,} {look.in_flight:>10,}", flush=True)
            self._over.wait(LOOK_INTERVAL_S)

    def _look(self, at_s: float) -> Optional[Look]:
        member = self.fleet.members[0]
        samples, pid = member.watch(), member.daemon.pid
        if pid is None:
            raise AssertionError(f"the daemon has ended\n{member.daemon.log_tail()}")
        if samples is None:
            return None
        totals = totals_of(samples)
        look = Look(round(at_s, 1), memory_kib(pid, "VmRSS"), n_descriptors(pid), totals["tidemark_hbase_connects_total"],
                    totals["tidemark_kafka_rebalances_total"], totals["tidemark_messages_received_total"],
                    totals["tidemark_messages_written_total"], totals["tidemark_messages_in_flight"], totals["tidemark_kafka_rewinds_total"])
        self.looks.append(look)
        return look

    def _check(self) -> None:
        check = self.result.check
        check("nothing else happened", not self.complaints and len(self.fleet.members[0].lives) == 1,
              "\n".join(self.complaints) or f"{self.n_visits} visits of a second daemon, {self.n_gateways_killed} gateways killed, "
              f"{self.n_silences} silences")
        early = [look for look in self.looks if 0.25 <= look.at_s / self.duration_s < 0.5]
        late = [look for look in self.looks if look.at_s / self.duration_s >= 0.75]
        if not early or not late:
            raise AssertionError("the daemon did not answer for half of the run")
        rss_kib = [statistics.median(look.rss_kib for look in looks) for looks in (early, late)]
        files = [statistics.median(look.descriptors for look in looks) for looks in (early, late)]
        steady = [look for look in self.looks if look.at_s / self.duration_s >= 0.25]
        slope_kib_per_h = statistics.linear_regression([look.at_s for look in steady], [look.rss_kib for look in steady]).slope * 3600
        memory = (f"{rss_kib[0] / 1024:.1f} MiB in the second quarter, {rss_kib[1] / 1024:.1f} MiB in the last; slope "
                  f"{slope_kib_per_h / 1024:+.2f} MiB an hour")
        if self.fleet.has_sanitizer:
            print(f"        memory with a sanitizer: {memory}")
        else:
            check("memory does not grow", rss_kib[1] - rss_kib[0] <= GROWTH_ALLOWANCE_KIB, memory)
        check("files do not grow", files[1] - files[0] <= DESCRIPTORS_ALLOWANCE,
              f"{files[0]:.0f} descriptors in the second quarter, {files[1]:.0f} in the last")
        last = self.looks[-1]
        if self.options.abandon:
            check("offsets advance", self.n_stood_still > 0 and self.longest_wait_s <= COMMITTED_STANDS_STILL_S,
                  f"{self.n_stood_still} times a gateway stood still; the longest that a committed offset did: "
                  f"{self.longest_wait_s:.0f} s")
            check("calls were given up", last.rewinds > 0, f"{last.rewinds:,} rewinds")
        else:
            check("it was kept busy", last.connects > 4 and last.rebalances > 2, f"{last.connects:,} connects, {last.rebalances:,} rebalances")
        self.result.figures.update(rss_kib_second_quarter=rss_kib[0], rss_kib_last_quarter=rss_kib[1], descriptors=files,
                                   slope_kib_per_hour=round(slope_kib_per_h), looks=[vars(look) for look in self.looks])
        proof.write_looks(self.options.csv, self.looks)


def main() -> int:
    parser = proof.parser(__doc__ or "")
    parser.add_argument("--minutes", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--rate", type=float, default=1000, help="messages a second (default: 1000)")
    parser.add_argument("--abandon", action="store_true", help="calls that are given up, in place of the other troubles")
    parser.add_argument("--csv", type=Path, help="file that gets what was seen every 5 s")
    options = parser.parse_args()
    return proof.run(options, lambda stack, link, directory, result: Soak(stack, link, options, directory, result),
                     gateway_settings={"hbase.thrift.server.socket.read.timeout": str(GATEWAY_IDLE_CUT_MS)})


if __name__ == "__main__":
    sys.exit(main())

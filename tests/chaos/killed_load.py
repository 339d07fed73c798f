#!/usr/bin/env python3
"""Loads files into a real HBase, once in peace and once killed three times with SIGKILL: the same tables, and memory that stays flat.

    killed_load.py --tidemark build/daemon/tidemark [--readings 10000000] [--seed 1]

Readings have one metric, so that HBase's part is small and the load's is large. HBase's own client judges: what it finds has one
digest, which follows here from the readings alone, in streaming form. One line of a million is broken, and becomes a dead letter.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Callable, Iterator, Mapping

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "integration"), str(HERE.parent / "stack")]
import proof  # noqa: E402
from daemon import configuration, metric_tables  # noqa: E402
from fleet import RSS_ALLOWANCE_KIB, memory_kib  # noqa: E402
from hbase_oracle import Digest, Oracle  # noqa: E402
from jvm_process import spawn  # noqa: E402
from proof import BUDGET_MIB, Result  # noqa: E402
from stack import Stack  # noqa: E402

START_MS = 1_500_000_000_000
N_MACHINES = 1000
N_REGIONS = 4
FAMILY = "M"
HISTORY, LATEST = "METRIC", "CURRENT_METRIC"
KILLS = 3
LOOK_INTERVAL_S = 0.05
DEADLINE_S = 1800

# What is compared: the medians of the second and of the last quarter of a load, which has to take long enough for that. What is in
# flight moves within the budget, as HBase keeps up or does not, by a tenth of it and more.
GROWTH_ALLOWANCE_KIB = (BUDGET_MIB << 10) // 5
LONG_READINGS = 1_000_000

# glibc keeps what was freed between what is in use, the more the longer it runs, up to a bound. For the load whose memory has to be
# flat it gives all pieces of some size back, so that what is resident is what is in use.
GIVING_BACK = {"MALLOC_MMAP_THRESHOLD_": str(32 << 10), "MALLOC_TRIM_THRESHOLD_": str(128 << 10)}

# A line that is no reading stands once in so many, and at least once.
BROKEN_EVERY = 1_000_000
BROKEN = b'{"host":"m000","ts":broken\n'


@dataclass(frozen=True)
class Readings:
    """All machines report at one time after the other; values follow from the seed."""

    n_times: int
    seed: int

    @property
    def number(self) -> int:
        return self.n_times * N_MACHINES

    def value(self, time_number: int, machine: int) -> int:
        return (time_number * N_MACHINES + machine + self.seed) * 2_654_435_761 % 1_000_003

    def lines(self, times: range) -> Iterator[bytes]:
        for number in times:
            if self.is_broken_before(number):
                yield BROKEN
            for machine in range(N_MACHINES):
                yield b'{"host":"m%03d","ts":%d,"v":%d}\n' % (machine, START_MS + number, self.value(number, machine))

    def is_broken_before(self, time_number: int) -> bool:
        every = min(self.n_times, BROKEN_EVERY // N_MACHINES)
        return time_number % every == every // 2

    def broken_lines(self, times: range) -> list[int]:
        """Their numbers in a file of these times, from 1 on."""
        broken = [number for number in times if self.is_broken_before(number)]
        return [(number - times.start) * N_MACHINES + place + 1 for place, number in enumerate(broken)]

    def history(self) -> Digest:
        """As the oracle sees it: a line for each cell, in the order of the keys."""
        return self._digest(b"m%03d#%d", range(self.n_times))

    def latest(self) -> Digest:
        return self._digest(b"m%03d", range(self.n_times - 1, self.n_times))

    def _digest(self, key: bytes, times: range) -> Digest:
        sha = hashlib.sha256()
        for machine in range(N_MACHINES):
            for number in times:
                time_ms = START_MS + number
                row = key % ((machine, time_ms) if key.count(b"%") == 2 else machine)
                sha.update(b"%s\t%s\t%s\t%d\t%s\n" % (row.hex().encode(), FAMILY.encode(), b"v".hex().encode(), time_ms,
                                                    str(self.value(number, machine)).encode().hex().encode()))
        rows = N_MACHINES * len(times)
        return Digest(rows, rows, sha.hexdigest())


@dataclass
class Run:
    """One process of a load, as it was seen from outside."""

    rss_kib: list[int]
    exit_code: int
    seconds: float
    text: str


class KilledLoad:

    def __init__(self, stack: Stack, gateways: list[str], directory: Path, result: Result, readings: Readings, tidemark: Path) -> None:
        self.stack = stack
        self.gateways = gateways
        self.directory = directory
        self.result = result
        self.readings = readings
        self.tidemark = tidemark
        self.chance = random.Random(readings.seed)
        self.paths: list[Path] = []
        self.broken: set[tuple[str, int]] = set()  # path and line
        self.wanted: dict[str, Digest] = {}

    def run(self) -> None:
        self._write_files()
        self.wanted = {HISTORY: self.readings.history(), LATEST: self.readings.latest()}
        self._load_in_peace()
        self._load_with_kills()

    def _write_files(self) -> None:
        """Four, of a quarter of the time each: two plain ones, gzip and zstd."""
        n_times = self.readings.n_times
        for part, packer in enumerate(([], ["gzip", "-1"], ["zstd", "-q", "--rm"], [])):
            path = self.directory / f"{part}.jsonl"
            times = range(part * n_times // 4, (part + 1) * n_times // 4)
            with path.open("wb") as output:
                output.writelines(self.readings.lines(times))
            if packer:
                subprocess.run([*packer, str(path)], check=True)
            (path,) = self.directory.glob(f"{part}.jsonl*")
            self.paths.append(path)
            self.broken.update((str(path), line) for line in self.readings.broken_lines(times))

    def _load_in_peace(self) -> None:
        self._create_tables()
        state = self.directory / "undisturbed"
        run = self._run(state, settings=GIVING_BACK)
        number = self.readings.number
        self._check_end("an undisturbed load", run, state)
        quarter = len(run.rss_kib) // 4
        if number >= LONG_READINGS:
            second, last = (statistics.median(part) for part in (run.rss_kib[quarter:2 * quarter], run.rss_kib[-quarter:]))
            self.result.check("memory is flat", last - second <= GROWTH_ALLOWANCE_KIB,
                              f"{second / 1024:.1f} MiB in the second quarter, {last / 1024:.1f} MiB in the last")
        self.result.figures["undisturbed"] = {"seconds": run.seconds, "readings_per_s": number / run.seconds, "rss_kib": run.rss_kib[::20]}
        print(f"        {number:,} readings in {run.seconds:.1f} s, {number / run.seconds:,.0f} a second", flush=True)

    def _load_with_kills(self) -> None:
        self._create_tables()
        state = self.directory / "killed"
        places = sorted(self.chance.uniform(0.1, 0.85) * self.readings.number for _ in range(KILLS))
        marked = []
        rss_kib = []
        for place in places:
            run = self._run(state, lambda: marked_records(state) >= place)
            rss_kib += run.rss_kib
            self.result.check("killed in the middle", run.exit_code == -signal.SIGKILL, f"at {marked_records(state):,} records, "
                              f"exit code {run.exit_code}")
            marked.append(marked_records(state))
        run = self._run(state)
        self._check_end("a load killed three times", run, state)
        peak_kib = max(rss_kib + run.rss_kib)
        self.result.check("memory is bounded", peak_kib <= (BUDGET_MIB << 10) + RSS_ALLOWANCE_KIB,
                          f"peak {peak_kib / 1024:.1f} MiB, budget {BUDGET_MIB} MiB")
        self.result.figures["killed"] = {"marked": marked, "seconds_of_last": run.seconds}

    def _create_tables(self) -> None:
        """Anew, so that HBase has one set of them to hold."""
        oracle = self.stack.oracle
        splits = tuple(b"m%03d" % (N_MACHINES * region // N_REGIONS) for region in range(1, N_REGIONS))
        for table in (HISTORY, LATEST):
            if table in oracle.tables():
                oracle.drop(table)
            oracle.create(table, FAMILY, splits if table == HISTORY else ())

    def _check_end(self, name: str, run: Run, state: Path) -> None:
        self.result.check(f"{name} ends well", run.exit_code == 0, run.text.splitlines()[-1] if run.exit_code == 0 else run.text[-2000:])
        for table, wanted in self.wanted.items():
            found = digest(self.stack.oracle, table)
            self.result.check(f"{table} of {name}", found == wanted, f"{found}" + ("" if found == wanted else f", not {wanted}"))
        letters = [json.loads(line) for line in (state / "load-dead-letters.jsonl").read_text(encoding="utf-8").splitlines()]
        found_broken = {(letter["topic"], letter["offset"]) for letter in letters}
        self.result.check(f"dead letters of {name}", found_broken == self.broken, f"{len(letters)} of {len(self.broken)} broken lines"
                          + ("" if found_broken == self.broken else f": {found_broken ^ self.broken}"))
        again = self._run(state)
        self.result.check("done is done", again.exit_code == 0 and "4 of 4 files: loaded before" in again.text, again.text.splitlines()[-1])

    def _run(self, state: Path, is_killed: Callable[[], bool] = lambda: False, settings: Mapping[str, str] = MappingProxyType({})) -> Run:
        """One process, with these settings in its environment, to its end or until it is to be killed."""
        log_path = self.directory / "load.log"
        started = time.monotonic()
        with log_path.open("wb") as log:
            process = spawn([str(self.tidemark), "load", "-c", str(self._config()), "--state-directory", str(state), *map(str, self.paths)],
                            {**os.environ, **settings}, log, owned=True, stdout=log)
        rss_kib = []
        while process.poll() is None:
            rss_kib.append(memory_kib(process.pid, "VmRSS"))
            if is_killed() or time.monotonic() - started > DEADLINE_S:
                process.kill()
            time.sleep(LOOK_INTERVAL_S)
        return Run([kib for kib in rss_kib if kib > 0], process.returncode, time.monotonic() - started, log_path.read_text(encoding="utf-8"))

    def _config(self) -> Path:
        path = self.directory / "tidemark.yaml"
        path.write_text(json.dumps(configuration(
            brokers="127.0.0.1:1", group="load", topic="load", gateways=self.gateways,
            tables=metric_tables(HISTORY, LATEST), changes={"limits": {"memory": f"{BUDGET_MIB}MiB"}})), encoding="utf-8")
        return path


def digest(oracle: Oracle, table: str) -> Digest:
    """Of many rows: it takes longer than what else is asked."""
    rows, cells, sha256 = oracle.ask("digest", table, deadline_s=DEADLINE_S)[0].split("\t")
    return Digest(int(rows), int(cells), sha256)


def marked_records(state: Path) -> int:
    """How many all marks are behind."""
    return sum(int(line.removeprefix("offset=")) - 1 for path in state.glob("*.mark")
               for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("offset="))


def main() -> int:
    parser = proof.parser(__doc__ or "", readings=10_000_000)
    parser.set_defaults(gateways=1)
    options = parser.parse_args()
    readings = Readings(options.readings // N_MACHINES, options.seed)
    return proof.run(options, lambda stack, link, directory, result: KilledLoad(
        stack, link.addresses, directory, result, readings, options.tidemark))


if __name__ == "__main__":
    sys.exit(main())

"""The CPU that others used during a measured turn: stolen time, and other processes."""

from __future__ import annotations

import os
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, TypeVar

T = TypeVar("T")

# A turn in which other processes used more of the machine than this is repeated. An idle system uses less than a hundredth.
DISTURBED_SHARE = 0.05
MAX_REPEATS = 2

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Look:
    """CPU seconds since the start: of the whole machine, stolen from it, and of this process with all its descendants."""

    wall_s: float
    busy_s: float
    stolen_s: float
    own_s: float


def look() -> Look:
    # user nice system idle iowait irq softirq steal; guests are within user
    cpu = [int(ticks) * _TICK_S for ticks in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
    return Look(time.monotonic(), sum(cpu[:3]) + cpu[5] + cpu[6], cpu[7], _own_s())


def _own_s() -> float:
    """Of all descendants that live, with the children that each has waited for. So nothing is lost when one ends."""
    processes: dict[int, tuple[int, int]] = {}  # parent, ticks
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="ascii", errors="replace").rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            continue
        processes[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))  # utime stime cutime cstime
    own, found = {os.getpid()}, True
    while found:
        found = {pid for pid, (parent, _) in processes.items() if parent in own and pid not in own}
        own |= found
    return sum(processes[pid][1] for pid in own) * _TICK_S


def others_share(before: Look, after: Look) -> float:
    """Share of all cores that other processes used between two samples."""
    others_s = (after.busy_s - before.busy_s) - (after.own_s - before.own_s) + (after.stolen_s - before.stolen_s)
    return max(others_s, 0.0) / ((after.wall_s - before.wall_s) * (os.cpu_count() or 1))


@dataclass
class Turns:
    """Runs turns, repeats disturbed ones, and reports what other processes used."""

    look: Callable[[], Look] = look
    max_repeats: int = MAX_REPEATS
    shares: list[float] = field(default_factory=list)  # of turns that count
    repeated: int = 0

    def run(self, turn: Callable[[], T]) -> T:
        """What `turn` returns; of several runs that of the last. It must leave nothing behind that changes the next."""
        for repeat in range(self.max_repeats + 1):
            before = self.look()
            result = turn()
            share = others_share(before, self.look())
            if share <= DISTURBED_SHARE or repeat == self.max_repeats:
                self.shares.append(share)
                return result
            self.repeated += 1
        raise AssertionError("the last repeat counts")

    @property
    def disturbed(self) -> int:
        """Turns that count although they were disturbed, because each repeat was, too."""
        return sum(share > DISTURBED_SHARE for share in self.shares)

    def facts(self) -> dict[str, Any]:
        return {"turns": len(self.shares), "others_share": self.shares, "repeated": self.repeated, "disturbed": self.disturbed}

    def text(self) -> str:
        if not self.shares:
            return "no turns"
        return (f"{len(self.shares)} turns; other processes used {statistics.median(self.shares):.1%} of the machine "
                f"({min(self.shares):.1%}..{max(self.shares):.1%}), repeated turns: {self.repeated}, still disturbed: {self.disturbed}")

"""The daemons of a run with faults: several of one group, watched all the time, killed, stopped and started again."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence

import read_metric
from daemon import Daemon, wait_until
from kafka_admin import KafkaAdmin

WATCH_INTERVAL_S = 1.0

# What limits.memory is allowed to be passed by: code, stacks, heap's slack.
RSS_ALLOWANCE_KIB = 64 << 10

EX_TEMPFAIL = 75

# How the messages that a process has received end.
ENDS = ("written", "dead_lettered", "skipped", "unmatched", "expired", "handed_back")

# While messages flow a scrape is not one instant, and gauges are shown once a second: it is taken again until the accounting
# balance. When they never do in this time, they may differ by the messages of a second.
BOOKS_LOOKS = 20
BOOKS_LOOK_INTERVAL_S = 0.08

Samples = list[tuple[str, float]]


@dataclass
class Life:
    """One process of a daemon, from its start to its end."""

    name: str
    started_s: float
    peak_rss_kib: int = 0
    totals: dict[str, int] = field(default_factory=dict)  # metrics' sums, as last seen
    ended_by: str = ""


def totals_of(samples: Samples) -> dict[str, int]:
    sums: dict[str, float] = {}
    for series, value in samples:
        name = series.split("{")[0]
        sums[name] = sums.get(name, 0) + value
    return {name: int(value) for name, value in sums.items()}


def accounting_difference(totals: Mapping[str, int]) -> int:
    """Received messages that have ended in no counter and are not in flight either."""
    ended = sum(totals.get(f"tidemark_messages_{end}_total", 0) for end in ENDS)
    return totals.get("tidemark_messages_received_total", 0) - ended - totals.get("tidemark_messages_in_flight", 0)


def memory_kib(pid: int, name: str) -> int:
    """VmRSS, or VmHWM, the greatest that it ever was; 0 when the process is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    found = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) if found else 0


def n_descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except (FileNotFoundError, ProcessLookupError):
        return 0


class Member:
    """A daemon of the group, and all the lives that it has had."""

    def __init__(self, daemon: Daemon, name: str, messages_per_s: float, now_s: Callable[[], float]) -> None:
        self.daemon = daemon
        self.name = name
        self.lives: list[Life] = []
        self.complaints: list[str] = []
        self._messages_per_s = messages_per_s
        self._now_s = now_s
        self._frozen = False
        self._asked_to_end = True
        self._lock = threading.Lock()

    @property
    def life(self) -> Life:
        return self.lives[-1]

    def start(self) -> None:
        with self._lock:
            self.daemon.start()
            self.lives.append(Life(self.name, self._now_s()))
            self._asked_to_end = False

    def kill9(self) -> None:
        self.watch()
        with self._lock:
            self._asked_to_end = True
            self.daemon.kill9()
            self.life.ended_by = "SIGKILL"

    def stop(self, deadline_s: float) -> int:
        """SIGTERM, after a look into its accounting; its exit code."""
        self.check_accounting()
        with self._lock:
            self._asked_to_end = True
            code = self.daemon.stop(deadline_s)
            self.life.ended_by = f"SIGTERM, exit code {code}"
            return code

    def pause(self, *what: str) -> None:
        """As an operator does; with nothing named, everything."""
        self._command("pause", "--config", str(self.daemon.config_path), *what)

    def resume(self) -> None:
        self._command("resume")

    def freeze(self) -> None:
        with self._lock:
            self._frozen = True
            self.daemon.send(signal.SIGSTOP)

    def thaw(self) -> None:
        with self._lock:
            self.daemon.send(signal.SIGCONT)
            self._frozen = False

    def await_ready(self, deadline_s: float) -> None:
        """It reads and writes, be it in a later life than the present one."""
        wait_until(lambda: self.daemon.readiness()[0] == 200,
                   lambda: f"{self.name} is not ready: {self.daemon.readiness()}\n{self.daemon.log_tail()}", deadline_s)

    def watch(self) -> Optional[Samples]:
        """Looks at memory and metrics; None while it cannot tell."""
        pid = self.daemon.pid
        if pid is None:
            return None
        life = self.life
        life.peak_rss_kib = max(life.peak_rss_kib, memory_kib(pid, "VmHWM"))
        if self._frozen:
            return None
        try:
            samples = read_metric.read(f"http://{self.daemon.http}/metrics")
        except (OSError, http.client.HTTPException, ValueError):
            return None
        # A killed one may have a successor by now.
        if self.daemon.pid == pid:
            life.totals = totals_of(samples)
        return samples

    def check_accounting(self) -> None:
        """Complains when the accounting balances at no look."""
        least: Optional[int] = None
        wait = threading.Event().wait
        for _ in range(BOOKS_LOOKS):
            if self.watch() is not None:
                difference = abs(accounting_difference(self.life.totals))
                least = difference if least is None else min(least, difference)
            if least == 0:
                return
            wait(BOOKS_LOOK_INTERVAL_S)
        if least is not None and least > self._messages_per_s:
            accounting = {name: value for name, value in self.life.totals.items() if name.startswith("tidemark_messages_")}
            self.complaints.append(f"{self.name}: the accounting differs by {least} messages: {accounting}")

    def restart_if_ended(self) -> None:
        """What systemd would do: exit code 75 asks to be started again; no other end by itself is right."""
        with self._lock:
            if self._asked_to_end or self._frozen:
                return
            code = self.daemon.exit_code()
            if code is None:
                return
            self.life.ended_by = f"by itself, exit code {code}"
            if code != EX_TEMPFAIL:
                self.complaints.append(f"{self.name} ended by itself with {code}\n{self.daemon.log_tail()}")
        self.start()


    def _command(self, name: str, *options: str) -> None:
        subprocess.run([str(self.daemon.program), name, "--state-directory", self.daemon.environment["STATE_DIRECTORY"], *options],
                       check=True, capture_output=True, text=True)


class Fleet:
    """All members, and the thread that watches them."""

    def __init__(self, tidemark: Path, directory: Path, config: Callable[[int], Mapping[str, Any]], n_daemons: int,
                 messages_per_s: float, admin: KafkaAdmin) -> None:
        self._started = time.monotonic()
        # Memory means nothing then: the sanitizer keeps what is freed.
        self.has_sanitizer = b"__asan_init" in tidemark.read_bytes()
        self.members = [Member(Daemon(tidemark, directory, f"daemon-{index}", config(index), admin), f"daemon {index}",
                               messages_per_s, self.now_s) for index in range(n_daemons)]
        for index, member in enumerate(self.members):
            state = directory / f"state-{index}"
            state.mkdir()
            member.daemon.environment["STATE_DIRECTORY"] = str(state)
        self._stopping = threading.Event()
        self._watchers = [threading.Thread(target=self._watch, args=(member,), name=member.name, daemon=True)
                          for member in self.members]

    def now_s(self) -> float:
        return time.monotonic() - self._started

    def start(self, deadline_s: float) -> None:
        for member in self.members:
            member.start()
        for member in self.members:
            member.daemon.wait_ready(deadline_s)
        for watcher in self._watchers:
            watcher.start()

    def stop(self, deadline_s: float) -> list[int]:
        """Ends all in order; their exit codes."""
        return [member.stop(deadline_s) for member in self.members]

    def kill(self) -> None:
        """Whatever their state; nothing is watched any more."""
        self._stopping.set()
        for member in self.members:
            member.daemon.kill9()

    @property
    def lives(self) -> Sequence[Life]:
        return [life for member in self.members for life in member.lives]

    @property
    def complaints(self) -> list[str]:
        return [complaint for member in self.members for complaint in member.complaints]

    def total(self, metric: str) -> int:
        """The sum of a counter over all lives, as last seen of each."""
        return sum(life.totals.get(metric, 0) for life in self.lives)

    def _watch(self, member: Member) -> None:
        while not self._stopping.wait(WATCH_INTERVAL_S):
            member.restart_if_ended()
            member.watch()

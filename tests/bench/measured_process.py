"""Measures a whole program: wall time, CPU of all threads, and peak memory."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Mapping, Optional, Sequence

from jvm_process import spawn


@dataclass(frozen=True)
class Usage:
    wall_s: float
    cpu_s: float  # user and system, of the process alone
    max_rss_bytes: int
    exit_code: int


class MeasuredProcess:
    """A child, from its start to its end; it dies with this process. `cpus` are those that it may run on."""

    def __init__(self, command: Sequence[str | Path], log: Path, cpus: Optional[set[int]] = None,
                 environment: Optional[Mapping[str, str]] = None, **streams: Any) -> None:
        self._started = time.monotonic()
        words = [str(word) for word in command]
        if cpus is not None:
            words = ["taskset", "-c", ",".join(map(str, sorted(cpus))), *words]
        with log.open("ab") as output:
            self._child = spawn(words, dict(environment or os.environ), output, owned=True, **streams)
        self.pid = self._child.pid

    @property
    def stdout(self) -> IO[bytes]:
        """What it prints, when `stdout=subprocess.PIPE` was asked for."""
        assert self._child.stdout is not None
        return self._child.stdout

    def cpu_s(self) -> float:
        """What it has used so far, to the nanosecond: schedstat's sum over its threads that live."""
        total_ns = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread may end meanwhile
                total_ns += int((task / "schedstat").read_text(encoding="ascii").split()[0])
        return total_ns / 1e9

    def rss_bytes(self) -> int:
        return int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def peak_rss_bytes(self) -> int:
        """The most so far of this program: what wait4 tells takes in that which forked it. 0 when it has ended."""
        for line in Path(f"/proc/{self.pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        return 0

    def has_ended(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def send_end(self) -> None:
        """Asks it to end (SIGTERM); `wait` tells what it cost."""
        self._child.send_signal(signal.SIGTERM)

    def end(self) -> Usage:
        self.send_end()
        return self.wait()

    def wait(self) -> Usage:
        """Waits for its end."""
        _, status, usage = os.wait4(self.pid, 0)
        wall_s = time.monotonic() - self._started
        self._child.returncode = os.waitstatus_to_exitcode(status)
        if self._child.stdout is not None:
            self._child.stdout.close()
        return Usage(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, self._child.returncode)


def cpu_s_of(*pids: Optional[int]) -> float:
    """What processes have used so far, threads that have ended included, in hundredths of a second."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # utime, stime
    return ticks / os.sysconf("SC_CLK_TCK")


def run_measured(command: Sequence[str | Path], log: Path, cpus: Optional[set[int]] = None,
                 environment: Optional[Mapping[str, str]] = None) -> Usage:
    """Runs a command to its end; it must end well."""
    usage = MeasuredProcess(command, log, cpus, environment, stdout=subprocess.DEVNULL).wait()
    if usage.exit_code != 0:
        raise RuntimeError(f"'{command[0]}' ended with {usage.exit_code}, see '{log}'")
    return usage

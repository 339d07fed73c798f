"""One long-running process: started in a session of its own, recognised again, awaited, signalled, gone when asked.

Two ways of life. An *owned* process dies with the python process that started it, however that one ends. A process
that is not owned (`stack.py up`) outlives it, and is found again through a file that holds its pid and start time.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import queue
import select
import signal
import subprocess
import threading
import time
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Callable, Iterator, Optional, Sequence, TypeVar

# prctl(2): the signal a process gets when the thread that forked it ends.
PR_SET_PDEATHSIG = 1

# How often a condition is looked at while a process starts. The death of the process is noticed at once.
LOOK_INTERVAL_S = 0.03

# A killed process is gone as soon as the kernel has freed its memory; this is only a bound for a machine in trouble.
KILL_DEADLINE_S = 20

TAIL_LINES = 40

T = TypeVar("T")

_libc = ctypes.CDLL(None, use_errno=True)


class StackError(Exception):
    """Something of the stack did not do what was asked; the text says what, and where its log is."""


@dataclass(frozen=True)
class Identity:
    """A process that cannot be mistaken for a later one with the same pid."""

    pid: int
    start_ticks: int

    @staticmethod
    def of(pid: int) -> Optional["Identity"]:
        """The identity of the process that has this pid now, be it a zombie; None when there is none."""
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return None
        # The command name, in parentheses, may hold spaces: proc(5)'s fields are counted from behind it.
        fields = stat[stat.rindex(")") + 2:].split()
        return Identity(pid, start_ticks=int(fields[19]))

    @contextlib.contextmanager
    def handle(self) -> Iterator[Optional[int]]:
        """A pidfd of exactly this process; None when it is gone. Taken first, the start time is compared after."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            yield None
            return
        try:
            yield handle if Identity.of(self.pid) == self else None
        finally:
            os.close(handle)

    def await_exit(self, timeout_s: float) -> bool:
        """True when the process has ended, at the latest after the timeout.

        The pidfd tells, not the state in /proc: a JVM's first thread is a zombie while the others still hold its ports.
        """
        with self.handle() as handle:
            if handle is None:
                return True
            poller = select.poll()
            poller.register(handle, select.POLLIN)
            return bool(poller.poll(timeout_s * 1000))


class Process:
    """A child, or a process found again; none of its methods minds if it is gone already."""

    def __init__(self, name: str, log_path: Path, record_path: Path, owned: bool) -> None:
        self.name = name
        self.log_path = log_path
        self._record_path = record_path
        self._owned = owned
        self._identity = _read_record(record_path)
        self._child: Optional[subprocess.Popen[bytes]] = None
        self._log_start_bytes = 0

    @property
    def pid(self) -> Optional[int]:
        """The process that runs now, or None."""
        return None if self._identity is None or self.await_exit(0) else self._identity.pid

    def spawn(self, command: Sequence[str], environment: dict[str, str]) -> None:
        """Starts the command, with its output appended to the log, and records who it is."""
        if self.pid is not None:
            raise StackError(f"{self.name} runs already, as process {self.pid}")
        with open(self.log_path, "ab") as log:
            self._log_start_bytes = log.tell()
            self._child = spawn(command, environment, log, owned=self._owned)
        self._identity = Identity.of(self._child.pid)
        if self._identity is not None:
            self._record_path.write_text(json.dumps(asdict(self._identity)), encoding="ascii")

    def await_condition(self, condition: Callable[[], bool], what: str, deadline_s: float) -> None:
        """Waits until the condition holds; fails at once when the process dies, or at the deadline."""
        give_up_at = time.monotonic() + deadline_s
        while not condition():
            if self.await_exit(LOOK_INTERVAL_S):
                raise StackError(f"{self.name} ended before it {what}\n{self.log_tail()}")
            if time.monotonic() > give_up_at:
                raise StackError(f"{self.name} has not {what} within {deadline_s:.0f} s\n{self.log_tail()}")

    def await_exit(self, timeout_s: float) -> bool:
        """True when the process is gone, at the latest after the timeout."""
        gone = self._identity is None or self._identity.await_exit(timeout_s)
        if gone and self._child is not None:
            self._child.wait()
        return gone

    def send(self, signal_number: int) -> None:
        """Signals exactly the recorded process, or nobody."""
        if self._identity is None:
            return
        with self._identity.handle() as handle, contextlib.suppress(ProcessLookupError):
            if handle is not None:
                signal.pidfd_send_signal(handle, signal_number)

    def kill9(self) -> None:
        """Kills it, suspended or not, and returns when it is gone."""
        self.send(signal.SIGKILL)
        if not self.await_exit(KILL_DEADLINE_S):
            raise StackError(f"{self.name} (process {self.pid}) is not gone {KILL_DEADLINE_S} s after SIGKILL")
        self._forget()

    def terminate(self, deadline_s: float) -> None:
        """Asks it to end (SIGTERM) and waits; a suspended process is woken, or it could not hear."""
        self.send(signal.SIGTERM)
        self.send(signal.SIGCONT)
        if not self.await_exit(deadline_s):
            raise StackError(f"{self.name} has not ended {deadline_s:.0f} s after SIGTERM\n{self.log_tail()}")
        self._forget()

    def log_since_start(self) -> str:
        """What the process has logged since this object started it."""
        with open(self.log_path, "rb") as log:
            log.seek(self._log_start_bytes)
            return log.read().decode("utf-8", errors="replace")

    def log_tail(self) -> str:
        """The last lines of the log, and its path, for the text of an error."""
        lines = self.log_since_start().splitlines()[-TAIL_LINES:]
        return "\n".join([*lines, f"(the log is '{self.log_path}')"])

    def _forget(self) -> None:
        self._identity = None
        self._child = None
        self._record_path.unlink(missing_ok=True)


def spawn(command: Sequence[str], environment: dict[str, str], output: IO[bytes], *, owned: bool,
          **streams: Any) -> subprocess.Popen[bytes]:
    """Popen in a new session, with stderr and (unless `streams` says otherwise) stdout in `output`."""
    arguments: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output, "env": environment,
                                 "start_new_session": True, **streams}
    if not owned:
        return subprocess.Popen(command, **arguments)
    parent = os.getpid()
    arguments["preexec_fn"] = lambda: _die_with(parent)
    return _run_in_spawner(lambda: subprocess.Popen(command, **arguments))


def _die_with(parent: int) -> None:
    """Runs in the child, between fork and exec."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The parent may have died before the line above took effect.
    if os.getppid() != parent:
        os._exit(1)


_spawner_tasks: "queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]]" = queue.SimpleQueue()
_spawner_lock = threading.Lock()
_spawner: Optional[threading.Thread] = None


def _run_in_spawner(task: Callable[[], T]) -> T:
    """Runs the task in a thread that lives as long as the interpreter, and returns its result.

    PR_SET_PDEATHSIG counts the death of the *thread* that forked: a process started by a test's helper thread would be
    killed when that thread ends.
    """
    global _spawner
    with _spawner_lock:
        if _spawner is None:
            _spawner = threading.Thread(target=_serve_spawner, name="stack-spawner", daemon=True)
            _spawner.start()
    result: "Future[T]" = Future()
    _spawner_tasks.put((task, result))
    return result.result()


def _serve_spawner() -> None:
    while True:
        task, result = _spawner_tasks.get()
        try:
            result.set_result(task())
        except BaseException as error:  # handed to the caller's thread, which raises it
            result.set_exception(error)


def _read_record(path: Path) -> Optional[Identity]:
    try:
        return Identity(**json.loads(path.read_text(encoding="ascii")))
    except FileNotFoundError:
        return None

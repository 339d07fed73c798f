"""A small machine with a systemd of its own, for as long as a test needs it: see boot.sh."""
from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable, Optional

BOOT = Path(__file__).with_name("boot.sh")
NAMESPACES = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--uts", "--ipc", "--cgroup"]

# A condition comes true in a second or two; the bound is for a machine busy with a build.
PATIENCE_S = 90
POLL_INTERVAL_S = 0.1


class NotPermitted(Exception):
    """This machine does not let us have namespaces, or a systemd in them."""


def control_groups() -> list[Path]:
    """The directories of this process's control groups that can be written; a CPU set has to be filled first and is left out."""
    mounts = {}
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup2":
            mounts[""] = where
        elif kind == "cgroup":
            mounts.update({name: where for name in options.split(",")})
    found = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        where = mounts.get(controllers.split(",")[0])
        if where and "cpuset" not in controllers and os.access(where + path, os.W_OK):
            found.append(Path(where + path))
    return found


class Machine:
    """`boot` makes the machine, of what it is given, in namespaces of its own, and becomes the first process."""

    def __init__(self, given: list[str | Path], console: Path, boot: Path = BOOT) -> None:
        self.boot = boot
        self.groups = [group / f"tidemark-test-{os.getpid()}-{id(self)}" for group in control_groups()]
        self.console = console
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.init = 0
        try:
            self.start([str(one) for one in given])
        except OSError as error:
            self.end()
            raise NotPermitted(str(error)) from error
        except NotPermitted:
            self.end()
            raise

    def start(self, given: list[str]) -> None:
        if not Path("/lib/systemd/systemd").exists():
            raise NotPermitted("systemd is not installed")
        tried = subprocess.run([*NAMESPACES, "mount", "-t", "tmpfs", "tmpfs", "/run"], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            raise NotPermitted(tried.stderr.strip() or "namespaces are not permitted")
        for group in self.groups:
            group.mkdir()
        with open(self.console, "wb") as console:
            # A child of a shell that has joined the groups: namespaces of control groups begin where their maker is.
            join = 'for group in $GROUPS_TO_JOIN; do echo $$ >"$group/cgroup.procs" || exit; done; exec "$@"'
            self.process = subprocess.Popen(
                ["sh", "-c", join, "sh", *NAMESPACES, "bash", str(self.boot), *given], stdin=subprocess.DEVNULL, stdout=console,
                stderr=console, env={**os.environ, "GROUPS_TO_JOIN": " ".join(str(group) for group in self.groups)})
        if not self.wait(self.is_up, 30):
            raise NotPermitted("systemd does not start: " + self.console.read_text(errors="replace")[-500:])

    def is_up(self) -> bool:
        assert self.process
        if self.process.poll() is not None:
            raise NotPermitted("systemd has ended: " + self.console.read_text(errors="replace")[-500:])
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.init = int(children[0]) if children else 0
        return self.init > 0 and self.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """In the machine, as root."""
        return subprocess.run(["nsenter", "--target", str(self.init), "--all", "--", *command], capture_output=True, text=True,
                              check=False)

    def out(self, *command: str) -> str:
        done = self.run(*command)
        assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def show(self, unit: str, name: str) -> str:
        return self.out("systemctl", "show", "--value", "--property", name, unit).strip()

    def write(self, path: str, text: str) -> None:
        """With the directories above it, for all to read."""
        inside = Path(f"/proc/{self.init}/root{path}")
        inside.parent.mkdir(parents=True, exist_ok=True)
        inside.write_text(text)
        inside.chmod(0o644)

    def journal(self, *options: str) -> str:
        return self.run("journalctl", "--no-pager", "--quiet", *options).stdout

    @staticmethod
    def wait(is_so: Callable[[], bool], patience_s: float = PATIENCE_S) -> bool:
        deadline = time.monotonic() + patience_s
        while not is_so():
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_INTERVAL_S)
        return True

    def end(self) -> None:
        if self.process is not None:
            if self.init:
                os.kill(self.init, signal.SIGKILL)
            self.process.kill()
            self.process.wait()
        for group in self.groups:
            for folder in sorted(group.rglob("*/"), reverse=True):
                self.remove(folder)
            self.remove(group)

    @classmethod
    def remove(cls, group: Path) -> None:
        """A control group goes when its last process is gone, a moment after the kill."""
        def is_gone() -> bool:
            try:
                group.rmdir()
            except FileNotFoundError:
                return True
            except OSError:
                return False
            return True
        if group.is_dir():
            cls.wait(is_gone, 5)

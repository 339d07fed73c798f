"""A Debian that has nothing but its base and systemd, in memory, for as long as a test needs it: see boot_root.sh."""
from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "systemd"))
from machine import Machine, NotPermitted  # noqa: E402
from steps import Skipped  # noqa: E402

BOOT = Path(__file__).with_name("boot_root.sh")
APT = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-q", "--no-install-recommends"]


class CleanRoot(Machine):
    """With the first process that `kind` names: systemd or container."""

    def __init__(self, tar: Path, kind: str, console: Path) -> None:
        if not tar.exists():
            raise Skipped("no clean root: who is not root cannot make one")
        self.kind = kind
        try:
            super().__init__([tar, kind], console, BOOT)
        except NotPermitted as reason:
            raise Skipped(str(reason)) from reason

    def is_up(self) -> bool:
        if self.kind == "systemd":
            return super().is_up()
        assert self.process
        if self.process.poll() is not None:
            raise NotPermitted("the root does not start: " + self.console.read_text(errors="replace")[-500:])
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.init = int(children[0]) if children else 0
        return self.init > 0 and Path(f"/proc/{self.init}/comm").read_text().strip() == "sleep"

    def path(self, inside: str) -> Path:
        return Path(f"/proc/{self.init}/root{inside}")

    def copy(self, source: Path, inside: str) -> str:
        """As root's and readable for all; returns the place."""
        target = self.path(inside)
        target.write_bytes(source.read_bytes())
        os.chmod(target, 0o755 if os.access(source, os.X_OK) else 0o644)
        return inside

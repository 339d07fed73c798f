"""Steps of a test, each counted as one: printed as they end, and what a failed one leaves undone is skipped."""
from __future__ import annotations

import subprocess
import time
import traceback
from pathlib import Path
from typing import Callable


class Skipped(Exception):
    """The step cannot be taken on this machine; the text says why."""


class Steps:
    def __init__(self) -> None:
        self.passed = self.failed = self.skipped = 0
        self.began = time.monotonic()

    def say(self, word: str, name: str, text: str) -> None:
        print(f"   {time.monotonic() - self.began:6.1f} s  {word:<7} {name}{': ' + text if text else ''}", flush=True)

    def take(self, name: str, step: Callable[[], str]) -> bool:
        """What the step returns is said behind its name."""
        try:
            said = step()
        except Skipped as reason:
            self.skipped += 1
            self.say("skipped", name, str(reason))
            return False
        except Exception:  # pylint: disable=broad-except
            self.failed += 1
            self.say("FAILED", name, traceback.format_exc(limit=-3))
            return False
        self.passed += 1
        self.say("ok", name, said)
        return True

    def take_all(self, steps: list[tuple[str, Callable[[], str]]]) -> None:
        """Each begins where the one before it has ended."""
        for number, (name, step) in enumerate(steps):
            if not self.take(name, step):
                for left, _ in steps[number + 1:]:
                    self.skipped += 1
                    self.say("skipped", left, "after the one before")
                return

    def write_counts(self, path: Path) -> None:
        path.write_text(f"{self.passed} {self.failed} {self.skipped}\n")


def output(*command: str | Path, where: Path | None = None) -> str:
    done = subprocess.run([str(word) for word in command], cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]}: {done.returncode}: {(done.stdout + done.stderr)[-3000:]}"
    return done.stdout

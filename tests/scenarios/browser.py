"""A real Chromium, and what its page must have."""
from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

PATIENCE_S = 180


class Browser:
    """A profile of its own; each question is one run, which ends once the page has drawn itself."""

    def __init__(self, program: str, directory: Path) -> None:
        self.command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                        "--enable-logging=stderr", f"--user-data-dir={directory}", "--virtual-time-budget=8000"]

    @staticmethod
    def find(directory: Path) -> "Browser | None":
        program = shutil.which("chromium")
        return None if program is None else Browser(program, directory)

    def run(self, url: str, *options: str) -> str:
        done = subprocess.run([*self.command, *options, url], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
        refused = [line for line in done.stderr.splitlines() if "Content Security Policy" in line or "Uncaught" in line]
        assert not refused, "\n".join(refused)
        return done.stdout

    def page(self, url: str, *options: str) -> str:
        return self.run(url, "--dump-dom", *options)


def assert_has(page: str, *patterns: str) -> None:
    shown = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.S)
    for pattern in patterns:
        assert re.search(pattern, shown, re.S), f"not on the page: {pattern}\n{shown}"

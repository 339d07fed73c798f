#!/usr/bin/env python3
"""Shows that nothing is left of a stack, however it ends, and what its commands do."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Callable

from stack import Stack

HERE = Path(__file__).resolve().parent


def processes_of(directory: Path) -> list[str]:
    """The command lines of all processes that name this directory."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\x00", b" ").decode("utf-8", errors="replace")
        except OSError:
            continue
        if str(directory) in line:
            found.append(line)
    return found


class EndTest(unittest.TestCase):
    """Nothing is left running, however a stack ends."""

    def setUp(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="tidemark-stack-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def await_none_left(self) -> None:
        """The kernel kills the orphans at once, but not before the test's next line."""
        self.await_that(lambda: not processes_of(self.directory))
        self.assertEqual(processes_of(self.directory), [])

    @staticmethod
    def await_that(condition: Callable[[], bool]) -> None:
        give_up_at = time.monotonic() + 30
        while not condition() and time.monotonic() < give_up_at:
            time.sleep(0.02)

    def test_a_killed_owner_takes_its_stack_along(self) -> None:
        program = f"import sys; sys.path.insert(0, {str(HERE)!r}); from stack import Stack; Stack(sys.argv[1]).start()"
        owner = subprocess.Popen([sys.executable, "-c", program, str(self.directory)], stderr=subprocess.DEVNULL)
        self.await_that(lambda: sum("java" in line for line in processes_of(self.directory)) >= 2)
        self.assertGreaterEqual(len(processes_of(self.directory)), 3)
        owner.kill()
        owner.wait()
        self.await_none_left()

    def test_the_command_line_starts_a_stack_and_ends_all_of_it(self) -> None:
        self.run_stack("up")
        environment = dict(word.split("=", 1) for word in shlex.split(self.run_stack("env")))
        self.assertTrue(Path(environment["HBASE_CLASSPATH_FILE"]).is_file())
        self.assertEqual(self.run_stack("status").count("process "), 3)
        self.run_stack("topic", "create", "readings", "--partitions", "2")
        self.run_stack("gateway", "kill", "--index", "0")
        self.assertEqual(self.run_stack("status", expected_status=1).count("not running"), 1)
        self.run_stack("gateway", "start", "--index", "0")
        self.run_stack("oracle", "create", "METRIC", "METRIC")
        self.run_stack("down", "--graceful")
        self.assertEqual(processes_of(self.directory), [])
        self.run_stack("up")
        self.assertEqual(self.run_stack("oracle", "tables"), "METRIC\n")
        self.assertEqual(Stack.attach(self.directory).kafka.admin.topics(), {"readings": 2})
        self.run_stack("down")
        self.assertEqual(processes_of(self.directory), [])
        self.run_stack("status", expected_status=1)

    def run_stack(self, command: str, *words: str, expected_status: int = 0) -> str:
        done = subprocess.run([sys.executable, str(HERE / "stack.py"), command, "--dir", str(self.directory), *words],
                              stdout=subprocess.PIPE, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, expected_status, f"stack.py {command} {' '.join(words)}")
        return done.stdout


if __name__ == "__main__":
    unittest.main(verbosity=2)

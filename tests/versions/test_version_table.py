#!/usr/bin/env python3
"""The tables of versions: what stands in them, and that a document with another one is found and written anew."""
from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import version_table
from version_table import BEGIN, END, VersionTable

SEEN = '{"A 2.10.1": {"check": "ok", "scan": "ok"}, "A 2.9.0": {"check": "lacks x", "scan": "ok"}, "A 2.4.17": {"check": "ok", "scan": "ok"}}'


class Tables(unittest.TestCase):

    def test_the_newest_is_first_and_limits_are_apart(self) -> None:
        table = VersionTable(SEEN)
        self.assertEqual(table.summary().splitlines()[2], "| A | 2.10.1, 2.4.17 | 2.9.0 |")
        self.assertEqual(table.every_step().splitlines()[2:], ["| A 2.10.1 | ok | ok |", "| A 2.9.0 | lacks x | ok |", "| A 2.4.17 | ok | ok |"])

    def test_documents_follow(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "docs").mkdir()
            for name in ("README.md", "docs/install.md"):
                (root / name).write_text(f"before\n{BEGIN}old\n{END}after\n", encoding="utf-8")
            command = [sys.executable, version_table.__file__, directory]
            self.assertEqual(subprocess.run(command, capture_output=True, check=False).returncode, 1)
            self.assertEqual(subprocess.run([*command, "--write"], check=False).returncode, 0)
            self.assertEqual(subprocess.run(command, check=False).returncode, 0)
            self.assertTrue((root / "README.md").read_text(encoding="utf-8").startswith(f"before\n{BEGIN}|"))


if __name__ == "__main__":
    unittest.main()

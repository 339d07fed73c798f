#!/usr/bin/env python3
"""The test of the documents itself: it sees every block, and a block or program that nobody holds is a fault."""
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from blocks import Block, answers, blocks_of, commands, programs
from test_docs import faults, whole_configuration

ROOT = Path(__file__).resolve().parents[2]


class Blocks(unittest.TestCase):
    def faults_of(self, language, text, page="docs/commands.md"):
        with tempfile.NamedTemporaryFile() as program:
            scene = SimpleNamespace(tidemark=Path(program.name), run=lambda *_: self.fail("it was run"))
            return faults(scene, Block(page, 1, language, text), ROOT)

    def test_all_are_seen(self):
        text = "a\n```sh\none\n```\n- b\n\n  ```yaml\n  k:\n    v: 1\n  ```\n```\nbare\n```\n```text\nno end\n"
        self.assertEqual([(block.line, block.language, block.text) for block in blocks_of("p", text)],
                         [(2, "sh", "one\n"), (7, "yaml", "k:\n  v: 1\n"), (11, "", "bare\n"), (14, "unclosed", "no end")])

    def test_commands_go_on_over_lines(self):
        self.assertEqual(list(commands("a |\n  b  # why\n# nothing\nc \\\n  d\ne '#x'\n")), ["a | b", "c  d", "e '#x'"])
        self.assertEqual(list(answers("$ a |\n b\nx\n$ c\n")), [("a | b", ["x"]), ("c", [])])

    def test_programs_are_told_from_their_words(self):
        self.assertEqual(programs("if ! tidemark a 'b | c' >f; then echo \"x; y\"; fi"), ["tidemark", "echo"])
        self.assertEqual(programs("A=1 kcat x | tidemark y && jq '.[] | a'"), ["kcat", "tidemark", "jq"])

    def test_a_fragment_is_put_into_a_configuration(self):
        whole = whole_configuration("hbase:\n  # why\n  tls:\n    ca: x\n")
        self.assertIn('hbase:\n  # why\n  tls:\n    ca: x\n  gateways: ["127.0.0.1:9090"]\n', whole)
        self.assertIn("topics: [metrics]", whole)
        self.assertIn("    cell_time: record\n", whole_configuration("cell_time: record\n"))

    def test_what_nobody_holds_is_a_fault(self):
        self.assertIn("without a language", self.faults_of("", "x\n")[0])
        self.assertIn("without an end", self.faults_of("unclosed", "x\n")[0])
        self.assertIn("nor named in reasons.py", self.faults_of("text", "nobody knows\n")[0])
        self.assertIn("nor named in reasons.py", self.faults_of("perl", "print 1\n")[0])
        self.assertIn("'rm' may be run", self.faults_of("sh", "tidemark version | rm -rf x\n")[0])
        self.assertIn("has no 'no-such'", self.faults_of("sh", "journalctl TIDEMARK_ID=no-such\n")[0])
        self.assertEqual(self.faults_of("sh", "./check --quick\n"), [])
        self.assertIn("no heading 'GATEWAY'", self.faults_of("text", "GATEWAY  STATE\n", "docs/operate.md")[0])


if __name__ == "__main__":
    sys.exit(unittest.main())

#!/usr/bin/env python3
"""Each command has a page, mandoc has no remark on any, and what --help tells is in it."""
import re
import subprocess
import sys
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop()).resolve()
ROOT = Path(__file__).resolve().parents[2]
PAGES = BUILD / "daemon/manual"
TIDEMARK = BUILD / "daemon/tidemark"


def output_of(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def shown(page):
    """As a terminal of 300 columns shows it, without overprinting."""
    return re.sub(".\x08", "", output_of("mandoc", "-Tutf8", "-Owidth=300", PAGES / page))


def commands():
    return re.findall(r"^  ([a-z-]+) +\S", output_of(TIDEMARK, "--help"), re.M)


class Manual(unittest.TestCase):
    def test_mandoc_has_no_remark(self):
        pages = sorted(PAGES.glob("*.[15]"))
        self.assertEqual(len(pages), len(commands()) + 2)
        remarks = subprocess.run(["mandoc", "-Tlint", "-Wstyle", *map(str, pages)], capture_output=True, text=True,
                                 check=False).stdout.splitlines()
        # Examples stay as they are.
        self.assertEqual([line for line in remarks if "longer than 80 bytes" not in line], [])

    def test_each_option_is_told(self):
        for command in commands():
            with self.subTest(command):
                page = shown(f"tidemark-{command}.1")
                said = output_of(TIDEMARK, command, "--help")
                for option in re.findall(r"^ {2,6}(?:-\w, )?(--[a-z-]+(?:=\S+)?)", said, re.M):
                    self.assertIn(option, page)
                self.assertIn(said.split("\n")[2][:60], page)

    def test_sections_of_the_documents_are_whole(self):
        program = shown("tidemark.1")
        self.assertRegex(program, r"(?m)^EXIT STATUS$")
        self.assertRegex(program, r"(?m)^ +78 +the configuration is wrong")
        configuration = shown("tidemark.yaml.5")
        for heading in re.findall(r"^## (.*)$", (ROOT / "docs/configuration.md").read_text(encoding="utf-8"), re.M):
            self.assertIn(re.sub(r"[`']", "", heading).upper(), configuration.replace("'", ""))
        self.assertRegex(configuration, r"max_span_messages \(number, 1000\.\.100000000; default 1000000\)")

    def test_nothing_of_markdown_is_left(self):
        for page in sorted(PAGES.glob("*.[15]")):
            self.assertNotRegex(shown(page.name), r"(?m)^ *(\||```|#{2,} )|\]\(|\*\*\w")


if __name__ == "__main__":
    unittest.main()

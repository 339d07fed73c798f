#!/usr/bin/env python3
"""Each command has a page, mandoc has no remark on any, and what --help tells is in it."""
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from built import build_of  # noqa: E402 pylint: disable=wrong-import-position

BUILD = build_of(sys.argv, "daemon/tidemark", "daemon/manual")
ROOT = Path(__file__).resolve().parents[2]
PAGES = BUILD / "daemon/manual"
TIDEMARK = BUILD / "daemon/tidemark"


def output_of(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def shown(page):
    """As a terminal of 300 columns shows it, without overprinting."""
    return re.sub(".\x08", "", output_of("mandoc", "-Tutf8", "-Owidth=300", PAGES / page))


def sections(page, width):
    """Each section's lines."""
    text = re.sub(".\x08", "", output_of("mandoc", "-Tutf8", f"-Owidth={width}", PAGES / page))
    parts = re.split(r"(?m)^([A-Z][A-Z ]+)$", text)
    return dict(zip(parts[1::2], (part.splitlines() for part in parts[2::2])))


def commands():
    return re.findall(r"^  ([a-z-]+) +\S", output_of(TIDEMARK, "--help"), re.M)


class Manual(unittest.TestCase):
    def test_mandoc_has_no_remark(self):
        pages = sorted(PAGES.glob("*.[15]"))
        self.assertEqual(len(pages), len(commands()) + 2)
        remarks = subprocess.run(["mandoc", "-Tlint", "-Wstyle", *map(str, pages)], capture_output=True, text=True,
                                 check=False).stdout.splitlines()
        # Examples stay as they are, and scdoc breaks no lines.
        self.assertEqual([line for line in remarks if "longer than 80 bytes" not in line], [])

    def test_each_option_is_told(self):
        for command in commands():
            with self.subTest(command):
                page = shown(f"tidemark-{command}.1")
                said = output_of(TIDEMARK, command, "--help")
                for option in re.findall(r"^ {2,6}(?:-\w, )?(--[a-z-]+(?:=\S+)?)", said, re.M):
                    self.assertIn(option, page)
                self.assertIn(said.split("\n")[2][:60], page)

    def test_each_text_stands_where_one_looks_for_it(self):
        for command in commands():
            with self.subTest(command):
                told = sections(f"tidemark-{command}.1", 80)
                self.assertEqual(list(told), ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"])
                for line in told["OPTIONS"] + told["EXIT STATUS"]:
                    self.assertLessEqual(len(line), 80)
                said = output_of(TIDEMARK, command, "--help")
                examples = [line.strip() for line in said[said.index("Example"):].splitlines()[1:]]
                shown_examples = [line.strip() for line in told["EXAMPLES"] if line.strip()]
                self.assertEqual(shown_examples[:len(examples)], examples)
                for line in shown_examples:
                    self.assertRegex(line, r"\btidemark\b")
                behind_options = said[said.index("show this help"):said.index("Example")]
                codes = re.findall(r"^  (\d+ +.*(?:\n {6}.*)*)", behind_options, re.M)
                self.assertGreaterEqual(len(codes), 4)
                for code in codes:
                    self.assertIn(" ".join(code.split()), " ".join(" ".join(told["EXIT STATUS"]).split()))
        run = " ".join(" ".join(sections("tidemark-run.1", 80)["DESCRIPTION"]).split())
        self.assertIn("see internals (docs/internals.md).", run)
        self.assertIn("SIGUSR1 and SIGUSR2 log the current state. For how the daemon works,", run)

    def test_sections_of_the_documents_are_whole(self):
        program = shown("tidemark.1")
        self.assertRegex(program, r"(?m)^EXIT STATUS$")
        self.assertRegex(program, r"(?m)^ +78\n +the configuration is wrong")
        configuration = shown("tidemark.yaml.5")
        plain = re.sub(r"[`'‘’]", "", configuration).upper()
        for page in ("configuration", "input", "event-time", "tables", "connections", "options"):
            for heading in re.findall(r"^##? (.*)$", (ROOT / f"docs/{page}.md").read_text(encoding="utf-8"), re.M)[page == "configuration":]:
                self.assertIn(re.sub(r"[`']", "", heading).upper(), plain)
        self.assertRegex(configuration, r"max_span_messages \(number, 1000\.\.100000000; default 1000000\)")

    def test_the_guides_are_in_the_pages(self):
        for command, text in (("load", "Resume a load"), ("scan", "converts the given fields and the time range"), ("verify", "Expected cells"),
                              ("init", "Detected properties"), ("status", "ROWS/CALL")):
            self.assertIn(text, " ".join(shown(f"tidemark-{command}.1").split()))

    def test_the_reference_is_what_help_prints(self):
        writer = ROOT / "daemon/manual/write_reference.py"
        done = subprocess.run([sys.executable, writer, TIDEMARK, ROOT / "docs/commands.md", "--check"], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_nothing_of_markdown_is_left(self):
        for page in sorted(PAGES.glob("*.[15]")):
            self.assertNotRegex(shown(page.name), r"(?m)^ *(\||```|#{2,} )|\]\(|\*\*\w")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Tests that a release's chapter has each ratio and table, and that other chapters stay unchanged."""
import unittest

from bench_report import Report
from machine_load import Turns
from performance import HEAD, chapter, put


def measured(section="client", values=(2.5, 2.0, 3.0), at_most=2.6):
    """What ./bench keeps of a run, by its own report."""
    report = Report({"time": "2026-11-26 12:00 UTC", "processor": "a | b", "cores": "2", "tidemark": "tidemark 1.2.3 (abc), librdkafka 2.0.2"})
    report.begin_section(section, "what it costs")
    report.ratio("CPU / kcat", values, at_most=at_most)
    report.table("Each", ["what", "us"], [["a|b", 1234.5], ["c", 0.123456]])
    report.end_section(Turns(shares=[0.01, 0.02], repeated=1), 12)
    return {"machine": report.facts, "sections": report._sections}  # pylint: disable=protected-access


class Performance(unittest.TestCase):
    def test_all_figures_are_there(self):
        text = chapter("1.2.3", [measured()])
        self.assertIn("## 1.2.3\n\n2026-11-26 12:00 UTC; a | b, 2 cores; tidemark 1.2.3 (abc)", text)
        self.assertIn("| CPU / kcat | 2.5 (2..3) | at most 2.6 |\n", text)
        self.assertIn("| what | us |\n|---|---|\n| a\\|b | 1,234 |\n| c | 0.123 |\n", text)
        self.assertIn("What it costs. 2 turns; other processes used 1.5% of the machine, at most 2.0%; repeated turns: 1, still disturbed: 0.", text)

    def test_what_was_not_reached_is_said(self):
        self.assertIn("| 2.5 (2..3) | at most 2: **not reached** |", chapter("1.2.3", [measured(at_most=2)]))
        self.assertIn("| 2.5 (2..3) |  |\n", chapter("1.2.3", [measured(at_most=None)]))

    def test_sections_measured_apart_are_one_release(self):
        text = chapter("1.2.3", [measured("client"), measured("read"), measured("client", values=[9.0])])
        self.assertEqual(text.count("### client"), 1)
        self.assertIn("| CPU / kcat | 9 | at most 2.6: **not reached** |", text)
        self.assertIn("### read", text)
        self.assertNotIn("Measured with", text)

    def test_a_section_of_another_build_says_so(self):
        earlier = measured("read")
        earlier["machine"] = {**earlier["machine"], "tidemark": "tidemark 1.2.3 (aaa), librdkafka 2.0.2"}
        text = chapter("1.2.3", [measured("client"), earlier, measured("cost")])
        self.assertEqual(text.count("still disturbed: 0. Measured with tidemark 1.2.3 (aaa).\n"), 1)
        self.assertIn("### read\n\nWhat it costs. 2 turns; other processes used 1.5% of the machine, at most 2.0%; repeated turns: 1, still "
                      "disturbed: 0. Measured with", text)

    def test_other_releases_stay(self):
        first = put("", "0.1.0", "## 0.1.0\n\nold\n")
        second = put(first, "0.2.0", "## 0.2.0\n\nnew\n")
        self.assertEqual(second, f"{HEAD}\n## 0.2.0\n\nnew\n\n## 0.1.0\n\nold\n")
        self.assertEqual(put(second, "0.1.0", "## 0.1.0\n\nagain\n"), second.replace("old", "again"))
        self.assertEqual(put(second, "0.2.0", "## 0.2.0\n\nnew\n"), second)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Tests that `tidemark bench --plan` uses the costs of the newest release in docs/performance.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/performance.md"
KCAT = {"1 metric": 69, "10 metrics": 243, "100 metrics": 1938}  # the bytes of a message
PLAN = ["bench", "--plan", "--devices", "1000", "--metrics", "10", "--interval", "10s", "--format", "json"]


class Figures:
    """The medians of the newest release, by section and line."""

    def __init__(self) -> None:
        newest = re.split(r"^## ", DOCUMENT.read_text(), flags=re.M)[1]
        self.sections = dict(part.split("\n", 1) for part in re.split(r"^### ", newest, flags=re.M)[1:])

    def row(self, section: str, start: str) -> list[str]:
        """The cells of the first line that is called so; behind a comma it may say more."""
        found = re.search(rf"^\| *{re.escape(start)}(?:, [^|\n]*)? \|(.*)\|$", self.sections[section], re.M)
        assert found, f"no line {start!r} in {section}"
        return found.group(1).split("|")

    def median(self, section: str, start: str, column: int = 0) -> float:
        return float(self.row(section, start)[column].split()[0].replace(",", ""))

    def both_tables(self, metrics: str) -> float:
        after = self.sections["client"].split(f"| kcat, {metrics},", 1)[1]
        return float(re.search(r"METRIC \+ CURRENT_METRIC \| ([0-9.]+)", after).group(1))


class TestPlanCosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        plan = subprocess.run([os.environ["TIDEMARK"], *PLAN], stdout=subprocess.PIPE, text=True, check=True)
        costs = json.loads(plan.stdout)["assumed"]
        cls.costs = {cost["name"]: cost["cost"] for cost in costs}
        cls.sources = {cost["name"]: cost["source"] for cost in costs}
        cls.figures = Figures()

    def assert_cost(self, name: str, wanted: float) -> None:
        self.assertAlmostEqual(self.costs[name] / wanted, 1, delta=0.04, msg=f"{name}: {wanted:.4g} by {DOCUMENT.name}")

    def assert_source(self, name: str, *numbers: float) -> None:
        said = [float(number) for number in re.findall(r"[0-9]+\.[0-9]+", self.sources[name])]
        self.assertEqual(said, [round(number, 2) for number in numbers], name)

    def test_messages_cost_what_kcat_takes(self) -> None:
        kcat = [self.figures.median("client", f"kcat, {metrics}") for metrics in KCAT]
        sizes = list(KCAT.values())
        byte = (kcat[-1] - kcat[0]) / (sizes[-1] - sizes[0])
        self.assert_cost("daemon, a byte of it", byte)
        self.assert_cost("daemon, a message", kcat[0] - byte * sizes[0])
        self.assert_source("daemon, a message", *kcat)

    def test_rows_cost_what_is_above_that(self) -> None:
        few, many = (
            self.figures.both_tables(metrics) - self.figures.median("client", f"kcat, {metrics}")
            for metrics in ("1 metric", "100 metrics")
        )
        cell = (many - few) / 198
        self.assert_cost("daemon, a cell", cell)
        self.assert_cost("daemon, a row", (few - 2 * cell) / 2)
        self.assert_source("daemon, a row", few, many)

    def test_live_costs_more(self) -> None:
        live, backlog = self.figures.median("growth", "16 partitions"), self.figures.both_tables("10 metrics")
        self.assert_cost("daemon, live", live - backlog)
        self.assert_source("daemon, live", live, backlog)

    def test_gateways_and_hbase_cost_a_line_through_two_sizes(self) -> None:
        for name, column in (("gateway", 2), ("HBase", 3)):
            ten, one = (self.figures.median("cost", line, column) for line in ("tidemark", "tidemark packed"))
            cell = (ten - one) / 9
            self.assert_cost(f"{name}, a cell", cell)
            self.assert_cost(f"{name}, a row", one - cell)
            self.assert_source(f"{name}, a row", ten, one)


if __name__ == "__main__":
    unittest.main()

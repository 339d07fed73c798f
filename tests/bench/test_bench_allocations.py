#!/usr/bin/env python3
"""Tests that `tidemark bench` reports allocations only if the tally is preloaded."""
from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

CONFIG = """
kafka: {{ brokers: b, group: g, topics: [t] }}
hbase: {{ gateways: [g] }}
readings: {{ {readings}, time: {{ field: ts, format: epoch_ms }} }}
tables:
  METRIC: {{ key: [{{ field: host }}, "#", {{ time: epoch_ms }}], columns: {{ family: M, from: "*" }} }}
"""


def bench(readings: str, *arguments: str, **environment: str) -> dict[str, dict[str, Any]]:
    """The stages by their names."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "tidemark.yaml")
        config.write_text(CONFIG.format(readings=readings))
        Path(folder, "message").write_bytes(b"\x83\xa4host\xa1a\xa2ts\xcf\x00\x00\x01\x4c\x24\x15\x2a\xcd\xa1v\xcb" + bytes(8))
        done = subprocess.run([os.environ["TIDEMARK"], "bench", "-c", str(config), "--format", "json", "--runs", "2", "--readings", "500",
                               *arguments], env={**os.environ, **environment}, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return {stage["stage"]: stage for stage in json.loads(done.stdout)["stages"]}


class TestAllocations(unittest.TestCase):
    def test_no_stage_allocates_for_a_reading(self) -> None:
        for readings, arguments in (("format: json", []), ("format: msgpack", ["--messages", "message"])):
            with self.subTest(readings=readings):
                stages = bench(readings, *arguments, LD_PRELOAD=os.environ["ALLOCATION_TALLY"])
                for stage in stages.values():  # once in a run something may grow
                    self.assertLess(stage["allocations_per_reading"], 0.01, stage)
                self.assertIn("decode", stages)

    def test_without_the_tally_nothing_is_said(self) -> None:
        for stage in bench("format: json").values():
            self.assertNotIn("allocations_per_reading", stage)


if __name__ == "__main__":
    unittest.main(verbosity=2)

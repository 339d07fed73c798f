#!/usr/bin/env python3
"""Disturbed turns are repeated, and what this process and its children use does not count as another process's use."""
import os
import subprocess
import sys
import unittest

from machine_load import MAX_REPEATS, Look, Turns, look, others_share

CORES = os.cpu_count() or 1


def looks(*shares):
    """Before and after each turn of a second, in which others have that share of the machine and we half of it."""
    wall_s = busy_s = own_s = 0.0
    for share in shares:
        yield Look(wall_s, busy_s, 0, own_s)
        wall_s, busy_s, own_s = wall_s + 1, busy_s + (share + 0.5) * CORES, own_s + 0.5 * CORES
        yield Look(wall_s, busy_s, 0, own_s)


class MachineLoad(unittest.TestCase):
    def run_turns(self, *shares, turns=1):
        found, done = looks(*shares), iter(range(len(shares)))
        sut = Turns(look=lambda: next(found))
        return sut, [sut.run(lambda: next(done)) for _ in range(turns)]

    def test_a_still_turn_counts(self):
        turns, results = self.run_turns(0.01, 0.02, turns=2)
        self.assertEqual(results, [0, 1])
        self.assertEqual((turns.repeated, turns.disturbed), (0, 0))
        self.assertEqual([round(share, 6) for share in turns.shares], [0.01, 0.02])

    def test_a_disturbed_turn_is_run_again_and_its_result_dropped(self):
        turns, results = self.run_turns(0.3, 0.01)
        self.assertEqual(results, [1])
        self.assertEqual((turns.repeated, turns.disturbed, len(turns.shares)), (1, 0, 1))
        self.assertIn("repeated turns: 1, still disturbed: 0", turns.text())

    def test_it_gives_up_and_says_so(self):
        turns, results = self.run_turns(*[0.3] * (MAX_REPEATS + 1))
        self.assertEqual(results, [MAX_REPEATS])
        self.assertEqual(turns.facts()["disturbed"], 1)

    def test_what_is_stolen_is_others(self):
        self.assertAlmostEqual(others_share(Look(0, 0, 0, 0), Look(2, 1, 0.5 * CORES, 1)), 0.25)
        self.assertEqual(others_share(Look(0, 0, 0, 0), Look(1, 0, 0, 0.01)), 0)  # ticks are rounded

    def test_children_are_our_own(self):
        """Those that live and those that have ended."""
        burn = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\n"
        before = look()
        ended = subprocess.run([sys.executable, "-c", burn], check=True, stdout=subprocess.PIPE)
        self.assertEqual(ended.stdout, b"\n")
        between = look()
        with subprocess.Popen([sys.executable, "-c", burn + "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            after = look()
            child.communicate(b"\n")
        self.assertGreaterEqual(between.own_s - before.own_s, 0.28)
        self.assertGreaterEqual(after.own_s - between.own_s, 0.28)
        self.assertGreaterEqual(look().own_s, after.own_s)


if __name__ == "__main__":
    unittest.main()

"""The comparison on which the other tests rest does find what is missing, wrong or too much."""

import contextlib
import io

import check_tables
from case import Case

SENT = [
    {"host": "a", "ts": "10", "x": "old", "y": "1"},
    {"host": "a", "ts": "30", "x": "new"},
    {"host": "a", "ts": "20", "x": "late"},
    {"host": "a", "ts": "30", "x": "same time, sent last"},
]
HISTORY = [("a#10", "x", 10, "old"), ("a#10", "y", 10, "1"), ("a#20", "x", 20, "late"),
           ("a#30", "x", 30, "same time, sent last")]
LATEST = [("a", "x", 30, "same time, sent last"), ("a", "y", 10, "1")]


class CheckTables(Case):

    def differences(self, expected: check_tables.Cells, found: list[tuple[str, str, int, str]]) -> int:
        with contextlib.redirect_stdout(io.StringIO()):
            return check_tables.compare("TABLE", expected, found)

    def test_comparison_finds_differences(self) -> None:
        """Each kind of difference, in each table, is one; equal content is none."""
        for expected, right in zip(check_tables.expect(SENT), (HISTORY, LATEST)):
            self.assertEqual(self.differences(expected, right), 0)
            for place, (row, qualifier, time_ms, value) in enumerate(right):
                before, after = right[:place], right[place + 1:]
                self.assertEqual(self.differences(expected, before + after), 1)
                self.assertEqual(self.differences(expected, [*before, (row, qualifier, time_ms, "other"), *after]), 1)
                self.assertEqual(self.differences(expected, [*before, (row, qualifier, time_ms + 1, value), *after]), 1)
                self.assertEqual(self.differences(expected, [*right, (row, f"{qualifier}2", time_ms, value)]), 1)

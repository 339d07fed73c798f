#!/usr/bin/env python3
"""Holds that docs/faults.md has one row for each fault, and that each test that a row names exists.

    check_faults.py [ROOT]

A test is named by its path in backquotes, `/pipeline-gateways/D3-never-answers`; its last part must stand in a source of
the tests, and begin with the row's id, alone or joined to others (D5-D8-...). A row without a test gives its reason.
"""
import re
import sys

from source_text import Findings, files_below, line_of, project_root, read

DOCUMENT = "docs/faults.md"
LAST = {"A": 30, "B": 12, "C": 20, "D": 24, "E": 20}

_ROW = re.compile(r"^\| ([A-E]\d+) \|([^\n]*)\|$", re.M)
_TEST = re.compile(r"`/([\w./-]+)/([\w.-]+)`")
_IDS = re.compile(r"(?:[A-E]\d+-)+")


def names_in_tests(root):
    """All text of the tests, in one: names are string literals there."""
    return "\n".join(read(path) for path in files_below(root, ("tests",), (".c", ".py")))


def main():
    root = project_root()
    findings = Findings(root)
    document = root / DOCUMENT
    text = read(document)
    tests = names_in_tests(root)
    wanted = [f"{part}{number}" for part, last in LAST.items() for number in range(1, last + 1)]
    rows = {}
    for row in _ROW.finditer(text):
        line = line_of(text, row.start())
        if row[1] in rows:
            findings.add(document, line, f"{row[1]} has two rows")
        rows[row[1]] = row
        shown_by = row[2].split("|")[-1].strip()
        for found in _TEST.finditer(shown_by):
            ids = _IDS.match(found[2])
            if found[2] not in tests:
                findings.add(document, line, f"{row[1]}: no test is called '{found[2]}'")
            elif ids is None or row[1] not in ids[0].split("-"):
                findings.add(document, line, f"{row[1]}: the test '{found[2]}' does not carry the id")
    for missing in [name for name in wanted if name not in rows]:
        findings.add(document, 1, f"{missing} has no row")
    return findings.report(f"{len(wanted)} faults")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Holds that docs/faults.md has one row for each fault, and that each test that a row names exists.

    check_faults.py [ROOT]

A test is named by its whole path in backquotes, `/pipeline-gateways/absence/D1-no-gateway-is-waited-for`. One source of
the tests must make that path of its string literals: of one, or of a beginning ("/pipeline-gateways/", or a format that
ends in "/%s") and the rest. Its last part begins with the row's id, alone or joined to others (D5-D8-...). A row without
a test gives its reason. A small letter behind an id (C7b) tells faults apart whose tests carry the same one.
"""
import re
import sys

from source_text import Findings, files_below, line_of, project_root, read, without_comments

DOCUMENT = "docs/faults.md"
LAST = {"A": 31, "B": 12, "C": 20, "D": 24, "E": 20}

_ROW = re.compile(r"^\| ([A-EK]\d+[b-z]?) \|([^\n]*)\|$", re.M)
_TEST = re.compile(r"`(/[\w./-]+/([\w.-]+))`")
_IDS = re.compile(r"(?:[A-EK]\d+-)+")
_LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')


class TestSource:
    """The paths that the string literals of one source of the tests can make."""

    def __init__(self, text):
        self.literals = set(_LITERAL.findall(without_comments(text)))
        self.beginnings = [re.compile(re.escape(literal.removesuffix("%s")).replace("%u", r"\d+"))
                           for literal in self.literals if re.match(r"/.*/(%s)?$", literal)]

    def makes(self, path):
        if path in self.literals:
            return True
        found = [beginning.match(path) for beginning in self.beginnings]
        return any(match is not None and path[match.end():] in self.literals for match in found)


def main():
    root = project_root()
    findings = Findings(root)
    document = root / DOCUMENT
    text = read(document)
    sources = [TestSource(read(path)) for path in files_below(root, ("tests",), (".c",))]
    wanted = [f"{part}{number}" for part, last in LAST.items() for number in range(1, last + 1)]
    rows = {}
    for row in _ROW.finditer(text):
        line = line_of(text, row.start())
        if row[1] in rows:
            findings.add(document, line, f"{row[1]} has two rows")
        rows[row[1]] = row
        shown_by = row[2].split("|")[-1].strip()
        if not shown_by:
            findings.add(document, line, f"{row[1]} names neither a test nor a reason")
        for found in _TEST.finditer(shown_by):
            ids = _IDS.match(found[2])
            if not any(source.makes(found[1]) for source in sources):
                findings.add(document, line, f"{row[1]}: no test is called '{found[1]}'")
            elif ids is None or row[1].rstrip("bcdefghijklmnopqrstuvwxyz") not in ids[0].split("-"):
                findings.add(document, line, f"{row[1]}: the test '{found[2]}' does not carry the id")
    for missing in [name for name in wanted if name not in rows]:
        findings.add(document, 1, f"{missing} has no row")
    return findings.report(f"{len(wanted)} faults")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Holds what documents say of exit codes against the program: docs/commands.md has all that there are, others name no
other, and what a symptom quotes, a source says.

    check_exit_codes.py [ROOT]

The codes are those of TideExit; systemd's are the RestartPreventExitStatus= of the unit. A symptom is the first column of a
table's row with "ends with"; "..." in a quotation stands for what differs.
"""
import re
import sys

from source_text import Findings, files_below, line_of, project_root, read

TABLE = "docs/commands.md"
UNIT = "systemd/tidemark.service.in"
OPERATE = "docs/operate.md"

_CODE = re.compile(r"^  TIDE_EXIT_\w+ = (\d+),", re.M)
_ROW = re.compile(r"^\| (\d+) \|", re.M)
_NAMED = re.compile(r"(?:[Ee]nds with|exit code|exit status) (\d+)\b")
_SYMPTOM = re.compile(r"^\| (ends with [^|]*) \|", re.M)
_QUOTED = re.compile(r"`([^`]+)`")
_FINAL = re.compile(r"^RestartPreventExitStatus=(.*)$", re.M)
_LEFT_FAILED = re.compile(r"^\| ([\d, ]+) \| leaves it failed", re.M)
# Of programs of others that the documents run.
FOREIGN = {"docs/upgrade.md": {"101"}}


def section(text, title):
    return text[text.index(f"## {title}\n"):].split("\n## ")[0]


def main():
    root = project_root()
    findings = Findings(root)
    codes = set(_CODE.findall(read(root / "daemon/util/error.h")))
    told = set(_ROW.findall(section(read(root / TABLE), "Exit codes")))
    for code in sorted(codes ^ told, key=int):
        findings.add(root / TABLE, 1, f"exit code {code} is {'not told' if code in codes else 'none of TideExit'}")
    # Literals may be broken into pieces.
    sources = "".join(re.sub(r'"\s*"', "", read(path)) for path in files_below(root, ("daemon", "config", "thrift"), (".c", ".h")))
    for path in [*files_below(root, ("docs",), (".md",)), root / "README.md"]:
        text = read(path)
        for found in _NAMED.finditer(text):
            if found[1] not in codes | FOREIGN.get(str(path.relative_to(root)), set()):
                findings.add(path, line_of(text, found.start()), f"no command ends with {found[1]}")
        for symptom in _SYMPTOM.finditer(text):
            for quoted in _QUOTED.findall(symptom[1]):
                for part in quoted.split("..."):
                    if part.strip(" :'") not in sources and part.strip(" :'") != "Permission denied":
                        findings.add(path, line_of(text, symptom.start()), f"no source says '{part.strip()}'")
    final, left = _FINAL.search(read(root / UNIT)), _LEFT_FAILED.search(read(root / OPERATE))
    if left is None or final[1].split() != left[1].split(", "):
        findings.add(root / OPERATE, 1, f"systemd leaves the unit failed after {final[1]}, which no row says")
    return findings.report(f"{len(codes)} exit codes")


if __name__ == "__main__":
    sys.exit(main())

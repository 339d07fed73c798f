#!/usr/bin/env python3
"""Compares .c and .cc files with what clang-format makes of them. Headers are laid out by hand: their comments are
columns, and clang-format breaks a prototype after its return type as it does a definition.

    check_format.py [ROOT]

Exit 77 (skipped) without clang-format 14: other versions lay the same text out in other ways.
"""
import re
import shutil
import subprocess
import sys

from source_text import SOURCE_FOLDERS, TEST_FOLDERS, Findings, files_below, project_root

CLANG_FORMAT_MAJOR = 14  # Debian 12's
SKIPPED = 77
_WARNING = re.compile(r"^(?P<path>.+?):(?P<line>\d+):\d+: (?:warning|error): code should be clang-formatted")


def usable_clang_format():
    for name in (f"clang-format-{CLANG_FORMAT_MAJOR}", "clang-format"):
        program = shutil.which(name)
        if program is None:
            continue
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        if f"version {CLANG_FORMAT_MAJOR}." in version:
            return program
    return None


def main():
    root = project_root()
    program = usable_clang_format()
    if program is None:
        print(f"skipped: clang-format {CLANG_FORMAT_MAJOR} is not installed")
        return SKIPPED
    findings = Findings(root)
    paths = files_below(root, SOURCE_FOLDERS + TEST_FOLDERS, (".c", ".cc", ".cpp"))
    # One call for all files: its start costs as much as a file.
    result = subprocess.run([program, "--dry-run", "--style=file", *map(str, paths)], capture_output=True, text=True,
                            check=True, cwd=root)
    faults = {}
    for warning in filter(None, map(_WARNING.match, result.stderr.splitlines())):
        faults.setdefault(warning["path"], warning["line"])
    for path in paths:
        if str(path) in faults:
            findings.add(path, faults[str(path)], "is not as clang-format lays it out: run clang-format -i on the file")
    return findings.report(f"format of {len(paths)} files")


if __name__ == "__main__":
    sys.exit(main())

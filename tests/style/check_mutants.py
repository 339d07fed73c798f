#!/usr/bin/env python3
"""Checks that every mutant of tests/mutation still fits the sources: its old text stands in its file, and once, and in a
directory of a build, where the tests are known, that its tests exist.

    check_mutants.py [ROOT]
"""
import json
import sys
from pathlib import Path

from source_text import project_root

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mutation"))
from mutants import read_all  # noqa: E402 pylint: disable=wrong-import-position


def fits(root, mutant):
    path = root / mutant.file
    return path.exists() and mutant.applied_to(path.read_text(encoding="utf-8")) is not None


def known_tests(root):
    """As a mutant names them, with or without their suite; empty outside of a build of @root."""
    info = Path("meson-info")
    is_build = info.exists() and Path(json.loads((info / "meson-info.json").read_text())["directories"]["source"]) == root
    tests = json.loads((info / "intro-tests.json").read_text()) if is_build else []
    suites = {(test["name"], suite.rpartition(":")[2]) for test in tests for suite in test["suite"]}
    return {name for name, _ in suites} | {f"{suite}/{name}" for name, suite in suites}


def main():
    root = project_root()
    mutants = read_all(root / "tests" / "mutation")
    problems = [f"{mutant.name}: its old text does not stand in {mutant.file}, or not once; change the mutant with its line"
                for mutant in mutants if not fits(root, mutant)]
    known = known_tests(root)
    problems += [f"{mutant.name}: there is no test '{test}'" for mutant in mutants for test in mutant.tests if known and test not in known]
    print("\n".join(problems) or f"{len(mutants)} mutants fit the sources")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

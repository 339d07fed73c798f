#!/usr/bin/env python3
"""Prints "passed failed skipped" of what `meson test` wrote below a directory: the cases in testlog.junit.xml, and from
testlog.json the programs that ended badly without a case that says so, as one that aborts does. No case at all is a
failure too.

    count_tests.py BUILD/meson-logs
"""
import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

GOOD = ("OK", "SKIP", "EXPECTEDFAIL")


def is_failed(case):
    return any(child.tag in ("failure", "error") for child in case)


def programs_ended_badly(log):
    with open(log, encoding="utf-8") as lines:
        tests = [json.loads(line) for line in lines]
    return [test["name"] for test in tests if test["result"] not in GOOD]


def main():
    logs = Path(sys.argv[1])
    root = ElementTree.parse(logs / "testlog.junit.xml").getroot()
    passed = failed = skipped = 0
    told = set()
    for suite in root.iter("testsuite"):
        for case in suite.iter("testcase"):
            if is_failed(case):
                failed += 1
                told.update((suite.get("name"), case.get("name")))
            elif case.find("skipped") is not None:
                skipped += 1
            else:
                passed += 1
    # A suite is called as the program, behind the project's name and a dot.
    failed += sum(1 for name in programs_ended_badly(logs / "testlog.json")
                  if not any(one == name or one.endswith("." + name) for one in told))
    if passed + failed + skipped == 0:
        failed = 1
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()

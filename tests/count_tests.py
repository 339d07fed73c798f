#!/usr/bin/env python3
"""Prints "passed failed skipped" of what `meson test` wrote below a directory: the cases in testlog.junit.xml, and from
testlog.json the programs that ended badly without a case that says so, as one that aborts does. No case at all is a
failure too. Where again.json is beside them, its programs count as they ended there.

    count_tests.py BUILD/meson-logs
    count_tests.py BUILD/meson-logs --to-repeat    prints the programs worth another run, a line each: those that failed,
                                                   unless they are many or one of them holds a sanitizer's report
    count_tests.py BUILD/meson-logs --unstable     prints those that passed in that other run
"""
import argparse
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

GOOD = ("OK", "SKIP", "EXPECTEDFAIL")
# More than these is no accident of a busy machine.
MOST_REPEATED = 3
SANITIZER_REPORT = re.compile(r"ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: ")


def is_failed(case):
    return any(child.tag in ("failure", "error") for child in case)


def programs(log):
    if not log.exists():
        return []
    with open(log, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def ended_badly(log):
    return [test for test in programs(log) if test["result"] not in GOOD]


def program_name(test):
    return test["name"].rsplit(" / ", 1)[-1]


def to_repeat(logs):
    failed = ended_badly(logs / "testlog.json")
    if len(failed) > MOST_REPEATED or any(SANITIZER_REPORT.search(test.get("stdout", "") + test.get("stderr", ""))
                                          for test in failed):
        return []
    return [program_name(test) for test in failed]


def count(logs, log, left_out=()):
    """Passed, failed and skipped of one run, but for the programs LEFT_OUT."""
    passed = failed = skipped = 0
    told = set()
    # A suite is called as the program, behind the project's name and a dot; a program without cases is itself a case.
    for suite in ElementTree.parse(logs / f"{log}.junit.xml").getroot().iter("testsuite"):
        if any(suite.get("name").endswith("." + name) for name in left_out):
            continue
        for case in suite.iter("testcase"):
            if case.get("name") in left_out:
                continue
            if is_failed(case):
                failed += 1
                told.update((suite.get("name"), case.get("name")))
            elif case.find("skipped") is not None:
                skipped += 1
            else:
                passed += 1
    failed += sum(1 for test in ended_badly(logs / f"{log}.json") if test["name"] not in left_out
                  and not any(one == test["name"] or one.endswith("." + test["name"]) for one in told))
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", type=Path)
    parser.add_argument("--to-repeat", action="store_true")
    parser.add_argument("--unstable", action="store_true")
    options = parser.parse_args()
    if options.to_repeat:
        print("".join(f"{name}\n" for name in to_repeat(options.logs)), end="")
        return
    again = programs(options.logs / "again.json")
    if options.unstable:
        print("".join(f"{program_name(test)}\n" for test in again if test["result"] in GOOD), end="")
        return
    repeated = [test["name"] for test in again]
    counts = count(options.logs, "testlog", repeated)
    if repeated:
        counts = tuple(map(sum, zip(counts, count(options.logs, "again"))))
    if sum(counts) == 0:
        counts = (0, 1, 0)
    print(*counts)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Prints "passed failed skipped" of a JUnit file that `meson test` wrote. A test program that ended without saying how is a
failure; one without a single case is a failure too."""
import sys
import xml.etree.ElementTree as ElementTree


def main() -> None:
    root = ElementTree.parse(sys.argv[1]).getroot()
    passed = failed = skipped = 0
    for case in root.iter("testcase"):
        kinds = {child.tag for child in case}
        if "failure" in kinds or "error" in kinds:
            failed += 1
        elif "skipped" in kinds:
            skipped += 1
        else:
            passed += 1
    for suite in root.iter("testsuite"):
        if int(suite.get("errors", "0")) > 0 and not any(
                child.tag in ("failure", "error") for case in suite.iter("testcase") for child in case):
            failed += 1
    if passed + failed + skipped == 0:
        failed = 1
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs the integration tests, tests/integration/test_*.py, on one real Kafka and HBase.

    run.py --tidemark build/daemon/tidemark --counts FILE [--half 1|2] [NAME...]

Without names, all but the long ones; with --long, these alone; those that run by name in neither. With names, the tests
whose name holds one of them. With --half, every other class of them: most tests wait, so that two halves on two stacks take
little more time than one. The tests' logs are kept when one fails. One or two that fail, other than by what the tables hold,
run again on a stack of their own, but for --long: what passes then has passed, and is named as unstable. What the tests of
secured gateways have seen is printed as a table, and with --versions what the tests of versions have.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
import signal
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Iterator, Optional, Sequence

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "stack"), str(HERE.parent / "versions")]
from case import Case  # noqa: E402
from cell_table import CellTable  # noqa: E402
from jvm_process import StackError  # noqa: E402
from maven_jars import JarError  # noqa: E402
from stack import Stack  # noqa: E402
from version_table import VersionTable  # noqa: E402


# More than these is no accident of a busy machine; and what is missing or wrong in a table is none, ever.
MOST_REPEATED = 2
WRONG_CONTENT = re.compile(r"(missing|wrong|unexpected|altered)'?:? +[1-9]")


class Result(unittest.TestResult):
    """One line for each test as it ends; the failures in full at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.n_passed = 0
        self._started = 0.0

    @property
    def n_failed(self) -> int:
        return len(self.failures) + len(self.errors) + len(self.unexpectedSuccesses)

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._started = time.monotonic()

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        # A subtest's id is its test's with the parameters behind it.
        troubled = {case.id().split(" ")[0] for case, _ in self.failures + self.errors}
        skipped = {case.id() for case, _ in self.skipped}
        outcome = "FAILED" if test.id() in troubled else "skipped" if test.id() in skipped else "ok"
        self.n_passed += outcome == "ok"
        print(f"{outcome:<7} {time.monotonic() - self._started:6.1f} s  {test.id()}", flush=True)

    def worth_another_run(self) -> list[unittest.TestCase]:
        failed = {case.id().split(" ")[0]: getattr(case, "test_case", case) for case, _ in self.failures + self.errors}
        wrong = any(WRONG_CONTENT.search(text) for _, text in self.failures + self.errors)
        return [] if wrong or len(failed) > MOST_REPEATED else list(failed.values())

    def print_failures(self) -> None:
        for test, text in self.failures + self.errors:
            print(f"\n== {test.id()}\n{text}")


def each_test(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from each_test(item)
        else:
            yield item


def is_long(test: unittest.TestCase) -> Optional[bool]:
    return getattr(getattr(test, test.id().rsplit(".", 1)[1], None), "is_long", False)


def load(names: Sequence[str], long: bool, half: Optional[int]) -> unittest.TestSuite:
    found = list(each_test(unittest.TestLoader().discover(str(HERE), pattern="test_*.py", top_level_dir=str(HERE))))
    if half is not None:
        # Whole classes, as some share a stack of their own.
        classes = sorted({test.id().rsplit(".", 1)[0] for test in found})[half - 1::2]
        found = [test for test in found if test.id().rsplit(".", 1)[0] in classes]
    if names:
        return unittest.TestSuite(test for test in found if any(name in test.id() for name in names))
    return unittest.TestSuite(test for test in found if is_long(test) == long)


def run(suite: unittest.TestSuite, options: argparse.Namespace, directory: Path) -> Result:
    result = Result()
    started = time.monotonic()
    with Stack(directory / "stack", gateways=2) as stack, contextlib.ExitStack() as Case.at_end:
        print(f"stack is up   {time.monotonic() - started:.1f} s", flush=True)
        Case.stack, Case.tidemark, Case.directory = stack, options.tidemark.absolute(), directory
        suite.run(result)
    return result


def repeat(tests: Sequence[unittest.TestCase], first: Result, options: argparse.Namespace, directory: Path) -> Result:
    again = run(unittest.TestSuite(tests), options, directory)
    again.n_passed += first.n_passed
    again.skipped += first.skipped
    if options.unstable is not None:
        with open(options.unstable, "a", encoding="utf-8") as file:
            file.writelines(f"integration: {test.id()}\n" for test in tests)
    return again


def report_versions(seen: VersionTable, path: Optional[Path]) -> None:
    if path is not None:
        print(f"\n{seen.every_step()}")
        path.write_text(seen.json(), encoding="utf-8")


def report_cells(seen: CellTable, path: Optional[Path]) -> None:
    if seen:
        print(f"\n{seen.markdown()}")
    if path is not None:
        path.write_text(seen.markdown(), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tidemark", required=True, type=Path, help="the binary to test")
    parser.add_argument("--counts", required=True, type=Path, help="file that gets 'passed failed skipped'")
    parser.add_argument("--long", action="store_true", help="the tests that ./check has no time for, alone")
    parser.add_argument("--half", type=int, choices=(1, 2), help="every other class of tests, from the first or the second on")
    parser.add_argument("--table", type=Path, help="file that gets the table of what each transport did, as it is printed")
    parser.add_argument("--versions", type=Path, help="file that gets what each version did, as versions.json has it")
    parser.add_argument("--unstable", type=Path, help="file to which the names of what passed only when repeated are added")
    parser.add_argument("names", nargs="*", metavar="NAME", help="part of a test's name")
    options = parser.parse_args()
    suite = load(options.names, options.long, options.half)
    if suite.countTestCases() == 0:
        parser.error(f"no test's name holds any of {options.names}")

    # Both ways of ending early leave nothing running behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    directory = Path(tempfile.mkdtemp(prefix="tidemark-integration-"))
    try:
        result = run(suite, options, directory)
        repeated = [] if options.long else result.worth_another_run()
        if repeated:
            result.print_failures()
            print(f"\nagain, {len(repeated)} alone:", flush=True)
            result = repeat(repeated, result, options, directory / "again")
    except (StackError, JarError, OSError) as error:
        print(f"{error}\nthe logs are in {directory}")
        options.counts.write_text("0 1 0\n", encoding="ascii")
        return 1
    except KeyboardInterrupt:
        shutil.rmtree(directory, ignore_errors=True)
        print("interrupted")
        return 1
    result.print_failures()
    report_cells(Case.seen, options.table)
    report_versions(Case.versions, options.versions)
    options.counts.write_text(f"{result.n_passed} {result.n_failed} {len(result.skipped)}\n", encoding="ascii")
    if result.n_failed:
        print(f"\nthe logs are in {directory}")
        return 1
    shutil.rmtree(directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Puts small bugs into the program, one at a time, and shows which of them the tests notice.

    run.py [--directory DIR] [--jobs N] [--only GLOB]... [--nearest] [--list] [--counts FILE]

The bugs stand in *.mutants, see mutants.py. Each is built in a copy of the working tree; first its nearest tests run, the
quick ones before the others, then these with sanitizers, then those of its folder, until one fails. Below 95 of 100 noticed, or with a bug whose text is not in the sources any more,
the exit code is 1.
"""
import argparse
import fnmatch
import queue
import sys
import threading
from pathlib import Path

from mutants import read_all
from workshop import Workshop

ENOUGH_PERCENT = 95

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

FLOW = ("kafka", "gateway", "tables", "mapping", "write", "rows", "dead_letters", "consumer", "service")

# The tests of a folder that are asked when the nearest have noticed nothing, in steps; patterns of "suite/name".
WIDER = {
    tuple(f"daemon/{room}/" for room in FLOW): [["unit/delivery-model", "unit/equal-times-model", "unit/accumulator", "unit/lanes*", "unit/row-buffer*",
                      "unit/bisect", "unit/partition", "unit/consumer*", "unit/pauses",
                      "unit/intake", "unit/consumer-dead-letters", "unit/dead-letter-queue*",
                      "unit/message-dead-letters",
                      "unit/mapping*"],
                     ["fault/pipeline*", "fault/dead-letter-queue", "fault/row-trial", "fault/regions", "fault/membership",
                      "fault/kafka-*", "fault/lifecycle-*", "fault/client-faults"]],
    "daemon/model/": [["unit/key-*", "unit/row-key", "unit/mapping*", "unit/table-*", "unit/time-*", "unit/zone-*",
                       "unit/reading-*", "unit/packed-*", "unit/cell-*", "unit/field-*"],
                      ["fault/verify", "fault/read-commands", "fault/schemes", "fault/pipeline-tables-*",
                       "fault/pipeline-readings-*", "examples/examples"]],
    "daemon/decode/": [["unit/decoder", "unit/json-*", "unit/mapping*", "unit/reading-*", "unit/record-*"],
                       ["fault/verify", "fault/pipeline-readings-*", "fault/pipeline-policies-*"]],
    "daemon/commands/init/": [["unit/draft", "unit/guess-*", "unit/init-samples", "unit/proposal"], ["fault/first-hour"]],
    "thrift/": [["unit/wire", "unit/reply-reader", "unit/encoders", "unit/hbase-*",
                 "unit/connection", "unit/row-buffer*"],
                ["fault/client-faults", "fault/gateway-client", "fault/pipeline-latest-*",
                 "fault/read-commands", "fault/verify"]],
}


def wider_tests(workshop, mutant):
    """Steps of tests, without those that were asked before; none for a folder that has no wider ones."""
    asked = {id(workshop.tests[name]) for name in mutant.tests}
    patterns = next((steps for folder, steps in WIDER.items() if mutant.file.startswith(folder)), [])
    names = [name for name in workshop.tests if "/" in name]
    for step in patterns:
        found = [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in step) and
                 id(workshop.tests[name]) not in asked]
        asked.update(id(workshop.tests[name]) for name in found)
        yield found


class Judgement:
    """What became of all mutants. Any thread."""

    def __init__(self, n_mutants):
        self.lock = threading.Lock()
        self.n_mutants = n_mutants
        self.noticed, self.unnoticed, self.broken = [], [], []

    def add(self, kind, mutant, text):
        with self.lock:
            getattr(self, kind).append(mutant)
            done = len(self.noticed) + len(self.unnoticed) + len(self.broken)
            word = {"noticed": "noticed", "unnoticed": "NOT NOTICED", "broken": "BROKEN"}[kind]
            print(f"{done:4}/{self.n_mutants} {word:12} {mutant.name}: {text}", flush=True)


def steps_of(workshop, mutant, nearest_only):
    """(where, names of tests), in the order in which they are asked."""
    for is_unit in (True, False):
        yield workshop, [name for name in mutant.tests if workshop.is_unit(name) == is_unit]
    yield workshop.sanitized(), mutant.tests
    if not nearest_only:
        yield from ((workshop, step) for step in wider_tests(workshop, mutant))


def judge(workshop, mutant, judgement, nearest_only):
    path = workshop.tree / mutant.file
    source = path.read_text(encoding="utf-8")
    path.write_text(mutant.applied_to(source), encoding="utf-8")
    try:
        for where, step in steps_of(workshop, mutant, nearest_only):
            if not step:
                continue
            problem = where.make(step)
            if problem is not None:
                judgement.add("broken", mutant, f"does not compile:\n{problem[-1500:]}")
                return
            failure = where.first_failure(step)
            if failure is not None:
                judgement.add("noticed", mutant, f"{failure[0]}: {failure[1]}")
                return
        text = mutant.excuse or mutant.promise
        if not nearest_only and not any(wider_tests(workshop, mutant)):
            text = f"noticed by none of the nearest tests; there are no wider ones: {text}"
        judgement.add("unnoticed", mutant, text)
    finally:
        path.write_text(source, encoding="utf-8")


def work(workshop, mutants, judgement, nearest_only):
    while True:
        try:
            mutant = mutants.get_nowait()
        except queue.Empty:
            return
        judge(workshop, mutant, judgement, nearest_only)


def check_lists(mutants, workshop):
    """What does not fit the sources any more."""
    problems = []
    for mutant in mutants:
        path = ROOT / mutant.file
        if not path.exists() or mutant.applied_to(path.read_text(encoding="utf-8")) is None:
            problems.append(f"{mutant.name}: its old text does not stand in {mutant.file}, or not once")
        problems += [f"{mutant.name}: no test '{name}'" for name in mutant.tests if name not in workshop.tests]
    return problems


def measure(workshop, mutants):
    """Runs the nearest tests without a mutant. Returns those that fail."""
    names = sorted({name for mutant in mutants for name in mutant.tests})
    problem = workshop.make(names)
    if problem is not None:
        sys.exit(f"the sources do not compile:\n{problem[-3000:]}")
    return workshop.measure(names)


def tell(judgement, counts):
    n = len(judgement.noticed) + len(judgement.unnoticed)
    enough = len(judgement.noticed) * 100 >= n * ENOUGH_PERCENT and not judgement.broken
    for mutant in judgement.unnoticed:
        print(f"not noticed: {mutant.name} ({mutant.file}): {mutant.promise}"
              f"{'; ' + mutant.excuse if mutant.excuse else ''}")
    print(f"{len(judgement.noticed)} of {n} mutants noticed, {len(judgement.broken)} broken")
    if counts:
        excused = sum(1 for mutant in judgement.unnoticed if mutant.excuse or enough)
        failed = len(judgement.unnoticed) - excused + len(judgement.broken)
        Path(counts).write_text(f"{len(judgement.noticed)} {failed} {excused}\n", encoding="utf-8")
    return 0 if enough else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--directory", type=Path, default=ROOT / "build-mutation")
    parser.add_argument("--jobs", type=int, default=2, help="copies of the tree that work side by side (2)")
    parser.add_argument("--only", action="append", default=[], help="names of mutants, or files; may be a pattern")
    parser.add_argument("--nearest", action="store_true", help="ask the nearest tests only: minutes instead of hours")
    parser.add_argument("--list", action="store_true", help="only look whether every mutant still fits the sources")
    parser.add_argument("--counts", help="where to write: noticed, not noticed, excused")
    options = parser.parse_args()
    mutants = [mutant for mutant in read_all(HERE)
               if not options.only or any(fnmatch.fnmatch(mutant.name, only) or fnmatch.fnmatch(mutant.file, only)
                                          for only in options.only)]
    n_jobs = max(1, min(options.jobs, len(mutants)))
    workshops = [Workshop(ROOT, options.directory / str(number)) for number in range(1 if options.list else n_jobs)]
    for workshop in workshops:
        workshop.read_tests()
    problems = check_lists(mutants, workshops[0])
    if problems:
        sys.exit("\n".join(problems))
    if options.list:
        print(f"{len(mutants)} mutants fit the sources")
        return 0
    failed = measure(workshops[0], mutants)
    if failed:
        sys.exit("without a mutant these tests fail:\n" + "\n".join(failed))
    for workshop in workshops[1:]:
        workshop.seconds = workshops[0].seconds
    judgement = Judgement(len(mutants))
    waiting = queue.Queue()
    # What is quick first; of one file together, which compiles less.
    def is_slow(mutant):
        return any(not workshops[0].is_unit(name) for name in mutant.tests)
    for mutant in sorted(mutants, key=lambda mutant: (is_slow(mutant), mutant.file)):
        waiting.put(mutant)
    workers = [threading.Thread(target=work, args=(workshop, waiting, judgement, options.nearest)) for workshop in workshops]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return tell(judgement, options.counts)


if __name__ == "__main__":
    sys.exit(main())

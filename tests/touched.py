#!/usr/bin/env python3
"""Chooses the tests that a change can break: what `./check --only touched` runs.

    touched.py BUILD            prints what is touched and why each group of tests runs, then "run: NAME NAME ..."
    touched.py BUILD --hold     the test `touched`: each fault test belongs to a room, and each room has fault tests

Touched is what differs from the merge base with main, committed or not; on main, from the last commit; where main is clean, what
the last commit changed. SINCE=COMMIT in the environment takes that commit instead. Of C the build knows what it became part of: which objects were compiled from it (ninja -t deps), and
which programs hold such an object (the names of source files in their symbol tables). BUILD has to be made of the tree as it is.
All unit programs that hold touched code are run. The whole daemon holds all code: of the fault tests that run all of it, those
of the room are run (SCENES), those that its mutants name, and a few that go the whole way (ALWAYS).
"""
from __future__ import annotations

import ast
import functools
import json
import mmap
import os
import re
import struct
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from built import build_of

ROOT = Path(__file__).resolve().parents[1]
C_SUFFIXES = (".c", ".h", ".cc", ".cpp")
SOURCES = ("daemon", "thrift", "config")
sys.path.insert(0, str(ROOT / "tests/mutation"))
from mutants import read_all  # noqa: E402 pylint: disable=wrong-import-position

# From a message to its row and its offset: whatever is touched of the daemon.
ALWAYS = r"pipeline-order|pipeline-messages|examples"
# The fault tests of a room, by their names. The longest folder that a file is in counts.
SCENES = {
    "config": r"check-and-run|reload-|source-commands|schema-topic|docs",
    "thrift": r"client-faults|gateway-client|scripted-|writer-connection|check-links|pipeline-gateways|pipeline-connections|regions",
    "daemon": r"lifecycle-|membership|full-disk|secrets|clock-",
    "daemon/util": r"lifecycle-signals|lifecycle-machine|pipeline-gateways-faults|full-disk|status",
    "daemon/http": r"metrics-doors|status|prometheus",
    "daemon/model": r"pipeline-latest-order|pipeline-tables|pipeline-policies|read-answers|moved-rows",
    "daemon/decode": r"pipeline-readings|pipeline-policies|schema-topic|source-commands|dead-letter-replay",
    "daemon/registry": r"pipeline-registry|schema-topic",
    "daemon/kafka": r"kafka-|mock-kafka|pipeline-kafka|pipeline-brokers|pipeline-topics|pipeline-offsets|pipeline-compressed|topic-commands",
    "daemon/files": r"load",
    "daemon/gateway": r"gateways|writer-connection|check-links|pipeline-gateways|pipeline-connections",
    "daemon/tables": r"regions|schemes|pipeline-tables|table-commands",
    "daemon/mapping": r"pipeline-readings|pipeline-policies|pipeline-sources|pipeline-latest|pipeline-tables",
    "daemon/write": r"pipeline-failures|pipeline-connections|pipeline-gateways|pipeline-shared|pipeline-equal-times|regions|"
                    r"pipeline-dead-letters-refused|pipeline-refused",
    "daemon/rows": r"pipeline-latest|pipeline-shared|pipeline-equal-times|pipeline-memory",
    "daemon/dead_letters": r"dead-letter-|kafka-dead-letters|pipeline-dead-letters|pipeline-failures|full-disk",
    "daemon/consumer": r"pipeline-commits|pipeline-rebalance|pipeline-lag|pipeline-offsets|pipeline-memory|pipeline-kafka|until-end|"
                       r"lifecycle-(stop|kill|suspend)",
    "daemon/service": r"lifecycle-|status|reload-|pause|metrics-doors|prometheus|operator-questions|clock-|membership",
    "daemon/manual": r"docs",
    "daemon/commands": r"read-commands|topic-commands|table-commands|docs",
    "daemon/commands/bench": r"bench-command",
    "daemon/commands/check": r"check-and-run|check-links|table-commands",
    "daemon/commands/dead_letters": r"dead-letter-",
    "daemon/commands/explain": r"table-commands|source-commands|docs",
    "daemon/commands/init": r"first-hour|init-payloads|init-shapes",
    "daemon/commands/load": r"load|commands-model",
    "daemon/commands/offsets": r"offsets-command",
    "daemon/commands/read": r"read-|commands-model",
    "daemon/commands/rollup": r"rollup|commands-model",
    "daemon/commands/simulate": r"topic-commands|schema-topic",
    "daemon/commands/status": r"status|operator-questions",
    "daemon/commands/tables": r"table-commands|schemes",
    "daemon/commands/verify": r"verify|commands-model",
}
# What a file's kind makes the tests of: (pattern of paths, pattern of tests).
READERS = [
    (r"(README|CONTRIBUTING)\.md|docs/.*\.md", r"docs|docs-blocks|first-hour"),
    (r"docs/(configuration|input|event-time|tables|options|keys-in-other-languages|dead-letters)\.md",
     r"shapes|config|key-vectors|message-dead-letters"),
    (r"docs/(metrics|monitoring)\.md", r"prometheus"),
    (r"config/examples/.*|tests/examples/.*", r"examples"),
    (r"config/prometheus/.*", r"prometheus|alert-rules"),
    (r"systemd/.*", r"unit-life|install|tidemark.*\.service"),
    (r"tests/scenarios/interface\.txt", r"interface"),
    (r"tests/(style|mutation)/.*|tests/.*\.py", r"checks"),
]
# Of the suite `style`, what runs the program or tests other scripts; all else of it reads texts, takes seconds, and always runs.
STYLE_OF_PROGRAM = ("interface", "manual", "completion", "install")
STYLE_OF_SCRIPTS = ("checks", "chaos-judge", "scenario-oracle", "docs-blocks")
# Not tests of `meson test` alone, or for ./check --long.
LEFT_OUT = ("long", "browser", "systemd", "figures", "scenarios")


def output_of(*command: str, cwd: Path = ROOT) -> str:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


def touched_files() -> tuple[str, list[str]]:
    """What it is compared with, in words, and the paths, those that are gone as well."""
    def try_git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    head, dirty = try_git("rev-parse", "HEAD"), bool(try_git("status", "--porcelain"))
    base = os.environ.get("SINCE") or try_git("merge-base", "HEAD", "main") or try_git("merge-base", "HEAD", "origin/main") or head
    if base == head and not dirty:
        base = try_git("rev-parse", "HEAD~1")
    paths = set(output_of("git", "diff", "--name-only", "--no-renames", base).splitlines())
    paths |= set(output_of("git", "ls-files", "--others", "--exclude-standard").splitlines())
    return f"{try_git('rev-parse', '--short', base)} ({try_git('log', '-1', '--format=%s', base)})", sorted(paths)


class Build:
    """What ninja and meson know of the build."""

    def __init__(self, build: Path) -> None:
        self.build = build
        # By name and first suite: a unit and a fault test may have one name.
        self.tests = {f"{test['name']} {test['suite'][0]}": test for test in
                      json.loads((build / "meson-info/intro-tests.json").read_text())}
        self.targets = {target["id"]: target for target in json.loads((build / "meson-info/intro-targets.json").read_text())}
        self.files_of_object = self._read_deps()
        self._held: dict[Path, set[str]] = {}

    def _read_deps(self) -> dict[str, set[str]]:
        """For each object, the files of the project that it was compiled from."""
        found: dict[str, set[str]] = {}
        name, to_root = "", os.path.relpath(ROOT, self.build) + "/"
        for line in output_of("ninja", "-t", "deps", cwd=self.build).splitlines():
            if line.startswith(" "):
                if line.startswith(to_root, 4):
                    found[name].add(line[4 + len(to_root):])
            elif ":" in line:
                name = line.partition(":")[0]
                found[name] = set()
        return found

    def sources_of(self, touched: set[str]) -> set[str]:
        """The sources whose objects are compiled from touched files."""
        return {next((file for file in sorted(files) if Path(file).suffix in (".c", ".cc", ".cpp") and
                      Path(name).name.removesuffix(".o").endswith(Path(file).name)), name)
                for name, files in self.files_of_object.items() if files & touched}

    def held_by(self, program: Path) -> set[str]:
        """The names of the source files that an executable is linked of."""
        if program not in self._held:
            with open(program, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as elf:
                self._held[program] = source_names(elf)
        return self._held[program]

    def programs_of(self, test: dict) -> set[Path]:
        """The executables that a test runs."""
        names = {Path(name) for target in test["depends"] if self.targets.get(target, {}).get("type") == "executable"
                 for name in self.targets[target]["filename"]}
        return {path for path in names if path.is_file()}


def source_names(elf: mmap.mmap) -> set[str]:
    """The STT_FILE symbols of a 64-bit little-endian ELF file."""
    if elf[:6] != b"\x7fELF\x02\x01":
        return set()
    at, size, n = struct.unpack_from("<Q", elf, 40)[0], *struct.unpack_from("<HH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, at + i * size) for i in range(n)]
    names = set()
    for _, kind, _, _, offset, _, link, n_local, *_ in sections:
        if kind == 2:  # SHT_SYMTAB: local symbols first
            texts = sections[link][4]
            for name, info, *_ in struct.iter_unpack("<IBBHQQ", elf[offset:offset + 24 * n_local]):
                if info & 15 == 4:
                    names.add(elf[texts + name:elf.find(b"\0", texts + name)].decode())
    return names


@functools.cache
def modules() -> dict[str, list[Path]]:
    """The project's scripts by the names that an import has."""
    found = defaultdict(list)
    for path in (ROOT / "tests").rglob("*.py"):
        found[path.stem].append(path)
    return found


@functools.cache
def imports_of(path: Path) -> list[Path]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else \
            [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found += [one for name in names for one in modules().get(name, [])]
    return found


def scripts_of(test: dict) -> set[str]:
    """The scripts that a test runs, and all that they import of the project."""
    waiting = [Path(word) for word in test["cmd"] if word.endswith(".py")]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        waiting += imports_of(path)
    return {str(path.relative_to(ROOT)) for path in found if path.is_relative_to(ROOT)}


def rooms_of(paths: set[str]) -> set[str]:
    return {max((room for room in SCENES if path.startswith(room + "/")), key=len) for path in paths if path.startswith(SOURCES)}


def named_tests(pattern: str, tests) -> set[str]:
    return {name for name in tests if re.match(pattern, name.split(" ")[0])}


def is_scene(test: dict) -> bool:
    """A test through more than one room: of the suite fault, or once, which no sanitizer runs."""
    return not {"tidemark:fault", "tidemark:once"}.isdisjoint(test["suite"])


def runs_whole_daemon(build: Build, test: dict) -> bool:
    return is_scene(test) and (not any(Path(one).name.startswith("test-") for one in test["cmd"][:1]) or any(
        "consumer.c" in build.held_by(program) for program in build.programs_of(test)))


def choose(build: Build, touched: set[str]) -> dict[str, set[str]]:
    """The tests to be run, by the reason."""
    tests = {name: test for name, test in build.tests.items() if not any(one.split(":")[1] in LEFT_OUT for one in test["suite"])}
    code = {path for path in touched if path.endswith(C_SUFFIXES)}
    sources = build.sources_of(code)
    of_tests = {path for path in sources if not path.startswith(SOURCES)}
    product = {path for path in sources if path.startswith(SOURCES)} | {path for path in code if path.startswith(SOURCES)}
    chosen: dict[str, set[str]] = defaultdict(set)
    names, test_names = {Path(path).name for path in product}, {Path(path).name for path in of_tests}
    daemon_is_touched = False
    for name, test in tests.items():
        held = set().union(*(build.held_by(program) for program in build.programs_of(test)))
        if held & test_names:
            chosen["they hold touched code of tests"].add(name)
        if held & names and "tidemark:style" not in test["suite"]:
            daemon_is_touched |= runs_whole_daemon(build, test)
            if not runs_whole_daemon(build, test):
                chosen["they hold touched code"].add(name)
    if product and daemon_is_touched:
        # By the files that were touched, not by those that include them: a header's own room is what changed.
        rooms = rooms_of(code)
        mutants = {name.rpartition("/")[2] for mutant in read_all(ROOT / "tests/mutation") if mutant.file in product
                   for name in mutant.tests}
        chosen[f"they run the daemon, for {', '.join(sorted(rooms))}"] |= named_tests(
            "|".join([ALWAYS, *(SCENES[room] for room in rooms)]), tests) | {name for name in tests if name.split(" ")[0] in mutants}
    for pattern, readers in READERS:
        if any(re.fullmatch(pattern, path) for path in touched):
            chosen["they read touched files"] |= named_tests(f"(?:{readers})$", tests)
    scripts = {path for path in touched if path.endswith(".py")}
    data = {path for path in touched - code - scripts if "." in Path(path).name and not path.endswith(("README.md", "meson.build"))}
    for name, test in tests.items():
        own = scripts_of(test)
        if own & scripts:
            chosen["their scripts are touched"].add(name)
        # Cases of tests of scripts have names of files that are none of the tree.
        if data and test["name"] not in STYLE_OF_SCRIPTS and any(Path(path).name in (ROOT / one).read_text(encoding="utf-8") for path in data for one in own):
            chosen["their scripts name touched files"].add(name)
    readers = {Path(file).name for file in output_of("git", "ls-files", "tests/*.c").splitlines() if (ROOT / file).is_file()
               for text in [(ROOT / file).read_text(encoding="utf-8", errors="replace")]
               if any(f"/{Path(path).name}" in text or f'"{Path(path).name}' in text for path in data)}
    if readers:
        chosen["their sources name touched files"] |= {name for name, test in tests.items() for program in build.programs_of(test)
                                                       if build.held_by(program) & readers}
    for path in touched:
        folder = str(Path(path).parent)
        if path.endswith("meson.build") and folder.startswith("tests/") and folder != "tests/unit":
            chosen[f"{path} is touched"] |= {name for name, test in tests.items() if any(f"/{folder}/" in word for word in test["cmd"])}
        elif path.endswith("meson.build") or path == "meson_options.txt":
            chosen[f"{path} is touched"] |= {name for name, test in tests.items() if "tidemark:unit" in test["suite"]}
    style = {name for name, test in tests.items() if "tidemark:style" in test["suite"] and test["name"] not in STYLE_OF_SCRIPTS and
             (test["name"] not in STYLE_OF_PROGRAM or product or any(path.startswith(("docs/", "daemon/manual/", "systemd/")) for path in touched))}
    chosen["they read all texts"] |= style
    return chosen


def hold(build: Build) -> list[str]:
    faults = {name for name, test in build.tests.items() if is_scene(test)}
    of_rooms = {room: named_tests(pattern, faults) for room, pattern in SCENES.items()}
    findings = [f"tests/touched.py: no fault test is called as the room '{room}' has it in SCENES" for room in sorted(of_rooms)
                if not of_rooms[room]]
    lone = faults - set().union(*of_rooms.values()) - named_tests(ALWAYS, faults)
    findings += [f"tests/touched.py: no room in SCENES has the fault test '{build.tests[one]['name']}', so no change of sources chooses it"
                 for one in sorted(lone) if runs_whole_daemon(build, build.tests[one])]
    findings += [f"tests/touched.py: SCENES has no room for '{path}'" for path in output_of("git", "ls-files", *SOURCES).splitlines()
                 if path.endswith(C_SUFFIXES) and not any(path.startswith(room + "/") for room in SCENES)]
    return findings


def main() -> int:
    build = Build(build_of(sys.argv, "meson-info/intro-tests.json", "build.ninja"))
    if "--hold" in sys.argv:
        findings = hold(build)
        print("\n".join([*findings, f"{len(SCENES)} rooms with their fault tests: {len(findings)} findings"]))
        return 1 if findings else 0
    base, paths = touched_files()
    print(f"{len(paths)} files differ from {base}")
    chosen = choose(build, set(paths)) if paths else {}
    run: set[str] = set()
    for reason, names in chosen.items():
        names = {name.split(" ")[0] for name in names}
        new = sorted(names - run)
        run |= names
        if new:
            print(f"   {len(new)} tests, because {reason}: {' '.join(new[:12])}{' ...' if len(new) > 12 else ''}")
    if any(path.startswith(("tests/stack/", "tests/integration/", "tests/chaos/")) for path in paths):
        print("   not run: tests/stack, tests/integration and tests/chaos have changes: ./check --only integration --only chaos")
    print("run:", *sorted(run))
    return 0


if __name__ == "__main__":
    sys.exit(main())

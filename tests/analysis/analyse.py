#!/usr/bin/env python3
"""Static analysis of the program's own sources: the analysers of clang and GCC, and cppcheck, file by file.

    analyse.py BUILD [--jobs N] [--only TOOL] [--counts FILE]

BUILD is a configured build directory (compile_commands.json). A finding is an error, unless answered.txt says why it is
none. An answer that no finding needs any more is an error, too.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDERS = ("daemon/", "thrift/", "config/")
ANSWERS = HERE / "answered.txt"

# Clang 14 does not know that g_autofree and g_autoptr free, nor that GLib's macros end in values nobody reads. Leaks are
# LeakSanitizer's, in every test.
CLANG_OFF = ("deadcode.DeadStores", "unix.Malloc")
FINDING = re.compile(r"^(?P<path>[^:\s]+):(?P<line>\d+):(?:\d+:)? (?:warning|error|style|performance|portability): (?P<text>.*)$")


def own_commands(build):
    """(source relative to the root, the words that it is compiled with) of the program's own sources."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = Path(os.path.normpath(build / entry["file"]))
        if source.is_relative_to(ROOT) and str(source.relative_to(ROOT)).startswith(FOLDERS):
            yield source.relative_to(ROOT), shlex.split(entry["command"])


def flags_of(words):
    """What decides what a source means: where its headers are, and macros."""
    return [word for word in words if word.startswith(("-I", "-D", "-std="))]


def clang(build, source, words):
    off = [word for checker in CLANG_OFF for word in ("-Xclang", f"-analyzer-disable-checker={checker}")]
    return ["clang-14", *flags_of(words), "--analyze", "--analyzer-output", "text", *off, "-o", "/dev/null", str(ROOT / source)]


def cppcheck(build, source, words):
    if source.suffix == ".cpp":
        return []
    own = [word for word in flags_of(words) if word.startswith("-D") or not word.startswith("-I/usr")]
    return ["cppcheck", "--quiet", "--enable=warning,performance,portability", "--library=gtk", "--inline-suppr", "--force",
            "--max-configs=1", "--suppress=missingInclude", "--suppress=unknownMacro", "--template={file}:{line}: {severity}: {message} [{id}]",
            *[word for word in own if not word.startswith("-std")], "--std=c11", str(ROOT / source)]


def gcc(build, source, words):
    """With all warnings of -fanalyzer's default. Version 12 knows no C++."""
    if source.suffix != ".c":
        return []
    return ["gcc", *flags_of(words), "-fanalyzer", "-fdiagnostics-path-format=none", "-c", "-o", "/dev/null", str(ROOT / source)]


TOOLS = {"clang": clang, "cppcheck": cppcheck, "gcc": gcc}


def analyse(tool, build, source, words):
    """The findings of one tool in one source: (file, text, whole line)."""
    command = TOOLS[tool](build, source, words)
    if not command:
        return []
    result = subprocess.run(command, cwd=build, capture_output=True, text=True, check=False)
    found = []
    for line in (result.stdout + result.stderr).splitlines():
        match = FINDING.match(line)
        if not match:
            continue
        path = Path(os.path.normpath(build / match["path"]))
        if path.is_relative_to(ROOT) and not path.is_relative_to(build):
            name = str(path.relative_to(ROOT))
            found.append((name, match["text"], f"{name}:{match['line']}: {tool}: {match['text']}"))
    if result.returncode != 0 and not found:
        found.append((str(source), "failed", f"{source}:1: {tool} failed: {result.stderr.strip()[-300:]}"))
    return found


def read_answers():
    """[(tool, file, part of the text)]: blocks of '@ TOOL FILE PART', each above why it is none."""
    answers = []
    for line in ANSWERS.read_text().splitlines():
        if line.startswith("@ "):
            answers.append(tuple(line[2:].split(" ", 2)))
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: Path(text).resolve())
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=list(TOOLS), action="append")
    parser.add_argument("--counts", help="where to write: sources without a finding, findings, 0")
    arguments = parser.parse_args()
    tools, answers, used, findings = arguments.only or list(TOOLS), read_answers(), set(), set()
    work = [(tool, arguments.build, source, words) for tool in tools for source, words in own_commands(arguments.build)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for (tool, *_), found in zip(work, pool.map(lambda task: analyse(*task), work)):
            for name, text, line in found:
                answer = next((one for one in answers if one[:2] == (tool, name) and one[2] in text), None)
                if answer is None:
                    findings.add(line)
                else:
                    used.add(answer)
    findings.update(f"tests/analysis/answered.txt: needed no more: {' '.join(answer)}" for answer in answers
                    if answer not in used and answer[0] in tools)
    print("\n".join(sorted(findings)))
    print(f"{len(work)} analyses, {len(findings)} findings, {len(used)} answered")
    if arguments.counts:
        Path(arguments.counts).write_text(f"{len(work)} {len(findings)} 0\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

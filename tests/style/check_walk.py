#!/usr/bin/env python3
"""Holds that each file that docs/internals.md names exists, that each function that it names in a file is defined there, that each
step of the walk from poll to commit names exactly one, and that its table of threads has those that there are.

    check_walk.py [ROOT]

A function is named as `function()` in `folder/file.c`.
"""
import re
import sys

from source_text import Findings, code_only, files_below, line_of, listed_files, project_root, read

DOCUMENT = "docs/internals.md"
SECTION = "One message, from poll to commit"
N_STEPS_MAX = 15

_THREAD = re.compile(r'(?:tide_thread_start\(|thread_name = |g_strdup_printf\()"(tide-[a-z]+)')
_ROW = re.compile(r"^\| `(tide-[a-z]+)(?:-N)?` \|", re.M)
_NAMED = re.compile(r"`(\w+)\(\)`\s+in\s+`([\w/]+\.c)`")
_FILE = re.compile(r"`([\w/]+\.[ch])`")


def defines(path, function):
    """As the sources are laid out: the name of a defined function begins its line."""
    return path.is_file() and re.search(rf"^{function}\(", code_only(read(path)), re.M) is not None


def check_threads(findings, root, document, text):
    started = {name: path for path in files_below(root, ("daemon", "thrift"), (".c",)) for name in _THREAD.findall(read(path))}
    told = set(_ROW.findall(text))
    for name in sorted(started.keys() - told):
        findings.add(started[name], 1, f"starts the thread '{name}', which no table of {DOCUMENT} has")
    for name in sorted(told - started.keys()):
        findings.add(document, 1, f"no thread is called '{name}'")


def main():
    root = project_root()
    findings = Findings(root)
    document = root / DOCUMENT
    text = read(document)
    for named in _NAMED.finditer(text):
        if not defines(root / named[2], named[1]):
            findings.add(document, line_of(text, named.start()), f"'{named[2]}' does not define {named[1]}()")
    paths = [str(path) for path in listed_files(root)]
    for named in _FILE.finditer(text):
        if not any(f"/{path}".endswith(f"/{named[1]}") for path in paths):
            findings.add(document, line_of(text, named.start()), f"no file '{named[1]}'")
    check_threads(findings, root, document, text)
    section = re.search(rf"^## {SECTION}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    steps = list(re.finditer(r"^(\d+)\. (.*?)(?=^\d+\. |^\S|\Z)", section[1], re.M | re.S)) if section else []
    if not 1 <= len(steps) <= N_STEPS_MAX:
        findings.add(document, 1, f"'## {SECTION}' has {len(steps)} steps, not 1 to {N_STEPS_MAX}")
    for number, step in enumerate(steps, 1):
        line = line_of(text, section.start(1) + step.start())
        if int(step[1]) != number:
            findings.add(document, line, f"step {step[1]} should be {number}")
        if len(_NAMED.findall(step[2])) != 1 or step[2].count("()`") != 1:
            findings.add(document, line, f"step {number} does not name exactly one function in its file")
    return findings.report(f"{len(steps)} steps")


if __name__ == "__main__":
    sys.exit(main())

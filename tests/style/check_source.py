#!/usr/bin/env python3
"""Holds the rules of the source text that a machine can tell without doubt.

    check_source.py [ROOT]
"""
import ast
import re
import sys

from source_text import (C_SUFFIXES, SOURCE_FOLDERS, TEST_FOLDERS, Findings, code_only, comments_only, files_below, line_of, project_root,
                         read)

MAX_FILE_LINES = 900
# clang-format wraps code at 120; a comment may pass it by a word.
MAX_LINE_LENGTH = 128

# (pattern in the code, why not)
FORBIDDEN_EVERYWHERE = [
    (r"\bgoto\b", "no goto: a function of its own, or g_autoptr, does it"),
]
FORBIDDEN_IN_SOURCES = [
    (r"\b(?:GMutex|GCond|GRWLock|GRecMutex|GAsyncQueue|GThreadPool)\b|\bg_(?:mutex|cond|rw_lock|rec_mutex|async_queue|thread)_",
     "ThreadSanitizer does not see GLib's locks: use util/lock.h"),
    (r"\bsetlocale\s*\(", "the program stays in the C locale: numbers of messages and of HBase have a point"),
]
FORBIDDEN_IN_TESTS = [
    (r"\b(?:g_usleep|usleep|sleep|nanosleep|clock_nanosleep|thrd_sleep)\s*\(",
     "a sleep is no synchronisation: wait for what is to happen, with a deadline"),
]
# In a comment. XXX is also a pattern's element and the end of a temporary file's name: as a mark it begins a line, or has a colon.
UNFINISHED = re.compile(r"\b(?:TODO|FIXME)\b|\bXXX:|^\W*XXX\b", re.MULTILINE)

TEXT_SUFFIXES = (".py", ".md", ".yaml", ".yml", ".thrift", ".in", ".sh", "meson.build")
TEXT_FOLDERS = SOURCE_FOLDERS + TEST_FOLDERS + ("docs", "systemd")
# Data of tests is what it has to be: bad YAML, golden bytes, corpora.
DATA_FOLDERS = ("corpus", "data", "golden")


def is_data(root, path):
    return any(part in DATA_FOLDERS for part in path.relative_to(root).parts)


def check_text(findings, path, text):
    is_shown = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            is_shown = not is_shown
        # What a document shows of a message has the tabs that the message has.
        if "\t" in line and not (is_shown and path.suffix == ".md"):
            findings.add(path, number, "has a tab: indent with blanks, and write \\t in a string")
        if line != line.rstrip():
            findings.add(path, number, "ends in a blank or a carriage return")
    if text and not text.endswith("\n"):
        findings.add(path, text.count("\n") + 1, "the last line has no end")


def check_code_shape(findings, path, text):
    n_lines = text.count("\n")
    if n_lines > MAX_FILE_LINES:
        findings.add(path, n_lines, f"has {n_lines} lines; above {MAX_FILE_LINES} a file does a second thing")
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE_LENGTH:
            findings.add(path, number, f"is {len(line)} characters long, more than {MAX_LINE_LENGTH}")
    comments = comments_only(text)
    for mark in UNFINISHED.finditer(comments):
        findings.add(path, line_of(comments, mark.end()), "says that something is unfinished: finish it, or make it an issue")


def check_forbidden(findings, path, code, rules):
    for pattern, reason in rules:
        for use in re.finditer(pattern, code):
            findings.add(path, line_of(code, use.start()), f"'{use[0].strip()}': {reason}")


def check_header(findings, path, text):
    if not text.startswith("/*"):
        findings.add(path, 1, "a header begins with a comment that says what it is for")
    if "\n#pragma once\n" not in text:
        findings.add(path, 1, "a header has '#pragma once'")


def check_c_file(findings, root, path):
    text = read(path)
    code = code_only(text)
    is_test = path.relative_to(root).parts[0] in TEST_FOLDERS
    check_text(findings, path, text)
    check_code_shape(findings, path, text)
    check_forbidden(findings, path, code, FORBIDDEN_EVERYWHERE)
    check_forbidden(findings, path, code, FORBIDDEN_IN_TESTS if is_test else FORBIDDEN_IN_SOURCES)
    if path.suffix == ".h":
        check_header(findings, path, text)


def check_text_file(findings, path):
    text = read(path)
    check_text(findings, path, text)
    if path.suffix == ".py":
        try:
            ast.parse(text)
        except SyntaxError as error:
            findings.add(path, error.lineno or 1, f"is not Python: {error.msg}")


def main():
    root = project_root()
    findings = Findings(root)
    c_files = [p for p in files_below(root, SOURCE_FOLDERS + TEST_FOLDERS, C_SUFFIXES) if not is_data(root, p)]
    text_files = [p for p in files_below(root, TEXT_FOLDERS, TEXT_SUFFIXES) if not is_data(root, p)]
    for path in c_files:
        check_c_file(findings, root, path)
    for path in text_files:
        check_text_file(findings, path)
    return findings.report(f"text of {len(c_files)} C files and {len(text_files)} others")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Holds that each format of messages is told to all that has to know of it: each of PLACES names each word of `TIDE_FORMATS` in
daemon/decode/decode_options.h, as the word or as the value of TideReadingFormat. Its reader, and of a format of bytes what `simulate`
changes it by, are functions without which nothing is linked.

    check_formats.py [ROOT]
"""
import re
import sys

from source_text import Findings, project_root, read

TABLE = "daemon/decode/decode_options.h"
# What is decided or held of formats in a place. A test has a case for each: it finds what a place decides wrongly.
PLACES = {
    "daemon/decode/formats.c": "its row: what ends a message, which options it takes",
    "tests/unit/config/test-config-problems.c": "which options it does not take",
    "tests/unit/files/test-file-framing.c": "where a message of it ends in a file",
    "tests/unit/commands/init/test-proposal.c": "what init writes for it, such as on_bad_reading",
    "tests/fault/program/test-dead-letter-replay.c": "a bad message of it, from its dead letter to its rows",
    "tests/formats/agree.py": "another decoder that reads the same",
    "docs/input.md": "what a message of it looks like",
    "docs/init.md": "how init reads samples of it",
}


def main():
    root = project_root()
    findings = Findings(root)
    formats = re.findall(r'\bF\("(\w+)", (\w+), \w+\)', read(root / TABLE))
    if not formats:
        findings.add(root / TABLE, 1, "has no list 'TIDE_FORMATS'")
    for place, what in PLACES.items():
        text = read(root / place)
        for word, value in formats:
            if not re.search(rf"\b{word}\b|\b{value}\b", text, re.IGNORECASE):
                findings.add(root / place, 1, f"does not name the format '{word}': {what}")
    return findings.report(f"{len(formats)} formats in {len(PLACES)} places")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""codespell finds no misspelt word, but those of words.txt.

    check_spelling.py ROOT

Exit 77 (skipped) without codespell.
"""
import shutil
import subprocess
import sys
from pathlib import Path

from source_text import listed_files, project_root

WORDS = Path(__file__).resolve().parent / "words.txt"
# What fuzzers, compilers and package managers made has no words.
_WITHOUT_WORDS = "tests/fuzz/corpus/"
_COMPILED = (".desc", ".sum")
# A tab or a line's end within a string is no letter of the word behind it: a tab in front of "each" makes no misspelt one.
_ESCAPE = r"\\[abefnrtv]"


def main():
    root = project_root()
    program = shutil.which("codespell")
    if program is None:
        print("skipped: codespell is not installed")
        return 77
    files = [path for path in listed_files(root)
             if not path.as_posix().startswith(_WITHOUT_WORDS) and path.suffix not in _COMPILED and root / path != WORDS]
    found = subprocess.run([program, "--ignore-words", str(WORDS), "--ignore-regex", _ESCAPE, "--disable-colors", *files], cwd=root,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    print(found, end="")
    print(f"spelling of {len(files)} files: {len(found.splitlines())} findings")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())

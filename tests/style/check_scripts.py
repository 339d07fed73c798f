#!/usr/bin/env python3
"""shellcheck takes each shell script.

    check_scripts.py ROOT

Exit 77 (skipped) without shellcheck.
"""
import re
import shutil
import subprocess
import sys

from source_text import listed_files, project_root

_SHEBANG = re.compile(rb"#!.*\b(?:ba)?sh\b")
_PARTS_OF_CHECK = "tests/check.d"
# What is a matter of taste is left to taste.
_OPTIONS = ["--severity=info", "--external-sources", "--format=gcc", "--exclude=SC2015"]


def is_script(path):
    with path.open("rb") as file:
        return _SHEBANG.match(file.readline()) is not None


def main():
    root = project_root()
    program = shutil.which("shellcheck")
    if program is None:
        print("skipped: shellcheck is not installed")
        return 77
    files = listed_files(root)
    scripts = [path for path in files if is_script(root / path)]
    # `check` reads them, and its variables are theirs.
    parts = [path for path in files if path.parent.as_posix() == _PARTS_OF_CHECK and path.suffix == ".sh"]
    codes = [subprocess.run([program, *_OPTIONS, *options, *paths], cwd=root, check=False).returncode
             for paths, options in ((scripts, []), (parts, ["--shell=bash", "--exclude=SC2154"])) if paths]
    print(f"{len(scripts)} scripts and {len(parts)} parts of check: {'right' if not any(codes) else 'see above'}")
    return 1 if any(codes) or not scripts else 0


if __name__ == "__main__":
    sys.exit(main())

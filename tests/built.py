"""Which build a test looks at: the directory that its first argument names, or a sentence that says what is needed."""
from __future__ import annotations

import sys
from pathlib import Path


def build_of(arguments: list[str], *needed: str) -> Path:
    """Takes BUILD out of ARGUMENTS (sys.argv). Ends the test where it is not given, or holds not all that is NEEDED below it."""
    name = Path(arguments[0]).name
    if len(arguments) < 2 or arguments[1].startswith("-"):
        sys.exit(f"{name}: needs a build: meson setup build && ninja -C build, then {arguments[0]} build")
    build = Path(arguments.pop(1)).resolve()
    missing = [one for one in needed if not (build / one).exists()]
    if missing:
        sys.exit(f"{name}: '{build}' has no {', '.join(missing)} yet: ninja -C {build}")
    return build

"""Go programs of a module of their own, whose go.sum pins all that they import: built once and kept in the cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import maven_jars
from jvm_process import StackError


def built(module: Path) -> Path:
    """The program; built when one of the module's files has changed."""
    go = shutil.which("go")
    if go is None:
        raise StackError("'go' is not installed: Telegraf's serializers need it (Debian: golang-go)")
    contents = b"".join(file.read_bytes() for file in sorted(module.iterdir()))
    program = maven_jars.cache_directory() / f"{module.name}-{hashlib.sha256(contents).hexdigest()[:12]}"
    with maven_jars.exclusive(maven_jars.cache_directory() / f"{module.name}.lock", f"builds the program '{module.name}'"):
        if not program.exists():
            unfinished = program.with_suffix(".unfinished")
            done = subprocess.run([go, "build", "-mod=readonly", "-buildvcs=false", "-o", str(unfinished), "."], cwd=module,
                                  env={**os.environ, "CGO_ENABLED": "0"}, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, check=False)
            if done.returncode != 0:
                raise StackError(f"cannot build '{module}':\n{done.stderr}")
            unfinished.rename(program)
    return program

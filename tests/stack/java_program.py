"""Java programs of a file or two, compiled once and kept in the cache beside the class paths."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from typing import Sequence

import java_flags
import maven_jars
from jvm_process import StackError


def compiled(name: str, sources: Sequence[Path], classpath_file: Path) -> Path:
    """The directory of the program's classes; compiled when its sources or the jars that it needs have changed."""
    contents = b"".join(source.read_bytes() for source in sources)
    stamp = hashlib.sha256(contents + classpath_file.name.encode("ascii")).hexdigest()[:12]
    directory = maven_jars.cache_directory() / f"{name}-{stamp}"
    with maven_jars.exclusive(maven_jars.cache_directory() / f"{name}-compile.lock", f"compiles the program '{name}'"):
        if not directory.exists():
            _compile(sources, classpath_file, directory)
    return directory


def _compile(sources: Sequence[Path], classpath_file: Path, directory: Path) -> None:
    """The directory appears with all its classes or not at all."""
    unfinished = directory.with_suffix(".unfinished")
    command = [java_flags.java("javac"), "-d", str(unfinished), *map(str, sources)]
    classpath = classpath_file.read_text(encoding="utf-8").strip()
    done = subprocess.run(command, env=java_flags.environment(classpath), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise StackError(f"cannot compile {', '.join(map(repr, map(str, sources)))}:\n{done.stderr}")
    unfinished.rename(directory)

"""Packages from PyPI, pinned in a requirements file, in an environment of their own that is made once and kept in the cache."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import maven_jars


def environment(name: str, requirements: Path, *options: str) -> Path:
    """The interpreter of the virtual environment; it is made when the requirements have changed. options: of pip install."""
    pin = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    directory = maven_jars.cache_directory() / f"{name}-{pin}"
    # An environment cannot be renamed once it is there whole, so a mark tells whether it is.
    mark = directory / "complete"
    with maven_jars.exclusive(maven_jars.cache_directory() / f"{name}.lock", f"installs the packages of {name}"):
        if not mark.exists():
            shutil.rmtree(directory, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
            subprocess.run([str(directory / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *options,
                            "--requirement", str(requirements)], check=True)
            mark.touch()
    return directory / "bin" / "python"

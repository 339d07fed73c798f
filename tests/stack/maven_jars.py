"""The jars of Kafka, HBase and programs beside them, fetched from Maven Central once and remembered as class paths.

What is an archive is unpacked into the cache. A class path is kept in a file of the cache, named after the text of the
pom.xml it came from: a changed pin is a new file, and an old one is never taken for it. Several test runs may ask at once;
one of them fetches, the others wait.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Iterator, Optional

HERE = Path(__file__).resolve().parent

# The waits between attempts; a mirror that drops a connection is usually back within a minute.
RETRY_DELAYS_S = (3, 10, 30)

# What a first run downloads, measured; only for the progress sentence.
DOWNLOAD_SIZE = {**{f"hbase-{release}": "about 80 MB" for release in ("1.4", "2.0", "2.2", "2.4")},
                 "kafka": "about 45 MB", "kafka-3.7": "about 40 MB", "kafka-2.8": "about 35 MB", "hbase": "about 110 MB", "bench-java": "about 75 MB", "bench-flink": "about 175 MB",
                 "bench-import-tsv": "about 95 MB",
                 "schema-registry": "about 140 MB", "debezium": "about 23 MB", "phoenix": "about 9 MB"}


class JarError(Exception):
    """The jars could not be had; the text says what to do."""


def cache_directory() -> Path:
    """Where class paths and compiled helpers are kept; created when missing."""
    chosen = os.environ.get("TIDEMARK_STACK_CACHE")
    if not chosen:
        chosen = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tidemark-stack")
    path = Path(chosen).absolute()
    path.mkdir(parents=True, exist_ok=True)
    return path


def say(sentence: str) -> None:
    """Tells what is going on, on stderr: stdout belongs to output that programs read."""
    print(f"stack: {sentence}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def exclusive(lock_path: Path, waiting_for: str) -> Iterator[None]:
    """Holds a lock file for the block, across processes; says so when it must wait."""
    with open(lock_path, "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that {waiting_for}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def classpath_file(component: str, pom: Optional[Path] = None) -> Path:
    """The file that holds the class path of 'kafka' or 'hbase', or of another pom.xml; fetches the jars when it must."""
    pom = pom or HERE / component / "pom.xml"
    pin = hashlib.sha256(pom.read_bytes()).hexdigest()[:12]
    path = cache_directory() / f"{component}-{pin}.classpath"
    if not _is_usable(path):
        with exclusive(cache_directory() / f"{component}.lock", f"fetches the jars of {component}"):
            if not _is_usable(path):
                _resolve(component, pom, path)
    return path


def classpath(component: str, pom: Optional[Path] = None) -> str:
    """The class path of 'kafka' or 'hbase', or of another pom.xml, as java takes it."""
    return classpath_file(component, pom).read_text(encoding="utf-8").strip()


def unpacked(component: str, artifact: str, sha256: str) -> Path:
    """The folder of what the archive GROUP:NAME:VERSION:TYPE:CLASSIFIER, which has this checksum, holds."""
    path = cache_directory() / f"{component}-{sha256[:12]}"
    with exclusive(cache_directory() / f"{component}.lock", f"fetches {component}"):
        if not path.exists():
            _fetch(component, lambda log_path: _copy_and_unpack(artifact, sha256, path, log_path))
    return path


def _is_usable(path: Path) -> bool:
    """False when the file is missing or names a jar that was cleaned away since."""
    try:
        jars = path.read_text(encoding="utf-8").strip().split(":")
    except FileNotFoundError:
        return False
    return all(os.path.exists(jar) for jar in jars)


def _resolve(component: str, pom: Path, path: Path) -> None:
    """Fetches until the class path is written; a partly fetched repository is continued, not begun again."""
    _fetch(component, lambda log_path: _build_classpath(pom, path, log_path))


def _fetch(component: str, attempt: Callable[[Path], bool]) -> None:
    """Calls the attempt, with where its log goes, until it succeeds, or often enough."""
    if shutil.which("mvn") is None:
        raise JarError(f"'mvn' is not installed: {component} comes through Maven (Debian: maven)")
    log_path = cache_directory() / f"{component}-maven.log"
    say(f"fetching {component} from Maven Central, once ({DOWNLOAD_SIZE[component]})")
    started = time.monotonic()
    for delay_s in (*RETRY_DELAYS_S, None):
        if attempt(log_path):
            say(f"{component} is here after {time.monotonic() - started:.0f} s")
            return
        if delay_s is not None:
            say(f"fetching {component} failed, trying again in {delay_s} s ('{log_path}')")
            time.sleep(delay_s)
    tail = "\n".join(log_path.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])
    raise JarError(f"cannot fetch {component}: Maven's last words, from '{log_path}', are\n{tail}")


def _run_maven(log_path: Path, *words: str) -> bool:
    # -U: without it Maven remembers a failed download and does not ask again for a day.
    with open(log_path, "w", encoding="utf-8") as log:
        return subprocess.run(["mvn", "-B", "-ntp", "-U", *words], stdin=subprocess.DEVNULL, stdout=log,
                              stderr=subprocess.STDOUT, check=False).returncode == 0


def _build_classpath(pom: Path, path: Path, log_path: Path) -> bool:
    """One attempt. The file appears whole or not at all."""
    unfinished = path.with_suffix(".unfinished")
    if not _run_maven(log_path, "-f", str(pom), "dependency:build-classpath", "-DincludeScope=runtime",
                      f"-Dmdep.outputFile={unfinished}") or not _is_usable(unfinished):
        return False
    unfinished.rename(path)
    return True


def _copy_and_unpack(artifact: str, sha256: str, path: Path, log_path: Path) -> bool:
    """One attempt. The folder appears whole or not at all; bytes that are others than those pinned are no accident."""
    with tempfile.TemporaryDirectory(dir=path.parent) as directory:
        if not _run_maven(log_path, "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy", f"-Dartifact={artifact}",
                          f"-DoutputDirectory={directory}"):
            return False
        (archive,) = Path(directory).iterdir()
        with archive.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != sha256:
            raise JarError(f"{artifact} has the SHA-256 {found}, not {sha256}: it is not used")
        shutil.unpack_archive(archive, Path(directory) / "content")
        (Path(directory) / "content").rename(path)
    return True

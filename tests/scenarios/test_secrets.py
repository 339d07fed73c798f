#!/usr/bin/env python3
"""No secret is seen where it must not be: each that the program can know is a canary, looked for in all that it says, in what
/proc and systemd are told of it, in the files that it leaves, and in its memory, as a core dump would hold it.

    test_secrets.py BUILD

What HELD names is in the memory of a daemon that runs, since a library, or the program itself, needs it again; nothing else is.
Memory is looked at where freed memory is kept as it was, in a build with AddressSanitizer: elsewhere a copy that nobody wiped
might have been written over by chance, and is looked for all the same.
"""
from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Iterator

from processes import Gateway, Kafka
from secret_doors import NegotiateDoor, Realm, RegistryDoor, TlsDoor, key_number, make_certificate

PATIENCE_S = 60
TIME_MS = 1500000000000
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def canary(name: str) -> str:
    """The same in each run; in no file but those that a test writes."""
    return hashlib.sha256(f"canary {name}".encode()).hexdigest()[:32]


# Secrets of kafka.librdkafka, none of which the mock cluster asks for: that the library has it is what matters.
KAFKA_SECRETS = ["sasl.password", "ssl.key.password", "ssl.keystore.password", "sasl.oauthbearer.config"]

# What a thief finds in the memory of a running daemon, and why; held to be there, so that this list stays true.
HELD = {
    **{name: "librdkafka has a copy in each client, and we keep one for clients to come" for name in KAFKA_SECRETS},
    "the gateway key, backwards": "OpenSSL has the key's number for as long as a connection lives",
    "the key of the pages, backwards": "OpenSSL has it for connections to come",
    "the digest of a token": "what comes is compared with it",
}
HELD_FOR_REGISTRY = {"the registry's password": "libcurl has a copy until it is told of it again"}

# What may be found besides, where memory was freed and not used again since.
LEFT = {
    "the gateway key": "OpenSSL does not wipe the buffers from which it has decoded the key",
    "line 3 of the gateway key": "the end of the file, likewise",
    **{f"{name} in clear{form}": "it came to a door of TLS without TLS, so that others have read it already"
       for name in ("a bearer token", "a password") for form in ("", *(f" in base64, moved by {i}" for i in range(3)))},
    "the key of the pages": "likewise", "line 3 of the key of the pages": "likewise",
    **{f"the registry's password in base64, moved by {i}": "libcurl does not wipe the heads of its requests" for i in range(3)},
}


def forms(secret: bytes) -> dict[str, bytes]:
    """How it could be written: as it is, in hex, in base64 wherever it begins there."""
    found = {"": secret, " in hex": secret.hex().encode(), " in capital hex": secret.hex().upper().encode()}
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + secret)
        found[f" in base64, moved by {shift}"] = text[4 if shift else 0:(len(text) // 4 - 1) * 4]
    return found


class Canaries:
    def __init__(self) -> None:
        self.forms: dict[str, dict[str, bytes]] = {}

    def add(self, name: str, secret: bytes) -> None:
        self.forms[name] = forms(secret)

    def find(self, data: bytes) -> list[str]:
        """By either half: malloc writes over the first bytes of what is freed, and what is shown may be cut."""
        return [name for name, halves in self.halves() if any(half in data for half in halves)]

    def halves(self) -> Iterator[tuple[str, tuple[bytes, bytes]]]:
        for name, all_forms in self.forms.items():
            for form, text in all_forms.items():
                yield name + form, (text[:len(text) // 2], text[len(text) // 2:])


# Mistakes beside or in a secret, as lines below kafka.librdkafka; @ is the secret.
BROKEN = """
sasl.password: &@ x
sasl.password: &@
sasl.password: *@
sasl.password: !@ x
sasl.password: !!@ x
sasl.password: !a!@ x
sasl.password: %@
sasl.password: `@
sasl.password: {@
sasl.password: {@}
sasl.password: [@
sasl.password: [@]
sasl.password: "@
sasl.password: '@' x
sasl.password: "\\@"
sasl.password: a: @
sasl.password:\t@
sasl.password:@
sasl.password=@
sasl.password = @
sasl.password: @|sasl.password: @
sasl.password: { value: @ }
sasl.password: { @: 1 }
sasl.password: { env: TIDE_CANARY }
sasl.password: "a\\0@"
sasl.password: a|  @| x
sasl.password: "a|  @|x
sasl.password:|  @|   x: 1
SASL.PASSWORD: @
sasl.pasword: @
sasl.passwd: @
sasl.passphrase: @
sasl.token: @
sasl.username: a, sasl.password: @
sasl.username: [a, sasl.password: @
sasl.jaas.config: x required username="x" password="@";
sasl.jaas.config: 'x required username="x" password="@";'
ssl.key: @
ssl.key.pem: ||    -----BEGIN PRIVATE KEY-----|   @|  x
ssl.key.pem: "@" x
sasl.oauthbearer.client.secret: &@ x
sasl.oauthbearer.client.secret: @|sasl.oauthbearer.client.secret: @
sasl.oauthbearer.client_secret: @
""".strip().splitlines()

# The same anywhere else in the file: what is replaced, and what by.
MISPLACED = [
    ('["127.0.0.1:1"]', '["https://user:@@127.0.0.1:1/"]'), ('["127.0.0.1:1"]', '["thrift+tls://user:@@localhost"]'),
    ('"127.0.0.1:2"', '"SASL_SSL://user:@@localhost:9092"'), ("group: g", "group: g\n  password: @"),
    ("group: g", "group: g\n  sasl_passwd: @"),
    ('["127.0.0.1:1"]', f'["https://{"long-name." * 9}:@@127.0.0.1:1/"]'), ("hbase: {", "hbase: { kerberos: { password: @ },"),
    ("hbase: {", 'hbase: { tls: { key: "-----BEGIN EC PRIVATE KEY-----\\n@" },'),
    ("hbase: {", 'hbase: { tls: { key: { file: "-----BEGIN EC PRIVATE KEY-----\\n@" } },'),
    ("hbase: {", "hbase:\n  tls:\n    key: |\n      -----BEGIN PRIVATE KEY-----\n      @\n      -----END PRIVATE KEY-----\n  x: {"),
    ("hbase: {", "hbase:\n  tls:\n    key: |\n      -----BEGIN PRIVATE KEY-----\n     @\n  x: {"),
]

PLAIN = """kafka:
  brokers: "127.0.0.1:2"
  group: g
  topics: [t]
  librdkafka:
    client.id: a
hbase: { gateways: ["127.0.0.1:1"] }
readings: { time: { field: ts, format: epoch_ms } }
tables: { T: { key: [ { field: host } ], latest: merge, columns: { family: M, from: "*" } } }
"""


def broken_texts(secret: str) -> Iterator[str]:
    for lines in BROKEN:
        block = "".join(f"    {line}\n" for line in lines.replace("||", "\x00").replace("|", "\n    ").replace(
            "\x00", "|\n").splitlines())
        yield PLAIN.replace("    client.id: a\n", block).replace("@", secret)
    for there, instead in MISPLACED:
        yield PLAIN.replace(there, instead.replace("@@", "\x00").replace("@", secret).replace("\x00", f"{secret}@"))


class Listener:
    """What systemd is told."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.setblocking(False)
        self.path = path

    def heard(self) -> bytes:
        told = b""
        try:
            while True:
                told += self.socket.recv(65536)
        except BlockingIOError:
            return told


class DaemonUnderWatch:
    """tidemark run, as verbose as it can be made."""

    def __init__(self, scene: Scene, name: str, config: dict[str, Any]) -> None:
        self.directory = scene.directory / name
        self.state = self.directory / "state"
        self.state.mkdir(parents=True)
        self.log_path = self.directory / "log"
        config_path = self.directory / "config.yaml"
        config_path.write_text(json.dumps(config))
        config_path.chmod(0o600)
        self.listener = Listener(self.directory / "notify")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [scene.program, "run", "-c", config_path], cwd=self.directory, stdout=log, stderr=log,
                env={**scene.environment, "STATE_DIRECTORY": str(self.state), "NOTIFY_SOCKET": str(self.listener.path)})
        self.config_path = config_path
        self.context = ssl.create_default_context(cafile=scene.directory / "server.pem")

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def wait(self, what: str, is_so: Any) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"{what}: it does not come so far:\n{self.log()[-3000:]}")
            time.sleep(0.05)

    def port(self) -> str | None:
        found = re.search(r"page and metrics at https?://\S+:(\d+)/", self.log())
        return found[1] if found else None

    def pages(self) -> bytes:
        """What is answered to who has the token, to who has another, and to who does not speak TLS."""
        port = self.port()
        found = b""
        for path in ("/", "/metrics", "/status", "/healthz", "/readyz", "/none") if port else ():
            for door in ("https://localhost", "http://127.0.0.1"):
                clear = "" if door.startswith("https") else " in clear"
                for word in (f"Bearer {canary('a bearer token' + clear)}", f"Bearer x{canary('a bearer token' + clear)}",
                             f"Basic {base64.b64encode(('u:' + canary('a password' + clear)).encode()).decode()}"):
                    found += self.page(f"{door}:{port}{path}", word)
        return found

    def page(self, address: str, authorization: str) -> bytes:
        request = urllib.request.Request(address, headers={"Authorization": authorization})
        try:
            with urllib.request.urlopen(request, timeout=10, context=self.context) as reply:
                return str(reply.headers).encode() + reply.read()
        except urllib.error.HTTPError as error:
            return str(error.headers).encode() + error.read()
        except OSError:
            return b""

    def memory(self) -> Iterator[bytes]:
        """What a core dump would hold: pages that are there, of mappings that it can write, and that are not kept from dumps (as
        AddressSanitizer's own are)."""
        text = Path(f"/proc/{self.process.pid}/smaps").read_text()
        with open(f"/proc/{self.process.pid}/mem", "rb", 0) as memory, open(f"/proc/{self.process.pid}/pagemap", "rb", 0) as there:
            for head, body in re.findall(r"^([0-9a-f]+-[0-9a-f]+ .*)\n((?:[A-Z].*\n)*)", text, re.M):
                start, end = (int(word, 16) for word in head.split()[0].split("-"))
                if head.split()[1][1] == "w" and " dd" not in body.rpartition("VmFlags:")[2]:
                    yield from self.pages_of(memory, there, start // PAGE_BYTES, end // PAGE_BYTES)

    @staticmethod
    def pages_of(memory: Any, there: Any, first: int, end: int) -> Iterator[bytes]:
        there.seek(first * 8)
        entries = there.read((end - first) * 8)
        is_there = [entry >> 62 != 0 for (entry,) in struct.iter_unpack("<Q", entries)]
        at = 0
        while at < len(is_there):
            last = at
            while last < len(is_there) and is_there[last]:
                last += 1
            if last > at:
                try:
                    memory.seek((first + at) * PAGE_BYTES)
                    yield memory.read((last - at) * PAGE_BYTES)
                except OSError:
                    pass  # gone meanwhile
            at = last + 1

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class Scene:
    def __init__(self, build: Path, directory: Path) -> None:
        self.program = build / "daemon" / "tidemark"
        self.directory = directory
        self.canaries = Canaries()
        self.kafka = Kafka(build / "tests" / "fault" / "mock-kafka")
        self.gateway = Gateway(build / "tests" / "fault" / "scripted-gateway")
        self.kafka.ask("topic", "t", "1")
        self.gateway.ask("max-cell", "2000")
        self.credentials = directory / "credentials"
        self.credentials.mkdir()
        self.environment = {**os.environ, "CREDENTIALS_DIRECTORY": str(self.credentials)}
        self.realm = Realm(self.made("realm")) if Realm.is_installed() else None
        if self.realm:
            self.environment["KRB5_CONFIG"] = self.realm.environment["KRB5_CONFIG"]
        for name in ("server", "client"):
            make_certificate(directory, name)
        shutil.copy(directory / "client.key", self.credentials / "gateway.key")
        shutil.copy(directory / "server.key", self.credentials / "pages.key")
        self.door = TlsDoor(directory, self.gateway.greeting)
        self.good = self.good_config()
        self.findings: list[str] = []

    def made(self, name: str) -> Path:
        (self.directory / name).mkdir()
        return self.directory / name

    def secret(self, name: str) -> dict[str, str]:
        self.canaries.add(name, canary(name).encode())
        path = self.credentials / name
        path.write_text(canary(name) + "\n")
        path.chmod(0o600)
        return {"file": str(path)} if len(self.canaries.forms) % 2 else {"credential": name}

    def write_secret(self, name: str) -> Path:
        path = self.directory / f"{name} for a command".replace(" ", "-")
        path.write_text(canary(name) + "\n")
        path.chmod(0o600)
        return path

    def good_config(self) -> dict[str, Any]:
        self.add_key("the gateway key", self.directory / "client.key")
        self.add_key("the key of the pages", self.directory / "server.key")
        for name in ("a bearer token", "a password", "a bearer token in clear", "a password in clear"):
            self.canaries.add(name, canary(name).encode())
        digest = hashlib.sha256(canary("a bearer token").encode()).hexdigest()
        self.canaries.add("the digest of a token", digest.encode())
        users = self.directory / "users"
        users.write_text(f"prometheus:{digest}\n")
        users.chmod(0o600)
        return {
            "kafka": {"brokers": self.kafka.greeting, "group": "g", "topics": ["t"], "threads": 1,
                      "librdkafka": {"fetch.wait.max.ms": 20, "debug": "all", "sasl.username": "visible", "security.protocol": "plaintext",
                                     **{name: self.secret(name) for name in KAFKA_SECRETS}}},
            "hbase": {"gateways": [f"thrift+tls://localhost:{self.door.port}"],
                      "tls": {"ca": str(self.directory / "server.pem"), "certificate": str(self.directory / "client.pem"),
                              "key": {"credential": "gateway.key"}}},
            "readings": {"time": {"field": "ts", "format": "epoch_ms"}},
            "tables": {"T": {"latest": "merge", "key": [{"field": "host"}], "columns": {"family": "M", "from": "*"}}},
            "dead_letters": {"file": "letters.jsonl"},
            "service": {"http": "127.0.0.1:0", "log_format": "text", "log_level": "debug", "http_users": {"file": str(users)},
                        "http_tls": {"certificate": str(self.directory / "server.pem"), "key": {"credential": "pages.key"}}}}

    def add_key(self, name: str, path: Path) -> None:
        number = key_number(path)
        self.canaries.add(name, number)
        self.canaries.add(f"{name}, backwards", number[::-1])  # as OpenSSL's numbers are
        for i, line in enumerate(path.read_text().splitlines()[1:-1]):
            self.canaries.add(f"line {i + 1} of {name}", line[-24:].encode())

    def kerberos_config(self) -> dict[str, Any]:
        assert self.realm
        self.canaries.add("the keytab's key", self.realm.key())
        keytab = self.realm.keytab
        return {**self.good, "hbase": {"gateways": [f"localhost:{self.gateway.greeting}"], "sasl": {"service": "hbase"},
                                       "connect_timeout": "1s", "kerberos": {"keytab": {"file": str(keytab)}}}}

    def run(self, words: str, config: Path | None, text: str = "") -> None:
        """Looks for canaries in all it says."""
        line = [self.program, *words.split(), *(["-c", config] if config else [])]
        done = subprocess.run(line, cwd=self.directory, input=text.encode(), capture_output=True, timeout=PATIENCE_S,
                              env={**self.environment, "TIDE_CANARY": canary("broken")})
        self.look(f"tidemark {words}" + (f" with\n{config.read_text()}" if config and "broken" in config.name else ""),
                  done.stdout + done.stderr)
        if done.returncode < 0 or b"Sanitizer" in done.stderr:
            self.findings.append(f"tidemark {words}: {done.returncode}: {done.stderr.decode()[-2000:]}")

    def look(self, where: str, data: bytes) -> None:
        found = self.canaries.find(data)[:5]
        if found:
            texts = [half for name, halves in self.canaries.halves() if name in found for half in halves]
            lines = b"\n  ".join(line for line in data.splitlines() if any(text in line for text in texts))
            self.findings.append(f"{where}: shows {', '.join(found)}:\n  {lines[:1000].decode(errors='replace')}")

    def end(self) -> None:
        self.kafka.end()
        self.gateway.end()
        if self.realm:
            self.realm.end()


COMMANDS = ["check", "check --offline", "check --print-config", "version", "explain --offline", "explain", "tables show",
            "tables create", "verify --to-end", "get T host=h", "scan T", "latest T", "dead-letters list",
            "simulate --topic t --devices 1 --readings 1", "bench --messages - --readings 10 --runs 1"]


def look_at_commands(scene: Scene, pool: ThreadPoolExecutor, config: Path) -> None:
    good = '{"host":"h","ts":%d,"cpu":1}\n' % TIME_MS
    jobs = [pool.submit(scene.run, words, config, good) for words in COMMANDS]
    jobs += [pool.submit(scene.run, words, None) for words in ("check --print-defaults", "--help", "run --help", "version")]
    scene.canaries.add("broken", canary("broken").encode())
    for number, text in enumerate(broken_texts(canary("broken"))):
        path = scene.directory / f"broken-{number}.yaml"
        path.write_text(text)
        path.chmod(0o600)
        jobs.append(pool.submit(scene.run, "run" if number % 8 == 0 else "check --offline", path))
    for job in jobs:
        job.result()


def look_at_daemon(scene: Scene, name: str, daemon: DaemonUnderWatch) -> None:
    """Whatever it shows of itself."""
    proc = Path(f"/proc/{daemon.process.pid}")
    scene.look(f"{name}: its command line", (proc / "cmdline").read_bytes())
    scene.look(f"{name}: its environment", (proc / "environ").read_bytes())
    scene.look(f"{name}: its pages", daemon.pages())
    scene.look(f"{name}: its log", daemon.log().encode())
    for secret in ("a bearer token", "nothing that is known") if daemon.port() else ():
        scene.run(f"status --url https://localhost:{daemon.port()} --ca-file {scene.directory / 'server.pem'} "
                  f"--token-file {scene.write_secret(secret)}", None)
    scene.look(f"{name}: what systemd is told", daemon.listener.heard())
    for path in daemon.directory.rglob("*"):
        if path.is_file() and path not in (daemon.config_path, daemon.log_path):
            scene.look(f"{name}: its file {path.name}", path.read_bytes())


def look_into_memory(scene: Scene, name: str, daemon: DaemonUnderWatch, expected: set[str]) -> None:
    found: set[str] = set()
    for piece in daemon.memory():
        found |= set(scene.canaries.find(piece))
    scene.findings += [f"{name}: its memory holds {one}" for one in sorted(found - expected - set(LEFT))]
    scene.findings += [f"{name}: its memory does not hold {one}: say so" for one in sorted(expected - found)]


def look_everywhere(scene: Scene) -> None:
    daemons = {"by TLS": DaemonUnderWatch(scene, "tls", scene.good)}
    if scene.realm:
        daemons["by Kerberos"] = DaemonUnderWatch(scene, "kerberos", scene.kerberos_config())
    try:
        with ThreadPoolExecutor(3) as pool:
            look_at_commands(scene, pool, daemons["by TLS"].config_path)
        send(scene, "h")
        by_tls = daemons["by TLS"]
        by_tls.wait("rows are written", lambda: re.search(rb"^tidemark_hbase_rows_written_total.* [1-9]", by_tls.pages(), re.M))
        if scene.realm:
            by_kerberos = daemons["by Kerberos"]
            by_kerberos.wait("a ticket is had", lambda: "SASL" in by_kerberos.log())
        for name, daemon in daemons.items():
            look_at_daemon(scene, name, daemon)
            look_into_memory(scene, name, daemon, {one for one in HELD if daemon is by_tls or "gateway key" not in one})
    finally:
        for daemon in daemons.values():
            daemon.end()


# Statuses with which the gateway refuses a request and quotes its token; with the last one the daemon is looked at.
QUOTED = (401, 400, 500, 502, 403)


def send(scene: Scene, host: str) -> None:
    """One reading."""
    scene.kafka.ask(*scene.kafka.produce_command("t", 0, b"k", b'{"host":"%s","ts":%d,"cpu":1}' % (host.encode(), TIME_MS),
                                                 TIME_MS, []))
    scene.kafka.ask("flush")


def add_tokens(scene: Scene, tokens: list[str]) -> None:
    """Piece by piece: what is shown of a server's words is cut."""
    for number, token in enumerate(tokens):
        for at in range(0, len(token), 64):
            scene.canaries.forms[f"token {number} from byte {at}"] = {"": token[at:at + 64].encode()}


def look_at_negotiation(scene: Scene) -> None:
    """Tokens that were sent in `Authorization: Negotiate` are shown nowhere, though the gateway quote them."""
    assert scene.realm
    gateway = Gateway(scene.program.parents[1] / "tests" / "fault" / "scripted-gateway", "--framed")
    door = NegotiateDoor(gateway.greeting, scene.realm.http_keytab)
    gateway.ask("table", "T", "M")
    # In a group of its own: its partition would be held for those that were killed.
    config = scene.kerberos_config()
    daemon = DaemonUnderWatch(scene, "negotiate", {**config, "kafka": {**config["kafka"], "group": "n"}, "hbase": {
        "gateways": [door.address], "retry_max": "100ms", "kerberos": {"keytab": {"file": str(scene.realm.keytab)}}}})
    shown = b""
    try:
        send(scene, "i")
        daemon.wait("rows are written", lambda: re.search(rb"^tidemark_hbase_rows_written_total.* [1-9]", daemon.pages(), re.M))
        for door.quotes in QUOTED:
            done = subprocess.run([scene.program, "check", "-c", daemon.config_path], capture_output=True, check=False,
                                  cwd=scene.directory, timeout=PATIENCE_S, env=scene.environment)
            shown += done.stdout + done.stderr
            if f"HTTP status {door.quotes}".encode() not in done.stdout:
                scene.findings.append(f"check does not say that the gateway answered {door.quotes}:\n{done.stdout.decode()}")
        send(scene, "j")
        daemon.wait("a refusal is logged", lambda: f"HTTP status {door.quotes}" in daemon.log())
        tokens = list(door.tokens)
        if any(len(token) < 200 for token in tokens):
            scene.findings.append(f"{len(tokens)} requests came to the HTTP gateway, not all with a token")
        add_tokens(scene, tokens)
        scene.look("check, while its tokens are quoted", shown)
        look_at_daemon(scene, "by SPNEGO", daemon)
    finally:
        daemon.end()
        door.server.shutdown()
        gateway.end()


def zigzag(number: int) -> bytes:
    """An Avro long that is not negative."""
    left, text = number * 2, bytearray()
    while left > 127:
        text.append(left & 127 | 128)
        left >>= 7
    return bytes([*text, left])


def look_at_registry(scene: Scene) -> None:
    """The password of a schema registry is shown nowhere, though the registry quote it, and goes nowhere else."""
    door = RegistryDoor()
    password = scene.secret("the registry's password")
    scene.kafka.ask("topic", "a", "1")
    daemon = DaemonUnderWatch(scene, "registry", {
        **scene.good, "kafka": {"brokers": scene.kafka.greeting, "group": "r", "topics": ["a"], "threads": 1},
        "readings": {"format": "avro", "registry": {"url": door.address, "user": "u", "password": password},
                     "time": {"field": "ts", "format": "epoch_s"}}})
    try:
        value = b"\0" + struct.pack(">I", 7) + b"\2r" + zigzag(TIME_MS) + struct.pack("<d", 1.0)
        scene.kafka.ask(*scene.kafka.produce_command("a", 0, b"k", value, TIME_MS, []))
        scene.kafka.ask("flush")
        daemon.wait("rows are written", lambda: re.search(rb"^tidemark_hbase_rows_written_total.* [1-9]", daemon.pages(), re.M))
        if tuple(door.answered) != door.ANSWERS:
            scene.findings.append(f"the registry has answered with {door.answered}")
        if door.elsewhere or any(canary("the registry's password").encode() not in base64.b64decode(said.removeprefix("Basic "))
                                 for said in door.told):
            scene.findings.append(f"{len(door.told)} requests came to the registry, not all with the password, or went elsewhere")
        look_at_daemon(scene, "by a registry", daemon)
        keys = {one for one in HELD if one not in KAFKA_SECRETS}
        look_into_memory(scene, "by a registry", daemon, keys | set(HELD_FOR_REGISTRY))
        for words in ("check", "check --offline", "check --print-config", "explain --offline"):
            scene.run(words, daemon.config_path)
    finally:
        daemon.end()
        door.server.shutdown()


def main() -> int:
    if shutil.which("openssl") is None:
        print("skipped: openssl is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="tide-secrets-") as directory:
        scene = Scene(Path(sys.argv[1]).resolve(), Path(directory))
        try:
            scene.gateway.ask("table", "T", "M")
            look_everywhere(scene)
            if scene.realm:
                look_at_negotiation(scene)
            built = subprocess.run([scene.program, "version"], capture_output=True, text=True, check=True).stdout
            if "built without" not in built or "avro" not in built.partition("built without")[2]:
                look_at_registry(scene)
        finally:
            scene.end()
    for finding in scene.findings:
        print(finding)
    print(f"{len(scene.canaries.forms)} canaries, {len(scene.findings)} findings")
    return 1 if scene.findings else 0


if __name__ == "__main__":
    sys.exit(main())

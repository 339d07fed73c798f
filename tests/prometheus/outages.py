"""For each alert of config/prometheus/alerts.yaml: a daemon of its own between a mock Kafka and scripted gateways, what breaks
there, and what ends it."""
from __future__ import annotations

import http.server
import json
import re
import resource
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scenarios"))
from group_proxy import GroupProxy  # noqa: E402
from processes import Daemon, Gateway, Kafka  # noqa: E402
from test_full_disk import LIMITS, DaemonWithoutRoom  # noqa: E402

PATIENCE_S = 180
TIME_MS = 1500000000000
MOVED = "message=org.apache.hadoop.hbase.NotServingRegionException: T,x is not online on rs2"
DISABLED = "message=org.apache.hadoop.hbase.TableNotEnabledException: T is disabled"
GROUP_AUTHORIZATION_FAILED = "30"
UNKNOWN_TOPIC = "3"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class World:
    """A daemon and its peers. `flows`: readings come all the time; `seen_start`: that of the daemon as Prometheus knows it, or None."""

    def __init__(self, build: Path, directory: Path, is_firing: Callable[[], bool], seen_start: Callable[[], float | None]) -> None:
        self.build, self.directory, self.is_firing, self.seen_start = build, directory, is_firing, seen_start
        self.directory.mkdir()
        self.kafka = Kafka(build / "tests/fault/mock-kafka")
        self.gateways = [Gateway(build / "tests/fault/scripted-gateway") for _ in range(2)]
        self.gateway = self.gateways[0]
        self.kafka.ask("topic", "t", "2")
        for gateway in self.gateways:
            gateway.ask("table", "T", "M")
            gateway.ask("split", "T", "x")
        self.port, self.flows, self.n_sent, self.n_daemons = free_port(), False, 0, 0
        self.address, self.scheme = f"127.0.0.1:{self.port}", "http"
        self.daemon: Daemon | None = None
        self.config: dict[str, Any] = {
            "kafka": {"brokers": self.kafka.greeting, "group": "g", "topics": ["t"], "threads": 1, "session_timeout": "6s"},
            "hbase": {"gateways": [f"127.0.0.1:{self.gateway.greeting}"], "retry_max": "1s"},
            "limits": {"drain_timeout": "2s"}, "dead_letters": {"file": str(self.directory / "letters.jsonl"), "max_ratio": 1},
            "readings": {"time": {"field": "ts", "format": "epoch_ms"}},
            "tables": {"T": {"key": [{"field": "h"}, "#", {"time": "epoch_ms"}], "columns": {"family": "M", "from": "*"}}},
            "service": {"http": self.address}}

    def start(self, kind: type[Daemon] = Daemon, program: str = "daemon/tidemark", **more: Any) -> None:
        self.n_daemons += 1
        self.daemon = kind(self.build / program, self.config, self.directory, f"daemon{self.n_daemons}", self.directory, **more)

    def restart(self) -> None:
        """By a signal that nobody can catch."""
        self.running().kill()
        self.start()

    def running(self) -> Daemon:
        assert self.daemon
        return self.daemon

    def run(self, *words: str) -> None:
        """A command that works on the state directory."""
        subprocess.run([self.build / "daemon/tidemark", *words, "--state-directory", self.directory], check=True, capture_output=True)

    def reload(self, **changes: Any) -> None:
        self.running().config_path.write_text(json.dumps({**self.config, **changes}))
        self.running().process.send_signal(signal.SIGHUP)

    def send(self, values: list[bytes]) -> None:
        now_ms = int(time.time() * 1000)
        self.kafka.ask_all([self.kafka.produce_command("t", i % 2, b"k", value, now_ms, []) for i, value in enumerate(values)])
        self.kafka.ask("flush")

    def send_readings(self, count: int, more: dict[str, Any] = {}) -> None:  # noqa: B006
        """Of hosts in both regions of the table."""
        self.n_sent += count
        self.send([json.dumps({"h": "ax"[i % 4 // 2], "ts": TIME_MS + self.n_sent - i, "v": i, **more}).encode() for i in range(count)])

    def wait(self, what: str, is_so: Callable[[], bool]) -> None:
        """Readings go on meanwhile."""
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited in vain: {what}\n{self.running().last_lines()}")
            if self.flows:
                self.send_readings(20)
            time.sleep(0.1)

    def is_ready(self) -> bool:
        try:
            url = f"{self.scheme}://127.0.0.1:{self.port}/readyz"
            return urllib.request.urlopen(url, timeout=10, context=ssl._create_unverified_context()).status == 200
        except OSError:
            return False

    def wait_ready(self) -> None:
        self.wait("the daemon is ready", self.is_ready)

    def has_committed_all(self) -> bool:
        ends = [int(self.kafka.ask("end", "t", str(i))[0].split()[1]) for i in range(2)]
        committed = self.kafka.committed("g", [("t", 0), ("t", 1)])
        return ends == [committed["t", 0], committed["t", 1]]

    def end(self) -> None:
        if self.daemon is not None and self.daemon.is_running():
            self.daemon.kill()
        self.kafka.end()
        for gateway in self.gateways:
            gateway.end()


class Outage(NamedTuple):
    provoked_by: str
    ended_by: str
    run: Callable[[World], Iterator[None]]  # before the first yield: what the daemon starts with; then the outage; then its end


OUTAGES: dict[str, Outage] = {}


def outage(alert: str, provoked_by: str, ended_by: str) -> Callable[[Any], Any]:
    def add(function: Any) -> Any:
        OUTAGES[alert] = Outage(provoked_by, ended_by, function)
        return function
    return add


@outage("TidemarkDown", "the daemon is killed", "it is started")
def down(world: World) -> Iterator[None]:
    yield
    world.running().kill()
    yield
    world.start()


@outage("TidemarkRestarts", "killed and started again and again", "it stays")
def restarts(world: World) -> Iterator[None]:
    yield
    for _ in range(20):  # as often as it takes: a busy machine may be too slow for three in the shortened time
        if not world.is_firing():
            before = world.seen_start()
            world.restart()
            world.wait("Prometheus sees the start", lambda before=before: world.seen_start() not in (None, before))
    yield


@outage("TidemarkMessagesLost", "more is produced than the topic keeps, while it is stopped", "restarted with on_lost_offsets: continue")
def messages_lost(world: World) -> Iterator[None]:
    yield
    world.send_readings(10)
    world.wait("all is committed", world.has_committed_all)
    assert world.running().stop(PATIENCE_S) == 0
    world.send_readings(200, {"v": "x" * 100_000})  # a partition of the mock keeps 5 MiB
    world.start()
    yield
    world.config["kafka"]["on_lost_offsets"] = "continue"
    world.restart()


@outage("TidemarkGroupBeginsAgain", "started as a group whose offsets have expired", "it has begun again")
def group_begins_again(world: World) -> Iterator[None]:
    world.config["kafka"]["group"] = "before"
    yield
    assert world.running().stop(PATIENCE_S) == 0
    started = world.directory / "started-groups"
    started.write_text(started.read_text().replace(" before\n", " g\n"))  # the group that has no offsets
    world.config["kafka"]["group"] = "g"
    world.start()
    yield


@outage("TidemarkGroupStranger", "kcat joins the group", "it leaves")
def group_stranger(world: World) -> Iterator[None]:
    proxy = GroupProxy(world.kafka.greeting)
    world.config["kafka"]["brokers"] = proxy.address
    yield
    stranger = subprocess.Popen(["kcat", "-b", proxy.address, "-G", "g", "t"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
        stranger.send_signal(signal.SIGTERM)
        assert stranger.wait(PATIENCE_S) == 0
    finally:
        stranger.kill()
        stranger.wait()


class LyingProxy(http.server.BaseHTTPRequestHandler):
    """The daemon's metrics, in which messages that were written are missing while `lies`."""
    world: World
    lies = False

    def do_GET(self) -> None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.world.port}/metrics", timeout=10) as reply:
                text = reply.read().decode()
        except OSError:  # the daemon has ended
            self.send_error(502)
            return
        if type(self).lies:
            text = re.sub(r"^(tidemark_messages_written_total\{.*\}) .*$", r"\1 1", text, flags=re.M)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        """Not here."""


@outage("TidemarkAccounting", "a defect: the endpoint's answers lack written messages", "they are whole again")
def accounting(world: World) -> Iterator[None]:
    handler = type("Proxy", (LyingProxy,), {"world": world})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    world.address = f"127.0.0.1:{server.server_port}"
    yield
    world.send_readings(40)
    world.wait("all is committed", world.has_committed_all)
    handler.lies = True
    yield
    handler.lies = False


@outage("TidemarkKafkaDown", "the only broker is gone", "it is back")
def kafka_down(world: World) -> Iterator[None]:
    yield
    world.kafka.ask("down", "-1")
    yield
    world.kafka.ask("up", "-1")


def without_gateway(world: World) -> Iterator[None]:
    yield
    world.gateway.ask("kill")
    world.send_readings(40)
    yield
    world.gateway.ask("start")


outage("TidemarkNoProgress", "the only gateway is gone, messages wait", "it is back")(without_gateway)
outage("TidemarkLagGrowing", "the only gateway is gone, messages wait", "it is back")(without_gateway)
outage("TidemarkGatewayDown", "the gateway is gone", "it is back")(without_gateway)


@outage("TidemarkPaused", "the only gateway is gone, and limits.memory is spent", "it is back")
def paused(world: World) -> Iterator[None]:
    world.config["limits"]["memory"] = "16MiB"
    yield
    world.gateway.ask("kill")
    world.send_readings(4000, {f"m{i}": 1 for i in range(150)})
    yield
    world.gateway.ask("start")


@outage("TidemarkPausedByOperator", "tidemark pause", "tidemark resume")
def paused_by_operator(world: World) -> Iterator[None]:
    yield
    world.run("pause", "--config", str(world.running().config_path))
    yield
    world.run("resume")


@outage("TidemarkReadingsOverwritten", "two sensors under one key at one time", "their readings have times of their own")
def readings_overwritten(world: World) -> Iterator[None]:
    yield
    world.send([json.dumps({"h": "a", "ts": TIME_MS, "sensor": "in" if i < 20 else "out", "v": i}).encode() for i in range(40)])
    yield
    world.send_readings(40, {"sensor": "in"})


@outage("TidemarkClockJumped", "the wall clock is set forward by ten minutes", "it stays")
def clock_jumped(world: World) -> Iterator[None]:
    clock = world.directory / "clock"
    clock.write_bytes(bytes(8))
    world.start(program="tests/fault/tidemark-shifted-clock", clock=clock)
    yield
    world.running().set_clock(600)
    yield


@outage("TidemarkDeadLetters", "a message that is no JSON", "no more such come")
def dead_letters(world: World) -> Iterator[None]:
    yield
    world.send([b"{"])
    yield


@outage("TidemarkDeadLettersHolding", "the disk of the dead letters is full", "it has room")
def dead_letters_holding(world: World) -> Iterator[None]:
    world.start(DaemonWithoutRoom)
    daemon = world.running()
    assert isinstance(daemon, DaemonWithoutRoom)
    daemon.make_room()
    yield
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (0, LIMITS[1]))
    world.send([b"{"])
    yield
    daemon.make_room()


@outage("TidemarkPartitionHalted", "a message that is no JSON, with on_bad_message: stop", "restarted with on_bad_message: dead_letter")
def partition_halted(world: World) -> Iterator[None]:
    right = world.config["readings"]
    world.config["readings"] = {**right, "on_bad_message": "stop"}
    yield
    world.send([b"{"])
    yield
    world.config["readings"] = right
    world.restart()


@outage("TidemarkTableSuspended", "HBase says that the table is disabled", "it is enabled")
def table_suspended(world: World) -> Iterator[None]:
    yield
    world.gateway.ask("fault", "io-error", "call=putMultiple", "table=T", DISABLED)
    world.send_readings(40)
    yield
    world.gateway.ask("clear")


def region_not_served(world: World) -> Iterator[None]:
    yield
    world.gateway.ask("fault", "io-error", "call=putMultiple", "row-prefix=x", MOVED)
    world.send_readings(40)
    yield
    world.gateway.ask("clear")


outage("TidemarkRegionFailing", "no server has a region", "one has it")(region_not_served)
outage("TidemarkOldRows", "no server has a region", "one has it")(region_not_served)


@outage("TidemarkGatewaySlow", "one of two gateways answers after 0.4 s", "it answers at once")
def gateway_slow(world: World) -> Iterator[None]:
    world.config["hbase"]["gateways"] = [f"127.0.0.1:{one.greeting}" for one in world.gateways]
    world.flows = True
    yield
    world.gateway.ask("fault", "none", "call=putMultiple", "delay-reply-ms=400")
    yield
    world.gateway.ask("clear")


@outage("TidemarkReconnects", "every second call ends with a connection that is cut", "none does")
def reconnects(world: World) -> Iterator[None]:
    world.flows = True
    yield
    world.gateway.ask("fault", "close-before-reply", "call=putMultiple", "every=2")
    yield
    world.gateway.ask("clear")


def topic_missing(world: World) -> Iterator[None]:
    yield
    world.kafka.ask("topic-error", "t", UNKNOWN_TOPIC)
    yield
    world.kafka.ask("topic-error", "t", "0")


outage("TidemarkTopicMissing", "the brokers do not have the topic", "they have it")(topic_missing)
outage("TidemarkNotReady", "the brokers do not have the topic", "they have it")(topic_missing)


def commits_refused(world: World) -> Iterator[None]:
    world.flows = True
    yield
    world.kafka.ask("fail", "offset-commit", GROUP_AUTHORIZATION_FAILED, "1000")
    yield
    world.kafka.ask("clear", "offset-commit")


outage("TidemarkCommitFailures", "the brokers refuse the group's commits", "they take them")(commits_refused)
outage("TidemarkNotCommitted", "the brokers refuse the group's commits", "they take them")(commits_refused)


@outage("TidemarkReloadFailed", "SIGHUP with an option that does not exist", "SIGHUP with the file mended")
def reload_failed(world: World) -> Iterator[None]:
    yield
    world.reload(no_such_option={})
    yield
    world.reload()


def make_certificate(path: Path, days: int) -> None:
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", str(days), "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", f"{path}.key", "-out", f"{path}.pem"], check=True, capture_output=True)


@outage("TidemarkCertificateEnds", "the endpoint's certificate is exchanged for one of three days", "for one of 90 days")
def certificate_ends(world: World) -> Iterator[None]:
    path = world.directory / "http"
    make_certificate(path, 90)
    world.config["service"]["http_tls"] = {"certificate": f"{path}.pem", "key": {"file": f"{path}.key"}}
    world.scheme = "https"
    yield
    make_certificate(path, 3)
    yield
    make_certificate(path, 90)

"""The daemon as the tests run it: configured, started, watched, stopped and killed."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable, Mapping, Optional

import read_metric
from jvm_process import spawn
from kafka_admin import KafkaAdmin
from stack_services import free_port

# A test's condition comes true in seconds; the bound is for a machine busy with a build.
DEADLINE_S = 90

POLL_INTERVAL_S = 0.05

# How much of a daemon's log stands in the complaint about it.
LOG_TAIL_LINES = 40

# The broker gives the partitions of a killed daemon to others after this; the least that the configuration takes.
SESSION_TIMEOUT = "6s"

# Must be below that.
DRAIN_TIMEOUT = "5s"


def wait_until(condition: Callable[[], Any], complaint: str | Callable[[], str], deadline_s: float = DEADLINE_S) -> Any:
    """Returns the condition's first value that is true; fails with the complaint when there is none in time."""
    give_up_at = time.monotonic() + deadline_s
    never = threading.Event()
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > give_up_at:
            text = complaint if isinstance(complaint, str) else complaint()
            raise AssertionError(f"after {deadline_s} s: {text}")
        never.wait(POLL_INTERVAL_S)


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The base with changes put in; mappings in both are merged, and None takes an option away."""
    result = dict(base)
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(result.get(name), Mapping):
            result[name] = merged(result[name], value)
        else:
            result[name] = value
    return result


def metric_tables(history: str, latest: str) -> dict[str, Any]:
    """The tables of README.md: a row for each reading, and a row for each machine."""
    return {
        history: {"key": [{"field": "host"}, "#", {"time": "epoch_ms"}], "columns": {"family": "M", "from": "*"}},
        latest: {"latest": "merge", "key": [{"field": "host"}], "columns": {"family": "M", "from": "*"}},
    }


def configuration(*, brokers: str, group: str, topic: str, gateways: list[str], tables: Mapping[str, Any],
                  changes: Optional[Mapping[str, Any]] = None) -> dict[str, Any]:
    return merged({
        "kafka": {"brokers": brokers, "group": group, "topics": [topic], "threads": 2, "session_timeout": SESSION_TIMEOUT},
        # Behind calls without an answer some offsets wait for uncertain_timeout: 20 minutes by default.
        "hbase": {"gateways": gateways, "writers": 4, "retry_max": "1s", "call_timeout": "5s", "uncertain_timeout": "10s"},
        "readings": {"format": "json", "time": {"field": "ts", "format": "epoch_ms"}},
        "tables": tables,
        "limits": {"drain_timeout": DRAIN_TIMEOUT},
        "service": {"http": f"127.0.0.1:{free_port()}"},
    }, changes or {})


class Daemon:
    """One process of `tidemark run`; may be started again after its end."""

    def __init__(self, tidemark: Path, directory: Path, name: str, config: Mapping[str, Any], admin: KafkaAdmin) -> None:
        self.group: str = config["kafka"]["group"]
        self.topics: list[str] = config["kafka"].get("topics") or [
            topic for source in config["sources"].values() for topic in source["topics"]]
        self.topic = self.topics[0]
        self.http: str = config["service"]["http"]
        self.config_path = directory / f"{name}.yaml"
        self.log_path = directory / f"{name}.log"
        # JSON is YAML.
        self.config_path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        self.environment: dict[str, str] = {}  # beside that of the tests
        self.program = tidemark
        self._admin = admin
        self._process: Optional[subprocess.Popen[bytes]] = None

    def start(self, *options: str) -> None:
        assert self._process is None, "runs already"
        with self.log_path.open("ab") as log:
            # It dies with the tests, however they end.
            self._process = spawn([str(self.program), "run", "--config", str(self.config_path), *options],
                                  {**os.environ, **self.environment}, log, owned=True)

    def stop(self, deadline_s: float = DEADLINE_S) -> int:
        """Ends it with SIGTERM; its exit code."""
        return self._end(signal.SIGTERM, deadline_s)

    def kill9(self) -> None:
        self._end(signal.SIGKILL, DEADLINE_S)

    @property
    def pid(self) -> Optional[int]:
        """The process that runs, or None."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def send(self, signal_number: int) -> None:
        """Signals the process, if it runs."""
        if self._process is not None:
            self._process.send_signal(signal_number)

    def exit_code(self) -> Optional[int]:
        """How it has ended, if it has; may be started again then."""
        code = None if self._process is None else self._process.poll()
        if code is not None:
            self._process = None
        return code

    def wait_end(self, deadline_s: float = DEADLINE_S) -> int:
        """The exit code of a daemon that ends by itself; negative after a signal, as in subprocess."""
        assert self._process is not None, "does not run"
        try:
            code = self._process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the daemon has not ended after {deadline_s} s\n{self.log_tail()}") from None
        self._process = None
        return code

    def readiness(self) -> tuple[int, str]:
        """The answer of /readyz, 200 when it is; 0 while there is no answer."""
        return self._ask("/readyz")

    def health(self) -> tuple[int, str]:
        """The answer of /healthz, 200 while the process works."""
        return self._ask("/healthz")

    def wait_ready(self, deadline_s: float = DEADLINE_S) -> None:
        self._wait(lambda: self.readiness()[0] == 200, lambda: f"not ready: {self.readiness()}", deadline_s)

    def wait_committed(self, messages: int, deadline_s: float = DEADLINE_S) -> None:
        """Until the offsets that the broker holds for the group add up to this."""
        self._wait(lambda: self.committed() >= messages,
                   lambda: f"committed {self.committed()} of {messages} messages", deadline_s)
        assert self.committed() == messages, f"committed {self.committed()}, more than {messages} messages"

    def wait_metric(self, name: str, at_least: int, deadline_s: float = DEADLINE_S) -> int:
        return self._wait(lambda: (self.metric(name) >= at_least) and self.metric(name),
                          lambda: f"{name} is {self.metric(name)}, not {at_least}", deadline_s)

    def committed(self, topic: Optional[str] = None) -> int:
        """Of all its topics, or of one of them."""
        return sum(offset for name in ([topic] if topic else self.topics)
                   for offset in self._admin.committed_offsets(self.group, name).values())

    def metric(self, name: str, labels: str = "") -> int:
        """The sum of a metric's series whose labels hold this text; 0 while the daemon does not answer."""
        try:
            return read_metric.total(read_metric.read(f"http://{self.http}/metrics"), name, labels)
        except (OSError, http.client.HTTPException):
            return 0

    def log_text(self) -> str:
        return self.log_path.read_text(encoding="utf-8", errors="replace") if self.log_path.exists() else ""

    def log_tail(self) -> str:
        return "\n".join([f"-- the end of {self.log_path}:", *self.log_text().splitlines()[-LOG_TAIL_LINES:]])

    def _wait(self, condition: Callable[[], Any], complaint: Callable[[], str], deadline_s: float) -> Any:
        def holds_or_ended() -> Any:
            if self._process is not None and self._process.poll() is not None:
                raise AssertionError(f"the daemon ended with {self._process.returncode}; {complaint()}\n{self.log_tail()}")
            return condition()
        return wait_until(holds_or_ended, lambda: f"{complaint()}\n{self.log_tail()}", deadline_s)

    def _end(self, signal_number: int, deadline_s: float) -> int:
        if self._process is None:
            return 0
        self._process.send_signal(signal_number)
        return self.wait_end(deadline_s)

    def _ask(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection(self.http, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            return 0, str(error)
        finally:
            connection.close()

"""Readings for runs with faults, and what the tables must hold after them: both follow from a seed, neither from tidemark.

Event times come late, out of order and twice; one and the same time with other values comes too, but then from one partition,
so that the offsets decide. Each value names the reading that it is from: a wrong one tells where it came from.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import threading
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional

from jvm_process import spawn

FIELDS = ("CPU/CPU1_USR", "MEM/FREE", "NET/RX", "DISK/USED")

# A field of its own for values that HBase refuses: no good reading has it, so no cell of it may ever be in a table.
BLOB_FIELD = "BLOB"

# Event times begin here (2023-11-14) and stay in the past: nothing is refused for being in the future.
START_MS = 1_700_000_000_000

STEP_MS = 1000

# Readings are mixed within a window of this many; those that are late come one to three windows later.
WINDOW = 400

LATE_SHARE = 0.03
REPEATED_SHARE = 0.01

# Readings whose time comes once more, later in the same partition, with other values.
CONFLICTING_SHARE = 0.005

# How often the feeder looks what is due.
FEED_INTERVAL_S = 0.05

Cell = tuple[str, str]
Content = tuple[int, str]


@dataclass(frozen=True)
class Message:
    key: bytes
    value: bytes
    is_rejected: bool = False  # must end among the dead letters


@dataclass(frozen=True)
class Reading:
    host: int
    slot: int  # the reading's place in its host's time
    values: tuple[Optional[str], ...]  # one for each of FIELDS


class Truth:
    """What the tables must hold when all messages so far are written."""

    def __init__(self) -> None:
        self.history: dict[int, dict[int, tuple[Optional[str], ...]]] = {}
        self.latest: dict[int, list[Optional[tuple[int, str]]]] = {}
        # Values that an equal time replaced, of cells of the history and of the latest table.
        self.replaced: dict[tuple[int, int, int], set[str]] = {}

    def add(self, reading: Reading) -> None:
        rows = self.history.setdefault(reading.host, {})
        before = rows.get(reading.slot)
        if before is not None and before != reading.values:
            for place, (old, new) in enumerate(zip(before, reading.values)):
                if old is not None and new is not None and old != new:
                    self.replaced.setdefault((reading.host, reading.slot, place), set()).add(old)
        rows[reading.slot] = tuple(new if new is not None else old for old, new in zip(before or reading.values, reading.values))
        newest = self.latest.setdefault(reading.host, [None] * len(FIELDS))
        for place, value in enumerate(reading.values):
            known = newest[place]
            if value is not None and (known is None or reading.slot >= known[0]):
                newest[place] = (reading.slot, value)

    def history_cells(self, host: int) -> dict[Cell, Content]:
        name = host_name(host)
        return {(f"{name}#{time_ms(slot)}", FIELDS[place]): (time_ms(slot), value)
                for slot, values in self.history.get(host, {}).items()
                for place, value in enumerate(values) if value is not None}

    def latest_cells(self, host: int) -> dict[Cell, Content]:
        return {(host_name(host), FIELDS[place]): (time_ms(newest[0]), newest[1])
                for place, newest in enumerate(self.latest.get(host, [])) if newest is not None}

    def replaced_values(self, host: int) -> Iterator[tuple[int, str, set[str]]]:
        """Times and fields that got several values: time, field, the values that lost."""
        for (of_host, slot, place), values in self.replaced.items():
            if of_host == host:
                yield time_ms(slot), FIELDS[place], values


def digest(key: bytes, value: bytes) -> bytes:
    """Of one message, to see later that it is the same."""
    return hashlib.blake2b(key + b"\0" + value, digest_size=16).digest()


def host_name(host: int) -> str:
    return f"host{host:04}.bbb.com"


def time_ms(slot: int) -> int:
    return START_MS + slot * STEP_MS


class Workload:
    """The messages of one run, in the order of sending, and what they come to."""

    def __init__(self, *, n_readings: int, n_hosts: int, n_partitions: int, seed: int, poison_share: float = 0.0,
                 refused_bytes: int = 0) -> None:
        """`refused_bytes`: the size of a value that HBase refuses; 0: there are no such messages."""
        self.n_readings = n_readings
        self.n_hosts = n_hosts
        self.n_partitions = n_partitions
        self.truth = Truth()
        self.n_messages = 0
        self.n_repeated = 0
        self.n_conflicting = 0
        self.rejected: dict[tuple[int, int], bytes] = {}  # (partition, offset) -> digest()
        self._n_in_partition = [0] * n_partitions
        self._digests = [hashlib.sha256() for _ in range(n_partitions)]
        self._random = random.Random(seed)
        self._poison_share = poison_share
        self._refused_bytes = refused_bytes
        self._next_slots = [0] * n_hosts

    def messages(self) -> Iterator[Message]:
        """A message counts as sent when it is given out."""
        waiting: list[list[Reading]] = [[] for _ in range(4)]
        n_made = 0
        while n_made < self.n_readings or any(waiting):
            for _ in range(min(WINDOW, self.n_readings - n_made)):
                n_made += 1
                reading = self._make_reading(n_made)
                is_late = self._random.random() < LATE_SHARE
                waiting[self._random.randint(1, 3) if is_late else 0].append(reading)
                self._come_again(reading, n_made, waiting)
            due = waiting.pop(0)
            waiting.append([])
            self._random.shuffle(due)
            for reading in due:
                if self._random.random() < self._poison_share:
                    yield self._sent(self._make_poison(n_made))
                self.truth.add(reading)
                yield self._sent(_message(reading))

    def partition_of(self, key: bytes) -> int:
        """As librdkafka's partitioner 'consistent' does it."""
        return zlib.crc32(key) % self.n_partitions

    def differs_from(self, records: Iterator[tuple[int, bytes, bytes]]) -> list[str]:
        """What is in the topic, as (partition, key, value) in the order of each partition, against what was sent."""
        digests = [hashlib.sha256() for _ in range(self.n_partitions)]
        counts = [0] * self.n_partitions
        for partition, key, value in records:
            counts[partition] += 1
            digests[partition].update(key + b"\0" + value + b"\n")
        return [f"partition {partition} of the topic holds {counts[partition]} messages, not the "
                f"{self._n_in_partition[partition]} that were sent" for partition in range(self.n_partitions)
                if digests[partition].digest() != self._digests[partition].digest()]

    def _make_reading(self, number: int) -> Reading:
        host = self._random.randrange(self.n_hosts)
        slot = self._next_slots[host]
        self._next_slots[host] += 1
        return Reading(host, slot, self._values(f"{number}.1"))

    def _values(self, text: str) -> tuple[Optional[str], ...]:
        present = self._random.randint(1, (1 << len(FIELDS)) - 1)
        return tuple(f"{text}{place}" if present >> place & 1 else None for place in range(len(FIELDS)))

    def _come_again(self, reading: Reading, number: int, waiting: list[list[Reading]]) -> None:
        """Once more as it is, or with other values: later, in the same window or in another one."""
        chance = self._random.random()
        if chance < REPEATED_SHARE:
            self.n_repeated += 1
            waiting[self._random.randint(0, 3)].append(reading)
        elif chance < REPEATED_SHARE + CONFLICTING_SHARE:
            self.n_conflicting += 1
            waiting[self._random.randint(0, 3)].append(Reading(reading.host, reading.slot, self._values(f"{number}.2")))

    def _make_poison(self, number: int) -> Message:
        host = host_name(self._random.randrange(self.n_hosts))
        moment = time_ms(number)
        key = host.encode()
        kinds = [
            b'{"host":"%s","ts":%d,"MEM' % (key, moment),  # cut off
            b"\xff\xfe no JSON \x01",
            _json({"host": host, FIELDS[0]: number}),  # no time
            _json({"host": host, "ts": "yesterday", FIELDS[0]: number}),
            _json({"ts": moment, FIELDS[0]: number}),  # no host
            _json({"host": f"{host}#7", "ts": moment, FIELDS[0]: number}),  # the key's separator
        ]
        if self._refused_bytes > 0:
            kinds.append(_json({"host": host, "ts": moment, BLOB_FIELD: f"{number}:".ljust(self._refused_bytes, "x")}))
        return Message(key, self._random.choice(kinds), is_rejected=True)

    def _sent(self, message: Message) -> Message:
        partition = self.partition_of(message.key)
        if message.is_rejected:
            self.rejected[partition, self._n_in_partition[partition]] = digest(message.key, message.value)
        self._n_in_partition[partition] += 1
        self._digests[partition].update(message.key + b"\0" + message.value + b"\n")
        self.n_messages += 1
        return message


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _message(reading: Reading) -> Message:
    name = host_name(reading.host)
    cells = "".join(f',"{FIELDS[place]}":{value}' for place, value in enumerate(reading.values) if value is not None)
    return Message(name.encode(), f'{{"host":"{name}","ts":{time_ms(reading.slot)}{cells}}}'.encode())


class Feeder:
    """Sends a workload's messages at a steady rate, from a thread, by kcat: an idempotent producer keeps their order."""

    def __init__(self, workload: Workload, brokers: str, topic: str, messages_per_s: float, log_path: Path) -> None:
        self._messages = workload.messages()
        self._messages_per_s = messages_per_s
        self._log_path = log_path
        self._stopping = threading.Event()
        self._pause_s = 0.0
        self.n_sent = 0
        command = ["kcat", "-P", "-E", "-b", brokers, "-t", topic, "-K", "\t", "-X", "enable.idempotence=true",
                   "-X", "partitioner=consistent", "-X", "message.timeout.ms=0", "-X", "linger.ms=5"]
        with log_path.open("ab") as log:
            self._kcat = spawn(command, dict(os.environ), log, owned=True, stdin=subprocess.PIPE)
        self._thread = threading.Thread(target=self._feed, name="feeder", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def finish(self, deadline_s: float) -> None:
        """Waits until the broker has acknowledged everything."""
        self._thread.join(deadline_s)
        try:
            code = self._kcat.wait(deadline_s)
        except subprocess.TimeoutExpired:
            code = None
        if code != 0:
            raise AssertionError(f"kcat ended with {code}, {self.n_sent} messages sent\n{self._log_path.read_text()[-2000:]}")

    def kill(self) -> None:
        self._stopping.set()
        self._kcat.kill()
        self._kcat.wait()

    def pause(self, duration_s: float) -> None:
        """Sends nothing for so long, from the next message on; what was missed is not caught up with."""
        self._pause_s = duration_s

    def _feed(self) -> None:
        assert self._kcat.stdin is not None
        started = time.monotonic()
        lines = bytearray()
        try:
            for message in self._messages:
                lines += message.key + b"\t" + message.value + b"\n"
                self.n_sent += 1
                ahead_s = self.n_sent / self._messages_per_s - (time.monotonic() - started)
                if ahead_s > FEED_INTERVAL_S or len(lines) > 1 << 16:
                    self._kcat.stdin.write(lines)
                    self._kcat.stdin.flush()
                    lines.clear()
                    if ahead_s > 0:
                        self._stopping.wait(FEED_INTERVAL_S)
                    if self._pause_s > 0:
                        self._stopping.wait(self._pause_s)
                        started += self._pause_s
                        self._pause_s = 0.0
                if self._stopping.is_set():
                    break
            self._kcat.stdin.write(lines)
            self._kcat.stdin.close()
        except BrokenPipeError:
            pass  # finish() says how kcat ended


def read_topic(brokers: str, topic: str, layout: str, n_fields: int, log_path: Path) -> Iterator[list[bytes]]:
    """Every record of a topic, each partition in its order, as kcat prints its fields with tabs between."""
    command = ["kcat", "-C", "-q", "-e", "-E", "-b", brokers, "-t", topic, "-o", "beginning", "-f", f"{layout}\n"]
    with log_path.open("ab") as log:
        kcat = spawn(command, dict(os.environ), log, owned=True, stdout=subprocess.PIPE)
    assert kcat.stdout is not None
    for line in kcat.stdout:
        yield line.removesuffix(b"\n").split(b"\t", n_fields - 1)
    if kcat.wait() != 0:
        raise AssertionError(f"kcat could not read '{topic}': see {log_path}")


def records_of(brokers: str, topic: str, log_path: Path) -> Iterator[tuple[int, bytes, bytes]]:
    """Every record of a topic as (partition, key, value)."""
    for partition, key, value in read_topic(brokers, topic, "%p\t%k\t%s", 3, log_path):
        yield int(partition), key, value

"""Kafka's admin requests spoken by hand: Kafka's own tools cost a JVM of two seconds each, kcat cannot create topics.

Every request is used in a version that brokers of 4.x still take and that is of fixed layout ("not flexible"). Meant
for the one-broker clusters of the tests: the broker asked is controller, leader and coordinator of everything.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import Callable, Mapping, Optional, Sequence, TypeVar

from kafka_records import Record, encode_batch
from thrift_probe import receive_exactly

T = TypeVar("T")

# Keys and versions of the requests, from Kafka's protocol guide.
PRODUCE = (0, 3)
LIST_OFFSETS = (2, 2)
METADATA = (3, 4)
OFFSET_COMMIT = (8, 2)
OFFSET_FETCH = (9, 5)
FIND_COORDINATOR = (10, 2)
CREATE_TOPICS = (19, 4)
DELETE_TOPICS = (20, 3)
DELETE_RECORDS = (21, 1)
DELETE_GROUPS = (42, 1)

LATEST = -1

UNKNOWN_TOPIC_OR_PARTITION = 3

ERROR_NAMES = {
    1: "OFFSET_OUT_OF_RANGE",
    UNKNOWN_TOPIC_OR_PARTITION: "UNKNOWN_TOPIC_OR_PARTITION",
    5: "LEADER_NOT_AVAILABLE",
    6: "NOT_LEADER_OR_FOLLOWER",
    7: "REQUEST_TIMED_OUT",
    14: "COORDINATOR_LOAD_IN_PROGRESS",
    15: "COORDINATOR_NOT_AVAILABLE",
    16: "NOT_COORDINATOR",
    17: "INVALID_TOPIC_EXCEPTION",
    36: "TOPIC_ALREADY_EXISTS",
    40: "INVALID_CONFIG",
    68: "NON_EMPTY_GROUP",
}

# What a broker says while a topic or a coordinator is being set up, or a member leaves, and takes back soon after.
PASSING_ERRORS = frozenset({5, 6, 7, 14, 15, 16, 68})

REQUEST_TIMEOUT_S = 15
SETTLE_DEADLINE_S = 90
SETTLE_INTERVAL_S = 0.02


class KafkaError(Exception):
    """The broker refused; `code` is Kafka's error code."""

    def __init__(self, what: str, code: int, message: Optional[str] = None) -> None:
        name = ERROR_NAMES.get(code, f"error {code}")
        super().__init__(f"{what}: {name}" + (f": {message}" if message else ""))
        self.code = code


class _Reply:
    """A cursor over the bytes of a response."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def _take(self, layout: str) -> int:
        (value,) = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return int(value)

    def i8(self) -> int:
        return self._take(">b")

    def i16(self) -> int:
        return self._take(">h")

    def i32(self) -> int:
        return self._take(">i")

    def i64(self) -> int:
        return self._take(">q")

    def text(self) -> Optional[str]:
        length = self.i16()
        if length < 0:
            return None
        self._at += length
        return self._data[self._at - length:self._at].decode("utf-8")

    def array(self, element: Callable[[], T]) -> list[T]:
        return [element() for _ in range(self.i32())]


def _text(value: str) -> bytes:
    data = value.encode("utf-8")
    return struct.pack(">h", len(data)) + data


def _array(elements: list[bytes]) -> bytes:
    return struct.pack(">i", len(elements)) + b"".join(elements)


def _i32(value: int) -> bytes:
    return struct.pack(">i", value)


def _i64(value: int) -> bytes:
    return struct.pack(">q", value)


def _require(what: str, code: int, message: Optional[str] = None) -> None:
    if code != 0:
        raise KafkaError(what, code, message)


class KafkaAdmin:
    """Topics, offsets and committed offsets of one broker, given as 'host:port'. One connection per request."""

    def __init__(self, broker: str) -> None:
        host, port = broker.rsplit(":", 1)
        self._address = (host, int(port))

    def is_ready(self) -> bool:
        """True when the broker answers and knows itself as a member of the cluster."""
        try:
            broker_count, _ = self._metadata()
        except (OSError, struct.error):
            return False
        return broker_count > 0

    def create_topic(self, name: str, partitions: int = 1, config: Optional[Mapping[str, str]] = None) -> None:
        """Creates a topic and returns when every partition of it can be written and read."""
        settings = [_text(key) + _text(value) for key, value in (config or {}).items()]
        topic = _text(name) + struct.pack(">ih", partitions, 1) + _array([]) + _array(settings)
        reply = self._call(CREATE_TOPICS, _array([topic]) + self._timeout() + b"\x00")
        reply.i32()  # throttle time
        for _, code, message in reply.array(lambda: (reply.text(), reply.i16(), reply.text())):
            _require(f"cannot create the topic '{name}'", code, message)
        self._await_partitions(name, partitions)

    def delete_topic(self, name: str) -> None:
        """Deletes a topic and returns when the broker has forgotten it."""
        reply = self._call(DELETE_TOPICS, _array([_text(name)]) + self._timeout())
        reply.i32()  # throttle time
        for _, code in reply.array(lambda: (reply.text(), reply.i16())):
            _require(f"cannot delete the topic '{name}'", code)
        _settle(lambda: name not in self.topics(), f"the topic '{name}' is still listed after its deletion")

    def produce(self, topic: str, partition: int, records: Sequence[Record]) -> None:
        """Sends records as they are, in one batch, acknowledged by all replicas."""
        batch = encode_batch(records)
        data = _i32(partition) + _i32(len(batch)) + batch
        request = struct.pack(">hh", -1, -1) + self._timeout() + _array([_text(topic) + _array([data])])

        def ask() -> None:
            reply = self._call(PRODUCE, request)
            # name, partitions: each index, error, first offset, time of appending
            for _, partitions in reply.array(lambda: (reply.text(), reply.array(
                    lambda: (reply.i32(), reply.i16(), reply.i64(), reply.i64())))):
                for _, code, _, _ in partitions:
                    _require(f"produce to '{topic}'", code)
        _retry_passing(ask)

    def topics(self) -> dict[str, int]:
        """Every topic that is not Kafka's own, with the number of its partitions."""
        return {name: count for name, count in self._metadata()[1].items() if not name.startswith("__")}

    def latest_offsets(self, topic: str) -> dict[int, int]:
        """For each partition the offset that the next message will get."""
        return self._list_offsets(topic, LATEST)

    def delete_records(self, topic: str, partition: int, before_offset: int) -> None:
        """Drops the oldest messages of a partition, as retention would, without the wait for it."""
        wanted = _text(topic) + _array([_i32(partition) + _i64(before_offset)])
        reply = self._call(DELETE_RECORDS, _array([wanted]) + self._timeout())
        reply.i32()  # throttle time
        codes = reply.array(lambda: (reply.text(), reply.array(lambda: (reply.i32(), reply.i64(), reply.i16())[2])))
        for _, partition_codes in codes:
            for code in partition_codes:
                _require(f"cannot drop messages of '{topic}' [{partition}] before {before_offset}", code)

    def committed_offsets(self, group: str, topic: str) -> dict[int, int]:
        """For each partition with a commit of this group the committed offset (the next one to read)."""
        self._await_coordinator(group)
        partitions = range(self._partition_count(topic))
        request = _text(group) + _array([_text(topic) + _array([_i32(partition) for partition in partitions])])
        return _retry_passing(lambda: self._offset_fetch(request, f"cannot ask for the offsets of '{group}'"))

    def commit(self, group: str, topic: str, partition: int, offset: int, metadata: str = "") -> None:
        """Commits for a group that has no members, as an operator's tool does."""
        self._await_coordinator(group)
        row = _i32(partition) + _i64(offset) + _text(metadata)
        # Generation -1 and no member: an outsider; retention as the broker has it.
        request = _text(group) + _i32(-1) + _text("") + _i64(-1) + _array([_text(topic) + _array([row])])

        def ask() -> None:
            reply = self._call(OFFSET_COMMIT, request)
            for _, partitions in reply.array(lambda: (reply.text(), reply.array(lambda: (reply.i32(), reply.i16())))):
                for _, code in partitions:
                    _require(f"cannot commit for '{group}'", code)
        _retry_passing(ask)

    def delete_group(self, group: str) -> None:
        """Deletes a group that has no members, with all that it has committed."""
        self._await_coordinator(group)

        def ask() -> None:
            reply = self._call(DELETE_GROUPS, _array([_text(group)]))
            reply.i32()  # throttle time
            for _, code in reply.array(lambda: (reply.text(), reply.i16())):
                _require(f"cannot delete the group '{group}'", code)
        _retry_passing(ask)

    def _offset_fetch(self, request: bytes, what: str) -> dict[int, int]:
        reply = self._call(OFFSET_FETCH, request)
        reply.i32()  # throttle time
        # partition, offset, leader epoch, metadata, error
        rows = reply.array(lambda: (reply.text(), reply.array(
            lambda: (reply.i32(), reply.i64(), reply.i32(), reply.text(), reply.i16()))))
        _require(what, reply.i16())
        offsets = {}
        for _, partitions in rows:
            for partition, offset, _, _, code in partitions:
                _require(what, code)
                if offset >= 0:
                    offsets[partition] = offset
        return offsets

    def _await_coordinator(self, group: str) -> None:
        """Asks for the coordinator first: this creates the offsets topic of a new broker."""
        def ask() -> None:
            reply = self._call(FIND_COORDINATOR, _text(group) + b"\x00")
            reply.i32()  # throttle time
            _require(f"cannot find the coordinator of '{group}'", reply.i16())
        _retry_passing(ask)

    def _list_offsets(self, topic: str, time_stamp: int) -> dict[int, int]:
        partitions = range(self._partition_count(topic))
        wanted = _text(topic) + _array([_i32(partition) + _i64(time_stamp) for partition in partitions])
        # Replica -1 is a client; isolation 0 counts messages of open transactions too.
        request = _i32(-1) + b"\x00" + _array([wanted])
        return _retry_passing(lambda: self._list_offsets_once(topic, request))

    def _list_offsets_once(self, topic: str, request: bytes) -> dict[int, int]:
        reply = self._call(LIST_OFFSETS, request)
        reply.i32()  # throttle time
        # partition, error, time stamp, offset
        rows = reply.array(lambda: (reply.text(), reply.array(
            lambda: (reply.i32(), reply.i16(), reply.i64(), reply.i64()))))
        offsets = {}
        for _, partitions in rows:
            for partition, code, _, offset in partitions:
                _require(f"cannot list the offsets of '{topic}' [{partition}]", code)
                offsets[partition] = offset
        return offsets

    def _partition_count(self, topic: str) -> int:
        count = self._metadata()[1].get(topic)
        if count is None:
            raise KafkaError(f"there is no topic '{topic}'", UNKNOWN_TOPIC_OR_PARTITION)
        return count

    def _await_partitions(self, name: str, partitions: int) -> None:
        """The controller answers before the broker has made itself the leader of the new partitions."""
        def has_leaders() -> bool:
            try:
                return len(self._list_offsets(name, LATEST)) == partitions
            except KafkaError as error:
                if error.code == UNKNOWN_TOPIC_OR_PARTITION:
                    return False
                raise
        _settle(has_leaders, f"the topic '{name}' has not got its {partitions} partitions")

    def _metadata(self) -> tuple[int, dict[str, int]]:
        """The number of brokers, and the topics with their numbers of partitions."""
        reply = self._call(METADATA, _i32(-1) + b"\x00")
        reply.i32()  # throttle time
        brokers = reply.array(lambda: (reply.i32(), reply.text(), reply.i32(), reply.text()))
        reply.text()  # cluster id
        reply.i32()  # controller
        # error, name, internal, partitions: each error, index, leader, replicas, in-sync replicas
        topics = reply.array(lambda: (reply.i16(), reply.text() or "", reply.i8(), reply.array(
            lambda: (reply.i16(), reply.i32(), reply.i32(), reply.array(reply.i32), reply.array(reply.i32)))))
        return len(brokers), {name: len(partitions) for _, name, _, partitions in topics}

    def _call(self, request: tuple[int, int], body: bytes) -> _Reply:
        key, version = request
        message = struct.pack(">hhi", key, version, 0) + _text("stack") + body
        with socket.create_connection(self._address, timeout=REQUEST_TIMEOUT_S) as connection:
            connection.sendall(struct.pack(">i", len(message)) + message)
            (length,) = struct.unpack(">i", receive_exactly(connection, 4))
            reply = _Reply(receive_exactly(connection, length))
        reply.i32()  # correlation id: one request per connection
        return reply

    @staticmethod
    def _timeout() -> bytes:
        return _i32((REQUEST_TIMEOUT_S - 1) * 1000)


def _settle(condition: Callable[[], bool], complaint: str) -> None:
    """Waits for what the broker does shortly after its answer."""
    give_up_at = time.monotonic() + SETTLE_DEADLINE_S
    while not condition():
        if time.monotonic() > give_up_at:
            raise TimeoutError(complaint)
        time.sleep(SETTLE_INTERVAL_S)


def _retry_passing(ask: Callable[[], T]) -> T:
    """Asks again while the broker says that it is not ready for the question yet."""
    give_up_at = time.monotonic() + SETTLE_DEADLINE_S
    while True:
        try:
            return ask()
        except KafkaError as error:
            if error.code not in PASSING_ERRORS or time.monotonic() > give_up_at:
                raise
        time.sleep(SETTLE_INTERVAL_S)

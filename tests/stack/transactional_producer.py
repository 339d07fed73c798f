"""A producer of transactions, by librdkafka's own functions: for tests that leave one open."""

from __future__ import annotations

import ctypes

ANSWER_MS = 60_000


class TransactionalProducer:
    def __init__(self, brokers: str, name: str, topic: str) -> None:
        self._library = ctypes.CDLL("librdkafka.so.1")
        for function in ("conf_new", "new", "topic_new", "init_transactions", "begin_transaction", "commit_transaction"):
            getattr(self._library, f"rd_kafka_{function}").restype = ctypes.c_void_p
        conf = ctypes.c_void_p(self._call("conf_new"))
        reason = ctypes.create_string_buffer(512)
        for key, value in (("bootstrap.servers", brokers), ("transactional.id", name), ("transaction.timeout.ms", "600000")):
            assert self._call("conf_set", conf, key.encode(), value.encode(), reason, 512) == 0, reason.value
        self._handle = ctypes.c_void_p(self._call("new", 0, conf, reason, 512))
        assert self._handle, reason.value
        self._topic = ctypes.c_void_p(self._call("topic_new", self._handle, topic.encode(), None))
        assert not self._call("init_transactions", self._handle, ANSWER_MS)

    def _call(self, name: str, *arguments: object) -> int:
        result: int = getattr(self._library, f"rd_kafka_{name}")(*arguments)
        return result

    def send(self, payloads: list[str]) -> None:
        """In a transaction that stays open."""
        assert not self._call("begin_transaction", self._handle)
        for payload in payloads:
            data = payload.encode()
            assert self._call("produce", self._topic, 0, 2, data, ctypes.c_size_t(len(data)), None, ctypes.c_size_t(0), None) == 0
        assert self._call("flush", self._handle, ANSWER_MS) == 0

    def commit(self) -> None:
        assert not self._call("commit_transaction", self._handle, ANSWER_MS)

    def end(self) -> None:
        self._call("topic_destroy", self._topic)
        self._call("destroy", self._handle)

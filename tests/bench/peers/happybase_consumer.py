#!/usr/bin/env python3
"""The benchmark's peer in Python: confluent-kafka and happybase, batches of 1,000 messages, as their own guides write it.

    happybase_consumer.py BROKERS PORT_OF_A_THRIFT1_GATEWAY

Each line of stdin is a round to run, each line of stdout what it took, as in Rounds.java. The cells have HBase's own time and
not the reading's: a batch of happybase has one time for all of its rows.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import confluent_kafka
import happybase

BATCH_MESSAGES = 1000

POLL_TIMEOUT_S = 1

# A topic that ends before the messages that were asked for is a mistake of the caller's.
EMPTY_POLLS_BEFORE_GIVING_UP = 30


def poll_until_messages(consumer: confluent_kafka.Consumer) -> list[confluent_kafka.Message]:
    for _ in range(EMPTY_POLLS_BEFORE_GIVING_UP):
        messages = consumer.consume(BATCH_MESSAGES, POLL_TIMEOUT_S)
        for message in messages:
            if message.error():
                raise confluent_kafka.KafkaException(message.error())
        if messages:
            return messages
    raise RuntimeError("the topic has fewer messages than the round asks for")


def write(messages: list[confluent_kafka.Message], history: happybase.Table, latest: happybase.Table) -> None:
    """A reading becomes a row of each table, a cell for each value, with the value's own text."""
    with history.batch() as rows, latest.batch() as newest:
        for message in messages:
            # As text, numbers are stored as they were sent.
            reading = json.loads(message.value(), parse_float=str, parse_int=str)
            host, event_time = reading.pop("host"), reading.pop("ts")
            cells = {f"M:{name}": value for name, value in reading.items()}
            rows.put(f"{host}#{event_time}", cells)
            newest.put(host, cells)


def run(brokers: str, gateway_port: int, order: dict[str, Any]) -> dict[str, float]:
    # For each round a new one: the gateway closes what has been idle for a minute.
    connection = happybase.Connection("127.0.0.1", gateway_port)
    consumer = confluent_kafka.Consumer({"bootstrap.servers": brokers, "group.id": order["history"],
                                         "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe([order["topic"]])
    history, latest = connection.table(order["history"]), connection.table(order["latest"])
    messages = poll_until_messages(consumer)
    started, cpu_before = time.monotonic(), time.process_time()
    readings = 0
    while True:
        write(messages, history, latest)
        consumer.commit(asynchronous=False)
        readings += len(messages)
        if readings >= order["messages"]:
            break
        messages = poll_until_messages(consumer)
    result = {"readings": readings, "seconds": time.monotonic() - started, "cpu_seconds": time.process_time() - cpu_before}
    consumer.close()
    connection.close()
    return result


def main() -> None:
    brokers, port = sys.argv[1:]
    for line in sys.stdin:
        print(json.dumps(run(brokers, int(port), json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

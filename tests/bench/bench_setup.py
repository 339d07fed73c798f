"""The resources that sections of the benchmark share: programs, the real Kafka and HBase, and topics full of readings."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable, Mapping, Optional, Sequence

from machine_load import Turns
from stack import Stack
from stack_services import Kafka


# HBase refuses a cell above this: larger than any that a section writes, but for those that are to be refused.
REFUSED_ABOVE_BYTES = 64 << 10


@dataclass
class Bench:
    build: Path  # the build directory
    directory: Path  # for logs and data
    runs: int = 5
    quick: bool = False  # smaller loads: does it work at all?
    turns: Turns = field(default_factory=Turns)  # of the section that runs: each of its turns goes through `turns.run`
    hbase_settings: Mapping[str, str] = field(default_factory=dict)
    hbase_jvm_flags: Sequence[str] = ()
    _stack: Optional[Stack] = None
    _topics: dict[str, int] = field(default_factory=dict)
    _serial: int = 0

    @property
    def tidemark(self) -> Path:
        return self.build / "daemon" / "tidemark"

    def tool(self, name: str) -> Path:
        """A program of tests/bench."""
        return self.build / "tests" / "bench" / name

    def unique(self, name: str) -> str:
        """A name that no other run of this benchmark has: for groups, tables and logs."""
        self._serial += 1
        return f"{name}-{self._serial}"

    def log(self, name: str) -> Path:
        return self.directory / f"{name}.log"

    def _planned_stack(self) -> Stack:
        if self._stack is None:
            # A topic stays as it was produced, however long the benchmark takes.
            self._stack = Stack(self.directory / "stack", gateways=1, peak_speed=True,
                                hbase_settings={"hbase.server.keyvalue.maxsize": str(REFUSED_ABOVE_BYTES), **self.hbase_settings},
                                hbase_jvm_flags=self.hbase_jvm_flags,
                                kafka_settings={"log.retention.ms": "-1", "log.segment.bytes": str(1 << 30)})
        return self._stack

    def kafka(self) -> Kafka:
        """A running Kafka; without HBase, when nothing has asked for that."""
        kafka = self._planned_stack().kafka
        if kafka.pid is None:
            kafka.start()
        return kafka

    def stack(self) -> Stack:
        """Kafka, HBase and a gateway, all running."""
        stack = self._planned_stack()
        self.kafka()
        for service in stack.services:
            if service.pid is None:
                service.start()
        return stack

    def stop(self) -> None:
        if self._stack is not None:
            self._stack.stop()

    def topic(self, *, metrics: int = 10, readings: int = 200_000, partitions: int = 4, machines: int = 1000) -> str:
        """The name of a topic with so many readings of so many machines, in turns: a message each. Made once."""
        name = f"readings-{metrics}x{readings}-{partitions}p-{machines}m"
        if name not in self._topics:
            kafka = self.kafka()
            kafka.admin.create_topic(name, partitions)
            with self.log("simulate").open("ab") as log:
                subprocess.run([str(self.tidemark), "simulate", "-b", kafka.address, "-t", name, "--readings", str(readings),
                                "--metrics", str(metrics), "--devices", str(machines), "--seed", "1"],
                               stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
            self._topics[name] = readings
        return name

    def filled_topic(self, name: str, messages: Iterable[tuple[str, str]], *, partitions: int = 4) -> str:
        """The name of a topic with these keys and values, without tabs and line ends. Made once."""
        if name not in self._topics:
            kafka = self.kafka()
            kafka.admin.create_topic(name, partitions)
            lines = [f"{key}\t{value}\n" for key, value in messages]
            subprocess.run(["kcat", "-P", "-b", kafka.address, "-t", name, "-K", "\t", "-X", "linger.ms=20"],
                           input="".join(lines).encode(), check=True)
            self._topics[name] = len(lines)
        return name

    def readings_of(self, topic: str) -> int:
        return self._topics[topic]

    def message_bytes(self, topic: str) -> int:
        """The size of a typical message of the topic, without its key."""
        done = subprocess.run(["kcat", "-C", "-b", self.kafka().address, "-t", topic, "-p", "0", "-o", "beginning", "-c", "1", "-e"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        return len(done.stdout.rstrip(b"\n"))

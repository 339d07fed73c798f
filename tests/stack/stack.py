#!/usr/bin/env python3
"""The real Kafka and HBase, with HBase's Thrift gateways, on 127.0.0.1: for the integration tests and for the demo.

    with Stack(directory, gateways=2) as stack:
        stack.kafka.admin.create_topic("readings", partitions=4)
        stack.oracle.create("METRIC", "METRIC")
        stack.gateways[0].kill9()

On the command line the same stack outlives the command: see `stack.py --help`, and README.md for the limits.
"""

from __future__ import annotations

import argparse
import atexit
import json
import shlex
import sys
import time
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

import maven_jars
from hbase_oracle import Oracle
from jvm_process import StackError
from kafka_admin import KafkaError
from maven_jars import JarError, say
from stack_services import GATEWAY_CLASS, Gateway, HBase, Kafka, Service, free_port


class Stack:
    """Kafka, HBase and gateways in one directory.

    As a context manager it is thrown away at the end, and dies with this process however that ends; the logs stay.
    What it consists of is kept in 'stack.json', so that another process can look at it with `Stack.attach`.
    """

    def __init__(self, directory: Path | str, *, gateways: int = 1, kind: str = "thrift2", framed: bool = False,
                 compact: bool = False, gateway_ports: Sequence[int] = (), peak_speed: bool = False, owned: bool = True,
                 kafka_settings: Optional[Mapping[str, str]] = None, hbase_settings: Optional[Mapping[str, str]] = None,
                 hbase_jvm_flags: Sequence[str] = (), gateway_settings: Optional[Mapping[str, str]] = None) -> None:
        """`gateways` of one format are there at first (see `add_gateway`); settings are added to the stack's own.

        Data that `stop(graceful=True)` has kept in this directory comes back, on the same ports; the gateways are new.
        """
        plan = _kept_plan(Path(directory)) or {"kafka_ports": Kafka.choose_ports(), "hbase_ports": HBase.choose_ports()}
        plan.update(peak_speed=peak_speed, gateways=[], kafka_settings=dict(kafka_settings or {}),
                    hbase_settings=dict(hbase_settings or {}), hbase_jvm_flags=list(hbase_jvm_flags), gateway_settings=dict(gateway_settings or {}))
        self._build(Path(directory), plan, owned)
        for index in range(gateways):
            port = gateway_ports[index] if index < len(gateway_ports) else free_port()
            self._plan_gateway(kind, framed, compact, port)

    @classmethod
    def attach(cls, directory: Path | str) -> "Stack":
        """The stack that another process has started in this directory."""
        plan = _read_plan(Path(directory))
        if plan is None:
            raise StackError(f"there is no stack in '{directory}'")
        stack = cls.__new__(cls)
        stack._build(Path(directory), plan, owned=False)
        return stack

    def _build(self, directory: Path, plan: dict[str, Any], owned: bool) -> None:
        self.directory = directory.absolute()
        self.directory.mkdir(parents=True, exist_ok=True)
        self._plan = plan
        self._owned = owned
        common = {"peak_speed": plan["peak_speed"], "owned": owned}
        self.kafka = Kafka(self.directory, plan["kafka_ports"], settings=plan["kafka_settings"], **common)
        self.hbase = HBase(self.directory, plan["hbase_ports"], settings=plan["hbase_settings"],
                           jvm_flags=plan.get("hbase_jvm_flags", ()), **common)
        self.oracle = Oracle(self.hbase.zookeeper_port, self.directory / "oracle.log")
        self.gateways = [self._make_gateway(index, gateway) for index, gateway in enumerate(plan["gateways"])]

    def _make_gateway(self, index: int, plan: Mapping[str, Any]) -> Gateway:
        return Gateway(self.directory, index, self.hbase.zookeeper_port, plan["port"], kind=plan["kind"],
                       framed=plan["framed"], compact=plan["compact"], settings=self._plan["gateway_settings"],
                       jvm_flags=plan.get("jvm_flags", ()), jars=plan.get("jars", "hbase"),
                       peak_speed=self._plan["peak_speed"], owned=self._owned)

    def _plan_gateway(self, kind: str, framed: bool, compact: bool, port: int, jvm_flags: Sequence[str] = (),
                      jars: str = "hbase") -> Gateway:
        plan = {"kind": kind, "framed": framed, "compact": compact, "port": port, "jvm_flags": list(jvm_flags), "jars": jars}
        gateway = self._make_gateway(len(self.gateways), plan)
        self._plan["gateways"].append(plan)
        self.gateways.append(gateway)
        return gateway

    def add_gateway(self, *, kind: str = "thrift2", framed: bool = False, compact: bool = False,
                    port: Optional[int] = None, jvm_flags: Sequence[str] = (), jars: str = "hbase") -> Gateway:
        """One more gateway of a running stack; returns when it answers. `jars`: of a folder with a pom.xml here."""
        gateway = self._plan_gateway(kind, framed, compact, port or free_port(), jvm_flags, jars)
        self._save()
        gateway.start()
        return gateway

    @property
    def services(self) -> list[Service]:
        """In the order of starting; stopping goes backwards."""
        return [self.kafka, self.hbase, *self.gateways]

    @property
    def gateway_addresses(self) -> str:
        return ",".join(gateway.address for gateway in self.gateways)

    def start(self) -> None:
        """Starts everything and returns when all of it can be used; leaves nothing behind if something fails."""
        running = [service.name for service in self.services if service.pid is not None]
        if running:
            raise StackError(f"{', '.join(running)} of '{self.directory}' already running")
        for component in ("kafka", "hbase"):
            maven_jars.classpath_file(component)
        if not self.hbase.can_start():
            say("throwing away the data of a stack that was not stopped cleanly")
            self.wipe()
        self._save()
        try:
            self._start_services()
        except BaseException:
            self.stop()
            raise

    def _start_services(self) -> None:
        # HBase takes longest and its start waits a lot: Kafka's goes into the gaps.
        self.hbase.launch()
        self.kafka.launch()
        self.kafka.await_ready()
        self.hbase.await_ready()
        for gateway in self.gateways:
            gateway.launch()
        for gateway in self.gateways:
            gateway.await_ready()

    def stop(self, *, graceful: bool = False) -> None:
        """Ends everything: killed and its data thrown away, or, graceful, stopped so that `start` finds it again."""
        self.oracle.stop()
        for service in reversed(self.services):
            if graceful:
                service.stop()
            else:
                service.kill9()
        if not graceful:
            self.wipe()

    def wipe(self) -> None:
        """Throws the data of the stopped services away, and the memory of their ports; the logs stay."""
        for service in self.services:
            service.wipe()
        _plan_path(self.directory).unlink(missing_ok=True)

    def environment(self) -> dict[str, str]:
        """What a program needs to use the stack."""
        return {
            "KAFKA_BROKERS": self.kafka.address,
            "HBASE_GATEWAYS": self.gateway_addresses,
            "HBASE_ZOOKEEPER": self.hbase.address,
            "KAFKA_CLASSPATH_FILE": str(maven_jars.classpath_file("kafka")),
            "HBASE_CLASSPATH_FILE": str(maven_jars.classpath_file("hbase")),
        }

    def __enter__(self) -> "Stack":
        self.start()
        atexit.register(self.stop)
        return self

    def __exit__(self, *_: object) -> None:
        atexit.unregister(self.stop)
        self.stop()

    def _save(self) -> None:
        _plan_path(self.directory).write_text(json.dumps(self._plan, indent=2) + "\n", encoding="utf-8")


def _plan_path(directory: Path) -> Path:
    return directory / "stack.json"


def _read_plan(directory: Path) -> Optional[dict[str, Any]]:
    try:
        plan: dict[str, Any] = json.loads(_plan_path(directory).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return plan


def _kept_plan(directory: Path) -> Optional[dict[str, Any]]:
    """The plan of a stack that was stopped with its data kept; after anything else new ports are chosen."""
    return _read_plan(directory) if HBase.was_stopped_cleanly(directory) else None


# Words of the command line, and the methods of a service that they call.
ACTIONS = {"start": "start", "stop": "stop", "kill": "kill9", "suspend": "suspend", "resume": "resume"}


def command_up(arguments: argparse.Namespace) -> int:
    if _read_plan(arguments.dir) is not None and _running(Stack.attach(arguments.dir)):
        raise StackError(f"a stack is running in '{arguments.dir}' already; 'down' ends it")
    first = arguments.gateway_port
    ports = [] if first is None else range(first, first + arguments.gateways)
    stack = Stack(arguments.dir, gateways=arguments.gateways, kind=arguments.kind, framed=arguments.framed,
                  compact=arguments.compact, gateway_ports=ports, peak_speed=arguments.peak_speed, owned=False)
    say(f"starting Kafka, HBase and {arguments.gateways} gateway(s)")
    started = time.monotonic()
    stack.start()
    took_s = time.monotonic() - started
    say(f"up after {took_s:.0f} s: Kafka on {stack.kafka.address}, gateways on {stack.gateway_addresses}")
    return 0


def command_status(arguments: argparse.Namespace) -> int:
    """Exit status 0 when everything runs, 1 when something does not."""
    stack = Stack.attach(arguments.dir)
    for service in stack.services:
        state = "not running" if service.pid is None else f"process {service.pid}"
        print(f"{service.name}\t{service.address}\t{state}\t{service.log_path}")
    return 0 if len(_running(stack)) == len(stack.services) else 1


def command_down(arguments: argparse.Namespace) -> int:
    if _read_plan(arguments.dir) is None:
        say(f"there is no stack in '{arguments.dir}'")
        return 0
    stack = Stack.attach(arguments.dir)
    stack.stop(graceful=arguments.graceful)
    kept = arguments.graceful and stack.hbase.can_start()
    say("down, data kept" if kept else "down, data thrown away" if not arguments.graceful
        else "down, but HBase had been killed before: its data is lost")
    return 0


def command_service(arguments: argparse.Namespace) -> int:
    stack = Stack.attach(arguments.dir)
    service: Service
    match arguments.command:
        case "kafka":
            service = stack.kafka
        case "hbase":
            service = stack.hbase
        case _:
            service = _gateway(stack, arguments.index)
    getattr(service, ACTIONS[arguments.action])()
    return 0


def command_topic(arguments: argparse.Namespace) -> int:
    admin = Stack.attach(arguments.dir).kafka.admin
    if arguments.action == "create":
        admin.create_topic(arguments.name, arguments.partitions, dict(arguments.config))
    else:
        admin.delete_topic(arguments.name)
    return 0


def command_oracle(arguments: argparse.Namespace) -> int:
    stack = Stack.attach(arguments.dir)
    try:
        for line in stack.oracle.ask(*arguments.words):
            print(line)
    finally:
        stack.oracle.stop()
    return 0


def command_env(arguments: argparse.Namespace) -> int:
    for name, value in Stack.attach(arguments.dir).environment().items():
        print(f"{name}={shlex.quote(value)}")
    return 0


def _running(stack: Stack) -> list[Service]:
    return [service for service in stack.services if service.pid is not None]


def _gateway(stack: Stack, index: int) -> Gateway:
    if not 0 <= index < len(stack.gateways):
        raise StackError(f"there is no gateway {index}: this stack has {len(stack.gateways)}, counted from 0")
    return stack.gateways[index]


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return name, value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stack.py", description="Starts and stops a real Kafka and HBase.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: Any, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--dir", type=Path, required=True, help="where its data, logs and process ids are")
        command.set_defaults(run=run)
        return command

    up = add("up", command_up, "start everything and return when it can be used")
    up.add_argument("--gateways", type=int, default=1, metavar="N", help="how many gateways (default: 1)")
    up.add_argument("--kind", choices=tuple(GATEWAY_CLASS), default="thrift2", help="their service (default: thrift2)")
    up.add_argument("--framed", action="store_true", help="framed transport")
    up.add_argument("--compact", action="store_true", help="compact protocol")
    up.add_argument("--gateway-port", type=int, metavar="P",
                    help="the port of the first gateway, the next ones follow (default: free ones)")
    up.add_argument("--peak-speed", action="store_true", help="slower start, higher speed: for measurements")
    add("status", command_status, "say what runs, where, and where its log is")
    down = add("down", command_down, "end everything")
    down.add_argument("--graceful", action="store_true", help="keep the data: 'up' with this directory finds it again")
    add("env", command_env, "print addresses and class path files, for the shell's eval")

    for name in ("kafka", "hbase", "gateway"):
        service = add(name, command_service, f"start, stop, kill -9, suspend or resume: {name}")
        service.add_argument("action", choices=tuple(ACTIONS))
        if name == "gateway":
            service.add_argument("--index", type=int, default=0, metavar="N", help="which one, from 0 (default: 0)")

    topic = add("topic", command_topic, "create or delete a topic")
    topic.add_argument("action", choices=("create", "delete"))
    topic.add_argument("name")
    topic.add_argument("--partitions", type=int, default=1, metavar="N")
    topic.add_argument("--config", type=_setting, action="append", default=[], metavar="NAME=VALUE",
                       help="a setting of the topic, such as retention.ms=1000")

    oracle = add("oracle", command_oracle, "ask HBase directly, past the gateways: see java/HBaseOracle.java")
    oracle.add_argument("words", nargs="+", metavar="WORD", help="such as: digest METRIC (options of dump after '--')")
    return parser


def main(words: Optional[Sequence[str]] = None) -> int:
    arguments = _parser().parse_args(words)
    arguments.dir = arguments.dir.absolute()
    try:
        if arguments.command in ("status", "env", "oracle"):
            return int(arguments.run(arguments))
        arguments.dir.mkdir(parents=True, exist_ok=True)
        with maven_jars.exclusive(arguments.dir / "lock", f"works on '{arguments.dir}'"):
            return int(arguments.run(arguments))
    except (StackError, JarError, KafkaError, OSError) as error:
        say(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main())

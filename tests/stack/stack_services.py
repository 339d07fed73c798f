"""Kafka, HBase and a Thrift gateway as objects that are started, stopped, killed and suspended one by one."""

from __future__ import annotations

import base64
import random
import shutil
import signal
import socket
import subprocess
import uuid
from pathlib import Path
from typing import Mapping, Optional, Sequence
from xml.sax.saxutils import escape

import java_flags
import maven_jars
import thrift_probe
from jvm_process import Process, StackError
from kafka_admin import KafkaAdmin

# Kafka is up in 2 s, HBase in 4 s, a gateway in 1 s on two idle cores; the bound is for a machine busy with a build.
START_DEADLINE_S = 120

# Kafka and a gateway end within a second, HBase in 1 to 9 s; flushing a full memory store takes longer.
STOP_DEADLINE_S = 90

# Ports are taken from here up to the range that the kernel gives to outgoing connections: a client that keeps calling a
# gateway that is down could otherwise be given the gateway's own port, and talk to itself.
FIRST_PORT = 15000

HOST = "127.0.0.1"

# Of a broker that is its own controller.
KRAFT_SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    # After a kill the controller lets the broker in again when the session of the killed one is over: 9 s by default.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}

KAFKA_SETTINGS = {
    # One broker: nothing can be replicated. One partition each: the default of 50 costs seconds at the first use.
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    # A missing topic must be seen as missing.
    "auto.create.topics.enable": "false",
    # The default waits 3 s for more members before it gives partitions to the first.
    "group.initial.rebalance.delay.ms": "0",
    # Tests of a lost session cannot wait for the default of 6 s.
    "group.min.session.timeout.ms": "1000",
    # Threads for one client or two; the cleaner's default buffer alone is a quarter of the heap.
    "num.network.threads": "2",
    "num.io.threads": "4",
    "log.cleaner.dedupe.buffer.size": str(4 << 20),
}

# How long a suspended HBase stays in its own ZooKeeper's good graces after it is woken; the default is 10 s.
HBASE_SESSION_TIMEOUT_MS = 600_000

HBASE_SETTINGS = {
    "hbase.cluster.distributed": "false",
    "hbase.unsafe.stream.capability.enforce": "false",
    "hbase.wal.provider": "filesystem",
    "hbase.master.hostname": "localhost",
    "hbase.regionserver.hostname": "localhost",
    "hbase.master.info.port": "-1",
    "hbase.regionserver.info.port": "-1",
    # Fixed ports: after a restart the new region server is recognised as the old one's successor.
    "hbase.localcluster.assign.random.ports": "false",
    # The master need not wait for more region servers than the one there is: start in 4 s instead of 12 s.
    "hbase.master.wait.on.regionservers.maxtostart": "1",
    "hbase.master.wait.on.regionservers.interval": "50",
    "hbase.regionserver.msginterval": "250",
    # At a stop the region server outlives its ZooKeeper and would try for 20 s to say goodbye to it.
    "zookeeper.recovery.retry": "1",
    "zookeeper.recovery.retry.intervalmill": "200",
    "zookeeper.session.timeout.localHBaseCluster": str(HBASE_SESSION_TIMEOUT_MS),
    "hbase.zookeeper.property.maxSessionTimeout": str(HBASE_SESSION_TIMEOUT_MS),
}

# What is quick to start costs CPU later: for each report to the master a region server writes all its calls out as text, 6 % of
# its CPU at four reports a second, and next to none at HBase's own interval.
PEAK_SPEED_SETTINGS = {
    "hbase.regionserver.msginterval": "3000",
}

# Settings for a second region server in HBase's process, to which regions can be moved. Only until HBase is restarted: its
# servers are on other ports then and would not be recognised.
TWO_REGION_SERVERS = {
    "hbase.regionservers": "2",
    "hbase.regionserver.port": "0",
}

# Settings for an HBase that asks who may do what. Without Kerberos it believes whatever user a client names; the user whose
# process it is may do everything.
CHECKS_RIGHTS = {
    "hbase.security.authorization": "true",
    **{f"hbase.coprocessor.{place}.classes": "org.apache.hadoop.hbase.security.access.AccessController"
       for place in ("master", "regionserver", "region")},
}

GATEWAY_CLASS = {
    "thrift1": "org.apache.hadoop.hbase.thrift.ThriftServer",
    "thrift2": "org.apache.hadoop.hbase.thrift2.ThriftServer",
}


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on and that no outgoing connection will be given."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as text:
        end = int(text.read().split()[0])
    for port in random.SystemRandom().sample(range(min(FIRST_PORT, end - 1), end), k=min(1000, end - FIRST_PORT)):
        with socket.socket() as candidate:
            try:
                candidate.bind((HOST, port))
            except OSError:
                continue
            return port
    raise StackError(f"no free port on {HOST} from {FIRST_PORT} to {end}")


def _write_hbase_site(directory: Path, settings: Mapping[str, str]) -> None:
    properties = "".join(f"  <property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
                         for name, value in settings.items())
    directory.mkdir(parents=True, exist_ok=True)
    # Hadoop reads some of its settings (hadoop.security.*) from core-site.xml only.
    for name in ("hbase-site.xml", "core-site.xml"):
        (directory / name).write_text(f"<configuration>\n{properties}</configuration>\n", encoding="utf-8")


class Service:
    """What Kafka, HBase and a gateway have in common. `launch` returns at once, `start` when it can be used."""

    # Where clients find it, as host:port; set by each kind of service.
    address: str

    def __init__(self, directory: Path, name: str, *, peak_speed: bool, owned: bool) -> None:
        self.name = name
        self.directory = directory / name
        self.directory.mkdir(parents=True, exist_ok=True)
        self.log_path = directory / f"{name}.log"
        self._peak_speed = peak_speed
        self._process = Process(name, self.log_path, self.directory / "process.json", owned)

    @property
    def pid(self) -> Optional[int]:
        """The process that runs now, or None."""
        return self._process.pid

    def launch(self) -> None:
        raise NotImplementedError

    def await_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        raise NotImplementedError

    def start(self, deadline_s: float = START_DEADLINE_S) -> None:
        """Starts it, on the same port as ever, and returns when it can be used."""
        self.launch()
        self.await_ready(deadline_s)

    def stop(self, deadline_s: float = STOP_DEADLINE_S) -> None:
        """Ends it the orderly way (SIGTERM); its data stays."""
        self._process.terminate(deadline_s)

    def kill9(self) -> None:
        """Kills it with SIGKILL; returns when it is gone."""
        self._process.kill9()

    def suspend(self) -> None:
        """Makes it look dead: connections stay open, nothing answers."""
        self._process.send(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send(signal.SIGCONT)

    def wipe(self) -> None:
        """Throws its data away; the log stays."""
        process_record = self.directory / "process.json"
        for path in self.directory.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path != process_record:
                path.unlink()


class Kafka(Service):
    """One broker that is its own controller. component: the folder of the pom.xml that names its jars."""

    def __init__(self, directory: Path, ports: Mapping[str, int], *, settings: Optional[Mapping[str, str]] = None,
                 component: str = "kafka", peak_speed: bool = False, owned: bool = True) -> None:
        super().__init__(directory, "kafka", peak_speed=peak_speed, owned=owned)
        self._component = component
        self.address = f"{HOST}:{ports['broker']}"
        self.admin = KafkaAdmin(self.address)
        self._controller = f"{HOST}:{ports['controller']}"
        self._settings = dict(settings or {})

    @staticmethod
    def choose_ports() -> dict[str, int]:
        return {"broker": free_port(), "controller": free_port()}

    def launch(self) -> None:
        properties = self.directory / "server.properties"
        settings = {**KAFKA_SETTINGS, "log.dirs": str(self.directory / "data"), **self._cluster_settings(), **self._settings}
        properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
        self._prepare(properties)
        self._process.spawn(self._command("kafka.Kafka", str(properties)), self._environment())

    def await_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        self._process.await_condition(self.admin.is_ready, "answered a request", deadline_s)

    def _cluster_settings(self) -> dict[str, str]:
        """How it finds the cluster that it is."""
        return {
            **KRAFT_SETTINGS,
            "listeners": f"PLAINTEXT://{self.address},CONTROLLER://{self._controller}",
            "controller.quorum.voters": f"1@{self._controller}",
        }

    def _prepare(self, properties: Path) -> None:
        """Writes the cluster's identity into the data directory; Kafka does not start without."""
        if (self.directory / "data").exists():
            return
        command = self._command("kafka.tools.StorageTool", "format", "-t", _cluster_id(), "-c", str(properties),
                                *self._format_words())
        with open(self.log_path, "ab") as log:
            done = subprocess.run(command, env=self._environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  check=False)
        if done.returncode != 0:
            raise StackError(f"cannot format Kafka's data directory, see '{self.log_path}'")

    def _format_words(self) -> list[str]:
        """What else the first start writes."""
        return []

    def _command(self, main_class: str, *words: str) -> list[str]:
        flags = java_flags.common(self.name, self.log_path, heap="512m", peak_speed=self._peak_speed)
        return [java_flags.java(), *flags, "-Dorg.slf4j.simpleLogger.showDateTime=true", main_class, *words]

    def _environment(self) -> dict[str, str]:
        return java_flags.environment(maven_jars.classpath(self._component))


class ZooKeeperKafka(Kafka):
    """A broker of before 4.0 that has no controller of its own: its cluster is in a ZooKeeper, given as host:port."""

    def __init__(self, directory: Path, zookeeper: str, *, component: str) -> None:
        super().__init__(directory, self.choose_ports(), component=component)
        self._zookeeper = zookeeper

    def _cluster_settings(self) -> dict[str, str]:
        return {
            "broker.id": "1",
            "listeners": f"PLAINTEXT://{self.address}",
            "zookeeper.connect": f"{self._zookeeper}/{self.directory.parent.name}",
        }

    def _prepare(self, properties: Path) -> None:
        """It forms its cluster by itself."""


def _cluster_id() -> str:
    """A random UUID in Kafka's spelling: base64 without padding, and no dash in front, which would be an option."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii").rstrip("=")
        if not text.startswith("-"):
            return text


class HBase(Service):
    """Master, region server and ZooKeeper in one process, with its data in the local file system."""

    main_class = "org.apache.hadoop.hbase.master.HMaster"

    def __init__(self, directory: Path, ports: Mapping[str, int], *, settings: Optional[Mapping[str, str]] = None,
                 jvm_flags: Sequence[str] = (), peak_speed: bool = False, owned: bool = True) -> None:
        super().__init__(directory, "hbase", peak_speed=peak_speed, owned=owned)
        self._jvm_flags = tuple(jvm_flags)  # behind the stack's own, so that they win
        self.zookeeper_port = ports["zookeeper"]
        self.address = f"{HOST}:{self.zookeeper_port}"
        self._ports = dict(ports)
        self._settings = dict(settings or {})
        self._root = self.directory / "root"
        self._stopped_cleanly = self._clean_mark(directory)

    @staticmethod
    def choose_ports() -> dict[str, int]:
        return {"zookeeper": free_port(), "master": free_port(), "regionserver": free_port()}

    @staticmethod
    def _clean_mark(directory: Path) -> Path:
        return directory / "hbase" / "stopped-cleanly"

    @classmethod
    def was_stopped_cleanly(cls, directory: Path) -> bool:
        """True when the HBase of the stack in this directory was stopped with its data complete."""
        return cls._clean_mark(directory).exists()

    def can_start(self) -> bool:
        """False after a kill: the local file system has no hflush, the write-ahead log is cut, never read again."""
        return not self._root.exists() or self._stopped_cleanly.exists()

    def launch(self) -> None:
        if not self.can_start():
            raise StackError("HBase was killed and cannot read its write-ahead log any more; "
                             f"its data in '{self.directory}' must be thrown away first")
        _write_hbase_site(self.directory / "conf", self._site())
        flags = java_flags.hbase(self.name, self.log_path, heap="1500m", peak_speed=self._peak_speed)
        environment = java_flags.environment(f"{self.directory / 'conf'}:{maven_jars.classpath('hbase')}")
        self._root.mkdir(exist_ok=True)
        self._stopped_cleanly.unlink(missing_ok=True)
        self._process.spawn([java_flags.java(), *flags, *self._jvm_flags, self.main_class, "start"], environment)

    def await_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        self._process.await_condition(lambda: "Master has completed initialization" in self._process.log_since_start(),
                                      "completed its initialization", deadline_s)

    def stop(self, deadline_s: float = STOP_DEADLINE_S) -> None:
        """Ends it the orderly way: every row is kept and `start` brings it back. Takes 1 to 9 s."""
        was_running = self.pid is not None
        super().stop(deadline_s)
        if was_running:
            self._stopped_cleanly.touch()

    def _site(self) -> dict[str, str]:
        return {
            **HBASE_SETTINGS,
            **(PEAK_SPEED_SETTINGS if self._peak_speed else {}),
            "hbase.rootdir": self._root.as_uri(),
            "hbase.tmp.dir": str(self.directory / "tmp"),
            "hbase.zookeeper.quorum": HOST,
            "hbase.zookeeper.property.dataDir": str(self.directory / "zookeeper"),
            "hbase.zookeeper.property.clientPort": str(self.zookeeper_port),
            "hbase.master.port": str(self._ports["master"]),
            "hbase.regionserver.port": str(self._ports["regionserver"]),
            **self._settings,
        }


class Gateway(Service):
    """One Thrift gateway of HBase: 'thrift2' (THBaseService) or 'thrift1' (Hbase), in one of four wire formats."""

    def __init__(self, directory: Path, index: int, zookeeper_port: int, port: int, *, kind: str = "thrift2",
                 framed: bool = False, compact: bool = False, settings: Optional[Mapping[str, str]] = None,
                 options: Sequence[str] = (), jvm_flags: Sequence[str] = (), jars: str = "hbase", peak_speed: bool = False,
                 owned: bool = True) -> None:
        super().__init__(directory, f"gateway-{index}", peak_speed=peak_speed, owned=owned)
        self._jars = jars  # the folder of its pom.xml: another release's, to stand in front of the same HBase
        self.jvm_flags = tuple(jvm_flags)  # behind the stack's own, so that they win
        self.kind = kind
        self.framed = framed
        self.compact = compact
        self.port = port
        self.address = f"{HOST}:{port}"
        self._options = tuple(options)  # of its command line
        self._zookeeper_port = zookeeper_port
        self._settings = dict(settings or {})

    def launch(self) -> None:
        _write_hbase_site(self.directory / "conf", {
            "hbase.zookeeper.quorum": HOST,
            "hbase.zookeeper.property.clientPort": str(self._zookeeper_port),
            **self._settings,
        })
        flags = java_flags.hbase(self.name, self.log_path, heap="512m", peak_speed=self._peak_speed)
        wire = [*(["-f"] if self.framed else []), *(["-c"] if self.compact else [])]
        environment = java_flags.environment(f"{self.directory / 'conf'}:{maven_jars.classpath(self._jars)}")
        server = [GATEWAY_CLASS[self.kind], "start", "-b", HOST, "-p", str(self.port), "--infoport", "-1", *wire, *self._options]
        self._process.spawn([java_flags.java(), *flags, *self.jvm_flags, *server], environment)

    def await_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        def answers() -> bool:
            return (thrift_probe.is_answering(self.port, kind=self.kind, framed=self.framed, compact=self.compact) or
                    (self._jars != "hbase" and thrift_probe.is_refusing(self.port)))
        self._process.await_condition(answers, f"answered a {self.kind} call on {self.address}", deadline_s)

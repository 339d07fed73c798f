"""What goes wrong during a run, when, and how it is repaired: faults drawn from a seed, each in a thread of its own."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from dataclasses import dataclass
from typing import Callable, Iterator, Optional

from fleet import EX_TEMPFAIL, Fleet
from hbase_oracle import Oracle
from jvm_process import StackError
from links import Link
from stack import Stack

PERIOD_S = 3.0

# Past the group's session timeout of 6 s: its partitions are given to others meanwhile.
FROZEN_DAEMON_S = 8.0

OUTAGE_S = 10.0

# Past hbase.call_timeout: calls are given up, and land all the same when the proxy goes on.
FROZEN_PROXY_S = 8.0

# A bound for a machine in trouble: what is repaired comes back in seconds.
RECOVERY_DEADLINE_S = 150

# drain_timeout is 5 s, and five more are given to Kafka's close; the rest is for a busy machine.
STOP_DEADLINE_S = 40

# A stop this soon after an outage may still be held up by it.
OUTAGE_ECHO_S = 15.0

# Regions a table is split into at the most: more would only make the run slower.
MAX_SPLITS = 12


@dataclass
class Fault:
    """One thing that went wrong; times are seconds of the run."""

    kind: str
    victim: str
    started_s: float
    recovered_s: Optional[float] = None
    outcome: str = ""

    def __str__(self) -> str:
        took = f"{self.recovered_s - self.started_s:5.1f} s" if self.recovered_s is not None else "      -"
        return f"{self.started_s:7.1f} s  {self.kind:<14} {self.victim:<31} {took}  {self.outcome}"


@dataclass(frozen=True)
class Plan:
    """One fault before it happens."""

    victim: str
    alone: set[str]  # what no other fault may use meanwhile
    act: Callable[[], str]


class Scene:
    """What there is to be broken, and how each kind of fault breaks and repairs it."""

    def __init__(self, stack: Stack, link: Link, fleet: Fleet, tables: tuple[str, ...], n_hosts: int,
                 host_key: Callable[[int], bytes], has_refused_rows: bool = False) -> None:
        self.stack = stack
        self.link = link
        self.fleet = fleet
        # A JVM of its own: the checker's answers must not wait for a region that moves.
        self.regions = Oracle(stack.hbase.zookeeper_port, stack.directory / "regions.log")
        self.complaints: list[str] = []
        self._tables = tables
        self._n_hosts = n_hosts
        self._host_key = host_key
        self._has_refused_rows = has_refused_rows
        self._n_splits = 0
        self._outage_ended_s = -OUTAGE_ECHO_S
        self._n_outages = 0
        self._lock = threading.Lock()
        self._wait = threading.Event().wait

    # Each takes a number that chooses the victim.

    def kill_daemon(self, choice: int) -> Plan:
        member = self.fleet.members[choice % len(self.fleet.members)]

        def act() -> str:
            member.kill9()
            member.start()
            member.await_ready(RECOVERY_DEADLINE_S)
            return ""
        return Plan(member.name, {member.name}, act)

    def stop_daemon(self, choice: int) -> Plan:
        member = self.fleet.members[choice % len(self.fleet.members)]

        def act() -> str:
            was_troubled = self._is_troubled()
            code = member.stop(STOP_DEADLINE_S)
            # Rows that HBase refuses are found one by one: the time of a stop may end before the last one is.
            may_be_cut_off = was_troubled or self._is_troubled() or self._has_refused_rows
            if code != 0 and not (code == EX_TEMPFAIL and may_be_cut_off):
                self.complaints.append(f"{member.name} ended with {code} after SIGTERM\n{member.daemon.log_tail()}")
            member.start()
            member.await_ready(RECOVERY_DEADLINE_S)
            return f"exit code {code}"
        return Plan(member.name, {member.name}, act)

    def freeze_daemon(self, choice: int) -> Plan:
        member = self.fleet.members[choice % len(self.fleet.members)]

        def act() -> str:
            member.freeze()
            self._wait(FROZEN_DAEMON_S)
            member.thaw()
            member.await_ready(RECOVERY_DEADLINE_S)
            return ""
        return Plan(member.name, {member.name}, act)

    def pause_daemon(self, choice: int) -> Plan:
        """An operator pauses a daemon, or what it reads or writes. Its kills and freezes happen beside that."""
        member = self.fleet.members[choice % len(self.fleet.members)]
        things = [[], ["--topic", member.daemon.topic], *(["--table", table] for table in self._tables)]
        what = things[choice // len(self.fleet.members) % len(things)]

        def act() -> str:
            with self._outage():
                member.pause(*what)
                self._wait(OUTAGE_S)
                member.resume()
            return " ".join(what) or "everything"
        return Plan(member.name, {f"pauses of {member.name}"}, act)

    def kill_gateway(self, choice: int) -> Plan:
        gateway = self.stack.gateways[choice % len(self.stack.gateways)]

        def act() -> str:
            gateway.kill9()
            gateway.start(RECOVERY_DEADLINE_S)
            return ""
        return Plan(gateway.name, {gateway.name, "start of a JVM"}, act)

    def kill_proxy(self, choice: int) -> Plan:
        proxy = self.link.proxies[choice % len(self.link.proxies)]

        def act() -> str:
            proxy.kill9()
            proxy.start(RECOVERY_DEADLINE_S)
            return ""
        return Plan(proxy.name, {proxy.name}, act)

    def freeze_proxy(self, choice: int) -> Plan:
        proxy = self.link.proxies[choice % len(self.link.proxies)]

        def act() -> str:
            with self._outage():
                proxy.suspend()
                self._wait(FROZEN_PROXY_S)
                proxy.resume()
            return ""
        return Plan(proxy.name, {proxy.name}, act)

    def hide_kdc(self, choice: int) -> Plan:
        """Whoever wants a ticket is refused, or kept waiting."""
        assert self.link.realm is not None
        door = self.link.realm.door
        hangs = choice % 2 == 0

        def act() -> str:
            with self._outage():
                (door.hang if hangs else door.shut)()
                self._wait(OUTAGE_S)
                door.open()
            return "hung" if hangs else "was down"
        return Plan("KDC", {"KDC"}, act)

    def freeze_kafka(self, _: int) -> Plan:
        def act() -> str:
            with self._outage():
                self.stack.kafka.suspend()
                self._wait(OUTAGE_S)
                self.stack.kafka.resume()
                self.stack.kafka.await_ready(RECOVERY_DEADLINE_S)
            return ""
        return Plan("broker", {"broker"}, act)

    def restart_kafka(self, _: int) -> Plan:
        def act() -> str:
            with self._outage():
                self.stack.kafka.stop()
                self._wait(OUTAGE_S)
                self.stack.kafka.start(RECOVERY_DEADLINE_S)
            return ""
        return Plan("broker", {"broker", "start of a JVM"}, act)

    def freeze_hbase(self, _: int) -> Plan:
        def act() -> str:
            with self._outage():
                self.stack.hbase.suspend()
                self._wait(OUTAGE_S)
                self.stack.hbase.resume()
                self.regions.ask("describe", self._tables[0], deadline_s=RECOVERY_DEADLINE_S)
            return ""
        return Plan("HBase", {"HBase"}, act)

    def move_region(self, choice: int) -> Plan:
        table, key = self._place(choice)

        def act() -> str:
            return self._try(lambda: "to " + " ".join(self.regions.ask("move-region", table, key.hex())))
        return Plan(f"{table} {key.decode()}", {"regions"}, act)

    def split_region(self, choice: int) -> Plan:
        if self._n_splits >= MAX_SPLITS:
            return self.move_region(choice)
        table, key = self._place(choice)

        def act() -> str:
            self._n_splits += 1
            return self._try(lambda: self.regions.split(table, key) or "")
        return Plan(f"{table} {key.decode()}", {"regions"}, act)

    def close(self) -> None:
        """Wakes whatever is suspended."""
        self.stack.hbase.resume()
        self.stack.kafka.resume()
        self.regions.stop()

    def _place(self, choice: int) -> tuple[str, bytes]:
        return self._tables[choice % len(self._tables)], self._host_key(choice // len(self._tables) % self._n_hosts)

    @staticmethod
    def _try(act: Callable[[], str]) -> str:
        """HBase may refuse: a region that was just split cannot be split again before a compaction."""
        try:
            return act()
        except StackError as error:
            return f"refused: {str(error).rpartition('Exception: ')[2][:90]}"

    @contextlib.contextmanager
    def _outage(self) -> Iterator[None]:
        """While it lasts, and shortly after, a stop may be cut off."""
        with self._lock:
            self._n_outages += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_outages -= 1
                self._outage_ended_s = self.fleet.now_s()

    def _is_troubled(self) -> bool:
        with self._lock:
            return self._n_outages > 0 or self.fleet.now_s() - self._outage_ended_s < OUTAGE_ECHO_S


class Conductor:
    """Starts a fault every three seconds, the same ones for the same seed as far as their time allows.

    For each beat an order of all kinds and a victim for each are drawn. The first kind that may happen does: no other of its
    kind is unmended, and nobody else works on what it needs.
    """

    def __init__(self, scene: Scene, seed: int, say: Callable[[str], None]) -> None:
        self.faults: list[Fault] = []
        self.complaints: list[str] = []
        self._scene = scene
        self._say = say
        self._random = random.Random(seed)
        self._busy: set[str] = set()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._kinds: dict[str, Callable[[int], Plan]] = {
            "kill -9": scene.kill_daemon,
            "SIGTERM": scene.stop_daemon,
            "freeze": scene.freeze_daemon,
            "pause": scene.pause_daemon,
            "gateway -9": scene.kill_gateway,
            "broker": scene.freeze_kafka,
            "HBase": scene.freeze_hbase,
            "region move": scene.move_region,
            "region split": scene.split_region,
        }
        if scene.link.proxies:
            self._kinds |= {"proxy -9": scene.kill_proxy, "proxy": scene.freeze_proxy}
        if scene.link.realm is not None:
            self._kinds["KDC"] = scene.hide_kdc

    def run(self, duration_s: float) -> None:
        """Returns when the last fault is repaired."""
        started = time.monotonic()
        wait = threading.Event().wait
        for beat in range(1, int(duration_s / PERIOD_S) + 1):
            wait(max(0.0, started + beat * PERIOD_S - time.monotonic()))
            self._beat()
        for thread in self._threads:
            thread.join()

    def _beat(self) -> None:
        kinds = list(self._kinds)
        self._random.shuffle(kinds)
        choices = [self._random.randrange(1 << 30) for _ in kinds]
        restarts_broker = self._random.random() < 1 / 3
        for kind, choice in zip(kinds, choices):
            act = self._scene.restart_kafka if kind == "broker" and restarts_broker else self._kinds[kind]
            plan = act(choice)
            needs = {kind, *plan.alone}
            with self._lock:
                if needs & self._busy:
                    continue
                self._busy |= needs
            name = "broker restart" if act == self._scene.restart_kafka else kind
            fault = Fault(name, plan.victim, self._scene.fleet.now_s())
            self.faults.append(fault)
            thread = threading.Thread(target=self._happen, args=(fault, plan, needs), name=kind, daemon=True)
            self._threads.append(thread)
            thread.start()
            return

    def _happen(self, fault: Fault, plan: Plan, needs: set[str]) -> None:
        try:
            fault.outcome = plan.act()
        except Exception as error:  # of any kind: it is the run's result, not this thread's end
            fault.outcome = f"FAILED: {error}"
            self.complaints.append(f"{fault.kind} of {fault.victim}: {error}")
        fault.recovered_s = self._scene.fleet.now_s()
        with self._lock:
            self._busy -= needs
        self._say(str(fault))

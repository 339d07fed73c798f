#!/usr/bin/env python3
"""Provokes what HBase and its gateways refuse rows with, and holds it against what the unit tests were given of it.

    refusals.py [--write] [--directory DIR] [STAGE...]

Without --write it prints what has changed since, and its exit status says whether something has. See README.md.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Mapping, Optional, Sequence

import gateway_calls
import refusal_texts
from gateway_calls import Refusal, Row
from hbase_oracle import Oracle
from jvm_process import StackError
from kerberos_realm import REALM, Realm
from maven_jars import say
from refusal_texts import Entry, Wanted
from sasl_gateway import PRINCIPAL, java_flags_of
from stack_services import CHECKS_RIGHTS, START_DEADLINE_S, Gateway, HBase, free_port

TABLE, FAMILY, USER = "METRIC", "M", "tidemark"

# What is refused only a while after its cause, as a quota is, is so within this time.
DEADLINE_S = 60
PAUSE_S = 0.2

# What a busy machine brings forth, and what is no refusal.
SLOW = ("Operation timeout exceeded", "Timeout exceeded before call began", "CallTimeoutException")

# No answer in this time is none. A gateway gives up its own waiting earlier (IMPATIENT), where it can.
SILENCE_S = 30

RETRY, DOUBT = Wanted("retry"), Wanted("unknown")
UNREACHED = Wanted("unknown", remedy="why its attempts to reach HBase failed")
SUSPECT, CERTAIN = Wanted("poison"), Wanted("poison", is_certain=True)
FOR_SIZE = Wanted("poison", is_for_size=True)
NOT_SERVED = Wanted("retry", remedy="check if the table is enabled")


def hold(remedy: str) -> Wanted:
    return Wanted("suspend", remedy)


# A gateway tries again for minutes; what it says in the end is the same.
IMPATIENT = {
    "hbase.client.retries.number": "0",
    "hbase.rpc.timeout": "3000",
    "hbase.client.operation.timeout": "8000",
    "hbase.client.meta.operation.timeout": "8000",
}

# Beside the limit of the gateway, the least of these, so that each can be passed alone.
CELL_LIMIT_BYTES, QUEUE_LIMIT_BYTES, REQUEST_LIMIT_BYTES, CELL_OF_GATEWAY_BYTES = 1_000, 700_000, 1_000_000, 2_000_000
ROWS_LIMIT = 50

LIMITS = {
    "hbase.rpc.rows.warning.threshold": str(ROWS_LIMIT),
    "hbase.rpc.rows.size.threshold.reject": "true",
    "hbase.ipc.server.max.callqueue.size": str(QUEUE_LIMIT_BYTES),
    "hbase.ipc.max.request.size": str(REQUEST_LIMIT_BYTES),
}

# What is measured for quotas is measured at once; the periods are minutes, else.
QUOTAS = {
    "hbase.quota.enabled": "true",
    "hbase.quota.refresh.period": "500",
    "hbase.master.quotas.region.report.percent": "0.0",
    **{f"hbase.{chore}.chore.{when}": "500" for when in ("period", "delay") for chore in (
        "regionserver.quotas.region.size.reporting", "regionserver.quotas.policy.refresher", "master.quotas.observer")},
}


def rows(n: int, value: bytes = b"1", column: str = f"{FAMILY}:value", **options: int) -> list[Row]:
    return [Row(b"host%d#1426535612045" % number, {column: value}, **options) for number in range(n)]


class RegionServer(HBase):
    """One more, in a process of its own: it can be killed, and suspended, beside an HBase that goes on."""

    main_class = "org.apache.hadoop.hbase.regionserver.HRegionServer"

    def __init__(self, directory: Path, hbase: HBase) -> None:
        ports = {**self.choose_ports(), "zookeeper": hbase.zookeeper_port}
        self.port = ports["regionserver"]
        super().__init__(directory / "second", ports,
                         settings={**CHECKS_RIGHTS, "hbase.cluster.distributed": "true",
                                   "hbase.rootdir": (hbase.directory / "root").as_uri()})

    def await_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        self._process.await_condition(lambda: "Serving as " in self._process.log_since_start(), "served", deadline_s)


class World(contextlib.ExitStack):
    """One HBase with its gateways, and what they have said."""

    def __init__(self, directory: Path, *, settings: Optional[Mapping[str, str]] = None, jvm_flags: Sequence[str] = ()) -> None:
        super().__init__()
        directory.mkdir(parents=True)
        self.directory = directory
        self.entries: list[Entry] = []
        self.hbase = HBase(directory, HBase.choose_ports(), settings=settings, jvm_flags=jvm_flags)
        self.oracle = Oracle(self.hbase.zookeeper_port, directory / "oracle.log")
        self._n_gateways = 0
        self.callback(self.hbase.kill9)
        self.callback(self.oracle.stop)
        self.hbase.start()

    def gateway(self, settings: Optional[Mapping[str, str]] = None, zookeeper_port: Optional[int] = None,
                **options: object) -> Gateway:
        gateway = Gateway(self.directory, self._n_gateways, zookeeper_port or self.hbase.zookeeper_port, free_port(),
                          settings={**IMPATIENT, **(settings or {})}, **options)  # type: ignore[arg-type]
        self._n_gateways += 1
        self.callback(gateway.kill9)
        gateway.start()
        return gateway

    def refused(self, name: str, wanted: Wanted, gateway: Gateway, table: str, sent: Sequence[Row], *, varies: bool = False,
                calls: Sequence[str] = ("putMultiple", "mutateRow"), before: Callable[[], object] = lambda: None,
                saying: str = "") -> None:
        """By each call; mutateRow takes the first row alone. before: what makes the very next call fail. saying: what is waited for."""
        for call in calls:
            def is_wanted(refusal: Refusal) -> bool:
                is_slow = refusal.kind == "silent" or any(words in refusal.text for words in SLOW)
                return saying in refusal.text and (varies or not is_slow)
            refusal = self._provoke(name, call, gateway, table, sent, before, is_wanted)
            say(f"{name}/{call}: {refusal.kind} {refusal.text.partition(chr(10))[0][:160]}")
            self.entries.append(Entry(f"{name}/{call}", refusal_texts.masked(refusal, self.directory), wanted, varies))

    def _provoke(self, name: str, call: str, gateway: Gateway, table: str, sent: Sequence[Row],
                 before: Callable[[], object], is_wanted: Callable[[Refusal], bool]) -> Refusal:
        give_up_at = time.monotonic() + DEADLINE_S
        while time.monotonic() < give_up_at:
            before()
            if call == "putMultiple":
                refusal = gateway_calls.put_multiple(gateway.port, table, sent, framed=gateway.framed, timeout_s=SILENCE_S)
            else:
                refusal = gateway_calls.mutate_row(gateway.port, table, sent[0], framed=gateway.framed, timeout_s=SILENCE_S)
            if refusal is not None and is_wanted(refusal):
                return refusal
            time.sleep(PAUSE_S)
        raise StackError(f"{name}: {call} of '{table}' was not refused so in {DEADLINE_S} s")


# ---- of a table, a row, a limit ----

def bad_rows(world: World, gateway: Gateway) -> None:
    put = ["putMultiple"]
    world.refused("row-empty", SUSPECT, gateway, TABLE, [Row(b"", {"M:value": b"1"})])
    world.refused("row-too-long", SUSPECT, gateway, TABLE, [Row(b"x" * 40_000, {"M:value": b"1"})])
    world.refused("row-without-cells", SUSPECT, gateway, TABLE, [Row(b"host", {})])
    world.refused("family-empty", SUSPECT, gateway, TABLE, rows(3, column=":value"))
    world.refused("cell-above-the-gateways-limit", SUSPECT, gateway, TABLE, rows(1, b"x" * CELL_OF_GATEWAY_BYTES), calls=put)
    world.oracle.set(TABLE, "hbase.server.keyvalue.maxsize", str(CELL_LIMIT_BYTES))
    world.refused("cell-above-the-tables-limit", CERTAIN, gateway, TABLE, rows(3, b"x" * CELL_LIMIT_BYTES))
    world.oracle.set(TABLE, "hbase.server.keyvalue.maxsize", "0")
    world.oracle.set(TABLE, "hbase.hregion.keyvalue.timestamp.slop.millisecs", "60000")
    world.refused("time-in-the-future", CERTAIN, gateway, TABLE, rows(1, time_ms=4_102_444_800_000))


def large_calls(world: World, gateway: Gateway) -> None:
    put = ["putMultiple"]
    # Now and then the region server hangs up before its answer is read.
    world.refused("request-too-big", FOR_SIZE, gateway, TABLE, rows(12, b"x" * 100_000), calls=put, saying="RPC data length")
    world.refused("call-queue-too-big", RETRY, gateway, TABLE, rows(8, b"x" * 100_000), calls=put)
    world.refused("too-many-rows", Wanted("unknown", remedy="hbase.rpc.rows.size.threshold.reject"), gateway, TABLE,
                  rows(ROWS_LIMIT + 1), calls=put)
    framed = world.gateway({"hbase.regionserver.thrift.framed.max_frame_size_in_mb": "1"}, framed=True)
    world.refused("frame-too-large", DOUBT, framed, TABLE, rows(12, b"x" * 100_000), calls=put)


def tables(world: World, gateway: Gateway) -> None:
    world.refused("table-missing", hold("tables create"), gateway, "nosuch", rows(3))
    world.refused("namespace-missing", hold("tables create"), gateway, "plant:METRIC", rows(3))
    world.refused("table-name-impossible", SUSPECT, gateway, "no such", rows(3))
    world.refused("family-missing", hold("alter"), gateway, TABLE, rows(3, column="X:value"))
    world.oracle.create("READ_ONLY", FAMILY)
    world.oracle.set("READ_ONLY", "READONLY", "true")
    world.refused("table-read-only", hold("read-only mode"), gateway, "READ_ONLY", rows(3))
    world.oracle.create("DISABLED", FAMILY)
    world.oracle.disable("DISABLED")
    world.refused("table-disabled", NOT_SERVED, gateway, "DISABLED", rows(3))
    world.oracle.create("OFFLINE", FAMILY)
    world.oracle.unassign("OFFLINE", b"")
    world.refused("region-offline", NOT_SERVED, gateway, "OFFLINE", rows(3))
    world.oracle.create("SPLIT", FAMILY)
    gateway_calls.put_multiple(gateway.port, "SPLIT", rows(3))
    world.refused("region-split", NOT_SERVED, gateway, "SPLIT", rows(3), calls=["putMultiple"],
                  before=lambda: world.oracle.split("SPLIT", b"host1"))


def busy_regions(world: World, gateway: Gateway) -> None:
    world.oracle.create("BUSY_STORE", FAMILY)
    for name, value in (("limit", "1"), ("limit.min.column.count", "1")):
        world.oracle.set("BUSY_STORE", f"hbase.region.store.parallel.put.{name}", value)
    world.oracle.set("BUSY_STORE", "hbase.region.store.parallel.prepare.put.multiplier", "0")
    sent = [Row(b"host", {"M:a": b"1", "M:b": b"2"})]
    world.refused("store-too-busy", RETRY, gateway, "BUSY_STORE", sent)
    # Flushes wait for a compaction that never comes.
    world.oracle.create("FULL", FAMILY)
    for name, value in (("hbase.hstore.blockingStoreFiles", "1"), ("hbase.hstore.compaction.min", "100"),
                        ("MEMSTORE_FLUSHSIZE", str(1 << 20)), ("hbase.hregion.memstore.block.multiplier", "1")):
        world.oracle.set("FULL", name, value)
    for _ in range(3):
        gateway_calls.put_multiple(gateway.port, "FULL", rows(1))
        world.oracle.flush("FULL")
    world.refused("memory-store-full", RETRY, gateway, "FULL", rows(6, b"x" * 100_000))


def quotas(world: World, gateway: Gateway) -> None:
    for policy in ("NO_INSERTS", "NO_WRITES", "NO_WRITES_COMPACTIONS", "DISABLE"):
        # Of many regions, some are still open for a moment when DISABLE has begun to close them.
        splits = tuple(b"host%d" % number for number in range(10, 40)) if policy == "DISABLE" else ()
        world.oracle.create(policy, FAMILY, splits)
        world.oracle.limit_space(policy, 1000, policy)
        gateway_calls.put_multiple(gateway.port, policy, rows(40, b"x" * 100))
        world.oracle.flush(policy)
        name = f"space-quota-{policy.lower().replace('_', '-')}"
        if policy == "DISABLE":
            with contextlib.suppress(StackError):  # what is kept of it stays
                world.refused(name, hold("space quota"), gateway, policy, rows(1), calls=["putMultiple"], saying=policy)
            world.refused(f"{name}-in-the-end", NOT_SERVED, gateway, policy, rows(3), saying="NotServingRegionException")
        else:
            world.refused(name, hold("space quota"), gateway, policy, rows(3), saying=policy)
    # Who may try again looks how long he would have to wait.
    patient = world.gateway({"hbase.client.retries.number": "2"})
    for kind in ("WRITE_NUMBER", "REQUEST_NUMBER", "WRITE_SIZE", "REQUEST_SIZE", "WRITE_CAPACITY_UNIT", "REQUEST_CAPACITY_UNIT"):
        world.oracle.create(kind, FAMILY)
        world.oracle.limit_rate(kind, kind, 1)
        name = f"rate-quota-{kind.lower().replace('_', '-')}"
        world.refused(name, Wanted("unknown", "list_quotas"), patient, kind, rows(3))
        world.refused(f"{name}-at-once", Wanted("retry", "list_quotas"), gateway, kind, rows(3))


def rights(world: World) -> None:
    gateway = world.gateway(jvm_flags=[f"-DHADOOP_USER_NAME={USER}"])
    world.refused("no-right", hold("grant"), gateway, TABLE, rows(3))
    world.oracle.grant(TABLE, USER, "R")
    world.refused("right-to-read-alone", hold("grant"), gateway, TABLE, rows(3))


def other_gateways(world: World) -> None:
    read_only = world.gateway(options=["--readonly"])
    world.refused("gateway-read-only", hold("read-only mode"), read_only, TABLE, rows(3))
    thrift1 = world.gateway(kind="thrift1")
    world.refused("gateway-of-thrift1", RETRY, thrift1, TABLE, rows(3), calls=["putMultiple"])


def servers(world: World, gateway: Gateway) -> None:
    """Moves the table back and forth between two region servers. No table may be created from here on: it could be there."""
    second = RegionServer(world.directory, world.hbase)
    world.callback(second.kill9)
    second.start()
    world.refused("region-moved", RETRY, gateway, TABLE, rows(3), before=lambda: world.oracle.move_region(TABLE, b""))
    where = world.oracle.move_region(TABLE, b"")
    if where.rpartition(":")[2] != str(second.port):
        world.oracle.move_region(TABLE, b"")
    second.suspend()
    world.refused("server-silent", DOUBT, gateway, TABLE, rows(3), varies=True)
    second.resume()
    second.kill9()
    world.refused("server-killed", RETRY, gateway, TABLE, rows(3), varies=True)


def meta(world: World) -> None:
    """Of a gateway that does not know yet where regions are. HBase is of no use afterwards."""
    fresh = world.gateway()
    with contextlib.suppress(StackError):
        world.oracle.ask("unassign", "hbase:meta", deadline_s=20)
    world.refused("meta-away", DOUBT, fresh, "READ_ONLY", rows(3), varies=True)


def plain(directory: Path) -> list[Entry]:
    with World(directory, settings={**CHECKS_RIGHTS, **QUOTAS, **LIMITS}) as world:
        world.oracle.create(TABLE, FAMILY)
        gateway = world.gateway({"hbase.client.keyvalue.maxsize": str(CELL_OF_GATEWAY_BYTES)})
        large_calls(world, gateway)
        bad_rows(world, gateway)
        tables(world, gateway)
        busy_regions(world, gateway)
        quotas(world, gateway)
        rights(world)
        other_gateways(world)
        servers(world, gateway)
        meta(world)
    return world.entries


def away(directory: Path) -> list[Entry]:
    """HBase as a whole does not answer, or is not there; the gateway knows where the regions were, or nothing yet."""
    with World(directory) as world:
        world.oracle.create(TABLE, FAMILY)
        knows, fresh = world.gateway(), world.gateway()
        gateway_calls.put_multiple(knows.port, TABLE, rows(3))
        world.hbase.suspend()
        world.refused("hbase-silent", DOUBT, knows, TABLE, rows(3), varies=True)
        world.refused("hbase-silent-unknown", DOUBT, fresh, TABLE, rows(3), varies=True)
        world.hbase.resume()
        gateway_calls.put_multiple(knows.port, TABLE, rows(3))
        world.hbase.stop()
        world.refused("hbase-stopped", RETRY, knows, TABLE, rows(3), varies=True, calls=["putMultiple"])
        world.refused("hbase-stopped", DOUBT, knows, TABLE, rows(3), varies=True, calls=["mutateRow"])
        world.refused("hbase-stopped-unknown", DOUBT, fresh, TABLE, rows(3), varies=True)
    return world.entries


# ---- Kerberos ----

# After which a gateway closes a connection to a region server.
IDLE_MS = 1000


def kerberos(directory: Path) -> list[Entry]:
    """An HBase that asks its gateways for tickets. Towards us these ask for nothing (no qop), which changes no text."""
    with Realm(directory / "realm") as realm:
        hbase_keytab, keytab = realm.add("hbase/localhost"), realm.add(PRINCIPAL)
        brief = realm.add("brief/localhost", life="20s")
        secure = {
            "hadoop.security.authentication": "kerberos",
            "hbase.security.authentication": "kerberos",
            **{f"hbase.{server}.kerberos.principal": f"hbase/localhost@{REALM}" for server in ("master", "regionserver")},
        }
        of_hbase = {**secure, **{f"hbase.{server}.keytab.file": str(hbase_keytab) for server in ("master", "regionserver")}}
        flags = java_flags_of(realm, realm.gateway_configuration)

        def settings(principal: str, path: Path) -> dict[str, str]:
            return {**secure, "hbase.thrift.kerberos.principal": f"{principal}@{REALM}", "hbase.thrift.keytab.file": str(path)}

        with World(directory / "stack", settings=of_hbase, jvm_flags=flags) as world:
            good = world.gateway(settings(PRINCIPAL, keytab), jvm_flags=flags)
            if refusal := gateway_calls.create_table(good.port, TABLE, FAMILY):
                raise StackError(f"cannot create '{TABLE}': {refusal.text}")
            without = world.gateway()
            world.refused("gateway-without-kerberos", UNREACHED, without, TABLE, rows(3))
            stranger = world.gateway({**settings(PRINCIPAL, keytab), **{
                f"hbase.{server}.kerberos.principal": f"other/localhost@{REALM}" for server in ("master", "regionserver")}},
                jvm_flags=flags)
            world.refused("server-of-another-principal", UNREACHED, stranger, TABLE, rows(3))
            # These come to the KDC by a door that is shut. An open connection outlives its ticket: so each call is made on a new one.
            through_the_door = java_flags_of(realm, realm.client_configuration)
            fresh = world.gateway(settings(PRINCIPAL, keytab), jvm_flags=through_the_door)
            expiring = world.gateway({**settings("brief/localhost", brief),
                                      "hbase.ipc.client.connection.minIdleTimeBeforeClose": str(IDLE_MS)}, jvm_flags=through_the_door)
            gateway_calls.put_multiple(expiring.port, TABLE, rows(3))
            realm.door.shut()
            world.refused("kdc-away", UNREACHED, fresh, TABLE, rows(3))
            world.refused("ticket-expired", Wanted("retry", "why its attempts to reach HBase failed"), expiring, TABLE, rows(3), calls=["putMultiple"],
                          before=lambda: time.sleep(3 * IDLE_MS / 1000))
    return world.entries


STAGES: dict[str, Callable[[Path], list[Entry]]] = {"plain": plain, "away": away, "kerberos": kerberos}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"put what is said into '{refusal_texts.PATH.name}'")
    parser.add_argument("--directory", type=Path, help="where the logs are kept (default: nowhere)")
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"of {', '.join(STAGES)}; default: all")
    options = parser.parse_args()
    changed: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.stages or STAGES:
            entries = STAGES[name]((options.directory or Path(scratch)) / name)
            changed += refusal_texts.changes(entries)
            if options.write:
                refusal_texts.write(entries)
    print("\n".join(changed) or "nothing has changed")
    return 1 if changed and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())

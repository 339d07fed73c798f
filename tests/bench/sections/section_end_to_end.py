"""Kafka to HBase, all real: tidemark beside the programs that people write or take for this, on the same topic."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable, Iterator, Mapping, Sequence

import daemon as integration_daemon
import read_metric
from bench_report import Report, spread
from bench_setup import Bench
from daemon_run import Watch, config_of, run_daemon
from measured_process import cpu_s_of
from peers import peer
from real_gateway import MACHINES, SPLITS, fresh_tables
from stack import Stack
from stack_services import Gateway

TITLE = "real Kafka and HBase, 10 metrics per reading, METRIC and CURRENT_METRIC: tidemark and programs in Java, Flink SQL and Python"

READINGS = 150_000
METRICS = 10
# The JVMs get faster for some turns after their start.
WARM_UP_TURNS = 2

NAMES = ("tidemark", "tidemark, framed and compact", "tidemark packed", "java", "flink", "python")

# Services, by the beginning of their names.
KINDS = ("gateway", "hbase", "kafka")

# Python takes so much longer than the others that a shorter topic must do; its rate does not depend on the length.
PYTHON_SHARE = 4


@dataclass(frozen=True)
class Run:
    """What one contender did in one turn."""

    readings: int
    seconds: float
    cpu_s: float
    busy_cores: dict[str, float]  # of each service, by its name
    metrics: list[tuple[str, float]]  # tidemark's at the end; none of the others

    @property
    def readings_per_s(self) -> float:
        return self.readings / self.seconds

    @property
    def cpu_us_per_reading(self) -> float:
        return self.cpu_s * 1e6 / self.readings

    def service_us_per_reading(self, kind: str) -> float:
        """CPU of all services of that kind: kafka, hbase or gateway."""
        cores = sum(busy for name, busy in self.busy_cores.items() if name.startswith(kind))
        return cores * self.seconds * 1e6 / self.readings

    @property
    def machine_us_per_reading(self) -> float:
        """CPU of everybody on the way: client, gateway, HBase and Kafka."""
        return self.cpu_us_per_reading + sum(self.service_us_per_reading(kind) for kind in KINDS)


@dataclass(frozen=True)
class Took:
    """What the contender itself says of a run."""

    seconds: float
    cpu_s: float
    metrics: list[tuple[str, float]]


@dataclass(frozen=True)
class Contender:
    name: str
    readings: int
    cells_per_row: int
    run: Callable[[str, str], Took]  # with the tables of history and of the latest
    # Whether the tables must come out as tidemark's do, to the last byte; else the rows and cells are counted.
    is_same_as_tidemark: bool = True


def run(bench: Bench, report: Report) -> None:
    with ExitStack() as cleanup:
        contenders = contenders_of(bench, cleanup)
        turns = all_turns(bench, contenders)
    runs = {one.name: [turn[one.name] for turn in turns] for one in contenders}
    _print_table(report, runs)
    _print_ratios(report, runs)
    _print_calls(report, runs)


def all_turns(bench: Bench, contenders: list[Contender]) -> list[dict[str, Run]]:
    """Of each turn but those that warm up, what each contender did."""
    return [bench.turns.run(partial(_turn, bench, contenders, turn)) for turn in range(WARM_UP_TURNS + bench.runs)][WARM_UP_TURNS:]


def contenders_of(bench: Bench, cleanup: ExitStack, names: Sequence[str] = NAMES,
                  gateway: Mapping[str, Any] = MappingProxyType({})) -> list[Contender]:
    """Those of these names; `gateway`: how tidemark's is started."""
    stack = bench.stack()
    columns = _columns(bench)
    readings = READINGS // (10 if bench.quick else 1)
    topic = bench.topic(metrics=METRICS, readings=readings, machines=MACHINES)

    def peers(process: peer.Peer, source: str) -> Callable[[str, str], Took]:
        cleanup.callback(process.stop)

        def run_peer(history: str, latest: str) -> Took:
            result = process.run(peer.Round(source, bench.readings_of(source), columns, history, latest))
            return Took(result.seconds, result.cpu_seconds, [])
        return run_peer

    def tidemark(tables_of: Callable[[str, str], Mapping[str, Any]], how: Mapping[str, Any]) -> Callable[[str, str], Took]:
        there = _gateway(stack, **how)
        return lambda history, latest: _run_tidemark(bench, topic, there, tables_of(history, latest))

    def jvm(start: Callable[[str, int, Path], peer.Peer], name: str) -> Contender:
        process = start(stack.kafka.address, stack.hbase.zookeeper_port, bench.log(f"peer-{name}"))
        return Contender(name, readings, METRICS, peers(process, topic))

    def python() -> Contender:
        short = bench.topic(metrics=METRICS, readings=readings // PYTHON_SHARE, machines=MACHINES)
        thrift1 = _gateway(stack, kind="thrift1")  # what happybase speaks
        process = peer.happybase(stack.kafka.address, thrift1.port, bench.log("peer-python"))
        return Contender("python", readings // PYTHON_SHARE, METRICS, peers(process, short), is_same_as_tidemark=False)

    framed = {"framed": True, "compact": True}
    make: dict[str, Callable[[], Contender]] = {
        "tidemark": lambda: Contender("tidemark", readings, METRICS, tidemark(integration_daemon.metric_tables, gateway)),
        "tidemark, framed and compact": lambda: Contender("tidemark, framed and compact", readings, METRICS,
                                                          tidemark(integration_daemon.metric_tables, framed)),
        "tidemark packed": lambda: Contender("tidemark packed", readings, 1, tidemark(packed_tables, gateway),
                                             is_same_as_tidemark=False),
        "java": lambda: jvm(peer.java, "java"),
        "flink": lambda: jvm(peer.flink, "flink"),
        "python": python,
    }
    return [make[name]() for name in names]


def _gateway(stack: Stack, *, kind: str = "thrift2", framed: bool = False, compact: bool = False,
             jvm_flags: Sequence[str] = ()) -> Gateway:
    """A gateway of this kind, started when there is none."""
    wanted = (kind, framed, compact, tuple(jvm_flags))
    there = [one for one in stack.gateways if (one.kind, one.framed, one.compact, one.jvm_flags) == wanted]
    return there[0] if there else stack.add_gateway(kind=kind, framed=framed, compact=compact, jvm_flags=jvm_flags)


def _columns(bench: Bench) -> tuple[str, ...]:
    """The names of the values in a reading of the topic."""
    done = subprocess.run([bench.tidemark, "simulate", "--print", "--readings", "1", "--metrics", str(METRICS)], check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return tuple(name for name in json.loads(done.stdout) if name not in ("host", "ts"))


def packed_tables(history: str, latest: str) -> dict[str, Any]:
    """As config/examples/packed.yaml has them."""
    tables = integration_daemon.metric_tables(history, latest)
    return integration_daemon.merged(tables, {history: {"columns": {"pack": "json"}},
                                              latest: {"latest": "packed", "columns": {"pack": "msgpack"}}})


def _run_tidemark(bench: Bench, topic: str, gateway: Gateway, tables: Mapping[str, Any]) -> Took:
    """From before its first message until it has ended and the broker has all offsets."""
    watch = Watch()
    config = config_of(bench, topic, [gateway.address], tables)
    usage, metrics = run_daemon(bench, config, bench.readings_of(topic), on_look=watch.look)
    assert watch.begun_s is not None, "the first look comes before the daemon answers"
    return Took(time.monotonic() - watch.begun_s, usage.cpu_s - watch.begun_cpu_s, metrics)


def _turn(bench: Bench, contenders: list[Contender], turn: int) -> dict[str, Run]:
    """Each contender once, another one first in each turn. In the first turn it is checked that they do what they are to do."""
    first = turn % len(contenders)
    runs: dict[str, Run] = {}
    digests: dict[str, str] = {}
    for contender in [*contenders[first:], *contenders[:first]]:
        with _fresh_tables(bench) as (history, latest):
            runs[contender.name] = _measured(bench, contender, history, latest)
            if turn == 0:
                digests[contender.name] = _check_tables(bench, contender, history, latest)
    if turn == 0:
        for contender in contenders:
            if contender.is_same_as_tidemark and digests[contender.name] != digests["tidemark"]:
                raise RuntimeError(f"'{contender.name}' has written other cells than tidemark")
    return runs


@contextmanager
def _fresh_tables(bench: Bench) -> Iterator[tuple[str, str]]:
    """Two empty tables, dropped in the end so that HBase has as much to hold in each run."""
    oracle = bench.stack().oracle
    tables = bench.unique("METRIC"), bench.unique("CURRENT_METRIC")
    fresh_tables(bench, tables, SPLITS)
    yield tables
    for table in tables:
        oracle.drop(table)


def _measured(bench: Bench, contender: Contender, history: str, latest: str) -> Run:
    services = bench.stack().services
    before = {service.name: cpu_s_of(service.pid) for service in services}
    took = contender.run(history, latest)
    busy_cores = {service.name: (cpu_s_of(service.pid) - before[service.name]) / took.seconds for service in services}
    return Run(contender.readings, took.seconds, took.cpu_s, busy_cores, took.metrics)


def _check_tables(bench: Bench, contender: Contender, history: str, latest: str) -> str:
    """The rows and cells that must be there are there; returns what is in both tables, in short."""
    digests = [bench.stack().oracle.digest(table) for table in (history, latest)]
    for table, digest, rows in zip((history, latest), digests, (contender.readings, MACHINES)):
        if (digest.rows, digest.cells) != (rows, rows * contender.cells_per_row):
            raise RuntimeError(f"'{contender.name}' has written {digest.rows} rows and {digest.cells} cells to '{table}', "
                               f"not {rows} and {rows * contender.cells_per_row}")
    return " ".join(digest.sha256 for digest in digests)


def _print_table(report: Report, runs: Mapping[str, list[Run]]) -> None:
    services = {"kafka": ["kafka"], "hbase": ["hbase"], "gateway": [name for name in runs["tidemark"][0].busy_cores
                                                                   if name.startswith("gateway")]}
    rows: list[list[object]] = []
    for name, done in runs.items():
        rows.append([name, spread([one.readings_per_s / 1000 for one in done], 1),
                     spread([one.cpu_us_per_reading for one in done], 2),
                     statistics.median(paired(runs, name, "java", "readings_per_s")),
                     *(statistics.median(sum(one.busy_cores[part] for part in parts) for one in done)
                       for parts in services.values())])
    report.table(f"readings of {MACHINES} devices in turn, {len(SPLITS) + 1} regions per table; warm; 'cores' are how many were busy",
                 ["contender", "k readings/s", "us client CPU/reading", "times java", "kafka cores", "hbase cores",
                  "gateway cores"], rows)


def paired(runs: Mapping[str, list[Run]], name: str, beside: str, figure: str) -> list[float]:
    """One contender's figure over another's, of each turn."""
    return [getattr(one, figure) / getattr(other, figure) for one, other in zip(runs[name], runs[beside])]


def _print_ratios(report: Report, runs: Mapping[str, list[Run]]) -> None:
    for name, beside, at_least in (("tidemark", "java", 1.8), ("tidemark", "flink", 1.2), ("tidemark", "python", 3),
                                   ("tidemark packed", "java", 5)):
        report.ratio(f"readings/s, {name} / {beside}", paired(runs, name, beside, "readings_per_s"), at_least=at_least)
    for beside in ("java", "flink"):
        report.ratio(f"client CPU per reading, tidemark / {beside}", paired(runs, "tidemark", beside, "cpu_us_per_reading"),
                     at_most=0.1, digits=3)


def _print_calls(report: Report, runs: Mapping[str, list[Run]]) -> None:
    """How tidemark's rows went: what HBase does depends on it."""
    for name in ("tidemark", "tidemark packed"):
        def median(metric: str, labels: str = "", done: list[Run] = runs[name]) -> int:
            return int(statistics.median(read_metric.total(one.metrics, metric, labels) for one in done))
        rows = median("tidemark_hbase_rows_written_total")
        calls = median("tidemark_hbase_calls_total", 'outcome="ok"')
        report.note(f"  {name}: {rows - runs[name][0].readings:,} latest rows for {runs[name][0].readings:,} readings; "
                    f"{calls:,} calls of {rows / max(calls, 1):,.0f} rows and "
                    f"{median('tidemark_hbase_written_bytes_total') / max(calls, 1) / 1024:,.0f} KiB")

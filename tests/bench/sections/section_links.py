"""What each link to a gateway costs beside a plain one: the figures of docs/benchmarks.md on TLS, Kerberos and HTTP."""

from __future__ import annotations

import os
import statistics
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence, TypeVar

from bench_report import Report, spread
from bench_setup import Bench
from certificates import Authority
from daemon_run import DaemonRun, run_on_null_gateway, tables_config
from http_gateway import HTTP_PRINCIPAL, HttpGateway
from kerberos_realm import Realm
from measured_process import cpu_s_of
from real_gateway import MACHINES, SPLITS, Written, daemon_writes, fresh_tables
from sasl_gateway import PRINCIPAL, SERVICE, SaslGateway
from stack_services import HOST, Service, free_port
from tls_proxy import TlsProxy

TITLE = "the daemon over each link: plain, TLS, Kerberos by SASL, HTTP, HTTPS"

METRICS = 10
READINGS = 100_000
NULL_READINGS = 1_000_000
WARM_UP_TURNS = 1

TLS_AT_MOST = 1.35

# The same rows in each run: how many latest rows are merged would differ.
TABLES = tables_config(current=False)

T = TypeVar("T")


@dataclass(frozen=True)
class Link:
    name: str
    address: str
    changes: Mapping[str, Any] = field(default_factory=dict)  # to `hbase`
    services: Sequence[Service] = ()  # what works on the other side of it, but for HBase

    @property
    def configuration(self) -> dict[str, Any]:
        return {"hbase": {"gateways": [self.address], **self.changes}}


@dataclass(frozen=True)
class Run:
    written: Written
    service_cpu_s: float


def run(bench: Bench, report: Report) -> None:
    with ExitStack() as cleanup:
        authority = Authority(bench.directory / "authority", "authority of the benchmark")
        _beside_null_gateway(bench, report, authority, cleanup)
        _beside_each_other(bench, report, _real_links(bench, authority, cleanup))


def _beside_null_gateway(bench: Bench, report: Report, authority: Authority, cleanup: ExitStack) -> None:
    """What TLS costs where nothing else does: the daemon has least to do, and so each part of it weighs most."""
    topic = bench.topic(metrics=METRICS, readings=NULL_READINGS // (10 if bench.quick else 1), machines=MACHINES)
    port = free_port()
    proxy = _proxy(bench, "null-proxy", f"{HOST}:{port}", authority, cleanup)
    links = [Link("plain", f"{HOST}:{port}"), Link("TLS", proxy.address, _tls(authority))]

    def one(link: Link) -> DaemonRun:
        return run_on_null_gateway(bench, topic, TABLES, link.configuration, ("--port", str(port)))
    runs = _in_turns(bench, links, one)
    _tell_ratio(report, "TLS", "a null gateway", [done.usage.cpu_s for done in runs["TLS"]],
                [done.usage.cpu_s for done in runs["plain"]])
    report.table(f"Readings of {METRICS} metrics to METRIC, a null gateway",
                 ["link", "us CPU/reading", "k readings/s", "rows/call"],
                 [[name, spread([one.cpu_us_per_reading for one in done]), spread([one.readings_per_s / 1000 for one in done], 0),
                   int(statistics.median(one.rows / one.calls for one in done))] for name, done in runs.items()])


def _beside_each_other(bench: Bench, report: Report, links: Sequence[Link]) -> None:
    topic = bench.topic(metrics=METRICS, readings=READINGS // (10 if bench.quick else 1), machines=MACHINES)
    readings = bench.readings_of(topic)

    def one(link: Link) -> Run:
        fresh_tables(bench, list(TABLES), SPLITS)
        pids = [service.pid for service in link.services]
        before_s = cpu_s_of(*pids)
        written = daemon_writes(bench, topic, TABLES, link.configuration)
        return Run(written, cpu_s_of(*pids) - before_s)
    runs = _in_turns(bench, links, one)
    plain = [done.written for done in runs[links[0].name]]
    rows: list[Sequence[Any]] = []
    for name, done in runs.items():
        if name != links[0].name:
            _tell_ratio(report, name, "the real gateway", [run.written.cpu_s for run in done], [run.cpu_s for run in plain])
        rows.append([name, spread([run.written.cpu_s * 1e6 / readings for run in done]),
                     spread([run.written.cpu_s / beside.cpu_s for run, beside in zip(done, plain)]),
                     spread([run.service_cpu_s * 1e6 / readings for run in done], 1),
                     spread([run.written.rows_per_s / 1000 for run in done], 1),
                     spread([run.written.rows_per_s / beside.rows_per_s for run, beside in zip(done, plain)]),
                     int(statistics.median(run.written.rows / run.written.calls for run in done))])
    report.table(f"Readings of {METRICS} metrics to METRIC, 4 regions of a real HBase; gateway: with the proxy before it, if any",
                 ["link", "us CPU/reading", "times plain", "us of the gateway", "k rows/s", "times plain", "rows/call"], rows)


def _tell_ratio(report: Report, name: str, where: str, values: Sequence[float], plain: Sequence[float]) -> None:
    report.ratio(f"CPU per reading, {name} / plain, {where}", [value / beside for value, beside in zip(values, plain)],
                 at_most=TLS_AT_MOST if name == "TLS" else None)


def _in_turns(bench: Bench, links: Sequence[Link], one: Callable[[Link], T]) -> dict[str, list[T]]:
    """Each link once a turn; another one begins in each."""
    runs: dict[str, list[T]] = {link.name: [] for link in links}
    for turn in range(WARM_UP_TURNS + bench.runs):
        order = [links[(place + turn) % len(links)] for place in range(len(links))]
        for link, done in zip(order, bench.turns.run(lambda: [one(link) for link in order])):
            runs[link.name].append(done)
    return {name: done[WARM_UP_TURNS:] for name, done in runs.items()}


# ---- the links ----

def _real_links(bench: Bench, authority: Authority, cleanup: ExitStack) -> list[Link]:
    """The plain one first; all on one HBase."""
    plain = bench.stack().gateways[0]
    realm = cleanup.enter_context(Realm(bench.directory / "realm"))
    os.environ["KRB5_CONFIG"] = str(realm.client_configuration)
    cleanup.callback(os.environ.pop, "KRB5_CONFIG")
    kerberos = {"kerberos": {"keytab": {"file": str(realm.add("tidemark"))}}}
    service_keytab = realm.add(PRINCIPAL)
    realm.add("hbase/localhost")  # a gateway gets a ticket for HBase before it learns that it needs none
    sasl = {qop: _started(SaslGateway(bench.directory, index, bench.stack().hbase.zookeeper_port, free_port(), realm=realm,
                                      keytab=service_keytab, qop=qop, peak_speed=True), cleanup)
            for index, qop in enumerate(("auth", "auth-int", "auth-conf"), 1)}
    https = {"certificate": authority.sign("https")}
    spnego = {"realm": realm, "keytab": service_keytab, "http_keytab": realm.add(HTTP_PRINCIPAL)}
    kinds = {"HTTP": {}, "HTTPS": https, "HTTP, SPNEGO": spnego, "HTTPS, SPNEGO": {**https, **spnego}}
    http = {name: _started(HttpGateway(bench.directory, index, bench.stack().hbase.zookeeper_port, free_port(), peak_speed=True,
                                       **kind), cleanup)
            for index, (name, kind) in enumerate(kinds.items(), 4)}
    proxy = _proxy(bench, "plain-proxy", plain.address, authority, cleanup)
    auth_proxy = _proxy(bench, "auth-proxy", sasl["auth"].address, authority, cleanup)

    def negotiated(qop: str) -> dict[str, Any]:
        return {"sasl": {"service": SERVICE, "qop": qop}, **kerberos}
    return [
        Link("plain", plain.address, services=[plain]),
        Link("TLS", proxy.address, _tls(authority), [plain, proxy]),
        *(Link(f"SASL {qop}", gateway.address, negotiated(qop), [gateway]) for qop, gateway in sasl.items()),
        Link("SASL auth in TLS", auth_proxy.address, {**_tls(authority), **negotiated("auth")}, [sasl["auth"], auth_proxy]),
        *(Link(name, gateway.address, {**(_tls(authority) if "HTTPS" in name else {}),
                                       **(kerberos if "SPNEGO" in name else {})}, [gateway]) for name, gateway in http.items()),
    ]


S = TypeVar("S", bound=Service)


def _started(service: S, cleanup: ExitStack) -> S:
    cleanup.callback(service.kill9)
    service.start()
    return service


def _proxy(bench: Bench, name: str, behind: str, authority: Authority, cleanup: ExitStack) -> TlsProxy:
    return _started(TlsProxy(bench.directory, name, behind, authority.sign(name)), cleanup)


def _tls(authority: Authority) -> dict[str, Any]:
    return {"tls": {"ca": str(authority.certificate)}}

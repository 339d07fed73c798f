"""The ways to a gateway, from plain to authenticated HTTPS: how each is set up, and what the daemon must be told of it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from certificates import Authority
from http_gateway import HTTP_PRINCIPAL, OTHER_USER, PROXY_USER, HttpGateway
from kerberos_realm import Realm
from sasl_gateway import PRINCIPAL, SERVICE, SaslGateway
from stack import Stack, free_port
from stack_services import Gateway
from tls_proxy import TlsProxy

# Where a proxy is in front of a gateway that has a link of its own, too.
PROXIED = {"tls": "plain", "mutual-tls": "plain", "sasl-in-tls": "sasl-auth"}

# Gateways that have the same as those with TLS, without.
CLEAR = {**PROXIED, "https": "http", "https-spnego-doas": "http-spnego"}

QOP = {"sasl-auth": "auth", "sasl-auth-int": "auth-int", "sasl-auth-conf": "auth-conf", "sasl-compact": "auth-conf"}
ENCRYPTED = tuple(CLEAR)
SASL = (*QOP, "sasl-in-tls")
SPNEGO = ("http-spnego", "https-spnego-doas")
HTTP = ("http", "https", *SPNEGO)
KERBERISED = (*SASL, *SPNEGO)
ALL = ("plain", "tls", "mutual-tls", *SASL, *HTTP)


@dataclass(frozen=True)
class Link:
    """spoken: as `check` has it. security: of the configuration's `hbase`, what is right."""

    name: str
    spoken: str
    address: str
    gateway: Gateway
    security: dict[str, Any]

    @property
    def family(self) -> str:
        """What a client must speak, whoever it says it is."""
        if self.name in HTTP:
            return "HTTPS" if self.name in ENCRYPTED else "HTTP"
        if self.name in SASL:
            return "SASL in TLS" if self.name in ENCRYPTED else "SASL"
        return "TLS" if self.name in ENCRYPTED else "plain"

    @property
    def plain_address(self) -> str:
        """For clients that speak something else."""
        return self.address.removeprefix("thrift+tls://").removeprefix("https://").removeprefix("http://").rstrip("/")


class Links:
    """Links to one stack's HBase, which has no Kerberos itself. Each gateway is started when it is first needed; all of them,
    and the KDC, are gone at the context's end."""

    def __init__(self, directory: Path, stack: Stack) -> None:
        self.realm = Realm(directory / "realm")
        self.authority = Authority(directory / "authority", "stack authority")
        self.stranger = Authority(directory / "stranger", "other authority")
        self._directory = directory
        self._stack = stack
        self._gateways: dict[str, Gateway] = {}
        self._proxies: dict[str, TlsProxy] = {}
        self._links: dict[str, Link] = {}
        self._processes = contextlib.ExitStack()

    def __enter__(self) -> "Links":
        self._processes.enter_context(self.realm)
        self.server = self.authority.sign("server")
        self.client = self.authority.sign("client", "DNS:tidemark")
        self.wrong_host = self.authority.sign("wrong-host", "DNS:other.example")
        self.expired = self.authority.sign("expired", expired=True)
        self.strangers_client = self.stranger.sign("client", "DNS:tidemark")
        self.keytabs = {name: self.realm.add(name) for name in ("tidemark", PROXY_USER, PRINCIPAL, HTTP_PRINCIPAL)}
        self.stale_keytab = self.realm.add("stale")
        self.realm.administrate("cpw -randkey stale")
        self.realm.add("hbase/localhost")  # a gateway gets a ticket for HBase before it learns that it needs none
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.close()

    def get(self, name: str) -> Link:
        return self.get_all(name)[0]

    def get_all(self, *names: str) -> list[Link]:
        """Those whose gateways do not run yet are started side by side."""
        launched = [self._launch(name) for name in names if name not in self._links]
        for gateway in launched:
            gateway.await_ready()
        for name in names:
            if name not in self._links:
                self._links[name] = self._link(name)
        return [self._links[name] for name in names]

    def proxy(self, name: str, gateway: Gateway, certificate: Path, *, mutual: bool = False) -> TlsProxy:
        """TLS in front of a gateway, gone with the links; the one of this name, if there is one already."""
        if name in self._proxies:
            return self._proxies[name]
        authority = self.authority.certificate if mutual else None
        proxy = TlsProxy(self._directory, name, f"127.0.0.1:{gateway.port}", certificate, client_authority=authority)
        self._proxies[name] = proxy
        self._processes.callback(proxy.kill9)
        proxy.start()
        return proxy

    def address_behind(self, link: Link, name: str, certificate: Path) -> str:
        """The same link behind TLS with another certificate."""
        proxy = self.proxy(f"{link.name}-{name}", self.get(CLEAR[link.name]).gateway, certificate,
                           mutual=link.name == "mutual-tls")
        return f"{link.address.split('://')[0]}://{proxy.plain_address}"

    def tls(self, certificate: Optional[Path] = None) -> dict[str, Any]:
        """`hbase.tls`, with our own certificate or without."""
        own: dict[str, Any] = {}
        if certificate is not None:
            own = {"certificate": str(certificate), "key": {"file": str(certificate.with_suffix(".key"))}}
        return {"ca": str(self.authority.certificate), **own}

    def kerberos(self, user: str = "tidemark") -> dict[str, Any]:
        return {"keytab": {"file": str(self.keytabs[user])}}

    def _launch(self, name: str) -> Gateway:
        kind = PROXIED.get(name, name)
        if kind == "plain":
            return self._stack.gateways[0]
        if kind not in self._gateways:
            gateway = self._gateways[kind] = self._make(kind)
            self._processes.callback(gateway.kill9)
            gateway.launch()
        return self._gateways[kind]

    def _make(self, name: str) -> Gateway:
        common = (self._directory, len(self._gateways), self._stack.hbase.zookeeper_port, free_port())
        if name in QOP:
            return SaslGateway(*common, realm=self.realm, keytab=self.keytabs[PRINCIPAL], qop=QOP[name],
                               compact=name == "sasl-compact")
        kerberos = {"realm": self.realm, "keytab": self.keytabs[PRINCIPAL], "http_keytab": self.keytabs[HTTP_PRINCIPAL]}
        return HttpGateway(*common, certificate=self.server if name in ENCRYPTED else None,
                           **(kerberos if name in SPNEGO else {}))

    def _link(self, name: str) -> Link:
        gateway = self._launch(name)
        security: dict[str, Any] = {}
        address = gateway.address if name in HTTP else f"localhost:{gateway.port}"
        spoken = "HTTP, binary" if name in HTTP else "unframed, binary"
        if name in ENCRYPTED:
            security["tls"] = self.tls(self.client if name == "mutual-tls" else None)
        if name in PROXIED:
            address = self.proxy(name, gateway, self.server, mutual=name == "mutual-tls").address
        if name in KERBERISED:
            security["kerberos"] = self.kerberos(PROXY_USER if name.endswith("doas") else "tidemark")
        if name.endswith("doas"):
            security["http"] = {"do_as": OTHER_USER}
        if name in SASL:
            spoken = f"SASL, {'compact' if gateway.compact else 'binary'}"
            security["sasl"] = {"service": SERVICE, **({"qop": QOP[name]} if name in ("sasl-auth", "sasl-auth-int") else {})}
        return Link(name, spoken, address, gateway, security)

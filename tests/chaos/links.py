"""What is between the daemons and the gateways of a run with faults: nothing, Kerberos by SASL, or proxies that take mutual TLS."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

from certificates import Authority
from kerberos_realm import Realm
from sasl_gateway import PRINCIPAL, SERVICE, SaslGateway
from stack import Stack
from stack_services import free_port
from tls_proxy import TlsProxy

LINKS = ("plain", "sasl-auth-conf", "mutual-tls")

# Tickets end several times in a run of two minutes, so that they are also got again while things break.
TICKET_LIFE = "30s"


@dataclass
class Link:
    """How the daemons reach the gateways, and what there is to be broken on the way."""

    addresses: list[str]
    changes: Mapping[str, Any] = field(default_factory=dict)  # to the daemons' configuration
    proxies: list[TlsProxy] = field(default_factory=list)
    realm: Optional[Realm] = None


def plain_gateways(name: str, n_gateways: int) -> int:
    """How many of the stack's own the link wants; others it starts itself."""
    return 0 if name == "sasl-auth-conf" else n_gateways


@contextlib.contextmanager
def open_link(name: str, stack: Stack, n_gateways: int, gateway_settings: Mapping[str, str]) -> Iterator[Link]:
    """One of LINKS, on a stack that has its `plain_gateways`."""
    directory = stack.directory / "link"
    with contextlib.ExitStack() as cleanup:
        if name == "sasl-auth-conf":
            yield _sasl(stack, directory, n_gateways, gateway_settings, cleanup)
        elif name == "mutual-tls":
            yield _mutual_tls(stack, directory, cleanup)
        else:
            yield Link(_addresses(stack))


def _addresses(stack: Stack) -> list[str]:
    return [gateway.address for gateway in stack.gateways]


def _sasl(stack: Stack, directory: Path, n_gateways: int, gateway_settings: Mapping[str, str],
          cleanup: contextlib.ExitStack) -> Link:
    realm = cleanup.enter_context(Realm(directory))
    os.environ["KRB5_CONFIG"] = str(realm.client_configuration)
    cleanup.callback(os.environ.pop, "KRB5_CONFIG")
    keytab = realm.add("tidemark", life=TICKET_LIFE)
    service_keytab = realm.add(PRINCIPAL)
    realm.add("hbase/localhost")  # a gateway gets a ticket for HBase before it learns that it needs none
    for index in range(n_gateways):
        gateway = SaslGateway(stack.directory, index, stack.hbase.zookeeper_port, free_port(), realm=realm, keytab=service_keytab,
                              qop="auth-conf", more_settings=gateway_settings)
        stack.gateways.append(gateway)  # ends with the stack
        gateway.launch()
    for gateway in stack.gateways:
        gateway.await_ready()
    changes = {"hbase": {"sasl": {"service": SERVICE, "qop": "auth-conf"}, "kerberos": {"keytab": {"file": str(keytab)}}}}
    return Link(_addresses(stack), changes, realm=realm)


def _mutual_tls(stack: Stack, directory: Path, cleanup: contextlib.ExitStack) -> Link:
    """A proxy in front of each gateway, as it would be in production."""
    authority = Authority(directory, "authority of the run")
    server, client = authority.sign("server"), authority.sign("client", "DNS:tidemark")
    proxies = [TlsProxy(stack.directory, f"proxy-{index}", gateway.address, server, client_authority=authority.certificate)
               for index, gateway in enumerate(stack.gateways)]
    for proxy in proxies:
        cleanup.callback(proxy.kill9)
        proxy.start()
    tls = {"ca": str(authority.certificate), "certificate": str(client), "key": {"file": str(client.with_suffix(".key"))}}
    return Link([proxy.address for proxy in proxies], {"hbase": {"tls": tls}}, proxies=proxies)

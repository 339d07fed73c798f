"""What is between the daemons and what they talk to in a run with faults: nothing, Kerberos by SASL, SASL to Kafka too, or mutual TLS."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

from certificates import Authority
from kerberos_realm import Realm
from sasl_gateway import PRINCIPAL, SERVICE, SaslGateway
from secure_kafka import PASSWORD, USER, SecureKafka
from stack import Stack
from stack_services import free_port
from tls_proxy import TlsProxy

LINKS = ("plain", "sasl-auth-conf", "sasl-both", "mutual-tls")

# Their gateways are not the stack's.
SASL = ("sasl-auth-conf", "sasl-both")

# Tickets end several times in a run of two minutes, so that they are also got again while things break.
TICKET_LIFE = "30s"


@dataclass
class Link:
    """How the daemons reach gateways and broker, and what there is to be broken on the way."""

    addresses: list[str]
    changes: Mapping[str, Any] = field(default_factory=dict)  # to the daemons' configuration
    proxies: list[TlsProxy] = field(default_factory=list)
    realm: Optional[Realm] = None


def plain_gateways(name: str, n_gateways: int) -> int:
    """How many of the stack's own the link wants; others it starts itself."""
    return 0 if name in SASL else n_gateways


@contextlib.contextmanager
def open_link(name: str, stack: Stack, n_gateways: int, gateway_settings: Mapping[str, str]) -> Iterator[Link]:
    """One of LINKS, on a stack that has its `plain_gateways`."""
    directory = stack.directory / "link"
    with contextlib.ExitStack() as cleanup:
        if name in SASL:
            link = _sasl(stack, directory, n_gateways, gateway_settings, cleanup)
            if name == "sasl-both":
                link.changes = {**link.changes, "kafka": _sasl_to_kafka(stack, directory)}
            yield link
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


def _sasl_to_kafka(stack: Stack, directory: Path) -> Mapping[str, Any]:
    """A broker that asks for passwords within TLS takes the place of the stack's, and ends as that one would."""
    authority = Authority(directory / "broker", "authority of the broker")
    stack.kafka.kill9()
    secured = SecureKafka(directory / "broker", authority)
    stack.kafka = secured
    secured.start()
    password = directory / "broker" / "password"
    password.write_text(PASSWORD, encoding="ascii")
    password.chmod(0o600)
    return {"brokers": secured.address_of("SASLTLS"), "librdkafka": {
        "security.protocol": "sasl_ssl", "sasl.mechanism": "PLAIN", "sasl.username": USER,
        "sasl.password": {"file": str(password)}, "ssl.ca.location": str(authority.certificate)}}


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

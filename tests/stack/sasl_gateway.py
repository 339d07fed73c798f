"""A Thrift gateway that asks its clients for SASL GSSAPI, on an HBase without Kerberos: clients see no difference."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, Mapping, Optional

from kerberos_realm import REALM, Realm
from stack_services import HOST, START_DEADLINE_S, Gateway
from thrift_probe import receive_exactly

SERVICE = "thrift"
PRINCIPAL = f"{SERVICE}/localhost"

# START, and the wish for a mechanism that there is not: BAD comes back at once.
QUESTION = b"\x01\x00\x00\x00\x01?"
BAD = b"\x03"


def settings(keytab: Path, qop: str) -> dict[str, str]:
    """The gateway's own, beside those of every gateway."""
    return {
        "hadoop.security.authentication": "kerberos",
        "hbase.security.authentication": "kerberos",
        # Towards HBase, which has no Kerberos here.
        "hbase.ipc.client.fallback-to-simple-auth-allowed": "true",
        "hbase.master.kerberos.principal": f"hbase/localhost@{REALM}",
        "hbase.regionserver.kerberos.principal": f"hbase/localhost@{REALM}",
        # Towards its clients.
        "hbase.thrift.kerberos.principal": f"{PRINCIPAL}@{REALM}",
        "hbase.thrift.keytab.file": str(keytab),
        "hbase.thrift.security.qop": qop,
        # Its failed calls to an HBase that is away end within seconds.
        "hbase.client.retries.number": "3",
    }


def java_flags_of(realm: Realm, configuration: Path) -> tuple[str, ...]:
    """Of a JVM that takes its tickets as the krb5.conf says."""
    hosts = realm.directory / "hosts"
    # A gateway takes the host of its SASL name from the machine, not from its principal.
    hosts.write_text(f"{HOST} localhost {socket.gethostname()}\n", encoding="ascii")
    return f"-Djava.security.krb5.conf={configuration}", f"-Djdk.net.hosts.file={hosts}"


class SaslGateway(Gateway):
    """qop: auth, auth-int or auth-conf. more_settings: in place of its own."""

    def __init__(self, directory: Path, index: int, zookeeper_port: int, port: int, *, realm: Realm, keytab: Path, qop: str,
                 more_settings: Optional[Mapping[str, str]] = None, **options: Any) -> None:
        super().__init__(directory, index, zookeeper_port, port, settings={**settings(keytab, qop), **(more_settings or {})},
                         jvm_flags=java_flags_of(realm, realm.gateway_configuration), **options)
        self.address = f"localhost:{port}"  # by name: tickets are for names

    def await_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        self._process.await_condition(self._negotiates, f"negotiated SASL on {self.address}", deadline_s)

    def _negotiates(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=2) as connection:
                connection.settimeout(2)
                connection.sendall(QUESTION)
                return receive_exactly(connection, 1) == BAD
        except OSError:
            return False

"""A Thrift gateway that is set to HTTP or HTTPS, with SPNEGO or without, on an HBase without Kerberos."""

from __future__ import annotations

import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any, Optional

from jvm_process import StackError
from kerberos_realm import REALM, Realm
from sasl_gateway import PRINCIPAL, java_flags_of
from stack_services import HOST, START_DEADLINE_S, Gateway

HTTP_PRINCIPAL = "HTTP/localhost"
PASSWORD = "changeit"

# The only user that the gateways let write as another, and as whom.
PROXY_USER, OTHER_USER = "proxy", "other"


def _http_settings() -> dict[str, str]:
    # Its failed calls to an HBase that is away end within seconds.
    return {"hbase.regionserver.thrift.http": "true", "hbase.client.retries.number": "3"}


def _tls_settings(certificate: Path) -> dict[str, str]:
    """certificate: with its key beside it, NAME.key."""
    store = certificate.with_suffix(".p12")
    done = subprocess.run(["openssl", "pkcs12", "-export", "-in", certificate, "-inkey", certificate.with_suffix(".key"),
                           "-out", store, "-passout", f"pass:{PASSWORD}"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StackError(f"openssl pkcs12: {done.stderr}")
    return {
        "hbase.thrift.ssl.enabled": "true",
        "hbase.thrift.ssl.keystore.store": str(store),
        "hbase.thrift.ssl.keystore.type": "pkcs12",
        "hbase.thrift.ssl.keystore.password": PASSWORD,
    }


def _spnego_settings(keytab: Path, http_keytab: Path) -> dict[str, str]:
    return {
        "hadoop.security.authentication": "kerberos",
        "hbase.security.authentication": "kerberos",
        "hbase.ipc.client.fallback-to-simple-auth-allowed": "true",  # towards HBase, which has no Kerberos here
        "hbase.master.kerberos.principal": f"hbase/localhost@{REALM}",
        "hbase.regionserver.kerberos.principal": f"hbase/localhost@{REALM}",
        "hbase.thrift.kerberos.principal": f"{PRINCIPAL}@{REALM}",
        "hbase.thrift.keytab.file": str(keytab),
        "hbase.thrift.spnego.principal": f"{HTTP_PRINCIPAL}@{REALM}",
        "hbase.thrift.spnego.keytab.file": str(http_keytab),
        "hbase.thrift.support.proxyuser": "true",
        f"hadoop.proxyuser.{PROXY_USER}.hosts": HOST,
        f"hadoop.proxyuser.{PROXY_USER}.users": OTHER_USER,
    }


class HttpGateway(Gateway):
    """certificate: it is set to HTTPS. realm, with the keytabs of thrift/localhost and HTTP/localhost: it asks for SPNEGO."""

    def __init__(self, directory: Path, index: int, zookeeper_port: int, port: int, *, certificate: Optional[Path] = None,
                 realm: Optional[Realm] = None, keytab: Optional[Path] = None, http_keytab: Optional[Path] = None,
                 **options: Any) -> None:
        settings = _http_settings()
        flags: tuple[str, ...] = ()
        if certificate is not None:
            settings |= _tls_settings(certificate)
        if realm is not None and keytab is not None and http_keytab is not None:
            flags = java_flags_of(realm, realm.gateway_configuration)
            settings |= _spnego_settings(keytab, http_keytab)
        super().__init__(directory, index, zookeeper_port, port, settings=settings, jvm_flags=flags, **options)
        self._is_tls = certificate is not None
        self.address = f"{'https' if self._is_tls else 'http'}://localhost:{port}/"

    def await_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        self._process.await_condition(self._answers, f"answered in HTTP on {self.address}", deadline_s)

    def _answers(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=2) as plain, self._wrap(plain) as connection:
                connection.settimeout(2)
                connection.sendall(b"OPTIONS / HTTP/1.0\r\n\r\n")
                return connection.recv(5) == b"HTTP/"
        except OSError:
            return False

    def _wrap(self, plain: socket.socket) -> socket.socket:
        if not self._is_tls:
            return plain
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(plain)

"""A broker that asks its clients who they are, on one listener for each way: beside the stack, for those tests alone.

    with SecureKafka(directory, authority, realm, token_server) as kafka:
        kafka.ports["MTLS"]

PLAINTEXT stays for the tests' own requests. All certificates are PEM files of the authority.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Mapping, Optional

import token_server
from certificates import Authority
from jvm_process import StackError
from kerberos_realm import REALM, Realm
from stack_services import HOST, Kafka, free_port

# Listener: (protocol, mechanisms).
LISTENERS = {
    "TLS": ("SSL", ""),
    "MTLS": ("SSL", ""),
    "WRONGHOST": ("SSL", ""),
    "EXPIRED": ("SSL", ""),
    "SASL": ("SASL_PLAINTEXT", "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"),
    "SASLTLS": ("SASL_SSL", "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"),
    "GSS": ("SASL_PLAINTEXT", "GSSAPI"),
    "GSSTLS": ("SASL_SSL", "GSSAPI"),
    "OIDC": ("SASL_PLAINTEXT", "OAUTHBEARER"),
    "OIDCTLS": ("SASL_SSL", "OAUTHBEARER"),
}

# Of PLAIN, and of both kinds of SCRAM.
USER = "alice"
PASSWORD = "alices-secret"

# Of PLAIN, with the same password: whom docs/security.md grants what he needs.
GRANTED_USER = "tidemark"

# Settings of a broker that asks what each user may do. Whoever comes without a name, as the tests themselves do and the broker
# to itself, may do everything.
AUTHORIZED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}

MODULES = "org.apache.kafka.common.security"


def _key_store(authority: Authority, name: str) -> Path:
    """Key and certificate in one file, as Kafka takes PEM."""
    path = authority.directory / f"{name}.store.pem"
    path.write_text("".join((authority.directory / f"{name}.{end}").read_text(encoding="ascii") for end in ("key", "pem")),
                    encoding="ascii")
    return path


class SecureKafka(Kafka):
    """Without a realm there are no listeners for GSSAPI, without a token server none for OIDC. settings: beside those that
    follow from the listeners. component: as of Kafka."""

    def __init__(self, directory: Path, authority: Authority, realm: Optional[Realm] = None,
                 tokens: Optional[token_server.TokenServer] = None, *, settings: Optional[Mapping[str, str]] = None,
                 component: str = "kafka") -> None:
        self._authority = authority
        self._realm = realm
        self._tokens = tokens
        lacking = {*(() if realm else ("GSSAPI",)), *(() if tokens else ("OAUTHBEARER",))}
        names = [name for name, (_, mechanisms) in LISTENERS.items() if mechanisms not in lacking]
        self.ports = {name: free_port() for name in names}
        ports = self.choose_ports()
        authority.sign("broker")
        authority.sign("wrong-broker", "DNS:other.example")
        authority.sign("expired-broker", expired=True)
        super().__init__(directory, ports, settings={**self._secure_settings(ports), **(settings or {})}, component=component)

    def address_of(self, listener: str) -> str:
        """By name: certificates and tickets are for names."""
        return f"localhost:{self.ports[listener]}"

    def __enter__(self) -> "SecureKafka":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill9()
        self.wipe()

    def set_password(self, mechanism: str, password: str) -> None:
        """Of the user of SCRAM."""
        self.administrate("kafka.admin.ConfigCommand", "--alter", "--add-config", f"{mechanism}=[password={password}]",
                          "--entity-type", "users", "--entity-name", USER)

    def acls(self, *words: str) -> None:
        """As kafka-acls does; of a broker with AUTHORIZED."""
        self.administrate("org.apache.kafka.tools.AclCommand", *words)

    def administrate(self, main_class: str, *words: str) -> None:
        """One of Kafka's own tools, over the listener that asks nobody who he is."""
        command = self._command(main_class, "--bootstrap-server", self.address, *words)
        done = subprocess.run(command, env=self._environment(), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise StackError(f"{main_class} {' '.join(words)}: {done.stdout}{done.stderr}")

    def _secure_settings(self, ports: dict[str, int]) -> dict[str, str]:
        protocols = {name: LISTENERS[name][0] for name in self.ports}
        inner = f"PLAINTEXT://{HOST}:{ports['broker']}"
        settings = {
            "listeners": ",".join([inner, *(f"{name}://{HOST}:{port}" for name, port in self.ports.items()),
                                   f"CONTROLLER://{HOST}:{ports['controller']}"]),
            "advertised.listeners": ",".join([inner, *(f"{name}://{self.address_of(name)}" for name in self.ports)]),
            "listener.security.protocol.map": ",".join(
                ["PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT", *(f"{name}:{kind}" for name, kind in protocols.items())]),
            "inter.broker.listener.name": "PLAINTEXT",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(_key_store(self._authority, "broker")),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self._authority.certificate),
            "listener.name.mtls.ssl.client.auth": "required",
        }
        for name, certificate in (("wronghost", "wrong-broker"), ("expired", "expired-broker")):
            settings[f"listener.name.{name}.ssl.keystore.type"] = "PEM"
            settings[f"listener.name.{name}.ssl.keystore.location"] = str(_key_store(self._authority, certificate))
        for name in self.ports:
            settings.update(self._sasl_settings(name.lower(), LISTENERS[name][1]))
        return settings

    def _sasl_settings(self, listener: str, mechanisms: str) -> dict[str, str]:
        if not mechanisms:
            return {}
        prefix = f"listener.name.{listener}"
        settings = {f"{prefix}.sasl.enabled.mechanisms": mechanisms}
        for mechanism in mechanisms.lower().split(","):
            settings[f"{prefix}.{mechanism}.sasl.jaas.config"] = self._login(mechanism)
        if mechanisms == "GSSAPI":
            settings[f"{prefix}.sasl.kerberos.service.name"] = "kafka"
        if mechanisms == "OAUTHBEARER" and self._tokens is not None:
            settings[f"{prefix}.oauthbearer.sasl.server.callback.handler.class"] = (
                f"{MODULES}.oauthbearer.OAuthBearerValidatorCallbackHandler")
            settings[f"{prefix}.oauthbearer.sasl.oauthbearer.jwks.endpoint.url"] = self._tokens.keys.as_uri()
            settings[f"{prefix}.oauthbearer.sasl.oauthbearer.expected.audience"] = token_server.AUDIENCE
            settings[f"{prefix}.oauthbearer.sasl.oauthbearer.expected.issuer"] = token_server.ISSUER
        return settings

    def _login(self, mechanism: str) -> str:
        if mechanism == "plain":
            return f'{MODULES}.plain.PlainLoginModule required user_{USER}="{PASSWORD}" user_{GRANTED_USER}="{PASSWORD}";'
        if mechanism.startswith("scram"):
            return f"{MODULES}.scram.ScramLoginModule required;"
        if mechanism == "oauthbearer":
            return f"{MODULES}.oauthbearer.OAuthBearerLoginModule required;"
        assert self._realm is not None
        keytab = self._realm.add("kafka/localhost")
        return ("com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true doNotPrompt=true "
                f'keyTab="{keytab}" principal="kafka/localhost@{REALM}";')

    def _format_words(self) -> list[str]:
        return [word for kind in ("SCRAM-SHA-256", "SCRAM-SHA-512")
                for word in ("--add-scram", f"{kind}=[name={USER},password={PASSWORD}]")]

    def _command(self, main_class: str, *words: str) -> list[str]:
        java, *rest = super()._command(main_class, *words)
        flags = []
        if self._realm is not None:
            flags.append(f"-Djava.security.krb5.conf={self._realm.gateway_configuration}")
        if self._tokens is not None:
            flags.append(f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={self._tokens.keys.as_uri()}")
        return [java, *flags, *rest]

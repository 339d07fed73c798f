"""What tests of a secured broker begin with: one broker that asks who we are, every way to it, and what is the same by all."""

from __future__ import annotations

import os
import signal
import subprocess
import unittest
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Optional

import newer_librdkafka
from case import WRITTEN, Case
from cell_table import CellTable
from certificates import Authority
from daemon import DEADLINE_S, Daemon, metric_tables
from kerberos_realm import Realm
from secure_kafka import PASSWORD, USER, SecureKafka
from token_server import TokenServer

Properties = Mapping[str, Any]

# The one that is installed, and the newer one, in the folder for LD_LIBRARY_PATH.
INSTALLED, NEWER = "installed", newer_librdkafka.VERSION

SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")

WORKS = "1 broker"


# Long enough for something to happen in its middle, whatever else the machine does.
FLOW = ("--readings", "8000", "--devices", "50", "--metrics", "3", "--rate", "400")


class Way(NamedTuple):
    """To the broker: by this library, at this listener."""

    library: str
    listener: str
    properties: Properties

    @property
    def mechanism(self) -> str:
        return f"{self.properties.get('sasl.mechanism', self.listener)} {self.library}"


class Alone(NamedTuple):
    """A daemon that has a group and tables of its own, beside others that read the same topic."""

    way: Way
    daemon: Daemon
    history: str
    latest: str


class SecureKafkaCase(Case):
    """One broker for all tests of a class, started with the first."""

    # Of the broker: its jars, and settings of its own.
    component = "kafka"
    settings: Mapping[str, str] = {}

    broker: SecureKafka
    authority: Authority
    stranger: Authority
    realm: Realm
    tokens: TokenServer
    sentences: CellTable

    @classmethod
    def setUpClass(cls) -> None:
        if not Realm.is_installed():
            raise unittest.SkipTest("krb5-kdc and krb5-admin-server are not installed")
        directory = cls.directory / cls.__name__
        cls.authority = Authority(directory / "authority", "stack authority")
        cls.stranger = Authority(directory / "stranger", "stranger")
        for authority in (cls.authority, cls.stranger):
            authority.sign("client")
        cls.realm = cls.enterClassContext(Realm(directory / "realm"))
        cls.keytab = cls.realm.add("tidemark")
        cls.tokens = cls.enterClassContext(TokenServer(directory / "tokens"))
        cls.broker = cls.enterClassContext(SecureKafka(directory, cls.authority, cls.realm, cls.tokens, settings=cls.settings,
                                                       component=cls.component))
        cls.sentences = CellTable()
        cls.addClassCleanup(lambda: print(cls.sentences.markdown()))

    @property
    def kafka(self) -> SecureKafka:
        return self.broker

    # What is right

    def tls(self, authority: Optional[Authority] = None) -> dict[str, Any]:
        return {"security.protocol": "ssl", "ssl.ca.location": str((authority or self.authority).certificate)}

    def own_certificate(self, authority: Authority) -> dict[str, Any]:
        return {"ssl.certificate.location": str(authority.directory / "client.pem"),
                "ssl.key.location": str(authority.directory / "client.key")}

    def password(self, mechanism: str, password: str = PASSWORD, protocol: str = "sasl_ssl") -> dict[str, Any]:
        return {"security.protocol": protocol, "sasl.mechanism": mechanism, "sasl.username": USER,
                "sasl.password": self.secret(password), "ssl.ca.location": str(self.authority.certificate)}

    def ticket(self) -> dict[str, Any]:
        return {"security.protocol": "sasl_plaintext", "sasl.mechanism": "GSSAPI", "sasl.kerberos.service.name": "kafka",
                "sasl.kerberos.kinit.cmd": "true"}

    def token(self, secret: str = "oidc-secret") -> dict[str, Any]:
        return {"security.protocol": "sasl_plaintext", "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.token.endpoint.url": self.tokens.url, "sasl.oauthbearer.client.id": "tidemark",
                "sasl.oauthbearer.client.secret": self.secret(secret)}

    def in_tls(self, properties: Properties) -> dict[str, Any]:
        return {**properties, **self.tls(), "security.protocol": "sasl_ssl"}

    def secret(self, text: str) -> dict[str, str]:
        path = self.work / f"{text}.secret"
        path.write_text(text, encoding="ascii")
        path.chmod(0o600)
        return {"file": str(path)}

    def environment(self, library: str) -> dict[str, str]:
        """What a daemon has in its unit: Kerberos without kinit."""
        own = {"KRB5_CONFIG": str(self.realm.client_configuration), "KRB5_CLIENT_KTNAME": f"FILE:{self.keytab}",
               "KRB5CCNAME": "MEMORY:"}
        if library == NEWER:
            own["LD_LIBRARY_PATH"] = str(newer_librdkafka.folder())
        return {**os.environ, **own}

    # The main job

    def alone(self, way: Way) -> Alone:
        name = way.mechanism.replace(" ", "-").replace(".", "-")
        history, latest = (f"{table}_{name}" for table in (self.history, self.latest))
        for table in (history, latest):
            self.create_table(table, "M")
        daemon = self.daemon(name, tables=metric_tables(history, latest), changes={"kafka": {
            "brokers": self.broker.address_of(way.listener), "group": f"{self.name}-{name}",
            "librdkafka": dict(way.properties)}})
        daemon.environment.update(self.environment(way.library))
        return Alone(way, daemon, history, latest)

    def check_main_job(self, situation: str, ways: Iterable[Way], happen: Callable[[list[Daemon]], None]) -> None:
        """One flow of readings, read by all ways at once; whatever happens half way, content is exact by each."""
        self.create_topic(3)
        all_alone = [self.alone(way) for way in ways]
        daemons = [alone.daemon for alone in all_alone]
        for daemon in daemons:
            daemon.start()
        for daemon in daemons:
            daemon.wait_ready()
        simulation = self.simulate_in_background(*FLOW)
        daemons[0].wait_metric(WRITTEN, 500)
        # Whoever is slow: what happens now happens to all of them in the middle of the flow.
        simulation.send_signal(signal.SIGSTOP)
        for daemon in daemons:
            daemon.wait_metric(WRITTEN, 500)
        self.assertIsNone(simulation.poll(), "everything is sent already")
        simulation.send_signal(signal.SIGCONT)
        happen(daemons)
        n_messages = self.finish(simulation)
        for alone in all_alone:
            with self.subTest(mechanism=alone.way.mechanism, situation=situation):
                self.sentences.record(alone.way.mechanism, situation, "FAILED")
                alone.daemon.wait_committed(n_messages)
                self.assert_tables_hold_what_was_sent(alone.history, alone.latest)
                self.assert_accounting_balances(alone.daemon)
                self.assertEqual(alone.daemon.stop(), 0)
                self.sentences.record(alone.way.mechanism, situation, "missing 0, wrong 0")

    @staticmethod
    def kill_all(daemons: list[Daemon]) -> None:
        for daemon in daemons:
            daemon.kill9()
        for daemon in daemons:
            daemon.start()

    # What is said

    def check(self, library: str, situation: str, listener: str, properties: Properties, words: str, *,
              host: str = "localhost", code: Optional[int] = None, environment: Optional[Mapping[str, str]] = None) -> None:
        """`check` says these words in one line, of the brokers or of the file."""
        mechanism = f"{properties.get('sasl.mechanism', 'TLS')} {library}"
        with self.subTest(mechanism=mechanism, situation=situation):
            config = self.daemon(f"{listener}-{mechanism}-{situation}".replace(" ", "-"), changes={"kafka": {
                "brokers": f"{host}:{self.broker.ports[listener]}", "librdkafka": dict(properties)}}).config_path
            done = subprocess.run([str(self.tidemark), "check", "--config", str(config)], capture_output=True, text=True,
                                  check=False, timeout=DEADLINE_S, env={**self.environment(library), **(environment or {})})
            text = done.stdout + done.stderr
            lines = [line for line in text.splitlines() if words in line and (line.startswith("brokers") or ": error: " in line)]
            self.sentences.record(mechanism, situation, lines[0] if lines else "FAILED")
            self.assertEqual(len(lines), 1, f"'{words}' is in {len(lines)} lines of\n{text}")
            if code is not None:
                self.assertEqual(done.returncode, code, text)

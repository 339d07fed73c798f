"""A broker that asks who we are: the main job by each mechanism and librdkafka, what goes wrong, and the sentence it has."""

from __future__ import annotations

import os
import signal
import subprocess
import unittest
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Optional

import newer_librdkafka
from case import EX_CONFIG, EX_TEMPFAIL, Case, long
from cell_table import CellTable
from certificates import Authority
from daemon import DEADLINE_S, Daemon, metric_tables, wait_until
from kerberos_realm import Realm
from secure_kafka import PASSWORD, USER, SecureKafka
from test_main_job import WRITTEN
from token_server import TokenServer

Properties = Mapping[str, Any]

# The one that is installed, and the newer one, in the folder for LD_LIBRARY_PATH.
INSTALLED, NEWER = "installed", newer_librdkafka.VERSION

SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")

WORKS = "1 broker"


# Long enough for something to happen in its middle, whatever else the machine does.
FLOW = ("--readings", "8000", "--machines", "50", "--metrics", "3", "--rate", "400")


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


class KafkaSecurity(Case):
    """One broker for all of them, started with the first."""

    broker: SecureKafka
    authority: Authority
    stranger: Authority
    realm: Realm
    tokens: TokenServer
    sentences = CellTable()

    @classmethod
    def setUpClass(cls) -> None:
        if not Realm.is_installed():
            raise unittest.SkipTest("krb5-kdc and krb5-admin-server are not installed")
        directory = cls.directory / "kafka-security"
        cls.authority = Authority(directory / "authority", "stack authority")
        cls.stranger = Authority(directory / "stranger", "stranger")
        for authority in (cls.authority, cls.stranger):
            authority.sign("client")
        cls.realm = cls.enterClassContext(Realm(directory / "realm"))
        cls.keytab = cls.realm.add("tidemark")
        cls.tokens = cls.enterClassContext(TokenServer(directory / "tokens"))
        cls.broker = cls.enterClassContext(SecureKafka(directory, cls.authority, cls.realm, cls.tokens))
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

    def ways(self) -> list[Way]:
        """All that work: 2.0.2 does no SCRAM with this broker and no OIDC, the newer build no GSSAPI."""
        both = [Way(library, *rest) for library in (INSTALLED, NEWER) for rest in (
            ("TLS", self.tls()),
            ("MTLS", {**self.tls(), **self.own_certificate(self.authority)}),
            ("SASLTLS", self.password("PLAIN")))]
        return [*both, Way(INSTALLED, "GSS", self.ticket()), Way(NEWER, "OIDC", self.token()),
                *(Way(NEWER, "SASLTLS", self.password(mechanism)) for mechanism in SCRAM)]

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

    def test_main_job_by_three_ways(self) -> None:
        """kill -9 of the daemons."""
        self.check_main_job("main job, daemon killed", [
            Way(INSTALLED, "MTLS", {**self.tls(), **self.own_certificate(self.authority)}),
            Way(INSTALLED, "SASLTLS", self.password("PLAIN")),
            Way(NEWER, "SASLTLS", self.password("SCRAM-SHA-512"))], self.kill_all)

    @long
    def test_main_job_by_each_way(self) -> None:
        """kill -9 of the daemons."""
        self.check_main_job("main job, daemon killed", self.ways(), self.kill_all)

    @long
    def test_broker_is_restarted(self) -> None:
        """Every connection has to be made again, and to prove again who it is."""
        def restart(_: list[Daemon]) -> None:
            self.broker.stop()
            self.broker.start()
        self.check_main_job("broker restarted", self.ways(), restart)

    @long
    def test_password_is_exchanged_under_a_daemon(self) -> None:
        """The old one is good until connections end; then the daemon says what is wrong, and takes the new one at its start."""
        self.addCleanup(self.broker.set_password, SCRAM[1], PASSWORD)
        right = Way(NEWER, "SASLTLS", self.password(SCRAM[1]))

        def exchange(daemons: list[Daemon]) -> None:
            (daemon,) = daemons
            self.broker.set_password(SCRAM[1], "another")
            self.broker.stop()
            self.broker.start()
            wait_until(lambda: "Authentication failed" in daemon.log_text(), daemon.log_tail)
            # Its last commit may be refused with the password.
            self.assertIn(daemon.stop(), (0, EX_TEMPFAIL))
            Path(right.properties["sasl.password"]["file"]).write_text("another", encoding="ascii")
            daemon.start()
        self.check_main_job("password exchanged, restarted", [right], exchange)

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

    def check_tls(self, library: str) -> None:
        self.check(library, "ok", "TLS", self.tls(), WORKS)
        self.check(library, "wrong CA", "TLS", self.tls(self.stranger), "nothing in 'ssl.ca.location' has signed")
        self.check(library, "wrong host", "WRONGHOST", self.tls(), "certificate is for another host")
        self.check(library, "expired certificate", "EXPIRED", self.tls(), "certificate has ended")
        self.check(library, "mutual", "MTLS", {**self.tls(), **self.own_certificate(self.authority)}, WORKS)
        self.check(library, "no certificate of ours", "MTLS", self.tls(), "the broker asks for a certificate of ours that it trusts")

    def check_passwords(self, library: str) -> None:
        for mechanism in ("PLAIN", *(SCRAM if library == NEWER else ())):
            self.check(library, "ok", "SASLTLS", self.password(mechanism), WORKS)
            self.check(library, "ok without TLS", "SASL", self.password(mechanism, protocol="sasl_plaintext"), WORKS)
            self.check(library, "wrong password", "SASLTLS", self.password(mechanism, "wrong"), "Authentication failed")

    def test_installed_library(self) -> None:
        self.check_tls(INSTALLED)
        self.check_passwords(INSTALLED)
        self.check(INSTALLED, "ok", "GSS", self.ticket(), WORKS)

    def test_newer_library(self) -> None:
        self.check_passwords(NEWER)
        self.check(NEWER, "ok", "OIDC", self.token(), WORKS)
        self.check(NEWER, "of the build", "GSS", self.ticket(), "was built without what 'GSSAPI' needs", code=EX_CONFIG)

    @long
    def test_each_mistake_has_its_sentence(self) -> None:
        self.check_tls(NEWER)
        self.check(INSTALLED, "right password", "SASLTLS", self.password("SCRAM-SHA-512"), "CVE-2024-56128")
        self.check(INSTALLED, "of the build", "OIDC", self.token(), "was built without what fetches them", code=EX_CONFIG)
        self.check(INSTALLED, "no ticket", "GSS", self.ticket(), "there is no Kerberos ticket",
                   environment={"KRB5_CLIENT_KTNAME": "FILE:/nowhere", "KRB5CCNAME": "FILE:/nowhere"})
        self.check(INSTALLED, "by address", "GSS", self.ticket(), "name the brokers as their principals do", host="127.0.0.1")
        self.check(NEWER, "wrong secret", "OIDC", self.token("wrong"), "invalid_client")

    @long
    def test_password_is_exchanged(self) -> None:
        """The old one is refused from then on, the new one taken."""
        self.addCleanup(self.broker.set_password, SCRAM[0], PASSWORD)
        self.broker.set_password(SCRAM[0], "another")
        self.check(NEWER, "old password", "SASLTLS", self.password(SCRAM[0]), "Authentication failed")
        self.check(NEWER, "new password", "SASLTLS", self.password(SCRAM[0], "another"), WORKS)

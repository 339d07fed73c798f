"""A broker that asks who we are: the main job by each mechanism and librdkafka, what goes wrong, and the sentence it has."""

from __future__ import annotations

from pathlib import Path

from case import EX_CONFIG, EX_TEMPFAIL, long
from daemon import Daemon, wait_until
from secure_kafka import PASSWORD
from secure_kafka_case import INSTALLED, NEWER, SCRAM, WORKS, SecureKafkaCase, Way


class KafkaSecurity(SecureKafkaCase):

    def ways(self) -> list[Way]:
        """All that work: 2.0.2 does no SCRAM with this broker and no OIDC, the newer build no GSSAPI."""
        both = [Way(library, *rest) for library in (INSTALLED, NEWER) for rest in (
            ("TLS", self.tls()),
            ("MTLS", {**self.tls(), **self.own_certificate(self.authority)}),
            ("SASLTLS", self.password("PLAIN")))]
        return [*both, Way(INSTALLED, "GSSTLS", self.in_tls(self.ticket())), Way(NEWER, "OIDCTLS", self.in_tls(self.token())),
                *(Way(NEWER, "SASLTLS", self.password(mechanism)) for mechanism in SCRAM)]

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

    def check_tls(self, library: str) -> None:
        self.check(library, "ok", "TLS", self.tls(), WORKS)
        self.check(library, "wrong CA", "TLS", self.tls(self.stranger), "no certificate in 'ssl.ca.location' has signed")
        self.check(library, "wrong host", "WRONGHOST", self.tls(), "certificate is for another host")
        self.check(library, "expired certificate", "EXPIRED", self.tls(), "has expired")
        self.check(library, "mutual", "MTLS", {**self.tls(), **self.own_certificate(self.authority)}, WORKS)
        self.check(library, "no certificate of ours", "MTLS", self.tls(), "the broker requires a client certificate that it trusts")

    def check_passwords(self, library: str) -> None:
        for mechanism in ("PLAIN", *(SCRAM if library == NEWER else ())):
            self.check(library, "ok", "SASLTLS", self.password(mechanism), WORKS)
            self.check(library, "ok without TLS", "SASL", self.password(mechanism, protocol="sasl_plaintext"), WORKS)
            self.check(library, "wrong password", "SASLTLS", self.password(mechanism, "wrong"), "Authentication failed")

    def test_installed_library(self) -> None:
        self.check_tls(INSTALLED)
        self.check_passwords(INSTALLED)
        self.check(INSTALLED, "ok", "GSSTLS", self.in_tls(self.ticket()), WORKS)
        self.check(INSTALLED, "ok without TLS", "GSS", self.ticket(), WORKS)

    def test_newer_library(self) -> None:
        self.check_passwords(NEWER)
        self.check(NEWER, "ok", "OIDCTLS", self.in_tls(self.token()), WORKS)
        self.check(NEWER, "ok without TLS", "OIDC", self.token(), WORKS)
        self.check(NEWER, "of the build", "GSS", self.ticket(), "was built without the feature that 'GSSAPI' needs", code=EX_CONFIG)

    @long
    def test_each_mistake_has_its_sentence(self) -> None:
        self.check_tls(NEWER)
        self.check(INSTALLED, "right password", "SASLTLS", self.password("SCRAM-SHA-512"), "CVE-2024-56128")
        self.check(INSTALLED, "of the build", "OIDC", self.token(), "was built without the feature that fetches them", code=EX_CONFIG)
        self.check(INSTALLED, "no ticket", "GSS", self.ticket(), "there is no Kerberos ticket",
                   environment={"KRB5_CLIENT_KTNAME": "FILE:/nowhere", "KRB5CCNAME": "FILE:/nowhere"})
        self.check(INSTALLED, "by address", "GSS", self.ticket(), "name the brokers as their principals do", host="127.0.0.1")
        self.check(NEWER, "wrong secret", "OIDC", self.token("wrong"), "invalid_client")
        self.check(NEWER, "wrong secret in TLS", "OIDCTLS", self.in_tls(self.token("wrong")), "invalid_client")
        for library, listener, properties in ((INSTALLED, "GSSTLS", self.ticket()), (NEWER, "OIDCTLS", self.token())):
            self.check(library, "wrong CA", listener, {**self.in_tls(properties), "ssl.ca.location": str(self.stranger.certificate)},
                       "no certificate in 'ssl.ca.location' has signed")

    @long
    def test_password_is_exchanged(self) -> None:
        """The old one is refused from then on, the new one taken."""
        self.addCleanup(self.broker.set_password, SCRAM[0], PASSWORD)
        self.broker.set_password(SCRAM[0], "another")
        self.check(NEWER, "old password", "SASLTLS", self.password(SCRAM[0]), "Authentication failed")
        self.check(NEWER, "new password", "SASLTLS", self.password(SCRAM[0], "another"), WORKS)


class OlderKafka(SecureKafkaCase):
    """Kafka 3.7.1 is the last of its line that takes SCRAM of librdkafka before 2.6.1."""

    component = "kafka-3.7"

    @long
    def test_scram_with_an_older_broker(self) -> None:
        for mechanism in SCRAM:
            self.check(INSTALLED, "ok", "SASLTLS", self.password(mechanism), WORKS)
            self.check(INSTALLED, "ok without TLS", "SASL", self.password(mechanism, protocol="sasl_plaintext"), WORKS)
            # The broker says the same of a password that it cannot read: the sentence leaves both open.
            self.check(INSTALLED, "wrong password", "SASLTLS", self.password(mechanism, "wrong"), "the password may be right")
            self.check(NEWER, "wrong password", "SASLTLS", self.password(mechanism, "wrong"), "Authentication failed")
        self.check_main_job("main job with Kafka 3.7.1, daemon killed", [
            Way(library, "SASLTLS", self.password(mechanism)) for library in (INSTALLED, NEWER) for mechanism in SCRAM],
            self.kill_all)

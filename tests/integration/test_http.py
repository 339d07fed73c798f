"""Gateways that are set to HTTP and HTTPS, with SPNEGO and without: the main job, and what is wrongly set up."""

from __future__ import annotations

import os
import unittest
from pathlib import Path
from typing import Any, Mapping, Optional

from case import EX_UNAVAILABLE, Case, long
from certificates import Authority
from daemon import Daemon, merged, metric_tables, wait_until
from http_gateway import HTTP_PRINCIPAL, OTHER_USER, PROXY_USER, HttpGateway
from kerberos_realm import Realm
from sasl_gateway import PRINCIPAL
from stack import free_port
from test_main_job import FLOW, SLOWLY, WRITTEN

EXAMPLE = Path(__file__).resolve().parents[2] / "config" / "examples" / "clusters" / "kerberised-https.yaml"
KINDS = ("http", "https", "http-spnego", "https-spnego")


class Http(Case):
    realm: Realm
    authority: Authority
    keytabs: dict[str, Path]
    gateways: dict[str, HttpGateway]

    @classmethod
    def setUpClass(cls) -> None:
        if not Realm.is_installed():
            raise unittest.SkipTest("krb5-kdc and krb5-admin-server are not installed")
        directory = cls.directory / cls.__name__
        cls.realm = Realm(directory / "realm")
        cls.enterClassContext(cls.realm)
        os.environ["KRB5_CONFIG"] = str(cls.realm.client_configuration)
        cls.addClassCleanup(os.environ.pop, "KRB5_CONFIG")
        cls.authority = Authority(directory / "authority", "stack authority")
        certificate = cls.authority.sign("server")
        cls.keytabs = {name: cls.realm.add(name) for name in ("tidemark", PROXY_USER, PRINCIPAL, HTTP_PRINCIPAL)}
        cls.realm.add("hbase/localhost")  # a gateway gets a ticket for HBase before it learns that it needs none
        cls.gateways = {}
        for index, kind in enumerate(KINDS):
            kerberos = {"realm": cls.realm, "keytab": cls.keytabs[PRINCIPAL], "http_keytab": cls.keytabs[HTTP_PRINCIPAL]}
            gateway = HttpGateway(directory, index, cls.stack.hbase.zookeeper_port, free_port(),
                                  certificate=certificate if kind.startswith("https") else None,
                                  **(kerberos if kind.endswith("spnego") else {}))
            cls.addClassCleanup(gateway.kill9)
            gateway.launch()
            cls.gateways[kind] = gateway
        for gateway in cls.gateways.values():
            gateway.await_ready()

    def security(self, kind: str, user: str = "tidemark", **others: Any) -> dict[str, Any]:
        """What is right for this kind of gateway; others: in its place, None for leaving it out."""
        right: dict[str, Any] = {}
        if kind.startswith("https"):
            right["tls"] = {"ca": str(self.authority.certificate)}
        if kind.endswith("spnego"):
            right["kerberos"] = {"keytab": {"file": str(self.keytabs[user])}}
        return {name: value for name, value in {**right, **others}.items() if value is not None}

    def http_daemon(self, name: str, kind: str, security: Mapping[str, Any], *, address: Optional[str] = None,
                    tables: Optional[Mapping[str, Any]] = None, changes: Optional[Mapping[str, Any]] = None) -> Daemon:
        return self.daemon(name, gateways=[address or self.gateways[kind].address], tables=tables,
                           changes=merged({"hbase": dict(security)}, changes or {}))

    @long
    def test_each_kind(self) -> None:
        """Tables are created, written and read back over each."""
        self.create_topic(2)
        n_messages = self.simulate("--readings", "1000", "--machines", "20", "--metrics", "3", "--late", "2%")
        for kind in KINDS:
            with self.subTest(kind=kind):
                self.check_kind(kind, n_messages)

    def check_kind(self, kind: str, n_messages: int) -> None:
        history, latest = (f"{table}_{kind.replace('-', '_')}" for table in (self.history, self.latest))
        self.drop_later(history, latest)
        daemon = self.http_daemon(kind, kind, self.security(kind), tables=metric_tables(history, latest),
                                  changes={"kafka": {"group": f"{self.name}-{kind}"}})
        self.command("tables", "create", "--config", str(daemon.config_path))
        self.assertIn("thrift2, HTTP, binary", self.command("check", "--config", str(daemon.config_path)))
        daemon.start("--until-end")
        self.assertEqual(daemon.wait_end(), 0, daemon.log_tail())
        self.assertEqual(daemon.committed(), n_messages)
        self.assert_tables_hold_what_was_sent(history, latest)
        shown = self.command("scan", "--config", str(daemon.config_path), history, "--format", "json")
        self.assertEqual(len(shown.splitlines()), 1000)

    def test_main_job_on_behalf_of_another(self) -> None:
        """HTTPS, SPNEGO and doAs; kill -9 of the daemon half way, and of the gateway: content exact, everything committed."""
        self.create_topic(6)
        self.create_tables(splits=(b"server0100", b"server0200"))
        gateway = self.gateways["https-spnego"]
        security = self.security("https-spnego", PROXY_USER, http={"do_as": OTHER_USER})
        daemon = self.http_daemon("daemon", "https-spnego", security)
        daemon.start()
        simulation = self.simulate_in_background(*FLOW, *SLOWLY)
        daemon.wait_metric(WRITTEN, 6_000)
        self.assertGreater(daemon.metric("tidemark_gateway_certificate_end_timestamp_seconds"), 0)
        daemon.kill9()
        daemon.start()
        daemon.wait_metric(WRITTEN, 3_000)
        gateway.kill9()
        try:
            wait_until(lambda: daemon.metric("tidemark_gateway_up") == 0, "the gateway still counts as up")
        finally:
            gateway.start()
        n_messages = self.finish(simulation)
        daemon.wait_committed(n_messages)
        self.assert_tables_hold_what_was_sent()
        self.assert_accounting_balances(daemon)
        self.assertEqual(daemon.stop(), 0)

    def check_refused(self, name: str, kind: str, words: str, security: Mapping[str, Any], address: Optional[str] = None) -> None:
        """`check` has a sentence with these words."""
        with self.subTest(name):
            config = self.http_daemon(name, kind, security, address=address).config_path
            done = self.run_command("check", "--config", str(config))
            self.assertEqual(done.returncode, EX_UNAVAILABLE, done.stdout + done.stderr)
            self.assertIn(words, done.stdout)

    def test_what_is_wrong(self) -> None:
        """Each mistake is one sentence."""
        self.create_topic(1)
        stranger = Authority(self.work / "stranger", "other authority")
        ca = str(self.authority.certificate)
        port = self.gateways["http"].port
        spnego_port = self.gateways["http-spnego"].port
        self.check_refused("unknown-ca", "https", "who is not in 'hbase.tls.ca'", {"tls": {"ca": str(stranger.certificate)}})
        self.check_refused("no-ca", "https", "whom this system does not know", {})
        self.check_refused("wrong-host", "https", "not for 'other.example'", {"tls": {"ca": ca, "server_name": "other.example"}})
        self.check_refused("plain-client", "http", f"'http://localhost:{port}'", {}, f"localhost:{port}")
        self.check_refused("tls-on-plain", "http", "does not answer in TLS", {"tls": {"ca": ca}}, f"https://localhost:{port}")
        self.check_refused("no-ticket", "http-spnego", "set 'hbase.kerberos'", {})
        self.check_refused("empty-cache", "http-spnego", "there is no ticket",
                           {"kerberos": {"cache": f"FILE:{self.work / 'no-such-cache'}"}})
        self.check_refused("wrong-name", "http-spnego", "set 'http.host'", self.security("http-spnego"),
                           f"http://127.0.0.1:{spnego_port}")
        self.check_refused("do-as-refused", "https-spnego", "does not let us write as 'other'",
                           self.security("https-spnego", http={"do_as": OTHER_USER}))
        self.check_refused("do-as-unknown", "http", "set 'hbase.thrift.support.proxyuser'", {"http": {"do_as": OTHER_USER}})

    def test_https_example(self) -> None:
        """The file for this kind of cluster, with the stack's addresses and keys put in."""
        self.drop_later("METRIC")
        self.create_topic(1, "metrics")
        text = EXAMPLE.read_text(encoding="utf-8")
        address = self.gateways["https-spnego"].address
        for written, meant in (('"127.0.0.1:9092"', f'"{self.stack.kafka.address}"'),
                               ("https://hb1.example.com:9095/", address),
                               ("/etc/tidemark/gateway-ca.pem", str(self.authority.certificate)),
                               ("/etc/tidemark/tidemark.keytab", str(self.keytabs[PROXY_USER])),
                               ("do_as: ingest", f"do_as: {OTHER_USER}")):
            self.assertEqual(text.count(written), 1, written)
            text = text.replace(written, meant)
        config = self.work / "kerberised-https.yaml"
        config.write_text(text, encoding="utf-8")
        self.command("tables", "create", "--config", str(config))
        self.command("check", "--config", str(config))

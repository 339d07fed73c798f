"""Gateways behind TLS, by a real proxy: the main job, and what is wrongly set up."""

from pathlib import Path
from typing import Any, Mapping, Optional

from case import EX_UNAVAILABLE, Case
from certificates import Authority
from daemon import wait_until
from tls_proxy import TlsProxy

EXAMPLE = Path(__file__).resolve().parents[2] / "config" / "examples" / "clusters" / "tls-proxy.yaml"
FLOW = ("--readings", "30000", "--machines", "300", "--metrics", "5", "--late", "2%", "--repeat", "1%", "--shuffle", "50")
WRITTEN = "tidemark_messages_written_total"


class Tls(Case):

    def setUp(self) -> None:
        super().setUp()
        self.authority = Authority(self.work / "authority", "stack authority")
        self.server = self.authority.sign("server")
        self.client = self.authority.sign("client", "DNS:tidemark")

    def proxy(self, name: str, certificate: Path, *, mutual: bool = False, gateway: int = 0) -> TlsProxy:
        proxy = TlsProxy(self.work, name, self.stack.gateways[gateway].address, certificate,
                         client_authority=self.authority.certificate if mutual else None)
        self.addCleanup(proxy.kill9)
        proxy.start()
        return proxy

    def tls(self, certificate: Optional[Path] = None, **others: str) -> dict[str, Any]:
        """`hbase.tls`, with our own certificate or without."""
        own = {} if certificate is None else {"certificate": str(certificate), "key": {"file": str(certificate.with_suffix(".key"))}}
        return {"ca": str(self.authority.certificate), **own, **others}

    def check_refused(self, name: str, address: str, tls: Optional[Mapping[str, Any]], *words: str) -> None:
        """`check` says in one sentence what to change."""
        config = self.daemon(name, gateways=[address], changes={"hbase": {"tls": tls}} if tls else None).config_path
        done = self.run_command("check", "--config", str(config))
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, EX_UNAVAILABLE, text)
        lines = [line for line in text.splitlines() if address in line]
        self.assertEqual(len(lines), 1, text)
        for word in words:
            self.assertIn(word, lines[0])

    def test_main_job_over_mutual_tls(self) -> None:
        """kill -9 of the daemon, and of a proxy, half way: content exact, everything committed."""
        self.create_topic(6)
        self.create_tables(splits=(b"server0100", b"server0200"))
        proxies = [self.proxy(f"proxy-{i}", self.server, mutual=True, gateway=i) for i in range(2)]
        daemon = self.daemon(gateways=[proxy.address for proxy in proxies], changes={"hbase": {"tls": self.tls(self.client)}})
        daemon.start()
        simulation = self.simulate_in_background(*FLOW, "--rate", "5000")
        daemon.wait_metric(WRITTEN, 8_000)
        for whose in ("gateway", "own"):
            self.assertGreater(daemon.metric(f"tidemark_{whose}_certificate_end_timestamp_seconds"), 0)
        proxies[0].kill9()
        daemon.wait_metric(WRITTEN, 14_000)
        proxies[0].start()
        self.assert_in_the_middle(simulation, daemon)
        daemon.kill9()

        daemon.start()
        n_messages = self.finish(simulation)
        daemon.wait_committed(n_messages)
        self.assert_tables_hold_what_was_sent()
        self.assert_accounting_balances(daemon)
        self.assertEqual(daemon.stop(), 0)

    def test_tls_example(self) -> None:
        """The file for this kind of cluster, with the stack's addresses and certificates put in."""
        self.drop_later("METRIC")
        self.create_topic(1, "metrics")
        text = EXAMPLE.read_text(encoding="utf-8")
        proxies = [self.proxy(f"proxy-{i}", self.server, mutual=True, gateway=i) for i in range(2)]
        for written, meant in (('"127.0.0.1:9092"', f'"{self.stack.kafka.address}"'),
                               ("thrift+tls://hb1.example.com:9095", proxies[0].address),
                               ("thrift+tls://hb2.example.com:9095", proxies[1].address),
                               ("/etc/tidemark/gateway-ca.pem", str(self.authority.certificate)),
                               ("/etc/tidemark/tidemark.pem", str(self.client)),
                               ("key: { file: /etc/tidemark/tidemark.key }", f'key: {{ file: {self.client.with_suffix(".key")} }}')):
            self.assertEqual(text.count(written), 1, written)
            text = text.replace(written, meant)
        config = self.work / "tls-proxy.yaml"
        config.write_text(text, encoding="utf-8")
        self.command("tables", "create", "--config", str(config))
        self.command("check", "--config", str(config))

    def test_what_is_wrong_with_tls(self) -> None:
        """Each mistake is one sentence."""
        self.create_topic(1)
        stranger = Authority(self.work / "stranger", "other authority").sign("stranger", "DNS:stranger")
        plain = self.proxy("tls", self.server)
        mutual = self.proxy("mutual", self.server, mutual=True)
        wrong_host = self.proxy("wrong-host", self.authority.sign("host", "DNS:other.example"))
        expired = self.proxy("expired", self.authority.sign("expired", expired=True))
        known = self.tls()
        other_ca = {"ca": str(stranger.parent / "ca.pem")}
        port = self.stack.gateways[0].port
        self.check_refused("plain-client", plain.plain_address, None, "speaks TLS", plain.address)
        self.check_refused("plain-client-mutual", mutual.plain_address, None, "speaks TLS", mutual.address)
        self.check_refused("plain-port", f"thrift+tls://localhost:{port}", known, "it may be a plain port")
        self.check_refused("unknown-ca", plain.address, other_ca, "was signed by 'CN = stack authority', who is not in")
        self.check_refused("no-ca", plain.address, None, "whom this system does not know")
        self.check_refused("wrong-host", wrong_host.address, known, "is for 'DNS:other.example', not for 'localhost'")
        self.check_refused("expired", expired.address, known, "has expired", "good until Feb  1 00:00:00 2020 GMT")
        self.check_refused("no-certificate", mutual.address, known, "asks for a certificate of ours")
        self.check_refused("stranger", mutual.address, self.tls(stranger), "does not know who signed our certificate")

    def test_certificate_is_renewed(self) -> None:
        """A certificate of ours that was not accepted is replaced: the daemon goes on without a restart."""
        self.create_topic(1)
        self.create_tables()
        stranger = Authority(self.work / "stranger", "other authority").sign("stranger", "DNS:tidemark")
        own = self.work / "own.pem"
        own.write_bytes(stranger.read_bytes())
        own.with_suffix(".key").write_bytes(stranger.with_suffix(".key").read_bytes())
        own.with_suffix(".key").chmod(0o600)
        proxy = self.proxy("mutual", self.server, mutual=True)
        daemon = self.daemon(gateways=[proxy.address], changes={"hbase": {"tls": self.tls(own)}})
        n_messages = self.simulate("--readings", "100", "--machines", "5")
        daemon.start()
        wait_until(lambda: "does not know who signed our certificate" in daemon.log_tail(), daemon.log_tail)
        own.write_bytes(self.client.read_bytes())
        own.with_suffix(".key").write_bytes(self.client.with_suffix(".key").read_bytes())
        daemon.wait_committed(n_messages)
        self.assert_tables_hold_what_was_sent()
        self.assertEqual(daemon.stop(), 0)

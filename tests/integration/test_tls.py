"""Gateways behind TLS, by a real proxy: the main job, and what is wrongly set up."""


import links
from case import WRITTEN, long
from daemon import wait_until
from link_case import LinkCase
from links import Link



class Tls(LinkCase):

    def test_main_job_over_mutual_tls(self) -> None:
        """kill -9 of the daemon, and of a proxy, half way: content exact, everything committed."""
        self.create_topic(6)
        self.create_tables(splits=(b"server0100", b"server0200"))
        proxies = [self.links.proxy(f"proxy-{i}", self.stack.gateways[i], self.links.server, mutual=True) for i in range(2)]
        daemon = self.daemon(gateways=[proxy.address for proxy in proxies],
                             changes={"hbase": {"tls": self.links.tls(self.links.client)}})
        simulation = self.begin_flow(daemon, 8_000)
        for whose in ("gateway", "client"):
            self.assertGreater(daemon.metric(f"tidemark_{whose}_certificate_expiry_timestamp_seconds"), 0)
        proxies[0].kill9()
        daemon.wait_metric(WRITTEN, 14_000)
        proxies[0].start()
        self.assert_in_the_middle(simulation, daemon)
        daemon.kill9()

        daemon.start()
        self.end_flow(simulation, daemon)

    def test_tls_example(self) -> None:
        """The file for this kind of cluster, with the stack's addresses and certificates put in."""
        proxies = [self.links.proxy(f"example-{i}", self.stack.gateways[i], self.links.server, mutual=True) for i in range(2)]
        own = self.links.client
        config = self.create_by_example(
            "tls-proxy.yaml",
            ("thrift+tls://hb1.example.com:9095", proxies[0].address),
            ("thrift+tls://hb2.example.com:9095", proxies[1].address),
            ("/etc/tidemark/tidemark.pem", str(own)),
            ("key: { file: /etc/tidemark/tidemark.key }", f'key: {{ file: {own.with_suffix(".key")} }}'))
        self.command("check", "--config", config)

    def test_what_is_wrong_with_tls(self) -> None:
        """Each mistake is one sentence."""
        self.create_topic(1)
        mutual = self.links.get("mutual-tls")
        self.check_certificates(mutual)
        self.check_refused(mutual, "plain client", "speaks TLS", address=mutual.plain_address, security={})

    @long
    def test_certificates_of_each_link(self) -> None:
        """Over all that TLS is part of, HTTPS as well."""
        self.create_topic(1)
        for link in self.links.get_all(*links.ENCRYPTED):
            self.check_certificates(link)

    def check_certificates(self, link: Link) -> None:
        other_ca = {"hbase": {"tls": {"ca": str(self.links.stranger.certificate)}}}
        self.check_refused(link, "wrong CA", "was signed by 'CN = stack authority', which is not in", changes=other_ca)
        self.check_refused(link, "no CA", "which this system does not trust", changes={"hbase": {"tls": {"ca": None}}})
        wrong_host = self.links.address_behind(link, "wrong-host", self.links.wrong_host)
        self.check_refused(link, "wrong host", "is for 'DNS:other.example', not for 'localhost'", address=wrong_host)
        expired = self.links.address_behind(link, "expired", self.links.expired)
        self.check_refused(link, "expired certificate", "was valid until Feb  1 00:00:00 2020 GMT", address=expired)
        if link.name == "mutual-tls":
            self.check_refused(link, "no certificate of ours", "requires a client certificate",
                               security={"tls": self.links.tls()})
            self.check_refused(link, "own certificate of another CA", "does not trust the issuer of tidemark's certificate",
                               security={"tls": self.links.tls(self.links.strangers_client)})

    def test_certificate_is_renewed(self) -> None:
        """A certificate of ours that was not accepted is replaced: the daemon goes on without a restart."""
        self.create_topic(1)
        self.create_tables()
        link = self.links.get("mutual-tls")
        own = self.work / "own.pem"
        for path in (own, own.with_suffix(".key")):
            path.write_bytes(self.links.strangers_client.with_suffix(path.suffix).read_bytes())
            path.chmod(0o600)
        daemon = self.linked(link, security={"tls": self.links.tls(own)})
        n_messages = self.simulate("--readings", "100", "--devices", "5")
        daemon.start()
        wait_until(lambda: "does not trust the issuer of tidemark's certificate" in daemon.log_tail(), daemon.log_tail)
        for path in (own, own.with_suffix(".key")):
            path.write_bytes(self.links.client.with_suffix(path.suffix).read_bytes())
        daemon.wait_committed(n_messages)
        self.assert_tables_hold_what_was_sent()
        self.assertEqual(daemon.stop(), 0)

"""Gateways that are set to HTTP and HTTPS, with SPNEGO and without: the main job, and what is wrongly set up."""

from __future__ import annotations

from pathlib import Path

import links
from case import EX_CONFIG, long
from daemon import wait_until
from http_gateway import OTHER_USER, PROXY_USER
from link_case import JSON_LOG, LinkCase, troubles

# A connection that both sides have open, in /proc/net/tcp.
ESTABLISHED = "01"


def connections(port: int) -> set[str]:
    """Our sides of those to this port that the other side has not closed."""
    lines = (line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:])
    return {line[1] for line in lines if int(line[2].rsplit(":", 1)[1], 16) == port and line[3] == ESTABLISHED}


class Http(LinkCase):

    def test_main_job_on_behalf_of_another(self) -> None:
        """Over HTTPS, SPNEGO and doAs."""
        self.check_main_job(self.links.get("https-spnego-doas"))

    def test_what_is_wrong(self) -> None:
        """Each mistake is one sentence."""
        self.create_topic(1)
        http, spnego, doas = self.links.get_all("http", "http-spnego", "https-spnego-doas")
        self.check_refused(http, "plain client", f"'http://{http.plain_address}'", address=http.plain_address)
        self.check_refused(http, "HTTPS client", "does not answer in TLS", address=f"https://{http.plain_address}",
                           security={"tls": self.links.tls()})
        self.check_refused(spnego, "no Kerberos", "set 'hbase.kerberos'", security={})
        self.check_refused(spnego, "address for a name", "set 'hbase.http.host'",
                           address=spnego.address.replace("localhost", "127.0.0.1"))
        self.check_refused(doas, "doAs refused", f"does not allow tidemark to write as '{OTHER_USER}'",
                           security={**doas.security, "kerberos": self.links.kerberos()})
        other = {"http": {"do_as": OTHER_USER}}
        self.check_refused(http, "doAs unknown", "set 'hbase.thrift.support.proxyuser'",
                           security={**other, "kerberos": self.links.kerberos()})
        self.check_refused(http, "doAs of nobody", "'hbase.http.do_as' needs 'hbase.kerberos'", code=EX_CONFIG,
                           security=other)

    @long
    def test_idle_gateways_are_opened_again(self) -> None:
        """They hang up after 30 s without a request: the next one goes over a new connection, and nobody hears of it."""
        self.create_topic(1)
        all_alone = [self.linked_alone(link, {"hbase": {"idle_ping": "55s"}, **JSON_LOG})
                     for link in self.links.get_all(*links.HTTP)]
        for alone in all_alone:
            alone.daemon.start()
            alone.daemon.wait_ready()
        n_messages = self.simulate("--readings", "100", "--devices", "10")
        for alone in all_alone:
            alone.daemon.wait_committed(n_messages)
        opened = {alone.link.gateway.port: connections(alone.link.gateway.port) for alone in all_alone}
        sent_before = self.sent.read_text(encoding="utf-8")
        for port, first in opened.items():
            self.assertTrue(first)
            wait_until(lambda: first.isdisjoint(connections(port)), "the gateway does not hang up")
        n_messages += self.simulate("--readings", "100", "--devices", "10", "--seed", "2", "--start-time", "2015-03-17")
        self.sent.write_text(sent_before + self.sent.read_text(encoding="utf-8"), encoding="utf-8")
        for alone in all_alone:
            with self.situation(alone.link, "idle 30 s, then a write") as seen:
                self.assert_alone_holds_what_was_sent(alone, n_messages)
                self.assertEqual(troubles(alone.daemon), [])
                seen.append("missing 0, no warning")

    def test_https_example(self) -> None:
        """The file for this kind of cluster, with the stack's addresses and keys put in."""
        config = self.create_by_example(
            "kerberised-https.yaml",
            ("https://hb1.example.com:9095/", self.links.get("https-spnego-doas").address),
            ("file: /etc/tidemark/tidemark.keytab", f"file: {self.links.keytabs[PROXY_USER]}"),
            ("do_as: ingest", f"do_as: {OTHER_USER}"))
        self.assertIn(f"on behalf of '{OTHER_USER}'", self.command("check", "--config", config))

"""Gateways that ask for Kerberos, by SASL and by SPNEGO: the main job over them, and what can go wrong."""

from __future__ import annotations

import time

import links
from case import EX_CONFIG, WRITTEN, long
from daemon import wait_until
from link_case import JSON_LOG, LinkCase, troubles
from links import QOP, Link

# A KDC that hangs holds its client for a minute; nobody may wait for that.
HANG_DEADLINE_S = 40

# Of six tickets, one after the other.
LOAD_S = 120


class Kerberos(LinkCase):

    def test_main_job_encrypted(self) -> None:
        """Over messages that are encrypted by Kerberos."""
        self.check_main_job(self.links.get("sasl-auth-conf"))

    def test_each_mistake_has_its_sentence(self) -> None:
        for link in self.links.get_all("sasl-auth-conf", "http-spnego"):
            self.check_mistakes(link)
        self.check_layers(self.links.get("sasl-auth-conf"))

    def test_kdc_down_and_hanging(self) -> None:
        self.check_kdc(self.links.get("sasl-auth-conf"))

    @long
    def test_mistakes_over_each_link(self) -> None:
        for link in self.links.get_all(*links.KERBERISED):
            self.check_mistakes(link)
            self.check_kdc(link)
            if link.name in QOP:
                self.check_layers(link)

    def check_mistakes(self, link: Link) -> None:
        user = "proxy" if link.name.endswith("doas") else "tidemark"
        is_sasl = link.name in links.SASL
        service, block = ("thrift", "sasl") if is_sasl else ("HTTP", "http")
        self.check_refused(link, "no ticket", "there is no ticket in the ticket cache",
                           changes={"hbase": {"kerberos": {"keytab": None, "cache": f"FILE:{self.work / 'no-cache'}"}}})
        self.check_refused(link, "no keytab", "No such file or directory", code=EX_CONFIG,
                           changes={"hbase": {"kerberos": {"keytab": {"file": "/nowhere.keytab"}}}})
        self.check_refused(link, "wrong keytab", "differs from the KDC's: each 'ktadd' creates new keys",
                           changes={"hbase": {"kerberos": {"keytab": {"file": str(self.links.stale_keytab)}}}})
        self.check_refused(link, "wrong principal", f"has no key of the principal 'nobody@TIDEMARK.TEST', but of "
                           f"'{user}@TIDEMARK.TEST'", code=EX_CONFIG, changes={"hbase": {"kerberos": {"principal": "nobody"}}})
        self.check_refused(link, "unknown service host", f"the KDC does not know '{service}/nowhere': set 'hbase.{block}.",
                           changes={"hbase": {block: {"host": "nowhere"}}})
        if is_sasl:
            self.check_refused(link, "another service", "it could not use the ticket for 'hbase/localhost'",
                               changes={"hbase": {"sasl": {"service": "hbase"}}})

    def check_layers(self, link: Link) -> None:
        """Asked for another layer than the gateway's."""
        right = QOP[link.name]
        for layer in sorted({*QOP.values()} - {right}):
            self.check_refused(link, f"client wants {layer}", f"requires '{right}'",
                               changes={"hbase": {"sasl": {"qop": layer}}})

    def check_kdc(self, link: Link) -> None:
        """Each is told as what it is, within seconds."""
        door = self.links.realm.door
        self.addCleanup(door.open)
        door.shut()
        self.check_refused(link, "KDC down", "no KDC answers")
        door.open()
        door.hang()
        started = time.monotonic()
        self.check_refused(link, "KDC hanging", "the KDC did not answer within")
        self.assertLess(time.monotonic() - started, HANG_DEADLINE_S)
        door.open()

    @long
    def test_tickets_that_expire_are_renewed(self) -> None:
        """Tickets of 20 s, connections of 5 s at the most, 2 minutes of load: nothing that an operator has to read."""
        self.create_topic(2)
        for user in ("tidemark", "proxy"):
            self.links.realm.administrate(f"modprinc -maxlife 20s {user}")
            self.addCleanup(self.links.realm.administrate, f"modprinc -maxlife 10h {user}")
        all_alone = [self.linked_alone(link, {"hbase": {"max_connection_age": "5s"}, **JSON_LOG})
                     for link in self.links.get_all(*links.KERBERISED)]
        for alone in all_alone:
            alone.daemon.start()
        simulation = self.simulate_in_background("--readings", str(LOAD_S * 200), "--devices", "50", "--metrics", "3",
                                                 "--rate", "200")
        n_messages = self.finish(simulation, load_s=LOAD_S)
        for alone in all_alone:
            with self.situation(alone.link, "tickets of 20 s renewed") as seen:
                self.assert_alone_holds_what_was_sent(alone, n_messages)
                self.assertEqual(troubles(alone.daemon), [])
                seen.append("missing 0, no warning")

    @long
    def test_hanging_kdc_delays_nobody_else(self) -> None:
        """A gateway comes back while the KDC hangs and tickets have expired: open connections to the other take all."""
        self.create_topic(2)
        self.create_tables()
        auth, other = self.links.get_all("sasl-auth", "sasl-auth-int")
        short = self.links.realm.add("brief", life="10s")
        security = {**auth.security, "sasl": {"service": "thrift"}, "kerberos": {"keytab": {"file": str(short)}}}
        daemon = self.linked(auth, security=security, changes={"hbase": {"gateways": [auth.address, other.address]}})
        daemon.start()
        simulation = self.simulate_in_background("--readings", "6000", "--devices", "50", "--metrics", "3", "--rate", "200")
        wait_until(lambda: daemon.metric("tidemark_gateway_up") == 2, "not both gateways are up")
        daemon.wait_metric(WRITTEN, 500)
        self.addCleanup(self.links.realm.door.open)
        self.links.realm.door.hang()
        other.gateway.kill9()
        other.gateway.start()
        n_messages = self.finish(simulation)
        daemon.wait_committed(n_messages)
        wait_until(lambda: "the KDC did not answer within" in daemon.log_text(), "nobody waited for the KDC")
        self.links.realm.door.open()
        wait_until(lambda: daemon.metric("tidemark_gateway_up") == 2, daemon.log_tail)
        self.assert_tables_hold_what_was_sent()
        self.assert_accounting_balances(daemon)
        self.assertEqual(daemon.stop(), 0)

"""Gateways that ask for Kerberos, by SASL, in each of its layers: the main job over them, and what can go wrong."""

from __future__ import annotations

import json
import os
import time
import unittest
from pathlib import Path
from typing import Any, Mapping, Optional

from case import EX_CONFIG, EX_UNAVAILABLE, Case, long
from daemon import Daemon, merged, metric_tables, wait_until
from kerberos_realm import Realm
from sasl_gateway import PRINCIPAL, SERVICE, SaslGateway
from stack import free_port
from test_main_job import FLOW, SLOWLY, WRITTEN

LAYERS = ("auth", "auth-int", "auth-conf")

# A KDC that hangs holds its client for a minute; nobody may wait for that.
HANG_DEADLINE_S = 40


class KerberosCase(Case):
    """A realm, and a gateway of each layer on the stack's HBase, which has no Kerberos itself."""

    realm: Realm
    keytab: Path
    gateways: dict[str, SaslGateway]

    @classmethod
    def setUpClass(cls) -> None:
        if not Realm.is_installed():
            raise unittest.SkipTest("krb5-kdc and krb5-admin-server are not installed")
        directory = cls.directory / cls.__name__
        cls.realm = Realm(directory / "realm")
        cls.enterClassContext(cls.realm)
        os.environ["KRB5_CONFIG"] = str(cls.realm.client_configuration)
        cls.addClassCleanup(os.environ.pop, "KRB5_CONFIG")
        cls.keytab = cls.realm.add("tidemark")
        service_keytab = cls.realm.add(PRINCIPAL)
        cls.realm.add("hbase/localhost")  # a gateway gets a ticket for HBase before it learns that it needs none
        cls.gateways = {}
        for index, qop in enumerate(LAYERS):
            gateway = SaslGateway(directory, index, cls.stack.hbase.zookeeper_port, free_port(), realm=cls.realm,
                                  keytab=service_keytab, qop=qop)
            cls.addClassCleanup(gateway.kill9)
            gateway.launch()
            cls.gateways[qop] = gateway
        for gateway in cls.gateways.values():
            gateway.await_ready()

    def kerberised(self, name: str, *layers: str, sasl: Optional[Mapping[str, Any]] = None,
                   kerberos: Optional[Mapping[str, Any]] = None, gateways: Optional[list[str]] = None,
                   tables: Optional[Mapping[str, Any]] = None, changes: Optional[Mapping[str, Any]] = None) -> Daemon:
        """A daemon on the gateways of these layers; sasl, kerberos: in place of what is right."""
        security = {"hbase": {"sasl": {"service": SERVICE} if sasl is None else sasl,
                              "kerberos": {"keytab": {"file": str(self.keytab)}} if kerberos is None else kerberos}}
        return self.daemon(name, gateways=gateways or [self.gateways[layer].address for layer in layers], tables=tables,
                           changes=merged(security, changes or {}))


class Layers(KerberosCase):

    @long
    def test_each_layer(self) -> None:
        """Tables are created, written and read back over each, by a name's ticket from a keytab, without kinit."""
        self.create_topic(2)
        n_messages = self.simulate("--readings", "1000", "--machines", "20", "--metrics", "3", "--late", "2%")
        for layer in LAYERS:
            with self.subTest(layer=layer):
                self.check_layer(layer, n_messages)

    def check_layer(self, layer: str, n_messages: int) -> None:
        history, latest = (f"{table}_{layer.replace('-', '_')}" for table in (self.history, self.latest))
        self.drop_later(history, latest)
        daemon = self.kerberised(layer, layer, sasl={"service": SERVICE, "qop": layer}, tables=metric_tables(history, latest),
                                 changes={"kafka": {"group": f"{self.name}-{layer}"}})
        self.command("tables", "create", "--config", str(daemon.config_path))
        self.assertIn("thrift2, SASL, binary", self.command("check", "--config", str(daemon.config_path)))
        daemon.start("--until-end")
        self.assertEqual(daemon.wait_end(), 0, daemon.log_tail())
        self.assertEqual(daemon.committed(), n_messages)
        self.assert_tables_hold_what_was_sent(history, latest)
        shown = self.command("scan", "--config", str(daemon.config_path), history, "--format", "json")
        self.assertEqual(len(shown.splitlines()), 1000)

    def test_main_job_encrypted(self) -> None:
        """kill -9 of the daemon half way, and of the gateway: content exact, everything committed."""
        self.create_topic(6)
        self.create_tables(splits=(b"server0100", b"server0200"))
        gateway = self.gateways["auth-conf"]
        daemon = self.kerberised("daemon", "auth-conf")
        daemon.start()
        simulation = self.simulate_in_background(*FLOW, *SLOWLY)
        daemon.wait_metric(WRITTEN, 6_000)
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


class Troubles(KerberosCase):

    def check_refused(self, name: str, words: str, *, layer: str = "auth-conf", code: int = EX_UNAVAILABLE,
                      **options: Any) -> None:
        """`check` has a sentence with these words."""
        with self.subTest(name):
            config = self.kerberised(name, layer, **options).config_path
            done = self.run_command("check", "--config", str(config))
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            self.assertIn(words, done.stdout + done.stderr)

    def test_each_mistake_has_its_sentence(self) -> None:
        stale = self.realm.add("stale")
        self.realm.administrate("cpw -randkey stale")
        keytab = {"file": str(self.keytab)}
        self.check_refused("missing-keytab", "No such file or directory", kerberos={"keytab": {"file": "/nowhere.keytab"}},
                           code=EX_CONFIG)
        self.check_refused("wrong-principal", "has no key of the principal 'nobody@TIDEMARK.TEST', but of "
                           "'tidemark@TIDEMARK.TEST'", kerberos={"keytab": keytab, "principal": "nobody"}, code=EX_CONFIG)
        self.check_refused("stale-keytab", "is not the KDC's: each 'ktadd' makes new keys",
                           kerberos={"keytab": {"file": str(stale)}})
        self.check_refused("no-ticket", "there is no ticket in the ticket cache",
                           kerberos={"cache": f"FILE:{self.work / 'cache'}"})
        self.check_refused("other-service", "it could not use the ticket for 'hbase/localhost'", sasl={"service": "hbase"})
        self.check_refused("unknown-host", "the KDC does not know 'thrift/nowhere'",
                           sasl={"service": SERVICE, "host": "nowhere"})
        self.check_refused("wrong-layer", "requires 'auth-conf'", sasl={"service": SERVICE, "qop": "auth-int"})
        self.check_refused("plain-on-sasl", "wants Kerberos (SASL): set 'hbase.sasl.service'",
                           changes={"hbase": {"sasl": None, "kerberos": None}})
        self.check_refused("sasl-on-plain", "gave no answer to the SASL negotiation",
                           gateways=[f"localhost:{self.stack.gateways[0].port}"])

    def test_kdc_down_and_hanging(self) -> None:
        """Each is told as what it is, within seconds."""
        self.addCleanup(self.realm.door.open)
        self.realm.door.shut()
        self.check_refused("down", "no KDC answers")
        self.realm.door.open()
        self.realm.door.hang()
        started = time.monotonic()
        self.check_refused("hanging", "the KDC gave no answer within")
        self.assertLess(time.monotonic() - started, HANG_DEADLINE_S)

    @long
    def test_tickets_that_expire_are_renewed(self) -> None:
        """Tickets of 20 s, connections of 5 s at the most, a minute: nothing that an operator has to read."""
        self.create_topic(2)
        self.create_tables()
        short = self.realm.add("short", life="20s")
        daemon = self.kerberised("daemon", "auth-conf", kerberos={"keytab": {"file": str(short)}},
                                 changes={"hbase": {"max_connection_age": "5s"}, "service": {"log_format": "json"}})
        daemon.start()
        n_messages = self.finish(self.simulate_in_background(
            "--readings", "12000", "--machines", "50", "--metrics", "3", "--rate", "200"))
        daemon.wait_committed(n_messages)
        self.assert_tables_hold_what_was_sent()
        self.assertEqual(daemon.stop(), 0)
        events = [json.loads(line) for line in daemon.log_text().splitlines()]
        ready = next(i for i, event in enumerate(events) if event["message"].startswith("ready: "))
        self.assertLessEqual({event["level"] for event in events[ready:]}, {"info", "notice"}, daemon.log_tail())

    @long
    def test_hanging_kdc_delays_nobody_else(self) -> None:
        """A gateway comes back while the KDC hangs and tickets have expired: open connections to the other take all."""
        self.create_topic(2)
        self.create_tables()
        short = self.realm.add("brief", life="10s")
        daemon = self.kerberised("daemon", "auth", "auth-int", kerberos={"keytab": {"file": str(short)}})
        daemon.start()
        simulation = self.simulate_in_background("--readings", "6000", "--machines", "50", "--metrics", "3", "--rate", "200")
        wait_until(lambda: daemon.metric("tidemark_gateway_up") == 2, "not both gateways are up")
        daemon.wait_metric(WRITTEN, 500)
        self.addCleanup(self.realm.door.open)
        self.realm.door.hang()
        self.gateways["auth-int"].kill9()
        self.gateways["auth-int"].start()
        n_messages = self.finish(simulation)
        daemon.wait_committed(n_messages)
        wait_until(lambda: "the KDC gave no answer within" in daemon.log_text(), "nobody waited for the KDC")
        self.realm.door.open()
        wait_until(lambda: daemon.metric("tidemark_gateway_up") == 2, daemon.log_tail)
        self.assert_tables_hold_what_was_sent()
        self.assert_accounting_balances(daemon)
        self.assertEqual(daemon.stop(), 0)

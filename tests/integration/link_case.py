"""What tests of secured gateways begin with: links of every kind, and what is the same over all of them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import unittest
from pathlib import Path
from typing import Any, Iterator, Mapping, NamedTuple, Optional

from case import EX_UNAVAILABLE, WRITTEN, Case
from daemon import Daemon, merged, metric_tables, wait_until
from kerberos_realm import Realm
from links import Link, Links

Changes = Mapping[str, Any]

EXAMPLES = Path(__file__).resolve().parents[2] / "config" / "examples" / "clusters"

JSON_LOG = {"service": {"log_format": "json"}}


class LinkedAlone(NamedTuple):
    link: Link
    daemon: Daemon
    history: str
    latest: str


class LinkCase(Case):
    """One realm, one authority for all classes; what is seen of a link in a situation goes into the run's table."""

    links: Links

    @classmethod
    def setUpClass(cls) -> None:
        if not Realm.is_installed():
            raise unittest.SkipTest("krb5-kdc and krb5-admin-server are not installed")
        if not hasattr(LinkCase, "links"):
            LinkCase.links = cls.at_end.enter_context(Links(cls.directory / "links", cls.stack))
            cls.at_end.callback(delattr, LinkCase, "links")
        os.environ["KRB5_CONFIG"] = str(cls.links.realm.client_configuration)
        cls.addClassCleanup(os.environ.pop, "KRB5_CONFIG")

    def linked(self, link: Link, name: Optional[str] = None, *, address: Optional[str] = None,
               security: Optional[Changes] = None, tables: Optional[Changes] = None,
               changes: Optional[Changes] = None) -> Daemon:
        """A daemon over this link. security: of `hbase`, in place of what is right; changes: beside it."""
        right = {"hbase": dict(link.security if security is None else security)}
        return self.daemon(name or link.name, gateways=[address or link.address], tables=tables,
                           changes=merged(right, changes or {}))

    def linked_alone(self, link: Link, changes: Optional[Changes] = None, *, topic: Optional[str] = None) -> LinkedAlone:
        """Beside other links in one test: with a group of its own, and tables that it makes."""
        history, latest = (f"{table}_{link.name.replace('-', '_')}" for table in (self.history, self.latest))
        self.drop_later(history, latest)
        own = {"kafka": {"group": f"{self.name}-{link.name}", "topics": [topic or self.name]}}
        daemon = self.linked(link, tables=metric_tables(history, latest), changes=merged(own, changes or {}))
        self.command("tables", "create", "--config", str(daemon.config_path))
        return LinkedAlone(link, daemon, history, latest)

    def assert_alone_holds_what_was_sent(self, alone: LinkedAlone, n_messages: int) -> None:
        """After the end of a daemon that everything has been sent to."""
        alone.daemon.wait_committed(n_messages)
        self.assert_tables_hold_what_was_sent(alone.history, alone.latest)
        self.assertEqual(alone.daemon.stop(), 0)

    @contextlib.contextmanager
    def situation(self, link: Link, name: str) -> Iterator[list[str]]:
        """A cell of the table: what is put into the list. One that fails says so, and does not end the test."""
        seen: list[str] = []
        with self.subTest(transport=link.name, situation=name):
            try:
                yield seen
            except BaseException:
                seen = ["FAILED"]
                raise
            finally:
                self.seen.record(link.name, name, "; ".join(seen) or "ok")

    def check_refused(self, link: Link, situation: str, words: str, *, code: int = EX_UNAVAILABLE,
                      address: Optional[str] = None, **options: Any) -> None:
        """`check` has one sentence with these words. options: as of linked()."""
        with self.situation(link, situation) as seen:
            config = self.linked(link, f"{link.name}-{situation.replace(' ', '-')}", address=address, **options).config_path
            done = self.run_command("check", "--config", str(config))
            text = done.stdout + done.stderr
            self.assertEqual(done.returncode, code, text)
            lines = [line for line in text.splitlines() if words in line]
            self.assertEqual(len(lines), 1, f"'{words}' is in {len(lines)} lines of\n{text}")
            seen.append(_last_column(lines[0]).replace(address or link.address, "GATEWAY"))

    def create_by_example(self, name: str, *replaced: tuple[str, str]) -> str:
        """With the stack's addresses and secrets put into a file of EXAMPLES; returns the file that has them."""
        self.drop_later("METRIC")
        self.create_topic(1, "metrics")
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        for written, meant in (('"127.0.0.1:9092"', f'"{self.stack.kafka.address}"'),
                               ("/etc/tidemark/gateway-ca.pem", str(self.links.authority.certificate)), *replaced):
            self.assertEqual(text.count(written), 1, written)
            text = text.replace(written, meant)
        config = self.work / name
        config.write_text(text, encoding="utf-8")
        self.command("tables", "create", "--config", str(config))
        return str(config)

    def begin_to_write(self, link: Link) -> LinkedAlone:
        """Creates tables, and starts to write what is in the topic to its end."""
        with self.situation(link, "create tables"):
            alone = self.linked_alone(link)
        config = str(alone.daemon.config_path)
        with self.situation(link, "connect") as seen:
            lines = [line for line in self.command("check", "--config", config).splitlines() if link.spoken in line]
            self.assertEqual(len(lines), 1, link.spoken)
            seen.append(_last_column(lines[0]))
        alone.daemon.start("--until-end")
        return alone

    def check_written(self, alone: LinkedAlone, n_messages: int, n_readings: int) -> None:
        """Everything is in the tables, and is read back."""
        link, daemon, config = alone.link, alone.daemon, str(alone.daemon.config_path)
        with self.situation(link, "put"):
            self.assertEqual(daemon.wait_end(), 0, daemon.log_tail())
            self.assertEqual(daemon.committed(), n_messages)
            self.assert_tables_hold_what_was_sent(alone.history, alone.latest)
        with self.situation(link, "scan"):
            shown = self.command("scan", "--config", config, alone.history, "--format", "json")
            self.assertEqual(len(shown.splitlines()), n_readings)

    def check_main_job(self, link: Link) -> None:
        """kill -9 of the daemon half way, and of the gateway: content exact, everything committed."""
        self.create_topic(6)
        self.create_tables(splits=(b"server0100", b"server0200"))
        daemon = self.linked(link)
        simulation = self.begin_flow(daemon, 6_000)
        daemon.kill9()
        daemon.start()
        daemon.wait_metric(WRITTEN, 3_000)
        self.kill_and_restart_gateway(link, daemon)
        self.end_flow(simulation, daemon)

    def kill_and_restart_gateway(self, link: Link, daemon: Daemon) -> None:
        """Returns when it is up again, and the daemon has noticed that it was not."""
        link.gateway.kill9()
        try:
            wait_until(lambda: daemon.metric("tidemark_gateway_up") == 0, "the gateway still counts as up")
        finally:
            link.gateway.start()


def _last_column(line: str) -> str:
    """Of what `check` says of a gateway: behind its address and the verdict."""
    return re.split(r"\s{2,}", line.strip(), maxsplit=3)[-1]


def events(daemon: Daemon) -> list[dict[str, Any]]:
    """What a daemon with JSON_LOG has logged."""
    return [json.loads(line) for line in daemon.log_text().splitlines()]


def troubles(daemon: Daemon) -> list[str]:
    """What an operator has to read of it: above notice, since it was ready."""
    logged = events(daemon)
    ready = next(i for i, event in enumerate(logged) if event["message"].startswith("ready: "))
    return [event["message"] for event in logged[ready:] if event["level"] not in ("info", "notice")]

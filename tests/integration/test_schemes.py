"""The key that a table was written with is remembered, and another one is refused: what every command says of it."""

import os
from typing import Any
from unittest import mock

from case import EX_CONFIG, EX_UNAVAILABLE, Case
from daemon import Daemon

START_MS = 1_426_535_612_045
SCHEME_TABLE = "tidemark_schemes"


class Schemes(Case):

    def setUp(self) -> None:
        super().setUp()
        state = self.work / "state"
        state.mkdir()
        patch = mock.patch.dict(os.environ, {"STATE_DIRECTORY": str(state)})
        patch.start()
        self.addCleanup(patch.stop)
        self.drop_later(self.history, SCHEME_TABLE)

    def salted(self, n_salts: int, **options: Any) -> Daemon:
        tables = {self.history: {"key": [{"salt": n_salts, "of": ["host"]}, "#", {"field": "host"}, "#", {"time": "epoch_ms"}],
                                 "columns": {"family": "M", "from": "*"}}}
        return self.daemon(f"salts-{n_salts}", tables=tables, **options)

    def assert_refused(self, daemon: Daemon, *texts: str) -> None:
        daemon.start()
        self.assertEqual(daemon.wait_end(), EX_CONFIG, daemon.log_tail())
        for text in texts:
            self.assertIn(text, daemon.log_text())

    def differences(self, daemon: Daemon) -> list[str]:
        """What `check` and `tables show` print, each ending with 1."""
        config = ("--config", str(daemon.config_path))
        return [self.command("check", *config, code=1), self.command("tables", "show", *config, code=1)]

    def test_changed_key_of_table_with_rows(self) -> None:
        """Refused by the daemon until it is accepted, and told by the commands; without rows it may change."""
        self.create_topic(1)
        four, eight = self.salted(4), self.salted(8)
        self.command("tables", "create", "--config", str(four.config_path))
        self.send([{"host": f"server{number}", "ts": START_MS, "a": 1} for number in range(20)])
        self.run_to_end(four)
        before = self.cells(self.history)
        self.assertEqual(len(before), 20)
        for command in (("check",), ("tables", "show")):
            self.command(*command, "--config", str(four.config_path))

        schemes = ("scheme 1: salt(4, ", "scheme 1: salt(8, ", "--accept-scheme-change")
        self.assert_refused(eight, self.history, *schemes)
        self.assertEqual(self.cells(self.history), before)
        for text in self.differences(eight):
            for scheme in schemes[:2]:
                self.assertIn(scheme, text)

        self.run_to_end(eight, "--accept-scheme-change")
        self.send([{"host": "server1", "ts": START_MS + 1, "a": 2}])
        self.run_to_end(eight)
        self.assertEqual(len(self.cells(self.history)), 21)
        self.assert_refused(four, *schemes)

        self.stack.oracle.truncate(self.history)
        self.run_to_end(four)
        self.assertIn("which has no rows", four.log_text())

    def test_create_through_framed_gateway(self) -> None:
        """What it cannot make is told as commands of the shell, or made by one beside it that can; the keys of the rest are
        kept in a table of our own."""
        gateway = self.stack.add_gateway(framed=True)
        self.addCleanup(gateway.kill9)
        self.create_topic(1)
        replaced = f"{self.name}_REPLACED"
        self.drop_later(self.latest, replaced)

        def plain(*parts: Any) -> dict[str, Any]:
            return {"latest": "merge", "key": list(parts), "columns": {"family": "M", "from": "*"}}
        tables = {
            self.history: {"key": [{"salt": 3, "of": ["host"]}, "#", {"field": "host"}, "#", {"time": "epoch_ms"}],
                           "columns": {"family": "M", "from": "*"}, "families": {"M": {"compression": "gz"}}},
            replaced: {**plain({"field": "host"}), "latest": "replace"},
            self.latest: plain({"field": "host"}),
        }
        config = ("--config", str(self.daemon(tables=tables, gateways=[gateway.address]).config_path))
        printed = self.command("tables", "create", *config, code=EX_UNAVAILABLE)
        for text in (f"{self.history}: not created", f'create "{self.history}"', "SPLITS => ['1', '2']",
                     f"{replaced}: not created", f'create "{replaced}"', "hbase.hstore.time.to.purge.deletes",
                     f"{self.latest}: created with 1 family and 1 region"):
            self.assertIn(text, printed)
        existing = self.stack.oracle.tables()
        self.assertIn(self.latest, existing)
        self.assertIn(SCHEME_TABLE, existing)
        self.assertNotIn(self.history, existing)
        self.assertNotIn(replaced, existing)
        self.assertEqual(self.cells(SCHEME_TABLE)[(self.latest, "s:scheme")][1], "tidemark scheme 1: field(host)")
        self.command("tables", "show", *config, self.latest)

        # The table holds what is accepted, too: for every host, not only for this one.
        self.send([{"host": "a", "ts": START_MS, "x": 1}])
        self.run_to_end(self.daemon("first", tables={self.latest: tables[self.latest]}, gateways=[gateway.address]))
        changed = self.daemon("changed", tables={self.latest: plain({"field": "host"}, "#")}, gateways=[gateway.address])
        self.assert_refused(changed, SCHEME_TABLE)
        self.run_to_end(changed, "--accept-scheme-change")
        self.run_to_end(changed)
        self.assertEqual(self.cells(SCHEME_TABLE)[(self.latest, "s:scheme")][1], 'tidemark scheme 1: field(host) "#"')

        mixed = self.daemon("mixed", tables={self.history: tables[self.history]},
                            gateways=[gateway.address, self.stack.gateways[0].address])
        self.command("tables", "create", "--config", str(mixed.config_path))
        self.assertEqual([line[1] for line in self.stack.oracle.describe(self.history) if line[0] == "region"],
                         ["", b"1".hex(), b"2".hex()])

"""Latest tables that delete, on real gateways: what HBase itself shows in the end, compacted or not."""

import itertools
import json
import subprocess
import time
from typing import Any

from case import Case
from daemon import DEADLINE_S

MINUTE_MS = 60_000


class LatestModes(Case):

    def tables(self) -> dict[str, Any]:
        return {self.latest: {"latest": "replace", "tombstone": "delete", "key": [{"field": "host"}],
                              "columns": {"family": "M", "from": "*"}}}

    def send_tombstone(self, host: str) -> None:
        """A message without value, its key the host, its time now."""
        subprocess.run(["kcat", "-P", "-q", "-b", self.stack.kafka.address, "-t", self.name, "-p", "0", "-K", "|", "-Z"],
                       input=f"{host}|\n", text=True, check=True, timeout=DEADLINE_S, capture_output=True)

    def write_with(self, address: str) -> None:
        """All that is in the topic and not yet committed, through this gateway."""
        daemon = self.daemon(f"to-{address.rsplit(':', 1)[1]}", gateways=[address], tables=self.tables())
        self.run_to_end(daemon)

    def test_replaced_rows_and_tombstones(self) -> None:
        """Each step through a gateway of another wire format; a major compaction in the middle changes nothing."""
        gateways = [self.stack.gateways[0]]
        for framed, compact in ((True, False), (True, True), (False, True)):
            gateways.append(self.stack.add_gateway(framed=framed, compact=compact))
            self.addCleanup(gateways[-1].kill9)
        self.create_topic(1)
        self.drop_later(self.latest)
        # By an unframed gateway: framed ones spoil the attribute that keeps deletes through compactions.
        creator = self.daemon("creator", gateways=[gateways[0].address], tables=self.tables())
        self.command("tables", "create", "--config", str(creator.config_path))
        now_ms = int(time.time() * 1000) - MINUTE_MS

        self.send([{"host": "newer-first", "ts": now_ms, "a": 2}, {"host": "newer-last", "ts": now_ms - 1000, "a": 1, "b": 1},
                   {"host": "gone", "ts": now_ms, "a": 1}, {"host": "back", "ts": now_ms, "a": 1, "b": 1}])
        self.write_with(gateways[0].address)
        self.send([{"host": "newer-first", "ts": now_ms - 1000, "a": 1, "b": 1}, {"host": "newer-last", "ts": now_ms, "a": 2}])
        self.write_with(gateways[1].address)
        for host in ("gone", "back"):
            self.send_tombstone(host)
        self.write_with(gateways[2].address)
        revived_ms = int(time.time() * 1000) + 1
        self.send([{"host": "back", "ts": revived_ms, "b": 2}])
        self.write_with(gateways[3].address)

        expected = {("newer-first", "M:a"): (now_ms, "2"), ("newer-last", "M:a"): (now_ms, "2"),
                    ("back", "M:b"): (revived_ms, "2")}
        self.assertEqual(self.cells(self.latest), expected)
        self.stack.oracle.major_compact(self.latest)
        self.assertEqual(self.cells(self.latest), expected)
        self.send([{"host": host, "ts": now_ms - 2000, "a": 0, "c": 0} for host in ("newer-first", "newer-last", "gone", "back")])
        self.write_with(gateways[0].address)
        self.assertEqual(self.cells(self.latest), expected)

    def test_field_that_disappears(self) -> None:
        """Every order of arrival, each reading in a call of its own, with and without a major compaction between them."""
        modes = {mode: f"{self.name}_{mode}" for mode in ("merge", "replace", "packed")}
        tables = {table: {"latest": mode, "key": [{"field": "host"}], "columns": {"family": "M", "from": "*"}}
                  for mode, table in modes.items()}
        self.create_topic(1)
        self.drop_later(*tables)
        daemon = self.daemon(tables=tables)
        self.command("tables", "create", "--config", str(daemon.config_path))
        start_ms = int(time.time() * 1000) - MINUTE_MS
        # b is gone from the second reading on, c comes with the last.
        readings = [{"ts": start_ms + step, **fields} for step, fields in enumerate(
            ({"a": "0", "b": "0"}, {"a": "1"}, {"a": "2", "c": "2"}))]
        last_ms = start_ms + 2
        orders = list(itertools.permutations(readings))
        for phase in ("plain", "compacted"):
            for step in range(len(readings)):
                self.send([{"host": f"{phase}-{number}", **order[step]} for number, order in enumerate(orders)])
                self.run_to_end(daemon)
                if phase == "compacted":
                    for table in tables:
                        self.stack.oracle.major_compact(table)
            hosts = [f"{phase}-{number}" for number in range(len(orders))]
            newest = {("M:a", last_ms, "2"), ("M:c", last_ms, "2")}
            for mode, wanted in (("merge", newest | {("M:b", start_ms, "0")}), ("replace", newest)):
                stored = {(row, (column, *cell)) for (row, column), cell in self.cells(modes[mode]).items() if row in hosts}
                self.assertEqual(stored, {(host, cell) for host in hosts for cell in wanted}, f"{mode} {phase}")
            packed = {row: (column, time_ms, json.loads(value)) for (row, column), (time_ms, value)
                      in self.cells(modes["packed"]).items() if row in hosts}
            self.assertEqual(packed, {host: ("M:r", last_ms, {"a": "2", "c": "2"}) for host in hosts}, phase)

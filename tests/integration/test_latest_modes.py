"""Latest tables that delete, on real gateways: what HBase itself shows in the end, compacted or not."""

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
        daemon.start("--until-end")
        self.assertEqual(daemon.wait_end(), 0, daemon.log_tail())

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

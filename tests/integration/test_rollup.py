"""The nightly batch on real Kafka and HBase: a day of 1,000 meters, copied, and copied again."""

import json
from datetime import datetime, timezone
from typing import Any, Iterator

from case import Case

DAY = "2017-07-26"
DAY_START_MS = int(datetime(2017, 7, 26, tzinfo=timezone.utc).timestamp() * 1000)
SLOT_MS = 15 * 60 * 1000
METERS, SLOTS, REGIONS = 1_000, 96, 4
RANGE = METERS * 10


class Rollup(Case):

    def setUp(self) -> None:
        super().setUp()
        self.source = f"{self.name}_SENSOR"
        self.state = self.work / "state"

    def table(self) -> dict[str, Any]:
        return {"key": [{"field": "meter", "width": 10, "pad": "0", "range": [0, RANGE - 1]}, "#", {"time": "yyyyMMdd"}],
                "columns": [{"family": "m", "from": [{"field": "meter", "as": "ID"}]},
                            {"family": "m", "from": ["kwh"], "qualifier": [{"time": "HHmm", "cut": "15m"}]}],
                "families": {"m": {"compression": "gz"}}, "regions": REGIONS}

    @staticmethod
    def readings() -> Iterator[str]:
        """Every slot of the day, and the last and first one of the days beside it."""
        for slot in range(-1, SLOTS + 1):
            for number in range(METERS):
                yield json.dumps({"meter": number * 10, "ts": DAY_START_MS + slot * SLOT_MS + number, "kwh": f"{slot}.{number}"})

    def rollup_words(self, *options: str) -> list[str]:
        return ["rollup", "-c", self.config, self.source, "--day", DAY, "--state", str(self.state), *options]

    def test_rollup(self) -> None:
        daemon = self.daemon(tables={self.source: self.table()})
        self.config = str(daemon.config_path)
        undisturbed = f"{self.source}_20170726"
        self.drop_later(self.source, undisturbed)
        self.create_topic(1)
        self.command("tables", "create", "-c", self.config)
        sent = self.send(self.readings())
        self.run_to_end(daemon)
        oracle = self.stack.oracle
        self.assertEqual(oracle.count(self.source), (METERS * 3, sent + METERS * 3))

        self.command("rollup", "-c", self.config, self.source, "--day", "2150-01-01", code=64)
        printed = self.command(*self.rollup_words())
        self.assertIn("verified: HBase holds 1,000 rows, 97,000 cells", printed)
        whole = oracle.digest(undisturbed)
        self.assertEqual((whole.rows, whole.cells), (METERS, METERS * (SLOTS + 1)))
        wanted = {(cell.row, cell.qualifier, cell.timestamp_ms, cell.value) for cell in oracle.dump(self.source)
                  if cell.row.endswith(b"#20170726")}
        self.assertEqual(wanted, {(cell.row, cell.qualifier, cell.timestamp_ms, cell.value) for cell in oracle.dump(undisturbed)})
        regions = {table: [line[1] for line in oracle.describe(table) if line[0] == "region"] for table in (self.source, undisturbed)}
        self.assertEqual(regions[undisturbed], regions[self.source])
        self.assertEqual(len(regions[undisturbed]), REGIONS)

        read = self.command("scan", "-c", self.config, undisturbed, "meter=70", "-f", "json")
        self.assertEqual(len(json.loads(read)["cells"]), SLOTS + 1, "the copy is read by its source's key")

        with self.subTest("a second run changes nothing, a refresh takes what came later"):
            self.assertIn("is already copied", self.command(*self.rollup_words()))
            self.command(*self.rollup_words("--refresh"))
            self.assertEqual(oracle.digest(undisturbed), whole)
            self.send([json.dumps({"meter": 70, "ts": DAY_START_MS + SLOT_MS - 1, "kwh": "late"})])
            self.run_to_end(daemon)
            self.assertIn("is already copied", self.command(*self.rollup_words()))
            self.assertEqual(oracle.digest(undisturbed), whole)
            self.command(*self.rollup_words("--refresh"))
            late = [cell.value for cell in oracle.dump(undisturbed, b"0000000070", b"0000000071") if cell.qualifier == b"0000"]
            self.assertEqual(late, [b"late"])

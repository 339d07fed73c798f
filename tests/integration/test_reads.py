"""Reads that are more than one range of plain cells: many salts, versions, indexes, packed cells."""

import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

from case import Case
from daemon import DEADLINE_S, Daemon
from jvm_process import spawn

START_MS = 1_426_535_612_045
TIME = {"time": "epoch_ms"}
HOST = {"field": "host"}
HISTORY_KEY = [HOST, "#", TIME]

ROWS_BETWEEN_LOOKS = 1_000

# Pages are bounded, so a result that is ten times as large takes no more; this is for malloc's moods.
MAX_GROWTH_KIB = 20 * 1024


def peak_resident_kib(pid: int) -> int:
    """0 when the process has ended."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) if found else 0


class Reads(Case):

    def prepare(self, tables: dict[str, Any]) -> Daemon:
        """A topic, and the tables, made by tidemark."""
        self.create_topic(1)
        self.drop_later(*tables)
        daemon = self.daemon(tables=tables)
        self.config = ("--config", str(daemon.config_path))
        self.command("tables", "create", *self.config)
        return daemon

    def rows(self, command: str, *words: str, code: int = 0) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.command(command, *self.config, *words, "--format", "json", code=code).splitlines()]

    def values(self, row: dict[str, Any]) -> dict[str, Any]:
        return {cell["qualifier"]: cell["value"] for cell in row["cells"]}

    def scan_measured(self, *words: str) -> tuple[list[str], int]:
        """The row keys that `scan` prints, and the most memory that it had resident, in KiB."""
        rows, peak_kib = [], 0
        with (self.work / "scan.log").open("ab") as log:
            process = spawn([str(self.tidemark), "scan", *self.config, self.history, "--format", "json", *words],
                            dict(os.environ), log, owned=True, stdout=subprocess.PIPE)
        self.addCleanup(process.kill)
        assert process.stdout is not None
        # Looked at while it waits to print the rest: a pipe holds only some hundred rows. (What wait4 tells of a child
        # begins with what this process has.)
        with process.stdout as lines:
            for line in lines:
                rows.append(json.loads(line)["row"])
                if len(rows) % ROWS_BETWEEN_LOOKS == 1:
                    peak_kib = peak_resident_kib(process.pid) or peak_kib
        self.assertEqual(process.wait(DEADLINE_S), 0, (self.work / "scan.log").read_text(encoding="utf-8"))
        return rows, peak_kib

    def test_large_scan_over_sixteen_salts(self) -> None:
        """100,000 rows salted by their time come in its order, in as much memory as 10,000."""
        seconds, machines, salts = 1_000, 100, 16
        daemon = self.prepare({self.history: {"key": [{"salt": salts, "of": [TIME]}, "#", TIME, "#", HOST],
                                              "columns": {"family": "M", "from": "*"}}})
        self.simulate("--readings", str(seconds * machines), "--devices", str(machines), "--metrics", "1",
                      "--start-time", str(START_MS))
        self.run_to_end(daemon)
        wanted = sorted(f"{reading['ts']}#{reading['host']}" for reading in self.sent_readings())
        times = sorted({reading["ts"] for reading in self.sent_readings()})
        self.assertEqual(len(wanted), seconds * machines)
        started = time.monotonic()
        small, small_kib = self.scan_measured("--to", str(times[len(times) // 10]))
        small_s = time.monotonic() - started
        large, large_kib = self.scan_measured()
        large_s = time.monotonic() - started - small_s
        unsalted = [row.split("#", 1)[1] for row in large]
        by_time = [row.split("#")[0] for row in unsalted]
        self.assertEqual(by_time, sorted(by_time))
        self.assertEqual(sorted(unsalted), wanted)
        self.assertEqual(sorted(row.split("#", 1)[1] for row in small), wanted[:len(wanted) // 10])
        print(f"        scan of {len(wanted) // 10:,} rows: {small_kib} KiB, {small_s:.1f} s; "
              f"of {len(wanted):,}: {large_kib} KiB, {large_s:.1f} s", flush=True)
        self.assertLess(large_kib - small_kib, MAX_GROWTH_KIB)

        newest = [row.split("#", 1)[1] for row in self.scan_measured("--newest-first", "--limit", "10")[0]]
        self.assertEqual(len(newest), 10)
        self.assertEqual([row.split("#")[0] for row in newest], 10 * [str(times[-1])])
        self.assertLessEqual(set(newest), set(wanted[-machines:]))

    def test_u1_fields_behind_a_gap(self) -> None:
        """A field that is given restricts the rows, wherever in the key it stands: HBase itself leaves the others out."""
        site, device = {"field": "site"}, {"field": "device"}
        daemon = self.prepare({
            self.history: {"key": [site, "#", device, "#", TIME], "columns": {"family": "M", "from": ["a"]}},
            self.latest: {"latest": "merge", "key": [site, "#", device], "columns": {"family": "M", "from": ["a"]}}})
        readings = [{"site": f"s{number % 7}", "device": f"d{number % 13:02}", "ts": START_MS + 1000 * number, "a": str(number)}
                    for number in range(1_000)]
        self.send(readings)
        self.run_to_end(daemon)

        wanted = [f"{reading['site']}#d05#{reading['ts']}" for reading in readings if reading["device"] == "d05"]
        plan = self.command("scan", *self.config, self.history, "device=d05", "--plan")
        self.assertIn("RowFilter", plan)
        self.assertEqual(sorted(row["row"] for row in self.rows("scan", self.history, "device=d05")), sorted(wanted))
        in_time = [row for row in wanted if int(row.rsplit("#", 1)[1]) < START_MS + 500_000]
        self.assertEqual(sorted(row["row"] for row in self.rows("scan", self.history, "device=d05", "--to", str(START_MS + 500_000))),
                         sorted(in_time))
        self.assertEqual(len(self.rows("scan", self.history, "device=d05", "--limit", "9")), 9)
        self.assertEqual({row["row"] for row in self.rows("latest", self.latest, "device=d05")}, {f"s{site}#d05" for site in range(7)})
        self.assertEqual(self.rows("latest", self.latest, "device=d5"), [])

    def test_versions(self) -> None:
        """A correction is a newer version of the cells of its event time."""
        daemon = self.prepare({self.history: {"key": HISTORY_KEY, "columns": {"family": "M", "from": ["a"]},
                                              "cell_time": {"field": "corrected", "format": "epoch_ms"},
                                              "families": {"M": {"versions": 3}}}})
        self.send([{"host": "x", "ts": START_MS, "corrected": START_MS + 1000 * number, "a": f"v{number}"} for number in (2, 0, 3, 1)])
        self.run_to_end(daemon)

        def versions(*words: str) -> list[tuple[int, str]]:
            row, = self.rows("get", self.history, "host=x", "--time", str(START_MS), *words)
            return [(cell["timestamp_ms"] - START_MS, cell["value"]) for cell in row["cells"]]
        self.assertEqual(versions(), [(3000, "v3")])
        self.assertEqual(versions("--versions", "2"), [(3000, "v3"), (2000, "v2")])
        self.assertEqual(versions("--versions", "9"), [(3000, "v3"), (2000, "v2"), (1000, "v1")])
        self.assertEqual(self.rows("get", self.history, "host=x", "--time", str(START_MS + 1), code=1), [])

    def test_index(self) -> None:
        """The newest row of each of more devices than one call takes, through the index; a row that is gone is told."""
        devices = 1_200
        daemon = self.prepare({
            self.history: {"key": HISTORY_KEY, "columns": {"family": "M", "from": "*"}},
            self.latest: {"latest": "merge", "index_of": self.history, "key": [HOST],
                          "columns": {"family": "I", "from": [{"value": {**TIME, "binary": True}, "as": "ts"}]}}})
        self.send([{"host": f"d{number:04}", "ts": START_MS + step * 1000 + number, "step": str(step)}
                   for step in (1, 2, 0) for number in range(devices)])
        self.run_to_end(daemon)
        stored = self.rows("latest", self.latest)
        self.assertEqual([(row["fields"]["host"], self.values(row)) for row in stored],
                         [(f"d{number:04}", {"step": "2"}) for number in range(devices)])
        self.assertEqual([row["row"] for row in self.rows("latest", self.latest, "host=d0007")], [f"d0007#{START_MS + 2007}"])
        self.assertEqual(len(self.rows("latest", self.latest, "d00")), 100)
        index = {cell.row.decode(): int.from_bytes(cell.value, "big") for cell in self.stack.oracle.dump(self.latest)}
        self.assertEqual(index, {f"d{number:04}": START_MS + 2000 + number for number in range(devices)})

        # The data is gone and the index is not: it leads to nothing.
        self.stack.oracle.truncate(self.history)
        self.assertEqual(self.rows("latest", self.latest, "host=d0007", code=1), [])

    def test_packed_cells(self) -> None:
        """One cell in HBase, columns for who reads; `--column` picks from packed and plain ones."""
        columns = [{"family": "P", "from": ["cpu", "load"], "pack": "msgpack"}, {"family": "M", "from": ["site", "note"]}]
        daemon = self.prepare({
            self.history: {"key": HISTORY_KEY, "columns": columns},
            self.latest: {"latest": "packed", "key": [HOST], "columns": {"family": "J", "from": "*"}}})
        readings = [{"host": host, "ts": START_MS + step, "cpu": step, "load": 0.5, "site": host.upper(), "note": "é"}
                    for host in ("a", "b") for step in range(30)]
        self.send([*readings, {"host": "a", "ts": START_MS + 100, "cpu": 7}])
        self.run_to_end(daemon)
        self.assertEqual(self.stack.oracle.count(self.history), (61, 60 * 3 + 1))
        self.assertEqual(self.stack.oracle.count(self.latest), (2, 2))

        rows = self.rows("scan", self.history, "host=b")
        self.assertEqual([{name: str(value) for name, value in self.values(row).items()} for row in rows],
                         [{"cpu": str(step), "load": "0.5", "site": "B", "note": "é"} for step in range(30)])
        newest = {row["row"]: self.values(row) for row in self.rows("latest", self.latest)}
        self.assertEqual({name: str(value) for name, value in newest["a"].items()}, {"cpu": "7"})
        self.assertEqual({name: str(value) for name, value in newest["b"].items()},
                         {"cpu": "29", "load": "0.5", "site": "B", "note": "é"})

        for column, wanted in (("P:load", {"load": "0.5"}), ("M:site", {"site": "A"}), ("cpu", {"cpu": "3"})):
            row, = self.rows("scan", self.history, "host=a", "--column", column, "--from", str(START_MS + 3),
                             "--to", str(START_MS + 4))
            self.assertEqual({name: str(value) for name, value in self.values(row).items()}, wanted)

        def asked(*words: str) -> list[str]:
            return self.command("scan", *self.config, self.history, "host=a", "--column", "M:site", "--plan", *words).split()
        self.assertLessEqual({"M:site", "P:r"}, set(asked()))
        self.assertNotIn("P:r", asked("--raw"))
        row, = self.rows("scan", self.history, "host=a", "--raw", "--column", "M:site", "--limit", "1")
        self.assertEqual(self.values(row), {"site": "A"})

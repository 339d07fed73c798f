"""The commands that read and make tables, against what HBase's Java client sees; and `tidemark offsets`, on the real Kafka."""

import csv
import io
import json
import re
import shlex
import subprocess
import time
from typing import Any

from case import EX_DATAERR, EX_TEMPFAIL, EX_USAGE, Case
from daemon import Daemon

START_MS = 1_426_535_612_045
N_TIMES = 50
N_MESSAGES = 60  # of each of two partitions, where offsets are moved
HOSTS = ("alpha1", "alpha2", "beta1")

# (row key, column) -> (cell time in ms, value)
Cells = dict[tuple[str, str], tuple[int, str]]


def cells_of_json(text: str) -> Cells:
    return {(row["row"], f"{cell['family']}:{cell['qualifier']}"): (cell["timestamp_ms"], cell["value"])
            for row in map(json.loads, text.splitlines()) for cell in row["cells"]}


def cells_of_csv(text: str) -> Cells:
    return {(line["row"], line["column"]): (int(line["timestamp_ms"]), line["value"])
            for line in csv.DictReader(io.StringIO(text))}


def rows_of_json(text: str) -> list[str]:
    return [json.loads(line)["row"] for line in text.splitlines()]


class Tables(Case):

    def test_tables(self) -> None:
        """`create` makes what is declared, with splits; `show` ends with 1 exactly when something differs."""
        self.drop_later(self.history, self.latest)
        tables = {
            self.history: {"key": [{"field": "host"}, "#", {"time": "epoch_ms"}],
                           "columns": {"family": "M", "from": "*"}, "splits": ["server0250", {"hex": "73ff"}],
                           "families": {"M": {"compression": "gz", "encoding": "fast_diff", "ttl": "90d"}}},
            self.latest: {"latest": "merge", "key": [{"salt": 4, "of": ["host"]}, "#", {"field": "host"}],
                          "columns": {"family": "L", "from": "*"}},
        }
        config = ("--config", str(self.daemon(tables=tables).config_path))
        self.assertIn(self.history, self.command("tables", "show", *config, code=1))
        self.command("tables", "create", *config)
        self.command("tables", "show", *config)
        self.command("tables", "create", *config)

        description = self.stack.oracle.describe(self.history)
        regions = [line[1] for line in description if line[0] == "region"]
        self.assertEqual(regions, ["", b"server0250".hex(), "73ff"])
        families = {line[1]: " ".join(line[2:]).upper() for line in description if line[0] == "family"}
        self.assertEqual(list(families), ["M"])
        for setting in ("GZ", "FAST_DIFF", str(90 * 24 * 3600)):
            self.assertIn(setting, families["M"])
        self.assertEqual([line[1] for line in self.stack.oracle.describe(self.latest) if line[0] == "region"],
                         ["", b"1".hex(), b"2".hex(), b"3".hex()])

        self.stack.oracle.drop(self.latest)
        self.stack.oracle.create(self.latest, "OTHER")
        self.assertIn("L", self.command("tables", "show", *config, self.latest, code=1))
        self.command("tables", "show", *config, self.history)


class Reading(Case):

    def write(self, daemon: Daemon, n_hosts: int = len(HOSTS)) -> list[dict[str, Any]]:
        """Three hosts with fifty readings each, by the daemon."""
        readings = [{"host": host, "ts": START_MS + time * 1000, "CPU/USR": f"{time}.5", "text": f"a,\"b\" é {time}"}
                    for time in range(N_TIMES) for host in HOSTS[:n_hosts]]
        self.send(readings)
        self.log_sent(readings)
        self.run_to_end(daemon)
        return readings

    def test_scan(self) -> None:
        """By fields, time, order and limit; every form tells the Java client's content."""
        self.create_topic(1)
        self.create_tables(splits=(b"alpha2", b"alpha2#%d" % (START_MS + 20_000)))
        daemon = self.daemon()
        self.write(daemon)
        self.assert_tables_hold_what_was_sent()
        every = self.cells(self.history)

        def scan(*words: str) -> str:
            return self.command("scan", "--config", str(daemon.config_path), self.history, *words)

        def rows(*words: str) -> list[str]:
            return rows_of_json(scan("--format", "json", *words))

        self.assertEqual(cells_of_json(scan("--format", "json")), every)
        self.assertEqual(cells_of_csv(scan("--format", "csv")), every)
        table = scan("--raw")
        for row, _ in every:
            self.assertIn(row, table)
        fields = [json.loads(line)["fields"]["host"] for line in scan("--format", "json").splitlines()]
        self.assertEqual(sorted(fields), sorted(N_TIMES * HOSTS))
        self.assertEqual(rows("host=alpha2", "--reverse"), sorted({row for row, _ in every if row.startswith("alpha2#")})[::-1])

        of_host = sorted({row for row, _ in every if row.startswith("alpha2#")})
        self.assertEqual(rows("host=alpha2"), of_host)
        self.assertEqual(rows("host=alpha"), [])
        self.assertEqual(rows("host=alpha2", "--oldest-first", "--limit", "7"), of_host[:7])
        self.assertEqual(rows("host=alpha2", "--newest-first"), of_host[::-1])
        self.assertEqual(rows("host=alpha2", "--newest-first", "--limit", "5"), of_host[:-6:-1])
        # From the tenth second on, before the twentieth.
        between = ("--from", str(START_MS + 10_000), "--to", str(START_MS + 20_000))
        self.assertEqual(rows("host=alpha2", *between), of_host[10:20])
        self.assertEqual(rows("host=alpha2", "--newest-first", *between), of_host[10:20][::-1])
        self.assertEqual(rows(*between), sorted(f"{host}#{START_MS + time * 1000}" for host in HOSTS for time in range(10, 20)))

        column = list(csv.DictReader(io.StringIO(scan("host=beta1", "--column", "CPU/USR", "--format", "csv"))))
        self.assertEqual([line["CPU/USR"] for line in column], [f"{time}.5" for time in range(N_TIMES)])

    def test_scan_of_salted_table_merges(self) -> None:
        """Eight salts, no field given that would tell which: rows come in the order of time, both ways."""
        self.create_topic(1)
        self.drop_later(self.history)
        tables = {self.history: {"key": [{"salt": 8, "of": ["host", {"time": "epoch_ms"}]}, "#", {"field": "host"}, "#",
                                         {"time": "epoch_ms"}],
                                 "columns": {"family": "M", "from": "*"}}}
        daemon = self.daemon(tables=tables)
        config = ("--config", str(daemon.config_path))
        self.command("tables", "create", *config)
        self.write(daemon, n_hosts=1)
        stored = {row for row, _ in self.cells(self.history)}
        self.assertEqual(len(stored), N_TIMES)
        self.assertGreater(len({row[0] for row in stored}), 1, "one salt has taken all")
        by_time = sorted(stored, key=lambda row: row.rsplit("#", 1)[1])

        def rows(*words: str) -> list[str]:
            return rows_of_json(self.command("scan", *config, self.history, "host=alpha1", "--format", "json", *words))

        self.assertEqual(rows("--oldest-first"), by_time)
        self.assertEqual(rows("--newest-first"), by_time[::-1])
        self.assertEqual(rows("--newest-first", "--limit", "3"), by_time[:-4:-1])
        self.assertEqual(rows("--from", str(START_MS + 5_000), "--to", str(START_MS + 9_000)), by_time[5:9])

    def test_latest(self) -> None:
        """The inventory with ages, of one machine, of a prefix, and without what is old."""
        self.create_topic(1)
        self.create_tables()
        daemon = self.daemon()
        config = ("--config", str(daemon.config_path))
        self.write(daemon)
        # Now, by simulate: server0001.bbb.com and server0002.bbb.com.
        self.simulate("--readings", "20", "--devices", "2", "--metrics", "2")
        self.run_to_end(daemon)
        every = self.cells(self.latest)
        self.assertEqual({row for row, _ in every}, {*HOSTS, "server0001.bbb.com", "server0002.bbb.com"})

        def latest(*words: str) -> Cells:
            return cells_of_json(self.command("latest", *config, *words, "--format", "json"))

        def those_of(prefix: str) -> Cells:
            return {cell: value for cell, value in every.items() if cell[0].startswith(prefix)}

        self.assertEqual(latest(), every)
        self.assertEqual(latest(self.latest), every)
        self.assertEqual(cells_of_csv(self.command("latest", *config, "--format", "csv")), every)
        self.assertEqual(latest("host=alpha2"), those_of("alpha2"))
        self.assertEqual(latest("alpha"), those_of("alpha"))
        self.assertEqual(latest("--max-age", "1h"), those_of("server"))
        shown = self.command("latest", *config, "host=beta1").splitlines()
        self.assertIn("AGE", shown[0].split())
        self.assertEqual(len(shown), 1 + len(those_of("beta1")))

    def test_explain_tells_what_is_written(self) -> None:
        """What `explain` shows of messages is, cell by cell, what HBase holds after the daemon has read them."""
        self.create_topic(1)
        self.create_tables()
        messages = [
            {"host": "plain", "ts": START_MS, "a": 1, "b": "text"},
            {"host": "nested", "ts": START_MS + 1, "cpu": {"user": 0.5, "deep": {"x": True}}, "list": [1, {"y": 2}]},
            {"host": "odd é", "ts": START_MS + 2, "name é": "x", "big": 12345678901234567890, "n": None, "s": ""},
        ]
        lines = [json.dumps(message, separators=(",", ":"), ensure_ascii=False) for message in messages]
        lines.append('{"host":"numbers","ts":1426535612050,"a":1.10,"b":1e3,"c":-0,"u":"\\u00e9\\n"}')
        daemon = self.daemon()
        explained = self.command("explain", "--offline", "--config", str(daemon.config_path), "--format", "json",
                                 stdin="".join(f"{line}\n" for line in lines))
        self.send(lines)
        self.run_to_end(daemon)
        for table in (self.history, self.latest):
            rows = [json.loads(line) for line in explained.splitlines()]
            promised = {(bytes.fromhex(row["row_hex"]).decode(), f"{cell['family']}:{cell['qualifier']}"):
                        (cell["timestamp_ms"], cell["value"]) for row in rows if row["table"] == table for cell in row["cells"]}
            self.assertEqual(self.cells(table), promised)
            self.assertEqual(len({row for row, _ in promised}), len(messages) + 1)

        # What would stop the daemon is told with its place, and by the exit code.
        refused = self.command("explain", "--offline", "--config", str(daemon.config_path), code=EX_DATAERR,
                               stdin=f'{lines[0]}\n{{"host":"no time"}}\n')
        self.assertIn("line 2: rejected", refused)


class Offsets(Case):

    def offsets(self, *words: str, code: int = 0) -> list[dict[str, Any]]:
        output = self.command("offsets", *words, "--config", str(self.config), "--format", "json", code=code)
        return [json.loads(line) for line in output.splitlines()]

    def send_readings(self, n_messages: int) -> None:
        for partition in range(2):
            self.send(({"host": f"h{partition}", "ts": START_MS + i, "v": i} for i in range(n_messages)), partition=partition)

    def committed(self) -> dict[int, int]:
        return self.kafka.admin.committed_offsets(self.name, self.name)

    def test_offsets_move(self) -> None:
        self.create_topic(2)
        self.create_tables()
        daemon = self.daemon(changes={"kafka": {"commit_interval": "100ms"}})
        self.config = daemon.config_path
        self.send_readings(N_MESSAGES // 2)
        time.sleep(1)
        middle = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time()))
        time.sleep(1)
        self.send_readings(N_MESSAGES // 2)
        daemon.start()
        daemon.wait_committed(2 * N_MESSAGES)

        # Beside the daemon: shown, planned, and refused with its name.
        for line in self.offsets("show"):
            self.assertEqual((line["committed"], line["beginning"], line["end"], line["lag"], line["messages"]),
                             (N_MESSAGES, 0, N_MESSAGES, 0, 0), line)
        plan = self.offsets("move", "--to", middle, "--dry-run", f"{self.name}:1")
        self.assertEqual(plan, [{"topic": self.name, "partition": 1, "old": N_MESSAGES, "new": N_MESSAGES // 2, "result": "would move"}])
        refused = self.run_command("offsets", "move", "--to", "beginning", "--config", str(self.config))
        self.assertEqual((refused.returncode, refused.stdout), (EX_TEMPFAIL, ""), refused.stderr)
        self.assertRegex(refused.stderr, "nothing was moved: group '.*' still has members: 'tidemark' at 127.0.0.1")
        self.assertEqual(self.committed(), {0: N_MESSAGES, 1: N_MESSAGES})

        # It waits for the daemon to leave, and moves what that one committed last.
        with subprocess.Popen([str(self.tidemark), "offsets", "move", "--to", "beginning", "--config", str(self.config)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
            assert waiting.stderr is not None and waiting.stdout is not None
            self.assertRegex(waiting.stderr.readline(), "waiting up to .* for them to leave")
            self.assertEqual(daemon.stop(), 0, daemon.log_tail())
            moved = waiting.stdout.read()
        self.assertEqual(waiting.returncode, 0, moved)
        self.assertEqual(self.committed(), {0: 0, 1: 0})
        self.assertEqual([(line["written_by"], line["lag"], line["messages"]) for line in self.offsets("show")],
                         [("tidemark, closed", N_MESSAGES, N_MESSAGES)] * 2)

        # What it printed puts the offsets back.
        restore = re.findall(rf"^  (tidemark offsets move --to {N_MESSAGES} .*)$", moved, re.M)
        self.assertEqual(len(restore), 2, moved)
        for line in restore:
            self.command(*shlex.split(line)[1:])
        self.assertEqual(self.committed(), {0: N_MESSAGES, 1: N_MESSAGES})

        # The daemon reads on where it was moved to.
        self.command("offsets", "move", "--to", str(N_MESSAGES // 2), f"{self.name}:1", "--config", str(self.config))
        daemon.start()
        daemon.wait_metric("tidemark_messages_written_total", N_MESSAGES // 2)
        daemon.wait_committed(2 * N_MESSAGES)
        self.assertEqual(daemon.metric("tidemark_messages_received_total"), N_MESSAGES // 2)
        self.assertEqual(len(self.cells(self.history)), N_MESSAGES)  # the second half repeats the first

    def test_offsets_past_halt(self) -> None:
        """Of a partition that a stranger took from 20 on, and of one whose first 30 messages were deleted unread."""
        self.create_topic(2)
        self.create_tables()
        self.config = self.daemon().config_path
        self.send_readings(N_MESSAGES)
        self.kafka.admin.delete_records(self.name, 1, 30)
        self.kafka.admin.commit(self.name, self.name, 0, 0, "tidemark 1 closed span=1000 start=-203")
        self.kafka.admin.commit(self.name, self.name, 1, 10, "tidemark 1 running span=1000 start=-102")
        taken, deleted = self.offsets("show")
        self.assertEqual((taken["halt_offset"], deleted["halt_offset"]), (20, 10))
        self.assertIn("not tidemark committed", taken["halted"])
        self.assertIn("deleted before they were read", deleted["halted"])
        refused = self.run_command("offsets", "move", "--to", "29", f"{self.name}:1", "--config", str(self.config))
        self.assertEqual(refused.returncode, EX_USAGE, refused.stderr)
        self.assertIn(f"it must be from 30 to {N_MESSAGES}", refused.stderr)
        moved = self.offsets("move", "--to", "past-halt")
        self.assertEqual([(line["old"], line["new"], line["result"], "restore" in line) for line in moved],
                         [(0, 20, "moved", True), (10, 30, "moved", False)])
        shown = self.offsets("show")
        self.assertEqual([(line["committed"], line["written_by"], "halted" in line) for line in shown],
                         [(20, "tidemark, closed", False), (30, "tidemark, running", False)])
        self.assertEqual(shown[0]["note"], "tidemark 1 closed span=1000")
        self.assertEqual([line["result"] for line in self.offsets("move", "--to", "past-halt")], ["not halted"] * 2)

    def test_offsets_messages(self) -> None:
        """The marker at a transaction's end is lag, and no message."""
        self.create_topic(1)
        self.create_tables()
        self.config = self.daemon().config_path
        subprocess.run(["kcat", "-P", "-q", "-b", self.kafka.address, "-t", self.name, "-p", "0", "-X", f"transactional.id={self.name}"],
                       input="{}\n" * 5, text=True, check=True, timeout=60, capture_output=True)
        self.kafka.admin.commit(self.name, self.name, 0, 2)
        shown, = self.offsets("show")
        self.assertEqual((shown["lag"], shown["messages"], shown["written_by"]), (4, 3, "no note"))
        self.assertEqual(self.offsets("move", "--to", "end")[0]["result"], "moved")
        shown, = self.offsets("show")
        self.assertEqual((shown["committed"], shown["lag"], shown["messages"]), (6, 0, 0))

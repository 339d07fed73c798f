#!/usr/bin/env python3
"""`tidemark load`: readings from files through the whole pipeline, on the scripted gateway. Killed and run again, with broken, cut,
changed and growing files: what is in the tables at the end is what the files hold.

    test_load.py BUILD
"""
from __future__ import annotations

import base64
import gzip
import json
import os
import pty
import random
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path
from typing import Callable

from load_case import HOSTS, PATIENCE_S, PROGRAM, TIME_MS, LoadCase, lines, reading


class Load(LoadCase):

    # ---- what files hold ----

    def test_several_files_plain_gzip_and_zstd(self) -> None:
        plain = self.write("a.jsonl", lines(0, 3000))
        members = self.write("b.jsonl.gz", gzip.compress(lines(3000, 700)) + gzip.compress(lines(3700, 300)))
        frames = self.directory / "c.jsonl.zst"
        frames.write_bytes(b"".join(subprocess.run(["zstd", "-q", "-c"], input=lines(first, 500), check=True,
                                                   stdout=subprocess.PIPE).stdout for first in (4000, 4500)))
        said = self.load(plain, members, frames)
        self.assertIn("3 of 3 files loaded: 5,000 messages in ", said)
        self.assertIn("         5,000 written\n", said)
        self.assert_loaded(range(5000))
        self.assertIn("3 of 3 files: loaded before, skipped\n", self.load(plain, members, frames))

    def test_standard_input(self) -> None:
        self.load("-", data=lines(0, 2000) + b"\n\n" + lines(2000, 1)[:-1])
        self.assert_loaded(range(2001))

    def test_csv(self) -> None:
        self.readings |= {"format": "csv", "csv": {"header": True}}
        rows = [f"h{number % HOSTS:02},{TIME_MS + number},{number},\"text\n\"\"{number}\"\"\"\r\n" for number in range(1000)]
        broken = 'h01,1,"open,2\r\n'
        path = self.write("a.csv", ("h,ts,v,w\r\n" + "".join(rows[:500]) + broken + "".join(rows[500:])).encode())
        self.load(path)
        self.assert_loaded(range(1000))
        self.assertEqual(self.gateway.dump(["CURRENT"])["CURRENT"][b"h49"]["M", b"w"][1], b'text\n"999"')
        (letter,) = self.dead_letters()
        self.assertEqual((letter["topic"], letter["offset"]), (str(path), 1002))
        self.assertEqual(base64.b64decode(letter["value"]).decode(), "h,ts,v,w\r\n" + broken.rstrip("\n"))

    def test_csv_of_a_logger(self) -> None:
        """What stands once at the beginning of a file; and rows that `scan` printed have none of it."""
        self.readings |= {"format": "csv", "csv": {"header": True, "skip_lines": 1, "skip_after_header": 1, "trim": True, "delimiter": ";"}}
        rows = [f'h{number % HOSTS:02};{TIME_MS + number};{number}; "text\nh;1;2;3\n{number}" \n' for number in range(1000)]
        path = self.write("a.csv", ('logger "7\n\nh;ts;v;w\n;ms;"V;\n' + "".join(rows)).encode())
        self.load(path)
        self.assert_loaded(range(1000))
        self.assertEqual(self.gateway.dump(["CURRENT"])["CURRENT"][b"h49"]["M", b"w"][1], b"text\nh;1;2;3\n999")
        self.assertEqual(self.dead_letters(), [])
        loaded = self.gateway.dump(["METRIC"])["METRIC"]
        printed = subprocess.run([str(PROGRAM), "scan", "-c", str(self.config()), "METRIC", "-f", "csv"], check=True, timeout=PATIENCE_S,
                                 stdout=subprocess.PIPE).stdout
        self.assertIn("1,000 messages", self.load("--scanned", "METRIC", "-f", "csv", self.write("rows.csv", printed)))
        self.assertEqual(self.gateway.dump(["METRIC"])["METRIC"].keys(), loaded.keys())
        self.assertEqual(self.dead_letters(), [])

    def test_binary_records(self) -> None:
        def packed(number: int) -> bytes:
            host = f"h{number % HOSTS:02}".encode()
            return (b"\x83\xa1h" + bytes([0xa0 + len(host)]) + host + b"\xa2ts\xcf" + (TIME_MS + number).to_bytes(8, "big") + b"\xa1v\xce"
                    + number.to_bytes(4, "big"))
        self.readings |= {"format": "msgpack"}
        whole = b"".join(packed(number) for number in range(3000))
        path = self.write("a.msgpack", whole + packed(3000)[:-2])
        said = self.load(path, exit_code=65)
        self.assertIn(f"'{path}' cannot be read after byte {len(whole)} of its text: it ends within a record; everything before "
                      "is loaded", said)
        self.assert_loaded(range(3000))
        path.write_bytes(whole + packed(3000))
        self.load(path)
        self.assert_loaded(range(3001))

    def test_time_range(self) -> None:
        path = self.write("a.jsonl", lines(0, 1000))
        said = self.load("--from", str(TIME_MS + 100), "--to", str(TIME_MS + 300), path)
        self.assertIn("           800 accepted by no table, or outside --from and --to\n", said)
        self.assert_loaded(range(100, 300))
        self.load("--from", str(TIME_MS + 300), path)
        self.assert_loaded(range(100, 1000))

    def test_dry_run(self) -> None:
        path = self.write("a.jsonl", lines(0, 1000) + b"{\n" + b'{"h":"x"}\n{"h":"y"}\n')
        said = self.load("--dry-run", path, exit_code=65)
        self.assertIn("         1,003 messages\n", said)
        self.assertIn("         1,000 rows for METRIC\n", said)
        self.assertIn(f"             2 rejected: missing_field, first {path}:1002: ", said)
        self.assertIn(f"             1 rejected: parse, first {path}:1001: ", said)
        self.assertEqual(self.numbers(), [])
        self.assertFalse((self.directory / "state").exists())
        self.assertNotIn("loaded before", said)

    def test_dry_run_tells_of_marks(self) -> None:
        """It counts all, also what a load would leave out: what was rejected is to be seen after a load, too."""
        done, grown, new = (self.write(name, lines(0, 1000)) for name in ("a.jsonl", "b.jsonl", "c.jsonl"))
        self.load(done, grown)
        grown.write_bytes(lines(0, 2000))
        said = self.load("--dry-run", done, grown, new)
        self.assertIn("         4,000 messages\n", said)
        self.assertIn("1 of 3 files: loaded before, 1 more in part: their content is counted here, but a load without '--again' ", said)
        self.assertNotIn("loaded before", self.load("--dry-run", "--again", done, grown, new))

    def test_what_a_table_does_not_keep_is_told(self) -> None:
        """Also where another table takes the readings, so that they count as written."""
        columns = {"family": "M", "from": "*"}
        self.changes = {"tables": {"METRIC": {"key": self.key, "columns": columns, "families": {"M": {"ttl": "90d"}}},
                                   "CURRENT": {"latest": "replace", "key": [{"field": "h"}], "columns": columns}}}
        path = self.write("a.jsonl", lines(0, 1000))
        said = self.load("--dry-run", path)
        self.assertIn("             0 rows for METRIC\n         1,000 rows older than the retention of METRIC ('ttl'): skipped\n", said)
        said = self.load(path)
        self.assertIn("         1,000 written\n         1,000 rows older than their table's retention ('ttl'): skipped\n", said)
        self.assertEqual(self.numbers(), [])

    def test_a1_readings_that_overwrite_each_other_are_told(self) -> None:
        """Two cores of one host and moment, which the key does not tell apart: readings beside rows, and what is lost."""
        path = self.write("a.jsonl", b"".join(b'[{"h":"a","ts":%d,"core":"c0","v":1},{"h":"a","ts":%d,"core":"c1","v":2}]\n'
                                              % (TIME_MS + number, TIME_MS + number) for number in range(10)))
        said = self.load("--dry-run", path)
        self.assertIn("            20 readings\n", said)
        self.assertIn("            20 cells of METRIC overwritten by another reading, first in row 'a", said)
        self.assertNotIn("cells of CURRENT overwritten", said)
        said = self.load(path)
        self.assertIn("            20 readings\n            10 rows written to METRIC\n"
                      "            20 cells of METRIC overwritten by another reading: ", said)

    def test_rate(self) -> None:
        path = self.write("a.jsonl", lines(0, 600))
        start = time.monotonic()
        self.load("--rate", "300", path)
        self.assertGreater(time.monotonic() - start, 1.5, "600 at 300 a second")
        self.assert_loaded(range(600))

    def test_yields_while_calls_are_slow(self) -> None:
        """Sixteen slow calls one after the other, and a pause: four writers would send them in a quarter of that time."""
        self.changes = {"batch": {"max_rows": 50}}
        for name, option in (("a.jsonl", ["--yield"]), ("b.jsonl", [])):
            path = self.write(name, lines(0, 3000))
            self.gateway.ask("fault", "none", "call=putMultiple", "table=METRIC", "skip-calls=20", "max-hits=16", "delay-reply-ms=100")
            start = time.monotonic()
            said = self.load(*option, path)
            elapsed_s = time.monotonic() - start
            self.gateway.ask("clear")
            self.assert_loaded(range(3000))
            share = re.search(r"[\d,]+/s\nyielding: writers waited \d\d? % of the time\n", said)
            self.assertEqual(share is not None, bool(option), said)
            if option:
                self.assertGreater(elapsed_s, 2, said)

    def test_other_keys_other_marks(self) -> None:
        path = self.write("a.jsonl", lines(0, 100))
        self.load(path)
        self.key = [{"field": "h"}, "|", {"time": "epoch_ms"}]
        self.load(path)
        self.assertEqual(len(self.numbers()), 200, "each reading by both keys")
        self.assertIn("loaded before", self.load(path))

    # ---- compared ----

    def test_verify(self) -> None:
        path = self.write("a.jsonl.gz", gzip.compress(lines(0, 1000) + b"{broken\n" + lines(1000, 1000)))
        self.load(path)
        said = self.verify(path)
        self.assertIn("all is right", said)
        self.assertIn("2,001 messages of 1 file: ", said)
        more = self.write("b.jsonl", lines(2000, 3))
        said = self.verify(path, more, "--table", "METRIC", exit_code=1)
        self.assertIn(f"(file '{more}' record 1)", said)
        self.assertRegex(said, r"METRIC +4,006 +6 ")
        cut = self.write("c.jsonl.gz", path.read_bytes()[:-100])
        self.assertIn("it is truncated", self.verify(cut, exit_code=65))
        done = subprocess.run([str(PROGRAM), "verify", "-c", str(self.config()), str(path)], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, "file names need '--files'" in done.stderr), (64, True))

    def test_verify_reads_no_pipe(self) -> None:
        """A further pass would find nothing in it, and miss nothing."""
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        for name in ("-", pipe):
            self.assertIn(f"'{name}' cannot be read twice", self.verify(name, exit_code=64))
        self.assertIn("No such file", self.verify(self.directory / "none", exit_code=74))

    # ---- killed, and run again ----

    def test_killed_again_and_again(self) -> None:
        n = 120_000
        paths = [self.write(f"{part}.jsonl", lines(part * n // 4, n // 4)) for part in range(3)]
        paths.append(self.write("3.jsonl.gz", gzip.compress(lines(3 * n // 4, n // 4), 1)))
        chance = random.Random(7)
        for kill in range(5):
            more = self.marked() + chance.randrange(1, 15_000)
            process = subprocess.Popen(self.command("--rate", "40000", *paths), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.wait(lambda: self.marked() >= more or process.poll() is not None)
            self.assertIsNone(process.poll(), f"it ended before kill {kill}")
            process.kill()
            process.communicate()
        self.load(*paths)
        self.assert_loaded(range(n))

    def test_waits_for_what_may_still_land(self) -> None:
        """A call of a run that was killed may overwrite a latest value for as long as hbase.uncertain_timeout says: that is waited for, and told."""
        self.settle = "6s"
        values = [{**reading(number), "ts": TIME_MS} for number in range(3_000)]  # of one time: the last of each host stays
        path = self.write("a.jsonl", b"".join(json.dumps(value).encode() + b"\n" for value in values))
        process = subprocess.Popen(self.command("--rate", "1000", path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.wait(lambda: self.marked() > 500)
        process.kill()
        killed = time.monotonic()
        process.communicate()
        said = self.load(path)
        took = time.monotonic() - killed
        self.assertGreater(took, 6)
        if took < 12:  # else a slow machine had all written when nothing could land any more
            self.assertIn("tidemark load: everything is written; waiting up to 6.0 s (hbase.uncertain_timeout) ", said)
        self.assertEqual(self.numbers(), list(range(3_000 - HOSTS, 3_000)))

    def test_killed_while_calls_may_still_land(self) -> None:
        """Calls that are given up land behind newer values of the same row, column and time, in a run that is killed and in the next."""
        self.settle = "6s"
        values = [{**reading(number), "ts": TIME_MS} for number in range(3_000)]
        path = self.write("a.jsonl", b"".join(json.dumps(value).encode() + b"\n" for value in values))
        late = ("fault", "none", "delay-apply-ms=3000", "call=putMultiple", "skip-calls=2", "every=3", "max-hits=3")
        self.gateway.ask(*late)
        process = subprocess.Popen(self.command("--rate", "1000", path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.wait(lambda: len(self.numbers()) == HOSTS or process.poll() is not None)
        self.assertIsNone(process.poll())
        process.kill()
        process.communicate()
        self.gateway.ask("clear")
        self.gateway.ask(*late)
        self.load(path)
        self.wait(lambda: self.gateway.stats()["calls_in_flight"] == 0)
        self.assertEqual(self.numbers(), list(range(3_000 - HOSTS, 3_000)))

    def test_time_left_after_a_kill(self) -> None:
        """What a load before had done says nothing of how fast this one is."""
        path = self.write("a.jsonl", lines(0, 40_000))
        process = subprocess.Popen(self.command(path, "--rate", "20000"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.wait(lambda: self.marked() > 18_000)
        process.kill()
        process.communicate()
        terminal, its = pty.openpty()
        process = subprocess.Popen(self.command(path, "--rate", "4000"), stdout=subprocess.DEVNULL, stderr=its)
        os.close(its)
        self.addCleanup(os.close, terminal)
        shown = b""
        try:
            while piece := os.read(terminal, 65536):
                shown += piece
        except OSError:  # so a terminal ends
            pass
        self.assertEqual(process.wait(), 0)
        found = [float(left) for left in re.findall(r"[0-9,]+ messages \(\d+ %\), [0-9,]+/s, ([0-9.]+) s left", shown.decode())]
        self.assertGreater(max(found), 2, "20,000 of 4,000 a second take five seconds")
        self.assert_loaded(range(40_000))

    def test_mark_waits_for_the_gateway(self) -> None:
        """Nothing is marked that HBase has not acknowledged: with a gateway that answers nobody, no record is."""
        path = self.write("a.jsonl", lines(0, 1000))
        self.load(path)
        more = self.write("b.jsonl", lines(1000, 1000))
        port = self.gateway.greeting
        process = subprocess.Popen(self.command(more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        os.kill(self.gateway.process.pid, signal.SIGSTOP)
        try:
            with self.assertRaises(subprocess.TimeoutExpired):
                process.communicate(timeout=2)
            self.assertLessEqual(self.marked(), 1000, port)
            process.kill()
            process.communicate()
        finally:
            os.kill(self.gateway.process.pid, signal.SIGCONT)
        self.load(more)
        self.assert_loaded(range(2000))

    def stop_when(self, is_so: Callable[[], bool], *words: str | Path) -> str:
        """What a load says that is stopped then, before it is done."""
        process = subprocess.Popen(self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.kill)
        self.wait(is_so)
        process.send_signal(signal.SIGTERM)
        text = process.communicate(timeout=PATIENCE_S)[0].decode()
        self.assertEqual(process.returncode, 75, text)
        return text

    def test_stopped_by_a_signal(self) -> None:
        path = self.write("a.jsonl", lines(0, 20_000))
        text = self.stop_when(lambda: len(self.numbers()) >= 100, "--rate", "5000", path)
        self.assertIn("tidemark load: stopped; written messages are marked, and the same command continues there", text)
        written = len(self.numbers())
        self.assertEqual(self.marked(), written, "a stop in good order marks all that is written")
        self.assertLess(written, 20_000)
        self.load(path)
        self.assert_loaded(range(20_000))

    def test_stopped_when_all_is_read_and_some_is_written(self) -> None:
        """A file is finished when its last line is written, not when it is read."""
        self.changes = {"batch": {"max_rows": 100}, "limits": {"drain_timeout": "1s"}}
        path = self.write("a.jsonl", lines(0, 3000))
        fault = self.refuse_rows("skip-calls=3")
        self.stop_when(lambda: self.was_hit(fault), path)
        self.gateway.ask("clear", fault)
        self.load(path)
        self.assert_loaded(range(3000))

    def test_csv_stopped_and_gone_on_with(self) -> None:
        """Behind a mark the names are still those of the first line, and the next line is a reading."""
        self.readings |= {"format": "csv", "csv": {"header": True}}
        n = 20_000
        path = self.write("a.csv", ("h,ts,v,w\n" + "".join(f"h{number % HOSTS:02},{TIME_MS + number},{number},w\n" for number in range(n))).encode())
        self.stop_when(lambda: len(self.numbers()) >= 100, "--rate", "5000", path)
        written = len(self.numbers())
        self.assertLess(written, n)
        self.assertIn(f": {n - written:,} messages in ", self.load(path), "each line behind the mark is one")
        self.assert_loaded(range(n))
        self.assertEqual(self.dead_letters(), [])

    def refuse_rows(self, *words: str) -> str:
        """From now on no row of METRIC is taken; which fault that is."""
        return self.gateway.ask("fault", "io-error", "call=putMultiple", "table=METRIC", *words)[0].split()[-1]

    def was_hit(self, fault: str) -> bool:
        return int(self.gateway.ask("hits", fault)[0].split()[-1]) > 0

    def test_a_stop_is_told_at_once_and_a_second_one_ends_it(self) -> None:
        """While HBase takes no rows, what was read waits for up to limits.drain_timeout."""
        path = self.write("a.jsonl", lines(0, 3000))
        fault = self.refuse_rows()
        process = subprocess.Popen(self.command(path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.wait(lambda: self.was_hit(fault))
        process.send_signal(signal.SIGINT)
        assert process.stderr
        line = next(line for line in process.stderr if "stopping" in line)
        self.assertRegex(line, r"^tidemark load: stopping: [1-9][0-9,]* messages that were read are still being written, for up to 30.0 s "
                               r"\(limits.drain_timeout\); a second Ctrl-C exits at once\n$")
        self.assertIsNone(process.poll(), "it still tries")
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.gateway.ask("clear", fault)
        self.load(path)
        self.assert_loaded(range(3000))

    def test_without_a_gateway_it_says_how_long_it_waits(self) -> None:
        """And may be stopped meanwhile; tests/fault/program/test-until-end.c has the end of the wait."""
        self.gateways = ["127.0.0.1:1"]
        path = self.write("a.jsonl", lines(0, 10))
        process = subprocess.Popen(self.command(path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        assert process.stderr
        line = next(line for line in process.stderr if line.startswith("tidemark load: "))
        self.assertRegex(line, r"no gateway is usable: cannot connect to gateway '127.0.0.1:1': .*; waiting for it, for up to 60 s\n$")
        process.send_signal(signal.SIGINT)
        self.assertIn("tidemark load: stopping; a second Ctrl-C exits at once\n", process.communicate(timeout=PATIENCE_S)[1])
        self.assertEqual(process.returncode, 75)

    def test_progress_counts_what_is_written(self) -> None:
        """Not what is read: while HBase takes nothing, nothing is done."""
        path = self.write("a.jsonl", lines(0, 3000))
        fault = self.refuse_rows()
        terminal, its = pty.openpty()
        self.addCleanup(os.close, terminal)
        process = subprocess.Popen(self.command(path), stdout=subprocess.DEVNULL, stderr=its)
        self.addCleanup(process.kill)
        os.close(its)
        self.wait(lambda: self.was_hit(fault))
        shown = b""
        while shown.count(b" messages") < 5:
            shown += os.read(terminal, 65536)
        self.gateway.ask("clear", fault)
        try:
            while os.read(terminal, 65536):
                pass
        except OSError:  # so a terminal ends
            pass
        self.assertEqual(set(re.findall(rb"([0-9,]+) messages", shown)), {b"0"}, shown)
        self.assertNotIn(b" left", shown)
        self.assertEqual(process.wait(PATIENCE_S), 0)
        self.assert_loaded(range(3000))

    # ---- files that are not as they should be ----

    def test_broken_lines_are_dead_letters(self) -> None:
        long_line = b'{"h":"h01","w":"' + b"x" * 3_000_000 + b'"}\n'
        path = self.write("a.jsonl", lines(0, 500) + b"{broken\n" + lines(500, 500) + long_line + lines(1000, 10))
        said = self.load(path)
        place = self.directory / "state/load-dead-letters.jsonl"
        see = f"; see: tidemark dead-letters list -c {self.directory / 'tidemark.yaml'} --file {place}"
        self.assertIn(f"             2 dead letters in '{place}'{see}\n", said)
        done = subprocess.run([str(PROGRAM), *see.split()[3:]], capture_output=True, text=True, check=True, timeout=PATIENCE_S)
        self.assertRegex(done.stdout, r"(?s)parse .*a\.jsonl/0/501 .*too_large .*a\.jsonl/0/1002 ")
        self.assert_loaded(range(1010))
        self.assertEqual([(letter["reason"], letter["offset"]) for letter in self.dead_letters()],
                         [("parse", 501), ("too_large", 1002)])

    def test_rows_that_hbase_refuses_are_dead_letters_with_their_line(self) -> None:
        """The row is not mapped any more when HBase refuses it: its line is found again, through gzip. What is read again, as it shared
        a row with one of these, counts once."""
        self.gateway.ask("max-cell", "1000")
        refused = [json.dumps({**reading(5000 + number), "w": "x" * 2000 + str(number)}).encode() + b"\n" for number in range(3)]
        data = lines(0, 700) + refused[0] + lines(700, 5) + refused[1] + lines(705, 1295) + refused[2]
        said = self.load(self.write("a.jsonl.gz", gzip.compress(data)))
        self.assertIn("             3 dead letters in '", said)
        self.assertIn("1 of 1 file loaded: 2,003 messages in ", said)
        self.assertIn("         2,000 written\n", said)
        self.assertEqual(self.numbers(), list(range(2000)))
        letters = {letter["offset"]: base64.b64decode(letter["value"]) for letter in self.dead_letters()}
        self.assertEqual(letters, {701: refused[0].strip(), 707: refused[1].strip(), 2003: refused[2].strip()})

    def test_gzip_that_ends_in_the_middle(self) -> None:
        packed = gzip.compress(lines(0, 20_000), 1)
        path = self.write("a.jsonl.gz", packed[:len(packed) // 2])
        self.assertIn("; everything before is loaded\n", self.load("--dry-run", path, exit_code=65), "nothing is loaded by that")
        said = self.load(path, exit_code=65)
        self.assertIn(f"the gzip compression of '{path}' is damaged near byte {len(packed) // 2}: it is truncated, like an incomplete copy; everything before is loaded", said)
        found = self.numbers()
        self.assertGreater(len(found), 1000)
        self.assertEqual(found, list(range(len(found))))
        self.assertIn("it is truncated", self.load(path, exit_code=65), "nor is it finished the second time")
        path.write_bytes(packed)
        self.load(path)
        self.assert_loaded(range(20_000))

    def test_file_that_grew(self) -> None:
        path = self.write("a.jsonl", lines(0, 1000) + lines(1000, 1)[:-12])
        self.load(path)
        path.write_bytes(lines(0, 1500))
        self.load(path)
        self.assert_loaded(range(1500))
        self.assertEqual(len(self.dead_letters()), 1, "the last line, when it was half a line")

    def test_file_that_changed(self) -> None:
        path = self.write("a.jsonl", lines(0, 1000))
        self.load(path)
        path.write_bytes(lines(5000, 1) + lines(1, 1999))
        self.assertIn(f"'{path}' has changed since it was partly loaded", self.load(path, exit_code=65))
        self.assert_loaded(range(1000))
        self.load("--again", path)
        self.assert_loaded([*range(2000), 5000])

    def test_file_that_grows_while_it_is_read(self) -> None:
        n = 40_000  # so many that the end is not reached while the first are unfinished
        self.topics["kafka"]["max_span_messages"] = 1000
        for first, cut in ((0, 0), (50_000, 5)):  # the last line is whole, or half of it is there
            path = self.write(f"{first}.jsonl", lines(first, n))
            fault = self.refuse_rows()
            process = subprocess.Popen(self.command(path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.addCleanup(process.kill)
            self.wait(lambda: self.was_hit(fault))
            more = lines(first + n, 501)
            with open(path, "ab") as file:
                file.write(more[:len(more) - cut])
            self.gateway.ask("clear", fault)
            text = process.communicate(timeout=PATIENCE_S)[0].decode()
            self.assertEqual(process.returncode, 65, text)
            self.assertIn(f"'{path}' was written to while it was loaded", text)
            with open(path, "ab") as file:
                file.write(more[len(more) - cut:] + lines(first + n + 501, 1))
            self.load(path)
        self.assert_loaded([*range(n + 502), *range(50_000, 50_000 + n + 502)])
        self.assertEqual(self.dead_letters(), [])

    def test_too_many_dead_letters_end_it(self) -> None:
        path = self.write("a.txt", b"this is no JSON\n" * 20_000)
        said = self.load(path, exit_code=65)
        found = re.findall(r"([\d,]+) of ([\d,]+) messages in the last 60 s would become dead letters and 0 were written, above dead_l", said)
        self.assertEqual(len(found), 1, "not by the log besides")
        bad, of_all = (int(number.replace(",", "")) for number in found[0])
        self.assertTrue(100 <= bad <= of_all, "what is bad is a part of what came")
        self.assertNotIn("offset", said)
        for line in re.findall("stopping with .*", said):
            self.assertRegex(line, r"[\d,]+ messages? unfinished; run the same command again to continue from there")
        self.assertIn("no more are written: check with '--dry-run' what the files contain, ", said)
        self.assertNotIn("restart", said)
        self.assertNotIn("nothing was written", said, "which this says already")
        self.assertEqual(self.numbers(), [])

    def test_halt_is_told_once(self) -> None:
        self.readings |= {"on_bad_message": "stop"}
        said = self.load(self.write("a.jsonl", lines(0, 10) + b"{broken\n"), exit_code=65)
        self.assertEqual(said.count("is halted at offset 11: "), 1, said)
        self.assertIn("0 of 1 file loaded: ", said, "it is read to its end, but not written")
        self.assertNotIn("restart", said)
        self.assert_loaded(range(10))

    def test_nothing_written_is_no_success(self) -> None:
        """Below the bound of too many dead letters; a script sees it by the exit code."""
        path = self.write("a.jsonl", b"{broken\n" * 3)
        self.assertIn("nothing was written: all messages were rejected", self.load(path, exit_code=65))
        self.assertIn("loaded before", self.load(path))
        self.readings |= {"on_bad_message": "skip"}
        self.assertIn("nothing was written", self.load("--again", path, exit_code=65))
        mark, = (self.directory / "state").glob("*.mark")
        mark.write_text(mark.read_text().replace("finished=true", "finished=false"))
        self.assertIn("0 messages", self.load(path), "all was found by a load before, which did not come to its end")
        empty = self.write("b.jsonl", b"\n \n")
        for words in ([], ["--dry-run"]):
            self.assertIn("no reading was found", self.load(*words, empty, exit_code=65))
        grown = self.write("c.jsonl", lines(0, 1))
        self.load("--again", empty, grown)
        grown.write_bytes(lines(0, 1) + b"{broken\n")
        said = self.load(grown, exit_code=65)
        self.assertIn("nothing more was written: all remaining messages of the files were rejected", said)
        self.assertIn("shows why. Load corrected lines as a file of their own", said)
        self.assert_loaded(range(1))

    def test_fields_that_are_asked_for_in_vain(self) -> None:
        """Only those that something of the load asks for: not the time's, whose place is that of the row, nor another source's."""
        complaint = "the first 10,000 readings have none of these configured fields: "
        path = self.write("a.jsonl", lines(0, 10_050))
        tables = {"METRIC": {"key": self.key, "columns": {"family": "M", "from": ["v", "volts"]}}}
        self.changes = {"tables": tables}
        self.assertIn(complaint + "volts; ", self.load(path))
        rows = subprocess.run([str(PROGRAM), "scan", "-c", str(self.config()), "METRIC", "-f", "json"], check=True, timeout=PATIENCE_S,
                              stdout=subprocess.PIPE).stdout
        self.assertNotIn(complaint, self.load("--scanned", "METRIC", self.write("rows.jsonl", rows)))
        time_of = {field: {"format": "json", "time": {"field": field, "format": "epoch_ms"}} for field in ("ts", "at")}
        self.changes |= {"readings": None, "sources": {"a": {"topics": ["a"], "readings": time_of["ts"]},
                                                       "b": {"topics": ["b"], "readings": time_of["at"]}}}
        self.changes["tables"]["METRIC"]["columns"]["from"] = ["v"]
        self.topics["kafka"].pop("topics")
        self.assertNotIn(complaint, self.load("--again", "--source", "a", path))

    def test_wrong_use(self) -> None:
        self.assertIn("is a directory", self.load(self.directory, exit_code=74))
        self.assertIn("cannot open", self.load(self.directory / "nothing", exit_code=74))
        said = self.load(self.write("bad.jsonl", lines(0, 1) + b"{\n"))
        self.assertIn(f"cannot use '{self.directory / 'bad.jsonl'}:2': ", said)
        self.assertNotIn("partition", said)
        path = self.write("a.jsonl", lines(0, 1))
        self.assertIn("is given twice", self.load(path, path, exit_code=64))
        self.assertIn("name the files to load", self.load(exit_code=64))
        self.assertIn("has no 'sources'", self.load("--source", "x", path, exit_code=64))
        self.readings = {"time": {"format": "record"}}
        self.assertIn("uses the Kafka record", self.load(path, exit_code=64))


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
"""`tidemark load` of what files can be besides files: pipes, links, others in a file's place; and where there is no room for its own.

    test_load_attacks.py BUILD
"""
from __future__ import annotations

import base64
import gzip
import os
import random
import resource
import signal
import subprocess
import threading
import time
import unittest
from pathlib import Path
from typing import Callable

from load_case import BUILD, PATIENCE_S, TIME_MS, LoadCase, lines
from processes import Gateway

# Dead letters of more bytes than this find no room, and marks do.
ROOM_BYTES = 8 << 10


def give_room(room_bytes: int) -> Callable[[], None]:
    """For the process that is started: files can grow to so many bytes."""
    def give() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room_bytes, resource.RLIM_INFINITY))
    return give


class Attacks(LoadCase):

    def start(self, *words: str | Path, room_bytes: int | None = None) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(self.command(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   preexec_fn=give_room(room_bytes) if room_bytes is not None else None)
        self.addCleanup(process.kill)
        return process

    def end(self, process: subprocess.Popen[bytes], exit_code: int) -> str:
        text = process.communicate(timeout=PATIENCE_S)[0].decode()
        self.assertEqual(process.returncode, exit_code, text)
        return text

    # ---- pipes ----

    def test_fifo_loses_nothing(self) -> None:
        path = self.directory / "fifo"
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=[lines(0, 20_000)], daemon=True)
        writer.start()
        self.load(path)
        writer.join()
        self.assert_loaded(range(20_000))

    def test_compressed_pipe_that_stops_for_a_while(self) -> None:
        """What has come is written, without waiting for more."""
        data = gzip.compress(lines(0, 30_000), 1) + gzip.compress(lines(30_000, 100))
        process = self.start("-")
        assert process.stdin
        n_first = len(data) - 200  # in the middle of the second member, and behind more text than is read at once
        process.stdin.write(data[:n_first])
        process.stdin.flush()
        self.wait(lambda: len(self.numbers()) >= 30_000)
        process.stdin.write(data[n_first:])
        self.end(process, 0)
        self.assert_loaded(range(30_100))

    def test_stop_while_a_pipe_is_silent(self) -> None:
        for begun in (b"", b"\x1f\x8b\x08", gzip.compress(lines(0, 1000))[:-20]):
            lock = self.directory / "state/load-dead-letters.jsonl.lock"
            lock.unlink(missing_ok=True)
            process = self.start("-")
            assert process.stdin
            process.stdin.write(begun)
            process.stdin.flush()
            self.wait(lambda: lock.exists() and len(self.numbers()) >= (500 if len(begun) > 3 else 0))
            process.terminate()
            process.wait(PATIENCE_S)
            said = self.end(process, 75)
            self.assertNotIn("did not stop in time", said)
            self.assertIn("standard input and pipes have no mark: send them again from the beginning", said)

    def test_gzip_with_zeros_behind(self) -> None:
        """As a tape or a device pads it, and gzip passes it over."""
        self.load(self.write("a.jsonl.gz", gzip.compress(lines(0, 500)) + bytes(300) + gzip.compress(lines(500, 500)) + bytes(70_000)))
        self.assert_loaded(range(1000))

    def test_zstd_of_a_window_that_is_too_large(self) -> None:
        packed = subprocess.run(["zstd", "-q", "-c", "--long=28"], input=lines(0, 500), check=True, stdout=subprocess.PIPE).stdout
        path = self.write("a.jsonl.zst", packed)
        said = self.load(path, exit_code=65)
        self.assertIn(f"'{path}' cannot be unpacked within zstd's default memory limit of 128 MiB: it was made with 'zstd --long'; ", said)
        self.assertNotIn("damaged", said)

    def test_zstd_behind_a_frame_to_be_skipped(self) -> None:
        """As pzstd writes it."""
        skipped = bytes.fromhex("502a4d1804000000") + b"\x1d\0\0\0"
        frames = [subprocess.run(["zstd", "-q", "-c"], input=lines(first, 500), check=True, stdout=subprocess.PIPE).stdout for first in (0, 500)]
        path = self.write("a.jsonl.zst", b"".join(skipped + frame for frame in frames))
        self.load(path)
        self.load("-", data=skipped + subprocess.run(["zstd", "-q", "-c"], input=lines(1000, 1), check=True, stdout=subprocess.PIPE).stdout)
        self.assert_loaded(range(1001))

    # ---- names ----

    def test_standard_input_is_another_file_each_time(self) -> None:
        for first, name in ((0, "-"), (100, "-"), (200, "/dev/stdin"), (300, "/dev/stdin")):
            with open(self.write("a.jsonl" if first < 300 else "b.jsonl", lines(first, 100)), "rb") as file:
                done = subprocess.run(self.command(*(["--again"] if first == 200 else []), name), stdin=file, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assert_loaded(range(400))

    def test_one_file_by_two_names(self) -> None:
        path = self.write("a.jsonl", lines(0, 100))
        link, hard_link = self.directory / "link", self.directory / "hard-link"
        link.symlink_to(path)
        os.link(path, hard_link)
        for other in (link, hard_link):
            self.assertIn(f"'{path}' and '{other}' are the same file", self.load(path, other, exit_code=64))
        self.assertIn("'-' and '/dev/stdin' are the same file", self.load("-", "/dev/stdin", exit_code=64, data=lines(0, 10)))
        self.load(link)
        self.assertIn("loaded before", self.load(path))
        other_path = self.write("b.jsonl", lines(100, 100))
        link.unlink()
        link.symlink_to(other_path)
        self.load(link)
        self.assert_loaded(range(200))

    # ---- others in a file's place ----

    def replace(self, path: Path, data: bytes) -> None:
        """By one of the same size and time, as rsync does with a file that was changed within a second."""
        self.assertEqual(len(data), path.stat().st_size)
        times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        new = self.write("new", data)
        os.utime(new, ns=times)
        new.rename(path)

    def test_replaced_by_one_of_equal_size_and_time(self) -> None:
        path = self.write("a.jsonl", lines(1000, 1000))
        self.load(path)
        self.replace(path, lines(2000, 1000))
        self.assertIn(f"'{path}' has changed since it was partly loaded", self.load(path, exit_code=65))
        half = self.write("b.jsonl", lines(10_000, 20_000))
        process = self.start("--rate", "10000", half)
        self.wait(lambda: self.marked() > 3000)
        process.kill()
        self.end(process, -signal.SIGKILL)
        self.replace(half, lines(40_000, 20_000))
        self.assertIn(f"'{half}' has changed since it was partly loaded", self.load(half, exit_code=65))
        self.assertEqual([number for number in self.numbers() if 2000 <= number < 10_000 or number >= 30_000], [])
        os.utime(path)
        self.load("--again", path)
        self.assertIn("loaded before", self.load(path))

    def test_written_to_in_its_place_meanwhile(self) -> None:
        """It is as long as before."""
        path = self.write("a.jsonl", lines(0, 20_000))
        process = self.start("--rate", "10000", path)
        self.wait(lambda: self.marked() > 100)
        with path.open("r+b") as file:
            file.write(lines(0, 1))
        self.assertIn(f"'{path}' was written to while it was loaded", self.end(process, 65))
        self.load(path)
        self.assert_loaded(range(20_000))

    def test_mark_that_is_damaged(self) -> None:
        path = self.write("a.jsonl", lines(0, 100))
        self.load(path)
        (mark,) = (self.directory / "state").glob("*.mark")
        good = mark.read_text()
        for bad, why in (("", "Key file does not have group"), (good[:good.index("crc32")], "does not have key"),
                         (good.replace("version=1", "version=2"), "its version is 2, not 1"), (good.replace("offset=", "offset=-"), "its offset is below 1")):
            mark.write_text(bad)
            said = self.load(path, exit_code=65)
            self.assertIn(f"cannot use the mark '{mark}': ", said)
            self.assertIn(why, said)
        mark.write_text(good.replace("finished=true", "finished=false").replace("position_bytes=", "position_bytes=9"))
        self.assertIn("has changed since it was partly loaded", self.load(path, exit_code=65))

    def test_another_hbase_is_loaded_too(self) -> None:
        path = self.write("a.jsonl", lines(0, 100))
        self.load(path)
        first, self.gateway = self.gateway, Gateway(BUILD / "tests/fault/scripted-gateway")
        self.addCleanup(self.gateway.end)
        for table in ("METRIC", "CURRENT"):
            self.gateway.ask("table", table, "M")
        self.gateways = [f"127.0.0.1:{self.gateway.greeting}"]
        self.load(path)
        self.assert_loaded(range(100))
        self.gateways = [f"127.0.0.1:{gateway.greeting}" for gateway in (first, self.gateway)]
        self.assertIn("loaded before", self.load(path))

    def test_times_the_wrong_way_round(self) -> None:
        path = self.write("a.jsonl", lines(0, 1))
        for start in ("2020-01-02", "2020-01-03"):
            self.assertIn("'--from' must be before '--to'",
                          self.load("--from", start, "--to", "2020-01-02", path, exit_code=64))

    # ---- what looks like a record ----

    def test_text_of_line_protocol_that_looks_like_a_line(self) -> None:
        self.readings = {"format": "influx", "time": {"format": "epoch_ms"}}
        note = f"a\nm,h=h09 v=9i,w=\"x\" {TIME_MS + 9}\n"
        quoted = note.replace('"', '\\"')
        path = self.write("a.lp", f"# DML\n \nm,h=h01 v=1i,w=\"{quoted}\" {TIME_MS + 1}\nm,h=h02 v=2i {TIME_MS + 2}\n# \"end".encode())
        self.load(path)
        self.assertEqual(self.numbers(), [1, 2])
        self.assertEqual(self.gateway.dump(["CURRENT"])["CURRENT"][b"h01"]["M", b"w"][1].decode(), note)
        self.assertEqual(self.dead_letters(), [])
        self.verify(path)

    # ---- much of nothing ----

    def test_more_empty_lines_than_memory(self) -> None:
        self.changes = {"limits": {"memory": "32MiB"}}
        self.load(self.write("a.jsonl", lines(0, 10) + b"\n" * (48 << 20) + lines(10, 10)))
        self.assert_loaded(range(20))

    def test_line_too_long_before_all_others(self) -> None:
        """It is kept up to one byte more than may be, though nothing before it keeps it in memory."""
        long = b'{"h":"' + b"".join(b"%08d" % number for number in range(500_000)) + b'"}\n'
        for name, end, code in (("a.jsonl", lines(0, 10), 0), ("b.jsonl", b"", 65)):
            self.load(self.write(name, long + end), exit_code=code)
        self.assertEqual([base64.b64decode(letter["value"]) for letter in self.dead_letters()], [long[:(1 << 20) + 1]] * 2)
        self.assert_loaded(range(10))

    def test_line_too_long_is_before_a_mark(self) -> None:
        path = self.write("a.jsonl", lines(0, 10) + b'{"h":"' + b"x" * (3 << 20) + b'"}\n' + lines(10, 10))
        self.load(path)
        with path.open("ab") as file:
            file.write(lines(20, 10))
        self.load(path)
        self.assertEqual(len(self.dead_letters()), 1)
        self.assert_loaded(range(30))

    def test_many_files(self) -> None:
        paths = [self.write(f"{number}.jsonl", lines(2 * number, 2)) for number in range(300)]
        self.assertIn("300 of 300 files loaded: 600 messages", self.load(*paths))
        self.assertIn("300 of 300 files: loaded before", self.load(*paths))
        self.assert_loaded(range(600))

    def test_dead_letters_in_what_is_loaded(self) -> None:
        data = lines(0, 10) + b"{broken\n"
        path, link = self.write("a.jsonl", data), self.directory / "link"
        link.symlink_to(path)
        for place in (path, link):
            self.assertIn(f"dead letters would be written to '{path}', which is also an input file", self.load("--dead-letters", place, path, exit_code=64))
        self.assertEqual(path.read_bytes(), data)

    # ---- no room ----

    def test_marks_that_find_no_room(self) -> None:
        self.changes = {"limits": {"drain_timeout": "1s"}}
        path = self.write("a.jsonl", lines(0, 1000))
        said = self.end(self.start(path, room_bytes=0), 74)
        self.assertIn(f"tidemark load: cannot write the mark of '{path}': ", said)
        self.assertIn("; more of the file is written than its mark reports, and the same command writes that again\n", said)
        self.load(path)
        self.assert_loaded(range(1000))

    def test_disk_that_is_full_under_dead_letters(self) -> None:
        """What cannot be kept is not passed over: it waits, says why, and goes on when there is room."""
        broken = b'{"h":"' + b"x" * 2 * ROOM_BYTES + b"\n"
        path = self.write("a.jsonl", lines(0, 500) + broken + lines(500, 500))
        process = self.start(path, room_bytes=ROOM_BYTES)
        assert process.stdout
        said = b""
        while b"File too large" not in said:
            said += process.stdout.readline()
        self.assertRegex(said.decode(), r"cannot write dead letters.*load-dead-letters.jsonl.*File too large")
        self.wait(lambda: len(self.numbers()) >= 500)
        self.assertLessEqual(self.marked(), 500)
        self.assertEqual(self.dead_letters(), [])
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.assertIn("             1 dead letter in '", self.end(process, 0))
        self.assertEqual([base64.b64decode(letter["value"]) for letter in self.dead_letters()], [broken.strip()])
        self.assert_loaded(range(1000))

    # ---- ended ----

    def test_two_at_once(self) -> None:
        path = self.write("a.jsonl", lines(0, 50_000))
        process = self.start("--rate", "1000", path)
        self.wait(lambda: len(self.numbers()) > 0)
        self.assertIn("tidemark load: another load uses the dead letter file '", self.load(path, exit_code=75))
        elsewhere = self.directory / "elsewhere.jsonl"
        self.load("--dead-letters", elsewhere, path)
        process.terminate()
        self.end(process, 75)
        self.load(path)
        self.assert_loaded(range(50_000))

    def test_stopped_and_begun_anew(self) -> None:
        path = self.write("a.jsonl", lines(0, 50_000))
        self.load(path)
        process = self.start("--again", "--rate", "1000", path)
        self.wait(lambda: 100 < self.marked() < 50_000)
        process.terminate()
        self.assertIn("the command without '--again' continues there", self.end(process, 75))
        self.assertIn("1 of 1 file loaded", self.load(path))

    def test_killed_at_any_moment(self) -> None:
        """However soon after its start, in the first mark or behind the last: the tables hold what the files do."""
        paths = [self.write(f"{part}.jsonl", lines(3000 * part, 3000)) for part in range(3)]
        chance = random.Random(11)
        for _ in range(15):
            process = self.start(*paths)
            time.sleep(chance.uniform(0, 0.4))
            process.kill()
            process.communicate()
        self.load(*paths)
        self.assert_loaded(range(9000))


if __name__ == "__main__":
    unittest.main(verbosity=2)

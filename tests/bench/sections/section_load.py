"""Files into the real HBase: `tidemark load` beside a bare sender of the same rows, which nothing can be faster than, and ImportTsv."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench_report import Report, counted, spread
from bench_setup import Bench
from daemon_run import tables_config
from measured_process import MeasuredProcess
from peers import import_tsv
from real_gateway import FAMILY, MACHINES, SPLITS, bare_sender, fresh_tables, recorder

TITLE = "files into the real HBase: tidemark load, a bare sender of its calls, and HBase's own ImportTsv"

# Metrics of a reading, and how many readings take some seconds each.
SHAPES = ((1, 400_000), (10, 120_000))
FILES = 4
WARM_UP_TURNS = 1

# As many as a load has by default (hbase.writers).
CONNECTIONS = 4

TABLE = "METRIC"


@dataclass(frozen=True)
class Took:
    rows: int
    seconds: float
    cpu_s: float
    rss_mib: float

    @property
    def rows_per_s(self) -> float:
        return self.rows / self.seconds

    def __add__(self, other: "Took") -> "Took":
        return Took(self.rows + other.rows, self.seconds + other.seconds, self.cpu_s + other.cpu_s, max(self.rss_mib, other.rss_mib))


@dataclass(frozen=True)
class Files:
    """The same readings as JSON lines, and as rows for ImportTsv, whose keys somebody else has made."""

    readings: int
    columns: list[str]
    json: list[Path]
    tsv: list[Path]


def run(bench: Bench, report: Report) -> None:
    rows: list[list[object]] = []
    for metrics, number in SHAPES:
        files = _files(bench, metrics, number // (10 if bench.quick else 1))
        fresh_tables(bench, [TABLE], SPLITS)
        with recorder(bench) as (calls, address):
            _load(bench, files, address)  # warms up, too
        runs: dict[str, list[Took]] = {"load": [], "bare sender": [], "ImportTsv": []}
        for turn in range(WARM_UP_TURNS + bench.runs):
            took = bench.turns.run(lambda: _turn(bench, files, calls, is_checked=turn == 0))
            for name, done in runs.items():
                done.append(took[name])
        runs = {name: done[WARM_UP_TURNS:] for name, done in runs.items()}
        shape = counted(metrics, "metrics")
        for name, at_least in (("bare sender", 0.95), ("ImportTsv", None)):
            report.ratio(f"rows/s of the load / of {name}, {shape}",
                         [one.rows_per_s / other.rows_per_s for one, other in zip(runs["load"], runs[name])], at_least=at_least)
        rows += [[f"{name}, {shape}", spread([one.rows_per_s / 1000 for one in done], 1),
                  statistics.median(one.cpu_s * 1e6 / one.rows for one in done), statistics.median(one.rss_mib for one in done)]
                 for name, done in runs.items()]
    report.table(f"To 4 regions of a real HBase, from {FILES} files; {CONNECTIONS} connections, as by default",
                 ["who", "k rows/s", "us CPU/row", "MiB"], rows)
    report.note("The bare sender's calls are those of a load on the real gateway. ImportTsv writes past the gateway, in the JVM of its job, "
                "two tasks\nat a time; it is given keys and times as columns, and its time counts from the start of the JVM.")


def _turn(bench: Bench, files: Files, calls: Path, *, is_checked: bool) -> dict[str, Took]:
    """Every other run is slower, whoever's it is: what is compared closely has an odd place and an even one."""
    digests: set[str] = set()

    def load() -> Took:
        fresh_tables(bench, [TABLE], SPLITS)
        return _load(bench, files, bench.stack().gateways[0].address)

    def bare() -> Took:
        fresh_tables(bench, [TABLE], SPLITS)
        figures = bare_sender(bench, bench.stack().gateways[0].address, calls, "--connections", str(CONNECTIONS))
        return Took(figures["rows"], figures["seconds"], figures["cpu_s"], 0)

    def note_content() -> None:
        if is_checked:
            digest = bench.stack().oracle.digest(TABLE)
            assert digest.rows == files.readings, f"{digest.rows} rows of {files.readings}"
            digests.add(digest.sha256)

    first = load()
    note_content()
    bare_runs = bare() + bare()
    load_runs = first + load()
    fresh_tables(bench, [TABLE], SPLITS)
    usage = import_tsv.run(bench.stack().hbase.zookeeper_port, TABLE, [f"{FAMILY}:{name}" for name in files.columns], files.tsv[0].parent,
                           bench.log("import-tsv"))
    note_content()
    if len(digests) > 1:
        raise RuntimeError("ImportTsv has written other cells than the load")
    return {"load": load_runs, "bare sender": bare_runs,
            "ImportTsv": Took(files.readings, usage.wall_s, usage.cpu_s, usage.max_rss_bytes / (1 << 20))}


def _files(bench: Bench, metrics: int, readings: int) -> Files:
    directory = bench.directory / bench.unique(f"files-{metrics}")
    (directory / "tsv").mkdir(parents=True)
    done = subprocess.run([bench.tidemark, "simulate", "--print", "--readings", str(readings), "--metrics", str(metrics), "--devices",
                           str(MACHINES), "--seed", "1"], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    lines = done.stdout.splitlines(keepends=True)
    columns = [name for name in json.loads(lines[0]) if name not in ("host", "ts")]
    found = Files(readings, columns, [], [])
    for part in range(FILES):
        piece = lines[part * len(lines) // FILES:(part + 1) * len(lines) // FILES]
        found.json.append(directory / f"{part}.jsonl")
        found.json[-1].write_bytes(b"".join(piece))
        found.tsv.append(directory / "tsv" / f"{part}.tsv")
        found.tsv[-1].write_text("".join(_tsv(json.loads(line, parse_float=str, parse_int=str), columns) for line in piece),
                                 encoding="utf-8")
    return found


def _tsv(reading: dict[str, str], columns: list[str]) -> str:
    return "\t".join([f"{reading['host']}#{reading['ts']}", reading["ts"], *(reading[name] for name in columns)]) + "\n"


def _load(bench: Bench, files: Files, gateway: str) -> Took:
    """What it says of itself counts: from before it knows of a gateway to behind its last mark."""
    log = bench.log("load")
    with tempfile.TemporaryDirectory(dir=bench.directory) as directory:
        config = Path(directory) / "tidemark.yaml"
        config.write_text(json.dumps({
            "kafka": {"brokers": "127.0.0.1:1", "group": "load", "topics": ["load"]},
            "readings": {"format": "json", "time": {"field": "ts", "format": "epoch_ms"}},
            "tables": tables_config(current=False), "hbase": {"gateways": [gateway]}}), encoding="utf-8")
        process = MeasuredProcess([bench.tidemark, "load", "-c", config, "--state-directory", directory, *files.json], log,
                                  stdout=subprocess.PIPE)
        text = process.stdout.read().decode()
        usage = process.wait()
    rate = re.search(r"messages in .*, ([\d,]+)/s", text)
    if usage.exit_code != 0 or rate is None:
        raise RuntimeError(f"the load ended with {usage.exit_code}, see '{log}': {text}")
    return Took(files.readings, files.readings / int(rate[1].replace(",", "")), usage.cpu_s, usage.max_rss_bytes / (1 << 20))

#!/usr/bin/env python3
"""Counts the rows per region of the same 100,000 readings under each key scheme, for docs/row-keys.md.

    rows_per_region.py build/daemon/tidemark [docs/row-keys.md]

With the page, fails when its figures are others.

2,000 meters, numbered one after the other, report 50 times each, every minute. Each scheme has a table of eight regions, split
as tidemark splits it, or by hand where it cannot. The row keys are those of `tidemark explain`, the daemon's own code. Told are
the share of the busiest region over all readings, and over those of a single minute: what the region servers see at a time.
"""

import json
import re
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections import Counter
from pathlib import Path
from typing import Iterator

sys.path.append(str(Path(__file__).resolve().parent.parent / "examples"))
from example_cases import unprintable  # noqa: E402

METERS, MINUTES, START_MS = 2_000, 50, 1_501_028_160_000
REGIONS = 8

# name, key, split points given by hand
SCHEMES = [
    ("date first", '[{ time: yyyyMMddHHmm }, "#", { field: meter, width: 10, pad: "0" }]',
     [f"2017072{day}" for day in range(1, REGIONS)]),
    ("number first", '[{ field: meter, width: 10, pad: "0", range: [0, 9999999] }, "#", { time: epoch_ms }]', None),
    ("number, true range", '[{ field: meter, width: 10, pad: "0", range: [1000000, 1001999] }, "#", { time: epoch_ms }]', None),
    ("reversed number", '[{ field: meter, width: 10, pad: "0", reversed: true, range: [0, 9999999999] }, "#", { time: epoch_ms }]',
     None),
    ("hash first", "[{ hash: md5, of: [{ field: meter, as: uint64 }], bytes: 4, as: raw }, { field: meter, as: uint64 }, { time: epoch_ms, binary: true }]",
     None),
    ("salt of the meter", '[{ salt: 8, of: [meter] }, "#", { field: meter }, "#", { time: epoch_ms }]', None),
    ("salt of the time", '[{ salt: 8, of: [{ time: epoch_ms }] }, "#", { field: meter }, "#", { time: epoch_ms }]', None),
]


def readings() -> Iterator[str]:
    for minute in range(MINUTES):
        for meter in range(METERS):
            yield json.dumps({"meter": 1_000_000 + meter, "ts": START_MS + minute * 60_000, "kwh": 0.42})


def configuration() -> str:
    tables = []
    for number, (_, key, points) in enumerate(SCHEMES):
        where = f"splits: {json.dumps(points)}" if points is not None else f"regions: {REGIONS}"
        tables.append(f"  T{number}:\n    key: {key}\n    columns: {{ family: m, from: [kwh] }}\n    {where}\n")
    return ('kafka: { brokers: "127.0.0.1:9092", group: g, topics: [t] }\n'
            "readings: { time: { field: ts, format: epoch_ms } }\n"
            "tables:\n" + "".join(tables) + 'hbase: { gateways: ["127.0.0.1:9090"] }\n')


def split_points(tidemark: str, config: str) -> dict[str, list[bytes]]:
    """Where tidemark would split, from the commands of HBase's shell that it prints."""
    printed = subprocess.run([tidemark, "tables", "create", "--dry-run", "-c", config], check=True, capture_output=True,
                             text=True).stdout
    points = {}
    for line in printed.splitlines():
        table, splits = re.match(r'create "(\w+)"', line), re.search(r"SPLITS => \[(.*)\]", line)
        assert table is not None, line
        points[table[1]] = [unprintable(point) for point in re.findall(r"'(.*?)'", splits[1] if splits else "")]
    return points


def main() -> int:
    tidemark = sys.argv[1]
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory) / "schemes.yaml"
        config.write_text(configuration(), encoding="utf-8")
        points = split_points(tidemark, str(config))
        messages = Path(directory) / "messages"
        messages.write_text("".join(f"{reading}\n" for reading in readings()), encoding="utf-8")
        explained = subprocess.Popen([tidemark, "explain", "--offline", "-f", "json", "-c", str(config)], text=True,
                                     stdin=messages.open("rb"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert explained.stdout is not None
        all_rows = {table: Counter() for table in points}
        minute_rows = {table: Counter() for table in points}
        for line in explained.stdout:
            row = json.loads(line)
            region = bisect_right(points[row["table"]], bytes.fromhex(row["row_hex"]))
            all_rows[row["table"]][region] += 1
            if row["line"] > METERS * (MINUTES - 1):
                minute_rows[row["table"]][region] += 1
    lines = [f"{'scheme':<20} {'regions':>7} {'rows in the busiest':>20} {'of one minute':>14}"]
    for number, (name, _, _) in enumerate(SCHEMES):
        table = f"T{number}"
        share, now = max(all_rows[table].values()), max(minute_rows[table].values())
        lines.append(f"{name:<20} {len(points[table]) + 1:>7} {share:>12,} = {share / METERS / MINUTES:>5.0%} {now / METERS:>14.0%}")
    print("\n".join(lines))
    if len(sys.argv) > 2:
        missing = [line for line in lines if line not in Path(sys.argv[2]).read_text(encoding="utf-8")]
        print(*(f"'{sys.argv[2]}' does not hold: {line}" for line in missing), sep="\n")
        return 1 if missing else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())

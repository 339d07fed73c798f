#!/usr/bin/env python3
"""`init` never writes a file with which its samples lose a reading: messages of random shapes, of one device or several, nested, in
lists, in the long form and mixed. Each measured value is a number of its own, so that what is lost is known by its number. Where `init`
refuses, it says so (64 or 65); most shapes are to be written.

    test_init_shapes.py BUILD [SHAPES] [SEED]
"""
from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

WRITTEN_RATIO = 0.75  # of all shapes; the others are rejected, because no field is clearly the time or the key
DEVICE_NAMES = ["host", "deviceId", "device", "sensor_id", "serial", "mac", "node", "id", "tag", "station", "meter"]
ODD_NAMES = ["wagon", "x", "Gerät", "who", "the unit", "bay.no"]  # that nobody knows
PLACE_NAMES = ["site", "plant", "line", "area", "cell", "customer"]
TIME_NAMES = ["ts", "time", "timestamp", "at", "event_time", "t", "measuredAt"]
VALUE_NAMES = ["temp", "hum", "volt", "rpm", "load", "flow", "pressure", "co2", "kwh"]
METRIC_NAMES = ["metric", "name", "parameter", "type", "variable", "signal"]
STATES = ["ok", "on", "off", "good", "A", "B", "running"]


class Shape:
    """One kind of messages: what its devices are called, how times are written, where the readings stand."""

    def __init__(self, draw: random.Random, number: int) -> None:
        self.draw, self.number, self.next = draw, number, 0
        self.start = int(time.time()) - 4000
        self.form = draw.choice(["s", "ms", "us", "float", "iso", "iso6", "isoms"])
        self.device_field, self.time_field = draw.choice(ODD_NAMES if draw.random() < 0.2 else DEVICE_NAMES), draw.choice(TIME_NAMES)
        self.arrives, self.message_id, self.gaps = draw.random() < 0.3, draw.random() < 0.2, draw.random() < 0.3
        self.devices = [f"d{draw.randrange(100)}-{i}" for i in range(draw.choice([1, 1, 2, 3, 5]))]
        if draw.random() < 0.15:
            self.devices = [str(100 + i) for i in range(len(self.devices))]
        self.values = draw.sample(VALUE_NAMES, draw.randint(1, 4))
        self.kind = draw.choice(["flat", "nested", "long", "list", "each", "each in each", "pairs", "map", "zip", "text", "mixed", "part"])
        self.place = draw.choice(PLACE_NAMES) if draw.random() < 0.4 else None
        self.state = draw.random() < 0.3
        self.newest: dict[tuple[str, ...], float] = {}  # of each thing that is measured
        self.step = draw.choice([0, 1, 1, 10])  # seconds between rounds; 0: less than one

    def value(self, *of: str) -> float:
        self.next += 1
        self.newest[of] = self.number * 100000 + self.next + 0.25
        return self.newest[of]

    def moment(self, round_: int) -> Any:
        us = (self.start + self.step * round_) * 1000000 + (round_ * 1501 if self.form not in ("s",) else 0)
        if self.step == 0 and self.form == "s":
            us += round_ * 1000000
        if self.step == 0 and self.form in ("ms", "isoms"):
            us += round_ * 1000
        s, fraction = divmod(us, 1000000)
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(s))
        return {"s": s, "ms": us // 1000, "us": us, "float": us / 1000000, "iso": f"{text}.{fraction:06}Z".replace(".000000", ""),
                "iso6": f"{text}.{fraction:06}+00:00", "isoms": f"{text}.{fraction // 1000:03}Z"}[self.form]

    def around(self, device: str) -> dict[str, Any]:
        found: dict[str, Any] = {self.device_field: int(device) if device.isdigit() and self.number % 2 else device}
        if self.place:
            found[self.place] = "north"
        if self.state:
            found["state"] = self.draw.choice(STATES)
        if self.arrives:
            found["received_at"] = self.start + 3900
        if self.message_id:
            found["msg_id"] = f"{self.draw.getrandbits(64):016x}"
        return found

    def measured(self, *of: str) -> dict[str, float]:
        names = [name for name in self.values if not self.gaps or self.draw.random() < 0.7] or self.values[:1]
        return {name: self.value(*of, name) for name in names}

    def messages(self) -> list[Any]:
        rounds = self.draw.randint(1, 6)
        made = [message for round_ in range(rounds) for device in self.devices for message in self.of(device, round_)]
        if self.kind == "list":
            return [made[i:i + 3] for i in range(0, len(made), 3)]
        if self.kind == "text":
            return [json.dumps(message) for message in made] if self.number % 3 == 0 else made
        return made

    def of(self, device: str, round_: int) -> list[Any]:
        around, at = self.around(device), {self.time_field: self.moment(round_)}
        names = self.draw.sample(VALUE_NAMES, 3)
        if self.kind == "nested":
            return [{"meta": {**around}, "data": {**at, "values": self.measured(device)}}]
        if self.kind == "long":
            return [{**around, **at, METRIC_NAMES[self.number % 6]: name, "value": self.value(device, name)} for name in VALUE_NAMES[:3]]
        if self.kind == "each":
            return [{**around, "readings": [{**at, "channel": name, "value": self.value(device, name)} for name in names]}]
        if self.kind == "each in each":
            return [{"gw": "g1", "devices": [{**around, "readings": [{**at, **self.measured(device)}]}]}]
        if self.kind == "pairs":
            return [{**around, **at, "metrics": [{"name": name, "value": self.value(device, name)} for name in names]}]
        if self.kind == "map":
            return [{**around, **at, "probes": {f"p{i}": {"temp": self.value(device, f"p{i}")} for i in range(2)}}]
        if self.kind == "zip":
            times = [self.moment(10 * round_ + i) for i in range(3)]
            return [{**around, "series": {self.time_field: times, "temp": [self.value(device) for _ in times]}}]
        if self.kind == "text":
            return [{**around, **at, "payload": json.dumps(self.measured(device))}]
        if self.kind == "mixed":
            disk = self.draw.choice("ab")
            return [{**around, **at, "cpu": self.value(device, "cpu")}, {**around, **at, "disk": disk, "free": self.value(device, disk)}]
        if self.kind == "part":
            return [{**around, **at, "slot": f"u{i}", **self.measured(device, f"u{i}")} for i in range(2)]
        return [{**around, **at, **self.measured(device)}]


def numbers_in(value: Any) -> set[float]:
    """Of everything inside, also of texts that hold JSON."""
    if isinstance(value, (list, dict)):
        return set().union(*map(numbers_in, value if isinstance(value, list) else value.values()), set())
    if isinstance(value, str) and value[:1] in "{[\"":
        return numbers_in(json.loads(value))
    return {value} if isinstance(value, float) and value % 1 == 0.25 and value < 1e9 else set()


def survivors(explained: str) -> tuple[set[float], set[float], str]:
    """What HBase would show of the history and of the newest values: of each row and column the last one of the newest time."""
    cells: dict[tuple[str, str, str], tuple[int, str]] = {}
    bad = ""
    for line in explained.splitlines():
        row = json.loads(line)
        bad = bad or (line if "rejected" in row else "")
        for cell in row["cells"] if "table" in row else []:
            place = row["table"], row["row"], cell["qualifier"]
            if place not in cells or cells[place][0] <= cell["timestamp_ms"]:
                cells[place] = cell["timestamp_ms"], cell["value"]
    kept: dict[str, set[float]] = {"METRIC": set(), "CURRENT_METRIC": set()}
    for (table, _, _), (_, value) in cells.items():
        kept[table] |= numbers_in(number_of(value))
    return kept["METRIC"], kept["CURRENT_METRIC"], bad


def number_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def run(program: Path, directory: Path, number: int, seed: int) -> tuple[str, bool]:
    """What is wrong with shape @number, if anything; and whether a file was written."""
    shape = Shape(random.Random(seed * 1000003 + number), number)
    text = "".join(json.dumps(message) + "\n" for message in shape.messages())
    file = directory / f"{number}.yaml"
    made = subprocess.run([program, "init", "--yes", "-c", file], input=text, capture_output=True, text=True, timeout=300)
    what = f"shape {number} of seed {seed} ({shape.kind}, {shape.form}): {text[:600]}\n{made.stderr}"
    if made.returncode in (64, 65):
        return ("" if made.stderr and not file.exists() else f"{what}: written, or refused without a word"), False
    if made.returncode != 0:
        return f"{what}: exit code {made.returncode}", False
    done = subprocess.run([program, "explain", "--offline", "-f", "json", "-c", file], input=text, capture_output=True, text=True, timeout=300)
    expected = set().union(*(numbers_in(json.loads(line)) for line in text.splitlines()))
    kept, newest, bad = survivors(done.stdout)
    file.unlink()
    hidden = set(shape.newest.values()) - newest
    if hidden:
        return f"{what}: the newest values hide others', such as {sorted(hidden)[:3]}", True
    if bad or kept != expected or not expected:
        return f"{what}: {len(expected - kept)} of {len(expected)} values are lost, such as {sorted(expected - kept)[:3]}; {bad}", True
    return "", True


def main() -> int:
    build, n_shapes = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory(prefix="tidemark-shapes-") as directory, ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda number: run(build / "daemon" / "tidemark", Path(directory), number, seed), range(n_shapes)))
    wrong = [what for what, _ in found if what]
    n_written = sum(written for _, written in found)
    for what in wrong[:5]:
        print(what)
    print(f"{n_shapes} shapes: {n_written} written, {n_shapes - n_written} refused, {len(wrong)} wrong")
    return 1 if wrong or n_written < WRITTEN_RATIO * n_shapes else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares times that patterns read and print, as the daemon does it, with Python's calendar and zones, in both directions.

    test_times.py BUILD/tests/formats/read-times [--times N] [--seed N]
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "America/St_Johns", "Australia/Lord_Howe",
         "Pacific/Apia", "Asia/Kathmandu", "Africa/Casablanca"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
EPOCH = datetime(1970, 1, 1)
FIRST_S, LAST_S, END_S = 946684800, 2145916800, 7258118400  # 2000 to 2038; nothing is from 2200 on
# What stands between two elements: as the pattern writes it, and itself.
BETWEEN = [("-", "-"), ("/", "/"), (":", ":"), (" ", " "), (", ", ", "), ("'T'", "T"), (" 'o''clock' ", " o'clock "), ("''", "'"),
           ("€", "€"), ("'['", "[")]
DATES = [["yyyy", "MM", "dd"], ["dd", "MM", "yyyy"], ["M", "d", "yyyy"], ["d", "MMM", "yy"], ["EEE", "d", "MMM", "yyyy"],
         ["yyyy", "DDD"], ["yyyy", "D"], ["yy", "M", "d"]]
CLOCKS = [["HH", "mm", "ss", "f"], ["H", "m", "s", "SSS"], ["hh", "mm", "ss", "a"], ["h", "mm", "a"], ["a", "hh", "mm"], ["HH", "mm"],
          ["HH", "mm", "ss", "SSSSSS", "X"], ["H", "mm", "ss", "XXX"], ["HH", "mm", "ss", "f", "XX"], ["HH"]]
FORMS = {"yyyy": r"(?P<y>\d{4})", "yy": r"(?P<yy>\d{2})", "MM": r"(?P<M>\d{2})", "M": r"(?P<M>\d{1,2})", "dd": r"(?P<d>\d{2})",
         "d": r"(?P<d>\d{1,2})", "MMM": r"(?P<MMM>" + "|".join(MONTHS) + ")", "EEE": "(?:" + "|".join(DAYS) + ")",
         "DDD": r"(?P<D>\d{3})", "D": r"(?P<D>\d{1,3})", "HH": r"(?P<H>\d{2})", "H": r"(?P<H>\d{1,2})", "hh": r"(?P<h>\d{2})",
         "h": r"(?P<h>\d{1,2})", "a": "(?P<a>AM|PM)", "mm": r"(?P<m>\d{2})", "m": r"(?P<m>\d{1,2})", "ss": r"(?P<s>\d{2})",
         "s": r"(?P<s>\d{1,2})", "f": r"(?P<f>\d+)", "X": r"(?P<X> ?(?:Z|[+-]\d{2}(?::?\d{2})?))"}


class Node:
    """An element, what stands for itself (with quotes in `written`), or an optional part with more of them."""

    def __init__(self, written: str, text: str = "", inner: list[Node] | None = None):
        self.written, self.text, self.inner = written, text, inner

    def pattern(self) -> str:
        return self.written if self.inner is None else "[" + "".join(node.pattern() for node in self.inner) + "]"

    def regex(self) -> str:
        if self.inner is not None:
            return "(?:" + "".join(node.regex() for node in self.inner) + ")?"
        if self.text:
            return re.escape(self.text)
        if self.written[0] == "S":
            return rf"(?P<f>\d{{{len(self.written)}}})"
        return FORMS["X" if self.written[0] == "X" else self.written]


def random_nodes(draw: random.Random) -> list[Node]:
    def join(elements: list[str]) -> list[Node]:
        nodes = []
        for element in elements:
            nodes += [Node(*draw.choice(BETWEEN)), Node(element)]
        return nodes[1:]

    clock = draw.choice(CLOCKS)
    keep = draw.randint(1, len(clock))
    nodes, rest = join(clock), None
    if clock[0].startswith("H") and keep < len(clock):  # the smaller elements may be absent, each with what follows it
        for element in reversed(clock[keep:]):
            part = [Node(*draw.choice(BETWEEN)), Node(element)] + ([rest] if rest else [])
            rest = Node("", inner=part)
        nodes = join(clock[:keep]) + [rest]
    halves = [join(draw.choice(DATES)), nodes]
    if rest is None and draw.random() < 0.3:
        halves.reverse()
    return halves[0] + [Node(*draw.choice(BETWEEN))] + halves[1]


def print_offset(minutes: int, letters: int) -> str:
    if minutes == 0:
        return "Z"
    hours, rest = divmod(abs(minutes), 60)
    text = ("-" if minutes < 0 else "+") + f"{hours:02d}"
    return text if letters == 1 and rest == 0 else text + (":" if letters == 3 else "") + f"{rest:02d}"


def print_element(element: str, local: datetime, ns: int, minutes: int) -> str:
    number = {"y": local.year, "M": local.month, "d": local.day, "D": local.timetuple().tm_yday, "H": local.hour,
              "h": (local.hour + 11) % 12 + 1, "m": local.minute, "s": local.second}
    if element == "yy":
        return f"{local.year % 100:02d}"
    if element in ("MMM", "EEE", "a"):
        return {"MMM": MONTHS[local.month - 1], "EEE": DAYS[local.weekday()], "a": "PM" if local.hour > 11 else "AM"}[element]
    if element == "f":
        return f"{ns:09d}".rstrip("0") or "0"
    if element[0] == "S":
        return f"{ns:09d}"[:len(element)]
    if element[0] == "X":
        return print_offset(minutes, len(element))
    return str(number[element[0]]).zfill(len(element))


def print_nodes(nodes: list[Node], local: datetime, ns: int, minutes: int, draw: random.Random | None = None) -> str:
    """@draw: some optional parts are left out, and offsets and fractions take other forms."""
    text = ""
    for node in nodes:
        if node.inner is not None:
            text += "" if draw and draw.random() < 0.3 else print_nodes(node.inner, local, ns, minutes, draw)
        elif draw and node.written[0] == "X" and not node.text:
            text += draw.choice(["", " "]) + print_offset(minutes, draw.randint(1, 3))
        else:
            text += node.text or print_element(node.written, local, ns, minutes)
    return text


def moment(nodes: list[Node], zone: str, text: str) -> int | None:
    """What @text means, by a regular expression and Python's calendar."""
    found = re.fullmatch("".join(node.regex() for node in nodes), text, re.IGNORECASE | re.ASCII)
    if found is None:
        return None
    said = {key: value for key, value in found.groupdict().items() if value is not None}
    number = {key: int(value) for key, value in said.items() if key not in ("MMM", "a", "X")}
    year = number["y"] if "y" in number else 2000 + number["yy"]
    try:
        if "D" in number:
            day = date(year, 1, 1) + timedelta(days=number["D"] - 1)
            if number["D"] < 1 or day.year != year:
                return None
        else:
            day = date(year, number["M"] if "M" in number else MONTHS.index(said["MMM"].capitalize()) + 1, number["d"])
        hour = number.get("H", 0)
        if "h" in number:
            if not 1 <= number["h"] <= 12:
                return None
            hour = number["h"] % 12 + (12 if said["a"].upper() == "PM" else 0)
        local = datetime(day.year, day.month, day.day, hour, number.get("m", 0), number.get("s", 0))
    except ValueError:
        return None
    ns = int(said.get("f", "0")[:9].ljust(9, "0"))
    if "X" in said:
        offset = said["X"].strip().replace(":", "").upper().ljust(5, "0")
        minutes = 0 if offset[0] == "Z" else int(offset[1:3]) * 60 + int(offset[3:5])
        if offset[0] != "Z" and (int(offset[1:3]) > 23 or int(offset[3:5]) > 59):
            return None
        utc = local - timedelta(minutes=-minutes if offset[0] == "-" else minutes)
    else:
        utc = local.replace(tzinfo=ZoneInfo(zone), fold=0).astimezone(timezone.utc).replace(tzinfo=None)
        if utc.replace(tzinfo=timezone.utc).astimezone(ZoneInfo(zone)).replace(tzinfo=None) != local:
            return None  # the clocks skip it
    seconds = (utc - EPOCH) // timedelta(seconds=1)
    return seconds * 10**9 + ns if 0 <= seconds < END_S else None


def broken(draw: random.Random, text: str) -> str:
    at = draw.randint(0, len(text))
    return text[:at] + draw.choice(["", "", "0", "9", " ", "-", "Z", "1"]) + text[at + draw.randint(0, 2):]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--times", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    asked, wanted = [], []
    for _ in range(options.times):
        nodes, zone = random_nodes(draw), draw.choice(ZONES)
        if re.search(r"X\[*:", "".join(node.pattern() for node in nodes)):
            continue  # an offset before a colon is refused
        pattern = "".join(node.pattern() for node in nodes)
        seconds, ns = draw.randint(FIRST_S, LAST_S), draw.choice([0, 5, 120000000, draw.randint(0, 999999999)])
        aware = datetime.fromtimestamp(seconds, timezone.utc).astimezone(ZoneInfo(zone))
        local, minutes = aware.replace(tzinfo=None), int(aware.utcoffset().total_seconds()) // 60
        asked.append(f"{zone}\t{pattern}\tp\t{seconds * 10**9 + ns}")
        wanted.append(print_nodes(nodes, local, ns, minutes))
        for text in (print_nodes(nodes, local, ns, minutes, draw), broken(draw, wanted[-1])):
            text = draw.choice([text, text.lower(), text.upper()]) if draw.random() < 0.1 and "o'clock" not in text \
                and "T" not in pattern else text
            asked.append(f"{zone}\t{pattern}\tr\t{text}")
            read = moment(nodes, zone, text)
            wanted.append("refused" if read is None else str(read))
    got = subprocess.run([options.program], input="\n".join(asked) + "\n", capture_output=True, text=True, check=True).stdout
    bad = [(line, want, have) for line, want, have in zip(asked, wanted, got.splitlines(), strict=True) if want != have]
    for line, want, have in bad[:10]:
        print(f"# {line!r}: wanted {want!r}, got {have!r}")
    print("1..1")
    print(f"{'not ok' if bad else 'ok'} 1 - {len(asked)} times in both directions, {sum(w == 'refused' for w in wanted)} refused")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

"""The output of a benchmark: tables, ratios with their goals, and the machine."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Sequence

from machine_load import Turns


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The median, and between which values all lie: '2.41 (2.38..2.60)'."""
    if len(values) == 1:
        return f"{values[0]:,.{digits}f}"
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}..{max(values):,.{digits}f})"


def counted(count: int, things: str) -> str:
    """'1 metric', '1,000 latest keys'."""
    return f"{count:,} {things.removesuffix('s') if count == 1 else things}"


@dataclass
class Ratio:
    """One figure of each run against another of the same run. Nothing fails because of it: it is told."""

    name: str
    values: list[float]
    at_most: Optional[float]
    at_least: Optional[float]
    digits: int
    unit: str

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def is_reached(self) -> Optional[bool]:
        if self.at_most is not None:
            return self.median <= self.at_most
        return None if self.at_least is None else self.median >= self.at_least

    def asked(self) -> str:
        if self.at_most is not None:
            return f"at most {self.at_most:,g}"
        return "" if self.at_least is None else f"at least {self.at_least:,g}"


@dataclass
class Report:
    """Prints as it goes, so that a long run shows what it has; `write` keeps all of it as JSON."""

    facts: dict[str, str]
    ratios: list[Ratio] = field(default_factory=list)
    _sections: list[dict[str, Any]] = field(default_factory=list)

    def print_facts(self) -> None:
        width = max(len(name) for name in self.facts)
        for name, value in self.facts.items():
            print(f"{name:<{width}}  {value}")

    def begin_section(self, name: str, title: str) -> None:
        print(f"\n== {name}: {title}", flush=True)
        self._sections.append({"name": name, "title": title, "tables": [], "ratios": [], "notes": []})

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Prints it with the first column to the left, the others to the right."""
        self._sections[-1]["tables"].append({"title": title, "columns": list(columns), "rows": [list(row) for row in rows]})
        cells = [[f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
                  for value in row] for row in rows]
        widths = [max(len(line[i]) for line in [list(columns), *cells]) for i in range(len(columns))]
        print(f"\n{title}")
        for line in [list(columns), *cells]:
            print("  ".join([f"{line[0]:<{widths[0]}}", *(f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:]))]))
        print(end="", flush=True)

    def ratio(self, name: str, values: Sequence[float], *, at_most: Optional[float] = None, at_least: Optional[float] = None,
              digits: int = 2, unit: str = "") -> None:
        """A figure that something is asked of: one value of each run, paired within the run."""
        ratio = Ratio(name, list(values), at_most, at_least, digits, unit)
        self.ratios.append(ratio)
        self._sections[-1]["ratios"].append({"name": name, "unit": unit, "values": ratio.values, "median": ratio.median,
                                             "at_most": at_most, "at_least": at_least, "reached": ratio.is_reached})
        print(_ratio_line(ratio), flush=True)

    def note(self, text: str) -> None:
        self._sections[-1]["notes"].append(text)
        print(text, flush=True)

    def end_section(self, turns: Turns, seconds: float) -> None:
        self._sections[-1].update(seconds=round(seconds), machine=turns.facts())
        print(f"\n({seconds:.0f} s; {turns.text()})", flush=True)

    def print_ratios(self) -> None:
        print("\n== All ratios")
        for ratio in self.ratios:
            print(_ratio_line(ratio))

    def write(self, path: Path) -> None:
        path.write_text(json.dumps({"machine": self.facts, "sections": self._sections}, indent=2) + "\n", encoding="utf-8")


def _ratio_line(ratio: Ratio) -> str:
    verdict = {None: "", True: "reached", False: "NOT reached"}[ratio.is_reached]
    values = " ".join(filter(None, [spread(ratio.values, ratio.digits), ratio.unit]))
    return f"  {ratio.name:<64} {values:>26}  {ratio.asked():<17} {verdict}".rstrip()


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
    except OSError:
        return "not there"
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else "silent"


def _proc_field(path: str, name: str) -> str:
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return "unknown"


def _on_one_line(versions: str) -> str:
    """What `tidemark version` tells, a program or library a line; what is indented further goes on with the one before."""
    parts: list[str] = []
    for line in versions.strip().splitlines():
        text = " ".join(line.split())
        if line.startswith("   "):
            parts[-1] += f" {text}"
        else:
            parts.append(text)
    return "; ".join(parts)


def machine_facts(tidemark: Path) -> dict[str, str]:
    """What anybody needs to know who compares figures with these."""
    versions = subprocess.run([str(tidemark), "version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {
        "time": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "processor": _proc_field("/proc/cpuinfo", "model name"),
        "cores": str(os.cpu_count()),
        "memory": f"{int(_proc_field('/proc/meminfo', 'MemTotal').split()[0]) / (1 << 20):.1f} GiB",
        "kernel": platform.release(),
        "load before": f"{os.getloadavg()[0]:.2f}",
        "tidemark": _on_one_line(versions),
        "java": _first_line("java", "-version"),
        "kcat": _first_line("dpkg-query", "-W", "-f", "${Version}\n", "kcat"),
    }

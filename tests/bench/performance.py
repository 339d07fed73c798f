#!/usr/bin/env python3
"""Writes the figures of a release, as stored by ./bench, into docs/performance.md: newest release first, replacing an existing chapter.

    performance.py docs/performance.md bench.json... [--release NAME]

Several files are sections of one release that were measured apart. The release is what `tidemark version` said, if it is not given.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from pathlib import Path
from typing import Any, Iterator

HEAD = """# Figures of each release

Figures are medians of all turns, with minimum and maximum in brackets. `tests/bench/performance.py` generates this page from the
results of `./bench --json`.

- **Compare ratios** rather than figures: machines and hours differ, but compared programs ran in turns in one run.
- **Goals** are the project's own. A goal that is not reached is future work; no test fails.
- **Turns** during which other processes used more than a twentieth of the machine were repeated. The number of turns of a section
  counts all its parts, including warm-up turns. A section that names no build was measured with the one at the top.
- **To plan**, use the CPU per reading (`client`, `cost`), as `tidemark bench --plan` does ([sizing](sizing.md)). End-to-end speeds
  (`load`, `backlog`, `latency`) are from one machine shared by Kafka, HBase, the gateway and tidemark, so compare only within a
  table.

[Benchmarks](benchmarks.md) explains the figures.
"""

_RELEASE = re.compile(r"^## (\S+)", re.M)


def number(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def spread(values: list[float]) -> str:
    middle = number(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({number(min(values))}..{number(max(values))})"


def goal(ratio: dict[str, Any]) -> str:
    bounds = [f"{word} {ratio[name]:,g}" for name, word in (("at_most", "at most"), ("at_least", "at least"))
              if ratio[name] is not None]
    return f"{bounds[0]}{'' if ratio['reached'] else ': **not reached**'}" if bounds else ""


def cell(value: Any) -> str:
    text = number(value) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
    return text.replace("|", "\\|")


def table(columns: list[str], rows: list[list[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(map(cell, columns))} |"
    yield f"|{'---|' * len(columns)}"
    yield from (f"| {' | '.join(map(cell, row))} |" for row in rows)


def stillness(section: dict[str, Any]) -> str:
    machine = section.get("machine", {})
    if not machine.get("turns"):
        return ""
    return (f"{machine['turns']} turns; other processes used {statistics.median(machine['others_share']):.1%} of the machine, "
            f"at most {max(machine['others_share']):.1%}; repeated turns: {machine['repeated']}, still disturbed: {machine['disturbed']}.")


def build_of(run: dict[str, Any]) -> str:
    return run["machine"]["tidemark"].partition(";")[0].partition(",")[0]


def section_lines(section: dict[str, Any], remark: str) -> Iterator[str]:
    title = f"{section['title'][:1].upper()}{section['title'][1:]}."
    yield from ("", f"### {section['name']}", "", " ".join(filter(None, (title, stillness(section), remark))))
    if section["ratios"]:
        yield ""
        yield from table(["figure", "measured", "goal"],
                         [[one["name"], f"{spread(one['values'])} {one['unit']}".rstrip(), goal(one)] for one in section["ratios"]])
    for one in section["tables"]:
        yield from ("", f"{one['title']}:", "")
        yield from table(one["columns"], one["rows"])


def chapter(release: str, runs: list[dict[str, Any]]) -> str:
    machine = runs[-1]["machine"]
    facts = ", ".join(f"{machine[name]}{unit}" for name, unit in (("processor", ""), ("cores", " cores"), ("memory", ""), ("kernel", ""))
                      if name in machine)
    lines = [f"## {release}", "", f"{machine['time']}; {facts}; {machine['tidemark']}."]
    newest = {section["name"]: (section, build_of(run)) for run in runs for section in run["sections"]}
    for section, build in newest.values():
        lines += section_lines(section, "" if build == build_of(runs[-1]) else f"Measured with {build}.")
    return "\n".join(lines) + "\n"


def put(document: str, release: str, text: str) -> str:
    """The document with this chapter in front, or in the place of the release's old one."""
    begins = [(found.start(), found[1]) for found in _RELEASE.finditer(document)]
    ends = [start for start, _ in begins[1:]] + [len(document)]
    chapters = {name: document[start:end].rstrip("\n") + "\n" for (start, name), end in zip(begins, ends)}
    chapters = {**chapters, release: text} if release in chapters else {release: text, **chapters}
    return "\n".join([HEAD, *chapters.values()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document", type=Path)
    parser.add_argument("json", type=Path, nargs="+")
    parser.add_argument("--release")
    arguments = parser.parse_args()
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in arguments.json]
    release = arguments.release or runs[-1]["machine"]["tidemark"].split()[1].rstrip(",")
    before = arguments.document.read_text(encoding="utf-8") if arguments.document.exists() else ""
    arguments.document.write_text(put(before, release, chapter(release, runs)), encoding="utf-8")


if __name__ == "__main__":
    main()

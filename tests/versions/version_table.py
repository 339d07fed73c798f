#!/usr/bin/env python3
"""What each version of HBase's gateway, of Kafka and of librdkafka did in each step of the main job: versions.json, and tables of it.

    version_table.py [--write] [ROOT]

Compares the tables of README.md and docs/install.md with versions.json; --write puts them anew between their markers. The file
itself is what tests/integration/test_versions.py has seen, and holds it against.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BEGIN, END = "<!-- versions: begin -->\n", "<!-- versions: end -->\n"
OK = "ok"


def _newest_first(version: str) -> tuple[str, list[int]]:
    product, number = version.split()
    return product, [-int(part) for part in re.findall(r"\d+", number)]


def _row(words: list[str]) -> str:
    return f"| {' | '.join(words)} |\n"


class VersionTable:
    """Versions down, steps across. A version is spelt "HBase 2.4.17"."""

    def __init__(self, text: str = "{}") -> None:
        self._steps: dict[str, dict[str, str]] = json.loads(text)

    @classmethod
    def kept(cls) -> "VersionTable":
        return cls((HERE / "versions.json").read_text(encoding="utf-8"))

    def record(self, seen: dict[str, dict[str, str]]) -> None:
        self._steps.update(seen)

    def steps(self, version: str) -> dict[str, str]:
        return self._steps.get(version, {})

    def json(self) -> str:
        return json.dumps({version: self._steps[version] for version in self._versions()}, indent=2) + "\n"

    def every_step(self) -> str:
        """For those who want to know what a version did."""
        steps = list(dict.fromkeys(step for steps in self._steps.values() for step in steps))
        return "".join([_row(["version", *steps]), _row(["---"] * (1 + len(steps))),
                        *(_row([version, *(self._steps[version].get(step, "") for step in steps)]) for version in self._versions())])

    def summary(self) -> str:
        """A row for each product: versions in which each step showed nothing but ok, and the others."""
        rows = [_row(["version", "the whole job", "the whole job, with [limits](docs/install.md#which-versions)"]), _row(["---"] * 3)]
        for product in dict.fromkeys(version.split()[0] for version in self._versions()):
            cells: tuple[list[str], list[str]] = ([], [])
            for version in self._versions():
                if version.startswith(f"{product} "):
                    cells[any(seen != OK for seen in self._steps[version].values())].append(version.split()[1])
            rows.append(_row([product, *(", ".join(versions) for versions in cells)]))
        return "".join(rows)

    def _versions(self) -> list[str]:
        return sorted(self._steps, key=_newest_first)


def main() -> int:
    roots = [word for word in sys.argv[1:] if not word.startswith("-")]
    root = Path(roots[0]).resolve() if roots else HERE.parents[1]
    kept = VersionTable.kept()
    n_other = 0
    for name, wanted in (("README.md", kept.summary()), ("docs/install.md", kept.every_step())):
        text = (root / name).read_text(encoding="utf-8")
        before, found, after = text.partition(BEGIN)
        table, ended, rest = after.partition(END)
        if not found or not ended:
            print(f"{name}: has no place for the table between {BEGIN.strip()} and {END.strip()}")
            n_other += 1
        elif table != wanted and "--write" in sys.argv:
            (root / name).write_text(before + BEGIN + wanted + END + rest, encoding="utf-8")
        elif table != wanted:
            print(f"{name}: its table of versions is other than versions.json says; to write it anew: ./check --write")
            n_other += 1
    return 1 if n_other else 0


if __name__ == "__main__":
    sys.exit(main())

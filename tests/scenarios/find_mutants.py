#!/usr/bin/env python3
"""Puts the mutants of README.md's table into the program, and runs the scenarios that find them: each must, and the program
without a mutant must pass the same.

    find_mutants.py [--directory DIR] [--counts FILE]
"""
from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests/mutation"))
from mutants import read_all  # noqa: E402
from workshop import Workshop  # noqa: E402


def table() -> list[tuple[str, int]]:
    """Mutant and seed, as README.md has them."""
    rows = re.findall(r"^\| \w+ \| `([\w-]+)` \| (\d+) \|", (HERE / "README.md").read_text(encoding="utf-8"), re.M)
    return [(name, int(seed)) for name, seed in rows]


def finds(workshop: Workshop, seed: int) -> bool:
    """Whether the seed's batch fails with the workshop's programs as they are."""
    problem = workshop.make(["scenarios/scenarios"])
    if problem is not None:
        sys.exit(f"the sources do not compile:\n{problem[-3000:]}")
    return subprocess.run([sys.executable, HERE / "scenarios.py", "--build", workshop.build, "--seed", str(seed), "--count", "1",
                           "--no-shrink"], stdout=subprocess.DEVNULL, check=False).returncode != 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--directory", type=Path, default=ROOT / "build-mutation")
    parser.add_argument("--counts", type=Path, help="where to write: passed, failed, skipped")
    options = parser.parse_args()
    mutants = {mutant.name: mutant for mutant in read_all(ROOT / "tests/mutation")}
    workshop = Workshop(ROOT, options.directory / "scenarios")
    workshop.read_tests()
    rows = table()
    wrong = [f"seed {seed} fails without a mutant" for seed in sorted({seed for _, seed in rows}) if finds(workshop, seed)]
    for name, seed in rows:
        path = workshop.tree / mutants[name].file
        source = path.read_text(encoding="utf-8")
        path.write_text(mutants[name].applied_to(source), encoding="utf-8")
        if not finds(workshop, seed):
            wrong.append(f"{name} is not found by seed {seed}")
        path.write_text(source, encoding="utf-8")
    print("\n".join(wrong) or f"{len(rows)} mutants found")
    if options.counts:
        options.counts.write_text(f"{len(rows) - len(wrong)} {len(wrong)} 0\n", encoding="utf-8")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())

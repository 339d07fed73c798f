#!/usr/bin/env python3
"""Messages of ordinary senders through `init --yes`: each becomes right rows at once, or is refused with words that say what helps,
and becomes them by these. init_payloads.json is the table: `rows` are the keys of the history ("*": any one), `refused` is what the
refusal says, and `advice` what is added then; without it nothing can be. The messages of config/examples (JSON and line protocol) become as many rows as they
have readings.

    test_init_payloads.py BUILD
"""
from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "examples"))
from example_cases import ExampleCase  # noqa: E402


class Scene:
    def __init__(self, build: Path, directory: Path) -> None:
        self.program, self.directory = build / "daemon" / "tidemark", directory

    def run(self, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.program, *words], cwd=self.directory, input=text, capture_output=True, text=True, timeout=300)

    def rows(self, what: str, text: str, case: dict[str, Any], load: bool = True) -> tuple[str, set[str]]:
        """At once, or after the advice; and the keys of the history."""
        samples = self.directory / f"samples.{'csv' if 'csv' in case.get('words', []) else 'jsonl'}"
        samples.write_text(text)
        file = self.directory / "made.yaml"
        words = ["init", "--yes", "-c", file.name, *case.get("words", []), samples.name]
        done = self.run(*words)
        how = "at once"
        if "refused" in case:
            assert done.returncode in (64, 65) and case["refused"] in done.stderr and not file.exists(), f"{what}: {done.stdout}{done.stderr}"
            if "advice" not in case:
                return "refused", set()
            done = self.run(*words, *case["advice"])
            how = "after the advice"
        assert done.returncode == 0, f"{what}: {done.stdout}{done.stderr}"
        explained = self.run("explain", "--offline", "-f", "json", "-c", file.name, *(["--whole"] if "csv" in case.get("words", []) else []),
                             "--key", "any", text=text)
        rows = [json.loads(line) for line in explained.stdout.splitlines()]
        lost = [row for row in rows if row.get("overwritten") == "METRIC" or row.get("rejected", "empty") != "empty"]
        assert not lost, f"{what}: {lost}"
        newest = [row for row in rows if row.get("overwritten") == "CURRENT_METRIC"]
        assert all(row["weight"] == "note" for row in newest), f"{what}: {newest}"  # the later of two values is what it is for
        if load:
            loaded = self.run("load", "--dry-run", "-c", file.name, samples.name)
            n_rows = len([row for row in rows if row.get("table") == "METRIC"])
            assert f" {n_rows} row" in loaded.stdout, f"{what}: {n_rows} rows, but {loaded.stdout}{loaded.stderr}"
        file.unlink()
        return how, {row["row"] for row in rows if row.get("table") == "METRIC"}


def main() -> int:
    table = json.loads((HERE / "init_payloads.json").read_text(encoding="utf-8"))
    hows = []
    with tempfile.TemporaryDirectory(prefix="tidemark-payloads-") as directory:
        scene = Scene(Path(sys.argv[1]).resolve(), Path(directory))
        for case in table["payloads"]:
            text = case["text"] if "text" in case else "".join(json.dumps(message) + "\n" for message in case["messages"])
            what = f"{case['id']} ({case['about']})"
            how, rows = scene.rows(what, text, case, load=not {"$key", "$timestamp"} & set(case.get("advice", [])))
            assert rows == set(case.get("rows", [])) or case["rows"] == ["*"], f"{what}: {sorted(rows)}, not {sorted(case['rows'])}"
            hows.append(how)
        for name, case in table["examples"].items():
            example = ExampleCase(HERE.parent / "examples" / f"{name}.json")
            text = "".join(message.value.decode() + "\n" for message in example.messages if message.value)
            words = {"words": ["--format", example.format]} if example.format != "json" else {}
            how, rows = scene.rows(name, text, {**case, **words}, load=False)
            assert rows, name
            hows.append(how)
    print(f"{len(hows)} payloads: {hows.count('at once')} right at once, {hows.count('after the advice')} by the advice, "
          f"{hows.count('refused')} refused with the reason")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Holds README.md's map of the folders against the tree: one line for each file, its text the first sentence that the file
says of itself. With --write, makes the map anew."""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN = "<!-- map: begin (tests/style/check_map.py holds it against the tree) -->"
END = "<!-- map: end -->"

FOLDERS = {  # in the order of the layers; what a newcomer looks for first is said here, the rest by the files
    "daemon": "the program",
    "daemon/util": "what everything stands on: bytes, errors, log, metrics, locks",
    "thrift": "the gateway: wire formats, connection, calls",
    "daemon/model": "pure: readings, row keys, rows; bytes in, bytes out",
    "daemon/decode": "from a message's bytes to readings",
    "config": "the YAML, the option table, the sample",
    "daemon/flow": "from Kafka to HBase",
    "daemon/service": "HTTP and systemd",
    "daemon/commands": "one file for each subcommand",
    "systemd": "the unit",
    "docs": "guides and reference",
    "tests": "how it is tested",
    "tests/check.d": "the stages of ./check",
    "tests/unit": "test-NAME.c for NAME.c",
    "tests/fault": "the pipeline on a mock Kafka and a scripted gateway, with faults",
    "tests/examples": "a case for each file of config/examples: messages, rows, reads",
    "tests/fuzz": "fuzz-NAME.c and what was found worth keeping",
    "tests/integration": "the real Kafka and HBase",
    "tests/chaos": "faults at random on the real Kafka and HBase, and their proof",
    "tests/scenarios": "random scenarios through the whole daemon, judged from outside",
    "tests/mutation": "small bugs, put in one at a time, and which tests notice them",
    "tests/stack": "starts and stops the real Kafka and HBase",
    "tests/bench": "benchmarks",
    "tests/bench/peers": "the programs that tidemark is compared with",
    "tests/style": "rules that are checked, this map among them",
}
NO_LINES = {"tests/unit", "tests/fuzz"}  # named after what they test: a line each would say nothing
WITH_SUBFOLDERS = {"config", "tests/bench/peers", "tests/stack"}
CODE = (".c", ".h", ".cc", ".py", ".sh", ".yaml", ".in", ".thrift", ".md", ".txt", ".mutants", ".java", ".xml", ".supp", "")


def first_sentence(path: pathlib.Path) -> str:
    """What the file's head says of it."""
    text = path.read_text(errors="replace")[:4000]
    if path.suffix in (".c", ".h", ".cc", ".java", ".thrift") or path.name.endswith(".h.in"):
        find = re.search if path.suffix == ".java" else re.match  # Java's stands behind the imports
        match = find(r"\s*/\*+[\s*]*(.*?)\*/", text, re.S)
        text = re.sub(r"\n\s*\*? ?", " ", match.group(1)) if match else ""
    elif path.suffix == ".py":
        match = re.search(r'"""(.*?)"""', text, re.S)
        text = match.group(1) if match else ""
    elif path.suffix == ".md":
        match = re.match(r"# (.*)", text)
        text = match.group(1) if match else ""
    elif path.suffix == ".xml":
        match = re.search(r"<!--\s*(.*?)-->", text, re.S)
        text = match.group(1) if match else ""
    else:
        lines = []
        for line in text.splitlines():
            if line.startswith("#!"):
                continue
            if not line.startswith("#"):
                break
            lines.append(line.lstrip("# "))
            if not lines[-1]:
                break
        text = " ".join(lines)
    text = " ".join(text.split())
    match = re.match(r"(.+?[^.])(?:[.;](?= |$)|$)", text)
    return (match.group(1) if match else text).strip()


def tracked() -> list[pathlib.PurePosixPath]:
    listing = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                             capture_output=True, text=True, check=True)
    return sorted({pathlib.PurePosixPath(line) for line in listing.stdout.splitlines() if (ROOT / line).is_file()})


def stems(folder: str, files: list[pathlib.PurePosixPath]) -> dict[str, list[pathlib.PurePosixPath]]:
    """Files of one folder; a .c and its .h are one entry."""
    found: dict[str, list[pathlib.PurePosixPath]] = {}
    for path in files:
        inside = str(path.parent) == folder or (folder in WITH_SUBFOLDERS and str(path).startswith(folder + "/"))
        if not inside or path.name == "meson.build" or path.suffix not in CODE:
            continue
        name = str(path.relative_to(folder))
        stem = name.rsplit(".", 1)[0] if path.suffix in (".c", ".h", ".cc") else name
        found.setdefault(stem, []).append(path)
    return found


def entry(stem: str, paths: list[pathlib.PurePosixPath]) -> str:
    headers_first = sorted(paths, key=lambda path: path.suffix != ".h")
    sentence = next((text for text in (first_sentence(ROOT / path) for path in headers_first) if text), "")
    suffixes = "".join(sorted(path.suffix for path in paths)) if len(paths) == 1 else ".{" + ",".join(
        sorted(path.suffix[1:] for path in paths)) + "}"
    name = stem if stem == str(paths[0].name) or "." in stem else stem + suffixes
    return f"- `{name}` {sentence}".rstrip()


def make_map() -> tuple[str, list[str]]:
    files = tracked()
    lines, silent = [], []
    for folder, text in FOLDERS.items():
        entries = stems(folder, files)
        if not entries:
            continue
        lines.append(f"\n**`{folder}/`** {text}\n")
        if folder in NO_LINES:
            continue
        for stem, paths in sorted(entries.items()):
            lines.append(entry(stem, paths))
            if lines[-1] == f"- {lines[-1].split()[1]}":
                silent.append(f"{folder}/{stem}")
    return "\n".join(lines).strip() + "\n", silent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the map into README.md")
    options = parser.parse_args()
    readme = ROOT / "README.md"
    text = readme.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    made, silent = make_map()
    for name in silent:
        print(f"{name}: says nothing of itself in its first comment")
    wanted = f"{before}{BEGIN}\n{made}{END}{after}"
    if options.write:
        readme.write_text(wanted)
    elif wanted != text:
        print("README.md: the map differs from the tree: run tests/style/check_map.py --write")
        return 1
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())

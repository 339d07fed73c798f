#!/usr/bin/env python3
"""Holds the map against the tree: docs/source-map.md has a line for each folder (for those of tests, commands and examples, their own does), and the folder's own
README.md a line for each file, its text the first sentence that the file says of itself. With --write, makes them anew. No folder may hold many files, and
README.md has a length that one reads."""
import argparse
import pathlib
import re
import subprocess
import sys
from collections import Counter

from check_layers import LAYERS

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN = "<!-- map: begin (tests/style/check_map.py holds it against the tree) -->"
END = "<!-- map: end -->"

# What a newcomer looks for first; each says in the first line of its README.md what it is.
FOLDERS = [name for names in LAYERS for name in ([names] if isinstance(names, str) else names)] + [
    "config/examples", "config/examples/clusters", "config/prometheus", "systemd", "docs", "tests", "tests/check.d", "tests/unit", "tests/fault", "tests/examples", "tests/formats", "tests/fuzz",
    "tests/integration", "tests/chaos", "tests/scenarios", "tests/systemd", "tests/prometheus", "tests/docs", "tests/mutation", "tests/analysis", "tests/stack", "tests/bench", "tests/bench/peers", "tests/bench/sections",
    "tests/package", "tests/style"]
WITHOUT_README = {"systemd": "the units, and the Debian package: `build_package.sh` makes it of a commit", "docs": "guides and reference, by task in its README.md"}
NO_LINES = {"tests/unit", "tests/fuzz"}  # named after what they test: a line each would say nothing
WITH_SUBFOLDERS = {"tests/bench/peers", "tests/fault", "tests/stack"}
CODE = (".c", ".h", ".cc", ".py", ".sh", ".yaml", ".in", ".thrift", ".md", ".txt", ".mutants", ".java", ".xml", ".supp", "")
MAP = "docs/source-map.md"
TELL_THEIR_OWN = ("tests", "daemon/commands", "config/examples")  # of folders below them, for README.md to be one page
N_README_LINES_MAX = 110
N_FILES_MAX = 40
CROWDED = ("daemon", "thrift", "config", "tests")  # where N_FILES_MAX holds; a fuzzer's seeds are none to be read


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
        if not inside or path.name in ("meson.build", "README.md") or path.suffix not in CODE:
            continue
        name = str(path.relative_to(folder))
        stem = name.rsplit(".", 1)[0] if path.suffix in (".c", ".h", ".cc") else name
        found.setdefault(stem, []).append(path)
    return found


def entry(stem: str, paths: list[pathlib.PurePosixPath]) -> tuple[str, str]:
    """Its name as the list has it, and its sentence."""
    headers_first = sorted(paths, key=lambda path: path.suffix != ".h")
    sentence = next((text for text in (first_sentence(ROOT / path) for path in headers_first) if text), "")
    suffixes = "".join(path.suffix for path in paths) if len(paths) == 1 else ".{" + ",".join(
        sorted(path.suffix[1:] for path in paths)) + "}"
    return (stem if "." in stem or stem == paths[0].name else stem + suffixes), sentence


def between(text: str, lines: list[str]) -> str | None:
    """The text with these lines between its marks; None without marks."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        return None
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + "".join(line + "\n" for line in lines) + END + rest.split(END)[1]


class Map:
    def __init__(self, write: bool) -> None:
        self.write = write
        self.findings: list[str] = []
        self.warnings: list[str] = []  # sizes: a place to look, no verdict

    def hold(self, name: str, lines: list[str]) -> None:
        path = ROOT / name
        text = path.read_text() if path.is_file() else ""
        wanted = between(text, lines)
        if wanted is None:
            self.findings.append(f"{name}: has no place for the map between {BEGIN} and {END}")
        elif self.write:
            path.write_text(wanted)
        elif wanted != text:
            self.findings.append(f"{name}: the map differs from the tree: ./check --write")

    def hold_folder(self, folder: str, files: list[pathlib.PurePosixPath], below: list[str]) -> str:
        """The folder's line. `below`: those of the folders that it tells of itself."""
        if folder in WITHOUT_README:
            return f"- `{folder}/` {WITHOUT_README[folder]}"
        name = f"{folder}/README.md"
        if folder not in NO_LINES:
            entries = sorted(entry(stem, paths) for stem, paths in stems(folder, files).items())
            self.findings += [f"{folder}/{one}: says nothing of itself in its first comment" for one, text in entries if not text]
            self.hold(name, [f"- `{one}` {text}" for one, text in entries] + [line.replace(f"]({folder}/", "](") for line in below])
        title = re.match(r"# (?:\S+: )?(.*)", (ROOT / name).read_text() if (ROOT / name).is_file() else "")
        if title is None:
            self.findings.append(f"{name}: its first line does not say what the folder is: '# {folder}: ...'")
        return f"- [`{folder}/`]({name}) {title[1] if title else ''}"

    def hold_all(self) -> None:
        files = tracked()
        below = {parent: [self.hold_folder(folder, files, []) for folder in FOLDERS if folder.startswith(parent + "/")]
                 for parent in TELL_THEIR_OWN}
        lines = [self.hold_folder(folder, files, below.get(folder, [])) for folder in FOLDERS
                 if not folder.startswith(tuple(f"{parent}/" for parent in TELL_THEIR_OWN))]
        self.hold(MAP, [line.replace("](", "](../") for line in lines])
        n_lines = len((ROOT / "README.md").read_text().splitlines())
        if n_lines > N_README_LINES_MAX:
            self.warnings.append(f"README.md: has {n_lines} lines, more than {N_README_LINES_MAX}: let a page of docs tell it")
        for folder in sorted({str(path.parent) for path in files if path.suffix in (".c", ".cc")}):
            if not any(folder == one or (one in WITH_SUBFOLDERS | NO_LINES and folder.startswith(one + "/")) for one in FOLDERS):
                self.findings.append(f"{folder}: is not in the map: name it in tests/style/check_layers.py or check_map.py")
        counts = Counter(str(path.parent) for path in files if path.parts[0] in CROWDED and "corpus" not in path.parts)
        self.warnings += [f"{folder}: holds {n} files, more than {N_FILES_MAX}: one does not find one's way" for folder, n in
                          sorted(counts.items()) if n > N_FILES_MAX]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the map into README.md and the folders' own")
    the_map = Map(parser.parse_args().write)
    the_map.hold_all()
    for finding in the_map.findings + [f"warning: {one}" for one in the_map.warnings]:
        print(finding)
    return 1 if the_map.findings else 0


if __name__ == "__main__":
    sys.exit(main())

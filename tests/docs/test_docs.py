#!/usr/bin/env python3
"""Every fenced block of README.md, CONTRIBUTING.md and docs/ is held: run, checked, or named with a reason in reasons.py.

    test_docs.py BUILD [PAGE]
"""
from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from blocks import Block, answers, blocks_of, commands, pages, programs
from built import build_of  # noqa: E402 pylint: disable=wrong-import-position
from reasons import ENDS_WITH, HELD_ELSEWHERE, PAGES_HELD_ELSEWHERE, PROGRAMS_NOT_RUN, RUN_AS, SAME_EVERYWHERE, SCREENS
from scene import Scene

# What examples call besides tidemark, and every machine with the packages of tests/packages.txt has.
HELPERS = {"[", "cat", "chmod", "curl", "cut", "echo", "grep", "head", "hostname", "jq", "kcat", "mkdir", "openssl", "sha256sum", "sort",
           "tail", "tr", "true", "uniq", "zcat"}
SECTIONS = ("kafka", "hbase", "sources", "readings", "tables", "dead_letters", "service", "batch", "limits")
LOOKS_ON = "--watch"  # goes on until it is ended

MINIMAL = """kafka:
  brokers: "127.0.0.1:9092"
  group: tidemark
  topics: [metrics]
hbase:
  gateways: ["127.0.0.1:9090"]
readings:
  time: { field: ts, format: epoch_ms }
tables:
  T:
    key: [{ field: host }, "#", { time: epoch_ms }]
    columns: { family: M, from: "*" }
"""


# ---- yaml ----

def members(text: str, indent: int) -> dict[str, str]:
    """Each member of a mapping at that depth, with its lines; comments go with what follows them."""
    found: dict[str, str] = {}
    name, before = "", ""
    for line in text.splitlines(True):
        match = re.match(rf" {{{indent}}}([A-Za-z_][\w{{}}.:-]*?):(?=\s)", line)
        if match:
            name, line, before = match[1], before + line, ""
            found[name] = ""
        elif re.match(rf" {{0,{indent}}}#", line) or not line.strip():
            before += line
            continue
        if name:
            found[name] += before + line
            before = ""
    return found


def whole_configuration(fragment: str) -> str:
    """The fragment in a configuration that is otherwise minimal. One of no section is part of a table."""
    given = members(fragment, 0)
    if not set(given) & set(SECTIONS):
        table = {**members(members(MINIMAL, 0)["tables"].split("\n", 2)[2], 4),
                 **{name: re.sub(r"^", "    ", text, flags=re.M) for name, text in given.items()}}
        given = {"tables": "tables:\n  T:\n" + "".join(f"{text.rstrip()}\n" for text in table.values())}
    whole = members(MINIMAL, 0)
    if "sources" in given:  # they say what the short form says of one
        del whole["readings"]
        whole["kafka"] = whole["kafka"].replace("  topics: [metrics]\n", "")
    for name, text in given.items():
        if name in whole and name != "tables" and not text.startswith(f"{name}: {{"):  # one in a line is whole
            own = members(text, 2)
            text += "".join(other for key, other in members(whole[name], 2).items() if key not in own)
        whole[name] = text
    return "".join(f"{text.rstrip()}\n" for text in whole.values())


def check_yaml(scene: Scene, block: Block) -> list[str]:
    if block.first.startswith("scrape_configs"):
        if shutil.which("promtool") is None:
            return []
        (scene.directory / "prometheus.yml").write_text(scene.placed(block.text))
        done = scene.run("promtool check config prometheus.yml")
    else:
        (scene.directory / "fragment.yaml").write_text(scene.placed(whole_configuration(block.text)))
        done = scene.run("tidemark check --offline -c fragment.yaml")
    return [] if done.returncode == 0 else done.stdout.splitlines()


# ---- commands ----

def check_ids(command: str, root: Path) -> list[str]:
    known = (root / "docs/messages.md").read_text()
    return [f"docs/messages.md has no '{name}'" for name in re.findall(r"TIDEMARK_ID=([a-z-]+)", command) if f"| `{name}` |" not in known]


def run_command(scene: Scene, command: str, root: Path) -> tuple[list[str], str]:
    """What is wrong, and what it printed."""
    called = programs(command)
    unknown = [one for one in called if one != "tidemark" and one not in HELPERS and one not in PROGRAMS_NOT_RUN]
    if unknown:
        return [f"'{command}': nobody says whether '{unknown[0]}' may be run: see reasons.py"], ""
    if any(one in PROGRAMS_NOT_RUN for one in called):
        missing = [one for one in called if "/" in one and not (root / one).is_file()]
        return check_ids(command, root) + [f"'{one}' is not there" for one in missing], ""
    as_run, ends_with = command, ENDS_WITH.get(command, (0, ""))[0]
    for printed, run in RUN_AS:
        as_run = as_run.replace(printed, run)
    if LOOKS_ON in command:
        as_run, ends_with = f"timeout 5 {as_run}", 124
    if "tidemark run " in command:
        as_run = as_run.replace("tidemark.yaml", "alone.yaml")
        scene.write_alone()
    done = scene.run(as_run)
    if done.returncode == ends_with:
        return [], done.stdout
    return [f"'{as_run}' ended with {done.returncode}, not {ends_with}:", *done.stdout.splitlines()[-20:]], done.stdout


def shape(line: str) -> str:
    """Without what differs from run to run: numbers, and the blanks that depend on their width."""
    return " ".join(re.sub(r"\d[\d.,:]*", "0", line).split())


def check_console(scene: Scene, block: Block, root: Path) -> list[str]:
    wrong = []
    for command, lines in answers(block.text):
        found, printed = run_command(scene, command, root)
        wrong += found
        seen = str if command.startswith(SAME_EVERYWHERE) else shape
        wanted, got = [seen(line) for line in lines if line.strip()], [seen(line) for line in printed.splitlines() if line.strip()]
        if not found and wanted != got:
            wrong += [f"'{command}' prints", *printed.splitlines()]
    return wrong


def check_screen(scene: Scene, block: Block) -> list[str]:
    """It has a reason, and its headings are the program's."""
    names = [first for page, first in SCREENS if page == block.page and block.first.startswith(first)]
    if not names:
        return [f"'{block.first}' is neither run nor named in reasons.py"]
    if block.language != "text" or not re.match(r"[A-Z]{3}", block.first):
        return []
    program = scene.tidemark.read_bytes()
    return [f"the program has no heading '{word}'" for word in re.split(r"  +", block.first.strip()) if word.encode() not in program]


def faults(scene: Scene, block: Block, root: Path) -> list[str]:
    if block.language in HELD_ELSEWHERE or block.page in PAGES_HELD_ELSEWHERE:
        return []
    if block.language == "yaml":
        return check_yaml(scene, block)
    if block.language == "sh":
        return [line for command in commands(block.text) for line in run_command(scene, command, root)[0]]
    if block.language == "console":
        return check_console(scene, block, root)
    if block.language in ("", "unclosed"):
        return [f"it is a block {'without a language' if block.language == '' else 'without an end'}"]
    return check_screen(scene, block)


def unused_reasons(blocks: list[Block]) -> list[str]:
    """Reasons for what is not there any more."""
    text = "".join(block.text for block in blocks)
    gone = [f"{page}: {first}" for page, first in SCREENS if not any(block.page == page and block.first.startswith(first) for block in blocks)]
    return gone + [one for one in [*PROGRAMS_NOT_RUN, *ENDS_WITH, *(printed for printed, _ in RUN_AS)] if one not in text]


def main() -> int:
    build = build_of(sys.argv, "daemon/tidemark", "tests/fault/mock-kafka", "tests/fault/scripted-gateway")
    root, chosen_page = Path(__file__).resolve().parents[2], sys.argv[1] if len(sys.argv) > 1 else None
    blocks = [block for path in pages(root) for block in blocks_of(str(path.relative_to(root)), path.read_text())]
    chosen = [block for block in blocks if chosen_page in (None, block.page)]
    # Others look for what these add to the topic or take away from a table.
    chosen.sort(key=lambda block: ("--forget" in block.text, re.search("tidemark simulate|dead-letters replay|kcat -P", block.text) is not None))
    readme = next(block.text for block in blocks if block.page == "README.md" and block.language == "yaml")
    print(f"1..{len(chosen) + 1}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        scene = Scene(build, readme, Path(directory))
        try:
            scene.start()
            for number, block in enumerate(chosen, 1):
                found = faults(scene, block, root)
                failed += bool(found)
                print(f"{'not ok' if found else 'ok'} {number} - {block.place}", *(f"# {line}" for line in found), sep="\n", flush=True)
        finally:
            scene.end()
    unused = unused_reasons(blocks)
    print(f"{'not ok' if unused else 'ok'} {len(chosen) + 1} - every reason is needed", *(f"# {one}" for one in unused), sep="\n")
    return 1 if failed or unused else 0


if __name__ == "__main__":
    sys.exit(main())

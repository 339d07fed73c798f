#!/usr/bin/env python3
"""Holds what documents say of exit codes against the program: docs/commands.md has all that there are, others name no
other, and what a symptom quotes, a source says. Of a command that docs/commands.md names at a code, --help names the code;
and the other way round for 1 and 65, which mean something else for each command.

    check_exit_codes.py [ROOT]

The codes are those of TideExit; systemd's are the RestartPreventExitStatus= of the unit. A symptom is the first column of a
table's row with "ends with"; "..." in a quotation stands for what differs.
"""
import re
import sys

from source_text import Findings, files_below, line_of, project_root, read

TABLE = "docs/commands.md"
UNIT = "systemd/tidemark.service.in"
OPERATE = "docs/operate.md"

_CODE = re.compile(r"^  (TIDE_EXIT_\w+) = (\d+),", re.M)
_ROW = re.compile(r"^\| (\d+) \| (.*) \|$", re.M)
_COMMAND = re.compile(r'^const TideCommand tide_command_\w+ = \{.*?\.name = "([a-z-]+)",(.*?)^\};', re.M | re.S)
_EXIT = re.compile(r"\{(TIDE_EXIT_\w+)")
_QUOTED_WORD = re.compile(r"`([a-z-]+)[^`]*`")
_NAMED = re.compile(r"(?:[Ee](?:nds|xits) with|exit code|exit status) (\d+)\b")
_SYMPTOM = re.compile(r"^\| ((?:ends|exits) with [^|]*) \|", re.M)
_QUOTED = re.compile(r"`([^`]+)`")
_FINAL = re.compile(r"^RestartPreventExitStatus=(.*)$", re.M)
_LEFT_FAILED = re.compile(r"^\| ([\d, ]+) \| leaves it failed", re.M)
OF_ANY = {"0", "64", "70", "74"}
OF_ITS_OWN = {"1", "65"}
# Of programs of others that the documents run.
FOREIGN = {"docs/upgrade.md": {"101"}}


def section(text, title):
    return text[text.index(f"## {title}\n"):].split("\n## ")[0]


def main():
    root = project_root()
    findings = Findings(root)
    numbers = dict(_CODE.findall(read(root / "daemon/util/error.h")))
    codes = set(numbers.values())
    told = dict(_ROW.findall(section(read(root / TABLE), "Exit codes")))
    for code in sorted(codes ^ set(told), key=int):
        findings.add(root / TABLE, 1, f"exit code {code} is {'not told' if code in codes else 'none of TideExit'}")
    for path in files_below(root, ("daemon/commands",), (".c",)):
        for command, body in _COMMAND.findall(read(path)):
            own = {numbers[name] for name in _EXIT.findall(body)}
            named = {code for code, text in told.items() if command in _QUOTED_WORD.findall(text)}
            for code in sorted((named - own - OF_ANY) | ((own - named) & OF_ITS_OWN)):
                where = (f"{TABLE}, but not by its --help" if code in named else f"its --help, but not by {TABLE}")
                findings.add(path, 1, f"exit code {code} of '{command}' is named by {where}")
    # Literals may be broken into pieces.
    sources = "".join(re.sub(r'"\s*"', "", read(path)) for path in files_below(root, ("daemon", "config", "thrift"), (".c", ".h")))
    for path in [*files_below(root, ("docs",), (".md",)), root / "README.md"]:
        text = read(path)
        for found in _NAMED.finditer(text):
            if found[1] not in codes | FOREIGN.get(str(path.relative_to(root)), set()):
                findings.add(path, line_of(text, found.start()), f"no command ends with {found[1]}")
        for symptom in _SYMPTOM.finditer(text):
            for quoted in _QUOTED.findall(symptom[1]):
                for part in quoted.split("..."):
                    if part.strip(" :'") not in sources and part.strip(" :'") != "Permission denied":
                        findings.add(path, line_of(text, symptom.start()), f"no source says '{part.strip()}'")
    final, left = _FINAL.search(read(root / UNIT)), _LEFT_FAILED.search(read(root / OPERATE))
    if left is None or final[1].split() != left[1].split(", "):
        findings.add(root / OPERATE, 1, f"systemd leaves the unit failed after {final[1]}, which no row says")
    return findings.report(f"{len(codes)} exit codes")


if __name__ == "__main__":
    sys.exit(main())

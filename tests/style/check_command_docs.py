#!/usr/bin/env python3
"""Compares docs/commands.md with the commands' option tables: each option is told in its command's section, and no section
tells one that there is not.

    check_command_docs.py [ROOT]

An option is an entry `{"...", ` of a table of TideOption. --config, --format and --help are told once for all.
"""
import re
import sys

from source_text import Findings, files_below, line_of, project_root, read

DOCUMENT = "docs/commands.md"
TOLD_ONCE = {"config", "format", "help"}

_TABLE = re.compile(r"const TideOption \w+\[\] = \{\n(.*?)\n\};", re.S)
_OPTION = re.compile(r'\{"([a-z-]+)", ')
_COMMAND = re.compile(r'const TideCommand \w+ = \{\s*\.name = "([a-z-]+)"')
_SECTION = re.compile(r"^## ([a-z-]+)\n(.*?)(?=^## |\Z)", re.S | re.M)
_TOLD = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


def main():
    root = project_root()
    findings = Findings(root)
    document = root / DOCUMENT
    text = read(document)
    sections = {found[1]: found for found in _SECTION.finditer(text)}
    every_option, commands = set(TOLD_ONCE), {}
    for path in files_below(root, ("daemon/commands",), (".c",)):
        code = read(path)
        table, command = _TABLE.search(code), _COMMAND.search(code)
        if table is None or command is None:
            continue
        commands[command[1]] = (path, line_of(code, table.start()), set(_OPTION.findall(table[1])))
        every_option |= commands[command[1]][2]
    for name, (path, line, options) in sorted(commands.items()):
        if name not in sections:
            findings.add(path, line, f"'{name}' has no section '## {name}' in {DOCUMENT}")
            continue
        told = set(_TOLD.findall(sections[name][2]))
        for option in sorted(options - told - TOLD_ONCE):
            findings.add(path, line, f"'--{option}' is not told in the section '{name}' of {DOCUMENT}")
    for found in _TOLD.finditer(text):
        if found[1] not in every_option:
            findings.add(document, line_of(text, found.start()), f"no command has an option '--{found[1]}'")
    return findings.report(f"options of {len(commands)} commands")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares the guides of the commands with their option tables: each command has a text in docs/, and no text names an option that
there is not. docs/commands.md lists the options; tests/manual compares it with --help.

    check_command_docs.py [ROOT]

The heading "tidemark NAME" begins the text of a command. An option is an entry `{"...", ` of a table of TideOption.
"""
import re
import sys

from source_text import Findings, files_below, line_of, project_root, read

COMMON = {"config", "format", "help"}
WITHOUT_GUIDE = {"version"}

_TABLE = re.compile(r"const TideOption \w+\[\] = \{\n(.*?)\n\};", re.S)
_OPTION = re.compile(r'\{"([a-z-]+)", ')
_COMMAND = re.compile(r'const TideCommand \w+ = \{\s*\.name = "([a-z-]+)"')
_GUIDE = re.compile(r"^(##?) tidemark ([a-z-]+)\n(.*?)(?=^\1 |\Z)", re.S | re.M)
_NAMED = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


def main():
    root = project_root()
    findings = Findings(root)
    options, commands = set(COMMON), {}
    for path in files_below(root, ("daemon/commands",), (".c",)):
        code = read(path)
        table, command = _TABLE.search(code), _COMMAND.search(code)
        if table is None or command is None:
            continue
        commands[command[1]] = (path, line_of(code, table.start()))
        options |= set(_OPTION.findall(table[1]))
    guides = set(WITHOUT_GUIDE)
    for path in files_below(root, ("docs",), (".md",)):
        text = read(path)
        for guide in _GUIDE.finditer(text):
            guides.add(guide[2])
            for named in _NAMED.finditer(guide[3]):
                if named[1] not in options:
                    findings.add(path, line_of(text, guide.start(3) + named.start()), f"no command has an option '--{named[1]}'")
    for name in sorted(set(commands) - guides):
        findings.add(*commands[name], f"'{name}' has no text with the heading 'tidemark {name}' in docs/")
    return findings.report(f"options of {len(commands)} commands")


if __name__ == "__main__":
    sys.exit(main())

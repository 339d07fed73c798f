#!/usr/bin/env python3
"""Holds docs/messages.md against the log calls of the source: a line for each id, with its levels, its MESSAGE_ID and its words.

    check_messages.py [ROOT] [--write]

What is to be done stands in the document alone: --write keeps it by the id, and puts "?" for a new one, which is a finding.
"""
import re
import sys

from source_text import project_root

BEGIN, END = "<!-- messages begin -->", "<!-- messages end -->"
CALL = re.compile(r"\btide_log(_fields)?\(")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
LEVELS = ["crit", "error", "warning", "notice", "info", "debug"]
OWN_LINES = "daemon/util/log.c"  # of the log itself
OWN_HALF = "5d0c1f6e9b2a4c37"


def message_id(name):
    """As tide_log_line_journal() in daemon/util/log.c."""
    number = 0xCBF29CE484222325
    for byte in name.encode():
        number = (number ^ byte) * 0x100000001B3 % 2**64
    return f"{OWN_HALF}{number:016x}"


def arguments(text, start):
    """Of the call whose parenthesis has just opened."""
    found, depth, begin, at = [], 0, start, start
    while True:
        literal = LITERAL.match(text, at)
        if literal:
            at = literal.end()
            continue
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and text[at] == ","):
            found.append(text[begin:at].strip())
            begin = at + 1
        if depth < 0:
            return found
        at += 1


def words_of(argument):
    """A format as people read it: what is put in is "..."."""
    argument = re.sub(r'"\s*(?:G_G\w+|PRI\w+)\s*"', "d", argument)
    text = "".join(LITERAL.findall(argument)).replace('\\"', '"')
    return re.sub(r"(?:\.\.\.)+", "...", re.sub(r"%[-0-9.*]*[lz]*[a-z]", "...", text)).replace("|", "\\|")


def levels_of(argument, before, behind):
    """The level, or all that the function names where it chooses, or those who call it."""
    found = re.findall(r"TIDE_LOG_([A-Z]+)", argument)
    body = before.rfind("\n{\n")
    if not found:
        found = re.findall(r"TIDE_LOG_([A-Z]+)", before[body:])
    if not found:
        function = re.findall(r"^(\w+)\(", before[:body], re.MULTILINE)[-1]
        found = re.findall(r"TIDE_LOG_([A-Z]+)", "".join(re.findall(rf"{function}\([^;]*;", behind)))
    return [name.lower() for name in found if name.lower() in LEVELS]


def messages(root):
    """Id: its levels, its words."""
    found, findings = {}, []
    for path in sorted([*root.glob("daemon/**/*.c"), *root.glob("thrift/**/*.c")]):
        text = path.read_text(encoding="utf-8")
        relative = str(path.relative_to(root))
        for call in CALL.finditer(text):
            given = arguments(text, call.end())
            if relative == OWN_LINES and not given[1].startswith('"'):
                continue
            name = re.fullmatch(r'"([a-z]+(?:-[a-z]+)*)"', given[1])
            if name is None:
                findings.append(f"{relative}: a log call has {given[1]} where its id belongs")
                continue
            levels, words = found.setdefault(name[1], (set(), []))
            levels.update(levels_of(given[0], text[:call.start()], text[call.end():]))
            form = next(one for one in given[2:] if one.lstrip().startswith('"'))
            words += [] if words_of(form) in words else [words_of(form)]
    found["lines-dropped"] = ({"warning"}, ["... log lines were dropped: standard error did not accept them"])
    return found, findings


def rendered(found, actions):
    lines = ["| id | level | what it says | what to do | `MESSAGE_ID` |", "|---|---|---|---|---|"]
    for name in sorted(found):
        levels, words = found[name]
        shown = ", ".join(sorted(levels, key=LEVELS.index)) or "?"
        said = "; or: ".join("what it is" if one == "..." else f"`{one}`" for one in words)
        lines.append(f"| `{name}` | {shown} | {said} | {actions.get(name, '?')} | `{message_id(name)}` |")
    return "\n".join(lines)


def main():
    root = project_root()
    document = root / "docs" / "messages.md"
    text = document.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    table, _, tail = rest.partition(END)
    rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in table.splitlines() if line.startswith("| `")]
    actions = {row[0].strip("`"): row[3] for row in rows if len(row) == 5}
    found, findings = messages(root)
    wanted = f"{head}{BEGIN}\n{rendered(found, actions)}\n{END}{tail}"
    if "--write" in sys.argv:
        document.write_text(wanted, encoding="utf-8")
    elif wanted != text:
        findings.append("docs/messages.md is not as the source is: ./check --write")
    findings += [f"docs/messages.md: what is to be done about '{name}'?" for name in sorted(found) if actions.get(name, "?") == "?"]
    for finding in findings:
        print(finding)
    print(f"{len(found)} messages: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

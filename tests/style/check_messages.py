#!/usr/bin/env python3
"""Holds docs/messages.md against the log calls of the source: a row for each id, with its levels, its MESSAGE_ID and its sentences.

    check_messages.py [ROOT] [--write]

The table is sorted by the sentences, as a reader of the log sees them. The document alone has the actions: --write keeps them by id,
and writes "?" for a new message, which is a finding.
"""
import re
import sys

from source_text import project_root

BEGIN, END = "<!-- messages begin -->", "<!-- messages end -->"
CALL = re.compile(r"\btide_log(_fields)?\(")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
TEXT = re.compile(LITERAL.pattern + r'(?:\s*(?:(?:G_G|PRI)\w+|' + LITERAL.pattern + r'))*')
CONVERSION = re.compile(r"%[-0-9.*]*[lz]*[a-z]")
COMPOSED = {  # words in the texts of events that are composed before they are logged
    "brokers-silent": "no broker of '%s' answers", "dead-letters-too-many": "would become dead letters and",
    "partition-halted": "partition %d is halted", "topics-missing": "not exist: create",
}
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


def words_of(argument, nouns=()):
    """A format as people read it: inserted values are "...", counts have their noun."""
    argument = re.sub(r'"\s*(?:G_G\w+|PRI\w+)\s*"', "d", argument)
    text = "".join(LITERAL.findall(argument)).replace('\\"', '"')
    values = list(nouns)

    def shown(conversion):
        taken = [values.pop(0) if values else "" for _ in range(conversion[0].count("*") + 1)]
        return f"...{taken[-1]}"

    return re.sub(r"(?:\.\.\.)+", "...", CONVERSION.sub(shown, text)).replace("%%", "%").replace("|", "\\|")


def nouns_of(values, function):
    """For each value of a format: " messages" if it is a count of tide_count_of(), else "". @function: its text before the call."""
    found = []
    for value in values:
        counts = re.findall(rf'\b{re.escape(value)} =\s*tide_count_of\([^;]*?, "([^"]+)", (?:NULL|"([^"]+)")\);', function)
        found.append(f" {counts[-1][1] or counts[-1][0] + 's'}" if counts else "")
    return found


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
    found, findings, sources = {}, [], []
    for path in sorted([*root.glob("daemon/**/*.c"), *root.glob("thrift/**/*.c")]):
        text = path.read_text(encoding="utf-8")
        sources.append(text)
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
            before = text[:call.start()]
            shown = words_of(form, nouns_of(given[given.index(form) + 1:], before[before.rfind("\n{\n"):]))
            words += [] if shown in words else [shown]
    for name, marker in COMPOSED.items():
        composed = sorted({words_of(one) for source in sources for one in (text[0] for text in TEXT.finditer(source)) if marker in one})
        found[name] = (found[name][0], composed)
        if not composed:
            findings.append(f"{name}: no text of the source contains {marker!r}: change COMPOSED with it")
    found["lines-dropped"] = ({"warning"}, ["... log lines were dropped: standard error did not accept them"])
    return found, findings


def rendered(found, actions):
    lines = ["| message | id | level | what to do | `MESSAGE_ID` |", "|---|---|---|---|---|"]
    rows = []
    for name, (levels, words) in found.items():
        shown = ", ".join(sorted(levels, key=LEVELS.index)) or "?"
        texts = "<br>".join(f"`{one}`" for one in words if one != "...") or "the text of its cause"
        rows.append(f"| {texts} | `{name}` | {shown} | {actions.get(name, '?')} | `{message_id(name)}` |")
    return "\n".join(lines + sorted(rows, key=lambda row: re.sub(r"[^a-z]+", " ", row.lower()).strip()))


def main():
    root = project_root()
    document = root / "docs" / "messages.md"
    text = document.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    table, _, tail = rest.partition(END)
    rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in table.splitlines() if line.startswith("| ") and line.endswith("` |")]
    actions = {row[1].strip("`"): row[3] for row in rows if len(row) == 5}
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

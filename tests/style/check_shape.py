#!/usr/bin/env python3
"""Holds the sizes of functions, structs and rooms: a function tells a whole thought and no more, a header has two users or is the face of its room, and a
room stays within its row of budgets.txt.

    check_shape.py [ROOT]            finds what breaks a rule
    check_shape.py [ROOT] --report   prints the figures by room
    check_shape.py [ROOT] --calls    prints each function of up to ten lines that one place calls
"""
import re
import sys
from collections import Counter, defaultdict

from check_layers import includes_of, resolve
from source_text import C_SUFFIXES, SOURCE_FOLDERS, Findings, code_only, files_below, line_of, project_root, read

FUNCTION_LINES_P99 = 70
FUNCTION_LINES_MAX = 100
STRUCT_FIELDS_MAX = 20
SHORT_LINES = 10  # up to which a function that one place calls is asked whether its name says more than its text

# As clang-format lays out each definition: name(parameters) begins a line, and the brace of the body has one of its own. Between
# them are attributes and qualifiers and, in C++, initial values, on lines of their own only where these are indented. A member
# that is defined within its class is indented as a whole, its type in front of it.
_PARAMETERS = r"\((?:[^;{}()]|\((?:[^;{}()]|\([^;{}()]*\))*\))*\)"
_FUNCTION_TEXT = (r"(?:(?:G_GNUC_\w+|__attribute__)\((?:[^()]|\([^()]*\))*\) )?(?P<name>(?:\w+::)*(?:~?\w+|operator[^\s\w(]+))" + _PARAMETERS +
                  r"(?:[^;{}\n]|\{[^;{}\n]*\}|\n(?P=indent) +(?=\S))*\n(?P=indent)\{\n(?P<body>.*?)^(?P=indent)\}")
_FUNCTION = re.compile(r"^(?P<indent>)(?:(?:static|inline|G_GNUC_\w+(?:\([^()]*\))?) )*(?:[\w *]+[ *])??" + _FUNCTION_TEXT, re.MULTILINE | re.DOTALL)
_FUNCTION_OF_CPP = re.compile(r"^(?P<indent> *)(?:[\w:<>,*& ]+[ *&])?" + _FUNCTION_TEXT, re.MULTILINE | re.DOTALL)
# With its name in front of the brace, behind it (a typedef, a variable), or without one.
_STRUCT = re.compile(
    r"^(?P<indent> *)(?:[a-z_]+ )*(?:struct|class)\b(?P<head>(?:[^;{}()=\n]|\((?:[^;{}()\n]|\([^;{}()\n]*\))*\))*)\{\n"
    r"(?P<body>.*?)^(?P=indent)\}[ *]*(?P<behind>\w*)", re.MULTILINE | re.DOTALL)
_NO_FIELD = re.compile(r"(?:using|typedef|friend|static|constexpr|template|_Static_assert|static_assert|G_STATIC_ASSERT)\b"
                       r"|(?:struct|union|class|enum) \w+(?: @)?$|enum @$")
_METHOD = re.compile(r"[^()]*~?\w+\s*\((?!\s*\*).*\)\s*(?:const|noexcept|override|final|= *\w+|\s)*$", re.DOTALL)


class File:
    """One source file: its text, its code alone, and where its functions are as (name, line, lines of body)."""

    def __init__(self, root, path):
        self.path = path
        self.is_cpp = path.suffix in (".cc", ".cpp")
        self.name = str(path.relative_to(root))
        self.room = room_of(self.name)
        self.text = read(path)
        self.code = code_only(self.text)
        self.n_lines = self.text.count("\n")
        self.functions = [(match["name"], line_of(self.code, match.start("name")), match["body"].count("\n"))
                          for match in (_FUNCTION_OF_CPP if self.is_cpp else _FUNCTION).finditer(self.code)]


def room_of(name):
    """The folder that a budget is for: daemon/NAME, thrift, config."""
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] == "daemon" and len(parts) > 2 else parts[0]


def struct_name(match):
    """Of a match of _STRUCT: "" where it has none."""
    head = re.sub(r"\w*\((?:[^()]|\([^()]*\))*\)|\b(?:final|G_GNUC_\w+)\b|:.*", " ", match["head"], flags=re.DOTALL).split()
    return head[-1] if head else match["behind"]


def n_fields(body, is_cpp=False):
    """The members of a struct's own level: what stands within braces is a struct of its own where it has a name, as a member or a
    type. A union without a name is one member. In C++ neither functions nor types are counted."""
    body = re.sub(r"^[ \t]*#.*$|\b(?:public|protected|private):", "", body, flags=re.MULTILINE)
    while (inner := re.search(r"\{([^{}]*)\}", body)) is not None:
        before, behind = body[:inner.start()].rstrip(), body[inner.end():]
        if re.search(r"\bstruct$", before) and behind.lstrip().startswith(";"):
            body = f"{before.removesuffix('struct')}{inner[1].rstrip().removesuffix(';')}{behind}"
        elif is_cpp and re.search(r"\)\s*(?:\w+\s*)*$", before):
            body = f"{before};{behind}"
        else:
            body = f"{before} @{behind}"
    n = 0
    for declaration in body.split(";"):
        declaration = declaration.strip()
        if not declaration or _NO_FIELD.match(declaration) or is_cpp and _METHOD.match(declaration):
            continue
        while declaration != (shorter := re.sub(r"\([^()]*\)|<[^<>]*>|\[[^\[\]]*\]", "", declaration)):
            declaration = shorter
        n += 1 + declaration.count(",")
    return n


def lone_headers(root, files):
    """Headers that only one file includes beside their own .c or .cc."""
    users_of = defaultdict(set)
    for file in files:
        for _, included in includes_of(file.code):
            users_of[resolve(root, file.path, included)].add(file.name)
    lone = []
    for header in (file for file in files if file.path.suffix == ".h"):
        name, users = header.name, users_of[header.path]
        stem = name.removesuffix(".h")
        others = {user for user in users if not re.fullmatch(re.escape(stem) + r"\.(?:c|cc|cpp)", user)}
        if len(others) == 1:
            lone.append((name, others.pop()))
    return lone


def read_budgets(root):
    """({room: (lines, one-user headers)}, {struct: fields}) of budgets.txt."""
    rooms, structs = {}, {}
    for line in read(root / "tests/style/budgets.txt").split("\n"):
        fields = line.split("#")[0].split()
        if fields and fields[0] == "struct":
            structs[fields[1]] = int(fields[2])
        elif fields:
            rooms[fields[0]] = (int(fields[1]), int(fields[2]))
    return rooms, structs


def percentile_99(sizes):
    return sorted(sizes)[max(0, len(sizes) * 99 // 100 - 1)] if sizes else 0


def check_functions(findings, files):
    sizes = []
    for file in files:
        for name, line, n_lines in file.functions:
            sizes.append(n_lines)
            if n_lines > FUNCTION_LINES_MAX:
                findings.add(file.path, line, f"{name}() has {n_lines} lines; {FUNCTION_LINES_MAX} are the most that one thought takes")
    n_long = sum(n_lines > FUNCTION_LINES_P99 for n_lines in sizes)
    if n_long > len(sizes) // 100:
        findings.lines.append(f"{n_long} of {len(sizes)} functions have more than {FUNCTION_LINES_P99} lines: one in a hundred may")


def check_structs(findings, files, allowed):
    for file in files:
        for match in _STRUCT.finditer(file.code):
            name = struct_name(match)
            n, n_max = n_fields(match["body"], file.is_cpp), allowed.get(name, STRUCT_FIELDS_MAX)
            if n > n_max:
                findings.add(file.path, line_of(file.code, match.start()), f"{name or 'a struct'} has {n} fields, more than {n_max}: "
                             "those that belong together are a struct of their own")


def check_rooms(findings, root, files, budgets):
    lines, lone = Counter(), defaultdict(list)
    for file in files:
        lines[file.room] += file.n_lines
    for header, user in lone_headers(root, files):
        lone[room_of(header)].append(f"{header} ({user})")
    for room in sorted(lines):
        if room not in budgets:
            findings.lines.append(f"tests/style/budgets.txt:1: has no row for {room}")
            continue
        lines_max, lone_max = budgets[room]
        if lines[room] > lines_max:
            findings.lines.append(f"tests/style/budgets.txt:1: {room} has {lines[room]:,} lines, above its budget of {lines_max:,}: "
                                  "make it smaller, or raise the budget and say in the commit what the lines buy")
        if len(lone[room]) > lone_max:
            findings.lines.append(f"tests/style/budgets.txt:1: {room} has {len(lone[room])} headers with one user, above {lone_max}: "
                                  f"join one to its user: {', '.join(sorted(lone[room]))}")


def short_and_called_once(files):
    """Functions of one file, of up to SHORT_LINES lines, that the rest of it names once."""
    found = []
    for file in files:
        for name, line, n_lines in file.functions:
            static = re.search(r"^static\b[^;{}]*\n" + name + r"\(", file.code, re.MULTILINE)
            if static and n_lines <= SHORT_LINES and len(re.findall(rf"\b{name}\b", file.code)) == 2:
                found.append((file, name, line, n_lines))
    return found


def print_report(root, files):
    rows = defaultdict(lambda: [0] * 6)
    short = Counter(file.room for file, *_ in short_and_called_once(files))
    lone = Counter(room_of(header) for header, _ in lone_headers(root, files))
    for file in files:
        for room in (file.room, "all"):
            rows[room][0] += file.n_lines
            rows[room][1] += 1
            rows[room][2] += len(file.functions)
    print(f"{'room':24}{'lines':>9}{'files':>7}{'functions':>11}{'lines each':>12}{'one-user headers':>18}{'short, called once':>20}")
    for room, (lines, n_files, n_functions, *_) in sorted(rows.items(), key=lambda row: (row[0] == "all", row[0])):
        each = lines / n_functions if n_functions else 0
        n_lone = sum(lone.values()) if room == "all" else lone[room]
        n_short = sum(short.values()) if room == "all" else short[room]
        print(f"{room:24}{lines:9,}{n_files:7}{n_functions:11,}{each:12.1f}{n_lone:18}{n_short:20}")
    sizes = [n for file in files for _, _, n in file.functions]
    print(f"lines of a function: median {sorted(sizes)[len(sizes) // 2]}, p99 {percentile_99(sizes)}, most {max(sizes)}")


def main():
    root = project_root()
    files = [File(root, path) for path in files_below(root, SOURCE_FOLDERS, C_SUFFIXES)]
    if "--report" in sys.argv:
        print_report(root, files)
        return 0
    if "--calls" in sys.argv:
        for file, name, line, n_lines in short_and_called_once(files):
            print(f"{file.name}:{line}: {name}() has {n_lines} lines")
        return 0
    findings = Findings(root)
    check_functions(findings, files)
    rooms, structs = read_budgets(root)
    check_structs(findings, files, structs)
    check_rooms(findings, root, files, rooms)
    return findings.report("functions, structs and rooms")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Holds that no files include each other in a circle, but those that are one module by design.

Such a module stands in its room's README.md, in a paragraph that names all its files and says why:

    One module: `lanes` and `lanes_private`. ...

A file and its header are one here (`lanes.c`, `lanes.h`: `lanes`).

    check_circles.py [ROOT]
"""
import re
import sys

from check_layers import includes_of, resolve
from source_text import C_SUFFIXES, SOURCE_FOLDERS, Findings, files_below, project_root, read

_MODULE = re.compile(r"^One module: (.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
_NAMES = re.compile(r"`([a-z0-9_]+)`(?:, | and )?")


def include_graph(root):
    """{file without suffix: those that it or its header includes}"""
    graph = {}
    for path in files_below(root, SOURCE_FOLDERS, C_SUFFIXES):
        included = graph.setdefault(path.with_suffix(""), set())
        for _, name in includes_of(read(path)):
            target = resolve(root, path, name)
            if target is not None and target.with_suffix("") != path.with_suffix(""):
                included.add(target.with_suffix(""))
    return graph


def reached_from(graph, start):
    reached, todo = set(), [start]
    while todo:
        for following in graph.get(todo.pop(), ()):
            if following not in reached:
                reached.add(following)
                todo.append(following)
    return reached


def circles(graph):
    """The largest sets of files each of which reaches each other one."""
    reached = {file: reached_from(graph, file) for file in graph}
    return {frozenset(other for other in reached[file] if file in reached.get(other, ())) for file in graph if file in reached[file]}


def declared_modules(readme):
    """The sets of names that README.md says are one module: those before the first word between them."""
    found = []
    for match in _MODULE.finditer(read(readme)) if readme.is_file() else ():
        names, rest = set(), " ".join(match[1].split())
        while name := _NAMES.match(rest):
            names.add(name[1])
            rest = rest[name.end():]
        found.append(frozenset(names))
    return found


def main():
    root = project_root()
    findings = Findings(root)
    graph = include_graph(root)
    found = circles(graph)
    for circle in sorted(found, key=sorted):
        room, names = min(circle).parent, frozenset(file.name for file in circle)
        if names not in declared_modules(room / "README.md"):
            listed = ", ".join(f"`{name}`" for name in sorted(names))
            findings.add(room / "README.md", 1, f"include each other, and are not said to be one module: {listed}")
    for room in sorted({file.parent for file in graph}):
        for names in declared_modules(room / "README.md"):
            if frozenset(room / name for name in names) not in found:
                findings.add(room / "README.md", 1, f"no longer include each other: {', '.join(sorted(names))}")
    return findings.report(f"circles among {len(graph)} files")


if __name__ == "__main__":
    sys.exit(main())

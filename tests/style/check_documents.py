#!/usr/bin/env python3
"""Holds what joins the documents: each link leads to a file and a heading, each page that the program names exists, a long page
lists its sections, and a measured figure stands on one page.

    check_documents.py ROOT
"""
import re
import sys

from source_text import Findings, files_below, line_of, listed_files, project_root, read

LONG = 120  # lines of a page above which a reader needs a list of its sections
# Made by programs, with figures that other pages quote, or with no sections to choose from.
GENERATED = {"docs/performance.md", "docs/messages.md", "docs/options.md"}

_BLOCK = re.compile(r"^ *```.*?^ *```", re.M | re.S)
_MADE = re.compile(r"<!-- [^>]*begin.*?<!-- [^>]*end[^>]*-->", re.S)
_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
_NAMED_PAGE = re.compile(r"docs/[\w-]+\.md")
_HEADING = re.compile(r"^(#+) (.*)$", re.M)
_FIGURE = re.compile(r"(?<![\w.,])\d[\d,.]*\s(?:us|(?:thousand\s)?(?:readings|rows)/s)\b")


def blank(text, pattern):
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def anchor(heading):
    """As GitHub makes it of a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"<!--.*?-->", "", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def headings(text, levels=(1, 2, 3, 4, 5, 6)):
    return [anchor(title) for marks, title in _HEADING.findall(blank(text, _BLOCK)) if len(marks) in levels]


def check_links(findings, path, text):
    for found in _LINK.finditer(blank(blank(text, _BLOCK), _CODE)):
        name, _, place = found[1].partition("#")
        if "://" in found[1] or name.startswith("mailto:"):
            continue
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            findings.add(path, line_of(text, found.start()), f"no file '{name}'")
        elif place and target.suffix == ".md" and place not in headings(read(target)) + _ANCHOR.findall(read(target)):
            findings.add(path, line_of(text, found.start()), f"'{name or path.name}' has no heading or anchor '#{place}'")


def check_named_pages(findings, root):
    """The pages in texts and comments of the program, its configuration and its units."""
    for path in listed_files(root):
        if path.parts[0] in ("daemon", "config", "thrift", "systemd") and path.suffix not in (".md", ".desc"):
            text = read(root / path)
            for found in _NAMED_PAGE.finditer(text):
                if not (root / found[0]).is_file():
                    findings.add(root / path, line_of(text, found.start()), f"no file '{found[0]}'")


def check_contents(findings, path, text):
    first = re.search(r"^## ", blank(text, _BLOCK), re.M)
    if text.count("\n") <= LONG or first is None:
        return
    listed = set(_LINK.findall(text[:first.start()]))
    for section in headings(text, (2,)):
        if f"#{section}" not in listed:
            findings.add(path, 1, f"{text.count(chr(10))} lines, but no list of sections names '#{section}'")


def main():
    root = project_root()
    findings = Findings(root)
    figures = {}
    pages = [root / name for name in listed_files(root) if name.suffix == ".md"]
    documents = [path for path in files_below(root, ("docs",), (".md",)) if str(path.relative_to(root)) not in GENERATED]
    for path in pages:
        check_links(findings, path, read(path))
    check_named_pages(findings, root)
    for path in documents:
        text = read(path)
        check_contents(findings, path, text)
        prose = blank(blank(blank(text, _MADE), _BLOCK), _CODE)
        for found in _FIGURE.finditer(prose):
            figures.setdefault(" ".join(found[0].split()), {}).setdefault(path, line_of(text, found.start()))
    for figure, places in figures.items():
        for path in [*places][1:]:
            findings.add(path, places[path], f"'{figure}' stands in {[*places][0].name}, too: link there")
    return findings.report(f"links, lists and figures of {len(pages)} pages")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares the table in docs/metrics.md with the metrics that the source registers, and holds their naming.

    check_metrics_docs.py [--write] [ROOT]

--write puts the table anew between its markers. A metric is found by its name, a string literal that begins with
tidemark_; its help is the literal that follows, and its type the registering function, or _total where name and help
stand in a table of their own.
"""
import re
import sys
from dataclasses import dataclass

from source_text import Findings, files_below, line_of, project_root, read, without_comments

DOCUMENT = "docs/metrics.md"
BEGIN, END = "<!-- metrics: begin -->\n", "<!-- metrics: end -->\n"
TYPES = {"counter": "counter", "counter_milli": "counter", "gauge": "gauge", "gauge_milli": "gauge", "gauge_unknown": "gauge",
         "gauge_milli_unknown": "gauge", "regions": "gauge", "histogram": "histogram"}

_NAME = re.compile(r'"((?:tidemark|process)_[A-Za-z0-9_]+)"')
_HELP = re.compile(r'[^";]*("(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*)')
_REGISTER = re.compile(r"\b(?:tide_metrics|show)_(counter_milli|counter|gauge_milli_unknown|gauge_unknown|gauge_milli|gauge|"
                       r"histogram|regions)\s*\(")
# Functions that name a metric without registering it.
_READ = re.compile(r"\btide_metrics_sum\s*\(\s*[^,;]*,\s*$")


@dataclass
class Metric:
    name: str
    type: str
    help: str
    path: object
    line: int


def joined(literals):
    """Adjacent C string literals as one text."""
    text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))
    return text.replace('\\"', '"').replace("\\\\", "\\")


def type_of(code, at, name):
    """Of the registering call in the same statement; by the suffix when there is none."""
    statement = code[max(code.rfind(c, 0, at) for c in ";{}") + 1:at]
    calls = _REGISTER.findall(statement)
    if calls:
        return TYPES[calls[-1]]
    return "counter" if name.endswith("_total") else None


def metrics_of(path, findings):
    code = without_comments(read(path))
    for found in _NAME.finditer(code):
        if _READ.search(code[:found.start()]):
            continue
        name, line = found[1], line_of(code, found.start())
        kind = type_of(code, found.start(), name)
        help_text = _HELP.match(code, found.end())
        if kind is None or help_text is None:
            findings.add(path, line, f"'{name}': its {'type' if kind is None else 'help'} cannot be seen here: register it "
                                     "with literals in one statement")
            continue
        yield Metric(name, kind, joined(help_text[1]), path, line)


def check_name(findings, metric):
    def wrong(text):
        findings.add(metric.path, metric.line, f"'{metric.name}': {text}")

    if not re.fullmatch(r"(?:tidemark|process)_[a-z0-9]+(?:_[a-z0-9]+)*", metric.name):
        wrong("names are lower case words joined by '_'")
    if (metric.type == "counter") != metric.name.endswith("_total"):
        wrong("a counter's name ends in _total, and no other's does")
    if re.search(r"_(?:ms|us|ns|milliseconds|kb|kib|mib|percent)(?:_total)?$", metric.name):
        wrong("base units only: seconds, bytes, ratios")
    if metric.help.endswith(".") or not metric.help[:1].isascii() or not metric.help:
        wrong("the help is a sentence without its full stop")


def collect(root, findings):
    """All metrics by name. The first registration gives the help; the others must agree with it."""
    metrics = {}
    for path in files_below(root, ("daemon",), (".c",)):
        for metric in metrics_of(path, findings):
            first = metrics.setdefault(metric.name, metric)
            if first is metric:
                check_name(findings, metric)
            elif (first.type, first.help) != (metric.type, metric.help):
                findings.add(path, metric.line, f"'{metric.name}' has another type or help than in "
                                                f"{first.path.relative_to(root)}:{first.line}")
    return metrics


def table(metrics):
    rows = ["| metric | type | meaning |\n", "|---|---|---|\n"]
    for name in sorted(metrics):
        metric = metrics[name]
        rows.append(f"| `{name}` | {metric.type} | {metric.help.replace('|', chr(92) + '|')} |\n")
    return "".join(rows)


def rows_of(text):
    return {m[1]: m[0] for m in re.finditer(r"^\| `((?:tidemark|process)_\w+)` .*$", text, re.MULTILINE)}


def compare(findings, document, text, start, stop, wanted):
    """Row by row, so that the finding names the metric."""
    documented, registered = rows_of(text[start:stop]), rows_of(wanted)
    line = line_of(text, start)
    for name in sorted(set(documented) | set(registered)):
        if name not in documented:
            findings.add(document, line, f"'{name}' is registered and not documented")
        elif name not in registered:
            findings.add(document, line, f"'{name}' is documented and not registered")
        elif documented[name] != registered[name]:
            findings.add(document, line, f"'{name}' has another type or help in the source")
    if text[start:stop] != wanted and not findings.lines:
        findings.add(document, line, "the table's rows are out of order or edited by hand")


def main():
    root = project_root()
    findings = Findings(root)
    metrics = collect(root, findings)
    document = root / DOCUMENT
    text = read(document)
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        findings.add(document, 1, f"has no place for the table between {BEGIN.strip()} and {END.strip()}")
        return findings.report("metrics")
    start, stop = text.index(BEGIN) + len(BEGIN), text.index(END)
    wanted = table(metrics)
    if "--write" in sys.argv:
        document.write_text(text[:start] + wanted + text[stop:], encoding="utf-8")
    else:
        before = len(findings.lines)
        compare(findings, document, text, start, stop, wanted)
        if len(findings.lines) > before:
            print("to write the table anew: ./check --write")
    return findings.report(f"{len(metrics)} metrics")


if __name__ == "__main__":
    sys.exit(main())

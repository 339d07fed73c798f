#!/usr/bin/env python3
"""Holds the waits of docs/status.md against the sentences of daemon/service/bottleneck.c: each has a row, each row a sentence, and each row
is provoked by tests/integration/test_waits.py, or says there which test shows it instead.

    check_waits.py [ROOT]
"""
import ast
import re
import sys
from pathlib import Path

from check_messages import arguments, words_of
from source_text import project_root

sys.path.append(str(Path(__file__).resolve().parents[1]))
from waits import named, waits  # noqa: E402

SOURCE = "daemon/service/bottleneck.c"
TESTS = "tests/integration/test_waits.py"
DEFINE = re.compile(r'^#define (\w+) (".*")$', re.MULTILINE)


def sentences(text):
    """The formats of found(), each with its limit in front."""
    texts = dict(DEFINE.findall(text))
    for call in re.finditer(r"\bfound\(\s*verdict, TIDE_LIMIT_(\w+),", text):
        form = arguments(text, call.end())[0]
        for name, words in texts.items():
            form = re.sub(rf"\b{name}\b", lambda _, words=words: words, form)
        yield f"{call[1].lower()}: {words_of(form)}"


def alternatives(sentence):
    return re.compile(".*".join(map(re.escape, sentence.split("..."))), re.DOTALL)


def provoked(tree):
    """The fragments that tests look for, and those in ELSEWHERE with their tests."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "look":
            yield from ((part.value, None) for part in node.args[1:2] if isinstance(part, ast.Constant))
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
            yield from ((row.elts[0].value, None) for row in node.iter.elts if isinstance(row, ast.Tuple))
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "ELSEWHERE":
            yield from ((fragment, where) for fragment, (_, where) in ast.literal_eval(node.value).items())


def main():
    root = project_root()
    rows = waits(root)
    told = list(sentences((root / SOURCE).read_text(encoding="utf-8")))
    findings = [f"{SOURCE}: no row of docs/status.md is '{one}'" for one in told
                if not any(alternatives(one).fullmatch(row.sentence) for row in rows)]
    findings += [f"docs/status.md: no sentence of {SOURCE} is '{row.sentence}'" for row in rows
                 if not any(alternatives(one).fullmatch(row.sentence) for one in told)]
    metrics = (root / "docs/metrics.md").read_text(encoding="utf-8")
    alerts = (root / "config/prometheus/alerts.yaml").read_text(encoding="utf-8")
    for row in rows:
        findings += [f"docs/status.md: there is no metric '{name}'" for name in row.metrics
                     if f"| `{name.partition('{')[0]}` |" not in metrics]
        findings += [f"docs/status.md: there is no alert '{name}'" for name in row.alerts if f"- alert: {name}\n" not in alerts]
    seen = list(provoked(ast.parse((root / TESTS).read_text(encoding="utf-8"))))
    for fragment, where in seen:
        if len(named(rows, fragment)) != 1:
            findings.append(f"{TESTS}: '{fragment}' is not of one row of docs/status.md")
        path, _, name = (where or "").partition(" ")
        if path and name not in (root / path).read_text(encoding="utf-8"):
            findings.append(f"{TESTS}: there is no test {where}")
    findings += [f"{TESTS}: nothing shows '{row.sentence}'" for row in rows if not any(row in named(rows, fragment) for fragment, _ in seen)]
    for finding in findings:
        print(finding)
    print(f"{len(told)} sentences, {len(rows)} waits: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

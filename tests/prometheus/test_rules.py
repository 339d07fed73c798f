#!/usr/bin/env python3
"""promtool on the alert rules: each alert fires and resolves, has an outage for `./check --long`, a severity, a summary and a section of
the runbook, and asks only for metrics that exist. Exit code 77 where there is no promtool.

    test_rules.py [ROOT]
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from alert_cases import CASES, promtool_tests
from outages import OUTAGES

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
RULES = ROOT / "config/prometheus/alerts.yaml"
DASHBOARD = ROOT / "config/prometheus/dashboard.json"
PROVIDER = ROOT / "config/prometheus/grafana-dashboards.yaml"
METRIC = re.compile(r"\b((?:tidemark|process)_[a-z_]+)\b")


def documented():
    """Names that the reference has; a histogram's, with what Prometheus makes of it."""
    names = set()
    for name, kind in re.findall(r"^\| `((?:tidemark|process)_\w+)` \| (\w+) \|", (ROOT / "docs/metrics.md").read_text(), re.M):
        names.add(name)
        if kind == "histogram":
            names |= {f"{name}_{part}" for part in ("bucket", "sum", "count")}
    return names


def alerts():
    return re.findall(r"^ +- alert: (\w+)\n(.*?)(?=^ +- alert|\Z)", RULES.read_text(), re.M | re.S)


class Rules(unittest.TestCase):
    def run_promtool(self, *words):
        done = subprocess.run(["promtool", *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_promtool_takes_the_rules(self):
        self.run_promtool("check", "rules", str(RULES))

    def test_each_alert_fires_and_resolves(self):
        self.assertEqual({name for name, _ in alerts()}, set(CASES))
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump(promtool_tests(str(RULES)), file)
            file.flush()
            self.run_promtool("test", "rules", file.name)

    def test_each_alert_has_an_outage_and_each_outage_an_alert(self):
        self.assertEqual({name for name, _ in alerts()}, set(OUTAGES))

    def test_each_alert_has_a_section_of_the_runbook_and_each_section_an_alert(self):
        runbook = (ROOT / "docs/runbook.md").read_text()
        self.assertEqual(sorted(re.findall(r"^## (Tidemark\w+)$", runbook, re.M)), sorted(name for name, _ in alerts()))
        for section in re.split(r"^## Tidemark", runbook, flags=re.M)[1:]:
            for part in ("**Impact:**", "**Confirm:**", "**Do:**", "**If that does not help:**"):
                self.assertIn(part, section)

    def test_each_alert_has_a_severity_a_summary_a_description_and_its_section(self):
        for name, text in alerts():
            self.assertRegex(text, r"severity: (critical|warning) ", name)
            self.assertRegex(text, r'summary: "', name)
            self.assertRegex(text, r'description: "', name)
            self.assertIn(f'runbook_url: "file:///usr/share/doc/tidemark/docs/runbook.md.gz#{name.lower()}"', text)

    def test_grafana_finds_the_dashboard_where_the_package_has_it(self):
        path = re.search(r"^      path: /usr/share/(\S+)$", PROVIDER.read_text(), re.M)[1]
        install = (ROOT / "config/meson.build").read_text()
        files, folder = re.search(r"install_data\(([^()]*dashboard\.json[^()]*),\s+install_dir: get_option\('datadir'\) / (.*)\)", install).groups()
        self.assertEqual(folder.replace("' / '", "/"), f"'{path}'")
        self.assertIn(f"'prometheus/{PROVIDER.name}'", files)
        dashboard = json.loads(DASHBOARD.read_text())
        self.assertEqual((dashboard["title"], dashboard["uid"]), ("tidemark", "tidemark"))  # for links that last

    def test_only_metrics_that_exist_are_asked_for(self):
        known = documented()
        dashboard = json.loads(DASHBOARD.read_text())
        texts = [text for _, text in alerts()]
        texts += [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
        for text in texts:
            expressions = re.sub(r'"[^"]*"', "", text)
            self.assertLessEqual(set(METRIC.findall(expressions)), known)


if __name__ == "__main__":
    if shutil.which("promtool") is None:
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

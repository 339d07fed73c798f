#!/usr/bin/env python3
"""Each alert of config/prometheus/alerts.yaml, seen firing and resolving in an outage: a real Prometheus with these rules scrapes
real daemons, whose peers are broken and mended. Prints a table of them.

    test_outages.py BUILD ROOT [--only ALERT]... [--counts FILE]

So that it takes minutes, all times of the rules are a sixtieth of what they are: `for`, ranges, and thresholds of metrics in seconds.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from outages import OUTAGES, World, free_port

FACTOR = 60
SECONDS = {"s": 1, "m": 60, "h": 3600}
AT_ONCE = 6


def shortened(rules: str) -> str:
    """Each time by the factor, and nothing else."""
    def shorten(match: re.Match[str]) -> str:
        seconds = int(match[2]) * SECONDS[match[3]]
        assert seconds % FACTOR == 0, match[0]
        return f"{match[1]}{seconds // FACTOR}s"
    rules = re.sub(r"(for: |\[|offset )(\d+)([smh])\b", shorten, rules)
    return re.sub(r"(_seconds\)? > )(\d+)", lambda match: f"{match[1]}{int(match[2]) // FACTOR}", rules)


class Prometheus:
    def __init__(self, directory: Path, rules: str) -> None:
        self.url, self.directory = f"http://127.0.0.1:{free_port()}", directory
        (directory / "rules.yaml").write_text(shortened(rules))
        (directory / "targets").mkdir()
        (directory / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(directory / "rules.yaml")],
            "scrape_configs": [{"job_name": "tidemark", "tls_config": {"insecure_skip_verify": True},
                                "file_sd_configs": [{"files": [f"{directory}/targets/*.json"], "refresh_interval": "1s"}]}]}))
        with open(directory / "prometheus.log", "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={directory}/prometheus.yml", f"--storage.tsdb.path={directory}/data",
                 f"--web.listen-address={self.url[7:]}"], stdout=log, stderr=log)

    def ask(self, path: str, **words: str) -> Any:
        """None while it starts."""
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(words)}", timeout=30) as reply:
                return json.load(reply)["data"]
        except OSError:
            return None

    def target(self, world: World, name: str) -> Path:
        path = self.directory / f"targets/{name}.json"
        labels = {"__scheme__": world.scheme, "instance": name}
        path.with_suffix(".new").write_text(json.dumps([{"targets": [world.address], "labels": labels}]))
        path.with_suffix(".new").rename(path)
        return path

    def value(self, query: str) -> float | None:
        data = self.ask("query", query=query)
        return float(data["result"][0]["value"][1]) if data and data["result"] else None

    def alerts(self, name: str) -> dict[str, str]:
        """Of an instance, with their state. Those that Prometheus cannot tell, it has not resolved either."""
        data = self.ask("alerts")
        assert data is not None, "Prometheus does not answer"
        return {one["labels"]["alertname"]: one["state"] for one in data["alerts"] if one["labels"].get("instance") == name}


def live_through(prometheus: Prometheus, build: Path, alert: str) -> tuple[float, float, list[str]]:
    """The seconds from the outage's begin to firing and from its end to resolving, and what fired beside it."""
    outage = OUTAGES[alert]
    of = f'{{instance="{alert}"}}'
    world = World(build, prometheus.directory / alert, lambda: prometheus.alerts(alert).get(alert) == "firing",
                  lambda: prometheus.value(f"process_start_time_seconds{of}"))
    try:
        course = outage.run(world)
        next(course)
        if world.daemon is None:
            world.start()
        world.wait_ready()
        target = prometheus.target(world, alert)
        # Often enough that a rule knows how it was before.
        world.wait("Prometheus scrapes it", lambda: (prometheus.value(f"sum_over_time(up{of}[1m])") or 0) >= 3)
        # A gateway may have been slow for a moment.
        world.wait(f"{alert} is not there", lambda: alert not in prometheus.alerts(alert))
        begun = time.monotonic()
        next(course)
        world.wait(f"{alert} fires", world.is_firing)
        fired = time.monotonic() - begun
        beside = sorted(name for name, state in prometheus.alerts(alert).items() if state == "firing" and name != alert)
        assert next(course, "over") == "over"
        ended = time.monotonic()
        # Not for want of a scrape.
        world.wait(f"{alert} is resolved", lambda: alert not in prometheus.alerts(alert) and prometheus.value(f"up{of}") == 1)
        resolved = time.monotonic() - ended
        world.flows = False
        world.wait_ready()
        world.wait("all is committed", world.has_committed_all)
        target.unlink()
        return fired, resolved, beside
    finally:
        world.end()


def run(build: Path, rules: str, chosen: list[str]) -> tuple[int, int]:
    """Passed and failed."""
    printing, failed = threading.Lock(), 0
    with tempfile.TemporaryDirectory() as directory:
        prometheus = Prometheus(Path(directory), rules)
        print(f"   {'ALERT':<27}{'FIRING':>7}  {'RESOLVED':>8}  PROVOKED BY; ENDED BY")

        def one(alert: str) -> bool:
            try:
                fired, resolved, beside = live_through(prometheus, build, alert)
            except Exception as error:  # noqa: BLE001
                with printing:
                    print(f"   {alert:<27} FAILED: {type(error).__name__}: {error}", flush=True)
                return False
            with printing:
                print(f"   {alert:<27}{fired:>5.1f} s  {resolved:>6.1f} s  {OUTAGES[alert].provoked_by}; {OUTAGES[alert].ended_by}",
                      *[f"{'':<48}beside it: {', '.join(beside)}"] * bool(beside), sep="\n", flush=True)
            return True
        try:
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                failed = list(pool.map(one, chosen)).count(False)
        finally:
            prometheus.process.kill()
            prometheus.process.wait()
    return len(chosen) - failed, failed


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--counts", type=Path)
    options = parser.parse_args()
    rules = (options.root / "config/prometheus/alerts.yaml").read_text()
    passed, failed = run(options.build.resolve(), rules, options.only or list(OUTAGES))
    if options.counts:
        options.counts.write_text(f"{passed} {failed} 0\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

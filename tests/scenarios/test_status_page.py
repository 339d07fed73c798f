#!/usr/bin/env python3
"""The page at / of a real daemon, as a real Chromium shows it: with scripts and without, while all is well and while the
gateway is away, and after reloads; what comes from outside stays text.

    test_status_page.py BUILD [PICTURE]     PICTURE: a screenshot is left there, as docs/ has it
"""
from __future__ import annotations

import json
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

from browser import Browser, assert_has
from processes import Daemon, Gateway, Kafka

PATIENCE_S = 60
TIME_MS = 1500000000000
HOSTILE = "<img src=x onerror=document.title='owned'><b>bold</b>"
SKIPPED = 77


class Scene:
    def __init__(self, build: Path, directory: Path) -> None:
        self.kafka = Kafka(build / "tests" / "fault" / "mock-kafka")
        self.gateway = Gateway(build / "tests" / "fault" / "scripted-gateway")
        self.kafka.ask("topic", "metrics", "3")
        self.kafka.ask("topic", "dead-letters", "1")
        self.gateway.ask("table", "METRIC", "M")
        self.gateway.ask("table", "CURRENT_METRIC", "M")
        state = directory / "state"
        state.mkdir()
        self.daemon = Daemon(build / "daemon" / "tidemark", self.config(), directory, "daemon", state)
        assert self.daemon.wait_ready(PATIENCE_S, "never said"), self.daemon.log()
        self.url = f"http://127.0.0.1:{self.daemon.port}/"

    def config(self) -> dict[str, object]:
        columns = {"family": "M", "from": "*"}
        return {"kafka": {"brokers": self.kafka.greeting, "group": "tidemark", "topics": ["metrics"], "librdkafka": {"fetch.wait.max.ms": 20}},
                "hbase": {"gateways": [f"127.0.0.1:{self.gateway.greeting}"], "call_timeout": "2s"},
                "limits": {"drain_timeout": "3s"},
                "dead_letters": {"topic": "dead-letters"},
                "readings": {"arrays": "reject", "time": {"field": "ts", "format": "epoch_ms"}},
                "tables": {"METRIC": {"key": [{"field": "host"}, "#", {"time": "epoch_ms"}], "columns": columns},
                           "CURRENT_METRIC": {"latest": "merge", "key": [{"field": "host"}], "columns": columns}}}

    def send(self) -> None:
        """Readings, and one message whose reason for being refused holds markup."""
        values = [json.dumps({"host": f"server{n % 7}", "ts": TIME_MS + n, "load": n}).encode() for n in range(300)]
        values.append(json.dumps({"host": "server1", "ts": TIME_MS, HOSTILE: [1]}).encode())
        self.kafka.ask_all([self.kafka.produce_command("metrics", n % 3, None, value, TIME_MS, []) for n, value in enumerate(values)])
        self.kafka.ask("flush")

    def wait_status(self, what: str) -> str:
        """Until /status has this; the document."""
        deadline = time.monotonic() + PATIENCE_S
        while what not in (text := self.daemon.get("/status")[1]):
            assert time.monotonic() < deadline, f"/status never had {what}:\n{text}"
            time.sleep(0.1)
        return text

    def end(self) -> None:
        self.daemon.kill()
        self.kafka.end()
        self.gateway.end()


def assert_stays_text(page: str) -> None:
    assert_has(page, "&lt;img src=x onerror=")
    assert "<img" not in page and "<b>bold" not in page and "<title>owned" not in page, page


def look_at_reloads(scene: Scene, browser: Browser) -> None:
    """One that leaves an option to a restart, and one of a file with a mistake, whose name holds markup."""
    path = scene.daemon.config_path
    right = path.read_text()
    path.write_text(right.replace('"call_timeout": "2s"', '"call_timeout": "1s"'))
    scene.daemon.process.send_signal(signal.SIGHUP)
    scene.wait_status('"needs_restart":"hbase.call_timeout"')
    left = r"Changed, but needs a restart: hbase\.call_timeout"
    assert_has(browser.page(scene.url), r'<p id="trouble">' + left + "</p>")
    assert_has(scene.daemon.get("/")[1], r"<h2>reload</h2>.*<th>needs_restart</th><td>hbase\.call_timeout</td>")

    path.write_text(json.dumps({**json.loads(right), HOSTILE: 1}))
    scene.daemon.process.send_signal(signal.SIGHUP)
    scene.wait_status('"result":"failed"')
    page, plain = browser.page(scene.url), scene.daemon.get("/")[1]
    assert_has(page, r'<p id="trouble">The last reload failed; the previous configuration stays in force: [^<]*&lt;img src=x[^<]*; ' + left + "</p>")
    assert_has(plain, r"<h2>reload</h2>.*<th>result</th><td>failed</td>.*<th>error</th><td>[^<]*&lt;img src=x")
    assert_stays_text(page)
    assert_stays_text(plain)


def look(scene: Scene, browser: Browser, picture: Path | None) -> None:
    scene.send()
    scene.wait_status('"kept":1')
    page = browser.page(scene.url)
    assert_has(page, r'<div id="live"(?! hidden)', r'<main id="plain" hidden', r'id="state" class="badge good">ready<', "Limited by kafka",
               r"<h2>Gateways</h2>.*127\.0\.0\.1:\d+", r"<h2>Tables</h2>.*CURRENT_METRIC", r"<h2>Partitions</h2>.*metrics",
               r"<h2>Dead letters by reason</h2>", r"<title>tidemark tidemark</title>")
    assert_stays_text(page)
    if picture is not None:
        browser.run(scene.url, f"--screenshot={picture}", "--window-size=1100,900")

    # What a browser without scripts is given: Chromium prints no document then.
    plain = scene.daemon.get("/")[1]
    assert_has(plain, r'<div id="live" hidden', r'<main id="plain"><h2>tidemark</h2>', r"<th>ready</th><td>yes</td>", r"<h2>partitions</h2>.*<td>metrics</td>")
    assert_stays_text(plain)

    look_at_reloads(scene, browser)

    scene.gateway.end()
    scene.send()
    scene.wait_status('"state":"down"')
    assert_has(browser.page(scene.url), r"Gateways – in trouble", r"0 of 1 up", r"Limited by gateway", r'class="bad">down<')


def main() -> int:
    picture = Path(sys.argv[2]).absolute() if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(prefix="tidemark-page-", ignore_cleanup_errors=True) as directory:
        browser = Browser.find(Path(directory) / "profile")
        if browser is None:
            print("chromium is not installed")
            return SKIPPED
        scene = Scene(Path(sys.argv[1]).absolute(), Path(directory))
        try:
            look(scene, browser, picture)
        finally:
            scene.end()
    print("the page shows what it must")
    return 0


if __name__ == "__main__":
    sys.exit(main())

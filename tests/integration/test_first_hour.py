"""From a topic to rows by what `tidemark init` writes, as docs/first-hour.md leads there: how long it takes is printed."""

import time
from datetime import datetime, timezone

from case import Case


class FirstHour(Case):

    def test_init(self) -> None:
        """topic, `init --from-topic`, `check`, `tables create`, `run`: every cell in HBase, as its own client reads it."""
        begin_ms = int(time.time()) * 1000 - 3_600_000
        readings = []
        for i in range(200):
            taken = datetime.fromtimestamp(begin_ms / 1000 + i, timezone.utc)
            readings.append({"boiler": {"serial": f"B-{i % 7:02}", "hall": "east"}, "taken": taken.strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "temp": {"in": 40 + i % 10, "out": 60.5}, "burning": i % 2 == 0})
        self.create_topic(2)
        self.send(readings[:100], partition=0)
        self.send(readings[100:], partition=1)
        current = f"CURRENT_{self.history}"
        self.drop_later(self.history, current)
        config = self.work / "boilers.yaml"

        began = time.monotonic()
        shown = self.command("init", "--from-topic", "-b", self.kafka.address, "-t", self.name, "--group", self.name, "--table", self.history,
                             "--gateways", ",".join(gateway.address for gateway in self.stack.gateways[:2]), "-c", str(config))
        self.assertIn("time, rfc3339", shown)
        self.assertEqual(self.kafka.admin.committed_offsets(self.name, self.name), {})
        config.write_text(config.read_text(encoding="utf-8") + "\nservice:\n  http: off\n", encoding="utf-8")  # the port may be in use
        self.assertIn("no problems", self.command("check", "--offline", "-c", str(config)))
        self.command("tables", "create", "-c", str(config))
        self.command("check", "-c", str(config))
        self.command("run", "--until-end", "-c", str(config))
        print(f"        from a topic to rows by init: {time.monotonic() - began:.1f} s", flush=True)

        history, latest = {}, {}
        for i, reading in enumerate(readings):
            thing, at_ms = f"B-{i % 7:02}", begin_ms + i * 1000
            values = {"M:boiler/hall": "east", "M:temp/in": str(40 + i % 10), "M:temp/out": "60.5",
                      "M:burning": "true" if i % 2 == 0 else "false"}
            for column, value in values.items():
                history[f"{thing}#{at_ms}", column] = latest[thing, column] = (at_ms, value)
        self.assertEqual(self.cells(self.history), history)
        self.assertEqual(self.cells(current), latest)

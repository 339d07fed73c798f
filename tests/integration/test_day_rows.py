"""Rows that hold a day by the clocks of a zone, on the days of 23 and 25 hours: written, and read by their bounds."""

import json
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from case import Case

ZONE = "Europe/Berlin"
SLOT_MS = 15 * 60 * 1000
# The first Sundays of summer and winter time, between ordinary days; how many quarters of an hour each has.
DAYS = {date(2016, 10, 29): 96, date(2016, 10, 30): 100, date(2016, 10, 31): 96,
        date(2017, 3, 25): 96, date(2017, 3, 26): 92, date(2017, 3, 27): 96}


def start_of(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(ZONE))


def start_ms(day: date) -> int:
    return int(start_of(day).timestamp() * 1000)


class DayRows(Case):

    def test_days_of_23_and_25_hours(self) -> None:
        """Each reading is in one row, that of its day, and read back by the day's bounds."""
        by_day = {day: list(range(start_ms(day), start_ms(day + timedelta(days=1)), SLOT_MS)) for day in DAYS}
        self.assertEqual({day: len(times) for day, times in by_day.items()}, DAYS)
        self.create_topic(1)
        self.drop_later(self.history)
        tables = {self.history: {
            "key": [{"field": "meter"}, "#", {"time": "epoch_ms", "cut": "day", "zone": ZONE}],
            "columns": {"family": "M", "from": ["kwh"], "qualifier": [{"time": "epoch_s", "since": "day", "zone": ZONE}]}}}
        daemon = self.daemon(tables=tables)
        config = ("--config", str(daemon.config_path))
        self.command("tables", "create", *config)
        # The days' ends first: the order of arrival is nothing.
        self.send([{"meter": "m1", "ts": time_ms, "kwh": str(time_ms)} for times in by_day.values() for time_ms in reversed(times)])
        self.run_to_end(daemon)

        wanted = {(f"m1#{start_ms(day)}", f"M:{place * SLOT_MS // 1000:05}"): (time_ms, str(time_ms))
                  for day, times in by_day.items() for place, time_ms in enumerate(times)}
        self.assertEqual(self.cells(self.history), wanted)
        self.assertEqual(len({row for row, _ in wanted}), len(DAYS))

        def times_read(*words: str) -> list[list[int]]:
            printed = self.command("scan", *config, self.history, "meter=m1", "--format", "json", *words)
            return [sorted(cell["timestamp_ms"] for cell in json.loads(line)["cells"]) for line in printed.splitlines()]
        for day, times in by_day.items():
            end = start_of(day + timedelta(days=1))
            self.assertEqual(times_read("--from", start_of(day).isoformat(), "--to", end.isoformat()), [times], day)
            # Two hours with the hour in which the clocks change, whichever it is.
            between = ("--from", str(times[4]), "--to", str(times[12]))
            self.assertEqual(times_read(*between), [times[4:12]], day)

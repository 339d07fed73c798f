"""A table for each day, made with its first row: on real gateways, by one daemon and by two at once."""

import threading
from typing import Any, Sequence

from case import Case, Reading
from daemon import Daemon, wait_until

DAY_MS = 24 * 3600 * 1000
# 2017-07-25T00:00:00Z
START_MS = 1_500_940_800_000
DAYS = ("20170725", "20170726", "20170727")
HOSTS = ("alpha", "beta", "gamma", "delta", "epsilon")
N_SALTS = 4

# (row key without the salt, column) -> (cell time in ms, value)
Cells = dict[tuple[str, str], tuple[int, str]]


def readings_of_day(day: str, n_times: int = 40, first: int = 0) -> list[Reading]:
    start_ms = START_MS + DAYS.index(day) * DAY_MS
    return [{"host": host, "ts": start_ms + time * 600_000, "cpu": f"{day}.{time}"}
            for time in range(first, first + n_times) for host in HOSTS]


def cells_of(readings: Sequence[Reading]) -> Cells:
    return {(f"{reading['host']}#{reading['ts']}", "M:cpu"): (reading["ts"], reading["cpu"]) for reading in readings}


class DatedTables(Case):

    def setUp(self) -> None:
        super().setUp()
        self.days = {day: f"{self.name}_{day}" for day in DAYS}
        self.drop_later(*self.days.values())

    def dated_daemon(self, name: str = "daemon", n_salts: int = N_SALTS, **options: Any) -> Daemon:
        tables = {f"{self.name}_{{yyyyMMdd}}": {
            "key": [{"salt": n_salts, "of": ["host"]}, "#", {"field": "host"}, "#", {"time": "epoch_ms"}],
            "columns": {"family": "M", "from": "*"},
            "families": {"M": {"compression": "gz", "bloom": "rowcol", "versions": 3}}}}
        daemon = self.daemon(name, tables=tables, **options)
        daemon.start()
        daemon.wait_ready()
        return daemon

    def stored(self, day: str) -> Cells:
        cells = self.cells(self.days[day])
        return {(row.split("#", 1)[1], column): cell for (row, column), cell in cells.items()}

    def description(self, day: str) -> tuple[list[str], str, dict[str, str]]:
        """The first keys of its regions, its family's settings, its attributes."""
        lines = self.stack.oracle.describe(self.days[day])
        families = [line for line in lines if line[0] == "family"]
        self.assertEqual([family[1] for family in families], ["M"])
        return ([bytes.fromhex(line[1]).decode() for line in lines if line[0] == "region"], " ".join(families[0][2:]),
                {line[1]: line[2] for line in lines if line[0] == "attribute"})

    def test_table_for_each_day(self) -> None:
        """With the declared settings; one that somebody dropped is made again, without a start."""
        self.create_topic(1)
        daemon = self.dated_daemon()
        sent = {day: readings_of_day(day) for day in DAYS}
        n_sent = self.send([reading for day in DAYS for reading in sent[day]])
        daemon.wait_committed(n_sent)
        for day in DAYS:
            self.assertEqual(self.stored(day), cells_of(sent[day]))
            regions, family, attributes = self.description(day)
            self.assertEqual(regions, ["", "1", "2", "3"])
            for setting in ("COMPRESSION=GZ", "BLOOMFILTER=ROWCOL", "VERSIONS=3"):
                self.assertIn(setting, family)
            self.assertIn(f"salt({N_SALTS}", attributes["TIDEMARK_SCHEME"])
        self.assertEqual(daemon.metric("tidemark_tables_created_total"), len(DAYS))

        self.stack.oracle.drop(self.days["20170726"])
        later = {day: readings_of_day(day, n_times=10, first=40) for day in DAYS}
        n_sent += self.send([reading for day in DAYS for reading in later[day]])
        daemon.wait_committed(n_sent)
        self.assertEqual(self.stored("20170726"), cells_of(later["20170726"]))
        self.assertEqual(self.description("20170726")[0], ["", "1", "2", "3"])
        for day in ("20170725", "20170727"):
            self.assertEqual(self.stored(day), cells_of([*sent[day], *later[day]]))
        self.assertEqual(daemon.metric("tidemark_tables_created_total"), len(DAYS) + 1)
        self.assert_accounting_balances(daemon)
        self.assertEqual(daemon.stop(), 0, daemon.log_tail())

    def test_table_is_dropped_in_the_middle_of_a_flow(self) -> None:
        """What comes after the drop is all there, in a table made anew; nothing is halted."""
        self.create_topic(1)
        daemon = self.dated_daemon()
        readings = readings_of_day("20170725", n_times=140)
        first, rest = readings[:100], readings[100:]
        daemon.wait_committed(self.send(first))
        stop = threading.Event()
        flow = threading.Thread(target=self.send_slowly, args=(rest[:400], stop))
        flow.start()
        self.addCleanup(flow.join)
        self.addCleanup(stop.set)
        self.stack.oracle.drop(self.days["20170725"])
        flow.join()
        last = rest[400:]
        self.send(last)
        daemon.wait_committed(len(readings))
        stored = self.stored("20170725")
        self.assertLessEqual(stored.items(), cells_of(readings).items())
        self.assertLessEqual(cells_of(last).items(), stored.items())
        self.assertEqual(self.description("20170725")[0], ["", "1", "2", "3"])
        self.assert_accounting_balances(daemon)
        self.assertEqual(daemon.stop(), 0, daemon.log_tail())

    def send_slowly(self, readings: Sequence[Reading], stop: threading.Event) -> None:
        for place in range(0, len(readings), len(HOSTS)):
            self.send(readings[place:place + len(HOSTS)])
            if stop.wait(0.02):
                return

    def test_two_daemons_need_the_same_table_at_once(self) -> None:
        """One makes it, the other finds it; both write all they have."""
        self.create_topic(2)
        daemons = [self.dated_daemon(name, changes={"kafka": {"threads": 1}}) for name in ("first", "second")]
        wait_until(lambda: all("assigned: 1 partition" in daemon.log_text() for daemon in daemons),
                   "the daemons have not shared the partitions")
        sent = [reading for day in DAYS for reading in readings_of_day(day)]
        by_partition = [[reading for i, reading in enumerate(sent) if i % 2 == partition] for partition in (0, 1)]
        for partition, readings in enumerate(by_partition):
            self.send(readings, partition=partition)
        daemons[0].wait_committed(len(sent))
        for day in DAYS:
            self.assertEqual(self.stored(day), cells_of(readings_of_day(day)))
            self.assertEqual(self.description(day)[0], ["", "1", "2", "3"])
        self.assertEqual(sum(daemon.metric("tidemark_tables_created_total") for daemon in daemons), len(DAYS))
        for daemon in daemons:
            self.assert_accounting_balances(daemon)
            self.assertEqual(daemon.metric("tidemark_messages_written_total"), len(sent) // 2)
            self.assertEqual(daemon.stop(), 0, daemon.log_tail())

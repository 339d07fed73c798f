"""Every file of config/examples on real Kafka and HBase: create the tables, write, read back by fields.

The cases are those of tests/examples; what HBase holds is told by its own Java client.
"""

import json
import re
import shutil
import sys
from datetime import datetime
from pathlib import Path
from typing import Any, Callable, Mapping, Optional

from case import Case
from daemon import SESSION_TIMEOUT
from jvm_process import StackError
from kafka_records import Record

sys.path.append(str(Path(__file__).resolve().parent.parent / "examples"))
from example_cases import ExampleCase, Rows, all_cases, differences  # noqa: E402

RECORD_TIME_MS = 1_600_000_000_000


class Examples(Case):

    def write_and_read(self, case: ExampleCase) -> None:
        config = self.configured(case)
        self.drop_later(*case.rows)
        self.command("tables", "create", "-c", config)
        for table, points in case.splits.items():
            starts = [bytes.fromhex(line[1]) for line in self.stack.oracle.describe(table) if line[0] == "region"]
            self.assertEqual(starts, [b"", *points], table)
        # Every message in order, then all again in reverse: the order of arrival changes nothing.
        for messages in (case.messages, list(reversed(case.messages))):
            self.stack.kafka.admin.produce(case.name, 0, [
                Record(message.key.encode() if message.key is not None else None,
                       message.value,
                       message.timestamp_ms or RECORD_TIME_MS) for message in messages])
        done = self.run_command("run", "--until-end", "-c", config)
        self.assertEqual(done.returncode, 0, done.stderr)
        for table, rows in case.rows.items():
            self.assertEqual(differences(rows, self.rows_in_hbase(table)), [], table)
        self.command("tables", "show", "-c", config)
        for read in case.reads:
            self.assert_reads(read.command, config, read.rows)

    def configured(self, case: ExampleCase) -> str:
        """The example with the stack's addresses and the case's own topic put in; nothing else is changed."""
        # Its records are years old: without this, the broker drops them.
        self.stack.kafka.admin.create_topic(case.name, 1, {"retention.ms": "-1"})
        self.addCleanup(self.stack.kafka.admin.delete_topic, case.name)
        text = case.config_path.read_text(encoding="utf-8")
        gateways = json.dumps([gateway.address for gateway in self.stack.gateways[:2]])
        for pattern, value in ((r'brokers: "127.0.0.1:9092"', f'brokers: "{self.stack.kafka.address}"\n  session_timeout: '
                                f"{SESSION_TIMEOUT}"),
                               (r"topics: \[[\w.]+\]", f"topics: [{case.name}]"),
                               (r'gateways: \["127.0.0.1:9090"\]', f"gateways: {gateways}")):
            text, n_found = re.subn(pattern, value, text)
            self.assertEqual(n_found, 1, f"{case.config_path.name}: {pattern}")
        for schema in re.findall(r"^  schema: (\S+)", text, re.MULTILINE):  # it stands beside the configuration
            shutil.copy(case.config_path.parent / schema, self.work)
        path = self.work / case.config_path.name
        path.write_text(text + "limits: { drain_timeout: 5s }\nservice: { http: off }\n", encoding="utf-8")
        return str(path)

    def rows_in_hbase(self, table: str) -> Rows:
        rows: Rows = {}
        try:
            cells = self.stack.oracle.dump(table)
        except StackError as error:
            self.fail(f"{table}: {error}")
        for cell in cells:
            column = cell.family.encode() + b":" + cell.qualifier
            rows.setdefault(cell.row, {}).setdefault(column, (cell.timestamp_ms, cell.value))
        return rows

    def assert_reads(self, command: list[str], config: str, expected: list[Mapping[str, Any]]) -> None:
        name, *arguments = command
        lines = self.command(name, "-f", "json", "-c", config, *arguments).splitlines()
        found = [json.loads(line) for line in lines]
        self.assertEqual(len(found), len(expected), f"{command}: {lines}")
        for row, wanted in zip(found, expected):
            cells = {f"{cell['family']}:{cell['qualifier']}": cell["value"] for cell in row["cells"]}
            for what, value in wanted.items():
                self.assertEqual(self.told(row, cells, what), value, f"{command}, {what}: {row}")

    @staticmethod
    def told(row: Mapping[str, Any], cells: Mapping[str, str], what: str) -> Optional[str | int]:
        if ":" in what:
            return cells.get(what)
        if what == "time_ms":
            return round(datetime.fromisoformat(row["time"].replace("Z", "+00:00")).timestamp() * 1000)
        return row["fields"].get(what)


def _test_of(case: ExampleCase) -> Callable[[Examples], None]:
    return lambda self: self.write_and_read(case)


for _case in all_cases():
    setattr(Examples, f"test_example_{_case.name}", _test_of(_case))

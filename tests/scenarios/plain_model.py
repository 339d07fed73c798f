"""What commands must answer, as plain filters and counts over the rows that the oracle makes: which rows a question shows, and what
`verify` says of a store. Written from docs/verify.md."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Iterator

from content import Stored
from oracle import Bad, Message, Number, Oracle, Row, Text, as_list, field_part, fields_of, hashed, readings_of

Fields = dict[str, Any]
Store = dict[bytes, Stored]  # of one table


# ---- which rows a question shows ----

def told_by(key: list[Any], name: str, fields: Fields) -> list[bytes] | None:
    """What a row key holds of a field, in each of its places: what a question is compared with. None: it does not tell the field."""
    found = []
    for part, following in zip(key, [*key[1:], None]):
        if isinstance(part, dict) and part.get("field") == name:
            found.append(field_part(part, fields, following))
    if found:
        return found
    for part in key:
        if isinstance(part, dict) and "hash" in part and "salt" not in part and "field" not in part:
            of = as_list(part["of"])
            if len(of) == 1 and (of[0]["field"] if isinstance(of[0], dict) else of[0]) == name:
                found.append(hashed(part, fields))
    return found or None


def tellable(key: list[Any]) -> list[str]:
    names = {part["field"] for part in key if isinstance(part, dict) and "field" in part}
    for part in key:
        if isinstance(part, dict) and "hash" in part and "salt" not in part and len(as_list(part["of"])) == 1:
            one = as_list(part["of"])[0]
            names.add(one["field"] if isinstance(one, dict) else one)
    return sorted(names)


@dataclass
class Question:
    fields: dict[str, str] = field(default_factory=dict)
    from_ms: int | None = None
    to_ms: int | None = None
    column: tuple[str, bytes] | None = None

    def takes(self, key: list[Any], of_row: Fields) -> bool:
        for name, value in self.fields.items():
            try:
                wanted = told_by(key, name, {**of_row, name: Text(value, Number(value) if value.lstrip("-").isdigit() else value)})
            except Bad:
                return False  # no row can have it
            if wanted != told_by(key, name, of_row):
                return False
        return True

    def shows(self, cells: Stored) -> Stored:
        return {column: cell for column, cell in cells.items()
                if (self.from_ms is None or cell[0] >= self.from_ms) and (self.to_ms is None or cell[0] < self.to_ms)
                and self.column in (None, column)}


def answer(question: Question, key: list[Any], store: Store, of_rows: dict[bytes, Fields]) -> Store:
    found = {row: question.shows(cells) for row, cells in store.items() if question.takes(key, of_rows[row])}
    return {row: cells for row, cells in found.items() if cells}


# ---- what verify says ----

def identity_of(message: Message, fields: Fields, row: Row, is_influx: bool) -> Any:
    """What names a reading, apart from its values: the same reading sent again or corrected has the same."""
    if is_influx:
        texts = {name: fields[name].text for name in ("measurement", "$tags")}
    else:
        texts = {name: value.text for name, value in fields.items() if isinstance(value, Text) and isinstance(value.raw, str)
                 and not isinstance(value.raw, Number) and not name.startswith("$")}
        if len(row.cells) == 1:
            held = next(iter(row.cells.values()))
            texts = {name: text for name, text in texts.items() if text.encode() != held}
    return message.topic, message.key, row.time_ms, frozenset(texts.items())


@dataclass
class Write:
    """A cell that a message makes."""
    row: Row
    part: int  # of the list of partitions or files
    identity: Any
    column: tuple[str, bytes]
    value: bytes
    may: bool     # it is a dead letter: the cell may be there
    beyond: bool  # it is behind what is committed, and explains a cell that is there


@dataclass
class Last:
    """What the last message of a partition says of a cell at one time."""
    write: Write
    is_contested: bool = False  # its message wrote several values
    is_corrected: bool = False
    is_shared: bool = False     # several readings gave the value
    has_lost: bool = False      # another reading had the place, with another value


def are_other_readings(one: Write, other: Write) -> bool:
    """Of latest tables nothing is told of readings that others overwrite: that is what they are for."""
    return None not in (one.identity, other.identity) and one.identity != other.identity


def clash(one: Write, other: Write) -> bool:
    return are_other_readings(one, other) and one.value != other.value


def last_of(writes: list[Write]) -> dict[int, Last]:
    """By partition. @writes: of one time, each partition's in their order."""
    found: dict[int, Last] = {}
    for write in writes:
        last = found.get(write.part)
        if last is None:
            found[write.part] = Last(write)
            continue
        before = last.write
        same_message, differs = before.row.source == write.row.source, before.value != write.value
        last.is_contested = same_message and (last.is_contested or differs)
        last.is_corrected |= before.identity is not None and before.identity == write.identity and differs and not same_message
        last.has_lost |= clash(before, write) or (last.is_shared and differs)  # a correction is of one, and the others have lost it
        last.is_shared = not differs and (last.is_shared or are_other_readings(before, write))
        last.write = write
    return found


def right(lasts: list[Last]) -> str:
    """The word for a cell that is there."""
    first = lasts[0].write
    if any(last.has_lost or clash(first, last.write) for last in lasts):
        return "overwritten"
    if any(last.is_contested or last.write.value != first.value for last in lasts):
        return "conflict"
    return "corrected" if any(last.is_corrected for last in lasts) else "right"


class Verdicts:
    """Counts for one table what verify counts."""

    def __init__(self, table: dict[str, Any], writes: list[Write], store: Store, is_whole: bool) -> None:
        self.is_latest = table.get("latest", "none") != "none"
        self.stray = "unexpected" if is_whole else "unexplained"
        self.must_ms: dict[bytes, int] = {}  # up to when a row is deleted, and up to when it may be
        self.may_ms: dict[bytes, int] = {}
        if table.get("latest") == "replace":
            for write in writes:
                key, time_ms = write.row.key, write.row.time_ms - 1
                self.may_ms[key] = max(self.may_ms.get(key, -1), time_ms)
                if not write.may and not write.beyond:
                    self.must_ms[key] = max(self.must_ms.get(key, -1), time_ms)
        times = [write.row.time_ms for write in writes if not write.may and not write.beyond]
        self.window = (min(times), max(times)) if times else None
        self.counts: Counter[str] = Counter()
        by_column: dict[tuple[bytes, Any], list[Write]] = {}
        for write in writes:
            by_column.setdefault((write.row.key, write.column), []).append(write)
        columns = {*by_column, *((key, column) for key, cells in store.items() for column in cells)}
        if self.window:
            for key, column in columns:
                self.judge(key, by_column.get((key, column), []), store.get(key, {}).get(column))

    def is_outside(self, time_ms: int) -> bool:
        assert self.window
        return time_ms < self.window[0] or (not self.is_latest and time_ms > self.window[1])

    def judge(self, key: bytes, writes: list[Write], found: tuple[int, bytes] | None) -> None:
        must_ms, may_ms = self.must_ms.get(key, -1), self.may_ms.get(key, -1)
        needed = [write for write in writes if not write.may and not write.beyond]
        explained = [write for write in writes if write.beyond and (write.row.time_ms, write.value) == found]
        is_possible = found is not None and any(write.may and not write.beyond and (write.row.time_ms, write.value) == found for write in writes)
        if needed:
            newest = max(write.row.time_ms for write in needed)
            lasts = [last for _, last in sorted(last_of([write for write in needed if write.row.time_ms == newest]).items())]
            is_there = found is not None and found[0] == newest and (is_possible or any(last.write.value == found[1] for last in lasts))
            if newest <= must_ms:
                self.counts["unexpected" if is_there else "deleted"] += 1
            elif is_there:
                self.counts[right(lasts)] += 1
            elif newest <= may_ms:
                self.counts["deleted"] += 1
            elif found is None:
                self.counts["missing"] += 1
            elif found[0] == newest and explained:
                self.counts["overwritten" if clash(explained[-1], lasts[0].write) else "corrected"] += 1
            elif found[0] == newest:
                self.counts["wrong"] += 1
            elif found[0] > newest:
                self.counts["superseded"] += 1
            else:
                self.counts["stale" if self.is_latest else "missing"] += 1
            stands_for_it = found is not None and found[0] <= newest and (newest > must_ms and (newest > may_ms or is_there))
            if is_there or stands_for_it:
                return
        if found is None or is_possible:
            return
        if found[0] <= must_ms:
            self.counts["unexpected"] += 1
        elif needed and found[0] <= newest or self.is_outside(found[0]) and not (explained and needed):
            return
        else:
            self.counts["beyond" if explained else self.stray] += 1


def writes_of(oracle: Oracle, messages: list[Message], parts: dict[tuple[str, int], int], may: set[tuple[str, int, int]],
              committed: dict[int, int], is_influx: bool) -> Iterator[Write]:
    for message in messages:
        for row in oracle.outcome(message).rows:
            fields = fields_of(readings_of(message.value or b"", oracle.readings)[row.reading], oracle.readings)
            is_latest = oracle.tables[row.declared].get("latest", "none") != "none"
            identity = None if is_latest else identity_of(message, fields, row, is_influx)
            part = parts[message.topic, message.partition]
            for column, value in row.cells.items():
                yield Write(row, part, identity, column, value, message.source in may, message.offset >= committed.get(part, 1 << 60))

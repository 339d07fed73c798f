"""Compares what tables hold with the rows that the oracle says messages become: every cell, its value and its time."""
from __future__ import annotations

from typing import Any, Iterator

from oracle import Oracle, Row, beats, cell_equals

Stored = dict[tuple[str, bytes], tuple[int, bytes]]  # (family, qualifier) -> (time_ms, value)


def hidden(row: Row, deletes: list[Row], surely: bool) -> bool:
    return any(one.time_ms >= row.time_ms and (not surely or one.state == "certain") for one in deletes)


def judge_cell(column: tuple[str, bytes], writers: list[Row], deletes: list[Row], stored: Stored, ties: bool) -> str | None:
    """What is wrong with a cell, if anything is. @ties: of equal times either may stay."""
    possible = [row for row in writers if not hidden(row, deletes, True) and not any(
        other.state == "certain" and beats(other, row) and not (ties and other.time_ms == row.time_ms)
        for other in writers)]
    if column not in stored:
        needed = [row for row in writers if row.state == "certain" and not hidden(row, deletes, False)]
        newest = max(needed, key=lambda row: row.time_ms, default=None)
        return f"is missing: {told(newest, column)}" if newest else None
    time_ms, value = stored[column]
    if any(row.time_ms == time_ms and cell_equals(row.cells[column], value) for row in possible):
        return None
    return f"is {short(value)} of {time_ms}, not " + (" or ".join(told(row, column) for row in possible) or "absent")


def judge_replaced(rows: list[Row], stored: Stored, ties: bool) -> str | None:
    """A row of a table with `latest: replace` is exactly one reading, or is not there."""
    possible = [row for row in rows if not any(
        other.state == "certain" and beats(other, row) and not (ties and other.time_ms == row.time_ms) for other in rows)]
    if not stored:
        deleted = any(row.is_delete for row in possible)
        if deleted or not any(row.state == "certain" for row in rows):
            return None
        return "is missing: " + " or ".join(told(row, None) for row in possible)
    for row in possible:
        if len(row.cells) == len(stored) and all(
                column in stored and stored[column][0] == row.time_ms and cell_equals(value, stored[column][1])
                for column, value in row.cells.items()):
            return None
    # Of equal times, the row may still show cells that only the earlier reading has.
    tied = [row for row in rows if any(row.time_ms == other.time_ms for other in possible)]
    if len(tied) > 1 and all(any(row.time_ms == time_ms and column in row.cells and cell_equals(row.cells[column], value)
                                 for row in tied) for column, (time_ms, value) in stored.items()):
        return None
    shown = {f"{family}:{name.decode('latin1')}": (time_ms, short(value)) for (family, name), (time_ms, value) in stored.items()}
    return f"is {shown}, not " + " or ".join(told(row, None) for row in possible)


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:40]}… ({len(value)} bytes)"


def told(row: Row, column: tuple[str, bytes] | None) -> str:
    cells = row.cells if column is None else row.cells[column]
    return f"{short(cells)} of {row.time_ms} by {'/'.join(map(str, row.source))}"


def judge_tables(oracle: Oracle, rows: list[Row], stored: dict[str, dict[bytes, Stored]], ties: bool) -> Iterator[tuple[str, str]]:
    """(declared table, what is wrong) for each difference between what is stored and what the rows say."""
    expected: dict[tuple[str, bytes], list[Row]] = {}
    names: dict[str, str] = {}
    for row in rows:
        names[row.table] = row.declared
        if row.state != "never":
            expected.setdefault((row.table, row.key), []).append(row)
    for (table, key), writers in expected.items():
        declared = names[table]
        found = stored.get(table, {}).get(key, {})
        deletes = [row for row in writers if row.is_delete]
        if oracle.tables[declared].get("latest") == "replace":
            problem = judge_replaced(writers, found, ties)
            if problem:
                yield declared, f"{table} row {key!r} {problem}"
            continue
        columns = {column for row in writers for column in row.cells}
        for column in sorted(columns):
            problem = judge_cell(column, [row for row in writers if column in row.cells], deletes, found, ties)
            if problem:
                yield declared, f"{table} row {key!r} {column[0]}:{column[1].decode('latin1')} {problem}"
        for column in found.keys() - columns:
            yield declared, f"{table} row {key!r} {column} is there, and nothing says so"
    for table, found_rows in stored.items():
        for key in found_rows:
            if (table, key) not in expected:
                yield names.get(table, table), f"{table} row {key!r} is there, and nothing says so"

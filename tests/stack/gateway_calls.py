"""The calls that write, made by hand in Thrift's binary protocol: what a gateway answers is seen as it came, word by word."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from thrift_probe import BINARY_CALL, receive_exactly

# Thrift's types, as they stand before a field.
STOP, BOOL, BYTE, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 0, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
NUMBERS = {BOOL: ">?", BYTE: ">b", DOUBLE: ">d", I16: ">h", I32: ">i", I64: ">q"}

MESSAGE_EXCEPTION = 3
SEQUENCE = 1

TIME_MS = 1426535612045


@dataclass(frozen=True)
class Row:
    """A row to be written: its cells, by their columns ("M:value"), and their time."""

    key: bytes
    cells: Mapping[str, bytes]
    time_ms: int = TIME_MS


@dataclass(frozen=True)
class Refusal:
    """What came in place of an acknowledgement. kind: TIOError, TApplicationException, closed, silent; the last two say nothing."""

    kind: str
    text: str = ""
    can_retry: Optional[bool] = None  # of TIOError
    type: Optional[int] = None  # of TApplicationException


def put_multiple(port: int, table: str, rows: Sequence[Row], *, framed: bool = False, timeout_s: float = 60) -> Optional[Refusal]:
    puts = _list([_put(row) for row in rows])
    return _call(port, "putMultiple", _string(1, table.encode()) + _field(LIST, 2, puts), framed, timeout_s)


def mutate_row(port: int, table: str, row: Row, *, framed: bool = False, timeout_s: float = 60) -> Optional[Refusal]:
    mutations = _list([_field(STRUCT, 1, _put(row)) + bytes([STOP])])
    row_mutations = _string(1, row.key) + _field(LIST, 2, mutations) + bytes([STOP])
    return _call(port, "mutateRow", _string(1, table.encode()) + _field(STRUCT, 2, row_mutations), framed, timeout_s)


def create_table(port: int, table: str, family: str) -> Optional[Refusal]:
    name = _string(2, table.encode()) + bytes([STOP])
    families = _list([_string(1, family.encode()) + bytes([STOP])])
    description = _field(STRUCT, 1, name) + _field(LIST, 2, families) + bytes([STOP])
    return _call(port, "createTable", _field(STRUCT, 1, description), False, 60)


def _field(kind: int, number: int, value: bytes) -> bytes:
    return struct.pack(">bh", kind, number) + value


def _string(number: int, value: bytes) -> bytes:
    return _field(STRING, number, struct.pack(">i", len(value)) + value)


def _list(structs: Sequence[bytes]) -> bytes:
    return struct.pack(">bi", STRUCT, len(structs)) + b"".join(structs)


def _put(row: Row) -> bytes:
    cells = []
    for column, value in row.cells.items():
        family, _, qualifier = column.partition(":")
        time = _field(I64, 4, struct.pack(">q", row.time_ms))
        cells.append(_string(1, family.encode()) + _string(2, qualifier.encode()) + _string(3, value) + time + bytes([STOP]))
    return _string(1, row.key) + _field(LIST, 2, _list(cells)) + bytes([STOP])


def _call(port: int, name: str, arguments: bytes, framed: bool, timeout_s: float) -> Optional[Refusal]:
    """One call on a connection of its own; None: it was acknowledged."""
    message = struct.pack(">IiI", BINARY_CALL, len(name), 0)[:8] + name.encode() + struct.pack(">I", SEQUENCE) + arguments + bytes([STOP])
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=timeout_s) as connection:
            connection.sendall((struct.pack(">I", len(message)) if framed else b"") + message)
            return _read_reply(connection, framed)
    except TimeoutError:
        return Refusal("silent")
    except ConnectionError:
        return Refusal("closed")


def _read_reply(connection: socket.socket, framed: bool) -> Optional[Refusal]:
    if framed:
        receive_exactly(connection, 4)
    version, length = struct.unpack(">II", receive_exactly(connection, 8))
    receive_exactly(connection, length + 4)
    answer = _read(connection, STRUCT)
    if version & 0xff == MESSAGE_EXCEPTION:
        return Refusal("TApplicationException", answer.get(1, b"").decode(), type=answer.get(2, 0))
    refused = answer.get(1)
    return None if refused is None else Refusal("TIOError", refused.get(1, b"").decode(), refused.get(2))


def _read(connection: socket.socket, kind: int) -> Any:
    def number(form: str) -> Any:
        return struct.unpack(form, receive_exactly(connection, struct.calcsize(form)))[0]
    if kind in NUMBERS:
        return number(NUMBERS[kind])
    if kind == STRING:
        return receive_exactly(connection, number(">i"))
    assert kind == STRUCT, f"no answer to a call that writes holds the type {kind}"
    fields = {}
    while (field := number(">b")) != STOP:
        at = number(">h")
        fields[at] = _read(connection, field)
    return fields

"""Records as Kafka stores them (message format 2): for tests that choose a record's key, time, and that it has no value.

kcat can give neither a time nor, reliably, a tombstone. One batch, uncompressed, of no transaction.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Optional, Sequence

CRC32C_POLYNOMIAL = 0x82F63B78  # Castagnoli's, reversed


@dataclass(frozen=True)
class Record:
    key: Optional[bytes]
    value: Optional[bytes]
    timestamp_ms: int


def _crc32c_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (CRC32C_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc32c_table()


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _varint(value: int) -> bytes:
    number = value << 1 if value >= 0 else (-value << 1) - 1  # zigzag
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _optional(data: Optional[bytes]) -> bytes:
    return _varint(-1) if data is None else _varint(len(data)) + data


def encode_batch(records: Sequence[Record]) -> bytes:
    first_ms = records[0].timestamp_ms
    encoded = bytearray()
    for place, record in enumerate(records):
        # attributes, time and offset as differences, key, value, no headers
        body = (b"\x00" + _varint(record.timestamp_ms - first_ms) + _varint(place) + _optional(record.key)
                + _optional(record.value) + _varint(0))
        encoded += _varint(len(body)) + body
    last_ms = max(record.timestamp_ms for record in records)
    # attributes, last offset difference, first and greatest time, no producer id, epoch and sequence, number of records
    checked = struct.pack(">hiqqqhii", 0, len(records) - 1, first_ms, last_ms, -1, -1, -1, len(records)) + encoded
    # leader epoch, format 2, checksum; in front: first offset, length of what follows
    rest = struct.pack(">ibI", -1, 2, _crc32c(checked)) + checked
    return struct.pack(">qi", 0, len(rest)) + rest

"""A Thrift call made by hand, to learn whether a gateway really answers: a listening port alone does not say so.

The call is getThriftServerType, which both services have, which takes no arguments, and which asks HBase nothing.
"""

from __future__ import annotations

import socket
import struct

CALL = b"getThriftServerType"

# The enum TThriftServerType of HBase's IDL, by the name of the service.
SERVER_TYPE = {"thrift1": 1, "thrift2": 2}

# Thrift's binary protocol: the version in the upper half, the message type (1 call, 2 reply, 3 exception) in the lower.
BINARY_CALL = 0x80010001
BINARY_REPLY = 0x80010002
BINARY_EXCEPTION = 0x80010003

# Thrift's compact protocol: protocol id, then the type in the upper three bits over version 1.
COMPACT_CALL = b"\x82\x21"
COMPACT_REPLY = b"\x82\x41"

SEQUENCE = 1

# Field 0 (the result) of type i32, its value, the end of the struct.
BINARY_RESULT = b"\x08\x00\x00%s\x00"
COMPACT_RESULT = b"\x05\x00%s\x00"


def is_answering(port: int, *, kind: str, framed: bool, compact: bool, timeout_s: float = 2) -> bool:
    """True when the gateway on this port of 127.0.0.1 gives the one right answer in the given wire format."""
    request = _request(compact)
    expected = _reply(SERVER_TYPE[kind], compact)
    if framed:
        request, expected = (struct.pack(">I", len(part)) + part for part in (request, expected))
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=timeout_s) as connection:
            connection.settimeout(timeout_s)
            connection.sendall(request)
            return receive_exactly(connection, len(expected)) == expected
    except OSError:
        return False


def is_refusing(port: int, timeout_s: float = 2) -> bool:
    """True when the gateway on this port says, unframed and in the binary protocol, that it does not know the call, as those
    before HBase 2.3 do."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=timeout_s) as connection:
            connection.settimeout(timeout_s)
            connection.sendall(_request(compact=False))
            return struct.pack(">II", BINARY_EXCEPTION, len(CALL)) + CALL == receive_exactly(connection, 8 + len(CALL))
    except OSError:
        return False


def receive_exactly(connection: socket.socket, length: int) -> bytes:
    """Reads `length` bytes; a peer that closes earlier is an error."""
    received = bytearray()
    while len(received) < length:
        part = connection.recv(length - len(received))
        if not part:
            raise ConnectionError(f"the peer closed after {len(received)} of {length} bytes")
        received += part
    return bytes(received)


def _request(compact: bool) -> bytes:
    if compact:
        return COMPACT_CALL + bytes([SEQUENCE, len(CALL)]) + CALL + b"\x00"
    return struct.pack(">II", BINARY_CALL, len(CALL)) + CALL + struct.pack(">I", SEQUENCE) + b"\x00"


def _reply(server_type: int, compact: bool) -> bytes:
    if compact:
        zigzag = bytes([server_type * 2])
        return COMPACT_REPLY + bytes([SEQUENCE, len(CALL)]) + CALL + COMPACT_RESULT % zigzag
    head = struct.pack(">II", BINARY_REPLY, len(CALL)) + CALL + struct.pack(">I", SEQUENCE)
    return head + BINARY_RESULT % struct.pack(">I", server_type)

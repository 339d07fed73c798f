"""Stands before a mock Kafka of one broker and answers who is in a group, which librdkafka's mock does not know: those clients that
joined it through here and are still connected."""
from __future__ import annotations

import socket
import struct
import threading

DESCRIBE_GROUPS, LIST_GROUPS, JOIN_GROUP, API_VERSIONS = 15, 16, 11, 18
LAST_PLAIN_API_VERSIONS, UNSUPPORTED_VERSION = 2, 35  # newer answers have another form, and clients go without


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def array(*elements: bytes) -> bytes:
    return struct.pack(">i", len(elements)) + b"".join(elements)


def receive(connection: socket.socket, count: int) -> bytes:
    """Fewer at the end of the connection."""
    data = b""
    while len(data) < count and (piece := connection.recv(count - len(data))):
        data += piece
    return data


def receive_frame(connection: socket.socket) -> bytes | None:
    size = receive(connection, 4)
    return receive(connection, *struct.unpack(">i", size)) if len(size) == 4 else None


class GroupProxy:
    def __init__(self, broker: str) -> None:
        host, port = broker.split(":")
        self.broker = host, int(port)
        self.listener = socket.create_server((host, 0))
        own_port = self.listener.getsockname()[1]
        self.address = f"{host}:{own_port}"
        # As answers name the broker: clients are to come back here.
        self.place, self.own_place = (host.encode() + struct.pack(">i", one) for one in (self.broker[1], own_port))
        self.members: dict[socket.socket, tuple[str, str]] = {}  # group and client.id by connection
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        lock = threading.Lock()  # of what goes to the client
        asked_for_versions: set[bytes] = set()  # correlation ids
        try:
            with client, socket.create_connection(self.broker) as broker:
                threading.Thread(target=self.send_answers, args=(broker, client, lock, asked_for_versions), daemon=True).start()
                while frame := receive_frame(client):
                    answer = self.answer(client, frame)
                    if answer is not None:
                        with lock:
                            client.sendall(struct.pack(">i", 4 + len(answer)) + frame[4:8] + answer)
                        continue
                    if struct.unpack(">h", frame[:2])[0] == API_VERSIONS:
                        asked_for_versions.add(frame[4:8])
                    broker.sendall(struct.pack(">i", len(frame)) + frame)
                broker.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # one of them has ended, and the other connection ends with it
        finally:
            self.members.pop(client, None)

    def answer(self, client: socket.socket, frame: bytes) -> bytes | None:
        """Of a request that the mock does not know; None: it is for the mock."""
        key, version, _, id_length = struct.unpack(">hhih", frame[:10])
        body = frame[10 + id_length:]
        members = list(self.members.values())
        if key == API_VERSIONS and version > LAST_PLAIN_API_VERSIONS:
            return struct.pack(">h", UNSUPPORTED_VERSION) + array()
        if key == LIST_GROUPS:
            return struct.pack(">h", 0) + array(*(text(group) + text("consumer") for group in {group for group, _ in members}))
        if key == DESCRIBE_GROUPS:
            group = body[6:6 + struct.unpack(">h", body[4:6])[0]].decode()
            return array(struct.pack(">h", 0) + text(group) + text("Stable") + text("consumer") + text("range") + array(
                *(text(f"{one}-1") + text(one) + text("/127.0.0.1") + array() + array() for of, one in members if of == group)))
        if key == JOIN_GROUP:
            group = body[2:2 + struct.unpack(">h", body[:2])[0]].decode()
            self.members[client] = group, frame[10:10 + id_length].decode()
        return None

    def send_answers(self, broker: socket.socket, client: socket.socket, lock: threading.Lock, asked_for_versions: set[bytes]) -> None:
        try:
            while frame := receive_frame(broker):
                frame = frame.replace(self.place, self.own_place)
                if frame[:4] in asked_for_versions:
                    asked_for_versions.remove(frame[:4])
                    known, = struct.unpack(">i", frame[6:10])
                    end = 10 + 6 * known
                    more = b"".join(struct.pack(">hhh", key, 0, 0) for key in (DESCRIBE_GROUPS, LIST_GROUPS))
                    frame = frame[:6] + struct.pack(">i", known + 2) + frame[10:end] + more + frame[end:]
                with lock:
                    client.sendall(struct.pack(">i", len(frame)) + frame)
            client.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # as above

"""What asks a daemon for its secrets: a port with TLS, a gateway with Kerberos and its KDC, a schema registry with passwords."""
from __future__ import annotations

import base64
import ctypes
import json
import os
import shutil
import socket
import ssl
import struct
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

REALM = "CANARY.TEST"


class TlsDoor:
    """A port that speaks TLS, asks for the client's certificate, and hands on what it says to a gateway."""

    def __init__(self, directory: Path, gateway_port: str) -> None:
        self.gateway_port = int(gateway_port)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(directory / "server.pem", directory / "server.key")
        self.context.load_verify_locations(directory / "client.pem")
        self.context.verify_mode = ssl.CERT_REQUIRED
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            plain, _ = self.listener.accept()
            threading.Thread(target=self.connect, args=[plain], daemon=True).start()

    def connect(self, plain: socket.socket) -> None:
        try:
            client = self.context.wrap_socket(plain, server_side=True)
            gateway = socket.create_connection(("127.0.0.1", self.gateway_port))
        except OSError:
            return
        threading.Thread(target=self.pump, args=[gateway, client], daemon=True).start()
        self.pump(client, gateway)

    @staticmethod
    def pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class GssBuffer(ctypes.Structure):
    _fields_ = [("length", ctypes.c_size_t), ("value", ctypes.c_void_p)]


class NegotiateDoor:
    """A gateway by HTTP that asks for Kerberos, and keeps what it is sent. Told to, it quotes that in an error page."""

    def __init__(self, gateway_port: str, keytab: Path) -> None:
        os.environ["KRB5_KTNAME"] = f"FILE:{keytab}"
        os.environ["KRB5RCACHENAME"] = "none:"
        self.gss = ctypes.CDLL("libgssapi_krb5.so.2")
        self.tokens: list[str] = []
        self.quotes = 0  # the status of a refusal; 0: none
        self.gateway_port = int(gateway_port)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.address = f"http://localhost:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def proof(self, token: str) -> str:
        """That it has the service's key, for whoever sent this."""
        data = base64.b64decode(token)
        given, proof = GssBuffer(len(data), ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)), GssBuffer()
        minor, context = ctypes.c_uint32(), ctypes.c_void_p()
        major = self.gss.gss_accept_sec_context(ctypes.byref(minor), ctypes.byref(context), None, ctypes.byref(given), None, None,
                                                None, ctypes.byref(proof), None, None, None)
        assert major == 0, f"gss_accept_sec_context: {major:x}, {minor.value:x}"
        return base64.b64encode(ctypes.string_at(proof.value, proof.length)).decode()

    def handler(self) -> type[BaseHTTPRequestHandler]:
        door = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            gateway: socket.socket | None = None

            def do_POST(self) -> None:  # pylint: disable=invalid-name
                said = self.headers.get("Authorization", "")
                body = self.rfile.read(int(self.headers["Content-Length"]))
                door.tokens.append(said.removeprefix("Negotiate "))
                if door.quotes:
                    self.answer(door.quotes, f"HTTP ERROR\nMESSAGE: {said} is not for us\nCAUSE: {said}\n".encode())
                else:
                    self.answer(200, self.call(body), ("WWW-Authenticate", f"Negotiate {door.proof(door.tokens[-1])}"))

            def call(self, message: bytes) -> bytes:
                """The scripted gateway's messages have their length before them."""
                if self.gateway is None:
                    self.gateway = socket.create_connection(("127.0.0.1", door.gateway_port))
                self.gateway.sendall(struct.pack(">I", len(message)) + message)
                reply = self.gateway.makefile("rb")
                return reply.read(struct.unpack(">I", reply.read(4))[0])

            def answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
                self.send_response(status)
                for header in headers:
                    self.send_header(*header)
                self.send_header("Content-Type", "application/x-thrift" if status == 200 else "text/plain")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Nobody reads it."""

        return Handler


class RegistryDoor:
    """A schema registry that has one schema; before, it answers with errors that quote who asks, and sends him elsewhere."""

    ANSWERS = (500, 401, 400, 403, 302, 200)  # the first is logged, and those of the next seconds are not
    SCHEMA = {"type": "record", "name": "Reading", "fields": [{"name": "host", "type": "string"}, {
        "name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}}, {"name": "cpu", "type": "double"}]}

    def __init__(self) -> None:
        self.answered: list[int] = []
        self.told: list[str] = []  # what came as Authorization
        self.elsewhere: list[str] = []  # what came to where nobody should go
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def handler(self) -> type[BaseHTTPRequestHandler]:
        door = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # pylint: disable=invalid-name
                said = self.headers.get("Authorization", "")
                if self.path.startswith("/elsewhere"):
                    door.elsewhere.append(said)
                door.told.append(said)
                status = door.ANSWERS[min(len(door.answered), len(door.ANSWERS) - 1)]
                secret = base64.b64decode(said.removeprefix("Basic ")).decode()
                body = json.dumps({"schema": json.dumps(door.SCHEMA)} if status == 200 else
                                  {"error_code": 50001, "message": f"{said} ({secret}) is not for us"}).encode()
                self.send_response(status, "OK" if status == 200 else f"{secret} is not for us")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Location", f"http://localhost:{door.server.server_address[1]}/elsewhere")
                self.end_headers()
                self.wfile.write(body)
                door.answered.append(status)

            def log_message(self, *_: Any) -> None:
                """Nobody reads it."""

        return Handler


def make_certificate(directory: Path, name: str) -> None:
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                    directory / f"{name}.key", "-out", directory / f"{name}.pem", "-days", "300", "-subj", f"/CN={name}",
                    "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    (directory / f"{name}.key").chmod(0o600)


def key_number(path: Path) -> bytes:
    """The secret number of a P-256 key: an octet string of 32 bytes in its DER form."""
    lines = path.read_text().splitlines()[1:-1]
    der = base64.b64decode("".join(lines))
    at = der.index(b"\x04\x20") + 2
    return der[at:at + 32]


class Realm:
    """A KDC with one principal for the daemon, in a keytab, and one for the gateway."""

    def __init__(self, directory: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        (directory / "krb5.conf").write_text(
            f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n rdns = false\n dns_canonicalize_hostname = false\n"
            f" udp_preference_limit = 1\n[realms]\n {REALM} = {{\n kdc = 127.0.0.1:{port}\n }}\n[domain_realm]\n localhost = {REALM}\n")
        (directory / "kdc.conf").write_text(
            f"[kdcdefaults]\n kdc_listen = 127.0.0.1:{port}\n kdc_tcp_listen = 127.0.0.1:{port}\n[realms]\n {REALM} = {{\n"
            f" database_name = {directory}/principal\n key_stash_file = {directory}/stash\n"
            f" supported_enctypes = aes256-cts-hmac-sha1-96:normal\n }}\n[logging]\n default = FILE:{directory}/kdc.log\n")
        self.environment = {**os.environ, "KRB5_CONFIG": str(directory / "krb5.conf"),
                            "KRB5_KDC_PROFILE": str(directory / "kdc.conf"),
                            "PATH": os.environ["PATH"] + ":/usr/sbin"}
        self.keytab = directory / "daemon.keytab"
        self.http_keytab = directory / "http.keytab"
        self.command("kdb5_util", "-r", REALM, "create", "-s", "-P", "master")
        self.command("kadmin.local", "-r", REALM, text=f"addprinc -randkey daemon\naddprinc -randkey hbase/localhost\n"
                                                       f"addprinc -randkey HTTP/localhost\n"
                                                       f"ktadd -k {self.keytab} daemon\n"
                                                       f"ktadd -k {self.http_keytab} HTTP/localhost\n")
        self.kdc = subprocess.Popen([self.found("krb5kdc"), "-n", "-r", REALM], env=self.environment, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)

    @staticmethod
    def found(name: str) -> str | None:
        return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")

    @classmethod
    def is_installed(cls) -> bool:
        return all(cls.found(name) for name in ("kdb5_util", "kadmin.local", "krb5kdc"))

    def command(self, *words: str, text: str = "") -> None:
        subprocess.run(words, env=self.environment, input=text, text=True, check=True, capture_output=True)

    def key(self) -> bytes:
        """Of the keytab's first entry: a length, then names of many lengths; the key is at its end, before a 4 byte version."""
        data = self.keytab.read_bytes()
        length = struct.unpack_from(">i", data, 2)[0]
        return data[6 + length - 36:6 + length - 4]

    def end(self) -> None:
        self.kdc.kill()
        self.kdc.wait()

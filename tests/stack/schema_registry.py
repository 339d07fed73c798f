"""A schema registry with Confluent's API, Apicurio's, and a way to it that can be shut, and counts what it is asked."""

from __future__ import annotations

import http.client
import threading
import urllib.error
import urllib.request
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Optional

import java_flags
import maven_jars
from stack_services import HOST, START_DEADLINE_S, Service, free_port

ARTIFACT = "io.apicurio:apicurio-registry-app:2.6.13.Final:tar.gz:all"
SHA256 = "3cda1b34aa020fb4ac4dd6a66018d757e81e437f97e20a1f92d366b70091c6ba"
RUNNER = "apicurio-registry-app-2.6.13.Final-runner.jar"

# In front of the paths that Confluent's clients know.
API = "/apis/ccompat/v7"


class SchemaRegistry(Service):
    """It has its schemas in memory: what ends it loses them, so an outage is to suspend it, or to shut the way to it."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, "schema-registry", peak_speed=False, owned=True)
        self.port = free_port()
        self.url = f"http://{HOST}:{self.port}{API}"

    def launch(self) -> None:
        folder = maven_jars.unpacked("schema-registry", ARTIFACT, SHA256)
        flags = java_flags.common(self.name, self.log_path, heap="256m", peak_speed=False)
        self._process.spawn([java_flags.java(), *flags, f"-Dquarkus.http.host={HOST}", f"-Dquarkus.http.port={self.port}",
                             "-jar", str(folder / RUNNER)], java_flags.environment(""))

    def await_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        self._process.await_condition(self._answers, f"answered on {self.url}", deadline_s)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/subjects", timeout=1) as answer:
                return bool(answer.status == 200)
        except (OSError, http.client.HTTPException):
            return False


class RegistryDoor:
    """The way that the daemon takes to the registry: shut at first. Ends with its context."""

    def __init__(self, registry: SchemaRegistry) -> None:
        self.n_asked: Counter[str] = Counter()  # by the path behind API, without what follows a '?'
        self._registry = registry
        self._port = free_port()
        self.url = f"http://{HOST}:{self._port}{API}"
        self._server: Optional[ThreadingHTTPServer] = None

    def __enter__(self) -> "RegistryDoor":
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()

    def open(self) -> None:
        self._server = ThreadingHTTPServer((HOST, self._port), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="registry-door", daemon=True).start()

    def shut(self) -> None:
        """Connections are refused."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        door = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # pylint: disable=invalid-name
                door.n_asked[self.path.removeprefix(API).partition("?")[0]] += 1
                try:
                    with urllib.request.urlopen(f"http://{HOST}:{door._registry.port}{self.path}") as answer:
                        self._answer(answer.status, answer.headers["Content-Type"], answer.read())
                except urllib.error.HTTPError as error:
                    self._answer(error.code, error.headers["Content-Type"], error.read())
                except OSError:
                    self.close_connection = True

            def _answer(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # pylint: disable=redefined-builtin
                """Nobody reads it."""

        return Handler

"""TLS in front of a gateway: HBase's own takes none on its plain port, so a proxy does, as it would in production."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Optional

from stack_services import HOST, START_DEADLINE_S, Service, free_port


class TlsProxy(Service):
    """stunnel with one certificate; with a client authority, clients must show one of its."""

    def __init__(self, directory: Path, name: str, behind: str, certificate: Path, *,
                 client_authority: Optional[Path] = None) -> None:
        super().__init__(directory, name, peak_speed=False, owned=True)
        self.port = free_port()
        self.address = f"thrift+tls://localhost:{self.port}"
        self.plain_address = f"localhost:{self.port}"
        self._behind = behind
        self._certificate = certificate
        self._client_authority = client_authority

    def launch(self) -> None:
        lines = ["foreground = yes", "pid =", "debug = notice", "[gateway]", f"accept = {HOST}:{self.port}",
                 f"connect = {self._behind}", f"cert = {self._certificate}", f"key = {self._certificate.with_suffix('.key')}"]
        if self._client_authority is not None:
            lines += [f"CAfile = {self._client_authority}", "verifyChain = yes", "requireCert = yes"]
        config = self.directory / "stunnel.conf"
        config.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        self._process.spawn(["stunnel", str(config)], dict(os.environ))

    def await_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        self._process.await_condition(self._is_listening, f"listens on {HOST}:{self.port}", deadline_s)

    def _is_listening(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex((HOST, self.port)) == 0

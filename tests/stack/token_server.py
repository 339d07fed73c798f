"""A server of OAuth 2 tokens on 127.0.0.1, as OIDC has them: client credentials in, a signed token out."""

from __future__ import annotations

import base64
import json
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from stack_services import HOST

ISSUER = "tidemark-tests"
AUDIENCE = "kafka"
KEY_ID = "first"

LIFE_S = 300


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _encoded_json(value: Any) -> bytes:
    return _encoded(json.dumps(value).encode())


class TokenServer:
    """Started with its context, gone with it. `secrets` may be changed while it runs."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        self.secrets = {"tidemark": "oidc-secret"}
        self.n_tokens = 0
        self._key = directory / "token.key"
        subprocess.run(["openssl", "genrsa", "-out", str(self._key), "2048"], check=True, capture_output=True)
        self.keys = directory / "jwks.json"
        self.keys.write_text(json.dumps({"keys": [self._public_key()]}), encoding="ascii")
        self._server = ThreadingHTTPServer((HOST, 0), self._handler())
        self.url = f"http://{HOST}:{self._server.server_address[1]}/token"

    def __enter__(self) -> "TokenServer":
        threading.Thread(target=self._server.serve_forever, name="token-server", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _public_key(self) -> dict[str, str]:
        done = subprocess.run(["openssl", "rsa", "-in", str(self._key), "-noout", "-modulus"], check=True, capture_output=True)
        modulus = bytes.fromhex(done.stdout.decode().strip().removeprefix("Modulus="))
        return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": KEY_ID, "n": _encoded(modulus).decode(), "e": "AQAB"}

    def token(self, client: str) -> str:
        now = int(time.time())
        body = {"iss": ISSUER, "aud": AUDIENCE, "sub": client, "iat": now, "exp": now + LIFE_S}
        text = _encoded_json({"alg": "RS256", "kid": KEY_ID, "typ": "JWT"}) + b"." + _encoded_json(body)
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", str(self._key)], input=text, check=True,
                                   capture_output=True).stdout
        self.n_tokens += 1
        return (text + b"." + _encoded(signature)).decode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # pylint: disable=invalid-name
                self.rfile.read(int(self.headers.get("Content-Length", "0")))
                scheme, _, words = self.headers.get("Authorization", "").partition(" ")
                client, _, secret = base64.b64decode(words).decode().partition(":") if scheme == "Basic" else ("", "", "")
                if secret and server.secrets.get(client) == secret:
                    self._answer(200, {"access_token": server.token(client), "token_type": "Bearer", "expires_in": LIFE_S})
                else:
                    self._answer(401, {"error": "invalid_client", "error_description": "who is that?"})

            def _answer(self, status: int, value: Any) -> None:
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # pylint: disable=redefined-builtin
                """Nobody reads it."""

        return Handler

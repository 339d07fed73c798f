"""Certificates of the stack's own, for tests of TLS: an authority, what it signs, and what is wrong with some."""

from __future__ import annotations

import subprocess
from pathlib import Path

from jvm_process import StackError

# Names under which the stack's services are reached.
HERE = "DNS:localhost,IP:127.0.0.1"

# openssl's `ca` is the only one of its commands that makes a certificate which has ended already.
CA_CONFIG = """[ca]
default_ca = here
[here]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
[any]
commonName = supplied
"""


class Authority:
    """Signs certificates; each is NAME.pem with its key, NAME.key, in its directory."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory = directory
        self.directory.mkdir(parents=True)
        self.certificate = directory / "ca.pem"
        self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "3650",
                      "-subj", f"/CN={name}", "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def sign(self, name: str, alt_names: str = HERE, *, expired: bool = False) -> Path:
        """The certificate's path. Its key is beside it, readable for its owner alone."""
        self._openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
                      f"/CN={name}")
        (self.directory / f"{name}.ext").write_text(f"subjectAltName={alt_names}\nbasicConstraints=CA:FALSE\n", encoding="ascii")
        (self.directory / "index.txt").write_text("", encoding="ascii")
        (self.directory / "ca.conf").write_text(CA_CONFIG, encoding="ascii")
        dates = ("-startdate", "20200101000000Z", "-enddate", "20200201000000Z") if expired else ("-days", "300")
        self._openssl("ca", "-batch", "-notext", "-config", "ca.conf", "-create_serial", "-in", f"{name}.csr", "-cert", "ca.pem",
                      "-keyfile", "ca.key", "-extfile", f"{name}.ext", "-out", f"{name}.pem", *dates)
        (self.directory / f"{name}.key").chmod(0o600)
        return self.directory / f"{name}.pem"

    def _openssl(self, *words: str) -> None:
        done = subprocess.run(["openssl", *words], cwd=self.directory, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise StackError(f"openssl {words[0]}: {done.stderr}")

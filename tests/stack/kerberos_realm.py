"""A Kerberos realm of the tests' own on 127.0.0.1: its KDC, a way to it that can be shut or made to hang, and its keytabs.

    with Realm(directory) as realm:
        keytab = realm.add("tidemark")

The KDC is up in half a second, and needs neither root nor the packages' own configuration.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import threading
from pathlib import Path
from typing import Optional

from jvm_process import Process, StackError
from stack_services import HOST, free_port
from thrift_probe import receive_exactly

REALM = "TIDEMARK.TEST"

START_DEADLINE_S = 30

# What the service's own packages would write to /etc is not read. Names are what is written here, whatever the machine's
# resolver says; TCP alone, which the door passes on.
CLIENT_CONFIGURATION = """[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
 default_ccache_name = FILE:{directory}/default.cache
[realms]
 {realm} = {{
  kdc = {address}
 }}
[domain_realm]
 localhost = {realm}
"""

SERVER_CONFIGURATION = """[kdcdefaults]
 kdc_listen = {address}
 kdc_tcp_listen = {address}
[realms]
 {realm} = {{
  database_name = {directory}/principal
  key_stash_file = {directory}/stash
  acl_file = {directory}/acl
  max_life = 10h
  supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
 }}
[logging]
 kdc = FILE:{directory}/kdc-requests.log
"""


def program(name: str) -> Optional[str]:
    """Where it is; None when it is not installed."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin")


class Door:
    """The way that clients take to the KDC, beside the gateways' own: open, shut, or leading nowhere."""

    def __init__(self, kdc_port: int) -> None:
        self.port = free_port()
        self._kdc_port = kdc_port
        self._is_hanging = False
        self._kept: list[socket.socket] = []
        self._listener: Optional[socket.socket] = None

    def open(self) -> None:
        """Whoever was kept waiting is cut off."""
        self.shut()
        self._is_hanging = False
        self._listener = socket.create_server((HOST, self.port), backlog=64)
        threading.Thread(target=self._serve, args=(self._listener,), name="kdc-door", daemon=True).start()

    def shut(self) -> None:
        """Connections are refused."""
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        while self._kept:
            self._kept.pop().close()

    def hang(self) -> None:
        """Connections are taken, and nothing is answered."""
        self._is_hanging = True

    def _serve(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):  # it was shut
            while True:
                client, _ = listener.accept()
                if self._is_hanging:
                    self._kept.append(client)
                else:
                    threading.Thread(target=self._pass_on, args=(client,), name="kdc-request", daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        """One request and its answer, each with its length before it."""
        with client, socket.create_connection((HOST, self._kdc_port)) as kdc, contextlib.suppress(OSError):
            for source, target in ((client, kdc), (kdc, client)):
                head = receive_exactly(source, 4)
                target.sendall(head + receive_exactly(source, int.from_bytes(head, "big")))


class Realm:
    """Made and started with its context, gone with it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.client_configuration = directory / "krb5.conf"
        self.gateway_configuration = directory / "gateway-krb5.conf"
        self._port = free_port()
        self.door = Door(self._port)
        directory.mkdir(parents=True)
        self._process = Process("kdc", directory / "kdc.log", directory / "process.json", owned=True)

    @staticmethod
    def is_installed() -> bool:
        return all(program(name) for name in ("krb5kdc", "kdb5_util", "kadmin.local"))

    def __enter__(self) -> "Realm":
        words = {"realm": REALM, "directory": self.directory, "address": f"{HOST}:{self._port}"}
        self.gateway_configuration.write_text(CLIENT_CONFIGURATION.format(**words), encoding="ascii")
        through_the_door = CLIENT_CONFIGURATION.format(**{**words, "address": f"{HOST}:{self.door.port}"})
        self.client_configuration.write_text(through_the_door, encoding="ascii")
        (self.directory / "kdc.conf").write_text(SERVER_CONFIGURATION.format(**words), encoding="ascii")
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
        self._process.spawn([str(program("krb5kdc")), "-n", "-r", REALM], {**os.environ, **self._environment})
        self._process.await_condition(self._accepts, "accepted a connection", START_DEADLINE_S)
        self.door.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.door.shut()
        self._process.kill9()

    @property
    def _environment(self) -> dict[str, str]:
        return {"KRB5_CONFIG": str(self.gateway_configuration), "KRB5_KDC_PROFILE": str(self.directory / "kdc.conf")}

    def add(self, principal: str, *, life: Optional[str] = None) -> Path:
        """A principal with a new key; the keytab with it. life: of its tickets, "20s"."""
        keytab = self.directory / f"{principal.replace('/', '_')}.keytab"
        self.administrate(f"addprinc -randkey {principal}")
        if life is not None:
            self.administrate(f"modprinc -maxlife {life} {principal}")
        self.administrate(f"ktadd -k {keytab} {principal}")
        return keytab

    def administrate(self, command: str) -> None:
        """One command of kadmin's."""
        self._run("kadmin.local", "-r", REALM, "-q", command)

    def _accepts(self) -> bool:
        try:
            socket.create_connection((HOST, self._port), timeout=1).close()
        except OSError:
            return False
        return True

    def _run(self, name: str, *words: str) -> None:
        path = program(name)
        if path is None:
            raise StackError(f"'{name}' is not installed (Debian: krb5-kdc and krb5-admin-server)")
        done = subprocess.run([path, *words], env={**os.environ, **self._environment}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise StackError(f"{name} {' '.join(words)}: {done.stderr}")

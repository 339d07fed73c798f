"""The Containerfile, its lines carried out in a clean root as an image's builder would, and the container run: as its user, its root
read-only."""
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

from clean_root import CleanRoot

BASE = "debian:bookworm-slim"  # what the clean root stands for
CONFIGURATION = "/etc/tidemark/tidemark.yaml"


def instructions(text: str) -> list[tuple[str, str]]:
    lines = "".join(line + "\n" for line in text.splitlines() if not line.startswith("#")).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines.splitlines()) if word]


class Container:
    def __init__(self, machine: CleanRoot, world: Any, containerfile: Path, package: Path) -> None:
        self.machine, self.world, self.package = machine, world, package
        self.instructions = instructions(containerfile.read_text())
        self.environment: dict[str, str] = {}
        self.words: dict[str, str] = {}
        self.daemon: subprocess.Popen[str] | None = None

    def build(self) -> str:
        for word, rest in self.instructions:
            if word == "RUN":
                self.machine.out("sh", "-c", rest)
            elif word == "COPY":
                pattern, where = rest.split()
                assert Path(self.package.name).match(pattern), pattern
                self.machine.copy(self.package, where + self.package.name)
            elif word == "ENV":
                name, value = rest.split("=")
                self.environment[name] = value
            else:
                assert word in ("FROM", "VOLUME", "USER", "HEALTHCHECK", "ENTRYPOINT", "CMD"), word
                self.words[word] = rest
        assert self.words["FROM"] == BASE
        assert not list(self.machine.path("/tmp").iterdir()) and not list(self.machine.path("/var/lib/apt/lists").iterdir())
        # The root is read-only for all; what may be written is the volume.
        volume = self.words["VOLUME"]
        user, group = re.fullmatch(r"(\d+):(\d+)", self.words["USER"]).groups()
        assert int(user) != 0 and int(group) != 0, "root's: " + self.words["USER"]
        self.machine.write(CONFIGURATION, self.world.configuration("container", f"unix:{volume}/http.socket"))
        self.machine.out("mount", "-t", "tmpfs", "-o", f"mode=0700,uid={user},gid={group}", "tmpfs", volume)
        self.machine.out("mount", "-o", "remount,ro", "/")
        return f"{len(self.instructions)} instructions"

    def command(self, words: list[str], **environment: str) -> list[str]:
        user, group = self.words["USER"].split(":")
        return ["nsenter", "--target", str(self.machine.init), "--all", "--", "setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups",
                "--no-new-privs", "--bounding-set=-all", "env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                *(f"{name}={value}" for name, value in {**self.environment, **environment}.items()), *words]

    def start(self, **environment: str) -> subprocess.Popen[str]:
        words = json.loads(self.words["ENTRYPOINT"]) + json.loads(self.words["CMD"])
        return subprocess.Popen(self.command(words, **environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def is_healthy(self) -> bool:
        check = json.loads(self.words["HEALTHCHECK"].partition("CMD ")[2])
        return subprocess.run(self.command(check, BROKERS=self.world.brokers), capture_output=True, check=False).returncode == 0

    def lacks_a_value(self) -> str:
        daemon = self.start()
        said = daemon.communicate(timeout=60)[0]
        assert daemon.returncode == 78 and "BROKERS" in said, (daemon.returncode, said)
        touched = subprocess.run(self.command(["touch", "/tmp/a"]), capture_output=True, text=True, check=False)
        assert "Read-only file system" in touched.stderr, touched
        return "ends with 78 and names it"

    def run(self) -> str:
        assert not self.is_healthy()
        self.daemon = self.start(BROKERS=self.world.brokers)
        try:
            assert self.machine.wait(self.is_healthy), "never healthy"
            self.world.row_passes()
            # What enters a namespace of processes is a parent, and waits.
            parent = self.daemon.pid
            pid = int(Path(f"/proc/{parent}/task/{parent}/children").read_text().split()[0])
            assert Path(f"/proc/{pid}/status").read_text().split("Uid:\t")[1].split()[0] == self.words["USER"].split(":")[0]
            os.kill(pid, signal.SIGTERM)
            assert self.daemon.wait(60) == 0, self.daemon.returncode
        finally:
            self.daemon.kill()
            self.daemon.communicate()
        assert not self.is_healthy()
        return f"as {self.words['USER']}, the root read-only: healthy, a row passes, SIGTERM ends it with 0"

    def steps(self):
        return [("Containerfile carried out", self.build), ("a container without its { env: NAME }", self.lacks_a_value),
                ("a container runs", self.run)]

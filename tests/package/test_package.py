#!/usr/bin/env python3
"""The Debian package from its build to its removal, each step printed and counted: lintian, the sources it is built of, a clean Debian
with a real systemd in which it is installed, lived with for a first hour, upgraded, removed and purged, and the Containerfile carried
out.

    test_package.py --build BUILD --packages DIRECTORY --root ROOT.tar --counts FILE [--again DIRECTORY] [--stack] [--elsewhere]

BUILD has a mock Kafka and a scripted gateway; DIRECTORY is what systemd/build_package.sh wrote, and --again what it wrote a second
time, elsewhere. With --stack, the real Kafka and HBase take the place of BUILD's. With --elsewhere, package and root are of another
release of Debian than this one: it is installed there, and lived with.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "scenarios"), str(ROOT / "tests" / "stack")]
from browser import Browser  # noqa: E402
from clean_root import APT, CleanRoot  # noqa: E402
from container import Container  # noqa: E402
from first_hour import FirstHour  # noqa: E402
from steps import Steps, output  # noqa: E402
from world import MockWorld, StackWorld, World  # noqa: E402

UNIT, INSTANCE, TIMER = "tidemark.service", "tidemark@north.service", "tidemark-rollup.timer"
CONFIGURATION, CONFFILE = "/etc/tidemark/tidemark.yaml", "/etc/default/tidemark"
SAMPLE = "/usr/share/doc/tidemark/examples/tidemark.yaml"
STATE = "/var/lib/private/tidemark"
# An upgrade takes a second, on a busy machine some; one that waits for a gateway never ends.
UPGRADE_S = 90


class Sources:
    """What is built, before anything is installed."""

    def __init__(self, build: Path, packages: Path, work: Path) -> None:
        self.build, self.packages, self.work = build, packages, work
        self.package = next(packages.glob("tidemark_*.deb"))

    def lintian(self) -> str:
        said = output("lintian", "--allow-root", "--display-info", "--pedantic", "--fail-on", "none", "--show-overrides",
                      *self.packages.glob("*.changes"))
        remarks = [line for line in said.splitlines() if re.match("[EWIP]: ", line)]
        assert not remarks, remarks
        for overrides in ("tidemark.lintian-overrides", "source/lintian-overrides"):
            lines = (ROOT / "systemd" / "debian" / overrides).read_text().splitlines()
            assert all(before.startswith("#") for before, line in zip(["", *lines], lines) if not line.startswith("#")), overrides
        return f"no remark, {len(re.findall('^O: ', said, re.M))} answered"

    def dist(self) -> str:
        """What the package is built of, byte by byte: so it builds."""
        output("meson", "dist", "-C", self.build, "--no-tests", "--formats", "gztar", "--allow-dirty")
        archives = [*(self.build / "meson-dist").glob("*.tar.gz"), *self.packages.glob("*.orig.tar.gz")]
        assert len(archives) == 2, archives
        contents = []
        for archive in archives:
            with tarfile.open(archive) as tar:
                contents.append({member.name.partition("/")[2]: tar.extractfile(member).read() for member in tar if member.isreg()})
        assert contents[0] == contents[1], sorted(name for name in set(contents[0]) ^ set(contents[1]))
        return f"`meson dist` gives the same {len(contents[0])} files"

    def install(self) -> str:
        """Another sysconfdir, and a configuration that is there already."""
        build, destination = self.work / "build", self.work / "destination"
        output("meson", "setup", build, ROOT, "-Dprefix=/opt/tidemark", "-Dsysconfdir=/opt/etc", "-Dsystemd_unit_dir=/opt/units")
        # What is built: the program of the package, and manual pages of nothing.
        for target in json.loads(output("meson", "introspect", "--targets", build)):
            for built in [Path(name) for name in target["filename"] if target["installed"]]:
                built.touch()
        output("dpkg-deb", "-x", self.package, self.work / "unpacked")
        shutil.copy(self.work / "unpacked/usr/bin/tidemark", build / "daemon/tidemark")
        mine = {destination / name: name for name in ("opt/etc/tidemark/tidemark.yaml", "opt/etc/default/tidemark", "etc/tidemark/tidemark.yaml")}
        for path, text in mine.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for _ in range(2):
            output("meson", "install", "-C", build, "--no-rebuild", "--destdir", destination)
        assert all(path.read_text() == text for path, text in mine.items())
        operators = [path for place in ("etc", "opt/etc") for path in (destination / place).rglob("*") if path.is_file() and path not in mine]
        assert not operators, operators
        assert '"/opt/etc/tidemark/tidemark.yaml"' in (build / "daemon/commands/cli/paths.h").read_text()
        unit = (destination / "opt/units/tidemark.service").read_text()
        for line in ("ConditionPathExists=/opt/etc/tidemark/tidemark.yaml", "EnvironmentFile=-/opt/etc/default/tidemark",
                     "ExecStart=/opt/tidemark/bin/tidemark run -c /opt/etc/tidemark/tidemark.yaml"):
            assert f"\n{line}\n" in unit, line
        return "sysconfdir is heeded, what is there stays"

    def same_again(self, again: Path) -> str:
        names = sorted(path.name for path in self.packages.iterdir() if path.suffix in (".deb", ".dsc", ".gz", ".xz"))
        assert len(names) == 5, names
        hashes = [[hashlib.sha256((where / name).read_bytes()).hexdigest() for name in names] for where in (self.packages, again)]
        assert hashes[0] == hashes[1], [name for name, one, other in zip(names, *hashes) if one != other]
        return f"{len(names)} files, the same bytes"

    def newer(self) -> Path:
        """The package as if of a later version, whose conffile says more."""
        tree, package = self.work / "newer", self.work / "newer.deb"
        output("dpkg-deb", "-R", self.package, tree)
        control = tree / "DEBIAN" / "control"
        control.write_text(re.sub(r"^(Version: .*)$", r"\1+newer", control.read_text(), flags=re.M))
        with open(tree / CONFFILE[1:], "a", encoding="utf-8") as conffile:
            conffile.write("#NEWER=1\n")
        output("dpkg-deb", "--root-owner-group", "-b", tree, package)
        return package


class Life:
    """Of the package in a clean root with a systemd."""

    def __init__(self, machine: CleanRoot, world: World, sources: Sources, browser: Browser | None) -> None:
        self.machine, self.world, self.sources = machine, world, sources
        self.hour = FirstHour(machine, world, browser)
        self.out, self.show = machine.out, machine.show
        self.users = ""

    def wait_for(self, unit: str, state: str, before: int = 0) -> int:
        """Until it is in that state, as another process than `before`, which is returned."""
        def is_so() -> bool:
            return self.show(unit, "ActiveState") == state and int(self.show(unit, "MainPID")) != before
        assert self.machine.wait(is_so), self.machine.journal("-u", unit)
        return int(self.show(unit, "MainPID"))

    def again(self) -> None:
        """An upgrade to what is there."""
        self.out("timeout", str(UPGRADE_S), "dpkg", "--force-confold", "-i", "/root/newer.deb")
        assert self.out("dpkg-query", "-W", "-f", "${Status}", "tidemark") == "install ok installed"

    def installed(self) -> str:
        self.users = self.out("getent", "passwd")
        self.out(*APT, "update")
        self.out(*APT, "install", self.machine.copy(self.sources.package, "/root/tidemark.deb"))
        version = self.out("dpkg-query", "-W", "-f", "${Version}", "tidemark")
        assert f"(package {version})" in self.out("tidemark", "version")
        return f"{version}, {len(self.out('dpkg-query', '-W').splitlines())} packages"

    def used(self) -> str:
        self.out(self.machine.copy(ROOT / "systemd/debian/tests/installed", "/root/installed"))
        # Of Debian 13's librdkafka it warns.
        assert re.search("no (problem|errors)", self.out("tidemark", "check", "--offline", "-c", SAMPLE))
        return "its autopkgtest passes, `check --offline` takes its sample"

    def not_started(self) -> str:
        assert self.out("systemctl", "is-enabled", UNIT).strip() == "enabled"
        assert self.machine.run("systemctl", "is-enabled", TIMER).stdout.strip() == "disabled"
        self.out("systemctl", "start", UNIT)
        assert self.show(UNIT, "ActiveState") == "inactive" and self.show(UNIT, "ConditionResult") == "no"
        assert self.show(UNIT, "NRestarts") == "0" and not self.machine.path("/var/lib/private/tidemark").exists()
        return "enabled, and waits for a configuration"

    def configured(self) -> str:
        with open(self.machine.path(CONFFILE), "a", encoding="utf-8") as conffile:
            conffile.write(f"BROKERS={self.world.brokers}\n")
        self.machine.write(CONFIGURATION.replace("tidemark.yaml", "north.yaml"), self.world.configuration("north"))
        self.out("systemctl", "enable", "--now", INSTANCE, TIMER)
        self.world.row_passes()
        return f"runs with {CONFFILE}: {self.show(INSTANCE, 'StatusText')}"

    def upgraded(self) -> str:
        before = [self.wait_for(unit, "active") for unit in (UNIT, INSTANCE)]
        mine = [self.machine.path(path).read_text() for path in (CONFIGURATION, CONFFILE)]
        newer = self.machine.copy(self.sources.newer(), "/root/newer.deb")

        def upgrade() -> None:
            self.out(*APT, "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold", "install", newer)
            for unit, pid in zip((UNIT, INSTANCE), before):
                self.wait_for(unit, "active", pid)
        said = self.hour.while_they_come(upgrade)
        assert self.out("dpkg-query", "-W", "-f", "${Version}", "tidemark").endswith("+newer")
        assert mine == [self.machine.path(path).read_text() for path in (CONFIGURATION, CONFFILE)]
        assert "#NEWER=1" in self.machine.path(CONFFILE + ".dpkg-dist").read_text()
        assert self.show(TIMER, "ActiveState") == "active"
        self.world.row_passes()
        return "configuration and conffile kept, daemon and instance restarted; " + said

    def held(self) -> str:
        before = [self.wait_for(unit, "active") for unit in (UNIT, INSTANCE)]
        policy = "/usr/sbin/policy-rc.d"
        self.machine.write(policy, '#!/bin/sh\ncase "$1" in tidemark*) exit 101 ;; esac\n')
        self.machine.path(policy).chmod(0o755)
        self.again()
        assert "tidemark" not in self.out("systemctl", "list-jobs")
        assert before == [self.wait_for(unit, "active") for unit in (UNIT, INSTANCE)]
        self.machine.path(policy).unlink()
        return "policy-rc.d holds the restarts"

    def upgraded_alone(self) -> str:
        """No gateway is up, and the instance's configuration is wrong."""
        north = CONFIGURATION.replace("tidemark.yaml", "north.yaml")
        kept = {path: self.machine.path(path).read_text() for path in (CONFIGURATION, north)}
        before = self.wait_for(UNIT, "active")
        self.machine.write(CONFIGURATION, self.world.configuration("tidemark", gateway="127.0.0.1:1"))
        self.machine.write(north, "wrong\n")
        self.again()
        waiting = self.wait_for(UNIT, "activating", before)
        self.wait_for(INSTANCE, "failed", -1)
        self.again()
        self.wait_for(UNIT, "activating", waiting)
        assert self.show(INSTANCE, "ActiveState") == "failed"
        for path, text in kept.items():
            self.machine.write(path, text)
        self.out("systemctl", "restart", UNIT, INSTANCE)
        self.world.row_passes()
        self.hour.send()
        self.hour.assert_rows()
        return "dpkg waits for no gateway and fails with no instance; who waits for one is restarted, too"

    def removed(self) -> str:
        self.out(*APT, "remove", "tidemark")
        for unit in (UNIT, INSTANCE, TIMER):
            assert self.show(unit, "ActiveState") in ("inactive", "failed"), unit
        assert not self.machine.path("/usr/bin/tidemark").exists()
        for kept in (CONFIGURATION, CONFFILE, STATE):
            assert self.machine.path(kept).exists(), kept
        return "all stopped; configuration and state stay"

    def purged(self) -> str:
        north, south = STATE + "@north", STATE + "@south"
        kept = [f"{north}/{name}" for name in ("dead-letters.jsonl", "dead-letters.jsonl.1", "dead-letters.jsonl.torn", "mine.jsonl.2")]
        kept += [f"{south}/dead-letters.jsonl.1", "/etc/tidemark/mine.jsonl.1", "/etc/tidemark/tidemark.dead-letters.jsonl"]
        made_anew = [f"{south}/{name}" for name in ("tidemark.lock", "instance", "cluster", "started-groups", "scheme-METRIC")] + [f"{STATE}-rollup/rollup-METRIC"]
        for path in kept + made_anew:
            self.machine.write(path, "{}\n")
        # E11: under whatever name an operator has given them.
        named = ["/etc/tidemark/letters.ndjson", f"{north}/rollup-letters"]
        for path in named:
            self.machine.write(path, '{"kept_at":"2026-07-26T12:34:56.789Z","topic":"t"}\n')
        kept = [*kept, *named]
        linked = f"{STATE}@linked"
        self.machine.write("/root/elsewhere/scheme-METRIC", "{}\n")
        self.out("ln", "-s", "/root/elsewhere", linked)
        kept.insert(0, f"{STATE}/dead-letters.jsonl")  # of the first hour
        self.machine.write(f"{south}/dead-letters.jsonl", "")
        done = self.machine.run(*APT, "purge", "tidemark")
        said = done.stderr + done.stdout
        assert done.returncode == 0 and all(f"  {path}\n" in said for path in kept), done
        self.machine.run("systemctl", "daemon-reload")
        assert self.out("cat", f"{linked}/scheme-METRIC") == "{}\n"
        self.out("rm", linked)
        left = set(self.out("find", "/", "-xdev", "-name", "*tidemark*", "!", "-path", "/proc/*", "!", "-path", "/root/*").split())
        assert left == {STATE, STATE.replace("private/", ""), north, north.replace("private/", ""), south, "/etc/tidemark", "/etc/tidemark/tidemark.dead-letters.jsonl"}, left
        assert sorted(self.out("find", "/etc/tidemark", STATE, north, south, "-type", "f").split()) == sorted(kept)
        assert self.out("getent", "passwd") == self.users
        return "nothing is left but dead letters"

    def steps(self):
        return [("installed by apt", self.installed), ("used", self.used), ("not started while unconfigured", self.not_started),
                *self.hour.steps(), ("an instance, with an environment", self.configured), ("upgraded", self.upgraded),
                ("upgraded, restarts held", self.held), ("upgraded with no gateway up", self.upgraded_alone), ("removed", self.removed),
                ("purged", self.purged)]


def in_clean_root(steps: Steps, arguments: argparse.Namespace, sources: Sources, work: Path) -> None:
    world = StackWorld(work / "stack") if arguments.stack else MockWorld(arguments.build)
    browser = Browser.find(work / "chromium")

    def in_machine(kind: str, live: Callable[[CleanRoot], list[tuple[str, Callable[[], str]]]]) -> None:
        machines: list[CleanRoot] = []

        def boot() -> str:
            machines.append(CleanRoot(arguments.root, kind, work / f"console-{kind}"))
            return "of " + arguments.root.name

        try:
            if steps.take(f"a clean root: {kind}", boot):
                steps.take_all(live(machines[0]))
        finally:
            for machine in machines:
                machine.end()

    try:
        in_machine("systemd", lambda machine: Life(machine, world, sources, browser).steps())
        if not arguments.elsewhere:
            in_machine("container", lambda machine: Container(machine, world, ROOT / "systemd" / "Containerfile", sources.package).steps())
    finally:
        world.end()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("build", "packages", "root", "counts"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--again", type=Path)
    parser.add_argument("--stack", action="store_true")
    parser.add_argument("--elsewhere", action="store_true")
    arguments = parser.parse_args()
    steps = Steps()
    with tempfile.TemporaryDirectory() as directory:
        sources = Sources(arguments.build, arguments.packages, Path(directory))
        if not arguments.elsewhere:
            steps.take("lintian", sources.lintian)
            steps.take("meson dist", sources.dist)
            steps.take("meson install", sources.install)
        if arguments.again:
            steps.take("built again elsewhere", lambda: sources.same_again(arguments.again))
        in_clean_root(steps, arguments, sources, Path(directory))
    steps.write_counts(arguments.counts)
    return 1 if steps.failed else 0


if __name__ == "__main__":
    sys.exit(main())

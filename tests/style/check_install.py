#!/usr/bin/env python3
"""Checks what `meson install` would write: nothing where an operator writes; program and units read one configuration.

    check_install.py BUILD

Exit 77 (skipped) without meson.
"""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from built import build_of  # noqa: E402 pylint: disable=wrong-import-position

SKIPPED = 77


def introspect(build, what):
    return json.loads(subprocess.run(["meson", "introspect", f"--{what}", build], capture_output=True, text=True, check=True).stdout)


def check_targets(targets, sysconfdir):
    """Files of the operator's are never written over."""
    return [f"'{target}' would be installed where the operator's files are" for target in targets
            if target.startswith((sysconfdir + "/", "/etc/"))]


def check_path(name, paths, expected):
    if not paths:
        return [f"{name} names no configuration"]
    return [f"{name} reads '{path}', not '{expected}'" for path in sorted(set(paths)) if path != expected]


def main():
    if shutil.which("meson") is None:
        print("skipped: meson is not installed")
        return SKIPPED
    build = build_of(sys.argv, "daemon/tidemark")
    options = {option["name"]: option["value"] for option in introspect(build, "buildoptions")}
    sysconfdir = options["sysconfdir"]
    if not sysconfdir.startswith("/"):
        sysconfdir = f"{options['prefix']}/{sysconfdir}"
    expected = f"{sysconfdir}/tidemark/tidemark.yaml"
    installed = introspect(build, "installed")
    findings = check_targets(installed.values(), sysconfdir)
    text = subprocess.run([build / "daemon/tidemark", "--help"], capture_output=True, text=True, check=True).stdout
    findings += check_path("the program", re.findall(r"/\S+/tidemark\.yaml", text), expected)
    for source in installed:
        if source.endswith(".service"):
            with open(source, encoding="utf-8") as unit:
                lines = [line for line in unit if not line.startswith("#")]
            own = expected.replace("/tidemark.yaml", "/%i.yaml") if source.endswith("@.service") else expected
            findings += check_path(source, re.findall(r"/\S+\.yaml", "".join(lines)), own)
    for finding in findings:
        print(finding)
    print(f"installation of {len(installed)} files: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

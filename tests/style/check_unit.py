#!/usr/bin/env python3
"""Checks the configured systemd unit: that systemd reads it without a word, that its exposure stays low, and that
docs/security.md tells it as it is.

    check_unit.py UNIT

Exit 77 (skipped) without systemd-analyze.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# In tenths. What is left above 0 is the network, that the daemon is there for.
MAX_EXPOSURE = 15
SKIPPED = 77
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "security.md"


def run(*command):
    result = subprocess.run(["systemd-analyze", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    return result.returncode, result.stdout


def check_security(unit):
    code, output = run("security", "--offline=yes", f"--threshold={MAX_EXPOSURE}", str(unit))
    if code == 0:
        return []
    return [line for line in output.splitlines() if not line.startswith("✓")]


def check_verify(unit):
    """On a copy that starts a program which exists: the daemon is not installed when this runs."""
    text = unit.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / unit.name
        copy.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.MULTILINE), encoding="utf-8")
        code, output = run("verify", "--man=no", str(copy))
    # Other units of this host may be faulty: only ours counts.
    ours = [line for line in output.splitlines() if unit.name in line]
    return ours or ([output] if code != 0 else [])


def hardening_of(unit):
    block = unit.read_text(encoding="utf-8").partition("# Everything that is not needed is taken away.")[2]
    return re.findall(r"^([A-Z]\w+)=", block.partition("[Install]")[0], re.MULTILINE)


def check_order(unit):
    """The hardening block is alphabetical, so that what is missing is seen."""
    names = hardening_of(unit)
    if not names:
        return ["the hardening block is not found"]
    return [f"'{b}=' stands after '{a}='" for a, b in zip(names, names[1:]) if a > b]


def check_document(unit):
    """docs/security.md gives each directive's reason, and the exposure that there is."""
    if unit.name != "tidemark.service":
        return []
    text = DOCUMENT.read_text(encoding="utf-8")
    table = text.partition("| directive | why |")[2].partition("\n\n")[0]
    told = set(re.findall(r"`(\w+)`", table))
    findings = [f"{DOCUMENT.name} has no reason for '{name}='" for name in sorted(set(hardening_of(unit)) - told)]
    findings += [f"{DOCUMENT.name} tells '{name}=', which is not set" for name in sorted(told - set(hardening_of(unit)))]
    said = re.search(r"<!-- exposure --> (\S+)", text)
    found = re.search(r"exposure level for \S+: (\S+)", run("security", "--offline=yes", str(unit))[1])
    if said is None or found is None or said[1] != found[1]:
        findings.append(f"{DOCUMENT.name}: the exposure is {found[1] if found else 'not known'}, not {said[1] if said else 'told'}")
    return findings


def main():
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_file():
        sys.exit("check_unit.py: needs a configured unit: meson setup build, then check_unit.py build/systemd/tidemark.service")
    unit = Path(sys.argv[1])
    if shutil.which("systemd-analyze") is None:
        print("skipped: systemd-analyze is not installed")
        return SKIPPED
    findings = check_order(unit) + check_security(unit) + check_verify(unit) + check_document(unit)
    for finding in findings:
        print(finding)
    print(f"{unit.name}: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

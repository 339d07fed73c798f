#!/usr/bin/env python3
"""nftables takes the rules that docs/security.md shows.

    check_firewall.py [ROOT]

Exit 77 (skipped) without nft, or where it may not ask the kernel.
"""
import os
import re
import shutil
import subprocess
import sys

from source_text import project_root, read


def main():
    rules = re.findall(r"^```nft\n(.*?)^```", read(project_root() / "docs/security.md"), re.M | re.S)
    nft = shutil.which("nft", path=os.environ["PATH"] + ":/usr/sbin")
    if rules and (nft is None or subprocess.run([nft, "list", "tables"], capture_output=True, check=False).returncode != 0):
        print("skipped: nft is not there, or needs more rights")
        return 77
    results = [subprocess.run([nft, "-c", "-f", "-"], input=text, text=True, check=False) for text in rules]
    print(f"{len(rules)} sets of rules in docs/security.md")
    return 0 if rules and all(result.returncode == 0 for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())

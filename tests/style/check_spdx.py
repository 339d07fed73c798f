#!/usr/bin/env python3
"""Holds docs/tidemark.spdx, the list of dependencies and their licences, against the dependencies of meson.build, the package's
Build-Depends and tests/packages.txt. With --write, makes it anew.

    check_spdx.py [ROOT] [--write]
"""
import argparse
import re
import sys
from pathlib import Path

DOCUMENT = "docs/tidemark.spdx"
LICENCE_OF_THE_PROJECT = "Apache-2.0"

# By the licence's SPDX expression: Debian's package to build with, and the names that meson.build asks for. Names that are one
# library's are one line.
LIBRARIES = [
    ("GLib", "libglib2.0-dev", "LGPL-2.1-or-later", ["glib-2.0", "gobject-2.0", "gio-2.0", "gio-unix-2.0"]),
    ("Apache Thrift C GLib", "libthrift-c-glib-dev", "Apache-2.0", ["thrift_c_glib"]),
    ("MIT Kerberos", "libkrb5-dev", "MIT", ["krb5-gssapi", "krb5"]),
    ("OpenSSL", "libssl-dev", "Apache-2.0", ["openssl"]),
    ("curl", "libcurl4-openssl-dev", "curl", ["libcurl"]),
    ("librdkafka", "librdkafka-dev", "BSD-2-Clause", ["rdkafka"]),
    ("LibYAML", "libyaml-dev", "MIT", ["yaml-0.1"]),
    ("libxcrypt", "libcrypt-dev", "LGPL-2.1-or-later", ["libcrypt"]),
    ("systemd", "libsystemd-dev", "LGPL-2.1-or-later", ["libsystemd"]),
    ("simdjson", "libsimdjson-dev", "Apache-2.0", ["simdjson"]),
    ("xxHash", "libxxhash-dev", "BSD-2-Clause", ["libxxhash"]),
    ("zlib", "zlib1g-dev", "Zlib", ["zlib"]),
    ("zstd", "libzstd-dev", "BSD-3-Clause", ["libzstd"]),
    ("Protocol Buffers", "libprotobuf-dev", "BSD-3-Clause", ["protobuf"]),
    ("msgpack-c", "libmsgpack-dev", "BSL-1.0", ["msgpack-c"]),
    ("Nettle", "nettle-dev", "LGPL-3.0-or-later OR GPL-2.0-or-later", ["nettle"]),
]
NOT_LIBRARIES = {"threads"}  # the C library's


def dependencies(text):
    """Name and least version ("" where any will do) of what meson.build asks for."""
    found = re.findall(r"dependency\('([^']+)'(?:, version: \[?'>= ([^']+)')?", text)
    return {name: version for name, version in found if name not in NOT_LIBRARIES}


def findings_of(root, wanted):
    """What the lists do not say alike."""
    named = {name for *_, names in LIBRARIES for name in names}
    found = [f"meson.build: '{name}' has no licence in tests/style/check_spdx.py" for name in sorted(set(wanted) - named)]
    found += [f"tests/style/check_spdx.py: meson.build asks for no '{name}'" for name in sorted(named - set(wanted))]
    control = (root / "systemd/debian/control").read_text(encoding="utf-8")
    packages = (root / "tests/packages.txt").read_text(encoding="utf-8")
    for _, package, _, names in LIBRARIES:
        version = wanted.get(names[0], "")
        entry = package + (f" (>= {version})" if version else "")
        # Another release of Debian may have it under another name.
        if not re.search(rf"^ +{re.escape(entry)}( \| [a-z0-9-]+)?,?$", control, re.MULTILINE):
            found.append(f"systemd/debian/control: Build-Depends has no line '{entry}', which meson.build asks for")
        if not re.search(rf"^build +{re.escape(package)}(\|[a-z0-9-]+)? ", packages, re.MULTILINE):
            found.append(f"tests/packages.txt: the set 'build' has no '{package}'")
    return found


def document(text, wanted):
    version = re.search(r"version: '([^']+)'", text)[1]
    lines = ["SPDXVersion: SPDX-2.3", "DataLicense: CC0-1.0", "SPDXID: SPDXRef-DOCUMENT", f"DocumentName: tidemark-{version}",
             f"DocumentNamespace: urn:spdx:tidemark:{version}", "Creator: Tool: tests/style/check_spdx.py",
             "Created: 2026-11-23T00:00:00Z", "CreatorComment: <text>What the program is linked with. Versions are the least that it is built",
             "with; a package's own buildinfo has the exact ones.</text>", "",
             "PackageName: tidemark", "SPDXID: SPDXRef-tidemark", f"PackageVersion: {version}", "PackageDownloadLocation: NOASSERTION",
             "FilesAnalyzed: false", f"PackageLicenseDeclared: {LICENCE_OF_THE_PROJECT}", "Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-tidemark"]
    for title, package, licence, names in LIBRARIES:
        identifier = f"SPDXRef-{package.replace('_', '-')}"
        least = wanted.get(names[0], "")
        lines += ["", f"PackageName: {title}", f"SPDXID: {identifier}", *([f"PackageVersion: >= {least}"] if least else []),
                  "PackageDownloadLocation: NOASSERTION", "FilesAnalyzed: false", f"PackageLicenseDeclared: {licence}",
                  f"PackageComment: <text>{', '.join(names)} of pkg-config; {package} of Debian</text>",
                  f"Relationship: SPDXRef-tidemark DYNAMIC_LINK {identifier}"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--write", action="store_true", help="make docs/tidemark.spdx anew")
    arguments = parser.parse_args()
    text = (arguments.root / "meson.build").read_text(encoding="utf-8")
    wanted = dependencies(text)
    findings = findings_of(arguments.root, wanted)
    path = arguments.root / DOCUMENT
    if arguments.write:
        path.write_text(document(text, wanted), encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != document(text, wanted):
        findings.append(f"{DOCUMENT} differs from what meson.build asks for: ./check --write")
    for finding in findings:
        print(finding)
    print(f"{len(wanted)} dependencies: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Generates C code from page.html: its two halves around the plain tables, and headers whose policy allows only the page's own
script and style, by their hashes.

    embed_page.py page.html OUTPUT
"""
import base64
import hashlib
import re
import sys
from pathlib import Path

MARKER = "<!-- plain -->"


def source_of(page, element):
    (text,) = re.findall(rf"<{element}>(.*?)</{element}>", page, re.S)
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def literal(text):
    return "\n".join(c_string(line) for line in text.splitlines(keepends=True))


def c_string(line):
    """What is not ASCII as octal escapes of its UTF-8."""
    return '"' + "".join(f"\\{byte:03o}" if byte > 126 or byte < 32 or chr(byte) in '"\\' else chr(byte)
                         for byte in line.encode()) + '"'


def main():
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    head, tail = page.split(MARKER)
    policy = "; ".join([
        "default-src 'none'", f"script-src {source_of(page, 'script')}", f"style-src {source_of(page, 'style')}",
        "connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])
    headers = (f"Content-Security-Policy: {policy}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n")
    Path(sys.argv[2]).write_text(
        f"static const char page_headers[] = {c_string(headers)};\n"
        f"static const char page_head[] =\n{literal(head)};\n"
        f"static const char page_tail[] =\n{literal(tail)};\n", encoding="ascii")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Reads metrics of a running daemon: the sum of one metric's series, or with --list a table of several."""
import argparse
import urllib.request


def read(url: str) -> list[tuple[str, float]]:
    """Every sample as (series with labels, value)."""
    with urllib.request.urlopen(url, timeout=5) as answer:
        text = answer.read().decode()
    samples = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            samples.append((series, float(value)))
    return samples


def total(samples: list[tuple[str, float]], name: str, labels: str = "") -> int:
    return int(sum(value for series, value in samples
                   if series.split("{")[0] == name and labels in series))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--list", action="store_true", help="print name and sum of each metric named")
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    samples = read(options.url)
    for name in options.names:
        if options.list:
            print(f"{name:<45} {total(samples, name):>12,}")
        else:
            print(total(samples, name))


if __name__ == "__main__":
    main()

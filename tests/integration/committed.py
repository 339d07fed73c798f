#!/usr/bin/env python3
"""Prints how many messages of a topic a group has committed, over all partitions, as the broker says."""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "stack"))
from stack import Stack  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stack", required=True, type=pathlib.Path, help="directory of a running stack")
    parser.add_argument("--group", required=True)
    parser.add_argument("--topic", required=True)
    options = parser.parse_args()
    committed = Stack.attach(options.stack).kafka.admin.committed_offsets(options.group, options.topic)
    print(sum(offset for offset in committed.values() if offset > 0))


if __name__ == "__main__":
    main()

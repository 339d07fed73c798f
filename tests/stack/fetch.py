#!/usr/bin/env python3
"""Fetches what stages of ./check have from the network, while the first build is made.

What cannot be had now is asked for again by whoever needs it, who then says why not.
"""
from __future__ import annotations

import contextlib
import functools
import subprocess

import go_program
import maven_jars
import newer_librdkafka
import python_packages
from jvm_process import StackError
from schema_registry import ARTIFACT, SHA256

HERE = maven_jars.HERE


def main() -> None:
    for fetch in (
        *(functools.partial(maven_jars.classpath_file, component)
          for component in ("kafka", "hbase", "hbase-2.2", "hbase-2.4", "kafka-2.8", "debezium")),
        lambda: maven_jars.unpacked("schema-registry", ARTIFACT, SHA256),
        *(functools.partial(newer_librdkafka.folder, version) for version in newer_librdkafka.WHEELS),
        lambda: go_program.built(HERE / "go" / "telegraf_messages"),
        lambda: python_packages.environment("confluent", HERE / "confluent_requirements.txt", "--no-deps"),
        lambda: python_packages.environment("formats", HERE.parent / "formats" / "requirements.txt"),
    ):
        with contextlib.suppress(maven_jars.JarError, StackError, OSError, subprocess.CalledProcessError):
            fetch()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Fetches what stages of ./check have from the network, while the first build is made.

What cannot be had now is asked for again by whoever needs it, who then says why not.
"""
from __future__ import annotations

import contextlib
import subprocess

import maven_jars
import newer_librdkafka
import python_packages
from jvm_process import StackError
from schema_registry import ARTIFACT, SHA256

HERE = maven_jars.HERE


def main() -> None:
    for fetch in (
        lambda: maven_jars.classpath_file("kafka"),
        lambda: maven_jars.classpath_file("hbase"),
        lambda: maven_jars.classpath_file("hbase-2.2"),
        lambda: maven_jars.classpath_file("hbase-2.4"),
        lambda: maven_jars.unpacked("schema-registry", ARTIFACT, SHA256),
        newer_librdkafka.folder,
        lambda: newer_librdkafka.folder(newer_librdkafka.CRASHING),
        lambda: python_packages.environment("confluent", HERE / "confluent_requirements.txt", "--no-deps"),
        lambda: python_packages.environment("formats", HERE.parent / "formats" / "requirements.txt"),
    ):
        with contextlib.suppress(maven_jars.JarError, StackError, OSError, subprocess.CalledProcessError):
            fetch()


if __name__ == "__main__":
    main()

"""How the JVMs of the stack are started: small heaps, fast start. The figures are from a machine of two cores."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from jvm_process import StackError

HERE = Path(__file__).resolve().parent

# HBase 2.6 reaches into the JDK; Java 17 forbids it without these.
OPENED_PACKAGES = ("java.lang", "java.nio", "java.net", "java.util", "java.util.concurrent",
                   "java.util.concurrent.atomic", "java.lang.reflect", "java.io", "sun.nio.ch", "jdk.internal.ref")
EXPORTED_PACKAGES = ("java.base/jdk.internal.misc", "java.base/sun.net.dns", "java.base/sun.net.util",
                     "java.security.jgss/sun.security.krb5")

ALWAYS = ("-Djava.net.preferIPv4Stack=true", "-Djava.awt.headless=true")

# The quick compiler and the collector without threads of its own: HBase starts with 2.9 s of CPU instead of 5.9 s,
# Kafka with 1.8 s instead of 3.2 s. What runs for minutes at full speed is better off without them (peak_speed).
QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def java(tool: str = "java") -> str:
    """The path of java (or javac): from JAVA_HOME if that is set, else from PATH."""
    home = os.environ.get("JAVA_HOME")
    path = shutil.which(tool, path=os.path.join(home, "bin") if home else None)
    if path is None:
        raise StackError(f"'{tool}' is not installed: the stack needs a JDK from version 17 on "
                         "(Debian: openjdk-17-jdk-headless)")
    return path


def environment(classpath: str) -> dict[str, str]:
    """The class path goes by the environment: on the command line its 12 kB would fill every list of processes."""
    return {**os.environ, "CLASSPATH": classpath}


def common(name: str, log_path: Path, heap: str, peak_speed: bool) -> list[str]:
    """The flags of every JVM. The log's path is for the list of processes: it tells whose stack this is."""
    return [*ALWAYS, *(() if peak_speed else QUICK_START), f"-Xmx{heap}", f"-Dtidemark.stack={name},{log_path}"]


def hbase(name: str, log_path: Path, heap: str, peak_speed: bool) -> list[str]:
    """The flags of HBase, of a gateway and of the oracle."""
    opens = [word for package in OPENED_PACKAGES for word in ("--add-opens", f"java.base/{package}=ALL-UNNAMED")]
    exports = [word for package in EXPORTED_PACKAGES for word in ("--add-exports", f"{package}=ALL-UNNAMED")]
    log4j = (HERE / "hbase" / "log4j.properties").as_uri()
    return [*opens, *exports, *common(name, log_path, heap, peak_speed), f"-Dlog4j.configuration={log4j}"]

"""HBase's own ImportTsv as a peer of `tidemark load`: a job of MapReduce that needs no cluster, which puts rows past the gateways."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

import java_flags
import maven_jars
from measured_process import Usage, run_measured
from stack_services import HOST

HERE = Path(__file__).resolve().parent

HEAP = "1500m"

# At a time; the runner's default is one.
TASKS = 2


def run(zookeeper_port: int, table: str, columns: Sequence[str], directory: Path, log_path: Path) -> Usage:
    """The files of the directory hold row key, time and the columns' values."""
    jars = maven_jars.classpath("bench-import-tsv", HERE / "import_tsv" / "pom.xml")
    settings = {"hbase.zookeeper.quorum": HOST, "hbase.zookeeper.property.clientPort": str(zookeeper_port),
                "mapreduce.local.map.tasks.maximum": str(TASKS), "hadoop.tmp.dir": str(log_path.with_suffix(".tmp")),
                "importtsv.columns": ",".join(["HBASE_ROW_KEY", "HBASE_TS_KEY", *columns])}
    return run_measured([java_flags.java(), *java_flags.hbase("import-tsv", log_path, heap=HEAP, peak_speed=True),
                         "org.apache.hadoop.hbase.mapreduce.ImportTsv", *(f"-D{name}={value}" for name, value in settings.items()),
                         table, directory.as_uri()], log_path, environment=java_flags.environment(jars))

"""An archive of the classes of Spark, with which a JVM of a test needs about 40 % less processor time.

The JVM's class data sharing: one program loads the classes that Spark's statements use, and the JVM writes them to a
file at its end. A later JVM maps the file, and neither reads nor verifies these classes again. The JVM checks the file
itself: one of other jars or of another Java is not used, without a message.

    python -m tests.support.class_archive     # writes the archive, in a minute or two; `make test` does that once

Nothing but time depends on the archive: without it the same tests run. It never imports pyspark before it is used.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import metastored
import metastored.spark
from metastored.testing import RunningServer
from tests.support.apache import ROOT
from tests.support.forks import running_server
from tests.support.spark import CONF, JVM_FLAGS

ARCHIVE: Final = ROOT / ".cache" / "spark-classes.jsa"
SILENT: Final = "-Xlog:disable -Xlog:all=error:stderr"
"""Without these, a JVM with other jars (such as Hive's) prints to its output that the archive does not fit."""
END_TIMEOUT: Final = 300.0
"""Seconds in which the JVM writes the archive."""


def java_options() -> str:
    """The flags of a JVM that uses the archive, as JDK_JAVA_OPTIONS has them; empty if there is no archive."""
    return f'"-XX:SharedArchiveFile={ARCHIVE}" {SILENT}' if ARCHIVE.exists() else ""


def main() -> int:
    from tests.support.run_costs import JAVA_OPTIONS, SHORT_LIVED

    os.environ[JAVA_OPTIONS] = SHORT_LIVED  # Without an archive from before: the new one would build on it.
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    ARCHIVE.parent.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=ARCHIVE.parent, ignore_cleanup_errors=True) as name,
        running_server() as server,
    ):
        written = Path(name) / "classes.jsa"
        spark = _session(server, Path(name), f"-XX:ArchiveClassesAtExit={written} {SILENT}")
        gateway: Any = spark.sparkContext._gateway
        try:
            _load_classes(spark, server.uri)
        finally:
            spark.stop()
            gateway.shutdown()
            gateway.proc.stdin.close()  # The JVM ends when nobody can write to it any more.
            gateway.proc.wait(END_TIMEOUT)
        written.replace(ARCHIVE)
    return 0


def _session(server: RunningServer, folder: Path, flags: str) -> Any:
    from pyspark.sql import SparkSession

    settings = {
        **CONF,
        **metastored.spark.conf(server.uri),
        JVM_FLAGS: flags,
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": server.warehouse,
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
    }
    builder = SparkSession.builder.appName("metastored-class-archive")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _load_classes(spark: Any, uri: str) -> None:
    """Statements of the kinds that tests run: each loads classes that the others do not need."""
    from metastored.spark import acid, statistics

    spark.sql("create database d")
    rows = "select id, concat('v', id) as v, concat('d', id % 2) as ds from range(0, 10, 1, 2)"
    for name, form in (("p", "using parquet"), ("o", "using orc"), ("h", "stored as parquet"), ("t", "stored as orc")):
        spark.sql(f"create table d.{name} (id bigint, v string, ds string) {form} partitioned by (ds)")
        spark.sql(f"insert into d.{name} {rows}")
    spark.sql("create table d.text (id bigint, v string) stored as textfile")
    spark.sql("insert into d.text values (1, 'x')")
    spark.sql("create view d.seen as select ds, count(distinct v) as n, max(id) as m from d.p where id > 1 group by ds")
    joined = "select s.ds, n, row_number() over (partition by s.ds order by o.id) from d.seen s join d.o using (ds)"
    spark.sql(f"{joined} left join d.t using (ds) where o.ds = 'd1' order by 1, 2, 3").collect()
    spark.sql("select * from d.text union all select id, v from d.h").collect()
    spark.sql("analyze table d.p compute statistics for all columns")
    spark.sql("describe extended d.p").collect()
    spark.sql("show partitions d.p").collect()
    spark.createDataFrame([(1, "a")], "id bigint, v string").collect()

    columns, properties = {"id": "bigint", "v": "string"}, {"transactional": "true"}
    with metastored.connect(uri) as client:
        client.create_table(metastored.table("d.a", columns, format="orc", properties=properties))
    acid.insert(spark, "d.a", spark.range(0, 6, 1, 2).selectExpr("id", "concat('v', id) as v"))
    acid.update(spark, "d.a", {"v": "'w'"}, "id = 1")
    acid.delete(spark, "d.a", "id = 2")
    changes = spark.range(3, 8).selectExpr("id", "'m' as v")
    acid.merge(spark, "d.a", changes, "target.id = source.id", matched={"v": "source.v"}, not_matched="*")
    acid.read(spark, "d.a").collect()
    statistics.analyze(spark, "d.p")


if __name__ == "__main__":
    sys.exit(main())

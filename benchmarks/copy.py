"""A copy of a table against Spark that reads and writes the same files, in the same Spark, in turns.

A copy in the same format copies files byte for byte, reads them back and compares digests and numbers of rows. A copy
to another format rewrites rows, reads them back and compares checksums; it has no goal. Both publish their result in
the metastore. Spark's side reads and writes rows and does nothing else. The median of each side is compared, after a
first round that compiles classes.
"""

from __future__ import annotations

import json
from typing import Any

import metastored
from benchmarks.rows import Results, Row
from benchmarks.spark_turns import TURNS
from metastored.testing import running_server
from tests.support.spark import run_spark

DB = "copy_bench"

SCRIPT = """
import json
import metastored
import metastored.spark
from pyspark.sql import functions as F

task = json.loads(TASK)
rows, times, db, folder = task["rows"], task["times"], task["db"], task["folder"]
client = metastored.connect(task["uri"], cache=False)
spark.sparkContext.setLogLevel("ERROR")
source = spark.range(0, rows, 1, 4).select(
    F.col("id"), (F.hash("id") % 1000).cast("int").alias("grp"),
    F.concat(F.lit("name_"), (F.xxhash64("id") % 100000).cast("string")).alias("name"),
    (F.hash("id") / 7.0).alias("amount"), (F.col("id") % 997 / F.lit(7)).cast("decimal(12,2)").alias("price"),
    (F.lit("2024-01-01").cast("timestamp") + F.make_interval(secs=F.col("id") % 864000)).alias("ts"),
    (F.col("id") % 8).cast("int").alias("part"))
source.drop("part").write.saveAsTable(f"{db}.plain", format="parquet")
source.repartition(8, "part").write.partitionBy("part").saveAsTable(f"{db}.parts", format="parquet")
number = iter(range(1000))

def copied(table, format="parquet"):
    target = f"{db}.{table}_{next(number)}"
    done = metastored.spark.copy_table(spark, f"{db}.{table}", target, format=format, client=client)
    assert done.rows == rows, done
    assert (done.copied_files > 0) == (format == "parquet"), done

def written(table, *keys, format="parquet"):
    options = {"compression": "zlib"} if format == "orc" else {}
    writer = spark.table(f"{db}.{table}").write.partitionBy(*keys).options(**options)
    writer.format(format).save(f"{folder}/{table}_{next(number)}")

result = {
    "plain": in_turns({"copy": lambda: copied("plain"), "spark": lambda: written("plain")}, times),
    "parts": in_turns({"copy": lambda: copied("parts"), "spark": lambda: written("parts", "part")}, times),
    "rows": in_turns({"copy": lambda: copied("plain", "orc"), "spark": lambda: written("plain", format="orc")}, times),
}
"""


def run(results: Results, quick: bool) -> None:
    rows, times = (500_000, 2) if quick else (5_000_000, 3)
    with running_server() as server, metastored.connect(server.uri) as client:
        client.create_database(DB)
        folder = f"{server.warehouse}/{DB}_written"
        task = {"rows": rows, "times": times, "db": DB, "uri": server.uri, "folder": folder}
        conf = {
            "spark.master": "local[2]", "spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "4",
            "spark.hadoop.hive.metastore.uris": server.uri, "spark.sql.warehouse.dir": server.warehouse,
        }  # fmt: skip
        script = TURNS + SCRIPT.replace("TASK", repr(json.dumps(task)))
        found: dict[str, Any] = run_spark(script, conf=conf, timeout=1800)
    for name, title in (("plain", "copy: one directory"), ("parts", "copy: eight partitions")):
        ours, spark = found[name]["copy"], found[name]["spark"]
        results.add(Row(title, rows / ours, rows / spark, "rows/s", spark / ours, 0.8, 1.0))
    ours, spark = found["rows"]["copy"], found["rows"]["spark"]
    results.add(Row("copy: rows rewritten, Parquet to ORC", rows / ours, rows / spark, "rows/s", spark / ours))

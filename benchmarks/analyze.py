"""Statistics and repair on Spark against Spark's own statements, in the same Spark, with the same files.

An analyze of ten columns, which writes Hive's and Spark's statistics, against `ANALYZE TABLE … FOR ALL COLUMNS`, which
writes Spark's. A repair of many partition directories against `MSCK REPAIR TABLE`. The results of both sides are
compared.
"""

from __future__ import annotations

import json
import os
from typing import Any

import metastored
from benchmarks.rows import Results, Row
from benchmarks.spark_turns import TURNS
from metastored.hive.locations import local_path
from metastored.testing import running_server
from tests.support.spark import run_spark

DB = "analyze_bench"

SCRIPT = """
import json
import metastored
from metastored.spark import repair
from metastored.spark.statistics import analyze
from pyspark.sql import functions as F

task = json.loads(TASK)
rows, times, db = task["rows"], task["times"], task["db"]
spark.sparkContext.setLogLevel("ERROR")
source = spark.range(0, rows, 1, 4).select(
    F.col("id"), (F.hash("id") % 1000).cast("int").alias("grp"), F.xxhash64("id").alias("key"),
    F.concat(F.lit("name_"), (F.xxhash64("id") % 100000).cast("string")).alias("name"),
    F.element_at(F.array(*map(F.lit, ("new", "paid", "sent", "lost"))), (F.abs(F.hash("id")) % 4 + 1).cast("int"))
        .alias("state"),
    (F.hash("id") / 7.0).alias("amount"), (F.col("id") % 997 / F.lit(7)).cast("decimal(12,2)").alias("price"),
    (F.lit("2024-01-01").cast("timestamp") + F.make_interval(secs=F.col("id") % 864000)).alias("ts"),
    F.date_add(F.lit("2024-01-01"), (F.col("id") % 365).cast("int")).alias("day"), (F.col("id") % 3 == 0).alias("flag"))
source.write.format("parquet").saveAsTable(f"{db}.facts")

result = {}
def theirs():
    spark.sql(f"ANALYZE TABLE {db}.facts COMPUTE STATISTICS FOR ALL COLUMNS")
def ours():
    result["rows"] = analyze(spark, f"{db}.facts").rows
result["analyze"] = in_turns({"spark": theirs, "ours": ours}, times)
result["repair"] = {"ours": seconds(lambda: result.update(added=len(repair(spark, f"{db}.ours").added)))}
result["repair"]["spark"] = seconds(lambda: spark.sql(f"MSCK REPAIR TABLE {db}.theirs"))
"""


def run(results: Results, quick: bool) -> None:
    rows, times, directories = (200_000, 2, 2_000) if quick else (5_000_000, 5, 100_000)
    with running_server() as server, metastored.connect(server.uri) as client:
        client.create_database(DB)
        for name in ("ours", "theirs"):
            make_directories(client, f"{DB}.{name}", directories)
        task = {"rows": rows, "times": times, "db": DB}
        conf = {
            **metastored.spark.conf(server.uri), "spark.master": "local[2]", "spark.driver.memory": "4g",
            "spark.sql.shuffle.partitions": "4",
        }  # fmt: skip
        script = TURNS + SCRIPT.replace("TASK", repr(json.dumps(task)))
        found: dict[str, Any] = run_spark(script, conf=conf, timeout=3600)
        counts = [len(client.partition_names(f"{DB}.{name}")) for name in ("ours", "theirs")]
        parameters = client.table(f"{DB}.facts").parameters or {}
        assert len(client.statistics(f"{DB}.facts")) == 10
    assert (found["rows"], found["added"], counts) == (rows, directories, [directories] * 2)
    assert parameters["spark.sql.statistics.numRows"] == parameters["numRows"] == str(rows)
    analyzed, repaired = found["analyze"], found["repair"]
    ratio = analyzed["ours"] / analyzed["spark"]
    name = "Spark: analyze of 10 columns"
    results.add(Row(name, analyzed["ours"], analyzed["spark"], "s", ratio, 1.3, 1.0, higher_is_better=False))
    faster = repaired["spark"] / repaired["ours"]
    results.add(Row("Spark: repair of partitions", repaired["ours"], repaired["spark"], "s", faster, 5.0, 10.0))


def make_directories(client: metastored.Client, name: str, count: int) -> None:
    """A table without partitions whose directory has so many, each with one file."""
    table = metastored.table(name, {"id": "bigint"}, partitioned_by={"n": "int"}, format="parquet")
    client.create_table(table)
    sd = client.table(name).sd
    assert sd is not None
    root = local_path(sd.location or "")
    for number in range(count):
        os.makedirs(f"{root}/n={number}")
        with open(f"{root}/n={number}/part-00000.parquet", "wb") as file:
            file.write(b"PAR1")

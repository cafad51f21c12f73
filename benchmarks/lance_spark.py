"""Lance from Spark against Parquet from Spark: the same rows, with decimals, timestamps, lists, maps and a vector."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.rows import Results, Row
from metastored.testing import running_server
from tests.support.lance_spark import ROWS
from tests.support.spark import run_spark

MOST, AIM = 3.0, 1.5
"""How many times as long as to Parquet a write may take, and is meant to take."""

SCRIPT = """
import json, statistics, time
import metastored.spark
task = json.loads(TASK)
spark.sql("CREATE DATABASE IF NOT EXISTS bench")
df = rows(spark, task["rows"], task["partitions"]).persist()
df.count()

lance = metastored.spark.lance
vectors = {"vector": DIMENSIONS}
parquet = task["folder"] + "/parquet"
work = {
    "parquet": lambda: df.write.mode("overwrite").parquet(parquet),
    "lance": lambda: lance.write(df, "bench.t", mode="overwrite", vectors=vectors),
    "read parquet": lambda: spark.read.parquet(parquet).write.format("noop").mode("overwrite").save(),
    "read lance": lambda: lance.read(spark, "bench.t").write.format("noop").mode("overwrite").save(),
}
taken = {name: [] for name in work}
# In turns, so that whatever else the machine does falls on all of them. The first round loads and compiles classes.
for round in range(task["times"] + 1):
    for name, call in work.items():
        start = time.perf_counter()
        call()
        if round:
            taken[name].append(time.perf_counter() - start)
result = {name: statistics.median(times) for name, times in taken.items()}
assert lance.read(spark, "bench.t", columns=["id"]).count() == task["rows"]
"""


def run(results: Results, quick: bool) -> None:
    with running_server() as server:
        task = {
            "rows": 20_000 if quick else 200_000,
            "partitions": 4,
            "times": 1 if quick else 5,
            "folder": server.warehouse.removeprefix("file:"),
        }
        conf = {
            "spark.hadoop.hive.metastore.uris": server.uri,
            "spark.sql.warehouse.dir": server.warehouse,
            "spark.master": "local[2]",
            "spark.driver.memory": "2g",
        }
        taken = run_spark(f"TASK = {json.dumps(json.dumps(task))}\n{ROWS}{SCRIPT}", conf=conf, timeout=1800)
    compare(results, f"Spark writes {task['rows']:,} rows with vectors, beside Parquet", taken, "lance", "parquet")
    compare(
        results, f"Spark reads {task['rows']:,} rows with vectors, beside Parquet", taken, "read lance", "read parquet"
    )


def compare(results: Results, name: str, taken: dict[str, Any], ours: str, peer: str) -> None:
    """How many times as long as Parquet it takes: the smaller the better. Only a write has a goal."""
    most, aim = (MOST, AIM) if ours == "lance" else (None, None)
    ratio = taken[ours] / taken[peer]
    results.add(Row(name, taken[ours], taken[peer], "s", ratio, most, aim, higher_is_better=False))

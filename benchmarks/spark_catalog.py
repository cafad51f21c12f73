"""Spark's external catalog in Python against Spark's own, on the same metastore, in the same run."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sized
from functools import partial
from pathlib import Path

import metastored
from benchmarks.rows import Results
from metastored.model.spark.types import INTEGER, STRING, StructType
from metastored.model.spark.values import (
    CatalogDatabase,
    CatalogStorage,
    CatalogTable,
    CatalogTablePartition,
    CatalogTableType,
    TableIdentifier,
)
from metastored.spark import ExternalCatalog
from metastored.testing import running_server
from tests.support.spark import run_spark

DB, PARTITIONED = "spark_bench", "partitioned"
PREDICATES = {
    "a tenth of the partitions, all of it pushed": "Region IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)",
    "a tenth of the partitions, none of it pushed": "Region * 10 <= 100",
}
LEAST, AIM = 3.0, 5.0

# Spark's predicates need a plan that has resolved their columns.
SCRIPT = """
import json, statistics, time
task = json.loads(TASK)
catalog = spark._jsparkSession.sharedState().externalCatalog()
to_seq = spark._jvm.org.apache.spark.api.python.PythonUtils.toSeq

def measured(call):
    call()  # The first call loads and compiles classes.
    times = []
    for _ in range(task["times"]):
        start = time.perf_counter()
        count = call().size()
        times.append(time.perf_counter() - start)
    return statistics.median(times), count

result = {}
for predicate in task["predicates"]:
    plan = spark.table(task["db"] + "." + task["table"]).filter(predicate)._jdf.queryExecution().analyzed()
    conditions = to_seq([plan.condition()])
    result[predicate] = measured(
        lambda: catalog.listPartitionsByFilter(task["db"], task["table"], conditions, "UTC"))
names = to_seq(task["names"])
result["tables"] = measured(lambda: catalog.getTablesByName(task["db"], names))
"""


def measured(call: Callable[[], Sized], times: int) -> tuple[float, int]:
    """The median time, and how many objects were read."""
    call()
    taken, count = [], 0
    for _ in range(times):
        start = time.perf_counter()
        count = len(call())
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), count


def prepare(catalog: ExternalCatalog, folder: Path, partitions: int, tables: int) -> list[str]:
    """A table with partitions by day and region, and wide tables. Returns the names of these."""
    catalog.create_database(CatalogDatabase(DB, location_uri=folder.as_uri()))
    storage = CatalogStorage((folder / PARTITIONED).as_uri())
    schema = StructType().add("Id", INTEGER).add("Day", STRING).add("Region", INTEGER)
    catalog.create_table(
        CatalogTable(
            TableIdentifier(PARTITIONED, DB),
            CatalogTableType.EXTERNAL,
            storage,
            schema,
            provider="parquet",
            partition_column_names=("Day", "Region"),
            tracks_partitions_in_catalog=True,
        )
    )
    (folder / PARTITIONED).mkdir(exist_ok=True)
    # All in one directory: only the metadata counts.
    parts = [
        CatalogTablePartition({"Day": f"d{at // 100:05}", "Region": str(at % 100 + 1)}, storage)
        for at in range(partitions)
    ]
    catalog.create_partitions(DB, PARTITIONED, parts)
    wide = StructType()
    for at in range(200):
        wide = wide.add(f"Column_{at}", STRING if at % 2 else INTEGER)
    names = [f"wide_{at}" for at in range(tables)]
    for name in names:
        place = CatalogStorage((folder / name).as_uri())
        catalog.create_table(
            CatalogTable(TableIdentifier(name, DB), CatalogTableType.EXTERNAL, place, wide, provider="parquet")
        )
    return names


def run(results: Results, quick: bool) -> None:
    partitions, tables, times = (2_000, 20, 2) if quick else (100_000, 1_000, 5)
    with (
        running_server() as server,
        tempfile.TemporaryDirectory() as folder,
        metastored.connect(server.uri, cache=False) as client,
    ):
        catalog = ExternalCatalog(client)
        names = prepare(catalog, Path(folder), partitions, tables)
        task = {
            "db": DB, "table": PARTITIONED, "names": names, "times": times, "predicates": list(PREDICATES.values()),
        }  # fmt: skip
        theirs = run_spark(
            f"TASK = {json.dumps(json.dumps(task))}\n{SCRIPT}",
            conf={"spark.hadoop.hive.metastore.uris": server.uri, "spark.driver.memory": "2g"},
            timeout=1800,
        )
        for what, predicate in PREDICATES.items():
            found = measured(partial(catalog.list_partitions_by_filter, DB, PARTITIONED, predicate), times)
            compare(results, f"list_partitions_by_filter of {partitions:,}: {what}", found, theirs[predicate])
        found = measured(partial(catalog.get_tables_by_name, DB, names), times)
        compare(results, f"get_tables_by_name of {tables:,} tables of 200 columns", found, theirs["tables"])


def compare(results: Results, name: str, ours: tuple[float, int], theirs: tuple[float, int]) -> None:
    if ours[1] != theirs[1]:
        raise AssertionError(f"{name}: Python reads {ours[1]} objects, and Spark {theirs[1]}")
    results.faster(name, ours[0], theirs[0], least=LEAST, aim=AIM)

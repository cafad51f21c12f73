"""Spark's external catalog in Python against Spark's own, on the same metastore, in the same run.

Both are called in turn, in one process of Spark's, so that other work of the machine disturbs both alike.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import metastored
from benchmarks.rows import Results
from metastored.model.spark.types import INTEGER, STRING, StructField, StructType
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
    "one day of them, all of it pushed": "Day = 'd00007'",
    "a tenth of the partitions, all of it pushed": "Region IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)",
    "a tenth of the partitions, none of it pushed": "Region * 10 <= 100",
}
LEAST, AIM = 3.0, 5.0

# Spark's predicates need a plan that has resolved their columns.
SCRIPT = """
import json, statistics, time
import metastored
from metastored.spark import ExternalCatalog
task = json.loads(TASK)
ours = ExternalCatalog(metastored.connect(task["uri"], cache=False))
catalog = spark._jsparkSession.sharedState().externalCatalog()
to_seq = spark._jvm.org.apache.spark.api.python.PythonUtils.toSeq

def timed(call):
    time.sleep(task["pause"])  # The JVM compiles code for a while after a call, which would disturb the next.
    start = time.perf_counter()
    found = call()
    taken = time.perf_counter() - start
    return taken, len(found) if isinstance(found, list) else found.size()

def measured(of_python, of_spark):
    of_python(), of_spark()  # The first calls load and compile classes.
    pairs = [(timed(of_python), timed(of_spark)) for _ in range(task["times"])]
    assert len({count for pair in pairs for _, count in pair}) == 1, pairs
    return [statistics.median(pair[side][0] for pair in pairs) for side in (0, 1)]

result = {}
for predicate in task["predicates"]:
    plan = spark.table(task["db"] + "." + task["table"]).filter(predicate)._jdf.queryExecution().analyzed()
    conditions = to_seq([plan.condition()])
    result[predicate] = measured(
        lambda: ours.list_partitions_by_filter(task["db"], task["table"], predicate),
        lambda: catalog.listPartitionsByFilter(task["db"], task["table"], conditions, "UTC"))
names = to_seq(task["names"])
result["tables"] = measured(
    lambda: ours.get_tables_by_name(task["db"], task["names"]),
    lambda: catalog.getTablesByName(task["db"], names))
ours.close()
"""


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
    names = [f"wide_{at}" for at in range(tables)]
    for number, name in enumerate(names):
        place = CatalogStorage((folder / name).as_uri())
        # No two tables have the same columns: nothing that was read for one helps to read the next.
        fields = (StructField(f"Column_{number}_{at}", STRING if at % 2 else INTEGER) for at in range(200))
        wide = StructType(tuple(fields))
        catalog.create_table(
            CatalogTable(TableIdentifier(name, DB), CatalogTableType.EXTERNAL, place, wide, provider="parquet")
        )
    return names


def run(results: Results, quick: bool) -> None:
    partitions, tables, times, pause = (2_000, 20, 2, 0.0) if quick else (100_000, 1_000, 5, 1.0)
    with (
        running_server() as server,
        tempfile.TemporaryDirectory() as folder,
        metastored.connect(server.uri, cache=False) as client,
    ):
        catalog = ExternalCatalog(client)
        names = prepare(catalog, Path(folder), partitions, tables)
        task = {
            "uri": server.uri, "db": DB, "table": PARTITIONED, "names": names, "times": times,
            "pause": pause, "predicates": list(PREDICATES.values()),
        }  # fmt: skip
        found = run_spark(
            f"TASK = {json.dumps(json.dumps(task))}\n{SCRIPT}",
            conf={"spark.hadoop.hive.metastore.uris": server.uri, "spark.driver.memory": "2g"},
            timeout=1800,
        )
        for what, predicate in PREDICATES.items():
            name = f"list_partitions_by_filter of {partitions:,}: {what}"
            results.faster(name, *found[predicate], least=LEAST, aim=AIM)
        name = f"get_tables_by_name of {tables:,} tables of 200 columns"
        results.faster(name, *found["tables"], least=LEAST, aim=AIM)

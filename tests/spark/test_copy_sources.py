"""Copies from Apache Hive 2.3.10, Apache Hive 3.1.3 and another metastored: in one process and on a standalone cluster.

Each source has a table with partitions and one without. Both are copied, changed at the source and copied again.
pyarrow, pyiceberg and deltalake read the copies. `make test` copies from all of them in one process, and from
Hive 3.1.3 on the cluster; `make soak` from all of them there too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.dataset
import pytest
from deltalake import DeltaTable

import metastored
from metastored.hive.locations import local_path
from metastored.spark.copying.iceberg import iceberg_catalog
from metastored.structs import StorageDescriptor
from metastored.testing import RunningServer, running_server
from tests.support.apache import ApacheMetastore
from tests.support.spark import run_spark
from tests.support.spark_cluster import running_cluster

pytestmark = [pytest.mark.spark, pytest.mark.apache, pytest.mark.slow, pytest.mark.timeout(600)]

SOURCES = ("hive_2_3", "hive_3_1", "metastored")

SCRIPT = """
import json
import metastored
import metastored.spark
from pyspark.sql import functions as F

task = json.loads(TASK)
near = metastored.connect(task["near"], cache=False)
near.create_database("local")
columns = {"id": "bigint", "name": "string", "price": "decimal(10,2)"}
result = {"executors": spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1}

def write(path, start, end):
    spark.range(start, end).select(
        "id", F.concat(F.lit("n"), "id").alias("name"), (F.col("id") / 4).cast("decimal(10,2)").alias("price")
    ).write.mode("append").parquet(path)

def copied(source, target, **options):
    done = metastored.spark.copy_table(spark, source, target, client=near, **options)
    return [done.rows, list(done.partitions), list(done.skipped), list(done.dropped), done.unchanged]

for source, uri in task["sources"].items():
    there, folder = f"{task['database']}_{source}", f"{task['folder']}/{source}"
    with metastored.connect(uri, cache=False) as far:
        far.create_database(there)
        far.create_table(metastored.table(f"{there}.codes", columns, external=True, location=f"file://{folder}/codes"))
        orders = metastored.table(f"{there}.orders", columns, partitioned_by={"ds": "string"}, external=True,
                                  location=f"file://{folder}/orders")
        far.create_table(orders)

        def add(ds, start, end):
            write(f"{folder}/orders/ds={ds}", start, end)
            added = metastored.partition(orders, [ds], location=f"file://{folder}/orders/ds={ds}")
            far.add_partitions(f"{there}.orders", [added], if_not_exists=True)

        write(f"{folder}/codes", 0, 7)
        for ds, count in (("1", 10), ("2", 20), ("3", 30)):
            add(ds, 0, count)
        near.sql(f"CREATE REMOTE DATABASE away_{source} CONNECTED TO {there} "
                 f"WITH DBPROPERTIES ('hive.metastore.uris' = '{uri}')")

        def copies():
            return {table: copied(f"away_{source}.{table}", f"local.{source}_{table}") for table in ("orders", "codes")}

        found = result[source] = {"first": copies(), "again": copies()}
        add("1", 10, 15)
        far.drop_partition(f"{there}.orders", ["2"])
        add("4", 0, 40)
        write(f"{folder}/codes", 7, 9)
        found["changed"] = copies()
        if source == "hive_3_1":
            for format in ("iceberg", "delta"):
                for table in ("orders", "codes"):
                    found[f"{table} {format}"] = copied(
                        f"away_{source}.{table}", f"local.{table}_{format}", format=format)
"""


class Copies(NamedTuple):
    result: dict[str, Any]
    server: RunningServer
    executors: int
    sources: tuple[str, ...]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((False, SOURCES), id="one process"),
        pytest.param((True, ("hive_3_1",)), id="cluster"),
        pytest.param((True, SOURCES), id="cluster, all sources", marks=pytest.mark.soak),
    ],
)
def copies(
    request: pytest.FixtureRequest,
    hive_2_3: ApacheMetastore,
    hive_3_1: ApacheMetastore,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Copies]:
    on_cluster, sources = request.param
    with running_server() as near, running_server() as far, ExitStack() as stack:
        conf = {"spark.hadoop.hive.metastore.uris": near.uri, "spark.sql.warehouse.dir": near.warehouse}
        if on_cluster:
            conf |= stack.enter_context(running_cluster()).conf
            conf |= {
                "spark.scheduler.minRegisteredResourcesRatio": "1.0",
                "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
            }
        uris = dict(zip(SOURCES, (hive_2_3.uri, hive_3_1.uri, far.uri), strict=True))
        task = {
            "near": near.uri,
            "sources": {source: uris[source] for source in sources},
            "database": f"copy_sources_{'cluster' if on_cluster else 'here'}_{len(sources)}",
            "folder": str(tmp_path_factory.mktemp("data")),
        }
        result = run_spark(SCRIPT.replace("TASK", repr(json.dumps(task))), conf=conf)
        yield Copies(result, near, 2 if on_cluster else 0, sources)


def rows(start: int, end: int) -> list[tuple[int, str, str]]:
    return [(id, f"n{id}", f"{id / 4:.2f}") for id in range(start, end)]


def read(table: pyarrow.Table) -> list[tuple[int, str, str]]:
    return sorted((row["id"], row["name"], str(row["price"])) for row in table.to_pylist())


def directory(sd: StorageDescriptor | None) -> Path:
    return Path(local_path((sd or StorageDescriptor()).location or ""))


AFTER_CHANGES = {"1": rows(0, 15), "3": rows(0, 30), "4": rows(0, 40)}


def test_the_copies_are_made_on_the_executors_of_the_session(copies: Copies) -> None:
    assert copies.result["executors"] == copies.executors


def test_a_table_with_partitions_and_one_without_are_brought_home(copies: Copies) -> None:
    for source in copies.sources:
        assert copies.result[source]["first"] == {
            "orders": [60, ["ds=1", "ds=2", "ds=3"], [], [], False],
            "codes": [7, [], [], [], False],
        }


def test_a_second_copy_has_nothing_to_do(copies: Copies) -> None:
    for source in copies.sources:
        assert copies.result[source]["again"] == {
            "orders": [0, [], ["ds=1", "ds=2", "ds=3"], [], True],
            "codes": [0, [], [], [], True],
        }


def test_a_copy_after_changes_copies_only_them(copies: Copies) -> None:
    for source in copies.sources:
        assert copies.result[source]["changed"] == {
            "orders": [55, ["ds=1", "ds=4"], ["ds=3"], ["ds=2"], False],
            "codes": [9, [], [], [], False],
        }


def test_pyarrow_reads_the_rows_of_the_source(copies: Copies) -> None:
    for source in copies.sources:
        with metastored.connect(copies.server.uri, cache=False) as client:
            codes = directory(client.table(f"local.{source}_codes").sd)
            orders = {
                (each.values or [""])[0]: directory(each.sd) for each in client.partitions(f"local.{source}_orders")
            }
        assert read(pyarrow.dataset.dataset(codes, format="parquet").to_table()) == rows(0, 9)
        found = {ds: read(pyarrow.dataset.dataset(each, format="parquet").to_table()) for ds, each in orders.items()}
        assert found == AFTER_CHANGES


def test_pyiceberg_reads_copies_from_hive_3_1(copies: Copies) -> None:
    with metastored.connect(copies.server.uri, cache=False) as client:
        catalog = iceberg_catalog(client)
        codes = catalog.load_table("local.codes_iceberg").scan().to_arrow()
        orders = catalog.load_table("local.orders_iceberg")
    assert read(codes) == rows(0, 9)
    assert {ds: read(orders.scan(f"ds = '{ds}'").to_arrow()) for ds in AFTER_CHANGES} == AFTER_CHANGES
    assert orders.scan().to_arrow().num_rows == copies.result["hive_3_1"]["orders iceberg"][0] == 85


def test_deltalake_reads_copies_from_hive_3_1(copies: Copies) -> None:
    with metastored.connect(copies.server.uri, cache=False) as client:
        codes, orders = (directory(client.table(f"local.{name}_delta").sd) for name in ("codes", "orders"))
    assert read(DeltaTable(codes).to_pyarrow_table()) == rows(0, 9)
    table = DeltaTable(orders)
    assert table.metadata().partition_columns == ["ds"]
    found = {ds: read(table.to_pyarrow_table(filters=[("ds", "=", ds)])) for ds in AFTER_CHANGES}
    assert found == AFTER_CHANGES
    assert table.to_pyarrow_table().num_rows == copies.result["hive_3_1"]["orders delta"][0] == 85

"""Copies from Apache Hive 2.3.10 to Lance, Iceberg and ACID tables, and of a database: read back by other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import metastored
from metastored.errors import ConfigError
from metastored.lance import Hive2Namespace
from metastored.pipeline.stores import MetastoreRuns
from metastored.spark.copying.iceberg import iceberg_catalog
from metastored.testing import RunningServer, running_server
from tests.support.apache import ApacheMetastore
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.apache, pytest.mark.slow]

THERE = "copy_formats"

SCRIPT = """
import metastored
import metastored.spark
from metastored.spark import acid
from pyspark.sql import functions as F

far = metastored.connect("FAR", cache=False)
near = metastored.connect("NEAR", cache=False)
copy = metastored.spark.copy_table
result = found = {}

def shown(done):
    return [done.rows, done.unchanged]

def rows(count):
    return spark.range(count).select(
        "id", F.concat(F.lit("n"), "id").alias("name"), (F.col("id") / 4).cast("decimal(10,2)").alias("price"),
        F.timestamp_micros(1_600_000_000_000_000 + F.col("id") * 1_000_001).alias("at"),
        F.array("id").alias("ids"))

columns = {"id": "bigint", "name": "string", "price": "decimal(10,2)", "at": "timestamp", "ids": "array<bigint>"}
far.create_database("THERE")
far.create_table(metastored.table("THERE.orders", columns, partitioned_by={"ds": "string"}, external=True,
                                  location="file://FOLDER/orders"))
orders = far.table("THERE.orders")
def add(ds, count):
    rows(count).write.mode("append").parquet(f"FOLDER/orders/ds={ds}")
    where = f"file://FOLDER/orders/ds={ds}"
    far.add_partitions("THERE.orders", [metastored.partition(orders, [ds], location=where)], if_not_exists=True)
add("1", 10)
add("2", 20)

near.create_database("local")
metastored.spark.sql(spark, "CREATE REMOTE DATABASE away CONNECTED TO THERE "
                     "WITH DBPROPERTIES ('hive.metastore.uris' = 'FAR')", client=near)
found["parquet"] = shown(copy(spark, "away.orders", "local.orders"))
found["rows"] = spark.table("local.orders").count()
for format in ("lance", "iceberg"):
    target = f"local.orders_{format}"
    found[format] = [shown(copy(spark, "away.orders", target, format=format))]
    found[format].append(shown(copy(spark, "away.orders", target)))
add("3", 30)
for format in ("lance", "iceberg"):
    found[format].append(shown(copy(spark, "away.orders", f"local.orders_{format}")))
found["from lance"] = shown(copy(spark, "local.orders_lance", "local.back", format="parquet"))
found["back"] = spark.table("local.back").count()

transactional = {"transactional": "true"}
near.create_table(metastored.table("local.ledger", {"id": "bigint", "name": "string"}, format="orc",
                                   properties=transactional))
near.create_table(metastored.table("local.ledger_copy", {"id": "bigint", "name": "string"}, format="orc",
                                   properties=transactional))
acid.insert(spark, "local.ledger", rows(50).select("id", "name"))
acid.delete(spark, "local.ledger", "id % 10 = 0")
found["from acid"] = shown(copy(spark, "local.ledger", "local.ledger_orc"))
found["plain rows"] = spark.table("local.ledger_orc").count()
found["to acid"] = [shown(copy(spark, "local.ledger_orc", "local.ledger_copy"))]
found["to acid"].append(shown(copy(spark, "local.ledger_orc", "local.ledger_copy")))
found["acid rows"] = acid.read(spark, "local.ledger_copy").count()

near.create_database("shop")
spark.sql("CREATE TABLE shop.a USING parquet AS SELECT * FROM range(5)")
spark.sql("CREATE TABLE shop.b USING parquet AS SELECT id AS other FROM range(3)")
spark.sql("CREATE VIEW shop.z_base AS SELECT a.id FROM shop.a JOIN shop.b ON other = id")
spark.sql("CREATE VIEW shop.a_first AS SELECT id FROM shop.z_base WHERE id > 0")
done = metastored.spark.copy_database(spark, "shop", "mirror")
found["database"] = [done.rows, [str(each.target) for each in done.tables], list(done.views)]
again = metastored.spark.copy_database(spark, "shop", "mirror")
found["database again"] = [again.rows, list(again.views), str(again)]
spark.sql("DROP VIEW shop.a_first")
spark.sql("DROP VIEW shop.z_base")
found["view"] = [row[0] for row in spark.sql("SELECT id FROM mirror.a_first ORDER BY id").collect()]
"""


class Found(NamedTuple):
    values: dict[str, Any]
    server: RunningServer


@pytest.fixture(scope="module")
def found(hive_2_3: ApacheMetastore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    folder: Path = tmp_path_factory.mktemp("data")
    with running_server() as server:
        script = SCRIPT.replace("THERE", THERE).replace("FOLDER", str(folder))
        values = run_spark(
            script.replace("FAR", hive_2_3.uri).replace("NEAR", server.uri),
            conf={
                "spark.hadoop.hive.metastore.uris": server.uri,
                "spark.sql.warehouse.dir": server.warehouse,
            },
        )
        yield Found(values, server)


def test_runs_of_pipelines_are_not_recorded_in_hive(hive_2_3: ApacheMetastore) -> None:
    with metastored.connect(hive_2_3.uri, cache=False) as client, pytest.raises(ConfigError, match="give --state DIR"):
        MetastoreRuns(client).all()


def test_a_table_of_hive_2_3_is_brought_home(found: Found) -> None:
    assert found.values["parquet"] == [30, False]
    assert found.values["rows"] == 30


@pytest.mark.parametrize("format", ["lance", "iceberg"])
def test_a_copy_with_commits_is_replaced_only_after_a_change(found: Found, format: str) -> None:
    assert found.values[format] == [[30, False], [0, True], [60, False]]


def test_pylance_reads_the_copy(found: Found) -> None:
    import lance

    namespace = Hive2Namespace(uri=found.server.uri)
    try:
        dataset = lance.dataset(namespace_client=namespace, table_id=["local", "orders_lance"])
        table = dataset.to_table()
    finally:
        namespace.close()
    assert table.num_rows == 60
    assert sorted(table["ds"].to_pylist()) == ["1"] * 10 + ["2"] * 20 + ["3"] * 30


def test_pyiceberg_reads_the_copy_with_its_partitions(found: Found) -> None:
    with metastored.connect(found.server.uri, cache=False) as client:
        table = iceberg_catalog(client).load_table("local.orders_iceberg")
    rows = table.scan().to_arrow()
    assert rows.num_rows == 60
    assert [field.name for field in table.spec().fields] == ["ds"]
    only = table.scan("ds = '2'").to_arrow()
    assert sorted(only["id"].to_pylist()) == list(range(20))
    assert str(only.sort_by("id")["at"][1].as_py()) == "2020-09-13 12:26:41.000001+00:00"


def test_a_copy_of_lance_is_read_by_spark(found: Found) -> None:
    assert found.values["from lance"] == [60, False]
    assert found.values["back"] == 60


def test_an_acid_table_is_copied_at_a_snapshot(found: Found) -> None:
    assert found.values["from acid"] == [45, False]
    assert found.values["plain rows"] == 45


def test_an_acid_table_is_replaced_in_a_transaction(found: Found) -> None:
    assert found.values["to acid"] == [[45, False], [0, True]]
    assert found.values["acid rows"] == 45


def test_a_database_is_copied_with_its_views_in_order(found: Found) -> None:
    assert found.values["database"] == [8, ["mirror.a", "mirror.b"], ["z_base", "a_first"]]
    assert found.values["database again"] == [0, [], "0 of 2 tables copied"]


def test_views_of_the_copy_read_tables_of_the_copy(found: Found) -> None:
    assert found.values["view"] == [1, 2]

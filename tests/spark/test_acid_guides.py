"""The programs of docs/guide/acid.md, acid-sql.md and copies.md run in one Spark, as they are written."""

from __future__ import annotations

from typing import Any

import pytest

import metastored
from metastored.testing import running_server
from tests.documentation.blocks import programs
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = """
import os
import metastored
from metastored.spark import acid

def states(table):
    return sorted([row[0], row[1]] for row in acid.read(spark, table).collect())

result = {}
exec(FIRST)
result["first"] = states("shop.orders")
changes = spark.createDataFrame([(1, "cancelled"), (3, "paid")], "id bigint, state string")
exec(MERGE)
result["merge"] = states("shop.orders")
exec(TRANSACTION)
result["transaction"] = states("shop.archive")
spark.createDataFrame([(4, "new")], "id bigint, state string").write.json("incoming")
orders = spark.readStream.schema("id bigint, state string").json("incoming")
exec(STREAM)
(query,) = spark.streams.active
query.processAllAvailable()
query.stop()
result["stream"] = states("shop.orders")

spark.sql("create table customers (id bigint, name string) using parquet")
spark.sql("insert into customers values (4, 'ann')")
spark.sql("create table payments (id bigint) using parquet")
spark.sql("insert into payments values (4)")
exec(SQL)
result["sql"] = states("shop.orders")

spark.sql("create database sales")
exec(COPY)
result["copy"] = [done.rows, len(spark.table("sales.orders").collect())]
"""
OLD = """
spark.sql("create database sales")
spark.sql("create table sales.orders (id bigint, ds string) using parquet partitioned by (ds)")
spark.sql("insert into sales.orders values (1, '2023-12-31'), (2, '2024-01-01'), (3, '2024-01-02')")
"""


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    first, merge, transaction, stream = programs("docs/guide/acid.md", "python")
    (sql,) = programs("docs/guide/acid-sql.md", "python")
    (copy,) = programs("docs/guide/copies.md", "python")
    stream = stream.replace('"…"', "os.path.abspath('checkpoint')")
    blocks = {"FIRST": first, "MERGE": merge, "TRANSACTION": transaction, "STREAM": stream, "SQL": sql, "COPY": copy}
    with running_server() as old, running_server() as server, metastored.connect(server.uri) as client:
        run_spark(OLD, conf=metastored.spark.conf(old.uri))
        client.create_database("shop")
        for name in ("shop.orders", "shop.archive"):
            columns = {"id": "bigint", "state": "string"}
            client.create_table(metastored.table(name, columns, format="orc", properties={"transactional": "true"}))
        script = SCRIPT
        for word, block in blocks.items():
            text = block.replace("thrift://localhost:9083", server.uri).replace("thrift://old-cluster:9083", old.uri)
            script = script.replace(f"exec({word})", f"exec({text!r})")
        found: dict[str, Any] = run_spark(script, conf=metastored.spark.conf(server.uri))
    return found


def test_the_programs_of_the_guides_run(result: dict[str, Any]) -> None:
    assert result["first"] == [[1, "paid"]]
    assert result["merge"] == [[3, "paid"]]
    assert result["transaction"] == [[3, "paid"]]
    assert result["stream"] == [[3, "paid"], [4, "new"]]
    assert result["sql"] == [[3, "paid"], [4, "paid"]]


def test_a_copy_has_the_partitions_that_were_chosen(result: dict[str, Any]) -> None:
    assert result["copy"] == [2, 2]

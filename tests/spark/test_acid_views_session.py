"""A session of metastored on a server that shows ACID tables to Spark as views: Spark reads them by any way it has."""

from __future__ import annotations

from typing import Any

import pytest

import metastored
from metastored.testing import running_server
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = """
import metastored, metastored.spark
from metastored.spark.acid.sql.guard import guarded
from metastored.spark.session_metastore import session_client

spark.sparkContext.setLogLevel("OFF")
spark = guarded(spark, lambda: session_client(spark))

def rows(frame):
    return sorted(list(row) for row in frame.collect())

def sql(text, **more):
    return rows(metastored.spark.sql(spark, text, **more))

def outcome(work):
    try:
        return work()
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}"

sql("CREATE TABLE shop.orders (id INT, name STRING) STORED AS ORC TBLPROPERTIES ('transactional' = 'true')")
sql("INSERT INTO shop.orders VALUES (1, 'a'), (2, 'b'), (3, 'c')")
sql("DELETE FROM shop.orders WHERE id = 3")
sql("CREATE VIEW shop.some AS SELECT id FROM shop.orders")
spark.sql("DECLARE VARIABLE name STRING DEFAULT 'shop.orders'")
immediate = "EXECUTE IMMEDIATE 'SELECT id FROM shop.orders WHERE id < ?' USING 9"
reads = {{
    "sql": lambda: rows(spark.sql("SELECT id FROM shop.orders")),
    "table": lambda: rows(spark.table("shop.orders").select("id")),
    "read.table": lambda: rows(spark.read.table("shop.orders").select("id")),
    "with": lambda: rows(spark.sql("WITH o AS (SELECT * FROM shop.orders) SELECT id FROM o")),
    "a stored view": lambda: rows(spark.sql("SELECT id FROM shop.some")),
    "identifier": lambda: rows(spark.sql("SELECT id FROM IDENTIFIER('shop.' || 'orders')")),
    "an identifier that is a variable": lambda: rows(spark.sql("SELECT id FROM IDENTIFIER(name)")),
    "execute immediate": lambda: rows(spark.sql(immediate)),
    "execute immediate by metastored": lambda: sql(immediate),
    "a script": lambda: rows(spark.sql("BEGIN EXECUTE IMMEDIATE 'SELECT id FROM shop.orders'; END")),
    "cache": lambda: [spark.catalog.cacheTable("shop.orders"), rows(spark.table("shop.orders").select("id"))][1],
    "a temporary view": lambda: [
        spark.sql("CREATE TEMPORARY VIEW o AS SELECT id FROM shop.orders"), rows(spark.table("o"))
    ][1],
    "metastored": lambda: sql("SELECT id FROM shop.orders"),
}}
writes = {{
    "insert": lambda: spark.sql("INSERT INTO shop.orders VALUES (9, 'z')"),
    "overwrite": lambda: spark.sql("INSERT OVERWRITE shop.orders VALUES (9, 'z')"),
    "insertInto": lambda: spark.table("shop.orders").write.insertInto("shop.orders"),
    "saveAsTable": lambda: spark.range(1).write.mode("overwrite").saveAsTable("shop.orders"),
    "a hidden insert": lambda: spark.sql("EXECUTE IMMEDIATE 'INSERT INTO shop.orders VALUES (9, ?)' USING 'z'"),
    "a hidden name": lambda: spark.sql("INSERT INTO IDENTIFIER(name) VALUES (9, 'z')"),
    "truncate": lambda: spark.sql("TRUNCATE TABLE shop.orders"),
}}
result = {{"reads": {{name: outcome(work) for name, work in reads.items()}}}}
spark.catalog.clearCache()
result["copied"] = outcome(lambda: [
    spark.sql("CREATE TABLE shop.copied USING parquet AS SELECT * FROM shop.orders"),
    rows(spark.table("shop.copied").select("id")),
][1])
result["writes"] = {{name: outcome(lambda work=work: work().collect()) for name, work in writes.items()}}
result["after"] = sql("SELECT id FROM shop.orders")
result["altered"] = outcome(lambda: [
    sql("ALTER TABLE shop.orders SET TBLPROPERTIES ('seen' = 'yes')"), sql("SHOW TBLPROPERTIES shop.orders ('seen')")
][1])
result["dropped"] = outcome(lambda: [sql("DROP TABLE shop.orders"), spark.catalog.tableExists("shop.orders")][1])
"""


@pytest.fixture(scope="module")
def result() -> Any:
    with running_server(acid_views="on") as server, metastored.connect(server.uri) as client:
        client.create_database("shop")
        yield run_spark(PROGRAM.format(), conf={"spark.hadoop.hive.metastore.uris": server.uri})


def test_every_way_of_reading_shows_the_rows_of_the_newest_snapshot(result: Any) -> None:
    assert {name: rows for name, rows in result["reads"].items() if rows != [[1], [2]]} == {}


def test_rows_are_copied_into_another_table_by_spark(result: Any) -> None:
    assert result["copied"] == [[1], [2]]


def test_plain_writes_are_refused_and_change_nothing(result: Any) -> None:
    assert {name: said for name, said in result["writes"].items() if not isinstance(said, str)} == {}
    assert "metastored.spark.sql" in result["writes"]["insert"]
    assert result["after"] == [[1], [2]]


def test_definitions_are_changed_by_metastored_though_spark_sees_a_view(result: Any) -> None:
    assert result["altered"] == [["seen", "yes"]]
    assert result["dropped"] is False

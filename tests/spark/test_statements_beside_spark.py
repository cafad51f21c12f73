"""Tables and views that metastored's statements make, used by Spark; and SHOW CREATE TABLE, executed by Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import metastored
import metastored.spark
from tests.client.test_sql_shows import TABLES, definition
from tests.support.in_process import serving_metastore
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

HIVES = {"constraints", "a serde", "a handler", "odd names", "spark defaults", "buckets", "json"}
"""Spark has no such constraints, no buckets that are sorted downwards, and no such classes, as that of Hive's JSON."""
CASES = {case: f"c{number}" for number, case in enumerate(TABLES) if case not in HIVES}
MADE = """
CREATE DATABASE used;
USE used;
CREATE TABLE used.hive (id BIGINT, name STRING) PARTITIONED BY (ds STRING) STORED AS PARQUET;
CREATE TABLE used.source (Id BIGINT, Name STRING, ds DATE) USING parquet PARTITIONED BY (ds);
CREATE TABLE used.json (id BIGINT, name STRING) USING json;
CREATE VIEW used.simple (number, who) AS SELECT id, name FROM hive WHERE ds = '1';
CREATE VIEW used.counted (day STRING, number BIGINT) AS SELECT ds AS day, count(*) AS number FROM used.hive GROUP BY ds
"""
SCRIPT = """
import metastored.spark

result = {"made": {}, "errors": {}}
spark.sql("SET hive.exec.dynamic.partition.mode=nonstrict")
spark.sql("INSERT INTO used.hive VALUES (1, 'ann', '1'), (2, 'bob', '2')")
spark.sql("INSERT INTO used.source VALUES (1, 'ann', DATE'2024-01-01')")
spark.sql("INSERT INTO used.json VALUES (7, 'eve')")
for table in ("hive", "source", "json", "simple", "counted"):
    frame = spark.sql(f"SELECT * FROM used.{table}")
    result["made"][table] = [frame.columns, sorted([str(value) for value in row] for row in frame.collect())]
for name, statement in TEXTS.items():
    try:
        spark.sql(statement)
    except Exception as error:
        result["errors"][name] = str(error)[:300]
def rows(statement):
    return [list(row) for row in metastored.spark.sql(spark, statement).collect()]

rows("CREATE MATERIALIZED VIEW used.totals DISABLE REWRITE AS SELECT id, name FROM used.hive")
result["materialized"] = rows("SHOW MATERIALIZED VIEWS IN used")
rows("CREATE TABLE used.taken (id BIGINT, name STRING) PARTITIONED BY (ds STRING) STORED AS PARQUET")
rows("ALTER TABLE used.taken EXCHANGE PARTITION (ds = '2') WITH TABLE used.hive")
result["exchanged"] = [rows("SELECT name FROM used.taken"), rows("SELECT name FROM used.hive")]
result["granted"] = [
    list(row) for row in metastored.spark.sql(spark, "SHOW GRANT ON TABLE used.hive").select("principal_name").collect()
]
"""


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_metastore(tmp_path_factory.mktemp("beside")) as uri:
        yield uri


@pytest.fixture(scope="module")
def found(uri: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Spark did, and the tables before and after Spark made them again."""
    texts, before = {}, {}
    folder = tmp_path_factory.mktemp("locations")
    with metastored.connect(uri, user="ann", cache=False) as client:
        client.sql(MADE + "; GRANT SELECT ON used.hive TO USER bob; CREATE DATABASE again")
        for case, name in CASES.items():
            client.sql(f"CREATE TABLE again.{name} {definition(case, folder)}")
            before[case] = client.table(("again", name))
            texts[case] = client.sql(f"SHOW CREATE TABLE again.{name}").rows[0][0]
            client.sql(f"DROP TABLE again.{name}")
        script = SCRIPT.replace("TEXTS", repr(texts))
        result: dict[str, Any] = run_spark(script, conf=metastored.spark.conf(uri))
        tables = set(client.tables("again"))
        after = {case: client.table(("again", name)) for case, name in CASES.items() if name in tables}
    return {"result": result, "before": before, "after": after}


def test_spark_writes_and_reads_the_tables_that_statements_made(found: dict[str, Any]) -> None:
    made = found["result"]["made"]
    assert made["hive"] == [["id", "name", "ds"], [["1", "ann", "1"], ["2", "bob", "2"]]]
    assert made["source"] == [["Id", "Name", "ds"], [["1", "ann", "2024-01-01"]]]
    assert made["json"] == [["id", "name"], [["7", "eve"]]]


def test_spark_reads_the_views_that_statements_made(found: dict[str, Any]) -> None:
    made = found["result"]["made"]
    assert made["simple"] == [["number", "who"], [["1", "ann"]]]
    assert made["counted"] == [["day", "number"], [["1", "1"], ["2", "1"]]]


def test_spark_makes_the_same_tables_by_the_printed_statements(found: dict[str, Any]) -> None:
    assert found["result"]["errors"] == {}
    for case, before in found["before"].items():
        after = found["after"][case]
        for name in ("cols", "inputFormat", "outputFormat", "location", "numBuckets", "bucketCols"):
            assert getattr(after.sd, name) == getattr(before.sd, name), (case, name)
        assert after.sd.serdeInfo == before.sd.serdeInfo, case
        assert after.partitionKeys == before.partitionKeys, case
        assert after.parameters.get("comment") == before.parameters.get("comment"), case


def test_what_spark_does_not_execute_goes_to_the_metastore(found: dict[str, Any]) -> None:
    assert found["result"]["materialized"] == [["totals", "No", "Manual refresh"]]
    assert found["result"]["exchanged"] == [[["bob"]], [["ann"]]]


def test_statements_about_rights_are_executed_from_spark(found: dict[str, Any]) -> None:
    assert found["result"]["granted"] == [["bob"]]

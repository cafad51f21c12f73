"""Spark 3.5 with Iceberg's runtime 1.10.2, unmodified, over REST and over Thrift at once, on one metastored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from metastored.testing import RunningServer
from tests.iceberg.rest_server import ROWS, iceberg_server, rest_catalog
from tests.support.spark import SPARK_3_5, iceberg_over_thrift, run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

WRITERS, INSERTS = 8, 3

SCRIPT = """
import threading, traceback

def rows(statement):
    return [[None if value is None else str(value) for value in row] for row in spark.sql(statement).collect()]

result = {"over thrift": rows("select * from ice.shop.items order by id")}
retries = "'commit.retry.num-retries' = '100', 'commit.retry.min-wait-ms' = '20', 'commit.retry.max-wait-ms' = '500'"
rows(f"create table rest.shop.busy (id bigint, name string) using iceberg tblproperties ({retries})")
failures = []

def write(number):
    catalog = "rest" if number % 2 else "ice"
    try:
        for turn in range(inserts):
            rows(f"insert into {catalog}.shop.busy values ({number * 1000 + turn}, '{catalog}')")
    except Exception:
        failures.append(traceback.format_exc())

threads = [threading.Thread(target=write, args=[number]) for number in range(writers)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
result["failures"] = failures
result["ids"] = [row[0] for row in rows("select id from rest.shop.busy order by id")]
rows("alter table rest.shop.items add columns (price double)")
rows("alter table ice.shop.items rename column name to label")
rows("update rest.shop.items set price = 2.5 where id = 2")
result["evolved"] = rows("select id, label, price from ice.shop.items order by id")
rows("create view rest.shop.cheap as select id from rest.shop.items where price < 3")
result["view"] = rows("select * from rest.shop.cheap")
result["views"] = [row[1] for row in rows("show views in rest.shop")]
rows("drop view rest.shop.cheap")
rows("alter table rest.shop.items rename to shop.goods")
rows("drop table rest.shop.goods purge")
result["left"] = sorted(row[1] for row in rows("show tables in ice.shop"))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with iceberg_server(tmp_path_factory.mktemp("spark"), workers=2) as running:
        yield running


@pytest.fixture(scope="module")
def result(server: RunningServer) -> dict[str, Any]:
    catalog = rest_catalog(server)
    catalog.create_namespace("shop")
    catalog.create_table("shop.items", ROWS.schema).append(ROWS)
    conf = {
        **iceberg_over_thrift(server, WRITERS),
        "spark.master": "local[4]",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.rest": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.rest.type": "rest",
        "spark.sql.catalog.rest.uri": f"http://127.0.0.1:{server.http_port}/iceberg",
        "spark.sql.catalog.rest.cache-enabled": "false",
    }
    script = f"writers, inserts = {WRITERS}, {INSERTS}\n{SCRIPT}"
    found: dict[str, Any] = run_spark(script, conf=conf, python=str(SPARK_3_5 / "bin/python"))
    return found


def test_what_pyiceberg_wrote_over_rest_is_read_over_thrift(result: dict[str, Any]) -> None:
    assert result["over thrift"] == [["1", "a"], ["2", "b"], ["3", "c"]]


def test_eight_writers_over_both_protocols_lose_no_commit(result: dict[str, Any], server: RunningServer) -> None:
    assert result["failures"] == []
    expected = sorted(number * 1000 + turn for number in range(WRITERS) for turn in range(INSERTS))
    assert [int(id) for id in result["ids"]] == expected
    table = rest_catalog(server).load_table("shop.busy")
    assert len(table.metadata.snapshots) == WRITERS * INSERTS


def test_a_table_evolves_over_both_protocols(result: dict[str, Any]) -> None:
    assert result["evolved"] == [["1", "a", None], ["2", "b", "2.5"], ["3", "c", None]]


def test_a_view_is_made_and_read_over_rest(result: dict[str, Any]) -> None:
    assert result["view"] == [["2"]] and result["views"] == ["cheap"]


def test_a_table_that_was_dropped_over_rest_is_gone_over_thrift(result: dict[str, Any]) -> None:
    assert result["left"] == ["busy"]

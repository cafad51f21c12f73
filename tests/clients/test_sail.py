"""Sail 0.7, a Spark without Java, unmodified: it creates, fills and reads parquet, Delta and Iceberg tables on
metastored.

One Sail does the work and a second one sees it; PySpark connects to both by Spark Connect. pyiceberg reads the Iceberg
table that Sail wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyiceberg.catalog.hive import HiveCatalog

from metastored.testing import RunningServer
from tests.support.foreign import run_foreign
from tests.support.forks import running_server

pytestmark = pytest.mark.witness

# The results of the first Sail, of pyiceberg, and of the second Sail.
Runs = tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]

FORMATS = ("parquet", "delta", "iceberg")

START = """
import os
os.environ["SAIL_CATALOG__LIST"] = '[{type="hms", name="hive", uris=["%s:%d"]}]' % (host, port)
os.environ["SAIL_CATALOG__DEFAULT_CATALOG"] = "hive"
from pysail.spark import SparkConnectServer
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

sail = SparkConnectServer()
sail.start(background=True)
spark = SparkSession.builder.remote("sc://%s:%d" % sail.listening_address).getOrCreate()

def rows(statement):
    return [[None if value is None else str(value) for value in row] for row in spark.sql(statement).collect()]

def insert(table, values):
    # Not as a statement: Sail returns a count of rows in a type that PySpark cannot read.
    spark.sql(f"values {values}").write.insertInto(table)

def refused(statement):
    try:
        rows(statement)
    except AnalysisException as error:
        return str(error)

result = {}
"""

WORK = (
    START
    + """
rows("create database lab comment 'experiments'")
result["databases"] = {row[0]: row[2] for row in rows("show databases")}
for format in ("parquet", "delta", "iceberg"):
    # Delta in Sail takes Hive's "file:/…" for a folder in the current one, and understands "file:///…".
    rows(f"create table lab.t_{format} (id int, name string) using {format} location '{warehouse}/t_{format}'")
    insert(f"lab.t_{format}", "(1, 'a'), (2, 'b')")
    insert(f"lab.t_{format}", "(3, 'c')")
    result[format] = rows(f"select * from lab.t_{format} order by id")
rows("create table lab.days (v int, day string) using parquet partitioned by (day)")
insert("lab.days", "(1, '2024-01-01'), (2, '2024-01-02')")
result["pruned"] = rows("select v from lab.days where day > '2024-01-01'")
rows("create view lab.v as select upper(name) as label from lab.t_parquet where id > 1")
result["view"] = sorted(rows("select * from lab.v"))
rows("alter table lab.t_delta set tblproperties ('team' = 'blue')")
result["twice"] = refused("create table lab.t_delta (id int) using delta")
"""
)

SECOND = (
    START
    + """
result["tables"] = sorted(row[1] for row in rows("show tables in lab"))
for format in ("parquet", "delta", "iceberg"):
    result[format] = rows(f"select * from lab.t_{format} order by id")
    described = {row[0]: row[1] for row in rows(f"describe table extended lab.t_{format}")}
    result[f"{format} is"] = [described["Provider"], "team=blue" in described["Table Properties"]]
result["view"] = sorted(rows("select * from lab.v"))
rows("drop view lab.v")
rows("drop table lab.t_parquet")
result["missing"] = refused("drop table lab.t_parquet")
result["left"] = sorted(row[1] for row in rows("show tables in lab"))
rows("drop database lab cascade")
result["databases"] = [row[0] for row in rows("show databases")]
"""
)

ROWS = [["1", "a"], ["2", "b"], ["3", "c"]]


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def runs(server: RunningServer) -> Runs:
    place = {"host": server.host, "port": server.port, "warehouse": server.warehouse.replace("file:", "file://")}
    first = run_foreign(WORK, **place)
    table = HiveCatalog("hive", uri=server.uri).load_table("lab.t_iceberg")
    read = table.scan().to_arrow().sort_by("id").to_pylist()
    return first, read, run_foreign(SECOND, **place)


@pytest.fixture(scope="module")
def first(runs: Runs) -> dict[str, Any]:
    return runs[0]


@pytest.fixture(scope="module")
def second(runs: Runs) -> dict[str, Any]:
    return runs[2]


def test_a_database_is_listed_with_its_comment(first: dict[str, Any]) -> None:
    assert first["databases"] == {"default": "Default Hive database", "lab": "experiments"}


@pytest.mark.parametrize("format", FORMATS)
def test_a_table_of_each_format_is_filled_and_read(first: dict[str, Any], format: str) -> None:
    assert first[format] == ROWS


def test_a_partitioned_table_is_pruned(first: dict[str, Any]) -> None:
    assert first["pruned"] == [["2"]]


def test_a_view_reads_through_its_table(first: dict[str, Any]) -> None:
    assert first["view"] == [["B"], ["C"]]


def test_a_table_is_created_once(first: dict[str, Any]) -> None:
    assert "already exists" in first["twice"]


def test_pyiceberg_reads_the_iceberg_table_of_sail(runs: Runs) -> None:
    assert runs[1] == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "c"}]


@pytest.mark.parametrize("format", FORMATS)
def test_another_sail_reads_the_tables(second: dict[str, Any], format: str) -> None:
    assert second[format] == ROWS
    assert second[f"{format} is"] == [format, format == "delta"]


def test_another_sail_sees_all_of_it(second: dict[str, Any]) -> None:
    assert second["tables"] == ["days", "t_delta", "t_iceberg", "t_parquet", "v"]
    assert second["view"] == [["B"], ["C"]]


def test_dropped_objects_are_gone(second: dict[str, Any]) -> None:
    assert second["left"] == ["days", "t_delta", "t_iceberg"]
    assert "not found" in second["missing"]
    assert second["databases"] == ["default"]

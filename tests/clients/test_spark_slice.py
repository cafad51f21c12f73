"""PySpark, unmodified, on metastored: its built-in Hive client creates, fills, reads, changes and drops tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from metastored.testing import RunningServer
from tests.support.forks import running_server
from tests.support.postgres import shared_postgres
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = """
def rows(statement):
    return [[None if value is None else str(value) for value in row] for row in spark.sql(statement).collect()]

result = {}
rows("create database shop comment 'a shop' with dbproperties ('k' = 'v')")
rows("use shop")
for format in ("using parquet", "stored as textfile"):
    name = "sales_" + format.split()[-1]
    columns = "(id int, item string, day string) " if format.startswith("using") else "(id int, item string) "
    keys = "(day)" if format.startswith("using") else "(day string)"
    rows(f"create table {name} {columns} {format} partitioned by {keys}")
    rows(f"insert into {name} partition (day = '2024-01-01') values (1, 'apple'), (2, 'pear')")
    rows(f"insert into {name} partition (day) values (3, 'plum', '2024-01-02'), (4, 'fig', '2024-01-03')")
    found = result[name] = {}
    found["partitions"] = rows(f"show partitions {name}")
    found["filtered"] = rows(f"select id, item from {name} where day >= '2024-01-02' order by id")
    rows(f"alter table {name} add columns (price double)")
    rows(f"alter table {name} set tblproperties ('owner.team' = 'fruit')")
    found["property"] = rows(f"show tblproperties {name} ('owner.team')")
    found["columns"] = [row[0] for row in rows(f"describe {name}") if row[0] and not row[0].startswith("#")]
    rows(f"alter table {name} rename to {name}_old")
    found["after rename"] = rows(f"select count(*) from {name}_old")
    rows(f"alter table {name}_old drop partition (day = '2024-01-01')")
    found["after drop partition"] = rows(f"select id from {name}_old order by id")
rows("create view fruit as select item from sales_parquet_old")
result["view"] = rows("select * from fruit order by item")
result["tables"] = sorted(row[1] for row in rows("show tables"))
rows("drop view fruit")
rows("drop table sales_textfile_old")
result["left"] = sorted(row[1] for row in rows("show tables"))
rows("drop database shop cascade")
result["databases"] = rows("show databases")
"""


@pytest.fixture(
    scope="module", params=["sqlite with two workers", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    if request.param == "postgresql":
        with shared_postgres().database() as url:
            with running_server(database_url=url) as running:
                yield running
    else:
        with running_server(workers=2) as running:
            yield running


@pytest.fixture(scope="module")
def result(server: RunningServer) -> dict[str, Any]:
    conf = {
        "spark.hadoop.hive.metastore.uris": server.uri,
        "spark.sql.warehouse.dir": server.warehouse,
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
    }
    result: dict[str, Any] = run_spark(SCRIPT, conf=conf)
    return result


TABLES = ("sales_parquet", "sales_textfile")


@pytest.mark.parametrize("table", TABLES)
def test_static_and_dynamic_partitions_are_listed(result: dict[str, Any], table: str) -> None:
    assert result[table]["partitions"] == [["day=2024-01-01"], ["day=2024-01-02"], ["day=2024-01-03"]]


@pytest.mark.parametrize("table", TABLES)
def test_a_partition_filter_finds_its_rows(result: dict[str, Any], table: str) -> None:
    assert result[table]["filtered"] == [["3", "plum"], ["4", "fig"]]


@pytest.mark.parametrize("table", TABLES)
def test_an_altered_table_has_its_new_column_and_property(result: dict[str, Any], table: str) -> None:
    assert "price" in result[table]["columns"]
    assert result[table]["property"] == [["owner.team", "fruit"]]


@pytest.mark.parametrize("table", TABLES)
def test_a_renamed_table_keeps_its_rows(result: dict[str, Any], table: str) -> None:
    assert result[table]["after rename"] == [["4"]]


@pytest.mark.parametrize("table", TABLES)
def test_a_dropped_partition_takes_its_rows_along(result: dict[str, Any], table: str) -> None:
    assert result[table]["after drop partition"] == [["3"], ["4"]]


def test_a_view_reads_through_its_table(result: dict[str, Any]) -> None:
    assert result["view"] == [["fig"], ["plum"]]
    assert result["tables"] == ["fruit", "sales_parquet_old", "sales_textfile_old"]


def test_dropped_objects_are_gone(result: dict[str, Any]) -> None:
    assert result["left"] == ["sales_parquet_old"]
    assert result["databases"] == [["default"]]

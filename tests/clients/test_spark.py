"""Everything Spark does with a metastore in a working week, by the built-in Hive clients of Spark 4.3 and 3.5.

One session does the work, a second one sees all of it. Both are unmodified: they only get the address.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metastored.testing import RunningServer
from tests.support.forks import running_server
from tests.support.spark import SPARK_3_5, run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]

ROWS = """
def rows(statement):
    return [[None if value is None else str(value) for value in row] for row in spark.sql(statement).collect()]

def described(table):
    return {row[0]: row[1] for row in rows(f"describe extended {table}") if row[0]}

result = {}
"""

WORK = (
    ROWS
    + """
rows("create database lab comment 'experiments' with dbproperties ('team' = 'blue')")
result["database"] = dict(rows("describe database extended lab"))
rows("alter database lab set dbproperties ('team' = 'green')")
rows("use lab")

for format in ("parquet", "orc", "csv", "json"):
    rows(f"create table t_{format} (id int, name string) using {format}")
    rows(f"insert into t_{format} values (1, 'a'), (2, 'b')")
    rows(f"insert overwrite t_{format} values (12, 'b')")
    result[format] = rows(f"select * from t_{format}")

rows("create table serde (id int, name string) row format delimited fields terminated by ',' stored as textfile")
rows("insert into serde values (7, 'seven')")
result["serde"] = rows("select * from serde")
rows("create table bucketed (id int, name string) using parquet clustered by (id) sorted by (name) into 4 buckets")
result["bucketed"] = described("bucketed")["Num Buckets"]
rows("create table ctas using parquet as select id, name from t_parquet")
result["ctas"] = rows("select * from ctas")

rows("create table days (v int, day date, hour int) using parquet partitioned by (day, hour)")
rows("insert into days values (1, date'2024-01-01', 1), (2, date'2024-01-01', 2), (3, date'2024-01-02', 1)")
rows("alter table days add partition (day = date'2024-01-03', hour = 5)")
old, new = "(day = date'2024-01-03', hour = 5)", "(day = date'2024-01-04', hour = 6)"
rows(f"alter table days partition {old} rename to partition {new}")
result["partitions"] = [row[0] for row in rows("show partitions days")]
result["pruned"] = rows("select v from days where day = date'2024-01-01' and hour > 1")
result["partition of two"] = rows("select count(*) from days where hour in (1, 2)")
rows("insert overwrite days partition (day = date'2024-01-02', hour = 1) values (30)")
result["overwritten"] = rows("select v from days where day = date'2024-01-02'")
rows("alter table days drop partition (day = date'2024-01-04', hour = 6)")

rows("alter table serde add columns (more double)")
rows("alter table serde change column name name string comment 'what it is called'")
rows("alter table serde set tblproperties ('k' = 'v', 'gone' = 'x')")
rows("alter table serde unset tblproperties ('gone')")
result["properties"] = {row[0]: row[1] for row in rows("show tblproperties serde") if row[0] in ("k", "gone")}
result["comment"] = [row for row in rows("describe serde") if row[0] == "name"]
rows("alter table ctas rename to ctas2")
result["renamed"] = rows("select * from ctas2")

location = described("days")["Location"]
import os, shutil, urllib.parse
folder = urllib.parse.urlparse(location).path
shutil.copytree(f"{folder}/day=2024-01-01/hour=1", f"{folder}/day=2024-02-01/hour=9")
rows("msck repair table days")
result["repaired"] = [row[0] for row in rows("show partitions days")]

rows("analyze table t_parquet compute statistics")
rows("analyze table t_parquet compute statistics for columns id, name")
rows("analyze table days partition (day, hour) compute statistics")
result["statistics"] = described("t_parquet")["Statistics"]
result["column statistics"] = dict(rows("describe extended t_parquet id"))
partition = rows("describe extended days partition (day = date'2024-01-01', hour = 1)")
result["partition statistics"] = [row[1] for row in partition if row[0] == "Partition Statistics"]

rows("create view lab.v (identity, label) comment 'a view' as select id, name from t_parquet")
rows("alter view v as select id as identity, upper(name) as label from t_parquet")
result["view"] = rows("select * from v")
result["create view"] = "upper" in rows("show create table v")[0][0].lower()
rows("create function lab.half as 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFAbs'")
result["function"] = rows("select lab.half(-3)")
result["functions"] = rows("show user functions like 'half'")
rows("truncate table t_csv")
result["truncated"] = rows("select count(*) from t_csv")
result["tables"] = sorted(row[1] for row in rows("show tables"))
result["like"] = sorted(row[1] for row in rows("show tables like 't_*'"))
rows("drop table t_json")
rows("drop table if exists t_json")
"""
)

SECOND = (
    ROWS
    + """
rows("use lab")
result["tables"] = sorted(row[1] for row in rows("show tables"))
result["database"] = dict(rows("describe database extended lab"))
result["parquet"] = rows("select * from t_parquet")
result["days"] = rows("select count(*), max(v) from days")
result["view"] = rows("select * from v")
result["extended"] = {k: v for k, v in described("bucketed").items() if k in ("Num Buckets", "Bucket Columns")}
result["function"] = rows("select half(-4)")
rows("drop view v")
rows("drop function half")
rows("drop database lab cascade")
result["databases"] = rows("show databases")
"""
)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(workers=2) as running:
        yield running


@pytest.fixture(scope="module", params=["4.3", "3.5"])
def runs(request: pytest.FixtureRequest, server: RunningServer) -> tuple[dict[str, Any], dict[str, Any]]:
    """The results of the first session, and of the second."""
    python = sys.executable if request.param == "4.3" else str(SPARK_3_5 / "bin/python")
    conf = {
        "spark.hadoop.hive.metastore.uris": server.uri,
        "spark.sql.warehouse.dir": server.warehouse,
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
    }
    return run_spark(WORK, conf=conf, python=python), run_spark(SECOND, conf=conf, python=python)


@pytest.fixture(scope="module")
def first(runs: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    return runs[0]


@pytest.fixture(scope="module")
def second(runs: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    return runs[1]


def test_a_database_is_described(first: dict[str, Any]) -> None:
    assert first["database"]["Comment"] == "experiments"
    assert "team" in first["database"]["Properties"]


@pytest.mark.parametrize("format", ["parquet", "orc", "csv", "json"])
def test_a_table_of_each_format_is_filled_and_overwritten(first: dict[str, Any], format: str) -> None:
    assert first[format] == [["12", "b"]]


def test_a_hive_serde_table_is_read(first: dict[str, Any]) -> None:
    assert first["serde"] == [["7", "seven"]]


def test_a_bucketed_table_keeps_its_buckets(first: dict[str, Any]) -> None:
    assert first["bucketed"] == "4"


def test_create_table_as_select(first: dict[str, Any]) -> None:
    assert first["ctas"] == first["renamed"] == [["12", "b"]]


def test_partitions_are_added_renamed_pruned_overwritten_and_dropped(first: dict[str, Any]) -> None:
    assert first["partitions"] == [
        "day=2024-01-01/hour=1",
        "day=2024-01-01/hour=2",
        "day=2024-01-02/hour=1",
        "day=2024-01-04/hour=6",
    ]
    assert first["pruned"] == [["2"]]
    assert first["partition of two"] == [["3"]]
    assert first["overwritten"] == [["30"]]


def test_properties_and_comments_are_changed(first: dict[str, Any]) -> None:
    assert first["properties"] == {"k": "v"}
    assert first["comment"] == [["name", "string", "what it is called"]]


def test_repair_finds_directories_without_partitions(first: dict[str, Any]) -> None:
    assert first["repaired"] == [
        "day=2024-01-01/hour=1",
        "day=2024-01-01/hour=2",
        "day=2024-01-02/hour=1",
        "day=2024-02-01/hour=9",
    ]


def test_statistics_are_kept(first: dict[str, Any]) -> None:
    assert "1 rows" in first["statistics"]
    assert first["column statistics"]["distinct_count"] == "1"
    assert "1 rows" in first["partition statistics"][0]


def test_a_view_is_replaced_and_shown(first: dict[str, Any]) -> None:
    assert first["view"] == [["12", "B"]]
    assert first["create view"] is True


def test_a_function_is_called(first: dict[str, Any]) -> None:
    assert float(first["function"][0][0]) == 3
    assert len(first["functions"]) == 1


def test_a_truncated_table_is_empty(first: dict[str, Any]) -> None:
    assert first["truncated"] == [["0"]]


def test_tables_are_listed_by_pattern(first: dict[str, Any]) -> None:
    assert first["like"] == ["t_csv", "t_json", "t_orc", "t_parquet"]


def test_a_second_session_sees_it_all(second: dict[str, Any]) -> None:
    assert second["tables"] == ["bucketed", "ctas2", "days", "serde", "t_csv", "t_orc", "t_parquet", "v"]
    assert "green" in second["database"]["Properties"]
    assert second["parquet"] == [["12", "b"]]
    assert second["days"] == [["4", "30"]]
    assert second["view"] == [["12", "B"]]
    assert second["extended"] == {"Num Buckets": "4", "Bucket Columns": "[`id`]"}
    assert float(second["function"][0][0]) == 4


def test_a_dropped_database_is_gone(second: dict[str, Any]) -> None:
    assert second["databases"] == [["default"]]

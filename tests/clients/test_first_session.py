"""Spark's first statements on a new server, in a warehouse that is given as a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.forks import running_server
from tests.support.spark import run_spark

SCRIPT = """
def rows(statement):
    return [[str(value) for value in row] for row in spark.sql(statement).collect()]

rows("create table fruit (name string, day string) using parquet partitioned by (day)")
rows("create table nut (name string) stored as textfile partitioned by (day string)")
for table in ("fruit", "nut"):
    rows(f"insert into {table} values ('apple', '2024-09-01'), ('pear', '2024-09-02')")
    rows(f"alter table {table} rename to {table}_2")
    rows(f"insert into {table}_2 partition (day = '2024-09-03') values ('plum')")
rows("create database orchard")
rows("create table orchard.tree (name string) using parquet")
rows("insert into orchard.tree values ('elm')")
result = {
    "fruit": rows("select name, day from fruit_2 order by day"),
    "nut": rows("select name, day from nut_2 order by day"),
    "tree": rows("select * from orchard.tree"),
    "places": [row[1] for name in ("default", "orchard") for row in rows(f"describe database {name}")
               if row[0] == "Location"],
}
"""


@pytest.mark.spark
@pytest.mark.slow
def test_rows_survive_partitions_and_renames_in_a_warehouse_that_is_given_as_a_path(tmp_path: Path) -> None:
    folder = tmp_path / "my data" / "wärehouse"
    with running_server(warehouse=folder) as server:
        conf = {
            "spark.hadoop.hive.metastore.uris": server.uri,
            "spark.sql.warehouse.dir": server.warehouse,
            "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
        }
        result: dict[str, Any] = run_spark(SCRIPT, conf=conf)
    expected = [["apple", "2024-09-01"], ["pear", "2024-09-02"], ["plum", "2024-09-03"]]
    assert (result["fruit"], result["nut"], result["tree"]) == (expected, expected, [["elm"]])
    assert [path.replace("%20", " ").replace("%C3%A4", "ä") for path in result["places"]] == [
        f"file:{folder}",
        f"file:{folder}/orchard.db",
    ]
    assert sorted(path.name for path in folder.iterdir()) == ["fruit_2", "nut_2", "orchard.db"]

"""Iceberg's HiveCatalog for Java, 1.10.2 in PySpark 3.5, unmodified, on metastored: with Hive's locks and without.

Without locks (`engine.hive.lock-enabled` is false) a commit is one conditional alter: the table is changed only if
its metadata is still where the writer saw it. In both ways writers contend for one table, and pyiceberg then reads
what they left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyiceberg.catalog.hive import HiveCatalog

from metastored.testing import RunningServer
from tests.support.forks import running_server
from tests.support.spark import SPARK_3_5, iceberg_over_thrift, run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

WRITERS = 4
INSERTS = 3
# The name of a table, and whether it is committed to under locks.
TABLES = {"locked": "true", "conditional": "false"}

SCRIPT = """
import re, threading, traceback, urllib.request

def rows(statement):
    return [[None if value is None else str(value) for value in row] for row in spark.sql(statement).collect()]

def calls():
    with urllib.request.urlopen(metrics) as answer:
        text = answer.read().decode()
    return {name: float(count) for name, count in re.findall(r'metastored_calls_total{method="(\\w+)"} (\\S+)', text)}

def grown(before, name):
    return int(calls().get(name, 0) - before.get(name, 0))

def contend(table):
    def write(number):
        try:
            for turn in range(inserts):
                rows(f"insert into {table} values ({number * 1000 + turn}, 'writer {number}')")
        except Exception:
            failures.append(traceback.format_exc())
    failures = []
    threads = [threading.Thread(target=write, args=[number]) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures

result = {}
rows("create namespace ice.lab")
for name, locked in tables.items():
    found = result[name] = {}
    properties = f"'engine.hive.lock-enabled' = '{locked}', 'commit.retry.num-retries' = '100'"
    properties += ", 'commit.retry.min-wait-ms' = '20', 'commit.retry.max-wait-ms' = '500'"
    rows(f"create table ice.lab.{name} (id bigint, name string) using iceberg tblproperties ({properties})")
    before = calls()
    rows(f"insert into ice.lab.{name} values (-1, 'a'), (-2, 'b')")
    found["locks"] = grown(before, "lock")
    found["alters"] = grown(before, "alter_table_with_environment_context")
    rows(f"alter table ice.lab.{name} add columns (price double)")
    rows(f"alter table ice.lab.{name} rename column name to label")
    rows(f"insert into ice.lab.{name} values (-3, 'c', 1.5)")
    found["evolved"] = rows(f"select * from ice.lab.{name} order by id")
    rows(f"alter table ice.lab.{name} drop column price")
    rows(f"delete from ice.lab.{name} where id < 0")
    found["snapshots"] = rows(f"select count(*) from ice.lab.{name}.snapshots")
    found["failures"] = contend(f"ice.lab.{name}")

rows("create table ice.lab.old (id int) using iceberg")
rows("insert into ice.lab.old values (1)")
rows("alter table ice.lab.old rename to ice.lab.new")
result["renamed"] = rows("select * from ice.lab.new")
result["tables"] = sorted(row[1] for row in rows("show tables in ice.lab"))
rows("drop table ice.lab.new")
result["left"] = sorted(row[1] for row in rows("show tables in ice.lab"))
"""


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(workers=2, http_port=0, http_tls="off") as running:
        yield running


@pytest.fixture(scope="module")
def result(server: RunningServer) -> dict[str, Any]:
    conf = {
        **iceberg_over_thrift(server, WRITERS),
        "spark.master": "local[2]",
    }
    given = {
        "metrics": f"http://{server.host}:{server.http_port}/metrics",
        "tables": TABLES,
        "writers": WRITERS,
        "inserts": INSERTS,
    }
    script = "".join(f"{name} = {value!r}\n" for name, value in given.items()) + SCRIPT
    result: dict[str, Any] = run_spark(script, conf=conf, python=str(SPARK_3_5 / "bin/python"))
    return result


@pytest.mark.parametrize("table", TABLES)
def test_a_commit_is_made_under_a_lock_or_by_a_conditional_alter_alone(result: dict[str, Any], table: str) -> None:
    assert result[table]["alters"] == 1
    assert result[table]["locks"] == (1 if table == "locked" else 0)


@pytest.mark.parametrize("table", TABLES)
def test_a_schema_evolves_and_old_rows_are_read(result: dict[str, Any], table: str) -> None:
    assert result[table]["evolved"] == [["-3", "c", "1.5"], ["-2", "b", None], ["-1", "a", None]]


@pytest.mark.parametrize("table", TABLES)
def test_writers_lose_no_commit(result: dict[str, Any], server: RunningServer, table: str) -> None:
    assert result[table]["failures"] == []
    found = HiveCatalog("hive", uri=server.uri).load_table(f"lab.{table}")
    before = int(result[table]["snapshots"][0][0])
    assert len(found.snapshots()) == before + WRITERS * INSERTS
    ids = sorted(found.scan().to_arrow()["id"].to_pylist())
    assert ids == sorted(number * 1000 + turn for number in range(WRITERS) for turn in range(INSERTS))


def test_a_table_is_renamed_listed_and_dropped(result: dict[str, Any]) -> None:
    assert result["renamed"] == [["1"]]
    assert result["tables"] == ["conditional", "locked", "new"]
    assert result["left"] == ["conditional", "locked"]

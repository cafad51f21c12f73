"""ACID tables on a standalone Spark cluster with two workers: the main operations, and `kill -9` of an executor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import metastored
from metastored.testing import running_server
from tests.support.spark import run_spark
from tests.support.spark_cluster import running_cluster

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

ROWS = [300_000, pytest.param(1_000_000, marks=pytest.mark.soak)]
"""Enough that an executor is killed in a write of six tasks. `make soak` has a write of seconds."""

SCRIPT = """
import json, os, signal, threading, time
from pathlib import Path
import metastored
from metastored.hive.locations import local_path
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import table_name
from metastored.spark import acid
from metastored.spark.acid.compaction.queue import request
from metastored.spark.acid.compaction.worker import work

task = json.loads(TASK)
client = metastored.connect(task["uri"], cache=False)
result = {}

def rows(table):
    with acid.snapshot(spark, client) as snapshot:
        return sorted(list(row) for row in snapshot.read(table).collect())

acid.insert(spark, "shop.t", spark.range(0, 6, 1, 3).selectExpr("id", "id * 10 as x"), client=client)
result["inserted"] = rows("shop.t")
result["executors"] = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
acid.update(spark, "shop.t", {"x": "x + 1"}, "id = 1", client=client)
acid.delete(spark, "shop.t", "id in (0, 2)", client=client)
result["changed"] = rows("shop.t")
changes = spark.createDataFrame([(3, 0), (9, 90)], "id bigint, x bigint")
acid.merge(spark, "shop.t", changes, "target.id = source.id", matched="delete", not_matched="*", client=client)
result["merged"] = rows("shop.t")
request(client, table_name("shop.t"), None, CompactionKind.MAJOR, "test")
result["compaction"] = work(spark, client, "test-1").outcome
result["compacted"] = rows("shop.t")

# An executor is killed while it writes.
location = Path(local_path(client.table("shop.big").sd.location))

def executor():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\\0")
        except OSError:
            continue
        if spark.sparkContext.applicationId.encode() in words and any(b"ExecutorBackend" in each for each in words):
            yield int(path.parent.name)

def kill():
    while not any(location.rglob("_tmp_acid_*/**/_temporary/**/part-*")):
        time.sleep(0.001)
    pid = min(executor())
    os.kill(pid, signal.SIGKILL)
    result["killed"] = pid

thread = threading.Thread(target=kill, daemon=True)
thread.start()
acid.insert(spark, "shop.big", spark.range(0, task["rows"], 1, 6).selectExpr("id", "id % 7 as x"), client=client)
thread.join(60)
with acid.snapshot(spark, client) as snapshot:
    found = snapshot.read("shop.big").selectExpr("count(*)", "count(distinct id)", "sum(x)").first()
    result["big"] = list(found)
result["expected"] = spark.range(task["rows"]).selectExpr("sum(id % 7)").first()[0]
result["files"] = sorted(str(path.relative_to(location)) for path in location.rglob("bucket_*"))
result["left"] = [path.name for path in location.glob("_tmp_*")]
"""


@pytest.fixture(scope="module", params=ROWS)
def result(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    with running_cluster() as cluster, running_server() as server, metastored.connect(server.uri) as client:
        client.create_database("shop")
        for name in ("t", "big"):
            columns, properties = {"id": "bigint", "x": "bigint"}, {"transactional": "true"}
            client.create_table(metastored.table(f"shop.{name}", columns, format="orc", properties=properties))
        conf = {
            **cluster.conf, "spark.sql.catalogImplementation": "in-memory", "spark.sql.shuffle.partitions": "2",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
        }  # fmt: skip
        task = repr(json.dumps({"uri": server.uri, "rows": request.param}))
        yield {**run_spark(SCRIPT.replace("TASK", task), conf=conf), "rows": request.param}


def test_rows_are_read_and_changed_on_a_cluster(result: dict[str, Any]) -> None:
    assert result["executors"] == 2
    assert result["inserted"] == [[at, at * 10] for at in range(6)]
    assert result["changed"] == [[1, 11], [3, 30], [4, 40], [5, 50]]
    assert result["merged"] == [[1, 11], [4, 40], [5, 50], [9, 90]]


def test_a_table_is_compacted_on_a_cluster(result: dict[str, Any]) -> None:
    assert result["compaction"] == "compacted"
    assert result["compacted"] == result["merged"]


def test_an_executor_that_is_killed_in_a_write_loses_no_row_and_writes_none_twice(result: dict[str, Any]) -> None:
    assert result["killed"] > 0
    assert result["big"] == [result["rows"], result["rows"], result["expected"]]
    assert result["files"] == [f"delta_0000001_0000001_{number:04d}/bucket_00000" for number in range(6)]
    assert result["left"] == []

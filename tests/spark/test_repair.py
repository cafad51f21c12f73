"""Repair of plain tables on real Spark: add, drop and sync, many directories, tables of Spark, Hadoop file systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import metastored
from metastored.testing import running_server
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]


SCRIPT = r"""
import os, shutil
import metastored
from metastored.errors import Error
from metastored.spark import partition_directories, repair

spark.sql("create database d")
result = {}
def told(done):
    return [list(done.added), list(done.dropped)]
def refused(*args):
    try:
        repair(spark, *args)
    except Error as error:
        return str(error)
def root(name):
    return client.table(name).sd.location.removeprefix("file:").replace("//", "/")

client = metastored.connect(URI)
spark.sql("create table d.t (id bigint) partitioned by (ds string, h int) stored as parquet")
spark.sql("insert into d.t values (1, 'a b/c', 1), (2, 'a b/c', 2), (3, null, 1)")
location = root("d.t")
result["same"] = told(repair(spark, "d.t", "sync"))
shutil.copytree(f"{location}/ds=a b%2Fc/h=1", f"{location}/ds=new%3D/h=7")
shutil.rmtree(f"{location}/ds=a b%2Fc/h=2")
os.makedirs(f"{location}/ds=empty/h=0")
outside = location + "_outside"
shutil.copytree(f"{location}/ds=a b%2Fc/h=1", outside)
client.add_partitions("d.t", [metastored.partition(client.table("d.t"), ("out", "1"), location=f"file:{outside}")])
result["add"] = told(repair(spark, "d.t"))
result["rows"] = sorted(tuple(row) for row in spark.table("d.t").select("id", "h", "ds").fillna("-").collect())
result["drop"] = told(repair(spark, "d.t", mode="drop"))
result["left"] = sorted(client.partition_names("d.t"))
shutil.rmtree(outside)
shutil.rmtree(f"{location}/ds=empty")
os.makedirs(f"{location}/ds=more/h=1")
result["sync"] = told(repair(spark, "d.t", "sync"))
(added,) = [each for each in client.partitions("d.t") if each.values[0] == "new="]
result["parameters"] = dict(added.parameters)

spark.sql("create table d.own (Id bigint, Part int) using parquet partitioned by (Part)")
spark.sql("insert into d.own values (1, 1), (2, 2)")
client.drop_partition("d.own", {"part": 2}, delete_data=False)
table = client.table("d.own")
result["own before"] = spark.table("d.own").count()
client.set_parameters("d.own", {"spark.sql.partitionProvider": "filesystem"})
result["own"] = told(repair(spark, "d.own"))
result["own after"] = spark.table("d.own").count()
result["provider"] = client.fresh_table("d.own").parameters["spark.sql.partitionProvider"]

spark.sql("create table d.many (id bigint) partitioned by (n int) stored as parquet")
for number in range(50):
    os.makedirs(f"{root('d.many')}/n={number}")
    with open(f"{root('d.many')}/n={number}/file", "w") as file:
        file.write("x" * number)
partition_directories.MANY, partition_directories.CHUNK = 10, 7
result["many"] = len(repair(spark, "d.many").added)
result["sizes"] = sum(int(each.parameters["totalSize"]) for each in client.partitions("d.many"))

hadoop = partition_directories.HadoopDirectories(spark, f"file://{root('d.many')}")
result["hadoop"] = [len(hadoop.directories(f"file://{root('d.many')}")), hadoop.exists(f"file://{root('d.many')}/n=3"),
                    hadoop.exists(f"file://{root('d.many')}/n=99"), hadoop.directories("file:///no/such")]

spark.sql("create table d.flat (id bigint) stored as parquet")
spark.sql("create view d.view as select 1 as x")
shutil.rmtree(root("d.many"))
result["errors"] = [refused("d.flat"), refused("d.many", "sync"), refused("d.t", "mend"), refused("d.view")]
result["still there"] = len(client.partition_names("d.many"))
os.makedirs(f"{location}/ds=x/h=word")
os.makedirs(f"{location}/ds=y/h=5")
result["hostile"] = [refused("d.t"), len(client.partition_names("d.t"))]
client.close()
"""


class Done(NamedTuple):
    result: dict[str, Any]
    client: metastored.Client


@pytest.fixture(scope="module")
def done() -> Iterator[Done]:
    with running_server() as server, metastored.connect(server.uri) as client:
        script = SCRIPT.replace("URI", repr(server.uri))
        yield Done(run_spark(script, conf=metastored.spark.conf(server.uri)), client)


def test_a_table_in_order_stays_as_it_is(done: Done) -> None:
    assert done.result["same"] == [[], []]


def test_directories_become_partitions_with_their_rows(done: Done) -> None:
    assert done.result["add"] == [["ds=empty/h=0", "ds=new%3D/h=7"], []]
    assert done.result["rows"] == [[1, 1, "a b/c"], [1, 1, "out"], [1, 7, "new="], [3, 1, "-"]]


def test_new_partitions_have_the_number_and_size_of_their_files(done: Done) -> None:
    assert done.result["parameters"]["numFiles"] == "1"
    assert int(done.result["parameters"]["totalSize"]) > 100


def test_partitions_without_a_directory_are_dropped_and_others_kept_wherever_they_are(done: Done) -> None:
    assert done.result["drop"] == [[], ["ds=a b%2Fc/h=2"]]
    assert "ds=out/h=1" in done.result["left"]


def test_sync_adds_and_drops(done: Done) -> None:
    assert done.result["sync"] == [["ds=more/h=1"], ["ds=empty/h=0", "ds=out/h=1"]]


def test_partitions_of_a_table_of_spark_are_found_by_spark(done: Done) -> None:
    assert (done.result["own before"], done.result["own after"]) == (1, 2)
    assert done.result["own"] == [["part=2"], []]
    assert done.result["provider"] == "catalog"


def test_many_directories_are_listed_by_tasks(done: Done) -> None:
    assert (done.result["many"], done.result["sizes"]) == (50, sum(range(50)))


def test_hadoop_file_systems_are_listed_through_the_jvm(done: Done) -> None:
    assert done.result["hadoop"] == [50, True, False, []]


def test_a_drop_is_refused_while_the_directory_of_the_table_is_missing(done: Done) -> None:
    flat, missing, mode, view = done.result["errors"]
    assert "does not exist: all partitions would be dropped" in missing
    assert done.result["still there"] == 50
    assert "has no partition keys" in flat
    assert "one of add, drop, sync" in mode
    assert "no partition keys" in view


def test_a_hostile_name_is_refused_before_anything_is_added(done: Done) -> None:
    error, count = done.result["hostile"]
    assert "ds=x/h=word is not a partition: 'word' is not of the type int" in error
    assert count == len(done.client.partition_names("d.t")) == 4

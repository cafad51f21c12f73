"""Copies between two metastoreds with real Spark: by partition, verified by other readers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest
from deltalake import DeltaTable
from pyarrow import orc

import metastored
from metastored.hive.locations import local_path
from metastored.structs import StorageDescriptor
from metastored.testing import running_server
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

HEAD = """
import metastored
import metastored.spark
from metastored.errors import Error
from metastored.wire.structs import replace
from pyspark.sql import functions as F

far = metastored.connect("FAR", cache=False)
near = metastored.connect("NEAR", cache=False)
copy = metastored.spark.copy_table
result = found = {}

def shown(done):
    return [done.rows, list(done.partitions), list(done.skipped), list(done.dropped), done.unchanged]

def refused(call):
    try:
        call()
    except Error as error:
        return f"{type(error).__name__}: {error}"

def write(ds, count, mode="overwrite"):
    frame = spark.range(count).select(
        "id", F.concat(F.lit("n"), "id").alias("name"), (F.col("id") / 4).cast("decimal(10,2)").alias("price"),
        F.timestamp_micros(1_600_000_000_000_000 + F.col("id") * 1_000_001).alias("at"),
        F.create_map(F.lit("a"), F.col("id")).alias("counts"), F.array("id").alias("ids"))
    frame.write.mode(mode).parquet(f"FOLDER/orders/ds={ds}/h=01")

"""

TABLES = """
far.create_database("there")
columns = {"id": "bigint", "name": "varchar(20)", "price": "decimal(10,2)", "at": "timestamp",
           "counts": "map<string,bigint>", "ids": "array<bigint>"}
far.create_table(metastored.table("there.orders", columns, partitioned_by={"ds": "string", "h": "int"},
                                  external=True, location="file://FOLDER/orders"))
orders = far.table("there.orders")
for ds, count in (("1", 10), ("2 a/b", 20), ("3", 30)):
    write(ds.replace("/", "%2F"), count)
    far.add_partitions("there.orders", [metastored.partition(
        orders, [ds, "01"], location="file://FOLDER/orders/ds=" + ds.replace("/", "%2F") + "/h=01")])
spark.range(7).select("id", F.col("id").cast("string").alias("code")).write.parquet("FOLDER/codes")
far.create_table(metastored.table("there.codes", {"id": "bigint", "code": "string"}, external=True,
                                  location="file://FOLDER/codes"))
SETUP

near.create_database("local")
metastored.spark.sql(spark, "CREATE REMOTE DATABASE away CONNECTED TO there "
                     "WITH DBPROPERTIES ('hive.metastore.uris' = 'FAR')", client=near)
"""

INCREMENTAL = """
found["first"] = shown(copy(spark, "away.orders", "local.orders", client=near))
found["again"] = shown(copy(spark, "away.orders", "local.orders", client=near))
found["codes"] = shown(copy(spark, "away.codes", "local.codes"))
found["codes again"] = shown(copy(spark, "away.codes", "local.codes"))
found["names"] = sorted(near.partition_names("local.orders"))
before = {each.values: each.sd.location for each in near.partitions("local.orders")}
write("1", 5, "append")
far.drop_partition("there.orders", ["3", "01"])
write("4", 40)
where = "file://FOLDER/orders/ds=4/h=01"
far.add_partitions("there.orders", [metastored.partition(orders, ["4", "01"], location=where)])
spark.range(3).select("id", F.lit("x").alias("code")).write.mode("append").parquet("FOLDER/codes")
found["changed"] = shown(copy(spark, "away.orders", "local.orders"))
after = {each.values: each.sd.location for each in near.partitions("local.orders")}
found["moved"] = sorted(values[0] for values in after if before.get(values) != after[values])
found["codes changed"] = shown(copy(spark, "away.codes", "local.codes"))
found["counts"] = [list(row) for row in spark.sql(
    "SELECT ds, h, count(*), sum(id) FROM local.orders GROUP BY ds, h ORDER BY ds").collect()]
found["rows of codes"] = spark.table("local.codes").count()
"""

OTHERS = """
spark = spark.newSession()  # With no cached table or file of the copies above.
found["chosen"] = shown(copy(spark, "away.orders", "local.some", partitions="ds = '1'"))
found["named"] = shown(copy(spark, "away.orders", "local.some", partitions=["ds=4/h=01"]))
found["overwritten"] = shown(copy(spark, "away.orders", "local.orders", mode="overwrite"))
found["orc"] = shown(copy(spark, "away.orders", "local.orders_orc", format="orc"))
found["equal"] = spark.table("local.orders_orc").drop("counts").exceptAll(
    spark.table("away.orders").drop("counts")).count()
found["parameters"] = {each.values[0]: each.parameters["numRows"] for each in near.partitions("local.orders")}
found["no format"] = refused(lambda: copy(spark, "away.orders", "local.x", format="csv"))
found["other format"] = refused(lambda: copy(spark, "away.orders", "local.orders", format="orc"))
found["no source"] = refused(lambda: copy(spark, "away.nothing", "local.x"))
found["no partition"] = refused(lambda: copy(spark, "away.orders", "local.x", partitions=["ds=9/h=01"]))
found["a database"] = refused(lambda: copy(spark, "away", "local.x"))
found["other columns"] = refused(lambda: copy(spark, "away.codes", "local.orders"))
found["itself"] = refused(lambda: copy(spark, "local.codes", "local.codes"))
import sys
kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "deltalake"}
sys.modules["deltalake"] = None
found["no deltalake"] = refused(lambda: copy(spark, "away.codes", "local.codes_delta", format="delta"))
del sys.modules["deltalake"]
sys.modules |= kept
found["delta"] = shown(copy(spark, "away.codes", "local.codes_delta", format="delta"))
found["delta again"] = shown(copy(spark, "away.codes", "local.codes_delta", format="delta"))
spark.range(100, 104).select("id", F.lit("y").alias("code")).write.mode("append").parquet("FOLDER/codes")
spark.catalog.refreshTable("away.codes")
found["delta changed"] = shown(copy(spark, "away.codes", "local.codes_delta", format="delta"))
near.sql("ALTER REMOTE DATABASE away SET DBPROPERTIES ('metastored.remote.access' = 'write')")
found["pushed"] = shown(copy(spark, "local.orders", "away.pushed"))
found["pushed rows"] = spark.table("away.pushed").count()
"""


class Metastores:
    def __init__(self, near: Any, far: Any) -> None:
        self.near, self.far = near, far


@pytest.fixture(scope="module")
def metastores() -> Iterator[Metastores]:
    with running_server() as near, running_server() as far:
        yield Metastores(near, far)


def run(metastores: Metastores, folder: Path, script: str) -> Any:
    whole = (HEAD + script).replace("FOLDER", str(folder))
    whole = whole.replace("FAR", metastores.far.uri).replace("NEAR", metastores.near.uri)
    return run_spark(
        whole,
        conf={
            "spark.hadoop.hive.metastore.uris": metastores.near.uri,
            "spark.sql.warehouse.dir": metastores.near.warehouse,
        },
    )


STATISTICS = """
from metastored.structs import (ColumnStatistics, ColumnStatisticsData, ColumnStatisticsDesc, ColumnStatisticsObj,
    LongColumnStatsData)
def statistics(table, partition, highest):
    data = ColumnStatisticsData(longStats=LongColumnStatsData(lowValue=0, highValue=highest, numNulls=0, numDVs=7))
    far.set_statistics(ColumnStatistics(
        ColumnStatisticsDesc(partition is None, "there", table, partition),
        (ColumnStatisticsObj("id", "bigint", data),), engine="hive"))
statistics("codes", None, 6)
statistics("orders", "ds=1/h=01", 9)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def found(metastores: Metastores, folder: Path) -> dict[str, Any]:
    """What the copies returned: those of `OTHERS` are of the same tables, in another session."""
    script = TABLES.replace("SETUP", STATISTICS) + INCREMENTAL + OTHERS
    result: dict[str, Any] = run(metastores, folder, script)
    return result


NAMES = ["ds=1/h=01", "ds=2 a%2Fb/h=01", "ds=3/h=01"]


def test_a_remote_table_is_brought_home_with_its_partitions(found: dict[str, Any]) -> None:
    assert found["first"] == [60, NAMES, [], [], False]
    assert found["names"] == NAMES


def test_a_table_without_partitions_is_copied(found: dict[str, Any]) -> None:
    assert found["codes"] == [7, [], [], [], False]


def test_a_second_copy_has_nothing_to_do(found: dict[str, Any]) -> None:
    assert found["again"] == [0, [], NAMES, [], True]
    assert found["codes again"] == [0, [], [], [], True]


def test_only_partitions_that_changed_at_the_source_are_copied_again(found: dict[str, Any]) -> None:
    assert found["changed"] == [55, ["ds=1/h=01", "ds=4/h=01"], [NAMES[1]], ["ds=3/h=01"], False]
    assert found["moved"] == ["1", "4"]
    assert found["counts"] == [["1", 1, 15, 55], ["2 a/b", 1, 20, 190], ["4", 1, 40, 780]]


def test_a_table_without_partitions_is_copied_again_after_a_change(found: dict[str, Any]) -> None:
    assert found["codes changed"] == [10, [], [], [], False]
    assert found["rows of codes"] == 10


def test_partitions_are_chosen_by_a_condition_or_by_names(found: dict[str, Any]) -> None:
    assert found["chosen"][:2] == [15, ["ds=1/h=01"]]
    assert found["named"][:2] == [40, ["ds=4/h=01"]]


def test_an_overwrite_copies_everything(found: dict[str, Any]) -> None:
    assert found["overwritten"][0] == 75


def test_a_copy_can_change_the_format(found: dict[str, Any]) -> None:
    assert found["orc"][0] == 75
    assert found["equal"] == 0


def test_a_table_is_pushed_out_to_a_remote(found: dict[str, Any], metastores: Metastores) -> None:
    assert found["pushed"][0] == found["pushed rows"] == 75
    with metastored.connect(metastores.far.uri, cache=False) as client:
        assert len(client.partition_names("there.pushed")) == 3


def test_statistics_are_copied(found: dict[str, Any], metastores: Metastores) -> None:
    with metastored.connect(metastores.near.uri, cache=False) as client:
        codes = client.statistics("local.codes")["id"]
        orders = client.partition_statistics("local.some", ["ds=1/h=01"])["ds=1/h=01"]["id"]
    assert codes.statsData is not None and codes.statsData.longStats is not None
    assert codes.statsData.longStats.highValue == 6
    assert orders.statsData is not None and orders.statsData.longStats is not None
    assert orders.statsData.longStats.numDVs == 7
    assert found["parameters"] == {"1": "15", "2 a/b": "20", "4": "40"}


def test_types_of_hive_are_kept(found: dict[str, Any], metastores: Metastores) -> None:
    with metastored.connect(metastores.near.uri, cache=False) as client:
        table = client.table("local.orders")
    assert table.sd is not None
    assert [(each.name, each.type) for each in table.sd.cols or ()][:2] == [("id", "bigint"), ("name", "varchar(20)")]


def locations(metastores: Metastores, table: str) -> list[Path]:
    with metastored.connect(metastores.near.uri, cache=False) as client:
        return [Path(local_path((each.sd and each.sd.location) or "")) for each in client.partitions(table)]


def test_pyarrow_reads_the_copies(found: dict[str, Any], metastores: Metastores) -> None:
    parquet = [pyarrow.dataset.dataset(each, format="parquet") for each in locations(metastores, "local.orders")]
    assert sorted(each.count_rows() for each in parquet) == [15, 20, 40]
    ids = [
        value
        for each in locations(metastores, "local.orders_orc")
        for file in each.glob("*.orc")
        for value in orc.read_table(file)["id"].to_pylist()
    ]
    assert sorted(ids) == sorted([*range(10), *range(5), *range(20), *range(40)])


def test_nothing_is_left_of_replaced_directories(found: dict[str, Any], metastores: Metastores) -> None:
    for each in locations(metastores, "local.orders"):
        assert [path.name for path in each.parent.iterdir()] == [each.name]
    (root,) = {each.parent.parent.parent for each in locations(metastores, "local.orders")}
    assert not list(root.glob(".copy-*"))


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("no format", "the format is 'csv'; known are parquet, orc, lance, iceberg, delta"),
        ("other format", "local.orders exists with the format parquet, and not orc: drop it first"),
        ("no source", "TableNotFound"),
        ("no partition", "away.orders has no partition ds=9/h=01"),
        ("a database", "'away' does not name a table"),
        ("other columns", "away.codes and local.orders have different columns"),
        ("itself", "local.codes cannot be copied to itself"),
    ],
)
def test_what_cannot_be_copied_is_refused(found: dict[str, Any], what: str, error: str) -> None:
    assert error in found[what]


def test_without_deltalake_the_error_names_the_pip_line(found: dict[str, Any]) -> None:
    assert found["no deltalake"] == "ConfigError: copies to Delta need deltalake: pip install 'deltalake>=1'"


def test_deltalake_reads_a_copy_and_what_replaced_it(found: dict[str, Any], metastores: Metastores) -> None:
    with metastored.connect(metastores.near.uri, cache=False) as client:
        location = local_path((client.table("local.codes_delta").sd or StorageDescriptor()).location or "")
    ids = [*range(7), *range(3)]
    first, newest = DeltaTable(location, version=0), DeltaTable(location)
    assert sorted(first.to_pyarrow_table()["id"].to_pylist()) == sorted(ids)
    assert newest.version() == 1
    assert sorted(newest.to_pyarrow_table()["id"].to_pylist()) == sorted([*ids, *range(100, 104)])

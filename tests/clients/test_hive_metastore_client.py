"""The package hive-metastore-client, unmodified, with the Thrift of 2019: databases to partitions on metastored."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.foreign import run_foreign
from tests.support.forks import running_server

pytestmark = pytest.mark.witness

SCRIPT = """
from hive_metastore_client import HiveMetastoreClient
from hive_metastore_client.builders import (
    ColumnBuilder, DatabaseBuilder, PartitionBuilder, SerDeInfoBuilder, StorageDescriptorBuilder, TableBuilder
)
from thrift_files.libraries.thrift_hive_metastore_client.ttypes import AlreadyExistsException, NoSuchObjectException

def refused(call, *args):
    try:
        call(*args)
    except (AlreadyExistsException, NoSuchObjectException) as error:
        return type(error).__name__

def column(name, type):
    return ColumnBuilder(name=name, type=type).build()

def part(*values):
    return PartitionBuilder(values=list(values), db_name="store", table_name="orders").build()

result = {}
with HiveMetastoreClient(host, port) as client:
    client.create_database_if_not_exists(DatabaseBuilder("store", description="a shop").build())
    client.create_database_if_not_exists(DatabaseBuilder("store").build())
    result["databases"] = client.get_all_databases()
    result["description"] = client.get_database("store").description

    storage = StorageDescriptorBuilder(
        columns=[column("id", "bigint"), column("total", "double"), column("note", "string")],
        location=warehouse + "/orders",
        input_format="org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        output_format="org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        serde_info=SerDeInfoBuilder(
            serialization_lib="org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
        ).build(),
    ).build()
    table = TableBuilder(
        table_name="orders",
        db_name="store",
        owner="clerk",
        storage_descriptor=storage,
        partition_keys=[column("day", "string"), column("hour", "int")],
    ).build()
    client.create_external_table(table)
    result["again"] = refused(client.create_external_table, table)
    result["tables"] = client.get_all_tables("store")
    made = client.get_table("store", "orders")
    result["table"] = [made.tableType, made.owner, made.sd.location]
    result["keys"] = client.get_partition_keys("store", "orders")

    client.add_columns_to_table("store", "orders", [column("city", "string")])
    client.drop_columns_from_table("store", "orders", ["note"])
    result["columns"] = [one.name for one in client.get_fields("store", "orders")]

    client.add_partitions_to_table("store", "orders", [part("2024-01-01", "1"), part("2024-01-01", "2")])
    client.add_partitions_if_not_exists("store", "orders", [part("2024-01-01", "2"), part("2024-01-02", "1")])
    result["taken"] = refused(
        client.add_partitions_to_table, "store", "orders", [part("2024-01-09", "9"), part("2024-01-01", "1")]
    )
    result["partitions"] = client.get_partition_names("store", "orders", -1)
    result["values"] = client.get_partition_values_from_table("store", "orders")
    found = client.get_partitions_by_filter("store", "orders", 'day = "2024-01-01" and hour > 1', -1)
    result["filtered"] = [one.sd.location for one in found]
    result["missing"] = refused(
        client.bulk_drop_partitions, "store", "orders", [["2024-01-01", "1"], ["2030-01-01", "1"]]
    )
    result["left"] = client.get_partition_names("store", "orders", -1)

    client.drop_table("store", "orders", True)
    result["gone"] = refused(client.get_table, "store", "orders")
    client.drop_database("store", True, False)
    result["dropped"] = client.get_all_databases()
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """The results of the client."""
    with running_server() as server:
        result: dict[str, Any] = run_foreign(SCRIPT, host=server.host, port=server.port, warehouse=server.warehouse)
        return result


def test_a_database_is_created_once(found: dict[str, Any]) -> None:
    assert found["databases"] == ["default", "store"]
    assert found["description"] == "a shop"


def test_an_external_table_is_created_once(found: dict[str, Any]) -> None:
    assert found["tables"] == ["orders"]
    type, owner, location = found["table"]
    assert (type, owner) == ("EXTERNAL_TABLE", "clerk")
    assert location.endswith("/warehouse/orders")
    assert found["keys"] == [["day", "string"], ["hour", "int"]]
    assert found["again"] == "AlreadyExistsException"


def test_a_column_is_added_and_one_dropped_from_the_middle(found: dict[str, Any]) -> None:
    assert found["columns"] == ["id", "total", "city"]


def test_partitions_are_added_all_or_none(found: dict[str, Any]) -> None:
    assert found["taken"] == "AlreadyExistsException"
    assert found["partitions"] == ["day=2024-01-01/hour=1", "day=2024-01-01/hour=2", "day=2024-01-02/hour=1"]
    assert found["values"] == [["2024-01-01", "1"], ["2024-01-01", "2"], ["2024-01-02", "1"]]


def test_a_filter_finds_partitions(found: dict[str, Any]) -> None:
    assert [location.partition("/orders/")[2] for location in found["filtered"]] == ["day=2024-01-01/hour=2"]


def test_partitions_are_dropped_and_a_missing_one_is_reported(found: dict[str, Any]) -> None:
    assert found["missing"] == "NoSuchObjectException"
    assert found["left"] == ["day=2024-01-01/hour=2", "day=2024-01-02/hour=1"]


def test_a_dropped_table_and_database_are_gone(found: dict[str, Any]) -> None:
    assert found["gone"] == "NoSuchObjectException"
    assert found["dropped"] == ["default"]

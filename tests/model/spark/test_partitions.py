"""Specs, names and directories of partitions, and Hive's Partition both ways, as Spark has them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metastored.errors import SparkCatalogError
from metastored.hive.names import DEFAULT_PARTITION
from metastored.model.spark.partitions import (
    from_hive_partition,
    full_values,
    generate_partition_path,
    is_partial_spec,
    new_hive_partition,
    partial_values,
    partition_path_string,
    restore_partition_metadata,
    restore_partition_spec,
    restored_name,
    to_hive_partition,
    to_metastore_spec,
    with_stats_properties,
)
from metastored.model.spark.types import INTEGER, STRING, StructType
from metastored.model.spark.values import (
    CatalogStatistics,
    CatalogStorage,
    CatalogTable,
    CatalogTablePartition,
    CatalogTableType,
    TableIdentifier,
)
from metastored.structs import FieldSchema, SerDeInfo, StorageDescriptor, Table

TABLE = CatalogTable(
    TableIdentifier("t", "db"),
    CatalogTableType.MANAGED,
    CatalogStorage("file:/w/t"),
    StructType().add("x", INTEGER).add("Ds", STRING).add("Hr", STRING),
    partition_column_names=("Ds", "Hr"),
)
STRUCT = Table(
    tableName="t",
    dbName="db",
    sd=StorageDescriptor(
        cols=(FieldSchema("x", "int"),),
        location="file:/w/t",
        inputFormat="in",
        outputFormat="out",
        serdeInfo=SerDeInfo(serializationLib="serde", parameters={"serialization.format": "1"}),
    ),
    partitionKeys=(FieldSchema("ds", "string"), FieldSchema("hr", "string")),
)
PARTITION = CatalogTablePartition(
    {"ds": "1", "hr": "2"}, CatalogStorage("file:/w/p", "i", "o", "s", properties={"k": "v"}), {"p": "q"}, 5000, 7000
)


def test_the_metastore_has_names_in_lower_case_and_no_nulls() -> None:
    assert to_metastore_spec({"Ds": "A", "Hr": None}) == {"ds": "A", "hr": DEFAULT_PARTITION}


def test_names_are_restored_as_the_table_declares_them() -> None:
    assert restore_partition_spec({"ds": "A", "HR": "b"}, TABLE.partition_column_names) == {"Ds": "A", "Hr": "b"}
    assert restored_name("ds=a%3Db/hr=%7Bx}", TABLE.partition_column_names) == "Ds=a%3Db/Hr=%7Bx}"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("2024-01-01", "2024-01-01"),
        ("a/b=c", "a%2Fb%3Dc"),
        ("{x}[y]^~ é", "%7Bx}%5By%5D%5E~ é"),
        ("1:2", "1%3A2"),
        ("\x01\x7f", "%01%7F"),
        (None, DEFAULT_PARTITION),
        ("", DEFAULT_PARTITION),
    ],
)
def test_a_directory_has_the_escaped_value(value: str | None, written: str) -> None:
    assert partition_path_string("Ds", value) == f"Ds={written}"


def test_a_path_has_the_columns_in_the_order_of_the_table() -> None:
    path = generate_partition_path({"HR": "2", "ds": "1"}, TABLE.partition_column_names, "file:/w/t")
    assert path == "file:/w/t/Ds=1/Hr=2"
    with pytest.raises(SparkCatalogError, match="doesn't contain all"):
        generate_partition_path({"Hr": "2"}, TABLE.partition_column_names, "file:/w/t")


def test_values_of_specs() -> None:
    assert partial_values({"hr": "2"}, ("ds", "hr")) == ("", "2")
    assert full_values({"hr": "2", "ds": "1"}, ("ds", "hr")) == ("1", "2")
    assert is_partial_spec({"hr": "2"}, {"ds": "1", "hr": "2"})
    assert not is_partial_spec({"hr": "3"}, {"ds": "1", "hr": "2"})


@pytest.mark.parametrize(
    ("spec", "condition"),
    [
        ({"hr": ""}, "INTERNAL_ERROR"),
        ({"other": "1"}, "PARTITIONS_NOT_FOUND"),
        ({"hr": "1"}, "_LEGACY_ERROR_TEMP_3065"),
    ],
)
def test_specs_that_are_refused(spec: dict[str, str], condition: str) -> None:
    with pytest.raises(SparkCatalogError) as caught:
        full_values(spec, ("ds", "hr"))
    assert caught.value.condition == condition


def test_a_new_partition_has_the_storage_of_its_table() -> None:
    found = new_hive_partition(PARTITION, STRUCT)
    assert found.values == ("1", "2")
    assert found.sd is not None
    assert (found.sd.location, found.sd.inputFormat, found.sd.cols) == ("file:/w/p", "in", STRUCT.sd and STRUCT.sd.cols)
    assert found.parameters == {"p": "q"}


def test_a_partition_is_converted_both_ways() -> None:
    assert from_hive_partition(to_hive_partition(PARTITION, STRUCT), ("ds", "hr")) == PARTITION


def test_statistics_are_parameters_that_are_hidden_again() -> None:
    stored = with_stats_properties(replace(PARTITION, stats=CatalogStatistics(10, 2)))
    assert stored.parameters == {
        "p": "q", "spark.sql.statistics.totalSize": "10", "spark.sql.statistics.numRows": "2",
    }  # fmt: skip
    found = restore_partition_metadata(replace(stored, stats=None), TABLE)
    assert found.stats == CatalogStatistics(10, 2)
    assert found.parameters == {"p": "q"}
    assert found.spec == {"Ds": "1", "Hr": "2"}


def test_without_statistics_of_sparks_those_of_hive_are_kept_with_all_parameters() -> None:
    parameters = {"totalSize": "5812", "numRows": "500", "spark.sql.other": "x"}
    struct = to_hive_partition(replace(PARTITION, parameters=parameters), STRUCT)
    found = restore_partition_metadata(from_hive_partition(struct, ("ds", "hr")), TABLE)
    assert found.stats == CatalogStatistics(5812, 500)
    assert found.parameters == parameters


def test_statistics_without_a_size_are_an_error() -> None:
    broken = replace(PARTITION, parameters={"spark.sql.statistics.numRows": "1"})
    with pytest.raises(SparkCatalogError, match="key not found"):
        restore_partition_metadata(broken, TABLE)

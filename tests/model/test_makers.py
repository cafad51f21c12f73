"""A table, a partition or a database in one line, and the arguments that are refused before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.errors import InvalidInputException
from metastored.model.formats import FORMATS, format_of
from metastored.model.makers import database, partition, table
from metastored.wire.generated.common import FieldSchema, Order, Table

ORDERS = table("shop.orders", {"id": "bigint", "price": "decimal(10,2)"}, partitioned_by={"ds": "string"})


def columns_of(made: Table) -> list[tuple[str | None, str | None]]:
    assert made.sd is not None
    return [(field.name, field.type) for field in made.sd.cols or ()]


def test_a_table_in_one_line() -> None:
    assert (ORDERS.dbName, ORDERS.tableName, ORDERS.catName, ORDERS.tableType) == (
        "shop",
        "orders",
        None,
        "MANAGED_TABLE",
    )
    assert columns_of(ORDERS) == [("id", "bigint"), ("price", "decimal(10,2)")]
    assert ORDERS.partitionKeys == (FieldSchema("ds", "string"),)
    assert format_of(ORDERS) == "parquet"
    assert ORDERS.sd is not None and ORDERS.sd.location is None


def test_a_table_with_everything() -> None:
    made = table(
        "cat.shop.orders",
        {"id": ("bigint", "the order's number"), "at": "timestamp"},
        format="orc",
        location="s3://bucket/orders",
        comment="all orders",
        properties={"a": "b"},
        external=True,
        owner="ann",
        bucketed_by=("id", 16),
        sorted_by=("id", "-at"),
        options={"field.delim": ";"},
    )
    sd = made.sd
    assert sd is not None and sd.serdeInfo is not None
    assert made.catName == "cat"
    assert sd.cols == (FieldSchema("id", "bigint", "the order's number"), FieldSchema("at", "timestamp"))
    assert (sd.inputFormat, sd.serdeInfo.serializationLib) == (FORMATS["orc"].input, FORMATS["orc"].serde)
    assert sd.location == "s3://bucket/orders"
    assert made.parameters == {"a": "b", "comment": "all orders", "EXTERNAL": "TRUE"}
    assert (made.tableType, made.owner) == ("EXTERNAL_TABLE", "ann")
    assert (sd.bucketCols, sd.numBuckets) == (("id",), 16)
    assert sd.sortCols == (Order("id", 1), Order("at", 0))
    assert sd.serdeInfo.parameters == {"serialization.format": "1", "field.delim": ";"}


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("decimal( 10, 2 )", "decimal(10,2)"),
        ("BIGINT", "bigint"),
        ("map<string, array<int>>", "map<string,array<int>>"),
        ("struct<Name: string>", "struct<Name:string>"),
        ("timestamp with local time zone", "timestamp with local time zone"),
    ],
)
def test_types_are_stored_as_hive_writes_them(written: str, stored: str) -> None:
    assert columns_of(table("d.t", {"c": written})) == [("c", stored)]


def test_structs_of_columns_are_taken_as_they_are() -> None:
    field = FieldSchema("c", "<derived from deserializer>")
    assert table("d.t", [field], format="avro").sd.cols == (field,)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "orders"}, "'orders' does not name a table: write database.table"),
        ({"name": "shop.ordérs"}, "table name that no Hive takes"),
        ({"name": "shöp.orders"}, "database name that no Hive takes"),
        ({"columns": {}}, "table shop.orders needs at least one column"),
        ({"columns": "id bigint"}, "the columns of shop.orders are a dict"),
        ({"columns": [("id", "bigint")]}, "the columns of shop.orders are a dict"),
        ({"columns": {"": "int"}}, "a name is a text that is not empty"),
        ({"columns": {"id": int}}, r'column id of shop.orders has the type .*: write "bigint"'),
        ({"columns": {"id": "long"}}, "has the type 'long', which Hive does not have: .*Hive's word for it is bigint"),
        ({"columns": {"id": "decimal(50,2)"}}, "column id of shop.orders has the type"),
        ({"columns": {"id": "int", "ID": "int"}}, "has the column id twice"),
        ({"partitioned_by": {"Id": "int"}}, "has the column id twice"),
        ({"format": "parkay"}, "unknown format 'parkay'; known are parquet"),
        ({"format": "iceberg"}, "a table of iceberg has metadata of its own"),
        ({"bucketed_by": ("x", 4)}, "is to be bucketed by x, which is not a column of it; its columns are id"),
        ({"bucketed_by": "id"}, r'write the columns and a number, \("id", 16\)'),
        ({"sorted_by": ["-y"]}, "is to be sorted by y, which is not a column of it"),
        ({"properties": {"a": 1}}, "the property 'a' of shop.orders is 1: names and values are texts"),
    ],
)
def test_arguments_that_cannot_be_a_table_are_refused_with_a_form_that_works(given: dict[str, Any], said: str) -> None:
    whole: dict[str, Any] = {"name": "shop.orders", "columns": {"id": "bigint"}, **given}
    with pytest.raises(InvalidInputException, match=said):
        table(whole.pop("name"), whole.pop("columns"), **whole)


def test_a_partition_of_a_table() -> None:
    made = partition(ORDERS, {"ds": "2024-01-01"}, location="s3://b/x", properties={"a": "b"})
    assert (made.values, made.dbName, made.tableName) == (("2024-01-01",), "shop", "orders")
    assert made.sd is not None and ORDERS.sd is not None
    assert (made.sd.cols, made.sd.location) == (ORDERS.sd.cols, "s3://b/x")
    assert made.parameters == {"a": "b"}
    assert partition(ORDERS, "ds=2024-01-01").values == partition(ORDERS, ["2024-01-01"]).values == made.values


def test_a_partition_has_no_location_of_its_own_unless_it_is_given_one() -> None:
    there = table("d.t", {"c": "int"}, partitioned_by={"p": "int"}, location="s3://b/t")
    assert partition(there, {"p": 1}).sd.location is None  # type: ignore[union-attr]


def test_a_partition_needs_a_table_with_keys() -> None:
    with pytest.raises(InvalidInputException, match=r"d\.t has no partition keys: make it with partitioned_by"):
        partition(table("d.t", {"c": "int"}), {"p": "1"})
    with pytest.raises(InvalidInputException, match="has to be a Table, not"):
        partition("d.t", {"p": "1"})  # type: ignore[arg-type]


def test_a_database_in_one_line() -> None:
    made = database("cat.shop", location="s3://b", comment="sold here", properties={"a": "b"}, owner="ann")
    assert (made.name, made.catalogName, made.description, made.locationUri) == ("shop", "cat", "sold here", "s3://b")
    assert (made.parameters, made.ownerName) == ({"a": "b"}, "ann")
    with pytest.raises(InvalidInputException, match="database name that no Hive takes"):
        database("shöp")

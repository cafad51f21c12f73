"""The parameters that Spark writes: keys, long values in parts, and every corrupted state with its error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.errors import ConversionError, SparkCatalogError
from metastored.model.spark.properties import (
    bucket_spec_from_properties,
    is_large_property,
    partition_columns_from_properties,
    read_large_property,
    schema_from_properties,
    split_large_property,
    table_meta_to_table_props,
    verify_table_properties,
)
from metastored.model.spark.type_strings import parse_ddl
from metastored.model.spark.values import (
    BucketSpec,
    CatalogStorage,
    CatalogTable,
    CatalogTableType,
    TableIdentifier,
)

KEY = "spark.sql.sources.schema"
TABLE = CatalogTable(
    TableIdentifier("t", "db"),
    CatalogTableType.MANAGED,
    CatalogStorage(),
    parse_ddl("Aa int, b varchar(5), P string"),
    provider="parquet",
    partition_column_names=("P",),
    bucket_spec=BucketSpec(8, ("Aa",), ("b",)),
    create_version="4.3.0",
)


def condition(call: Callable[[], object]) -> str:
    with pytest.raises(SparkCatalogError) as caught:
        call()
    return caught.value.condition


def test_the_parameters_of_a_table_are_those_of_spark() -> None:
    assert table_meta_to_table_props(TABLE) == {
        "spark.sql.create.version": "4.3.0",
        KEY: '{"type":"struct","fields":[{"name":"Aa","type":"integer","nullable":true,"metadata":{}},{"name":"b",'
        '"type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"varchar(5)"}},{"name":"P",'
        '"type":"string","nullable":true,"metadata":{}}]}',
        f"{KEY}.numPartCols": "1",
        f"{KEY}.partCol.0": "P",
        f"{KEY}.numBuckets": "8",
        f"{KEY}.numBucketCols": "1",
        f"{KEY}.bucketCol.0": "Aa",
        f"{KEY}.numSortCols": "1",
        f"{KEY}.sortCol.0": "b",
    }


def test_what_a_table_does_not_have_has_no_parameters() -> None:
    plain = replace(TABLE, partition_column_names=(), bucket_spec=None)
    assert set(table_meta_to_table_props(plain)) == {"spark.sql.create.version", KEY}
    unsorted = replace(plain, bucket_spec=BucketSpec(8, ("Aa",)))
    assert f"{KEY}.numSortCols" not in table_meta_to_table_props(unsorted)


def test_the_parameters_are_read_back() -> None:
    properties = table_meta_to_table_props(TABLE)
    schema = schema_from_properties(properties)
    assert schema is not None
    assert [each.data_type for each in schema] == [each.data_type for each in TABLE.schema]
    assert partition_columns_from_properties(properties) == ("P",)
    assert bucket_spec_from_properties(properties) == TABLE.bucket_spec


def test_a_metric_view_is_marked() -> None:
    view = replace(TABLE, table_type=CatalogTableType.METRIC_VIEW)
    assert table_meta_to_table_props(view)["view.subType"] == "METRIC_VIEW"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), st.integers(2, 20))
def test_a_long_value_is_read_from_its_parts(value: str, threshold: int) -> None:
    parts = split_large_property("k", value, threshold)
    assert read_large_property(parts, "k") == value
    assert all(is_large_property("k", key) for key in parts)
    assert all(len(part.encode("utf-16-le")) <= 2 * threshold for key, part in parts.items() if key != "k.numParts")


def test_a_value_at_the_threshold_is_not_split() -> None:
    assert split_large_property("k", "x" * 4000) == {"k": "x" * 4000}
    parts = split_large_property("k", "x" * 14918)
    assert parts["k.numParts"] == "4"
    assert [len(parts[f"k.part.{at}"]) for at in range(4)] == [4000, 4000, 4000, 2918]


def test_the_plain_key_wins_over_the_parts() -> None:
    properties = {"k": "whole", "k.numParts": "1", "k.part.0": "part"}
    assert read_large_property(properties, "k") == "whole"


def test_a_part_without_a_number_of_parts_is_ignored() -> None:
    assert read_large_property({"k.part.0": "x"}, "k") is None


def test_a_missing_part_is_an_error() -> None:
    properties = {f"{KEY}.numParts": "3", f"{KEY}.part.0": "{"}
    with pytest.raises(SparkCatalogError, match=f'"{KEY}.part.1" is missing: 3 parts') as caught:
        schema_from_properties(properties)
    assert caught.value.condition == "INSUFFICIENT_TABLE_PROPERTY.MISSING_KEY_PART"


def test_a_broken_schema_is_an_error() -> None:
    with pytest.raises(ConversionError):
        schema_from_properties({KEY: "{"})


@pytest.mark.parametrize(
    ("kind", "described"), [("part", "partitioning"), ("bucket", "bucketing"), ("sort", "sorting")]
)
def test_a_missing_column_name_is_an_error(kind: str, described: str) -> None:
    properties = {f"{KEY}.num{kind.capitalize()}Cols": "2", f"{KEY}.{kind}Col.0": "a", f"{KEY}.numBuckets": "4"}
    read = partition_columns_from_properties if kind == "part" else bucket_spec_from_properties
    with pytest.raises(
        SparkCatalogError, match=f"Corrupted {described} columns in catalog: 2 parts expected, but part 1"
    ):
        read(properties)


@pytest.mark.parametrize("number", ["0", "-1", "100001"])
def test_a_number_of_buckets_that_spark_refuses_is_an_error(number: str) -> None:
    assert condition(lambda: bucket_spec_from_properties({f"{KEY}.numBuckets": number})) == "INVALID_BUCKET_COUNT"


def test_buckets_without_columns_are_read() -> None:
    assert bucket_spec_from_properties({f"{KEY}.numBuckets": "4"}) == BucketSpec(4)


@pytest.mark.parametrize("key", [f"{KEY}.numBuckets", f"{KEY}.numPartCols", f"{KEY}.numParts"])
def test_a_number_that_is_none_is_an_error(key: str) -> None:
    with pytest.raises(SparkCatalogError, match=f"'{key}' is 'x', not a number"):
        for read in (bucket_spec_from_properties, partition_columns_from_properties, schema_from_properties):
            read({key: "x"})


def test_reserved_keys_are_refused() -> None:
    reserved = replace(TABLE, properties={"spark.sql.x": "1", "mine": "2"})
    with pytest.raises(SparkCatalogError, match=r"Cannot persist db\.t into Hive metastore .*: \[spark\.sql\.x\]"):
        verify_table_properties(reserved)
    external = replace(TABLE, properties={"EXTERNAL": "TRUE"})
    assert condition(lambda: verify_table_properties(external)) == "_LEGACY_ERROR_TEMP_3087"
    verify_table_properties(replace(TABLE, properties={"external": "x", "spark": "y"}))

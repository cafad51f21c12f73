"""A raw table as Spark's users see it, and Hive's tables as raw ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from metastored.errors import SparkCatalogError
from metastored.model.makers import table as hive_table
from metastored.model.spark.converting import (
    check_hive_table,
    from_hive_table,
    hive_statistics,
    serde_of_source,
    to_hive_table,
)
from metastored.model.spark.restoring import restore_table_metadata
from metastored.model.spark.schemas import EMPTY_DATA_SCHEMA
from metastored.model.spark.type_strings import parse_ddl
from metastored.model.spark.types import AtomicType, StructType, schema_to_json
from metastored.model.spark.values import (
    BucketSpec,
    CatalogStatistics,
    CatalogStorage,
    CatalogTable,
    CatalogTablePartition,
    CatalogTableType,
    TableIdentifier,
)
from metastored.wire.generated.common import FieldSchema, Order, SkewedInfo, Table
from metastored.wire.structs import replace as with_fields

KEY = "spark.sql.sources.schema"


def raw(schema: StructType, properties: dict[str, str], keys: tuple[str, ...] = (), **changes: object) -> CatalogTable:
    found = CatalogTable(
        TableIdentifier("t", "db"), CatalogTableType.MANAGED, CatalogStorage("file:/w/t"), schema,
        partition_column_names=keys, properties=properties,
    )  # fmt: skip
    return replace(found, **changes)  # type: ignore[arg-type]


def schema_property(ddl: str) -> dict[str, str]:
    return {KEY: schema_to_json(parse_ddl(ddl))}


# --- restoring ---------------------------------------------------------------------------------------------


def test_a_hive_table_without_sparks_schema_has_hives() -> None:
    found = restore_table_metadata(raw(parse_ddl("a int, p string"), {"k": "v"}, ("p",)))
    assert found.provider == "hive"
    assert found.tracks_partitions_in_catalog
    assert not found.schema_preserves_case
    assert found.create_version == "2.2 or prior"
    assert found.properties == {"k": "v"}


def test_a_hive_table_has_sparks_schema_while_it_agrees() -> None:
    properties = schema_property("Aa int NOT NULL, P string collate UTF8_LCASE, Bb array<struct<X: int>>")
    properties |= {f"{KEY}.numPartCols": "1", f"{KEY}.partCol.0": "P", "spark.sql.create.version": "4.3.0"}
    found = restore_table_metadata(raw(parse_ddl("aa int, bb array<struct<x:int>>, p string"), properties, ("p",)))
    assert found.schema.names == ("Aa", "Bb", "P")
    assert not found.schema["Aa"].nullable
    assert found.partition_column_names == ("P",)
    assert found.schema_preserves_case
    assert found.create_version == "4.3.0"
    assert found.properties == {}


@pytest.mark.parametrize("hive", ["aa int", "aa bigint, bb string", "bb string, aa int", "aa int, cc string"])
def test_a_hive_table_that_was_altered_has_hives_schema(hive: str) -> None:
    properties = schema_property("Aa int, Bb string")
    found = restore_table_metadata(raw(parse_ddl(hive), properties))
    assert found.schema == parse_ddl(hive)
    assert not found.schema_preserves_case
    respected = CatalogStorage(properties={"respectSparkSchema": "true"})
    kept = restore_table_metadata(raw(parse_ddl(hive), properties, storage=respected))
    assert kept.schema == parse_ddl("Aa int, Bb string")


def test_a_data_source_table_has_its_location_in_the_path() -> None:
    storage = CatalogStorage(
        "file:/w/t-__PLACEHOLDER__", properties={"PATH": "file:/x", "serialization.format": "1", "o": "1"}
    )
    properties = {"spark.sql.sources.provider": "json", "transient_lastDdlTime": "1", **schema_property("A int")}
    found = restore_table_metadata(raw(EMPTY_DATA_SCHEMA, properties, storage=storage))
    assert found.provider == "json"
    assert found.location == "file:/x"
    assert found.storage.properties == {"o": "1"}
    assert found.properties == {}
    assert found.schema == parse_ddl("A int")
    assert not found.tracks_partitions_in_catalog


def test_a_data_source_table_without_a_path_has_no_location() -> None:
    found = restore_table_metadata(raw(EMPTY_DATA_SCHEMA, {"spark.sql.sources.provider": "jdbc"}))
    assert found.storage.location_uri is None
    assert found.schema == StructType()
    with pytest.raises(SparkCatalogError, match="did not specify locationUri"):
        _ = found.location


def test_the_catalog_has_the_partitions_only_if_it_says_so() -> None:
    properties = {"spark.sql.sources.provider": "json", "spark.sql.partitionProvider": "catalog"}
    assert restore_table_metadata(raw(EMPTY_DATA_SCHEMA, properties)).tracks_partitions_in_catalog


def test_a_partition_column_that_is_not_in_the_schema_is_an_error() -> None:
    properties = schema_property("a int, p string") | {f"{KEY}.numPartCols": "1", f"{KEY}.partCol.0": "P"}
    with pytest.raises(SparkCatalogError) as caught:
        restore_table_metadata(raw(parse_ddl("a int, p string"), properties, ("p",)))
    assert caught.value.condition == "_LEGACY_ERROR_TEMP_3088"


def test_a_view_has_the_schema_of_its_properties() -> None:
    view = raw(EMPTY_DATA_SCHEMA, schema_property("T timestamp_ntz"), table_type=CatalogTableType.VIEW)
    assert restore_table_metadata(view).schema["T"].data_type == AtomicType("timestamp_ntz")
    old = raw(parse_ddl("a int"), {}, table_type=CatalogTableType.VIEW)
    assert restore_table_metadata(old).schema == parse_ddl("a int")
    metric = replace(view, properties={"view.subType": "METRIC_VIEW"})
    assert restore_table_metadata(metric).table_type is CatalogTableType.METRIC_VIEW


def test_debug_returns_the_raw_table() -> None:
    table = raw(EMPTY_DATA_SCHEMA, {"spark.sql.sources.provider": "json"})
    assert restore_table_metadata(table, debug=True) is table


def test_sparks_statistics_win_over_hives() -> None:
    table = raw(parse_ddl("a int"), {"spark.sql.statistics.totalSize": "7"}, stats=CatalogStatistics(55))
    assert restore_table_metadata(table).stats == CatalogStatistics(7)
    assert restore_table_metadata(replace(table, properties={})).stats == CatalogStatistics(55)


# --- Hive's tables -----------------------------------------------------------------------------------------


def hive(columns: dict[str, str], **changes: object) -> Table:
    return with_fields(hive_table("db.t", columns), **changes)


@pytest.mark.parametrize(
    ("parameters", "stats"),
    [
        ({"totalSize": "0", "rawDataSize": "77", "numRows": "0"}, CatalogStatistics(77)),
        ({"totalSize": "55", "rawDataSize": "77", "numRows": "9"}, CatalogStatistics(55, 9)),
        ({"totalSize": "0", "rawDataSize": "-1", "numRows": "9"}, None),
        ({"totalSize": ""}, None),
        ({}, None),
    ],
)
def test_hives_statistics(parameters: dict[str, str], stats: CatalogStatistics | None) -> None:
    assert hive_statistics(parameters) == stats


def test_columns_of_hive_are_nullable_and_have_comments() -> None:
    table = hive({"a": "int"})
    assert table.sd is not None
    columns = (
        FieldSchema("a", "int", "one"),
        FieldSchema("b", "char(3)", None),
        FieldSchema("c", "struct<x:int,y.z:int>", None),
    )
    found = from_hive_table(with_fields(table, sd=with_fields(table.sd, cols=columns)))
    assert found.schema == parse_ddl("a int comment 'one', b char(3), c struct<x: int, `y.z`: int>")


@pytest.mark.parametrize(
    ("type", "cause"),
    [("uniontype<int,string>", "UNSUPPORTED_HIVE_TYPE"), ("quark", "CANNOT_RECOGNIZE_HIVE_TYPE")],
)
def test_a_type_that_spark_lacks_is_an_error(type: str, cause: str) -> None:
    table = hive({"a": "int"})
    assert table.sd is not None
    with pytest.raises(SparkCatalogError) as caught:
        from_hive_table(with_fields(table, sd=with_fields(table.sd, cols=(FieldSchema("a", type, None),))))
    assert caught.value.condition == "INTERNAL_ERROR_INVALID_HIVE_COLUMN_TYPE"
    assert isinstance(caught.value.__cause__, SparkCatalogError)
    assert caught.value.__cause__.condition == cause


def test_a_kind_of_table_that_spark_lacks_is_an_error() -> None:
    with pytest.raises(SparkCatalogError, match="materialized view") as caught:
        from_hive_table(hive({"a": "int"}, tableType="MATERIALIZED_VIEW"))
    assert caught.value.condition == "UNSUPPORTED_FEATURE.HIVE_TABLE_TYPE"


def test_what_spark_does_not_support_is_named() -> None:
    table = hive({"a": "int"}, parameters={"storage_handler": "x"}, tableType="VIRTUAL_VIEW",
                 partitionKeys=(FieldSchema("p", "int", None),))  # fmt: skip
    assert table.sd is not None
    skewed = SkewedInfo(skewedColNames=("a",), skewedColValues=(), skewedColValueLocationMaps={})
    found = from_hive_table(with_fields(table, sd=with_fields(table.sd, skewedInfo=skewed)))
    assert found.unsupported_features == ("skewed columns", "storage handler", "partitioned view")


@pytest.mark.parametrize(("order", "names"), [(1, ("a",)), (0, ())])
def test_only_an_ascending_order_is_a_sort_column(order: int, names: tuple[str, ...]) -> None:
    table = hive({"a": "int"})
    assert table.sd is not None
    sd = with_fields(table.sd, numBuckets=4, bucketCols=("a",), sortCols=(Order("a", order),))
    assert from_hive_table(with_fields(table, sd=sd)).bucket_spec == BucketSpec(4, ("a",), names)


def test_a_table_is_read_as_it_was_converted() -> None:
    table = raw(
        parse_ddl("a int comment 'x', b string, p string"), {"k": "v"}, ("p",),
        bucket_spec=BucketSpec(4, ("a",), ("b",)),
        comment="all", collation="UTF8_LCASE", owner="bob", create_time=5000, last_access_time=7000,
        table_type=CatalogTableType.EXTERNAL, provider="hive",
    )  # fmt: skip
    struct = to_hive_table(table)
    assert struct.tableType == "EXTERNAL_TABLE"
    assert struct.parameters == {"EXTERNAL": "TRUE", "k": "v", "comment": "all", "collation": "UTF8_LCASE"}
    found = from_hive_table(struct)
    storage = CatalogStorage(found.storage.location_uri)
    assert replace(found, storage=storage, provider="hive") == table


@pytest.mark.parametrize(
    ("provider", "serde"),
    [("parquet", "ParquetHiveSerDe"), ("ORC", "OrcSerde"), ("avrofile", "AvroSerDe"),
     ("rcfile", "LazyBinaryColumnarSerDe"),
     ("org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat", "ParquetHiveSerDe"),
     ("org.apache.spark.sql.hive.orc", "OrcSerde"), ("sequencefile", "LazySimpleSerDe"),
     ("json", None), ("csv", None), ("text", None), ("delta", None)],
)  # fmt: skip
def test_hive_has_a_serde_for_some_providers(provider: str, serde: str | None) -> None:
    found = serde_of_source(provider)
    assert (found and found.serde.rpartition(".")[2]) == serde


@pytest.mark.parametrize("ddl", ["a int, A int", "a int, p int, P string"])
def test_names_that_differ_by_case_are_not_for_hive(ddl: str) -> None:
    with pytest.raises(Exception, match="Duplicate"):
        check_hive_table(to_hive_table(raw(parse_ddl(ddl), {}, ("P",))))


def test_the_kind_of_a_table_is_its_type_and_not_a_parameter() -> None:
    found = from_hive_table(hive({"a": "int"}, parameters={"EXTERNAL": "FALSE", "k": "v"}, tableType="MANAGED_TABLE"))
    assert found.table_type is CatalogTableType.MANAGED
    assert found.properties == {"k": "v"}


def test_a_data_source_table_is_converted_without_columns_and_their_types_are_checked() -> None:
    table = hive({"a": "int", "b": "array<int>"})
    assert from_hive_table(table, with_columns=False).schema == StructType()
    assert table.sd is not None
    broken = with_fields(table, sd=with_fields(table.sd, cols=(FieldSchema("a", "quark", None),)))
    with pytest.raises(SparkCatalogError) as caught:
        from_hive_table(broken, with_columns=False)
    assert caught.value.condition == "INTERNAL_ERROR_INVALID_HIVE_COLUMN_TYPE"


def test_what_a_table_or_partition_lacks_is_an_error_when_it_is_needed() -> None:
    nameless = CatalogTable(TableIdentifier("t"), CatalogTableType.MANAGED, CatalogStorage(), StructType())
    partition = CatalogTablePartition({"p": "1"})
    needed: dict[str, Callable[[], object]] = {
        "_LEGACY_ERROR_TEMP_1119": lambda: nameless.database,
        "_LEGACY_ERROR_TEMP_1120": lambda: nameless.location,
        "_LEGACY_ERROR_TEMP_1118": lambda: partition.location,
    }
    for condition, read in needed.items():
        with pytest.raises(SparkCatalogError) as caught:
            read()
        assert caught.value.condition == condition


def test_partition_columns_must_be_the_last_ones() -> None:
    table = raw(parse_ddl("p string, a int"), {}, ("p",))
    with pytest.raises(SparkCatalogError, match="are not the last columns"):
        _ = table.partition_schema

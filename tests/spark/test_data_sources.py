"""How tables are stored: Spark's HiveExternalCatalogSuite and MetastoreDataSourcesSuite, and tables of Spark 2.0."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

import metastored
from metastored.catalog import CatalogManager, TableDefinition, columns_of_spark
from metastored.errors import ConnectionLost, SparkCatalogError
from metastored.hive.locations import local_path
from metastored.model.spark.schemas import EMPTY_DATA_SCHEMA
from metastored.model.spark.type_strings import parse_data_type, parse_ddl
from metastored.model.spark.types import INTEGER, STRING, AtomicType, StringType, StructType
from metastored.model.spark.values import (
    BucketSpec,
    CatalogDatabase,
    CatalogStatistics,
    CatalogStorage,
    CatalogTable,
    CatalogTableType,
    TableIdentifier,
)
from metastored.spark import ExternalCatalog
from metastored.wire.generated.common import StorageDescriptor
from metastored.wire.structs import replace as with_fields
from tests.spark.conftest import TEXT, Metastore, new_table

KEY = "spark.sql.sources.schema"


def table(provider: str, schema: StructType, **changes: object) -> CatalogTable:
    storage = TEXT if provider == "hive" else CatalogStorage()
    plain = CatalogTable(TableIdentifier("t", "default"), CatalogTableType.MANAGED, storage, schema, provider=provider)
    return replace(plain, **changes)  # type: ignore[arg-type]


def parameters(catalog: ExternalCatalog, name: str = "t") -> dict[str, str]:
    return dict(catalog.client.table(("default", name)).parameters or {})


def stored(catalog: ExternalCatalog, name: str = "default.t") -> StorageDescriptor:
    sd = catalog.client.table(name).sd
    assert sd is not None
    return sd


def path(sd: StorageDescriptor) -> str:
    assert sd.serdeInfo is not None
    return local_path((sd.serdeInfo.parameters or {})["path"])


def test_a_hive_serde_table_has_no_provider_in_its_parameters(catalog: ExternalCatalog) -> None:
    """SPARK-18647."""
    catalog.create_table(table("hive", parse_ddl("i int")))
    assert "spark.sql.sources.provider" not in parameters(catalog)
    assert "spark.sql.partitionProvider" not in parameters(catalog)
    assert catalog.get_table("default", "t").provider == "hive"


@pytest.mark.parametrize("provider", ["parquet", "hive"])
def test_partition_columns_are_read_last(catalog: ExternalCatalog, provider: str) -> None:
    schema = parse_ddl("col1 int, partCol1 int, partCol2 string, col2 string")
    definition = table(provider, schema, partition_column_names=("partCol1", "partCol2"))
    catalog.create_table(definition)
    assert catalog.get_table("default", "t").schema.names == ("col1", "col2", "partCol1", "partCol2")


def test_a_change_of_the_schema_keeps_hives_buckets(catalog: ExternalCatalog) -> None:
    """SPARK-22306, SPARK-30050: statistics and a new name keep them too."""
    catalog.client.create_table(
        metastored.table("default.t", {"a": "string", "b": "string"}, format="parquet", bucketed_by=("b", 10))
    )
    catalog.alter_table_data_schema("default", "t", parse_ddl("a string, b string, c string"))
    assert catalog.get_raw_table("default", "t").bucket_spec == BucketSpec(10, ("b",))
    catalog.alter_table_stats("default", "t", CatalogStatistics(1))
    catalog.rename_table("default", "t", "t2")
    assert catalog.get_raw_table("default", "t2").bucket_spec == BucketSpec(10, ("b",))


def test_the_owner_of_a_table_is_kept(catalog: ExternalCatalog) -> None:
    """SPARK-29498."""
    catalog.create_table(table("parquet", parse_ddl("i int"), owner="SPARK-29498"))
    assert catalog.get_table("default", "t").owner == "SPARK-29498"
    catalog.alter_table(replace(catalog.get_table("default", "t"), owner=""))
    assert catalog.get_table("default", "t").owner == "SPARK-29498"


@pytest.mark.parametrize("provider", ["parquet", "hive"])
def test_the_provider_of_a_table_can_change(catalog: ExternalCatalog, provider: str) -> None:
    """SPARK-31061."""
    catalog.create_table(table(provider, parse_ddl("col1 int")))
    found = catalog.get_table("default", "t")
    catalog.alter_table(replace(found, provider="foo"))
    assert catalog.get_table("default", "t").provider == "foo"


@pytest.mark.parametrize("provider", ["parquet", "hive", "json"])
def test_collated_strings_are_plain_for_hive_and_collated_for_spark(catalog: ExternalCatalog, provider: str) -> None:
    schema = parse_ddl("a string collate UNICODE_CI, b array<string collate UTF8_LCASE>, c map<string, string>")
    catalog.create_table(table(provider, schema))
    raw = catalog.get_raw_table("default", "t").schema
    if provider == "json":
        assert raw == EMPTY_DATA_SCHEMA
    else:
        assert raw == parse_ddl("a string, b array<string>, c map<string, string>")
    assert catalog.get_table("default", "t").schema == schema
    more = schema.add("d", StringType("UTF8_LCASE"))
    catalog.alter_table_data_schema("default", "t", more)
    assert catalog.get_table("default", "t").schema == more


@pytest.mark.parametrize(
    "type",
    ["interval year to month", "interval day to second", "timestamp_ntz", "variant", "struct<`a b`:int>",
     "array<timestamp_ntz>", "map<int,interval day>", "timestamp_ntz(9)"],
)  # fmt: skip
def test_types_that_hive_lacks_are_only_in_sparks_schema(catalog: ExternalCatalog, type: str) -> None:
    schema = StructType().add("c", parse_data_type(type)).add("d", INTEGER)
    catalog.create_table(table("parquet", schema))
    assert catalog.get_raw_table("default", "t").schema == EMPTY_DATA_SCHEMA
    assert catalog.get_table("default", "t").schema == schema


def test_a_partition_column_of_a_type_that_hive_lacks_is_restored(catalog: ExternalCatalog) -> None:
    schema = StructType().add("c", INTEGER).add("p", AtomicType("timestamp_ntz"))
    catalog.create_table(table("parquet", schema, partition_column_names=("p",)))
    assert [each.type for each in catalog.client.table("default.t").partitionKeys or ()] == [
        "<derived from deserializer>"
    ]
    assert catalog.get_table("default", "t").schema == schema
    catalog.alter_table(replace(catalog.get_table("default", "t"), properties={"k": "v"}))
    assert catalog.get_table("default", "t").schema == schema
    assert catalog.get_table("default", "t").partition_column_names == ("p",)


def test_a_partition_column_may_not_have_the_reserved_name(catalog: ExternalCatalog) -> None:
    definition = table("json", parse_ddl("a int, col int"), partition_column_names=("col",))
    with pytest.raises(SparkCatalogError) as caught:
        catalog.create_table(definition)
    assert caught.value.condition == "CONFLICTING_PARTITION_COLUMN_NAME_WITH_RESERVED"


def test_a_failed_connection_is_no_reason_for_the_other_form(
    catalog: ExternalCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPARK-50137: only a refusal of the metastore is."""
    calls: list[object] = []

    def lost(*args: object) -> None:
        calls.append(args)
        raise ConnectionLost("the peer closed the connection")

    monkeypatch.setattr(catalog.client, "create_table", lost)
    with pytest.raises(ConnectionLost):
        catalog.create_table(table("parquet", parse_ddl("i int")))
    assert len(calls) == 1


def test_a_table_that_hive_refuses_is_stored_in_the_form_for_spark(
    catalog: ExternalCatalog, caplog: pytest.LogCaptureFixture
) -> None:
    """Hive allows no two columns whose names differ by case."""
    schema = parse_ddl("i int, I int")
    with caplog.at_level(logging.WARNING, "metastored.spark.external_catalog"):
        catalog.create_table(table("parquet", schema))
    assert "Could not persist `default`.`t` in a Hive compatible way" in caplog.text
    assert catalog.get_raw_table("default", "t").schema == EMPTY_DATA_SCHEMA
    assert catalog.get_table("default", "t").schema == schema


# --- MetastoreDataSourcesSuite -----------------------------------------------------------------------------


def test_a_schema_of_5000_columns_is_split_and_read(catalog: ExternalCatalog) -> None:
    schema = StructType()
    schema = StructType(tuple(schema.add(f"c_{at}", STRING).fields[0] for at in range(5000)))
    catalog.create_table(table("json", schema))
    found = parameters(catalog)
    assert KEY not in found
    parts = int(found[f"{KEY}.numParts"])
    assert parts > 1
    assert all(len(found[f"{KEY}.part.{at}"]) == 4000 for at in range(parts - 1))
    assert catalog.get_table("default", "t").schema == schema


def test_partition_and_bucket_columns_are_numbered(catalog: ExternalCatalog) -> None:
    schema = parse_ddl("a int, b int, c int, d int")
    spec = BucketSpec(8, ("d", "b"), ("c",))
    catalog.create_table(table("parquet", schema, bucket_spec=spec))
    found = parameters(catalog)
    assert {key.removeprefix(f"{KEY}."): value for key, value in found.items() if key.startswith(f"{KEY}.")} == {
        "numBuckets": "8", "numBucketCols": "2", "numSortCols": "1", "bucketCol.0": "d", "bucketCol.1": "b",
        "sortCol.0": "c",
    }  # fmt: skip
    assert stored(catalog).numBuckets == -1
    assert catalog.get_table("default", "t").bucket_spec == spec


def test_skip_hive_metadata_forces_the_form_for_spark(catalog: ExternalCatalog) -> None:
    storage = CatalogStorage(properties={"skipHiveMetadata": "true"})
    catalog.create_table(table("parquet", parse_ddl("a int"), storage=storage))
    assert [each.type for each in stored(catalog).cols or ()] == ["array<string>"]
    assert catalog.get_table("default", "t").schema == parse_ddl("a int")


def test_debug_shows_the_raw_table(catalog: ExternalCatalog) -> None:
    catalog.create_table(table("json", parse_ddl("a int")))
    conf = {"spark.hadoop.hive.metastore.uris": catalog.client.uri, "spark.sql.debug": "true"}
    with ExternalCatalog.from_conf(conf) as debugging:
        assert KEY in debugging.get_table("default", "t").properties


def test_a_lower_threshold_makes_more_parts(catalog: ExternalCatalog) -> None:
    conf = {
        "spark.hadoop.hive.metastore.uris": catalog.client.uri,
        "spark.sql.sources.schemaStringLengthThreshold": "50",
    }
    with ExternalCatalog.from_conf(conf) as other:
        other.create_table(table("json", parse_ddl("a int, b int")))
    assert int(parameters(catalog)[f"{KEY}.numParts"]) > 1
    assert catalog.get_table("default", "t").schema == parse_ddl("a int, b int")


# --- locations ---------------------------------------------------------------------------------------------


def test_an_external_table_for_spark_alone_has_a_placeholder(catalog: ExternalCatalog, tmp_path: Path) -> None:
    catalog.create_database(CatalogDatabase("mydb", location_uri=(tmp_path / "mydb.db").as_uri()))
    catalog.create_table(replace(new_table("t", "mydb", tmp_path), provider="json", storage=external(tmp_path / "x")))
    assert local_path(stored(catalog, "mydb.t").location or "") == str(tmp_path / "mydb.db" / "t-__PLACEHOLDER__")
    assert path(stored(catalog, "mydb.t")) == str(tmp_path / "x")
    found = catalog.get_table("mydb", "t")
    assert local_path(found.location) == str(tmp_path / "x")
    assert "path" not in found.storage.properties
    assert "serialization.format" not in found.storage.properties


def test_a_change_of_properties_keeps_the_placeholder_and_a_new_location_replaces_it(
    catalog: ExternalCatalog, tmp_path: Path
) -> None:
    catalog.create_table(
        table("json", parse_ddl("a int"), table_type=CatalogTableType.EXTERNAL, storage=external(tmp_path / "x"))
    )
    found = catalog.get_table("default", "t")
    catalog.alter_table(replace(found, properties={"k": "v"}))
    assert (stored(catalog).location or "").endswith("-__PLACEHOLDER__")
    assert parameters(catalog)["spark.sql.partitionProvider"] == "filesystem"
    catalog.alter_table(found.with_storage(location_uri=(tmp_path / "y").as_uri()))
    assert local_path(stored(catalog).location or "") == path(stored(catalog)) == str(tmp_path / "y")


def external(folder: Path) -> CatalogStorage:
    return CatalogStorage(folder.as_uri())


@pytest.mark.parametrize(
    ("key", "condition"),
    [("spark.sql.sources.schema", "_LEGACY_ERROR_TEMP_3086"), ("EXTERNAL", "_LEGACY_ERROR_TEMP_3087")],
)
def test_reserved_properties_are_refused(catalog: ExternalCatalog, key: str, condition: str) -> None:
    with pytest.raises(SparkCatalogError) as created:
        catalog.create_table(table("json", parse_ddl("a int"), properties={key: "x"}))
    catalog.create_table(table("json", parse_ddl("a int")))
    with pytest.raises(SparkCatalogError) as altered:
        catalog.alter_table(table("json", parse_ddl("a int"), properties={key: "x"}))
    assert created.value.condition == altered.value.condition == condition


def test_hives_statistics_are_hidden_and_survive_a_change(catalog: ExternalCatalog) -> None:
    catalog.create_table(table("hive", parse_ddl("a int")))
    struct = catalog.client.table("default.t")
    sizes = {"totalSize": "55", "rawDataSize": "77", "numRows": "9"}
    changed = with_fields(struct, parameters={**(struct.parameters or {}), **sizes})
    catalog.client.alter("default.t", changed, environment={"DO_NOT_UPDATE_STATS": "true"})
    found = catalog.get_table("default", "t")
    assert found.stats == CatalogStatistics(55, 9)
    assert not sizes.keys() & found.properties.keys()
    catalog.alter_table(replace(found, properties={"k": "v"}))
    kept = parameters(catalog)
    assert (kept["rawDataSize"], kept["numRows"]) == ("77", "9")
    assert kept["totalSize"] in ("55", "0")  # Hive 2.3 counts the files again.


def test_a_table_of_hive_that_another_program_altered_is_read_as_hive_has_it(
    catalog: ExternalCatalog, caplog: pytest.LogCaptureFixture
) -> None:
    catalog.create_table(table("hive", parse_ddl("Aa int, Bb string")))
    catalog.client.add_columns("default.t", {"cc": "int"})
    found = catalog.get_table("default", "t")
    assert found.schema == parse_ddl("aa int, bb string, cc int")
    assert not found.schema_preserves_case
    assert "is different from the schema when this table was created by Spark SQL" in caplog.text


def test_a_managed_table_of_the_catalog_api_has_the_path_that_spark_writes(
    catalog: ExternalCatalog, metastore: Metastore
) -> None:
    definition = TableDefinition(
        columns=columns_of_spark("Id BIGINT"), properties={"spark.sql.sources.provider": "parquet"}
    )
    with CatalogManager.load(environment={}, list=[{"name": "here", "type": "hive", "uri": metastore.uri}]) as manager:
        manager.create_table("default.made", definition)
    catalog.create_table(table("parquet", parse_ddl("Id bigint")))
    made, by_spark = stored(catalog, "default.made"), stored(catalog)
    assert path(made) == local_path(made.location or "")
    assert path(by_spark) == local_path(by_spark.location or "")
    assert catalog.get_table("default", "made").location == catalog.get_table("default", "t").location[:-1] + "made"


def test_comment_and_collation_are_fields_of_a_table(catalog: ExternalCatalog) -> None:
    catalog.create_table(table("parquet", parse_ddl("a int comment 'one'"), comment="all", collation="UTF8_LCASE"))
    found = catalog.get_table("default", "t")
    assert (found.comment, found.collation, found.schema["a"].comment) == ("all", "UTF8_LCASE", "one")
    assert not {"comment", "collation"} & found.properties.keys()


def test_char_and_varchar_are_declared_in_hive_and_restored(catalog: ExternalCatalog) -> None:
    schema = parse_ddl("a char(5), b varchar(7), c array<varchar(3)>")
    catalog.create_table(table("parquet", schema))
    assert [each.type for each in stored(catalog).cols or ()] == [
        "char(5)", "varchar(7)", "array<varchar(3)>",
    ]  # fmt: skip
    assert '"type":"string"' in parameters(catalog)[KEY]
    found = catalog.get_table("default", "t").schema
    assert [each.data_type for each in found] == [each.data_type for each in schema]

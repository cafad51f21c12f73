"""Tables of other programs: Spark's schema in parameters, Iceberg's partitioning, formats by their classes."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from metastored.catalog.hive_changes import changed_database, changed_table
from metastored.catalog.hive_objects import hive_table, partition_status, table_definition, table_status
from metastored.catalog.status import (
    Buckets,
    ColumnStatus,
    DatabaseChanges,
    SortColumn,
    TableChanges,
    TableDefinition,
    TableKind,
    columns_of_arrow,
    columns_of_spark,
    spark_schema,
)
from metastored.errors import InvalidInputException
from metastored.model.formats import FORMATS, classes_of, format_of
from metastored.model.spark.columns import schema_parameters
from metastored.model.spark.properties import schema_to_properties
from metastored.model.spark.values import BucketSpec
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition

COLUMNS = columns_of_spark("Id BIGINT NOT NULL, name VARCHAR(9) COMMENT 'who', ds STRING")
SCHEMA = schema_to_properties(spark_schema(COLUMNS))["spark.sql.sources.schema"]
SPARK = {"spark.sql.sources.provider": "PARQUET", "spark.sql.create.version": "4.0.0"}


def table(parameters: dict[str, str] | None = None, **changes: Any) -> Table:
    sd = StorageDescriptor(cols=(FieldSchema("col", "array<string>", "from deserializer"),), location=" ")
    given: dict[str, Any] = {"tableName": "t", "dbName": "db", "sd": sd, "parameters": parameters}
    return Table(**(given | changes))


# Spark


def test_a_spark_table_has_the_schema_in_its_parameters() -> None:
    keys = {"spark.sql.sources.schema.numPartCols": "1", "spark.sql.sources.schema.partCol.0": "ds"}
    found = table_status("c", table({**SPARK, **keys, "spark.sql.sources.schema": SCHEMA}))
    assert [(each.name, each.data_type, each.nullable, each.is_partition) for each in found.columns] == [
        ("Id", "bigint", False, False),
        ("name", "varchar(9)", True, False),
        ("ds", "string", True, True),
    ]
    assert (found.partition_by, found.format, found.column("name").comment) == (("ds",), "parquet", "who")
    assert found.location is None


def test_a_long_schema_is_joined_from_its_parts() -> None:
    parts = {
        f"spark.sql.sources.schema.part.{at}": SCHEMA[at * 50 : at * 50 + 50] for at in range(len(SCHEMA) // 50 + 1)
    }
    found = table_status("c", table({**SPARK, **parts, "spark.sql.sources.schema.numParts": str(len(parts))}))
    assert [each.name for each in found.columns] == ["Id", "name", "ds"]


@pytest.mark.parametrize(
    "parameters",
    [
        None,
        {},
        {"spark.sql.sources.schema": SCHEMA},
        {**SPARK, "spark.sql.sources.schema": "{broken"},
        {**SPARK, "spark.sql.sources.schema.numParts": "many"},
        {**SPARK, "spark.sql.sources.schema": '{"type":"struct","fields":[{"name":"v","type":"variant"}]}'},
    ],
)
def test_hives_columns_are_used_without_a_readable_schema_of_spark(parameters: dict[str, str] | None) -> None:
    assert [each.data_type for each in table_status("c", table(parameters)).columns] == ["array<string>"]


# Iceberg


def test_the_partitioning_of_an_iceberg_table_in_hive_is_read() -> None:
    schema = {
        "type": "struct",
        "fields": [
            {"id": 1, "name": "id", "type": "long", "required": True},
            {"id": 2, "name": "at", "type": "timestamp", "required": False},
        ],
    }
    terms = [("identity", 1), ("day", 2), ("bucket[16]", 1), ("truncate[4]", 1)]
    spec = {"fields": [{"transform": transform, "source-id": id, "name": "x"} for transform, id in terms]}
    parameters = {
        "table_type": "ICEBERG",
        "metadata_location": "s3://bucket/m.json",
        "current-schema": json.dumps(schema),
        "default-partition-spec": json.dumps(spec),
    }
    sd = StorageDescriptor(cols=(FieldSchema("id", "bigint"), FieldSchema("at", "timestamp")))
    found = table_status("c", table(parameters, sd=sd))
    assert found.partition_by == ("id", "day(at)", "bucket(16, id)", "truncate(4, id)")
    assert (found.format, found.metadata_location) == ("iceberg", "s3://bucket/m.json")
    assert [(each.nullable, each.is_partition) for each in found.columns] == [(False, True), (True, False)]
    assert "current-schema" not in found.properties
    for broken in ("{", '{"fields":[{"transform":"day","source-id":9}]}', ""):
        again = table_status("c", table({**parameters, "default-partition-spec": broken}, sd=sd))
        assert (again.partition_by, again.column("id").nullable) == ((), True)


@pytest.mark.parametrize(
    ("format", "property"), [("iceberg", None), ("parquet", None), ("orc", "orc"), ("AVRO", "avro")]
)
def test_a_new_iceberg_table_has_the_format_of_its_files(format: str, property: str | None) -> None:
    given = TableDefinition(columns=[ColumnStatus("id", "bigint")], format=format, partition_by=["bucket(4, id)"])
    made = hive_table("db", "t", given, iceberg=True)
    assert (made.parameters or {}).get("write.format.default") == property
    assert json.loads((made.parameters or {})["partitioning"]) == ["bucket(4, id)"]
    with pytest.raises(InvalidInputException, match="Iceberg has no files of format 'csv'"):
        hive_table("db", "t", TableDefinition(columns=given.columns, format="csv"), iceberg=True)


# Hive


def test_a_new_table_needs_columns_and_keys_among_them() -> None:
    with pytest.raises(InvalidInputException, match=r"db\.t needs at least one column"):
        hive_table("db", "t", TableDefinition(columns=[]))
    with pytest.raises(InvalidInputException, match=r"partitioned by day\(at\), which is not a column of it"):
        hive_table("db", "t", TableDefinition(columns=[ColumnStatus("at", "date")], partition_by=["day(at)"]))


def test_a_location_makes_a_table_external_unless_external_is_false() -> None:
    columns = [ColumnStatus("id", "int")]
    made = [
        hive_table("db", "t", TableDefinition(columns=columns, location=location, external=external))
        for location, external in (("s3://b/t", None), ("s3://b/t", False), (None, None), (None, True))
    ]
    assert [each.tableType for each in made] == ["EXTERNAL_TABLE", "MANAGED_TABLE", "MANAGED_TABLE", "EXTERNAL_TABLE"]
    assert [table_status("c", each).external for each in made] == [True, False, False, True]


@pytest.mark.parametrize("format", FORMATS)
def test_each_format_is_recognised_by_its_classes(format: str) -> None:
    made = hive_table("db", "t", TableDefinition(columns=[ColumnStatus("id", "int")], format=format.upper()))
    assert format_of(made) == format


def test_unknown_formats_and_formats_with_own_metadata_are_refused() -> None:
    with pytest.raises(InvalidInputException, match="unknown format 'xml'; known are parquet"):
        classes_of("xml")
    for format in ("iceberg", "Delta", "hudi", "lance"):
        with pytest.raises(InvalidInputException, match=f"a table of {format} has metadata of its own"):
            classes_of(format)


@pytest.mark.parametrize(
    ("input", "serde", "format"),
    [
        (None, None, None),
        ("org.apache.hadoop.mapred.TextInputFormat", "org.apache.hive.hcatalog.data.JsonSerDe", "json"),
        ("org.apache.hadoop.mapred.TextInputFormat", "org.example.OtherSerDe", None),
        ("org.example.Input", "org.apache.hadoop.hive.ql.io.orc.OrcSerde", "orc"),
        ("org.example.Input", "org.example.OtherSerDe", None),
    ],
)
def test_formats_by_other_classes(input: str | None, serde: str | None, format: str | None) -> None:
    sd = StorageDescriptor(inputFormat=input, serdeInfo=SerDeInfo(serializationLib=serde))
    assert format_of(table(sd=sd)) == format
    assert format_of(table(sd=None)) is None


def test_tables_of_other_formats_and_kinds_are_recognised() -> None:
    assert table_status("c", table({"spark.sql.sources.provider": "delta"})).format == "delta"
    assert table_status("c", table({"spark.sql.sources.provider": "hive"})).format is None
    view = table_status("c", table(tableType="MATERIALIZED_VIEW", viewExpandedText="select 1"))
    assert (view.kind, view.definition, view.format) == (TableKind.MATERIALIZED_VIEW, "select 1", None)
    acid = table_status("c", table({"transactional": "true", "transactional_properties": "insert_only"})).acid
    assert acid is not None and acid.insert_only


def test_empty_texts_and_times_are_none() -> None:
    found = table_status("c", Table(tableName="t", dbName="a.b", owner="", createTime=0, lastAccessTime=1_700_000_000))
    assert (found.owner, found.created, found.database, found.columns) == (None, None, ("a", "b"), ())
    assert found.last_access is not None and found.last_access.year == 2023
    part = partition_status(table(partitionKeys=(FieldSchema("DS", "string"),)), Partition(values=("a b",)))
    assert (part.values, part.name, part.location) == ({"ds": "a b"}, "ds=a b", None)


def test_fields_of_a_database_without_a_change_stay() -> None:
    before = Database("db", "said", "file:/x", {"a": "1"}, ownerName="ann")
    assert changed_database(before, DatabaseChanges()) == before
    after = changed_database(before, DatabaseChanges(comment="", location="file:/y", owner="bob"))
    assert (after.description, after.locationUri, after.ownerName, after.parameters) == (
        "",
        "file:/y",
        "bob",
        {"a": "1"},
    )


# Columns of Arrow and Spark


def test_columns_are_converted_from_arrow_and_back() -> None:
    schema = pa.schema(
        [pa.field("id", pa.int64(), nullable=False), pa.field("s", pa.string(), metadata={"comment": "é"})]
    )
    columns = columns_of_arrow(schema)
    assert columns == (ColumnStatus("id", "bigint", nullable=False), ColumnStatus("s", "string", "é"))
    assert pa.schema([each.arrow() for each in columns]).equals(schema, check_metadata=True)


def test_columns_are_converted_from_spark_and_back() -> None:
    columns = columns_of_spark("a INTERVAL DAY TO SECOND, b ARRAY<CHAR(3)> COMMENT 'x'")
    assert columns_of_spark(spark_schema(columns).json()) == columns
    assert [each.spark() for each in columns] == ["interval day to second", "array<char(3)>"]


# Tables that Spark wrote, as Spark reads them


def spark_json(location: str, path: str, **changes: Any) -> Table:
    """A table that only Spark can read."""
    sd = StorageDescriptor(
        cols=(FieldSchema("col", "array<string>", "from deserializer"),),
        location=location,
        serdeInfo=SerDeInfo(parameters={"path": path, "serialization.format": "1", "multiLine": "true"}),
    )
    schema = spark_schema(columns_of_spark("Id BIGINT NOT NULL, name VARCHAR(9), Ds STRING"))
    parameters = {"spark.sql.sources.provider": "json"}
    parameters |= schema_parameters(schema, ["Ds"], BucketSpec(4, ("Id",), ("name",)))
    return table(parameters, **({"sd": sd, "partitionKeys": (FieldSchema("ds", "string"),)} | changes))


def test_a_spark_table_has_its_location_in_the_path_and_its_buckets_in_the_parameters() -> None:
    found = table_status("c", spark_json("file:/w/t-__PLACEHOLDER__", "file:/x"))
    assert found.location == "file:/x"
    assert found.bucket_by == Buckets(("Id",), 4)
    assert found.sort_by == (SortColumn("name"),)
    assert found.partition_by == ("Ds",)
    assert found.options == {"multiLine": "true"}
    assert [(each.is_bucket, each.is_cluster, each.is_partition) for each in found.columns] == [
        (True, False, False), (False, True, False), (False, False, True),
    ]  # fmt: skip


def test_a_new_location_of_a_spark_table_is_its_path_too() -> None:
    changed = changed_table(spark_json("file:/w/t-__PLACEHOLDER__", "file:/x"), TableChanges(location="file:/y"))
    assert changed.sd is not None and changed.sd.serdeInfo is not None
    assert (changed.sd.location, changed.sd.serdeInfo.parameters) == (
        "file:/y", {"path": "file:/y", "serialization.format": "1", "multiLine": "true"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "location", "path"),
    [
        ("MANAGED_TABLE", "file:/w/t", "file:/w/u"),
        ("MANAGED_TABLE", "file:/w/elsewhere", "file:/w/elsewhere"),
        ("EXTERNAL_TABLE", "file:/w/t", "file:/w/t"),
    ],
)
def test_the_path_of_a_managed_spark_table_follows_its_name(kind: str, location: str, path: str) -> None:
    changed = changed_table(spark_json(location, location, tableType=kind), TableChanges(rename_to="u"))
    assert changed.sd is not None and changed.sd.serdeInfo is not None
    assert (changed.sd.serdeInfo.parameters or {})["path"] == path


def test_columns_of_a_table_that_only_spark_reads_are_changed_in_its_schema() -> None:
    before = spark_json("file:/w/t", "file:/w/t")
    changes = TableChanges(rename_columns={"name": "Title"}, add_columns=[ColumnStatus("more", "int")])
    changed = changed_table(before, changes)
    assert changed.sd is not None and before.sd is not None
    assert changed.sd.cols == before.sd.cols
    status = table_status("c", changed)
    assert [each.name for each in status.columns] == ["Id", "Title", "more", "Ds"]
    assert status.sort_by == (SortColumn("Title"),)
    with pytest.raises(InvalidInputException, match=r"has no column col .* it has Id, name"):
        changed_table(before, TableChanges(drop_columns=["col"]))


def test_a_table_like_one_of_spark_is_one_of_spark() -> None:
    definition = table_definition(spark_json("file:/w/t-__PLACEHOLDER__", "file:/x", tableType="EXTERNAL_TABLE"))
    made = hive_table("db", "u", definition)
    again = table_status("c", made)
    assert again.properties["spark.sql.sources.provider"] == "json"
    assert (again.location, again.bucket_by, again.partition_by) == ("file:/x", Buckets(("Id",), 4), ("Ds",))
    assert [each.name for each in again.columns] == ["Id", "name", "Ds"]


def made_path(database_location: str | None = "file:/w/db.db", **changes: Any) -> str | None:
    given = {
        "columns": columns_of_spark("id BIGINT"),
        "properties": {"spark.sql.sources.provider": "parquet"},
    } | changes
    made = hive_table("db", "Orders", TableDefinition(**given), database_location=database_location)
    assert made.sd is not None and made.sd.serdeInfo is not None
    return (made.sd.serdeInfo.parameters or {}).get("path")


def test_a_new_managed_table_of_a_data_source_has_the_path_that_spark_writes() -> None:
    assert made_path() == "file:/w/db.db/orders"
    assert made_path(location="file:/x", external=False) == "file:/x"


def test_a_path_is_written_only_for_data_sources_that_have_one() -> None:
    assert made_path(properties={}) is None
    assert made_path(external=True) is None
    assert made_path(database_location=None) is None
    assert made_path(options={"path": "file:/y"}) == "file:/y"

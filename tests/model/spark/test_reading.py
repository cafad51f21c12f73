"""Any table of a metastore, as Spark reads it where Spark wrote it."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.model.spark.columns import schema_parameters
from metastored.model.spark.reading import has_only_spark_columns, spark_table
from metastored.model.spark.type_strings import parse_ddl
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table

SCHEMA = schema_parameters(parse_ddl("Id int NOT NULL, T timestamp_ntz"), ())
SOURCE = {"spark.sql.sources.provider": "json", **SCHEMA}
STANDS_FOR_ALL = (FieldSchema("col", "array<string>", "from deserializer"),)


def table(parameters: dict[str, str], columns: tuple[FieldSchema, ...] = STANDS_FOR_ALL, **changes: Any) -> Table:
    sd = StorageDescriptor(
        cols=columns, location="file:/w/t-__PLACEHOLDER__", serdeInfo=SerDeInfo(parameters={"path": "file:/x"})
    )
    fields: dict[str, Any] = {"tableName": "t", "dbName": "db", "sd": sd, "parameters": parameters}
    return Table(**(fields | changes))


def test_a_data_source_table_is_read_from_its_parameters() -> None:
    found = spark_table(table(SOURCE))
    assert found is not None
    assert (found.provider, found.location) == ("json", "file:/x")
    assert found.schema == parse_ddl("Id int NOT NULL, T timestamp_ntz")


def test_a_view_is_read_from_its_parameters() -> None:
    found = spark_table(table(SCHEMA, tableType="VIRTUAL_VIEW"))
    assert found is not None
    assert found.schema.names == ("Id", "T")


@pytest.mark.parametrize(
    "other",
    [
        table({}),
        table({"spark.sql.create.version": "4.3.0"}),
        table(SCHEMA, (FieldSchema("id", "int"),)),
        table(SOURCE, tableType="MATERIALIZED_VIEW"),
        table({**SOURCE, "spark.sql.sources.schema": "{"}),
        table({**SOURCE, "spark.sql.statistics.numRows": "1"}),
    ],
    ids=["Hive's", "without a schema", "altered by Hive", "a materialized view", "broken", "without a size"],
)
def test_what_spark_did_not_write_or_cannot_read_is_none(other: Table) -> None:
    assert spark_table(other) is None


def test_types_of_hive_that_spark_lacks_do_not_matter_to_a_data_source() -> None:
    for type in ("uniontype<int,string>", "quark", ""):
        found = spark_table(table(SOURCE, (FieldSchema("c", type),)))
        assert found is not None
        assert found.schema.names == ("Id", "T")


def test_a_table_that_only_spark_reads_has_one_column_in_hive() -> None:
    assert has_only_spark_columns(table(SOURCE))
    assert not has_only_spark_columns(table(SOURCE, (FieldSchema("id", "int"),)))
    assert not has_only_spark_columns(Table())

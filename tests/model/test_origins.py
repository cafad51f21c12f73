"""Which program keeps a table's metadata, and which one made it."""

from __future__ import annotations

import pytest

from metastored.catalog.hive_objects import table_status
from metastored.model.origins import TableFormat, is_iceberg, origin
from metastored.wire.generated.common import StorageDescriptor, Table


@pytest.mark.parametrize(
    ("parameters", "expected", "writer"),
    [
        ({}, TableFormat.HIVE, None),
        ({"table_type": "ICEBERG", "metadata_location": "s3://x"}, TableFormat.ICEBERG, None),
        ({"table_type": "iceberg"}, TableFormat.ICEBERG, None),
        ({"storage_handler": "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"}, TableFormat.ICEBERG, None),
        ({"spark.sql.sources.provider": "delta"}, TableFormat.DELTA, None),
        ({"delta.minReaderVersion": "1"}, TableFormat.DELTA, None),
        ({"spark.sql.sources.provider": "hudi"}, TableFormat.HUDI, None),
        ({"hoodie.table.name": "t"}, TableFormat.HUDI, None),
        ({"table_type": "lance"}, TableFormat.LANCE, None),
        ({"spark.sql.sources.provider": "parquet", "spark.sql.create.version": "3.5.6"}, TableFormat.HIVE, "spark"),
        ({"trino_version": "476", "presto_version": "x"}, TableFormat.HIVE, "trino"),
        ({"presto_version": "0.290"}, TableFormat.HIVE, "presto"),
    ],
)
def test_whose_table_it_is(parameters: dict[str, str], expected: TableFormat, writer: str | None) -> None:
    result = origin(Table(parameters=parameters))
    assert (result.format, result.writer) == (expected, writer)
    assert result.metadata_location == parameters.get("metadata_location")
    assert result.provider == parameters.get("spark.sql.sources.provider")


def test_every_format_and_writer_is_named_with_its_version() -> None:
    parameters = {
        "table_type": "ICEBERG", "format-version": "2", "spark.sql.sources.provider": "delta",
        "delta.minReaderVersion": "3", "hoodie.table.version": "6", "trino_version": "476",
        "spark.sql.create.version": "3.5.6", "presto_version": "0.290",
    }  # fmt: skip
    found = origin(Table(parameters=parameters))
    assert found.format is TableFormat.ICEBERG
    assert found.formats == {TableFormat.ICEBERG: "2", TableFormat.DELTA: "3", TableFormat.HUDI: "6"}
    assert found.writers == {"trino": "476", "presto": "0.290", "spark": "3.5.6"}
    assert not origin(Table()).formats and not origin(Table()).writers


def test_a_table_of_the_catalog_has_the_same_origin() -> None:
    for parameters in (
        {"table_type": "iceberg", "metadata_location": "s3://x", "format-version": "2"},
        {"spark.sql.sources.provider": "parquet", "spark.sql.create.version": "3.5.6"},
        {"delta.minReaderVersion": "1"},
    ):
        table = Table(tableName="t", dbName="d", parameters=parameters)
        assert origin(table_status("c", table)) == origin(table)
    hudi = Table(sd=StorageDescriptor(inputFormat="org.apache.hudi.hadoop.HoodieParquetInputFormat"))
    assert origin(table_status("c", hudi)).format is TableFormat.HUDI


def test_a_hudi_table_is_recognised_by_its_input_format() -> None:
    sd = StorageDescriptor(inputFormat="org.apache.hudi.hadoop.HoodieParquetInputFormat")
    assert origin(Table(sd=sd, parameters=None)).format is TableFormat.HUDI


def test_hive_recognises_iceberg_by_the_parameter_alone() -> None:
    assert is_iceberg(Table(parameters={"table_type": "Iceberg"}))
    by_handler = Table(parameters={"storage_handler": "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"})
    assert not is_iceberg(by_handler)
    assert origin(by_handler).format is TableFormat.ICEBERG
    assert not is_iceberg(Table())

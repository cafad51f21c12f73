"""The columns of a table, and its Arrow schema."""

from __future__ import annotations

import pytest

from metastored.errors import ConversionError
from metastored.model.columns import Column, arrow_schema, columns_of, partitioned_by
from metastored.model.makers import table
from metastored.model.spark.type_strings import parse_ddl
from metastored.wire.generated.common import FieldSchema, Table
from metastored.wire.structs import replace

ORDERS = table("d.t", {"id": ("bigint", "its number"), "price": "decimal(10,2)"}, partitioned_by={"ds": "date"})


def of_spark(**more: str) -> Table:
    schema = parse_ddl("Id BIGINT NOT NULL, Ds STRING").json()
    half = len(schema) // 2
    return replace(
        ORDERS,
        partitionKeys=(),
        parameters={
            "spark.sql.sources.provider": "parquet",
            "spark.sql.sources.schema.numParts": "2",
            "spark.sql.sources.schema.part.0": schema[:half],
            "spark.sql.sources.schema.part.1": schema[half:],
            **more,
        },
    )


def test_partition_keys_are_the_last_columns() -> None:
    assert columns_of(ORDERS) == (
        Column("id", "bigint", "its number"),
        Column("price", "decimal(10,2)"),
        Column("ds", "date"),
    )
    assert partitioned_by(ORDERS) == ("ds",)


def test_spark_s_schema_is_read_from_the_parameters() -> None:
    spark = of_spark(**{"spark.sql.sources.schema.numPartCols": "1", "spark.sql.sources.schema.partCol.0": "Ds"})
    assert columns_of(spark) == (Column("Id", "bigint", None, nullable=False), Column("Ds", "string"))
    assert partitioned_by(spark) == ("Ds",)


def test_a_schema_that_cannot_be_read_leaves_hive_s_columns() -> None:
    broken = replace(
        of_spark(), parameters={**(of_spark().parameters or {}), "spark.sql.sources.schema": '{"type":"x"}'}
    )
    assert [column.name for column in columns_of(broken)] == ["id", "price"]
    assert partitioned_by(broken) == ()


def test_a_table_has_an_arrow_schema() -> None:
    pa = pytest.importorskip("pyarrow")
    schema = arrow_schema(ORDERS)
    assert schema.names == ["id", "price", "ds"]
    assert schema.types == [pa.int64(), pa.decimal128(10, 2), pa.date32()]
    assert schema.field("id").metadata == {b"comment": b"its number"}
    assert not arrow_schema(of_spark()).field("Id").nullable


def test_a_type_that_is_none_of_hive_s_has_no_arrow_schema() -> None:
    pytest.importorskip("pyarrow")
    wrong = table("d.t", [FieldSchema("c", "geometry")])
    with pytest.raises(ConversionError, match=r"column c of d\.t has the type 'geometry'"):
        arrow_schema(wrong)

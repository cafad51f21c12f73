"""Rows that Python has are a part of the plan: the results of statements, and reads of no rows, start no Spark job."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType

from metastored.spark import acid
from metastored.spark.local_rows import MOST_VALUES, local_rows
from tests.spark.acid.conftest import Shop, Warehouse, rows_of
from tests.spark.acid.sql.test_parameters import HOSTILE

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCHEMA = StructType([StructField("a`b", LongType()), StructField("n", IntegerType()), StructField("t", StringType())])


def jobs(spark: Any) -> int:
    """The number of jobs that this Spark has started."""
    number: int = spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs()
    return number


def test_rows_are_those_of_a_dataframe_of_pyspark(spark: Any) -> None:
    rows = [(2**63 - 1, -(2**31), "x"), (-(2**63), 2**31 - 1, ""), (None, None, None)]
    rows += [(at, at, text) for at, text in enumerate(HOSTILE)]
    before = jobs(spark)
    made = local_rows(spark, rows, SCHEMA)
    assert [tuple(row) for row in made.collect()] == rows
    assert jobs(spark) == before
    assert made.schema == spark.createDataFrame(rows, SCHEMA).schema


def test_no_rows_have_columns_of_any_types(spark: Any) -> None:
    schema = StructType([*SCHEMA.fields, StructField("below", ArrayType(SCHEMA))])
    before = jobs(spark)
    for each in (schema, StructType([])):
        made = local_rows(spark, [], each)
        assert made.collect() == [] and made.schema == each
    assert jobs(spark) == before


def test_many_rows_are_left_to_pyspark(spark: Any) -> None:
    schema = StructType([StructField("n", LongType())])
    rows = [(number,) for number in range(MOST_VALUES + 1)]
    assert [tuple(row) for row in local_rows(spark, rows, schema).collect()] == rows


def test_the_numbers_of_a_change_are_read_without_a_job(shop: Shop) -> None:
    done = shop.frame("UPDATE orders SET n = 0 WHERE id > 1")
    before = jobs(shop.spark)
    assert [row.asDict() for row in done.collect()] == [{"num_affected_rows": 2}]
    assert jobs(shop.spark) == before


def test_an_empty_table_is_read_without_a_job(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", {"id": "bigint", "below": "struct<a:array<char(3)>>"}, keys={"ds": "date"})
    before = jobs(spark)
    assert rows_of(acid.read(spark, name, client=warehouse.client)) == []
    assert jobs(spark) == before


def test_partitions_are_chosen_without_a_job(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("t", {"id": "bigint"}, keys={"ds": "string"})
    warehouse.client.sql(f"ALTER TABLE {name} ADD PARTITION (ds='a') PARTITION (ds='it''s')")
    before = jobs(spark)
    assert rows_of(acid.read(spark, name, "ds > 'b'", client=warehouse.client)) == []
    assert jobs(spark) == before

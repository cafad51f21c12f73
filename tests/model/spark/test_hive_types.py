"""Hive's types as Spark's, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.errors import ConversionError
from metastored.hive.types.type_strings import HiveType, Primitive, parse_type, read_type
from metastored.model.spark.hive_types import to_hive_type, to_spark_type
from metastored.model.spark.type_strings import catalog_string, parse_data_type
from metastored.model.spark.types import DecimalType, UserDefinedType
from tests.hive.type_trees import PRIMITIVES, every_type, sized, trees
from tests.hive.types.test_read_type import SPELLINGS

NOT_SPARKS = ("datetime", "timestamp with time zone", "timestamp with local time zone")
sparks = trees(st.sampled_from([each for each in PRIMITIVES if each not in NOT_SPARKS]).map(Primitive) | sized, False)


@given(sparks)
def test_every_type_that_spark_has_comes_back(type: HiveType) -> None:
    assert to_hive_type(to_spark_type(type)) == type


@given(every_type)
def test_every_type_of_hive_has_one_that_spark_reads(type: HiveType) -> None:
    spark = to_spark_type(type)
    assert parse_data_type(catalog_string(spark, quoted=True)) == spark


@pytest.mark.parametrize(("text", "canonical"), SPELLINGS)
def test_every_spelling_is_the_same_type(text: str, canonical: str) -> None:
    assert to_spark_type(read_type(text)) == to_spark_type(read_type(canonical))


@pytest.mark.parametrize(
    ("hive", "spark"),
    [
        ("timestamp", "timestamp"),
        ("timestamp with local time zone", "timestamp"),
        ("interval_year_month", "interval year to month"),
        ("interval_day_time", "interval day to second"),
        ("struct<a b:int>", "struct<`a b`:int>"),
        ("uniontype<int,string>", "struct<tag:tinyint,field0:int,field1:string>"),
        ("map<char(3),decimal(5,2)>", "map<char(3),decimal(5,2)>"),
    ],
)
def test_each_type_as_spark_writes_it(hive: str, spark: str) -> None:
    assert catalog_string(to_spark_type(parse_type(hive)), quoted=True) == spark


@pytest.mark.parametrize(
    ("spark", "hive"),
    [
        ("INT", "int"),
        ("long", "bigint"),
        (" Array < Integer > ", "array<int>"),
        ("STRUCT<a: INT NOT NULL COMMENT 'it\\'s', `b c` STRING>", "struct<a:int,b c:string>"),
        ("struct<>", "struct<>"),
        ("timestamp_ntz", "timestamp"),
        ("timestamp_ltz", "timestamp"),
        ("TIMESTAMP WITHOUT TIME ZONE", "timestamp"),
        ("dec(5)", "decimal(5,0)"),
        ("numeric", "decimal(10,0)"),
        ("character(4)", "char(4)"),
        ("interval year", "interval_year_month"),
        ("INTERVAL HOUR TO SECOND", "interval_day_time"),
        ("string collate UTF8_LCASE", "string"),
    ],
)
def test_every_type_that_spark_accepts_has_hives(spark: str, hive: str) -> None:
    assert str(to_hive_type(parse_data_type(spark))) == hive


def test_a_user_defined_type_is_its_stored_type() -> None:
    point = UserDefinedType(parse_data_type("array<double>"), {"class": "Point"})
    assert str(to_hive_type(point)) == "array<double>"


@pytest.mark.parametrize(
    ("spark", "message"),
    [
        ("variant", "Hive has no type for Spark's 'variant'"),
        ("interval", "Hive has no type for Spark's 'interval'"),
        ("time(6)", r"'time\(6\)'"),
        ("timestamp_ntz(9)", r"'timestamp_ntz\(9\)'"),
        ("char(256)", r"'char\(256\)'"),
        ("varchar(65536)", r"'varchar\(65536\)'"),
        ("array<" * 150 + "int" + ">" * 150, "nested deeper than 100"),
    ],
)
def test_a_type_that_hive_lacks_is_an_error(spark: str, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        to_hive_type(parse_data_type(spark))


def test_a_negative_scale_is_an_error() -> None:
    with pytest.raises(ConversionError, match=r"decimal\(5,-2\)"):
        to_hive_type(DecimalType(5, -2))

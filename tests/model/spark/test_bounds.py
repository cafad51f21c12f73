"""The minimum and maximum of a column in Spark's statistics, as texts and as values."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from metastored.errors import ConversionError, SparkCatalogError
from metastored.model.spark.bounds import Bound, from_external_string, to_external_string
from metastored.model.spark.type_strings import parse_data_type

LONG = "84376864556435654231.524645784930122085"


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        ("boolean", "false", False),
        ("tinyint", "-1", -1),
        ("smallint", "30000", 30000),
        ("int", "40000000", 40000000),
        ("bigint", "5536453629", 5536453629),
        ("double", "1.123456789", 1.123456789),
        ("float", "7.54321", 7.54321),
        ("decimal(38,18)", LONG, Decimal(LONG)),
        ("decimal(38,18)", "0E-18", Decimal("0E-18")),
        ("date", "2016-05-08", date(2016, 5, 8)),
        ("timestamp", "2016-05-08 00:00:01.123456", datetime(2016, 5, 8, 0, 0, 1, 123456, tzinfo=UTC)),
        ("timestamp_ntz", "2016-05-09 00:00:02.987654", datetime(2016, 5, 9, 0, 0, 2, 987654)),
    ],
)  # fmt: skip
def test_a_bound_is_read_and_written_as_spark_does(type: str, text: str, value: Bound) -> None:
    """The values are those of Spark's StatisticsSuite."""
    data_type = parse_data_type(type)
    assert from_external_string(text, "c", data_type) == value
    assert to_external_string(value, "c", data_type) == text


@pytest.mark.parametrize("type", ["string", "binary", "varchar(3)"])
def test_bounds_of_texts_are_ignored(type: str) -> None:
    assert from_external_string("x", "c", parse_data_type(type)) is None
    with pytest.raises(SparkCatalogError) as caught:
        to_external_string(1, "c", parse_data_type(type))
    assert caught.value.condition == "_LEGACY_ERROR_TEMP_1090"


def test_a_timestamp_of_version_1_is_in_the_time_zone_of_the_session() -> None:
    zone = ZoneInfo("Europe/Berlin")
    found = from_external_string("2016-05-08 02:00:01", "c", parse_data_type("timestamp"), 1, zone)
    assert found == datetime(2016, 5, 8, 0, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize("type", ["array<int>", "interval day", "variant", "void"])
def test_a_type_without_bounds_is_an_error(type: str) -> None:
    with pytest.raises(SparkCatalogError) as read:
        from_external_string("x", "c", parse_data_type(type))
    with pytest.raises(SparkCatalogError) as written:
        to_external_string(1, "c", parse_data_type(type))
    assert (read.value.condition, written.value.condition) == ("_LEGACY_ERROR_TEMP_1089", "_LEGACY_ERROR_TEMP_1090")


@pytest.mark.parametrize(
    ("type", "text"),
    [("int", "x"), ("tinyint", "128"), ("boolean", "maybe"), ("date", "soon"), ("decimal(3,1)", "x"), ("double", "")],
)
def test_a_text_that_is_no_value_of_the_type_is_an_error(type: str, text: str) -> None:
    with pytest.raises(ConversionError, match="not a value of the column 'c'"):
        from_external_string(text, "c", parse_data_type(type))

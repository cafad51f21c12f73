"""Values as metastores store them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from metastored.errors import ConversionError
from metastored.hive.names import escape, partition_name_to_vals, unescape
from metastored.model.values import decimal, legible, location, moment, seconds, shown, shown_location, shown_map, text
from metastored.wire.codec import binary
from metastored.wire.generated.common import Table


def test_texts_that_are_not_utf8_are_kept_and_can_be_shown() -> None:
    table = binary.decode(Table, binary.encode(Table(tableName="t")).replace(b"t", b"\xe9", 1))
    assert table.tableName == "\udce9"
    assert b"\xe9" in binary.encode(table)
    assert legible(table.tableName) == "é"
    assert legible("na\udcefve café") == "naïve café"
    assert shown("\udce9") == "é" and shown(" ") is None
    assert shown_map({"\udce9": "\udce9"}) == {"é": "é"} and shown_map(None) == {}
    assert legible("плохо") == "плохо"
    assert legible("\udcef\udcf0", "cp1251") == "пр"


@pytest.mark.parametrize("value", [None, "", "  ", "\t"])
def test_empty_texts_mean_null(value: str | None) -> None:
    assert text(value) is None
    assert location(value) is None


def test_texts_with_content_are_left_as_they_are() -> None:
    assert text(" a ") == " a "


def test_times_are_seconds_in_utc() -> None:
    assert moment(1_700_000_000) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert moment("1700000000") == moment(1_700_000_000)
    there = datetime(2023, 11, 15, 0, 13, 20, tzinfo=timezone(timedelta(hours=2)))
    assert seconds(there) == 1_700_000_000
    for wrong in ("soon", 10**20):
        with pytest.raises(ConversionError, match="not a time"):
            moment(wrong)


def test_times_that_are_not_set_are_none() -> None:
    assert [moment(value) for value in (None, 0, -1, "", "0")] == [None] * 5


def test_a_time_without_a_zone_is_in_utc() -> None:
    assert seconds(datetime(2023, 11, 14, 22, 13, 20)) == 1_700_000_000
    assert seconds(datetime(1969, 12, 31, 23, 59, 50)) == -10


def test_times_before_1970_are_negative() -> None:
    assert moment(-10) == datetime(1969, 12, 31, 23, 59, 50, tzinfo=UTC)
    assert moment(-(2**31)) == datetime(1901, 12, 13, 20, 45, 52, tzinfo=UTC)
    assert seconds(datetime(1969, 12, 31, 23, 59, 50, tzinfo=UTC)) == -10


def test_a_time_in_milliseconds_is_recognised() -> None:
    assert moment(1_700_000_000_123) == datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)
    assert moment("1700000000000") == moment(1_700_000_000)
    assert moment(2**31 - 1) == datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC)


@pytest.mark.parametrize("value", ["a=b", "a/b", "100%", "it's", 'say "hi"', "x:y?*[]{^", "\t", "naïve", "a b", "}"])
def test_values_of_partitions_go_into_names_and_come_back(value: str) -> None:
    assert unescape(escape(value)) == value
    assert partition_name_to_vals(f"k={escape(value)}") == [value]


def test_locations_have_one_form() -> None:
    assert location("hdfs://nn//a///b/") == "hdfs://nn/a/b"
    assert location("s3a://bucket/a/") == "s3a://bucket/a"
    assert location("file:/x") == location("file:///x")
    with pytest.raises(ConversionError, match="not a location"):
        location("file:x")


def test_a_stored_location_is_shown_in_one_form_or_as_it_is() -> None:
    assert shown_location("hdfs://nn//a///b/") == "hdfs://nn/a/b"
    assert shown_location("file:x") == "file:x"
    assert shown_location(" ") is None
    assert shown_location("s3://b/caf\udce9/") == "s3://b/café"


@pytest.mark.parametrize(
    ("type", "expected"),
    [("decimal(10,2)", (10, 2)), ("decimal( 10 , 2 )", (10, 2)), ("DECIMAL(5)", (5, 0)), ("decimal", (10, 0))],
)
def test_decimals_in_all_their_spellings(type: str, expected: tuple[int, int]) -> None:
    assert decimal(type) == expected


@pytest.mark.parametrize("type", ["int", "decimal(", "decimal(a,b)", ""])
def test_an_invalid_decimal_is_refused(type: str) -> None:
    with pytest.raises(ConversionError):
        decimal(type)

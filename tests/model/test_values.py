"""Values as metastores store them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from metastored.errors import ConversionError
from metastored.hive.names import escape, partition_name_to_vals, unescape
from metastored.model.values import decimal, legible, location, moment, seconds, text
from metastored.wire import binary
from metastored.wire.generated.common import Table


def test_texts_that_are_not_utf8_are_kept_and_can_be_shown() -> None:
    table = binary.decode(Table, binary.encode(Table(tableName="t")).replace(b"t", b"\xe9", 1))
    assert table.tableName == "\udce9"
    assert b"\xe9" in binary.encode(table)
    assert legible(table.tableName) == "é"
    assert legible("плохо") == "плохо"
    assert legible("\udcef\udcf0", "cp1251") == "пр"


@pytest.mark.parametrize("value", [None, "", "  ", "\t"])
def test_empty_texts_stand_for_null(value: str | None) -> None:
    assert text(value) is None
    assert location(value) is None


def test_texts_with_content_are_left_as_they_are() -> None:
    assert text(" a ") == " a "


def test_times_are_seconds_in_utc() -> None:
    assert moment(1_700_000_000) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert moment("1700000000") == moment(1_700_000_000)
    assert [moment(value) for value in (None, 0, -1, "")] == [None] * 4
    there = datetime(2023, 11, 15, 0, 13, 20, tzinfo=timezone(timedelta(hours=2)))
    assert seconds(there) == 1_700_000_000
    with pytest.raises(ConversionError, match="has no time zone"):
        seconds(datetime(2023, 11, 14))
    for wrong in ("soon", 10**20):
        with pytest.raises(ConversionError, match="not a time"):
            moment(wrong)


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


@pytest.mark.parametrize(
    ("type", "expected"),
    [("decimal(10,2)", (10, 2)), ("decimal( 10 , 2 )", (10, 2)), ("DECIMAL(5)", (5, 0)), ("decimal", (10, 0))],
)
def test_decimals_in_all_their_spellings(type: str, expected: tuple[int, int]) -> None:
    assert decimal(type) == expected


@pytest.mark.parametrize("type", ["int", "decimal(", "decimal(a,b)", ""])
def test_what_is_no_decimal_is_refused(type: str) -> None:
    with pytest.raises(ConversionError):
        decimal(type)

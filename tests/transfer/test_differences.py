"""Which differences between an object and its copy count, and which do not."""

from __future__ import annotations

from metastored.transfer.differences import STAMPED, differences, partition_differences, statistics_differences
from metastored.wire.generated.common import (
    ColumnStatisticsData,
    ColumnStatisticsObj,
    FieldSchema,
    LongColumnStatsData,
    Timestamp,
    TimestampColumnStatsData,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.transfer.content import storage, table


def test_a_field_that_differs_is_reported_with_both_values() -> None:
    one = table("db", "t")
    assert differences(one, replace(one, owner="bob")) == ["owner is 'ann' in the source and 'bob' in the target"]


def test_a_differing_parameter_is_reported_by_its_key() -> None:
    one = replace(table("db", "t"), parameters={"a": "1", "b": "2"})
    found = differences(one, replace(one, parameters={"a": "1", "c": "3"}))
    assert found == [
        "parameters['b'] is '2' in the source and not set in the target",
        "parameters['c'] is not set in the source and '3' in the target",
    ]


def test_a_differing_column_is_reported_by_its_position() -> None:
    one = table("db", "t")
    assert one.sd is not None and one.sd.cols is not None
    renamed = (FieldSchema("key", "bigint", "the number"), *one.sd.cols[1:])
    assert differences(one, replace(one, sd=replace(one.sd, cols=renamed))) == [
        "sd.cols[0].name is 'id' in the source and 'key' in the target"
    ]


def test_one_column_more_is_a_difference() -> None:
    one = table("db", "t")
    assert one.sd is not None and one.sd.cols is not None
    assert differences(one, replace(one, sd=replace(one.sd, cols=one.sd.cols[:2])))


def test_nothing_and_empty_are_the_same_but_for_texts() -> None:
    assert differences(Database("d", parameters={}, ownerType=1), Database("d", type=1)) == []
    assert differences(Database("d", description=""), Database("d")) == [
        "description is '' in the source and not set in the target"
    ]


def test_where_an_object_is_does_not_count() -> None:
    one = table("db", "t")
    assert differences(replace(one, catName="hive", id=7, writeId=3), replace(one, catName="other")) == []


def test_fields_that_the_target_sets_are_not_compared() -> None:
    one = replace(table("db", "t"), createTime=1)
    two = replace(one, createTime=2)
    assert differences(one, two, STAMPED) == []
    assert differences(one, two) == ["createTime is 1 in the source and 2 in the target"]


def test_partitions_are_compared_in_every_field() -> None:
    one = Partition(("1",), "db", "t", 5, 6, storage("file:/a"), {"k": "v"})
    assert partition_differences(one, replace(one, catName="hive", dbName="other")) == []
    for changed in (
        replace(one, createTime=9),
        replace(one, lastAccessTime=9),
        replace(one, sd=storage("file:/b")),
        replace(one, parameters={"k": "w"}),
        replace(one, values=("2",)),
    ):
        assert len(partition_differences(one, changed)) == 1


def test_statistics_of_timestamps_are_the_same_in_their_old_and_new_form() -> None:
    old = ColumnStatisticsObj("c", "timestamp", ColumnStatisticsData(longStats=LongColumnStatsData(1, 2, 3, 4)))
    new = ColumnStatisticsObj(
        "c",
        "timestamp",
        ColumnStatisticsData(timestampStats=TimestampColumnStatsData(Timestamp(1), Timestamp(2), 3, 4)),
    )
    assert statistics_differences(old, new) == []


def test_a_differing_number_in_statistics_is_reported() -> None:
    def of(nulls: int, bits: bytes | None = None) -> ColumnStatisticsObj:
        data = LongColumnStatsData(1, 2, nulls, 4, bits)
        return ColumnStatisticsObj("c", "bigint", ColumnStatisticsData(longStats=data))

    assert statistics_differences(of(3), of(5)) == ["statistics.numNulls is 3 in the source and 5 in the target"]
    assert statistics_differences(of(3, b"x"), of(3)) == []
    assert statistics_differences(of(3, b"x"), of(3, b"y"))

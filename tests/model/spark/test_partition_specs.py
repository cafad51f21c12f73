"""Partitions of specs as Spark's users see them: the same as those of complete partitions."""

from __future__ import annotations

from collections.abc import Sequence

from metastored.model.spark.partition_specs import members, restored_specs, specs_of
from metastored.model.spark.partitions import from_hive_partition, with_restored_stats
from metastored.model.spark.types import INTEGER, STRING, StructType
from metastored.model.spark.values import CatalogStorage, CatalogTable, CatalogTableType, TableIdentifier
from metastored.structs import (
    FieldSchema,
    Partition,
    PartitionListComposingSpec,
    PartitionSpec,
    PartitionSpecWithSharedSD,
    PartitionWithoutSD,
    SerDeInfo,
    StorageDescriptor,
)
from metastored.wire.structs import replace

KEYS, COLUMNS = ("ds", "hr"), ("Ds", "Hr")
TABLE = CatalogTable(
    TableIdentifier("t", "db"),
    CatalogTableType.MANAGED,
    CatalogStorage("file:/w/t"),
    StructType().add("x", INTEGER).add("Ds", STRING).add("Hr", STRING),
    partition_column_names=COLUMNS,
)
SD = StorageDescriptor(
    cols=(FieldSchema("x", "int"),),
    location="file:/w/t",
    inputFormat="in",
    outputFormat="out",
    serdeInfo=SerDeInfo(name="n", serializationLib="serde", parameters={"serialization.format": "1"}),
)
STATISTICS = {"spark.sql.statistics.totalSize": "7", "spark.sql.statistics.numRows": "3", "totalSize": "9"}


def everything(values: list[Sequence[str]]) -> list[int]:
    return list(range(len(values)))


def shared(*partitions: PartitionWithoutSD, sd: StorageDescriptor | None = SD) -> PartitionSpec:
    return PartitionSpec("db", "t", "file:/base", PartitionSpecWithSharedSD(partitions, sd))


def listed(*partitions: Partition) -> PartitionSpec:
    return PartitionSpec("db", "t", partitionList=PartitionListComposingSpec(partitions))


def test_members_are_restored_like_complete_partitions() -> None:
    parts = (
        PartitionWithoutSD(("b", "1"), 5, 6, "/Ds=b/Hr=1", {"totalSize": "8", "numRows": "2"}),
        PartitionWithoutSD(("c", "2"), 0, None, "", STATISTICS),
        PartitionWithoutSD(("d", "3"), relativePath="/ä"),
    )
    complete = [
        Partition(
            each.values,
            createTime=each.createTime,
            lastAccessTime=each.lastAccessTime,
            sd=replace(SD, location=f"file:/w/t{each.relativePath}"),
            parameters=each.parameters,
        )
        for each in parts
    ]
    expected = [with_restored_stats(from_hive_partition(each, COLUMNS), TABLE) for each in complete]
    assert restored_specs([shared(*parts)], everything, KEYS, COLUMNS, TABLE) == expected
    assert restored_specs([listed(*complete)], everything, KEYS, COLUMNS, TABLE) == expected


def test_partitions_of_several_specs_are_in_the_order_of_their_names() -> None:
    def without(value: str) -> PartitionWithoutSD:
        return PartitionWithoutSD((value, "1"), relativePath=f"/{value}")

    specs = [
        shared(without("a"), without("d:")),
        shared(sd=None),
        shared(without("c"), sd=replace(SD, inputFormat="other")),
        listed(Partition(("b", "1"), sd=SD), Partition(("e", "1"))),
    ]
    found = restored_specs(specs, everything, KEYS, COLUMNS, TABLE)
    assert [each.spec["Ds"] for each in found] == ["a", "b", "c", "d:", "e"]
    assert [each.storage.input_format for each in found] == ["in", "in", "other", "in", None]
    assert found[3].storage.location_uri == "file:/w/t/d:"


def test_only_the_selected_partitions_are_restored() -> None:
    specs = [
        shared(*(PartitionWithoutSD((f"{at}", "1"), relativePath=f"/{at}") for at in range(4))),
        listed(*(Partition((f"{at}", "1"), sd=SD) for at in range(4, 8))),
    ]

    def odd(values: list[Sequence[str]]) -> list[int]:
        return [at for at, each in enumerate(values) if int(each[0]) % 2]

    found = restored_specs(specs, odd, KEYS, COLUMNS, TABLE)
    assert [each.spec["Ds"] for each in found] == ["1", "3", "5", "7"]


def test_the_location_is_the_path_below_that_of_the_storage_or_of_the_spec() -> None:
    part = PartitionWithoutSD(("a", "1"), relativePath="/p")
    nowhere = replace(SD, location=None)
    specs = [[shared(part)], [shared(part, sd=nowhere)], [shared(replace(part, relativePath=None), sd=None)]]
    found = [restored_specs(each, everything, KEYS, COLUMNS, TABLE)[0].storage.location_uri for each in specs]
    assert found == ["file:/w/t/p", "file:/base/p", "file:/base"]


def test_the_properties_of_one_partition_are_not_those_of_another() -> None:
    parts = (PartitionWithoutSD(("a", "1"), relativePath="/a"), PartitionWithoutSD(("b", "1"), relativePath="/b"))
    first, second = restored_specs([shared(*parts)], everything, KEYS, COLUMNS, TABLE)
    assert first.storage.properties == second.storage.properties
    assert first.storage.properties is not second.storage.properties


def test_partitions_of_a_metastore_without_specs_are_a_spec() -> None:
    (spec,) = specs_of((Partition(("a", "1")), Partition(("b", "1"))))
    assert [each.values for each in members(spec)] == [("a", "1"), ("b", "1")]
    assert specs_of((spec,)) == [spec]
    assert specs_of(()) == []

"""Lists of partitions as specs: the same as `get_partitions_with_specs` returns, whichever way they are made."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.service.core import partition_lists, rows
from metastored.service.partitions import spec_lists
from metastored.wire.generated.common import FieldSchema
from metastored.wire.generated.partitions import (
    GetPartitionsFilterSpec,
    GetPartitionsRequest,
    Partition,
    PartitionFilterMode,
)
from metastored.wire.message import Stream
from metastored.wire.structs import replace
from tests.support.metastore import Metastore
from tests.support.objects import DB, bare_storage, make_table

HOME = f"file:/nowhere/{DB}/t"
GROUPED = {"hive.hcatalog.partition.spec.grouping.enabled": "true", "EXTERNAL": "TRUE"}
COLUMNS = (FieldSchema("x", "int"), FieldSchema("y", "string", "with a comment"))


def _part(value: str, location: str, **other: object) -> Partition:
    sd = replace(bare_storage(), location=location)
    return Partition(values=(value,), dbName=DB, tableName="t", sd=sd, parameters={"k": value}, **other)  # type: ignore[arg-type]


@pytest.fixture
def filled(metastore: Metastore) -> Metastore:
    """Partitions below the table's directory, in it and outside, of two shapes."""
    make_table(metastore, keys=("ds",), tableType="EXTERNAL_TABLE", parameters=GROUPED)
    wide = replace(bare_storage(), cols=COLUMNS, location=f"{HOME}/wide")
    parts = (
        _part("a", f"{HOME}/ds=a", createTime=7, lastAccessTime=8),
        _part("b", HOME),
        _part("c", f"{HOME}_2/ds=c"),
        _part("d", "file:/elsewhere/ä", createTime=9),
        Partition(values=("e",), dbName=DB, tableName="t", sd=wide, parameters={}),
        _part("f ä/1", f"{HOME}/deep/ä", lastAccessTime=3),
        Partition(values=("g",), dbName=DB, tableName="t", sd=wide),
    )
    metastore.call("add_partitions", parts)
    return metastore


def _reference(metastore: Metastore, *filters: str) -> Any:
    """All or some partitions in groups, from decoded structs."""
    chosen = GetPartitionsFilterSpec(PartitionFilterMode.BY_EXPR, filters) if filters else None
    request = GetPartitionsRequest(dbName=DB, tblName="t", filterSpec=chosen)
    return metastore.call("get_partitions_with_specs", request).partitionSpec


def test_groups_are_those_of_partitions_with_specs(filled: Metastore) -> None:
    reference = _reference(filled)
    assert filled.call("get_partitions_pspec", DB, "t", -1) == reference
    shared, wide, outside = reference
    assert [each.relativePath for each in shared.sharedSDPartitionSpec.partitions] == ["/ds=a", "", "/deep/ä"]
    assert [each.values for each in wide.sharedSDPartitionSpec.partitions] == [("e",), ("g",)]
    assert [each.values for each in outside.partitionList.partitions] == [("c",), ("d",)]


def test_a_filter_selects_the_members_of_groups(filled: Metastore) -> None:
    some = "ds = 'c' or ds = 'e' or ds = 'b'"
    assert filled.call("get_part_specs_by_filter", DB, "t", some, -1) == _reference(filled, some)
    assert filled.call("get_part_specs_by_filter", DB, "t", "ds = 'zz'", -1) == ()


def test_a_limit_counts_partitions_and_not_groups(filled: Metastore) -> None:
    (shared, outside) = filled.call("get_part_specs_by_filter", DB, "t", "ds != 'zz'", 3)
    assert len(shared.sharedSDPartitionSpec.partitions) == 2
    assert len(outside.partitionList.partitions) == 1


@pytest.mark.parametrize("scans", [8, 1])
def test_a_long_list_is_streamed_in_the_same_form(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch, scans: int
) -> None:
    monkeypatch.setattr(partition_lists, "HELD", 0)
    monkeypatch.setattr(spec_lists, "MAX_SCANS", scans)
    assert filled.call("get_partitions_pspec", DB, "t", -1) == _reference(filled)
    assert filled.call("get_part_specs_by_filter", DB, "t", "ds > 'b'", -1) == _reference(filled, "ds > 'b'")


def test_a_short_list_is_grouped_only_if_the_table_requests_it(metastore: Metastore) -> None:
    make_table(metastore, keys=("ds",), tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    metastore.call("add_partitions", (_part("a", f"{HOME}/ds=a"), _part("b", "file:/elsewhere")))
    (spec,) = metastore.call("get_partitions_pspec", DB, "t", -1)
    assert spec.rootPath == HOME
    assert spec.sharedSDPartitionSpec is None
    assert spec.partitionList.partitions == metastore.call("get_partitions", DB, "t", -1)


def test_a_long_list_is_grouped_whatever_the_table_requests(metastore: Metastore) -> None:
    make_table(metastore, keys=("ds",), tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    count = partition_lists.SHORT + 1
    metastore.call("add_partitions", tuple(_part(f"{at:04}", f"{HOME}/ds={at:04}") for at in range(count)))
    assert metastore.call("get_part_specs_by_filter", DB, "t", "ds >= ''", -1) == _reference(metastore)
    (spec,) = metastore.call("get_partitions_pspec", DB, "t", -1)
    assert len(spec.sharedSDPartitionSpec.partitions) == count


@pytest.mark.parametrize("held", [0, partition_lists.HELD], ids=["read from a snapshot", "in memory"])
def test_the_length_of_a_long_list_is_announced_exactly(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    announced: list[tuple[int, int]] = []

    class Checked(Stream):
        def read(self) -> bytes:
            data = super().read()
            announced.append((self.length, len(data)))
            return data

    monkeypatch.setattr(partition_lists, "HELD", held)
    monkeypatch.setattr(rows, "CHUNK", 0)
    monkeypatch.setattr(spec_lists, "Stream", Checked)
    filled.call("get_partitions_pspec", DB, "t", -1)
    [(length, size)] = announced
    assert length == size

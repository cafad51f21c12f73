"""Events of changed partitions: their storage descriptors are stored apart, and the messages have them complete."""

from __future__ import annotations

import zlib
from typing import Any

import orjson
import pytest

from metastored.errors import StoreError
from metastored.hive.generation import Generation
from metastored.service.core import rows
from metastored.service.core.changes import EVENT_FORMAT, MANY, SHARED, WITHOUT_STORAGE, pack
from metastored.service.events.messages import rendered
from metastored.store.objects import events
from metastored.store.objects.events import EventRow
from metastored.wire.codec import binary
from metastored.wire.codec.tjson import CODEC
from metastored.wire.generated.common import (
    ColumnStatistics,
    ColumnStatisticsDesc,
    FieldSchema,
    PrincipalPrivilegeSet,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.support.metastore import Metastore
from tests.support.objects import partition, storage, table, view

WIDE = "a int, b string, c map<string;int>"
TABLE = table("d", "p", keys="ds string")
HOSTILE = 'k=" \\ é \U0001f600 \udcff \x01'


@pytest.fixture
def filled(metastore: Metastore) -> Metastore:
    metastore.call("create_database", Database(name="d"))
    metastore.call("create_table", TABLE)
    metastore.call("add_partition", partition("d", "p", ("1",), parameters={"k": "v", "totalSize": "1"}))
    return metastore


def _changes(metastore: Metastore) -> list[EventRow]:
    return [row for row in events.since(metastore.database.reader(), 0) if row.type == "ALTER_PARTITION"]


def _object(cls: type, text: str) -> Any:
    return CODEC.named(cls.__name__)[0](orjson.loads(text))


def _states(row: EventRow, generation: Generation = Generation.HIVE_3_1) -> tuple[Partition, Partition]:
    message = orjson.loads(rendered(row, generation)[0])
    return (
        _object(Partition, message["partitionObjBeforeJson"]),
        _object(Partition, message["partitionObjAfterJson"]),
    )


@pytest.mark.parametrize(
    "sd",
    [
        None,
        storage(location="file:/w/p/ds=1"),
        storage(),
        storage(WIDE, location=""),
        storage((), location="file:/w/p"),
        StorageDescriptor(location="file:/w/p"),
    ],
)
@pytest.mark.parametrize(
    "other",
    [
        {},
        {"values": None, "parameters": {HOSTILE: HOSTILE}},
        {"writeId": -1, "privileges": PrincipalPrivilegeSet({"u": ()}, {}, None), "isStatsCompliant": False},
        {"catName": "c", "colStats": ColumnStatistics(ColumnStatisticsDesc(True, "d", "p", "ds=1"), ())},
    ],
)
def test_a_partition_that_is_stored_without_its_storage_is_completed_to_the_same(
    sd: StorageDescriptor | None, other: dict[str, Any]
) -> None:
    part = replace(partition("d", "p", ("1",), createTime=3, lastAccessTime=0), sd=sd, **other)
    apart = binary.decode(Partition, rows.altered_partition(part, rows.partition_body(part)))
    struct, of_table = rows.storage_beside(b"" if sd is None else rows.shape_of(sd), TABLE)
    kept = binary.decode(StorageDescriptor, struct)
    assert TABLE.sd is not None
    assert of_table == (sd is not None and sd.cols == TABLE.sd.cols)
    assert rows.completed(apart, kept, TABLE.sd.cols if of_table else kept.cols) == part


def test_the_columns_of_the_table_are_stored_once(filled: Metastore) -> None:
    part: Partition = filled.call("get_partition", "d", "p", ("1",))
    filled.call("alter_partition", "d", "p", replace(part, parameters={"k": "w", "totalSize": "1"}))
    (row,) = _changes(filled)
    assert row.fmt == WITHOUT_STORAGE
    columns = binary.encode(FieldSchema("a", "int"))
    assert binary.encode(filled.call("get_table", "d", "p")).count(columns) == row.body.count(columns) == 1
    before, after = _states(row)
    assert before == part
    assert after == replace(part, parameters={**(after.parameters or {}), "k": "w"}, writeId=after.writeId)


@pytest.mark.parametrize("generation", [Generation.HIVE_2_3, Generation.HIVE_3_1, Generation.HIVE_4_0])
def test_many_changes_have_the_messages_of_single_ones(filled: Metastore, generation: Generation) -> None:
    added = tuple(partition("d", "p", (f"{at}",), parameters={"k": "v", "totalSize": "1"}) for at in range(2, MANY + 9))
    filled.call("add_partitions", added)
    parts: tuple[Partition, ...] = filled.call("get_partitions", "d", "p", -1)
    changed = tuple(replace(part, parameters={**(part.parameters or {}), "k": "w"}) for part in parts)
    filled.call("alter_partitions", "d", "p", changed)
    filled.call("alter_partitions", "d", "p", parts)
    for part in changed:
        filled.call("alter_partition", "d", "p", part)
    rows_of = _changes(filled)
    many, single = rows_of[: len(parts)], rows_of[2 * len(parts) :]
    assert {row.fmt for row in many} == {SHARED}
    assert {row.fmt for row in single} == {WITHOUT_STORAGE}
    for one, other in zip(many, single, strict=True):
        assert rendered(one, generation)[0] == rendered(other._replace(id=one.id), generation)[0]


def test_a_change_of_columns_and_location_has_both_storage_descriptors(filled: Metastore) -> None:
    part: Partition = filled.call("get_partition", "d", "p", ("1",))
    assert part.sd is not None
    for cols, location in ((storage(WIDE).cols, "file:/elsewhere/x"), (part.sd.cols, part.sd.location)):
        sd = replace(part.sd, cols=cols, location=location)
        filled.call("alter_partition", "d", "p", replace(part, sd=sd))
    for row, changed in zip(_changes(filled), (True, False), strict=True):
        before, after = _states(row)
        wide, narrow = (after, before) if changed else (before, after)
        assert narrow.sd == part.sd
        assert wide.sd == replace(part.sd, cols=storage(WIDE).cols, location="file:/elsewhere/x")


def test_a_later_change_of_the_table_does_not_change_the_event(filled: Metastore) -> None:
    part: Partition = filled.call("get_partition", "d", "p", ("1",))
    filled.call("alter_partition", "d", "p", part)
    held: Table = filled.call("get_table", "d", "p")
    assert held.sd is not None
    filled.call("alter_table", "d", "p", replace(held, sd=replace(held.sd, cols=storage(WIDE).cols)))
    (row,) = _changes(filled)
    assert [state.sd for state in _states(row)] == [part.sd, part.sd]


def test_the_partition_of_a_view_has_no_storage_before_and_after(metastore: Metastore) -> None:
    metastore.call("create_database", Database(name="d"))
    keyed = replace(view("d", "v"), partitionKeys=TABLE.partitionKeys, sd=replace(storage(), location=None))
    metastore.call("create_table", keyed)
    metastore.call("add_partition", Partition(("1",), "d", "v", parameters={"k": "v"}))
    part: Partition = metastore.call("get_partition", "d", "v", ("1",))
    metastore.call("alter_partition", "d", "v", replace(part, parameters={"k": "w"}))
    (row,) = _changes(metastore)
    assert [state.sd for state in _states(row)] == [None, None]


def test_a_rename_has_the_former_and_the_new_values(filled: Metastore) -> None:
    part: Partition = filled.call("get_partition", "d", "p", ("1",))
    filled.call("rename_partition", "d", "p", ("1",), replace(part, values=("2",)))
    (row,) = _changes(filled)
    before, after = _states(row)
    renamed: Partition = filled.call("get_partition", "d", "p", ("2",))
    assert (before, after.values, after.sd) == (part, ("2",), renamed.sd)


def test_two_changes_of_one_partition_in_a_call_follow_each_other(filled: Metastore) -> None:
    part: Partition = filled.call("get_partition", "d", "p", ("1",))
    assert part.sd is not None
    wide = replace(part, sd=replace(part.sd, cols=storage(WIDE).cols))
    filled.call("alter_partitions", "d", "p", (wide, part))
    first, second = map(_states, _changes(filled))
    assert (first[0].sd, first[1].sd) == (part.sd, wide.sd)
    assert (second[0].sd, second[1].sd) == (wide.sd, part.sd)


@pytest.mark.parametrize("generation", [Generation.HIVE_2_3, Generation.HIVE_3_1, Generation.HIVE_4_0])
def test_an_event_of_the_former_format_has_the_same_message(filled: Metastore, generation: Generation) -> None:
    part: Partition = filled.call("get_partition", "d", "p", ("1",))
    assert part.sd is not None
    filled.call("alter_partition", "d", "p", replace(part, sd=replace(part.sd, cols=storage(WIDE).cols)))
    (row,) = _changes(filled)
    before, after = _states(row)
    parts = [("table", filled.call("get_table", "d", "p")), ("before", before), ("after", after)]
    former = pack([("user", b"tester"), *((name, binary.encode(value)) for name, value in parts)])
    assert rendered(row._replace(fmt=EVENT_FORMAT, body=former), generation) == rendered(row, generation)


@pytest.mark.parametrize(
    "shared",
    [zlib.compress(bytes(1 << 16)), zlib.compress(b"x" * 100)[:-4], b"no stream"],
    ids=["long", "cut", "damaged"],
)
def test_shared_parts_are_decompressed_whole_and_up_to_a_limit(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch, shared: bytes
) -> None:
    """A backup that somebody else has made may have any bytes."""
    monkeypatch.setattr("metastored.service.core.changes.SHARED_BYTES", 1 << 15)
    row = events.since(filled.database.reader(), 0)[-1]._replace(fmt=SHARED, body=pack([("shared", shared)]))
    with pytest.raises(StoreError, match=r"event \d+ \(\w+\) cannot be read: the parts that events share"):
        rendered(row, Generation.HIVE_3_1)

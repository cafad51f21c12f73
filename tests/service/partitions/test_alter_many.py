"""Changes and drops of many partitions in one call, whose rows are read once while nothing else is committed."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.errors import InvalidOperationException
from metastored.service.core.conflicts import MANY
from metastored.service.core.context import Context
from metastored.service.core.removing import removing
from metastored.service.partitions import alter, drop
from metastored.store.objects import partitions, tables
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import DropPartitionsRequest, Partition, RequestPartsSpec
from metastored.wire.structs import replace
from tests.support.metastore import Metastore
from tests.support.objects import partition, table

COUNT = MANY + 3


@pytest.fixture
def filled(metastore: Metastore) -> Metastore:
    metastore.call("create_database", Database(name="d"))
    metastore.call("create_table", table("d", "p", keys="ds string"))
    parts = [
        partition("d", "p", (f"{number:02d}",), parameters={"k": "v", "totalSize": "1"}) for number in range(COUNT)
    ]
    metastore.call("add_partitions", tuple(parts))
    return metastore


def _stored(metastore: Metastore) -> tuple[Partition, ...]:
    found: tuple[Partition, ...] = metastore.call("get_partitions", "d", "p", -1)
    return found


def _changed(parts: tuple[Partition, ...], value: str) -> tuple[Partition, ...]:
    return tuple(replace(part, parameters={**(part.parameters or {}), "k": value}) for part in parts)


def test_a_partition_that_is_dropped_after_it_was_read_is_missing(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _stored(filled)

    def dropped(*args: object) -> bool:
        with filled.database.write() as tx:
            row = tables.find(tx, "hive", "d", "p")
            assert row is not None
            partitions.delete_many(tx, row.id, ["ds=03"])
        return False

    monkeypatch.setattr(alter, "_counts", dropped)
    with pytest.raises(InvalidOperationException, match="03"):
        filled.call("alter_partitions", "d", "p", _changed(before, "w"))
    assert _stored(filled) == (*before[:3], *before[4:])


def test_a_write_id_that_is_set_after_a_partition_was_read_is_kept(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _stored(filled)

    def changed(*args: object) -> bool:
        with filled.database.write() as tx:
            row = tables.find(tx, "hive", "d", "p")
            assert row is not None
            stored = partitions.find(tx, row.id, "ds=03")
            assert stored is not None
            partitions.update_many(tx, [stored._replace(write_id=7)])
        return False

    monkeypatch.setattr(alter, "_counts", changed)
    filled.call("alter_partitions", "d", "p", _changed(before, "w"))
    row = tables.find(filled.database.reader(), "hive", "d", "p")
    assert row is not None
    kept = partitions.find(filled.database.reader(), row.id, "ds=03")
    assert kept is not None and kept.write_id == 7


def test_a_drop_keeps_the_directory_of_a_partition_that_was_moved_after_it_was_read(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped: list[str] = []
    check = removing

    def moved(ctx: Context, change: Any, expected: Any) -> Any:
        with filled.database.write() as tx:
            row = tables.find(tx, "hive", "d", "p")
            assert row is not None
            stored = partitions.find(tx, row.id, "ds=03")
            assert stored is not None
            partitions.update_many(tx, [stored._replace(base=None, suffix="file:/elsewhere/03")])
        result = check(ctx, change, expected)
        dropped.extend(result.directories)
        return result

    monkeypatch.setattr(drop, "removing", moved)
    names = tuple(f"ds={number:02d}" for number in range(COUNT))
    request = DropPartitionsRequest("d", "p", RequestPartsSpec(names=names), deleteData=True)
    assert len(filled.call("drop_partitions_req", request).partitions) == COUNT
    assert "file:/elsewhere/03" in dropped
    assert not any(directory.endswith("/ds=03") for directory in dropped)


def test_a_partition_that_is_twice_in_a_call_has_the_second_change(filled: Metastore) -> None:
    before = _stored(filled)
    filled.call("alter_partitions", "d", "p", (*_changed(before, "w"), *_changed(before[:2], "x")))
    values = [(part.parameters or {})["k"] for part in _stored(filled)]
    assert values == ["x", "x", *["w"] * (COUNT - 2)]

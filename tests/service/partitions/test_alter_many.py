"""Changes of many partitions in one call, whose rows are read once while nothing else is committed."""

from __future__ import annotations

import pytest

from metastored.errors import InvalidOperationException
from metastored.service.partitions import alter
from metastored.service.partitions.alter import MANY
from metastored.store.objects import partitions, tables
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
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


def test_a_partition_that_is_twice_in_a_call_has_the_second_change(filled: Metastore) -> None:
    before = _stored(filled)
    filled.call("alter_partitions", "d", "p", (*_changed(before, "w"), *_changed(before[:2], "x")))
    values = [(part.parameters or {})["k"] for part in _stored(filled)]
    assert values == ["x", "x", *["w"] * (COUNT - 2)]

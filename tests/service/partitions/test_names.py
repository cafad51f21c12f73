"""Lists of the names of partitions: in one piece, and streamed."""

from __future__ import annotations

import pytest

from metastored.service.core import name_lists
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.message import Stream
from tests.support.metastore import Metastore

VALUES = ["a", "b c", "ä", "日本", "x" * 130, "y" * 260, "ü" * 200]


@pytest.fixture
def filled(metastore: Metastore) -> Metastore:
    metastore.call("create_database", Database(name="d"))
    storage = StorageDescriptor(cols=(FieldSchema("a", "int"),), serdeInfo=SerDeInfo(None, "s", {}))
    metastore.call("create_table", Table("t", "d", sd=storage, partitionKeys=(FieldSchema("k", "string"),)))
    for value in VALUES:
        metastore.call("append_partition", "d", "t", (value,))
    return metastore


@pytest.mark.parametrize("held", [name_lists.NAMES_HELD, 3, 0])
@pytest.mark.parametrize("limit", [-1, 2, 5, 1000])
def test_all_names_are_listed_in_order_however_many_stay_in_memory(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch, held: int, limit: int
) -> None:
    lengths: list[tuple[int, int]] = []

    class Checked(Stream):
        def read(self) -> bytes:
            data = super().read()
            lengths.append((self.length, len(data)))
            return data

    monkeypatch.setattr(name_lists, "NAMES_HELD", held)
    monkeypatch.setattr(name_lists, "Stream", Checked)
    names = tuple(sorted((f"k={value}" for value in VALUES), key=str.encode))
    count = len(names) if limit < 0 else min(limit, len(names))
    assert filled.call("get_partition_names", "d", "t", limit) == names[:count]
    assert all(announced == sent for announced, sent in lengths)
    assert bool(lengths) == (count > held)

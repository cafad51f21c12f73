"""Whether the directory of a table has files of other objects: looked up again after each change, and not before."""

from __future__ import annotations

import pytest

from metastored.model.names import TableName
from metastored.service.tables import sharing
from metastored.service.tables.sharing import Sharing
from metastored.store.engine.transaction import Transaction
from metastored.wire.generated.common import SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from tests.support.metastore import Metastore

LOCATION = "s3://lake/d/t"


def make(metastore: Metastore, name: str, location: str) -> None:
    sd = StorageDescriptor(cols=(), location=location, serdeInfo=SerDeInfo())
    metastore.call("create_table", Table(name, "d", sd=sd, partitionKeys=(), tableType="EXTERNAL_TABLE"))


def test_a_result_is_cached_until_anybody_changes_the_database(
    metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    look = sharing.is_shared

    def counted(tx: Transaction, name: TableName, location: str) -> bool:
        reads.append(location)
        return look(tx, name, location)

    monkeypatch.setattr(sharing, "is_shared", counted)
    metastore.call("create_database", Database("d", locationUri="s3://lake/d"))
    make(metastore, "t", LOCATION)
    shared, name = Sharing(metastore.database), TableName("hive", "d", "t")
    assert [shared.is_shared(name, LOCATION) for _ in range(3)] == [False] * 3
    assert len(reads) == 1
    make(metastore, "elsewhere", "s3://lake/d/u")
    assert not shared.is_shared(name, LOCATION) and len(reads) == 2
    make(metastore, "inside", "s3a://lake/d/t/inner")
    assert shared.is_shared(name, LOCATION) and shared.is_shared(name, LOCATION)
    assert len(reads) == 3

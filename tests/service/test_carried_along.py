"""Locks, write ids and compactions, which name a table, follow the table when it is renamed."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pytest

from metastored.errors import InvalidOperationException
from metastored.store.engine.transaction import Transaction
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.locks import LockComponent, LockRequest, ShowLocksRequest
from metastored.wire.generated.transactions import (
    AllocateTableWriteIdsRequest,
    GetValidWriteIdsRequest,
    OpenTxnRequest,
)
from metastored.wire.structs import replace
from tests.support.metastore import Metastore

STORAGE = StorageDescriptor(cols=(FieldSchema("a", "int"),), serdeInfo=SerDeInfo(None, "s", {}))


def with_a_written_table(metastore: Metastore) -> Table:
    metastore.call("create_database", Database(name="db"))
    metastore.call("create_table", Table("t", "db", sd=STORAGE))
    (txn,) = metastore.call("open_txns", OpenTxnRequest(1, "u", "h")).txn_ids
    metastore.call("allocate_table_write_ids", AllocateTableWriteIdsRequest("db", "t", txnIds=(txn,)))
    component = LockComponent(1, 2, "db", "t")
    metastore.call("lock", LockRequest((component,), user="u", hostname="h"))
    table: Table = metastore.call("get_table", "db", "t")
    return table


def high_water_mark(metastore: Metastore, name: str) -> int:
    reply = metastore.call("get_valid_write_ids", GetValidWriteIdsRequest(fullTableNames=(f"db.{name}",)))
    mark: int = reply.tblValidWriteIds[0].writeIdHighWaterMark
    return mark


def locked_tables(metastore: Metastore) -> list[str]:
    return [lock.tablename for lock in metastore.call("show_locks", ShowLocksRequest()).locks]


def test_a_renamed_table_keeps_its_locks_and_write_ids(metastore: Metastore) -> None:
    table = with_a_written_table(metastore)
    metastore.call("alter_table", "db", "t", replace(table, tableName="u"))
    assert high_water_mark(metastore, "u") == 1
    assert high_water_mark(metastore, "t") == 0
    assert locked_tables(metastore) == ["u"]


def test_a_table_of_a_dropped_name_starts_with_new_write_ids(metastore: Metastore) -> None:
    with_a_written_table(metastore)
    metastore.call("drop_table", "db", "t", False)
    metastore.call("create_table", Table("t", "db", sd=STORAGE))
    assert high_water_mark(metastore, "t") == 0


def test_a_rename_onto_a_taken_name_is_refused_in_one_attempt(
    metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = with_a_written_table(metastore)
    metastore.call("create_table", Table("u", "db", sd=STORAGE))
    database = metastore.service.database
    begun, write = [0], database.write

    def counted() -> AbstractContextManager[Transaction]:
        begun[0] += 1
        return write()

    monkeypatch.setattr(database, "write", counted)
    with pytest.raises(InvalidOperationException, match=r"new table db\.u already exists"):
        metastore.call("alter_table", "db", "t", replace(table, tableName="u"))
    # An error that the store takes for a conflict is retried on PostgreSQL, with pauses.
    assert begun == [1]

"""A server creates its database and serves calls without SQLAlchemy and Alembic, which are slow to import and large."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from metastored.testing import RunningServer, running_server
from metastored.wire.generated.common import DataOperationType, PrivilegeGrantInfo
from metastored.wire.generated.databases import Database
from metastored.wire.generated.locks import LockComponent, LockRequest, ShowLocksRequest, UnlockRequest
from metastored.wire.generated.notifications import NotificationEventRequest
from metastored.wire.generated.roles import HiveObjectPrivilege, HiveObjectRef, PrivilegeBag
from metastored.wire.generated.transactions import (
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    GetValidWriteIdsRequest,
    OpenTxnRequest,
)
from tests.support.client import Client
from tests.support.objects import DB, numbers, partition, statistics, table
from tests.support.postgres import running_postgres

WITH_IMPORTS = (sys.executable, "-X", "importtime", "-m", "metastored", "serve")
"""The command of a server that writes a line to its log for each module that it imports."""

ACQUIRED, EXCLUSIVE, USER, TABLE_OBJECT = 1, 3, 1, 3
SHOWN = "metastored.store.engine.statements"
"""A module that every server imports."""


@contextmanager
def _place(kind: str, folder: Path) -> Iterator[dict[str, str]]:
    """The settings of a server on an empty database."""
    if kind == "sqlite":
        yield {"data": str(folder)}
        return
    with running_postgres() as postgres, postgres.database() as url:
        yield {"database_url": url}


def _imported(server: RunningServer) -> set[str]:
    """The top-level names of all modules that a server has imported, and SHOWN."""
    modules = {line.rpartition("|")[2].strip() for line in server.log.splitlines() if line.startswith("import time:")}
    return {module.partition(".")[0] for module in modules} | (modules & {SHOWN})


def _use(client: Client) -> None:
    """Calls of all kinds: databases, tables, partitions, statistics, locks, transactions, grants, events."""
    client.call("create_database", Database(name=DB))
    client.call("create_table", table(DB, "t", keys="ds string, h int"))
    parts = tuple(partition(DB, "t", (f"2024-01-0{day}", str(day))) for day in range(1, 6))
    assert client.call("add_partitions", parts) == 5
    found = client.call("get_partitions_by_filter", DB, "t", "ds > '2024-01-02' and h in (3, 4, 9)", -1)
    assert [each.values[1] for each in found] == ["3", "4"]
    client.call("rename_partition", DB, "t", ("2024-01-01", "1"), partition(DB, "t", ("2024-01-01", "8")))
    assert client.call("drop_partition", DB, "t", ("2024-01-05", "5"), True)
    assert len(client.call("get_partition_names", DB, "t", -1)) == 4

    assert client.call("update_table_column_statistics", statistics(numbers("a", 1, 9)))
    (column,) = client.call("get_table_column_statistics", DB, "t", "a").statsObj
    assert column.statsData.longStats.highValue == 9

    component = LockComponent(type=EXCLUSIVE, level=2, dbname=DB, tablename="t", operationType=DataOperationType.UPDATE)
    lock = client.call("lock", LockRequest(component=(component,), user="u", hostname="h"))
    assert lock.state == ACQUIRED
    assert len(client.call("show_locks", ShowLocksRequest(dbname=DB)).locks) == 1
    client.call("unlock", UnlockRequest(lockid=lock.lockid))

    (txn,) = client.call("open_txns", OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids
    client.call("allocate_table_write_ids", AllocateTableWriteIdsRequest(dbName=DB, tableName="t", txnIds=(txn,)))
    client.call("commit_txn", CommitTxnRequest(txnid=txn))
    (valid,) = client.call("get_valid_write_ids", GetValidWriteIdsRequest(fullTableNames=(f"{DB}.t",))).tblValidWriteIds
    assert valid.writeIdHighWaterMark == 1

    grant = PrivilegeGrantInfo(privilege="SELECT", createTime=1, grantor="u", grantorType=USER, grantOption=False)
    on = HiveObjectRef(objectType=TABLE_OBJECT, dbName=DB, objectName="t")
    privilege = HiveObjectPrivilege(hiveObject=on, principalName="eve", principalType=USER, grantInfo=grant)
    assert client.call("grant_privileges", PrivilegeBag(privileges=(privilege,)))
    assert len(client.call("list_privileges", "eve", USER, on)) == 1

    assert client.call("get_next_notification", NotificationEventRequest(lastEvent=0)).events
    client.call("drop_table", DB, "t", True)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_a_server_imports_neither_sqlalchemy_nor_alembic(kind: str, tmp_path: Path) -> None:
    with _place(kind, tmp_path / "data") as settings:
        for turn in ("on an empty database", "on an existing one"):
            with running_server(WITH_IMPORTS, **settings) as server:
                with Client(server.host, server.port) as client:
                    if turn == "on an empty database":
                        _use(client)
                    else:
                        assert client.call("get_all_databases") == ("default", DB)
                imported = _imported(server)
            assert {SHOWN, "sqlite3" if kind == "sqlite" else "psycopg"} <= imported
            assert imported & {"sqlalchemy", "alembic"} == set(), turn

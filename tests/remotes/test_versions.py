"""Reads of metastores of other versions, whose methods differ."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from metastored.errors import ApplicationError, NoSuchObjectException
from metastored.remotes.versions import AnyVersion, alternative
from metastored.wire.generated.common import Table
from metastored.wire.generated.databases import GetDatabaseRequest
from metastored.wire.generated.partitions import PartitionsByExprRequest, PartitionsRequest
from metastored.wire.generated.tables import GetTableRequest, GetTableResult, GetTablesRequest
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from tests.support.memory_metastore import MemoryMetastore


class Newer(MemoryMetastore):
    """Hive 4.0.1 and later have no get_table."""

    get_table = None  # type: ignore[assignment]

    def get_table_req(self, request: GetTableRequest) -> GetTableResult:
        if request.tblName not in self.databases.get(request.dbName or "", ()):
            raise NoSuchObjectException("no such table")
        return GetTableResult(table=Table(tableName=request.tblName, dbName=request.dbName))


def ask(handler: AnyVersion, name: str, *args: Any) -> Any:
    method = METHODS[name]
    return asyncio.run(handler.handle(Call(method, args), Session())).value(method)


def test_a_newer_metastore_is_asked_by_requests() -> None:
    inner = Newer({"d": ("t",)})
    handler = AnyVersion(inner)
    assert ask(handler, "get_table", "d", "t") == Table(tableName="t", dbName="d")
    with pytest.raises(NoSuchObjectException, match="no such table"):
        ask(handler, "get_table", "d", "nothing")
    assert inner.called == ["get_table", "get_table_req", "get_table_req"], "what is missing is tried once"


def test_an_older_metastore_is_asked_without_requests() -> None:
    inner = MemoryMetastore({"d": ("t",)})
    handler = AnyVersion(inner)
    assert ask(handler, "get_table_req", GetTableRequest(dbName="d", tblName="t")).table.tableName == "t"
    assert ask(handler, "get_database_req", GetDatabaseRequest(name="d")).name == "d"
    tables = ask(handler, "get_table_objects_by_name_req", GetTablesRequest(dbName="d", tblNames=("t",))).tables
    assert [table.tableName for table in tables] == ["t"]
    partitions = ask(handler, "get_partitions_req", PartitionsRequest(dbName="d", tblName="t", maxParts=-1)).partitions
    assert len(partitions) == 3
    assert inner.calls[-1] == ("get_partitions", ("d", "t", -1))


def test_a_request_without_the_names_that_the_older_method_needs_is_unknown() -> None:
    with pytest.raises(ApplicationError, match="Invalid method name"):
        ask(AnyVersion(MemoryMetastore({"d": ("t",)})), "get_table_objects_by_name_req", GetTablesRequest(dbName="d"))


def test_a_request_that_selects_by_more_than_the_older_method_can_is_unknown() -> None:
    inner = MemoryMetastore({"d": ("t",)})
    request = PartitionsByExprRequest(dbName="d", tblName="t", expr=b"x", maxParts=-1)
    with pytest.raises(ApplicationError, match="Invalid method name"):
        ask(AnyVersion(inner), "get_partition_names_req", request)
    assert inner.called == ["get_partition_names_req"]


def test_a_write_is_never_translated() -> None:
    assert [name for name, method in METHODS.items() if method.verb != "read" and alternative(method)] == []


def test_what_stands_for_what_comes_from_the_method_table() -> None:
    pairs = {name for name, method in METHODS.items() if alternative(method) is not None}
    expected = {
        *("get_table", "get_database", "get_partition", "get_partitions", "get_partition_names", "get_fields"),
        *("get_table_objects_by_name", "get_partitions_by_names", "get_schema", "get_partitions_by_filter"),
    }
    assert expected <= pairs
    assert {f"{name}_req" for name in expected} <= pairs

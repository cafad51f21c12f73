"""Names on their way to a remote and back."""

from __future__ import annotations

from dataclasses import replace as replaced

import pytest

from metastored.errors import NoSuchObjectException
from metastored.model.remotes.values import Access
from metastored.remotes.renaming import Renaming
from metastored.wire.generated.common import CreationMetadata, FieldSchema, SQLForeignKey, StorageDescriptor, Table
from metastored.wire.generated.constraints import ForeignKeysResponse
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.tables import GetTableRequest, GetTableResult, TableMeta
from metastored.wire.generated.transactions import GetValidWriteIdsRequest
from metastored.wire.message import Call, Reply, Stream
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.support.remotes import remote_database, remote_table

RENAMING = Renaming((remote_database("sales", "raw", "thrift://hms:9083"),))
GET_TABLE = METHODS["get_table"]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("sales", "raw"),
        ("SALES", "raw"),
        ("@hive#sales", "raw"),
        ("other", "other"),
        ("@hive#", "@hive#"),
        ("@x", "@x"),
    ],
)
def test_database_names_in_arguments(given: str, sent: str) -> None:
    assert RENAMING.call(Call(GET_TABLE, (given, "sales"))).args == (sent, "sales")


@pytest.mark.parametrize(
    ("given", "sent"), [("sales.t", "raw.t"), ("hive.sales.t", "hive.raw.t"), ("other.sales", "other.sales")]
)
def test_full_names_in_arguments(given: str, sent: str) -> None:
    method = METHODS["get_valid_write_ids"]
    request = GetValidWriteIdsRequest(fullTableNames=(given,))
    assert RENAMING.call(Call(method, (request,))).args[0].fullTableNames == (sent,)


def test_a_call_without_a_name_to_replace_is_passed_on_as_it_is() -> None:
    call = Call(GET_TABLE, ("other", "t"))
    assert RENAMING.call(call) is call


def test_every_database_name_in_a_result_is_local_again() -> None:
    table = Table(
        tableName="raw",
        dbName="raw",
        viewOriginalText="select * from raw.t",
        creationMetadata=CreationMetadata(dbName="raw", tblName="raw", tablesUsed=frozenset({"raw.t"})),
    )
    back = RENAMING.reply(GET_TABLE, Reply.of(GET_TABLE, table)).value(GET_TABLE)
    assert (back.dbName, back.tableName) == ("sales", "raw")
    assert back.creationMetadata == CreationMetadata(dbName="sales", tblName="raw", tablesUsed=frozenset({"sales.t"}))
    assert back.viewOriginalText == "select * from sales.t"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("raw.t table not found", "sales.t table not found"),
        ("raw", "sales"),
        ("hive.raw.t table not found", "hive.sales.t table not found"),
        ("database hive.raw", "database hive.sales"),
        ("There is no database named raw", "There is no database named raw"),
        ("raw_data.t table not found", "raw_data.t table not found"),
        ("", ""),
    ],
)
def test_a_message_has_local_names_where_it_names_a_table_or_only_the_database(text: str, expected: str) -> None:
    reply = RENAMING.reply(GET_TABLE, Reply.raised(GET_TABLE, NoSuchObjectException(text)))
    with pytest.raises(NoSuchObjectException) as raised:
        reply.value(GET_TABLE)
    assert raised.value.message == expected


def test_where_names_are_the_same_the_answer_is_passed_on_as_it_is() -> None:
    reply = Reply.of(GET_TABLE, Table(tableName="t", dbName="raw"))
    same = remote_database("raw", "raw", "thrift://hms:9083", access=Access.WRITE)
    assert Renaming((same,)).reply(GET_TABLE, reply) is reply


@pytest.mark.parametrize(
    ("access", "type", "shown"),
    [
        (Access.READ, "MANAGED_TABLE", "EXTERNAL_TABLE"),
        (Access.READ, "EXTERNAL_TABLE", "EXTERNAL_TABLE"),
        (Access.READ, "VIRTUAL_VIEW", "VIRTUAL_VIEW"),
        (Access.WRITE, "MANAGED_TABLE", "MANAGED_TABLE"),
    ],
)
def test_managed_tables_of_read_only_remotes_are_external(access: Access, type: str, shown: str) -> None:
    """Spark empties managed tables itself, before it calls the metastore; it refuses that for external ones."""
    renaming = Renaming((remote_database("sales", "raw", "thrift://hms:9083", access=access),))
    table = Table(tableName="t", dbName="raw", tableType=type)
    assert renaming.reply(GET_TABLE, Reply.of(GET_TABLE, table)).value(GET_TABLE).tableType == shown
    listed = METHODS["get_table_meta"]
    reply = Reply.of(listed, (TableMeta(dbName="raw", tableName="t", tableType=type),))
    assert [each.tableType for each in renaming.reply(listed, reply).value(listed)] == [shown]


SEEN = Renaming((remote_table("shop.seen", "raw.clicks", "thrift://hms:9083"),))


def test_the_names_of_a_remote_table_are_replaced_together() -> None:
    assert SEEN.call(Call(GET_TABLE, ("Shop", "SEEN"))).args == ("raw", "clicks")
    back = SEEN.reply(GET_TABLE, Reply.of(GET_TABLE, Table(tableName="clicks", dbName="raw"))).value(GET_TABLE)
    assert (back.dbName, back.tableName) == ("shop", "seen")


def test_another_table_of_the_remote_is_not_half_renamed() -> None:
    method = METHODS["get_foreign_keys"]
    key = SQLForeignKey(
        pktable_db="raw", pktable_name="users", pkcolumn_name="id", fktable_db="raw", fktable_name="clicks"
    )
    back = SEEN.reply(method, Reply.of(method, ForeignKeysResponse(foreignKeys=(key,)))).value(method)
    assert back.foreignKeys == (replace(key, fktable_db="shop", fktable_name="seen"),)


def test_a_database_of_the_same_endpoint_that_is_remote_too_has_its_local_name_in_results() -> None:
    users = remote_database("people", "users", "thrift://hms:9083")
    sales = remote_database("sales", "raw", "thrift://hms:9083")
    method = METHODS["get_foreign_keys"]
    key = SQLForeignKey(pktable_db="users", pktable_name="u", fktable_db="raw", fktable_name="clicks")
    reply = Renaming((sales,), (sales, users)).reply(method, Reply.of(method, ForeignKeysResponse(foreignKeys=(key,))))
    assert reply.value(method).foreignKeys == (replace(key, pktable_db="people", fktable_db="sales"),)


def test_a_remote_in_another_catalog_is_in_the_remotes_own_catalog_there() -> None:
    renaming = Renaming((replaced(remote_database("sales", "raw", "thrift://hms:9083"), catalog="lake"),))
    method = METHODS["get_table_req"]
    request = GetTableRequest(dbName="sales", tblName="t", catName="lake")
    sent = renaming.call(Call(method, (request,))).args[0]
    assert (sent.catName, sent.dbName) == ("hive", "raw")
    table = Table(tableName="t", dbName="raw", catName="hive")
    back = renaming.reply(method, Reply.of(method, GetTableResult(table=table))).value(method).table
    assert (back.catName, back.dbName) == ("lake", "sales")


@pytest.mark.parametrize("renaming", [RENAMING, SEEN])
def test_a_long_result_is_renamed_as_a_stream_of_the_same_bytes(renaming: Renaming) -> None:
    method = METHODS["get_partitions"]
    sd = StorageDescriptor(cols=(FieldSchema("c", "string", "x" * 100),), location="/warehouse/raw.db/clicks")
    parts = tuple(Partition((f"{at}",), "raw", "clicks", sd=sd, parameters={"raw": "clicks"}) for at in range(8000))
    reply = renaming.reply(method, Reply.of(method, parts))
    assert isinstance(reply.body, Stream)
    length, chunks = reply.body.length, list(reply.body.chunks)
    assert len(chunks) > 1 and sum(map(len, chunks)) == length
    database, table = renaming.pair("raw", "clicks")
    renamed = tuple(replace(part, dbName=database, tableName=table) for part in parts)
    assert b"".join(chunks) == Reply.of(method, renamed).body

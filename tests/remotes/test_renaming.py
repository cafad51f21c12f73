"""Names on their way to a remote and back."""

from __future__ import annotations

import pytest

from metastored.errors import NoSuchObjectException
from metastored.remotes.definitions import RemoteDatabase
from metastored.remotes.renaming import Renaming, database_of
from metastored.wire.generated.common import CreationMetadata, Table
from metastored.wire.generated.transactions import GetValidWriteIdsRequest
from metastored.wire.message import Call, Reply
from metastored.wire.methods import METHODS

RENAMING = Renaming([RemoteDatabase("sales", "raw", "thrift://hms:9083")])
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
    assert back.viewOriginalText == "select * from raw.t"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("raw.t table not found", "sales.t table not found"),
        ("raw", "sales"),
        ("There is no database raw.", "There is no database raw."),
        ("raw_data.t table not found", "raw_data.t table not found"),
        ("", ""),
    ],
)
def test_a_message_is_changed_only_where_it_begins_with_the_remote_name(text: str, expected: str) -> None:
    reply = RENAMING.reply(GET_TABLE, Reply.raised(GET_TABLE, NoSuchObjectException(text)))
    with pytest.raises(NoSuchObjectException) as raised:
        reply.value(GET_TABLE)
    assert raised.value.message == expected


def test_where_names_are_the_same_the_answer_is_passed_on_as_it_is() -> None:
    reply = Reply.of(GET_TABLE, Table(tableName="t", dbName="raw"))
    assert Renaming([RemoteDatabase("raw", "raw", "thrift://hms:9083")]).reply(GET_TABLE, reply) is reply


def test_the_database_of_a_full_name() -> None:
    assert database_of("sales.t") == (None, "sales")
    assert database_of("hive.sales.t") == ("hive", "sales")

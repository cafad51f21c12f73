"""Errors of the client: the object that they name, their kind, and the calls that are retried after them."""

from __future__ import annotations

import base64

import pytest

import metastored
from metastored.client.endpoints import endpoint_of
from metastored.client.naming import named
from metastored.client.outcomes import lookup_of
from metastored.client.retry import Retry
from metastored.errors import (
    AlreadyExistsException,
    ConfigError,
    ConnectError,
    ConnectionLost,
    ConversionError,
    DatabaseNotFound,
    ErrorKind,
    InvalidAddress,
    InvalidObjectException,
    MetaException,
    NoSuchObjectException,
    ObjectAlreadyExists,
    ObjectNotFound,
    RemoteProtocolError,
    ReplyRefused,
    TableNotFound,
    TimeoutExceeded,
    kind_of,
)
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.client.handlers import table_of
from tests.support.driven import connected

# Errors that name their object


@pytest.mark.parametrize(
    ("method", "args", "error", "expected", "said"),
    [
        ("get_database", ("nodb",), NoSuchObjectException("nodb"), DatabaseNotFound, "database nodb not found"),
        ("get_table", ("d", "t"), NoSuchObjectException("hive.d.t table not found"), TableNotFound, "hive.d.t table"),
        ("get_partition", ("d", "t", ("1",)), NoSuchObjectException("d.t table not found"), TableNotFound, "d.t"),
        (
            "get_partitions_by_filter",
            ("d", "t", "ds = '1'", -1),
            NoSuchObjectException("Specified catalog.database.table does not exist : hive.d.t"),
            TableNotFound,
            "hive.d.t",
        ),
        ("get_function", ("d", "f"), NoSuchObjectException("no"), ObjectNotFound, "function d.f: no"),
        ("create_role", (None,), NoSuchObjectException("x"), NoSuchObjectException, "x"),
        (
            "add_partition",
            (None,),
            AlreadyExistsException("there"),
            AlreadyExistsException,
            "there",
        ),
        (
            "append_partition_by_name",
            ("d", "t", "ds=1"),
            AlreadyExistsException("there"),
            ObjectAlreadyExists,
            "partition d.t ds=1: there",
        ),
        ("get_table", ("d", "t"), MetaException("other"), MetaException, "other"),
    ],
)
def test_errors_name_the_object(
    method: str, args: tuple[object, ...], error: MetaException, expected: type, said: str
) -> None:
    found = named(error, METHODS[method], args)
    assert type(found) is expected
    assert said in str(found)


def test_errors_that_name_an_object_can_be_copied() -> None:
    import pickle

    for error in (TableNotFound("table", "a.b"), ObjectAlreadyExists("table", "a.b")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.object, again.name, str(again)) == (type(error), "table", "a.b", str(error))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (DatabaseNotFound("database", "d"), ErrorKind.NOT_FOUND),
        (ObjectAlreadyExists("table", "t"), ErrorKind.ALREADY_EXISTS),
        (InvalidObjectException("x"), ErrorKind.INVALID_ARGUMENT),
        (ConfigError("x"), ErrorKind.INVALID_ARGUMENT),
        (ConversionError("x"), ErrorKind.INVALID_ARGUMENT),
        (MetaException("x"), ErrorKind.EXTERNAL),
        (ConnectError("x"), ErrorKind.EXTERNAL),
    ],
)
def test_each_error_has_one_of_six_kinds(error: MetaException, kind: ErrorKind) -> None:
    assert kind_of(error) is kind


# Retries


def test_delays_double_and_have_jitter() -> None:
    retry = Retry()
    assert [retry.delay(attempt, 0.0) for attempt in (1, 2, 3)] == [0.1, 0.2, 0.4]
    assert retry.delay(1, 1.0) == pytest.approx(0.05)


@pytest.mark.parametrize("wrong", [Retry(attempts=0), Retry(first_delay=-1), Retry(jitter=2)])
def test_impossible_retry_settings_are_refused(wrong: Retry) -> None:
    with pytest.raises(ConfigError, match="attempts from 1"):
        wrong.checked()


def test_only_errors_of_transport_and_protocol_are_retried_and_only_if_it_is_safe() -> None:
    retry = Retry()
    read, create, opens = METHODS["get_table"], METHODS["create_table"], METHODS["open_txns"]
    assert retry.again(read, ConnectionLost(), 1, True)
    assert retry.again(create, ConnectionLost(), 1, True)
    assert not retry.again(opens, ConnectionLost(), 1, True)
    assert retry.again(opens, ConnectError(), 1, False)
    assert not retry.again(read, ConnectionLost(), 3, True)
    assert not retry.again(read, TimeoutExceeded(), 1, True)
    assert retry.again(read, RemoteProtocolError(), 1, True)
    assert not retry.again(opens, RemoteProtocolError(), 1, True)
    assert not retry.again(read, ReplyRefused(), 1, True)


def test_every_write_of_a_table_or_a_partition_has_a_lookup() -> None:
    table = table_of("d", "t")
    from metastored.wire.generated.databases import CreateDatabaseRequest, Database, DropDatabaseRequest
    from metastored.wire.generated.partitions import Partition
    from metastored.wire.generated.tables import AlterTableRequest, CreateTableRequest, DropTableRequest

    part = Partition(values=("1",), dbName="d", tableName="t")
    asked = {
        "create_table": (table,),
        "create_table_req": (CreateTableRequest(table=table),),
        "create_table_with_environment_context": (table, None),
        "alter_table": ("d", "t", table),
        "alter_table_req": (AlterTableRequest(dbName="d", tableName="t", table=table),),
        "drop_table": ("d", "t", True),
        "drop_table_req": (DropTableRequest(dbName="d", tableName="t"),),
        "create_database": (Database(name="d"),),
        "create_database_req": (CreateDatabaseRequest(databaseName="d"),),
        "drop_database": ("d", True, True),
        "drop_database_req": (DropDatabaseRequest(name="d"),),
        "add_partition": (part,),
        "add_partition_with_environment_context": (part, None),
        "add_partitions": ((part,),),
        "append_partition_by_name": ("d", "t", "ds=1"),
        "drop_partition_by_name": ("d", "t", "ds=1", True),
    }
    for name, args in asked.items():
        found = lookup_of(METHODS[name], args)
        assert found is not None, name
        assert found.db == "d", name
    for name, nothing in (("create_role", (None,)), ("add_partitions", ((),)), ("alter_table", ("d", "t", None))):
        assert lookup_of(METHODS[name], nothing) is None
    created = lookup_of(METHODS["create_table"], (table,))
    assert created is not None
    assert created.took_effect(replace(table, parameters={"numFiles": "0"}))
    assert not created.took_effect(None)
    added = lookup_of(METHODS["add_partition"], (part,))
    assert added is not None
    assert added.result([part]) is part


def test_no_message_and_no_repr_has_a_password(half: str) -> None:
    for uri in ("thrift://ann:secret@127.0.0.1:1", "https://ann:secret@127.0.0.1:1/x", "thrift://ann:secret@h:port"):
        with pytest.raises(InvalidAddress) as raised:
            metastored.connect(uri)
        assert "secret" not in str(raised.value)
    with connected(half, "https://127.0.0.1:1/x", user="ann", password="secret", retry=Retry(attempts=1)) as client:
        encoded = base64.b64encode(b"ann:secret").decode()
        shown = f"{client!r} {client.api!r} {client.api.pool!r} {endpoint_of('thrift://a')!r}"
        with pytest.raises(ConnectError) as refused:
            client.databases()
        assert "secret" not in shown + str(refused.value) and encoded not in shown + str(refused.value)
    endpoint = endpoint_of("https://h/x")._replace(headers=(("Authorization", "Basic secret"),))
    assert repr(endpoint) == "Endpoint(https://h:443/x)"

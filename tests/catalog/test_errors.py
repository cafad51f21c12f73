"""Each kind of failure that the design names: the error that is raised, and its kind."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from metastored import PoolSettings
from metastored.catalog import CatalogManager, ColumnStatus, TableDefinition
from metastored.errors import (
    ApplicationError,
    ConfigError,
    ConnectError,
    ConversionError,
    DatabaseAlreadyExists,
    DatabaseNotFound,
    Error,
    ErrorKind,
    InvalidAddress,
    LockFailed,
    MetaException,
    NotSupported,
    PoolExhausted,
    RemoteProtocolError,
    TableAlreadyExists,
    TableNotFound,
    TransactionFailed,
    TransportError,
    VersionUnknown,
    kind_of,
)
from metastored.model.values import decimal
from metastored.wire.message import Call, Reply, Session
from tests.client.handlers import LockingMetastore, WritableMetastore, table_of
from tests.support.driven import connected

ONE = [{"name": "m", "type": "memory"}]
FULL = {"transactional": "true"}


class Silent(WritableMetastore):
    """Knows no method at all, or fails at each."""

    def __init__(self, type: int) -> None:
        super().__init__()
        self.type = type

    async def handle(self, call: Call, session: Session) -> Reply:
        return Reply.raised(call.method, ApplicationError(self.type, f"Invalid method name: '{call.method.name}'"))


def unreachable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with connected("sync", f"thrift://127.0.0.1:{free.getsockname()[1]}") as client:
            client.databases()


def manager(act: Callable[[CatalogManager], Any]) -> Callable[[], None]:
    def run() -> None:
        with CatalogManager.load(environment={}, list=ONE) as catalogs:
            act(catalogs)

    return run


def twice(catalogs: CatalogManager) -> None:
    for _ in range(2):
        catalogs.create_table("t", TableDefinition(columns=[ColumnStatus("id", "int")]))


def with_client(handler: Any, act: Callable[[Any], Any], **options: Any) -> Callable[[], None]:
    def run() -> None:
        with connected("sync", handler=handler, **options) as client:
            act(client)

    return run


def lost_lock() -> None:
    from metastored.wire.generated.locks import LockState

    metastore = LockingMetastore()
    metastore.states = [LockState.NOT_ACQUIRED]
    with connected("sync", handler=metastore) as client, client.lock("sales.orders"):
        raise AssertionError("it was given")


def lost_transaction() -> None:
    from metastored.errors import TxnAbortedException

    metastore = LockingMetastore((table_of("sales", "orders"),))
    with connected("sync", handler=metastore) as client, client.transaction():
        metastore.lost = TxnAbortedException("gone")


def crowded() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"thrift://127.0.0.1:{server.getsockname()[1]}"
        from threading import Thread

        with connected(
            "sync", address, pool=PoolSettings(max_size=1, max_waiting=0), timeout=20, cache=False
        ) as client:
            held = Thread(target=_quietly, args=(client.databases,))
            held.start()
            connection, _ = server.accept()
            connection.recv(1)
            try:
                client.databases()
            finally:
                connection.close()
                server.close()
                held.join()


def _quietly(call: Callable[[], Any]) -> None:
    try:
        call()
    except Error:
        return


@pytest.mark.parametrize(
    ("variant", "act", "expected", "kind"),
    [
        ("Thrift", unreachable, ConnectError, ErrorKind.EXTERNAL),
        ("DatabaseNotFound", manager(lambda m: m.get_database("no")), DatabaseNotFound, ErrorKind.NOT_FOUND),
        ("TableNotFound", manager(lambda m: m.get_table("no.t")), TableNotFound, ErrorKind.NOT_FOUND),
        (
            "DatabaseAlreadyExists",
            manager(lambda m: m.create_database("default")),
            DatabaseAlreadyExists,
            ErrorKind.ALREADY_EXISTS,
        ),
        ("TableAlreadyExists", manager(twice), TableAlreadyExists, ErrorKind.ALREADY_EXISTS),
        ("InvalidUri", lambda: connected("sync", "nonsense").__enter__(), InvalidAddress, ErrorKind.INVALID_ARGUMENT),
        (
            "InvalidConfig",
            lambda: CatalogManager.load(environment={}, list=[]),
            ConfigError,
            ErrorKind.INVALID_ARGUMENT,
        ),
        (
            "VersionDetectionFailed",
            with_client(Silent(ApplicationError.UNKNOWN_METHOD), lambda client: client.capabilities.version()),
            VersionUnknown,
            ErrorKind.EXTERNAL,
        ),
        (
            "NotSupported",
            with_client(WritableMetastore(), lambda client: client.capabilities.has_constraints(check=True)),
            NotSupported,
            ErrorKind.NOT_SUPPORTED,
        ),
        ("TypeConversion", lambda: decimal("int"), ConversionError, ErrorKind.INVALID_ARGUMENT),
        ("ConnectionPool", crowded, PoolExhausted, ErrorKind.EXTERNAL),
        ("Transaction", lost_transaction, TransactionFailed, ErrorKind.EXTERNAL),
        ("LockFailed", lost_lock, LockFailed, ErrorKind.EXTERNAL),
        (
            "Internal",
            with_client(Silent(ApplicationError.INTERNAL_ERROR), lambda client: client.api.get_all_functions()),
            ApplicationError,
            ErrorKind.EXTERNAL,
        ),
    ],
)
def test_each_failure_raises_its_error_and_has_its_kind(
    variant: str, act: Callable[[], Any], expected: type[Error], kind: ErrorKind
) -> None:
    with pytest.raises(expected) as raised:
        act()
    assert kind_of(raised.value) is kind, variant
    assert str(raised.value), variant


def test_errors_of_the_network_and_the_protocol_are_external() -> None:
    for error in (TransportError("x"), RemoteProtocolError("x"), MetaException("x")):
        assert kind_of(error) is ErrorKind.EXTERNAL
    unknown = ApplicationError(ApplicationError.UNKNOWN_METHOD, "x")
    assert kind_of(unknown) is ErrorKind.NOT_SUPPORTED

"""DROP DATABASE … CASCADE over HTTP: the tables of a remote database stay, whatever connections the calls come on."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from metastored.errors import MetaException, NoSuchObjectException
from metastored.testing import RunningServer
from metastored.wire.codec import binary
from metastored.wire.connection import ClientConnection
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS
from tests.support.client import Client
from tests.support.forks import running_server

pytestmark = pytest.mark.slow

Connect = Callable[[RunningServer], Client]
SD = StorageDescriptor(
    cols=(FieldSchema("id", "bigint"),), inputFormat="in", outputFormat="out", serdeInfo=SerDeInfo(None, "lib", {})
)
TABLES = ("clicks", "views")


class Connection:
    """One HTTP connection that is kept open, as Hive's client does it."""

    def __init__(self, server: RunningServer) -> None:
        assert server.http_port is not None
        self._http = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=60)

    def call(self, name: str, *args: Any, user: str = "ann") -> Any:
        wire, method = ClientConnection(), METHODS[name]
        headers = {"Content-Type": "application/x-thrift", "x-actor-username": user}
        message = wire.send(method, binary.encode_args(method, (*args, *[None] * (len(method.args) - len(args)))))
        self._http.request("POST", "/metastore", message, headers)
        wire.receive_data(self._http.getresponse().read())
        reply = wire.next_event()
        assert isinstance(reply, Reply)
        return reply.value(method)

    def close(self) -> None:
        self._http.close()


@pytest.fixture
def there(far: RunningServer, connect: Connect) -> Iterator[Client]:
    client = connect(far)
    client.call("create_database", Database(name="raw"))
    for name in TABLES:
        client.call("create_table", Table(name, "raw", sd=SD, parameters={}))
    yield client
    client.call("drop_database", "raw", True, True)


@pytest.fixture
def server(far: RunningServer, there: Client, connect: Connect) -> Iterator[RunningServer]:
    """A server with the remote database `sales`, which may be written."""
    with running_server(http_port=0, http_tls="off") as server:
        parameters = {
            "hive.metastore.uris": far.uri,
            "metastored.remote": "raw",
            "metastored.remote.access": "write",
        }
        connect(server).call("create_database", Database(name="sales", parameters=parameters))
        yield server


def test_a_cascade_on_one_connection_drops_the_definition_and_no_table(server: RunningServer, there: Client) -> None:
    with closing(Connection(server)) as here:
        here.call("get_database", "sales")
        for table in here.call("get_all_tables", "sales"):
            here.call("get_table", "sales", table)
            with pytest.raises(NoSuchObjectException, match="the tables of a remote database stay"):
                here.call("drop_table_with_environment_context", "sales", table, True)
        here.call("drop_database", "sales", True, True)
        assert "sales" not in here.call("get_all_databases")
    assert there.call("get_all_tables", "raw") == TABLES


def test_a_cascade_whose_calls_come_on_several_connections_is_refused_and_drops_no_table(
    server: RunningServer, there: Client
) -> None:
    with closing(Connection(server)) as one, closing(Connection(server)) as other:
        assert one.call("get_all_tables", "sales") == TABLES
        with pytest.raises(MetaException, match="not over HTTP"):
            other.call("drop_table_with_environment_context", "sales", "clicks", True)
    assert there.call("get_all_tables", "raw") == TABLES


def test_a_drop_that_is_no_part_of_a_cascade_is_refused_over_http_and_done_over_thrift(
    server: RunningServer, there: Client, connect: Connect
) -> None:
    with closing(Connection(server)) as here:
        here.call("get_table", "sales", "clicks")
        with pytest.raises(MetaException, match="not over HTTP"):
            here.call("drop_table", "sales", "clicks", True)
    connect(server).call("drop_table", "sales", "clicks", True)
    assert there.call("get_all_tables", "raw") == ("views",)


def test_another_users_call_on_the_same_connection_is_no_part_of_the_sequence(
    server: RunningServer, there: Client
) -> None:
    with closing(Connection(server)) as here:
        here.call("get_all_tables", "sales", user="ann")
        here.call("get_all_databases", user="bob")
        with pytest.raises(MetaException, match="not over HTTP"):
            here.call("drop_table", "sales", "clicks", True, user="bob")
        with pytest.raises(NoSuchObjectException, match="the tables of a remote database stay"):
            here.call("drop_table", "sales", "clicks", True, user="ann")
    assert there.call("get_all_tables", "raw") == TABLES


def test_a_local_table_is_dropped_over_http(server: RunningServer, connect: Connect) -> None:
    client = connect(server)
    client.call("create_database", Database(name="shop"))
    client.call("create_table", Table("orders", "shop", sd=SD, parameters={}))
    with closing(Connection(server)) as here:
        here.call("drop_table", "shop", "orders", True)
    assert client.call("get_all_tables", "shop") == ()

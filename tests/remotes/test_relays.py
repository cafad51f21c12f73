"""Long lists of a remote's partitions through a real server: under local names, in bounded memory, never by half."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from metastored.testing import RunningServer
from metastored.wire.codec import binary
from metastored.wire.connection import ClientConnection
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.support.client import Client
from tests.support.forks import running_server
from tests.support.relay import relayed

pytestmark = pytest.mark.slow

Connect = Callable[[RunningServer], Client]
COLUMNS = tuple(FieldSchema(f"column_{i:02d}", "string", f"comment {i}") for i in range(50))
STORAGE = StorageDescriptor(cols=COLUMNS, inputFormat="in", outputFormat="out", serdeInfo=SerDeInfo(None, "lib", {}))
COUNT = 12_000
"""About 30 MB: more than all buffers between two servers hold."""
MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def far() -> Iterator[RunningServer]:
    """A metastore with `raw.clicks` in it, which has many partitions."""
    with running_server(directories="off") as server, Client(server.host, server.port) as client:
        client.call("create_database", Database(name="raw"))
        client.call("create_table", Table("clicks", "raw", sd=STORAGE, partitionKeys=(FieldSchema("n", "int"),)))
        fill(client, 0, COUNT)
        yield server


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with running_server(http_port=0, http_tls="off", http_methods="all") as server:
        yield server


@pytest.fixture
def here(server: RunningServer, connect: Connect) -> Client:
    return connect(server)


def fill(client: Client, start: int, end: int) -> None:
    for at in range(start, end, 4000):
        batch = range(at, min(at + 4000, end))
        client.call("add_partitions", tuple(Partition((str(n),), "raw", "clicks", sd=STORAGE) for n in batch))


def link(client: Client, uri: str, **more: str) -> None:
    """The remote database `sales`, and the remote table `shop.seen`."""
    parameters = {"hive.metastore.uris": uri, **more}
    client.call("create_database", Database(name="sales", parameters=parameters | {"metastored.remote": "raw"}))
    client.call("create_database", Database(name="shop"))
    seen = Table("seen", "shop", sd=STORAGE, parameters=parameters | {"metastored.remote": "raw.clicks"})
    client.call("create_table", seen)


def request(database: str, table: str, *, framed: bool = False) -> bytes:
    method = METHODS["get_partitions"]
    return ClientConnection(framed=framed).send(method, binary.encode_args(method, (database, table, -1)))


def most_memory(server: RunningServer) -> int:
    lines = [line for pid in server.workers for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return max(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def test_partitions_come_under_local_names_from_a_remote_database_and_a_remote_table(
    here: Client, far: RunningServer, connect: Connect
) -> None:
    link(here, far.uri)
    direct = connect(far).call("get_partitions", "raw", "clicks", -1)
    assert len(direct) == COUNT
    for database, table in (("sales", "clicks"), ("shop", "seen")):
        seen = here.call("get_partitions", database, table, -1)
        assert seen == tuple(replace(part, dbName=database, tableName=table) for part in direct)
    assert len(here.call("get_partition_names", "sales", "clicks", -1)) == COUNT


def test_partition_specs_come_under_local_names(here: Client, far: RunningServer, connect: Connect) -> None:
    link(here, far.uri)
    for name, args in (("get_partitions_pspec", (-1,)), ("get_part_specs_by_filter", ("n >= 2000", -1))):
        direct = connect(far).call(name, "raw", "clicks", *args)
        assert all(each.sharedSDPartitionSpec is not None for each in direct)
        for database, table in (("sales", "clicks"), ("shop", "seen")):
            seen = here.call(name, database, table, *args)
            assert seen == tuple(replace(each, dbName=database, tableName=table) for each in direct)


def test_a_client_that_needs_the_length_first_gets_the_same(
    here: Client, far: RunningServer, server: RunningServer
) -> None:
    link(here, far.uri)
    wire = ClientConnection(framed=True)
    method = METHODS["get_partitions"]
    with socket.create_connection((server.host, server.port), timeout=60) as connection:
        connection.sendall(wire.send(method, binary.encode_args(method, ("sales", "clicks", -1))))
        while not isinstance(reply := wire.next_event(), Reply):
            wire.receive_data(connection.recv(MEGABYTE))
    assert reply.value(method) == here.call("get_partitions", "sales", "clicks", -1)


def test_a_remote_that_breaks_off_closes_the_connection_and_the_next_call_works(
    here: Client, far: RunningServer, server: RunningServer
) -> None:
    with relayed(far.port) as relay:
        link(here, f"thrift://127.0.0.1:{relay.port}")
        with socket.create_connection((server.host, server.port), timeout=60) as connection:
            connection.sendall(request("sales", "clicks"))
            assert connection.recv(1000, socket.MSG_PEEK)
            relay.hang_up()
            total = 0
            while data := connection.recv(MEGABYTE):
                total += len(data)
        assert total < COUNT * 2000
        assert len(here.call("get_partitions", "sales", "clicks", -1)) == COUNT


@contextmanager
def asked_over_http(server: RunningServer) -> Iterator[http.client.HTTPResponse]:
    assert server.http_port is not None
    with closing(http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=60)) as connection:
        connection.request("POST", "/metastore", request("sales", "clicks"), {"Content-Type": "application/x-thrift"})
        with connection.getresponse() as response:
            yield response


def test_over_http_it_is_sent_in_chunks(here: Client, far: RunningServer, server: RunningServer) -> None:
    link(here, far.uri)
    wire, method = ClientConnection(), METHODS["get_partitions"]
    wire.send(method, b"\0")
    with asked_over_http(server) as response:
        assert response.headers["transfer-encoding"] == "chunked"
        wire.receive_data(response.read())
    reply = wire.next_event()
    assert isinstance(reply, Reply)
    assert reply.value(method) == here.call("get_partitions", "sales", "clicks", -1)


def test_over_http_a_remote_that_breaks_off_leaves_a_response_without_an_end(
    here: Client, far: RunningServer, server: RunningServer
) -> None:
    with relayed(far.port) as relay:
        link(here, f"thrift://127.0.0.1:{relay.port}")
        with asked_over_http(server) as response:
            assert response.read(1000)
            relay.hang_up()
            with pytest.raises(http.client.IncompleteRead):
                response.read()


def test_a_caller_that_leaves_frees_the_connection_to_the_remote(
    here: Client, far: RunningServer, server: RunningServer
) -> None:
    with relayed(far.port) as relay:
        link(here, f"thrift://127.0.0.1:{relay.port}")
        for _ in range(20):  # More than the calls that may be under way to one remote.
            with socket.create_connection((server.host, server.port), timeout=60) as connection:
                connection.sendall(request("sales", "clicks"))
                assert connection.recv(1000)
        assert len(here.call("get_partitions", "sales", "clicks", -1)) == COUNT


def test_a_reply_of_more_than_a_hundred_megabytes_takes_little_memory(
    here: Client, far: RunningServer, server: RunningServer, connect: Connect
) -> None:
    link(here, far.uri)
    fill(connect(far), COUNT, 4 * COUNT)
    assert len(here.call("get_all_tables", "sales")) == 1
    before = most_memory(server)
    total = 0
    with socket.create_connection((server.host, server.port), timeout=60) as connection:
        connection.sendall(request("sales", "clicks"))
        while data := connection.recv(MEGABYTE):
            total += len(data)
            if total == len(data):
                head = data[:64]
            # The last bytes of the reply end the last partition, the list and the result.
            if data.endswith(b"\0\0") and total > 100 * MEGABYTE:
                connection.settimeout(2)
                try:
                    if not connection.recv(1, socket.MSG_PEEK):
                        break
                except TimeoutError:
                    break
                connection.settimeout(60)
    assert int.from_bytes(head[30:34]) == 4 * COUNT
    assert most_memory(server) - before < 48 * MEGABYTE

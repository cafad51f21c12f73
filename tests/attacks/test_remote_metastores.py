"""Attacks by remote metastores, and by definitions of them: what must not happen to this server and its other users.

Rights on remotes are in tests/gate/test_remotes.py and tests/remotes/test_authorization.py, dead and slow remotes in
tests/remotes/test_guard.py and tests/remotes/test_chaos.py, and hostile Iceberg catalogs in
tests/connectors/test_iceberg_hostile.py.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from metastored.errors import ApplicationError, MetastoreError
from metastored.structs import HeartbeatRequest, LockComponent, LockLevel, LockRequest, LockType, UnlockRequest
from metastored.testing import RunningServer
from metastored.wire.generated.catalogs import Catalog, CreateCatalogRequest, DropCatalogRequest
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace
from tests.remotes.test_server import table
from tests.support.client import Client
from tests.support.forks import running_server
from tests.support.scripted import Act, Peer, scripted

pytestmark = pytest.mark.slow

REFUSED = (MetastoreError, ApplicationError)
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(compat="3.1") as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[Client]:
    made = Client(server.host, server.port)
    yield made
    made.close()


def remote(uri: str, name: str = "raw", **more: str) -> dict[str, str]:
    keys = {f"metastored.remote.{key}": value for key, value in more.items()}
    return {"hive.metastore.uris": uri, "metastored.remote": name, "metastored.remote.timeout": "2", **keys}


def memory(server: RunningServer) -> int:
    """The most bytes that the server has had in memory."""
    lines = Path(f"/proc/{server.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def head(data: bytes) -> bytes:
    """The beginning of a reply to an unframed request: version, name, number; then a list of any length."""
    size = struct.unpack_from(">i", data, 4)[0]
    return data[:3] + b"\2" + data[4 : 12 + size]


def endless_names(peer: Peer, data: bytes) -> None:
    """A list of texts that never ends."""
    peer.socket.sendall(head(data) + b"\x0f\0\0\x0b" + struct.pack(">i", 2**31 - 1))
    chunk = (struct.pack(">i", 1000) + b"x" * 1000) * 1000
    while True:
        peer.socket.sendall(chunk)


def one_endless_name(peer: Peer, data: bytes) -> None:
    """One text of two gigabytes, as far as it says."""
    peer.socket.sendall(head(data) + b"\x0f\0\0\x0b" + struct.pack(">ii", 1, 2**31 - 1))
    while True:
        peer.socket.sendall(b"x" * MIB)


def dripping(peer: Peer, data: bytes) -> None:
    """A byte now and then, for ever."""
    for byte in head(data) + b"\x0f\0\0\x0b" + struct.pack(">i", 10**6) + b"\0" * 10**6:
        peer.socket.sendall(bytes([byte]))
        time.sleep(0.05)


def nested(peer: Peer, data: bytes) -> None:
    """Structs in structs in structs."""
    peer.socket.sendall(head(data) + b"\x0c\0\1" * 200_000)


def another_reply(peer: Peer, data: bytes) -> None:
    """The reply to a call that was not made."""
    peer.socket.sendall(b"\x80\1\0\2" + struct.pack(">i", 7) + b"getName" + data[-5:-1] + b"\x0b\0\0\0\0\0\1x\0")


def garbage(peer: Peer, data: bytes) -> None:
    peer.socket.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello" * 100)


ACTS: dict[str, Act] = {
    "endless names": endless_names,
    "one endless name": one_endless_name,
    "dripping": dripping,
    "nested": nested,
    "another reply": another_reply,
    "garbage": garbage,
}


@pytest.mark.parametrize("act", ACTS)
def test_a_hostile_reply_is_an_error_of_the_call_and_the_server_goes_on(
    server: RunningServer, client: Client, act: str
) -> None:
    name = f"hostile_{act.replace(' ', '_')}"
    with scripted(otherwise=ACTS[act]) as peer:
        with suppress(*REFUSED):  # It may be refused at once: the remote is asked whether the database is there.
            client.call("create_database", Database(name=name, parameters=remote(peer.uri)))
        with pytest.raises(REFUSED):
            client.call("get_all_tables", name)
        assert client.call("get_all_tables", "default") == ()
    assert memory(server) < 700 * MIB
    with suppress(*REFUSED):
        client.call("drop_database", name, False, False)


def test_a_loop_of_remotes_is_an_error_and_other_calls_go_on(server: RunningServer, client: Client) -> None:
    """A remote's definition is not checked against the remote when it is altered: so two can lead to each other."""
    with running_server(compat="3.1") as other:
        there = Client(other.host, other.port)
        there.call("create_database", Database(name="real"))
        there.call("create_database", Database(name="y", parameters=remote(other.uri, "real")))
        client.call("create_database", Database(name="x", parameters=remote(other.uri, "y")))
        y = there.call("get_database", "y")
        changed = {**(y.parameters or {}), "hive.metastore.uris": server.uri, "metastored.remote": "x"}
        there.call("alter_database", "y", replace(y, parameters=changed))
        before = descriptors(server)
        for method in ("get_all_tables", "get_database"):
            with pytest.raises(REFUSED):
                client.call(method, "x")
            assert client.call("get_all_tables", "default") == ()
        assert "x" in client.call("get_all_databases")
        assert descriptors(server) - before < 100
        client.call("drop_database", "x", False, False)
        assert "x" not in client.call("get_all_databases")
        there.close()


def descriptors(server: RunningServer) -> int:
    return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))


def test_the_server_as_its_own_remote_shows_a_database_twice_and_no_more(server: RunningServer, client: Client) -> None:
    client.call("create_database", Database(name="plain"))
    client.call("create_table", table("plain", "t"))
    client.call("create_database", Database(name="mirror", parameters=remote(server.uri, "plain", access="write")))
    client.call("create_database", Database(name="mirror2", parameters=remote(server.uri, "mirror")))
    assert client.call("get_all_tables", "mirror2") == ("t",)
    assert client.call("get_table", "mirror2", "t").dbName == "mirror2"
    client.call("drop_database", "mirror2", True, True)
    client.call("drop_database", "mirror", True, True)
    assert client.call("get_all_tables", "plain") == ("t",)
    client.call("drop_database", "plain", True, True)


def test_a_prefix_hides_no_local_database_and_takes_no_name_of_another_remote(
    server: RunningServer, client: Client
) -> None:
    """Eve's catalog has a database `b_secret`: with the prefix `a_` it would be `a_b_secret`."""
    with running_server(compat="3.1") as evil, running_server(compat="3.1") as honest:
        eves, partners = Client(evil.host, evil.port), Client(honest.host, honest.port)
        eves.call("create_database", Database(name="b_secret"))
        eves.call("create_table", table("b_secret", "fake"))
        partners.call("create_database", Database(name="secret"))
        partners.call("create_table", table("secret", "true"))
        client.call("create_database", Database(name="a_b_secret", parameters=remote(honest.uri, "secret")))
        keys = {"hive.metastore.uris": evil.uri, "metastored.remote.prefix": "a_"}
        client.call("create_catalog", CreateCatalogRequest(Catalog(name="evil", parameters=keys)))
        assert client.call("get_all_tables", "a_b_secret") == ("true",)
        assert client.call("get_all_databases").count("a_b_secret") == 1
        client.call("drop_catalog", DropCatalogRequest("evil"))
        client.call("drop_database", "a_b_secret", False, False)
        eves.close()
        partners.close()


def test_locks_at_a_remote_give_no_hold_on_locks_here(server: RunningServer, client: Client) -> None:
    """A lock that a remote gave out has a number of its own there: here it is another's."""
    with running_server(compat="3.1") as other:
        there = Client(other.host, other.port)
        there.call("create_database", Database(name="raw"))
        there.call("create_table", table("raw", "t"))
        client.call("create_database", Database(name="far", parameters=remote(other.uri, access="write")))
        client.call("create_database", Database(name="near"))
        client.call("create_table", table("near", "t"))
        local = client.call("lock", exclusive("near"))
        foreign = there.call("lock", shared("raw"))
        through = client.call("lock", shared("far"))
        assert through.lockid not in (local.lockid, None)
        client.call("unlock", UnlockRequest(lockid=through.lockid))
        client.call("heartbeat", HeartbeatRequest(lockid=local.lockid))
        there.call("heartbeat", HeartbeatRequest(lockid=foreign.lockid))
        client.call("unlock", UnlockRequest(lockid=local.lockid))
        there.call("unlock", UnlockRequest(lockid=foreign.lockid))
        client.call("drop_database", "far", False, True)
        client.call("drop_database", "near", True, True)
        there.close()


def exclusive(database: str) -> LockRequest:
    return _lock(database, LockType.EXCLUSIVE)


def shared(database: str) -> LockRequest:
    return _lock(database, LockType.SHARED_READ)


def _lock(database: str, kind: int) -> LockRequest:
    part = LockComponent(type=kind, level=LockLevel.TABLE, dbname=database, tablename="t")
    return LockRequest(component=(part,), user="eve", hostname="h")

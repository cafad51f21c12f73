"""Helpers of the HTTP tests: a server with one user and the objects of the specification, and a plain client."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from metastored.config import KEYS
from metastored.testing import RunningServer
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from tests.server.support import PATIENCE, Peer
from tests.support.forks import run_command, running_server
from tests.support.postgres import shared_postgres

USER, PASSWORD = "maja", "honey"
API = KEYS["http_path"].default
JSON = "application/vnd.apache.thrift.json"
THRIFT = "application/x-thrift"
DB, TABLE = "hmshttptestdatabase", "test_table"
ALL = b'[1,"get_all_databases",1,1,{}]'
"""A call that everybody may make."""


DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
"""The parameters of a fixture that starts a server on each of its databases."""


@contextmanager
def server_with_users(
    folder: Path, database: str, users: Mapping[str, str], **settings: Any
) -> Iterator[RunningServer]:
    """A server with an HTTP port, on one of DATABASES, and with users, by their passwords."""
    with ExitStack() as stack:
        data: Path | str = folder / "data"
        if database == "postgresql":
            data = stack.enter_context(shared_postgres().database())
        settings["data" if isinstance(data, Path) else "database_url"] = data
        for name, password in users.items():
            user("add", name, data=data, password=password)
        yield stack.enter_context(running_server(**{"http_port": 0, **settings}))


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def basic(user: str = USER, password: str = PASSWORD) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def any_certificate() -> ssl.SSLContext:
    """As `curl -k`."""
    # Without the certificates of this machine, which take long to load.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Browser:
    """One persistent HTTPS connection."""

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        context = tls or any_certificate()
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=PATIENCE, context=context)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *exc: object) -> None:
        self.connection.close()

    def request(
        self, verb: str, path: str, body: Any = None, headers: dict[str, str] | None = None, **more: Any
    ) -> Response:
        self.connection.request(verb, path, body, headers or {}, **more)
        found = self.connection.getresponse()
        headers_read: dict[str, str] = {}
        for name, value in found.getheaders():
            headers_read[name.lower()] = (
                f"{headers_read[name.lower()]}, {value}" if name.lower() in headers_read else value
            )
        return Response(found.status, headers_read, found.read())

    def post(
        self, body: Any, path: str = API, *, kind: str = JSON, credentials: dict[str, str] | None = None, **headers: str
    ) -> Response:
        """As the specification's user, unless other credentials (or {}) are passed."""
        sent = {"Content-Type": kind, **(basic() if credentials is None else credentials)}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.request("POST", path, body.encode() if isinstance(body, str) else body, sent)


def user(*words: str, data: Path | str, password: str | None = None) -> str:
    """`metastored user …`: what it printed. `data`: the directory of a database, or its URL."""
    where = ("--data" if isinstance(data, Path) else "--database-url", str(data))
    stdin = [] if password is None else ["--password-stdin"]
    typed = "" if password is None else password + "\n"
    done = run_command("user", *words, *stdin, *where, input=typed, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def http_server(folder: Path, **settings: Any) -> Iterator[RunningServer]:
    """A server with the user maja, on free ports."""
    user("add", USER, data=folder / "data", password=PASSWORD)
    with running_server(http_port=0, data=folder / "data", **settings) as server:
        yield server


def who(server: RunningServer, database: str) -> str:
    """The user who created this database, from the audit log."""
    (line,) = [line for line in server.log.splitlines() if "method=create_database" in line and f"={database} " in line]
    return line.partition("user=")[2].split()[0]


def browser(server: RunningServer, tls: ssl.SSLContext | None = None) -> Browser:
    assert server.http_port is not None
    return Browser(server.http_port, tls)


def fill(server: RunningServer) -> None:
    """The database and the table of the specification's examples, made over Thrift."""
    with Peer(server.port) as peer:
        location = f"{server.warehouse}/{DB}.db"
        peer.call("create_database", Database(name=DB, locationUri=location))
        columns = (FieldSchema("name", "string"), FieldSchema("age", "int"))
        keys = (FieldSchema("hair_color", "string"),)
        peer.call("create_table", Table(
            tableName=TABLE, dbName=DB, owner="root", createTime=1566250831, lastAccessTime=0, retention=0,
            sd=storage(columns, f"{location}/{TABLE}"), partitionKeys=keys,
            parameters={"comment": "Table Comment"}, tableType="MANAGED_TABLE",
        ))  # fmt: skip
        for color in ("black", "brown"):
            peer.call("add_partition", Partition(
                values=(color,), dbName=DB, tableName=TABLE, createTime=1566250836, lastAccessTime=0,
                sd=storage(columns, f"{location}/{TABLE}/hair_color={color}"), parameters={"numRows": "0"},
            ))  # fmt: skip


def storage(columns: tuple[FieldSchema, ...], location: str) -> StorageDescriptor:
    return StorageDescriptor(
        cols=columns,
        location=location,
        inputFormat="org.apache.hadoop.mapred.SequenceFileInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat",
        compressed=False,
        numBuckets=-1,
        serdeInfo=SerDeInfo(
            serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
            parameters={"serialization.format": "1"},
        ),
        bucketCols=(),
        sortCols=(),
        parameters={},
        storedAsSubDirectories=False,
    )


# Sockets without a client around them


def trusting() -> ssl.SSLContext:
    """One for all connections of a test: a context with the machine's certificates takes longer than a handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def connect(port: int, tls: ssl.SSLContext) -> ssl.SSLSocket:
    return tls.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))


def head(length: int, path: str = API, kind: str = JSON) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n"
        f"Authorization: {basic()['Authorization']}\r\n\r\n"
    ).encode()


def status(connection: socket.socket) -> int:
    """Reads exactly one complete response."""
    start = b""
    while not start.endswith(b"\r\n\r\n"):
        start += _some(connection, 1)
    left = int(start.lower().partition(b"content-length: ")[2].split()[0])
    while left:
        left -= len(_some(connection, left))
    return int(start.split()[1])


def _some(connection: socket.socket, most: int) -> bytes:
    data = connection.recv(most)
    assert data, "the server hung up"
    return data

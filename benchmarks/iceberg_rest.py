"""Iceberg's REST catalog, against pyiceberg's SqlCatalog behind a plain HTTP server: the same requests to both.

Both are on SQLite, write metadata files to this machine and run in a process of their own. Requests are sent over one
connection, by one client, and the replies are not decoded: the client costs the same for both.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import multiprocessing
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import metastored
from benchmarks.rows import Results
from metastored.testing import running_server
from metastored.wire.structs import replace
from tests.support.iceberg_rest import running_rest_catalog

COLUMNS = 50
SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [{"id": at, "name": f"c{at}", "type": "long", "required": False} for at in range(1, COLUMNS + 1)],
}
DB = "bench"
LOAD, COMMIT, LIST = 5.0, 2.0, 10.0
"""How many times faster metastored has to be at the least."""


class Client:
    """One connection to a REST catalog."""

    def __init__(self, port: int, path: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._path = path

    def send(self, verb: str, path: str, body: Any = None) -> bytes:
        data = None if body is None else json.dumps(body)
        headers = {} if data is None else {"Content-Type": "application/json"}
        self._connection.request(verb, f"{self._path}/v1{path}", data, headers)
        response = self._connection.getresponse()
        content = response.read()
        assert response.status in (200, 204), (response.status, content[:500])
        return content

    def commit(self, number: int) -> None:
        update = {"action": "set-properties", "updates": {"number": str(number)}}
        identifier = {"namespace": [DB], "name": "t"}
        body = {"identifier": identifier, "requirements": [], "updates": [update]}
        self.send("POST", f"/namespaces/{DB}/tables/t", body)


def prepared(client: Client) -> Client:
    client.send("POST", "/namespaces", {"namespace": [DB], "properties": {}})
    client.send("POST", f"/namespaces/{DB}/tables", {"name": "t", "schema": SCHEMA, "properties": {}})
    return client


@contextlib.contextmanager
def ours(tables: int) -> Iterator[Client]:
    """metastored, with a table to load and others to list."""
    with running_server(http_port=0, http_tls="off", iceberg="on") as server:
        assert server.http_port is not None
        client = prepared(Client(server.http_port, "/iceberg"))
        with metastored.connect(server.uri, cache=False) as thrift:
            row = thrift.table((DB, "t"))
            for number in range(tables):
                thrift.create_table(replace(row, tableName=f"other_{number:06d}"))
        yield client


@contextlib.contextmanager
def theirs(tables: int) -> Iterator[Client]:
    """pyiceberg's SqlCatalog with the same tables, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        near, far = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(target=_serve, args=(folder, far))
        process.start()
        try:
            client = prepared(Client(near.recv(), ""))
            with contextlib.closing(sqlite3.connect(Path(folder, "rest.db"))) as database, database:
                (columns,) = database.execute(
                    "SELECT group_concat(name) FROM pragma_table_info('iceberg_tables') WHERE name != 'table_name'"
                ).fetchone()
                for number in range(tables):
                    database.execute(
                        f"INSERT INTO iceberg_tables (table_name, {columns}) SELECT ?, {columns} FROM iceberg_tables "
                        "WHERE table_name = 't'",
                        (f"other_{number:06d}",),
                    )
            yield client
        finally:
            near.send("stop")
            process.join(10)
            if process.is_alive():
                process.kill()


def _serve(folder: str, pipe: Connection) -> None:
    with running_rest_catalog(Path(folder)) as server:
        pipe.send(int(server.uri.rpartition(":")[2].strip("/")))
        pipe.recv()


def timed(work: Callable[[int], object], times: int) -> float:
    """The median time of a call in seconds, after a first one that does not count."""
    found = []
    for number in range(times + 1):
        start = time.perf_counter()
        work(number)
        found.append(time.perf_counter() - start)
    return median(found[1:])


def measured(client: Client, tables: int, times: int) -> tuple[float, float, float]:
    listed = json.loads(client.send("GET", f"/namespaces/{DB}/tables"))["identifiers"]
    assert len(listed) == tables + 1, len(listed)
    return (
        timed(lambda number: client.send("GET", f"/namespaces/{DB}/tables/t"), times),
        timed(client.commit, times),
        timed(lambda number: client.send("GET", f"/namespaces/{DB}/tables"), 10),
    )


def run(results: Results, quick: bool) -> None:
    tables, times = (1_000, 40) if quick else (10_000, 200)
    with theirs(tables) as client:
        other = measured(client, tables, times)
    with ours(tables) as client:
        own = measured(client, tables, times)
    names = (f"load an Iceberg table of {COLUMNS} columns", "commit to an Iceberg table", f"list {tables:,} tables")
    for name, mine, other_time, least in zip(names, own, other, (LOAD, COMMIT, LIST), strict=True):
        results.faster(f"{name} by REST, pyiceberg's SqlCatalog", mine, other_time, least=least, aim=2 * least)

"""A metastored with Iceberg's REST catalog, on SQLite or PostgreSQL, and clients of it: plain HTTP, and pyiceberg."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pyarrow as pa
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.catalog.rest import RestCatalog

import metastored
from metastored.hive.locations import local_path
from metastored.structs import Table
from metastored.testing import RunningServer
from tests.server.http.support import PASSWORD, USER, basic, server_with_users

SCHEMA: dict[str, Any] = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "type": "long", "required": True},
        {"id": 2, "name": "name", "type": "string", "required": False},
    ],
}
ROWS = pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]})


def iceberg_server(
    folder: Path, database: str = "sqlite", users: Mapping[str, str] | None = None, **settings: Any
) -> AbstractContextManager[RunningServer]:
    """A server without TLS. With `users` it has these, by their passwords, and the user maja."""
    # Without TLS the tests need no certificate; passwords are sent to this machine only.
    everyone = {} if users is None else {USER: PASSWORD, **users}
    return server_with_users(folder, database, everyone, **{"http_tls": "off", "iceberg": "on", **settings})


class Reply(NamedTuple):
    """A response: the status, the JSON of its body, and the headers by their names in lower case."""

    status: int
    json: Any
    headers: dict[str, str]

    @property
    def error(self) -> str:
        """The type of an error."""
        kind: str = self.json["error"]["type"]
        assert self.json["error"]["code"] == self.status
        return kind

    @property
    def message(self) -> str:
        text: str = self.json["error"]["message"]
        return text


class Rest:
    """A plain client: one connection for each request."""

    def __init__(self, server: RunningServer, who: str | None = None, password: str = "", prefix: str = "") -> None:
        self._port = server.http_port
        self._headers = {} if who is None else basic(who, password)
        self._prefix = f"/{quote(prefix, safe='')}" if prefix else ""

    def send(self, verb: str, path: str, body: Any = None, **headers: str) -> Reply:
        """A request below /iceberg/v1; a body that is not bytes is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port or 0, timeout=60)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        labels = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            labels.setdefault("Content-Type", "application/json")
        try:
            connection.request(verb, f"/iceberg/v1{path}", data, {**self._headers, **labels})
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, json.loads(content) if content else None, found)

    def get(self, path: str, **headers: str) -> Reply:
        return self.send("GET", self._prefix + path, **headers)

    def head(self, path: str) -> Reply:
        return self.send("HEAD", self._prefix + path)

    def delete(self, path: str) -> Reply:
        return self.send("DELETE", self._prefix + path)

    def post(self, path: str, body: Any, **headers: str) -> Reply:
        return self.send("POST", self._prefix + path, body, **headers)

    # What many tests begin with

    def namespace(self, name: str, **properties: str) -> str:
        """A new namespace."""
        reply = self.post("/namespaces", {"namespace": [name], "properties": properties})
        assert reply.status == 200, reply
        return name

    def table(self, namespace: str, name: str = "t", **fields: Any) -> Any:
        """A new table without rows."""
        reply = self.post(f"/namespaces/{namespace}/tables", {"name": name, "schema": SCHEMA, **fields})
        assert reply.status == 200, reply
        return reply.json

    def load(self, namespace: str, name: str = "t") -> Any:
        reply = self.get(f"/namespaces/{namespace}/tables/{name}")
        assert reply.status == 200, reply
        return reply.json

    def commit(self, namespace: str, name: str, *updates: Any, requirements: list[Any] | None = None) -> Reply:
        body = {"requirements": requirements or [], "updates": list(updates)}
        return self.post(f"/namespaces/{namespace}/tables/{name}", body)


def rest_catalog(server: RunningServer, who: str | None = None, password: str = "", **properties: Any) -> RestCatalog:
    """pyiceberg's client of the REST catalog."""
    if who is not None:
        properties["auth"] = {"type": "basic", "basic": {"username": who, "password": password}}
    return RestCatalog("rest", uri=f"http://127.0.0.1:{server.http_port}/iceberg", **properties)


def hive_catalog(server: RunningServer, **properties: str) -> HiveCatalog:
    """pyiceberg's client of the metastore itself, which takes a lock for each commit."""
    waits = {"lock-check-min-wait-time": "0.01", "lock-check-max-wait-time": "0.1", "lock-check-retries": "200"}
    return HiveCatalog("hive", uri=server.uri, **{**waits, **properties})


def stored(server: RunningServer, namespace: str, name: str = "t") -> Table:
    """A table as the metastore has it."""
    with metastored.connect(server.uri, user=USER, cache=False) as client:
        return client.table((namespace, name))


def metadata_files(table: Table) -> list[str]:
    """The names of the metadata files of a table, sorted."""
    assert table.sd is not None
    folder = Path(local_path(table.sd.location or "")) / "metadata"
    return sorted(each.name for each in folder.iterdir() if each.name.endswith(".metadata.json"))

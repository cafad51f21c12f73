"""A small Iceberg REST catalog, for tests: the endpoints that pyiceberg calls, over a SQL catalog of its own.

The bytes are those of the REST specification; tables are kept by pyiceberg's SqlCatalog, views in memory.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from pyiceberg.catalog.rest import CreateTableRequest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import (
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.table import CommitTableRequest, Table
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER

SEPARATOR = "\x1f"
ENDPOINTS = [
    *(f"{verb} /v1/{{prefix}}/namespaces" for verb in ("GET", "POST")),
    *(f"{verb} /v1/{{prefix}}/namespaces/{{namespace}}" for verb in ("GET", "HEAD", "DELETE")),
    "POST /v1/{prefix}/namespaces/{namespace}/properties",
    *(
        f"{verb} /v1/{{prefix}}/namespaces/{{namespace}}/{kind}"
        for verb in ("GET", "POST")
        for kind in ("tables", "views")
    ),
    *(f"{verb} /v1/{{prefix}}/namespaces/{{namespace}}/tables/{{table}}" for verb in ("GET", "POST", "HEAD", "DELETE")),
    *(f"{verb} /v1/{{prefix}}/namespaces/{{namespace}}/views/{{view}}" for verb in ("GET", "HEAD", "DELETE")),
    "POST /v1/{prefix}/tables/rename",
]
_LEFT_OUT = dict.fromkeys(("location", "partition-spec", "write-order"))
STATUS: dict[type[Exception], int] = {
    NoSuchNamespaceError: 404,
    NoSuchTableError: 404,
    KeyError: 404,
    NamespaceAlreadyExistsError: 409,
    TableAlreadyExistsError: 409,
    FileExistsError: 409,
    NamespaceNotEmptyError: 409,
    PermissionError: 401,
}


class _Service:
    """The catalog's state and its responses: one function for each path pattern and verb."""

    def __init__(self, folder: Path) -> None:
        warehouse = (folder / "warehouse").as_uri()
        self.catalog = SqlCatalog("rest", uri=f"sqlite:///{folder / 'rest.db'}", warehouse=warehouse)
        self.views: dict[tuple[tuple[str, ...], str], dict[str, Any]] = {}
        self.lock = threading.Lock()
        self.fails: int | None = None
        """If set, the status of every response."""
        self.token: str | None = None
        """If set, the bearer token without which every response is 401."""
        self.said: dict[str, Any] = {}
        """What the configuration, and the reply about each table, says in addition."""

    def respond(self, verb: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        match verb, path.strip("/").split("/")[1:]:
            case "GET", ["config"]:
                return {"defaults": self.said, "overrides": self.said, "endpoints": ENDPOINTS}
            case "GET", ["namespaces"]:
                parent = tuple(query.get("parent", [""])[0].split(SEPARATOR)) if query.get("parent") else ()
                return {"namespaces": self.catalog.list_namespaces(parent)}
            case "POST", ["namespaces"]:
                self.catalog.create_namespace(tuple(body["namespace"]), body.get("properties") or {})
                return body
            case "GET" | "HEAD", ["namespaces", namespace]:
                return {"namespace": _parts(namespace), "properties": self._properties(namespace)}
            case "DELETE", ["namespaces", namespace]:
                return self.catalog.drop_namespace(_parts(namespace))
            case "POST", ["namespaces", namespace, "properties"]:
                done = self.catalog.update_namespace_properties(
                    _parts(namespace), set(body.get("removals") or ()), body.get("updates") or {}
                )
                return {"updated": done.updated, "removed": done.removed, "missing": done.missing}
            case "GET", ["namespaces", namespace, "tables"]:
                return _identifiers(self.catalog.list_tables(_parts(namespace)))
            case "GET", ["namespaces", namespace, "views"]:
                self._properties(namespace)
                return _identifiers([(*where, name) for where, name in self.views if where == _parts(namespace)])
            case "POST", ["namespaces", namespace, "tables"]:
                return self._create(_parts(namespace), CreateTableRequest.model_validate({**_LEFT_OUT, **body}))
            case "POST", ["namespaces", namespace, "views"]:
                return self._create_view(_parts(namespace), body)
            case verb, ["namespaces", namespace, "tables", name]:
                return self._table(verb, (*_parts(namespace), unquote(name)), body)
            case verb, ["namespaces", namespace, "views", name]:
                key = (_parts(namespace), unquote(name))
                return self.views.pop(key) and None if verb == "DELETE" else self.views[key]
            case "POST", ["tables", "rename"]:
                source, target = body["source"], body["destination"]
                self.catalog.rename_table(
                    (*source["namespace"], source["name"]), (*target["namespace"], target["name"])
                )
                return None
        raise KeyError(path)

    def _properties(self, namespace: str) -> Any:
        return self.catalog.load_namespace_properties(_parts(namespace))

    def _create(self, namespace: tuple[str, ...], request: CreateTableRequest) -> Any:
        if (namespace, request.name) in self.views:
            raise TableAlreadyExistsError(request.name)
        return _loaded(
            self.catalog.create_table(
                (*namespace, request.name),
                request.table_schema,
                location=request.location,
                partition_spec=request.partition_spec or UNPARTITIONED_PARTITION_SPEC,
                sort_order=request.write_order or UNSORTED_SORT_ORDER,
                properties=request.properties,
            )
        )

    def _create_view(self, namespace: tuple[str, ...], body: Any) -> Any:
        self.catalog.load_namespace_properties(namespace)
        if (namespace, body["name"]) in self.views or self.catalog.table_exists((*namespace, body["name"])):
            raise FileExistsError(body["name"])
        version = {**body["view-version"], "version-id": 1}
        made = {
            "metadata-location": f"memory:/{body['name']}",
            "metadata": {
                "view-uuid": str(uuid.uuid4()),
                "format-version": 1,
                "location": f"memory:/{body['name']}",
                "current-version-id": 1,
                "versions": [version],
                "version-log": [{"timestamp-ms": version["timestamp-ms"], "version-id": 1}],
                "schemas": [{**body["schema"], "schema-id": version["schema-id"]}],
                "properties": body.get("properties") or {},
            },
        }
        self.views[namespace, body["name"]] = made
        return made

    def _table(self, verb: str, identifier: tuple[str, ...], body: Any) -> Any:
        if verb == "DELETE":
            return self.catalog.drop_table(identifier)
        table = self.catalog.load_table(identifier)
        if verb == "POST":
            given = CommitTableRequest.model_validate(body)
            done = self.catalog.commit_table(table, given.requirements, given.updates)
            return {
                "metadata-location": done.metadata_location,
                "metadata": json.loads(done.metadata.model_dump_json()),
            }
        found = _loaded(table)
        found["metadata"]["properties"] |= {key: text for key, text in self.said.items() if isinstance(text, str)}
        return found | {"config": {key: text for key, text in self.said.items() if isinstance(text, str)}}


def _parts(namespace: str) -> tuple[str, ...]:
    return tuple(unquote(namespace).split(SEPARATOR))


def _identifiers(found: list[Any]) -> Any:
    return {"identifiers": [{"namespace": list(each[:-1]), "name": each[-1]} for each in found]}


def _loaded(table: Table) -> Any:
    return {"metadata-location": table.metadata_location, "metadata": json.loads(table.metadata.model_dump_json())}


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    service: _Service

    def _serve(self) -> None:
        url = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        try:
            if self.service.fails is not None and not url.path.endswith("/config"):
                raise RuntimeError("on purpose")
            if self.service.token not in (None, (self.headers.get("Authorization") or "").removeprefix("Bearer ")):
                raise PermissionError("another token is needed")
            with self.service.lock:
                found = self.service.respond(
                    self.command, url.path, parse_qs(url.query), json.loads(raw) if raw else None
                )
            status = 200 if found is not None else 204
        except Exception as error:
            status = STATUS.get(type(error), self.service.fails or 500)
            found = {"error": {"message": str(error), "type": type(error).__name__, "code": status}}
        body = b"" if found is None or self.command == "HEAD" else json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_HEAD = do_DELETE = _serve

    def log_message(self, format: str, *args: Any) -> None: ...


class RestCatalog:
    """A running catalog."""

    def __init__(self, uri: str, service: _Service) -> None:
        self.uri = uri
        self._service = service

    @contextmanager
    def failing(self, status: int) -> Iterator[None]:
        """Everything fails with this status meanwhile."""
        self._service.fails = status
        try:
            yield
        finally:
            self._service.fails = None

    @contextmanager
    def saying(self, said: dict[str, Any]) -> Iterator[None]:
        """The configuration, and the reply about each table, has these properties meanwhile."""
        self._service.said = said
        try:
            yield
        finally:
            self._service.said = {}

    @contextmanager
    def demanding(self, token: str) -> Iterator[None]:
        """Every request needs this token meanwhile."""
        self._service.token = token
        try:
            yield
        finally:
            self._service.token = None


@contextmanager
def running_rest_catalog(folder: Path) -> Iterator[RestCatalog]:
    """A REST catalog on a free port of this machine, in a thread."""
    service = _Service(folder)
    handler = type("Handler", (_Handler,), {"service": service})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="iceberg-rest", daemon=True)
    thread.start()
    try:
        yield RestCatalog(f"http://127.0.0.1:{server.server_port}", service)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        service.catalog.close()

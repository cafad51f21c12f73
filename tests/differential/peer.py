"""A metastore under test, real or metastored, and its replies as lines of text.

Values that differ between two equal servers are replaced in the text: the warehouse's location, the present time, ids,
the user of the operating system, and fields that the version under test does not have. Nothing else is.
"""

from __future__ import annotations

import getpass
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from metastored.errors import ApplicationError, MetastoreError, TransportError
from metastored.hive.names import CatalogNameError, decode_catalog_name
from metastored.wire.generated.databases import CreateDatabaseRequest, Database
from metastored.wire.generated.tables import GetTableRequest, GetTablesRequest
from metastored.wire.methods import METHODS
from metastored.wire.structs import Struct, fields, names
from tests.support.client import Client

WAREHOUSE = "{W}"
"""The placeholder of the warehouse's URI, in arguments and in replies."""
OUTSIDE = "{X}"
"""Stands for the URI of a folder beside the warehouse, for files that a test puts there."""

USER: Final = getpass.getuser()
"""Who runs both servers, and owns what has no other owner."""
_NUMBER = re.compile(r"(?<!\d)(\d{10}|\d{13})(?!\d)")
_DAY = 86_400


def _in_catalog(dbname: str | None) -> tuple[str | None, str | None]:
    """A name with its catalog in two; a malformed one is for the server to refuse."""
    try:
        catalog, database = decode_catalog_name(dbname)
    except CatalogNameError:
        return None, dbname
    return catalog, database


def _get_table(client: Client, dbname: str | None, name: str | None) -> Any:
    catalog, database = _in_catalog(dbname)
    return client.call("get_table_req", GetTableRequest(database, name, catName=catalog)).table


def _get_table_objects_by_name(client: Client, dbname: str | None, names: tuple[str, ...] | None) -> Any:
    catalog, database = _in_catalog(dbname)
    return client.call("get_table_objects_by_name_req", GetTablesRequest(database, names, catName=catalog)).tables


def _create_database(client: Client, request: CreateDatabaseRequest) -> Any:
    given = {name: getattr(request, name) for name in names(Database) if name in names(CreateDatabaseRequest)}
    return client.call("create_database", Database(name=request.databaseName, **given))


OTHER_FORMS: Final[dict[str, Callable[..., Any]]] = {
    "create_database_req": _create_database,
    "get_table": _get_table,
    "get_table_objects_by_name": _get_table_objects_by_name,
}
"""The calls that clients use for versions that do not have a method yet, or no longer."""


def has(version: str, method: str) -> bool:
    """Whether a version has this method."""
    return version in METHODS[method].versions or method in OTHER_FORMS


@dataclass(frozen=True)
class Peer:
    """One side of a comparison."""

    client: Client
    version: str
    """The version whose fields count, in the words of the API files: 2.3, 3.1, 4.0.1 …"""
    warehouse: Path
    outside: Path

    def ask(self, method: str, *args: Any) -> Any:
        """The decoded reply; arguments may use the placeholders."""
        placed = [self._placed(arg) for arg in args]
        if self.version in METHODS[method].versions:
            return self.client.call(method, *placed)
        return OTHER_FORMS[method](self.client, *placed)

    def answer(self, method: str, *args: Any) -> str:
        """The reply, or the error, as a line."""
        try:
            return self.shown(self.ask(method, *args))
        except (MetastoreError, ApplicationError, TransportError) as error:
            return self.shown_error(error)

    def shown_error(self, error: Exception) -> str:
        if isinstance(error, TransportError):
            return "!connection lost"
        if isinstance(error, ApplicationError):
            return f"!TApplicationException {error.type} {self._unplaced(str(error))}"
        text = getattr(error, "message", None)
        return f"!{type(error).__name__} {self._unplaced(text) if text is not None else None}"

    def shown(self, value: Any) -> str:
        """A value as text: fields of this version only, maps and sets in a fixed order."""
        if isinstance(value, Struct):
            known = {field.name for field in fields(type(value)) if self.version in field.versions}
            given = [
                f"{name}={'<id>' if name == 'id' else self.shown(item)}"
                for name, item in zip(names(type(value)), value, strict=True)
                if item is not None and name in known
            ]
            return f"{type(value).__name__}({', '.join(given)})"
        if isinstance(value, dict):
            pairs = sorted((self.shown(key), self.shown(item)) for key, item in value.items())
            return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
        if isinstance(value, frozenset):
            return "{" + ", ".join(sorted(map(self.shown, value))) + "}"
        if isinstance(value, tuple | list):
            return "[" + ", ".join(map(self.shown, value)) + "]"
        if isinstance(value, str):
            return repr("<user>" if value == USER else self._unplaced(value))
        if isinstance(value, int) and not isinstance(value, bool) and _is_now(value):
            return "<now>"
        return repr(value)

    def path(self, text: str) -> Path:
        """The folder that a location with a placeholder means."""
        placeholder, _, below = text.partition("/")
        return (self.warehouse if placeholder == WAREHOUSE else self.outside) / below

    def _placed(self, value: Any) -> Any:
        if isinstance(value, str):
            placed = value.replace(WAREHOUSE, f"file:{self.warehouse}")
            return placed.replace(OUTSIDE, f"file:{self.outside}")
        if isinstance(value, Struct):
            return tuple.__new__(type(value), [self._placed(item) for item in value])
        if isinstance(value, tuple | list):
            return tuple(self._placed(item) for item in value)
        if isinstance(value, dict):
            return {self._placed(key): self._placed(item) for key, item in value.items()}
        return value

    def _unplaced(self, text: str) -> str:
        for folder, placeholder in ((self.outside, OUTSIDE), (self.warehouse, WAREHOUSE)):
            for written in (f"file://{folder}", f"file:{folder}", str(folder)):
                text = text.replace(written, placeholder)
        return _NUMBER.sub(lambda match: "<now>" if _is_now(int(match[0])) else match[0], text)


def _is_now(number: int) -> bool:
    """Whether a number is the present in seconds or in milliseconds."""
    return any(abs(number / unit - time.time()) < _DAY for unit in (1, 1000))

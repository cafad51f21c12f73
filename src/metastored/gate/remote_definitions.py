"""Which definitions a call would store: databases, tables and connectors in its arguments, with their parameters. Pure.

Whether one of them makes something remote, and whether it changes anything, is decided in `rules.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from metastored.model.names import DatabaseName
from metastored.model.objects import databases_of
from metastored.model.remotes.connectors import connector_parameters
from metastored.model.remotes.keys import ICEBERG_URI
from metastored.model.remotes.lists import NAMESPACE
from metastored.wire.generated.common import Table
from metastored.wire.generated.connectors import DataConnector
from metastored.wire.generated.databases import CreateDatabaseRequest, Database, DatabaseType
from metastored.wire.message import Call
from metastored.wire.methods.naming import groups_in

_STRUCTS: Final = frozenset(each.__name__ for each in (Table, Database, CreateDatabaseRequest, DataConnector))


class Defined(NamedTuple):
    """An object of a call's arguments, as it would be stored."""

    kind: str
    """table, database or connector."""
    parameters: Mapping[str, str]
    """Of a connector that leads to remotes, with its URL under the name of its key."""
    database: DatabaseName | None = None
    """The database of a table."""
    connector: str | None = None
    """The connector that a database uses, or the name of a connector."""
    leads: bool = False
    """Whether a connector would lead to remotes."""


def definitions_in(call: Call) -> Iterator[Defined]:
    """The objects that a call would create or change; none for a call that changes no definition."""
    if call.method.verb != "ddl":
        return
    for group in groups_in(call.method, call.args):
        if group.struct not in _STRUCTS:
            continue
        value = group.value
        parameters = getattr(value, "parameters", None) or {}
        if isinstance(value, Table):
            home = databases_of(group)
            yield Defined("table", parameters, home[0] if home else None)
        elif isinstance(value, Database):
            yield Defined("database", parameters, connector=_used(value.type, value.connector_name))
        elif isinstance(value, CreateDatabaseRequest):
            yield Defined("database", parameters, connector=_used(value.type, value.dataConnectorName))
        elif isinstance(value, DataConnector):
            leads = connector_parameters(value.type, value.url, parameters)
            # An ALTER may name another type than the connector has: its URL counts in any case.
            keys = {ICEBERG_URI: value.url or "", **(leads or parameters)}
            yield Defined("connector", keys, connector=value.name, leads=leads is not None)


def _used(kind: object, connector: str | None) -> str | None:
    return connector if kind in (DatabaseType.REMOTE, "REMOTE") else None


def lists_definitions(call: Call) -> bool:
    """Whether a call reads the server's list of remotes (`model/remotes/lists.py`), which is filtered by name."""
    return call.method.hook == "definitions" and getattr(call.args[0], "nameSpace", None) == NAMESPACE

"""Statements as structs and parameters of the metastore's API, and the form of their results. Pure.

A remote is made by an ordinary call whose parameters define it (`model/remotes/values.py`): here a statement becomes
those parameters, and parameters become a statement again. The calls themselves are made in `_async/statements.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metastored.errors import InvalidInputException
from metastored.hive.names import DEFAULT_CATALOG, normalize
from metastored.model import kinds
from metastored.model.names import DatabaseName, TableName
from metastored.model.remotes.keys import CONNECTOR, FACTORY, PREFIX, REMOTE, REMOTE_DATABASE_OF_HIVE, VIA, remote_keys
from metastored.model.remotes.lists import COMMENT
from metastored.statements.basics import GROUP, ROLE
from metastored.statements.values import (
    AlterRemote,
    CreateConnector,
    CreateRemote,
    Kind,
    Parts,
    Principal,
)
from metastored.wire.generated.catalogs import Catalog
from metastored.wire.generated.common import (
    PrincipalType,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.connectors import DataConnector
from metastored.wire.generated.databases import Database, DatabaseType


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a statement: its columns and its rows. A statement that returns nothing has no columns."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()

    def dicts(self) -> list[dict[str, str | None]]:
        """The rows as dicts by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def database_of(name: Parts | None, current: DatabaseName) -> DatabaseName:
    """The database that a statement names: in the current catalog, unless it names one; the current one for None."""
    if name is None:
        return current
    return DatabaseName(current.catalog if len(name) == 1 else name[0], name[-1])


def table_of(name: Parts, current: DatabaseName) -> TableName:
    """The table that a statement names: in the current database, unless it names one."""
    return (current if len(name) == 1 else database_of(name[:-1], current)).table(name[-1])


def local_name(kind: Kind, name: Parts, current: DatabaseName) -> Parts:
    """The full name of a remote in lower case: catalog, database and table, as far as its kind has them."""
    if kind is Kind.CATALOG:
        return (normalize(name[0]),)
    full = table_of(name, current) if kind is Kind.TABLE else database_of(name, current)
    return tuple(normalize(part) for part in (full.catalog or DEFAULT_CATALOG, *full[1:]))


def definition(statement: CreateRemote, local: Parts) -> dict[str, str]:
    """The parameters by which the object of this full name is made remote, with the statement's defaults.

    Raises InvalidInputException where a clause and a property say different things.
    """
    given = dict(statement.properties)
    keys = dict(given)
    _add(keys, VIA, statement.via, "VIA", (VIA, FACTORY))
    _add(keys, PREFIX, statement.prefix, "PREFIX", (PREFIX,))
    _add(keys, CONNECTOR, statement.using, "USING", (CONNECTOR,))
    remote = None if statement.connected_to is None else ".".join(statement.connected_to)
    if statement.kind is Kind.TABLE and statement.connected_to is not None and len(statement.connected_to) == 1:
        remote = f"{local[1]}.{remote}"
    _add(keys, REMOTE, remote, "CONNECTED TO", (REMOTE, REMOTE_DATABASE_OF_HIVE))
    if statement.kind is not Kind.CATALOG and REMOTE not in keys and REMOTE_DATABASE_OF_HIVE not in keys:
        keys[REMOTE] = ".".join((*local[1:-1], statement.name[-1]))
    return keys


def _add(keys: dict[str, str], key: str, value: str | None, clause: str, same: tuple[str, ...]) -> None:
    if value is None:
        return
    for other in same:
        if keys.get(other, value) != value:
            raise InvalidInputException(
                f"{clause} says {value!r} and the property '{other}' says {keys[other]!r}: leave one of them out"
            )
    keys[key] = value


def changed(statement: AlterRemote, local: Parts, before: Mapping[str, str]) -> dict[str, str]:
    """The definition after an ALTER REMOTE. Raises InvalidInputException for an UNSET of a key that is not there."""
    missing = [key for key in statement.unset if key not in before]
    if missing:
        known = ", ".join(sorted(before))
        raise InvalidInputException(f"{'.'.join(local)} has no property {missing[0]!r}; it has {known}")
    kept = {key: value for key, value in before.items() if key not in statement.unset}
    if statement.via is not None:
        kept.pop(FACTORY, None)
    clauses = CreateRemote(
        statement.kind,
        statement.name,
        connected_to=statement.connected_to,
        via=statement.via,
        prefix=statement.prefix,
        properties=statement.set,
    )
    new = definition(clauses, local)
    if statement.connected_to is None and REMOTE not in dict(statement.set):
        new.pop(REMOTE, None)
    return kept | new


def new_table(name: TableName, parameters: Mapping[str, str]) -> Table:
    """A table to be created remote: its columns and its location are the remote's, so it has none."""
    return Table(
        tableName=name.table,
        dbName=name.database,
        sd=StorageDescriptor(cols=(), serdeInfo=SerDeInfo()),
        partitionKeys=(),
        parameters=dict(parameters),
        tableType=kinds.EXTERNAL,
        catName=name.catalog_field,
    )


def new_database(name: DatabaseName, statement: CreateRemote, parameters: Mapping[str, str]) -> Database:
    """A database to be created remote; USING a connector it is as Hive 4 creates one."""
    kept = dict(parameters)
    if statement.using is None:
        return Database(
            name=name.database,
            description=statement.comment,
            parameters=kept,
            catalogName=name.catalog_field,
        )
    del kept[CONNECTOR]
    remote = kept.pop(REMOTE, None) or kept.get(REMOTE_DATABASE_OF_HIVE) or name.database
    return Database(
        name=name.database,
        description=statement.comment,
        parameters=kept,
        catalogName=name.catalog_field,
        type=DatabaseType.REMOTE,
        connector_name=statement.using,
        remote_dbname=remote,
    )


def new_catalog(name: str, statement: CreateRemote, parameters: Mapping[str, str]) -> Catalog:
    """A catalog to be created remote."""
    return Catalog(name=name, description=statement.comment, locationUri="", parameters=dict(parameters))


def new_connector(statement: CreateConnector) -> DataConnector:
    """A data connector of Hive 4."""
    return DataConnector(
        name=statement.name,
        type=statement.type,
        url=statement.url,
        description=statement.comment,
        parameters=dict(statement.properties),
    )


def owner_type(principal: Principal) -> int:
    """How the API says whether a principal is a user or a role."""
    return {ROLE: PrincipalType.ROLE, GROUP: PrincipalType.GROUP}.get(principal.kind, PrincipalType.USER)


def create_statement(kind: Kind, name: Parts, listed: Mapping[str, str]) -> CreateRemote:
    """The statement that makes a remote as a server lists it. `name` is the full name."""
    rest = remote_keys(listed)
    via = rest.pop(VIA, None) or rest.pop(FACTORY, None)
    using = rest.pop(CONNECTOR, None)
    remote = rest.pop(REMOTE, None)
    prefix = rest.pop(PREFIX, None) if kind is Kind.CATALOG else None
    return CreateRemote(
        kind,
        name[1:] if kind is not Kind.CATALOG and name[0] == DEFAULT_CATALOG else name,
        comment=listed.get(COMMENT) if kind is not Kind.TABLE else None,
        connected_to=None if remote is None else tuple(remote.split(".")),
        via=via if using is None else None,
        using=using,
        prefix=prefix,
        properties=tuple(sorted(rest.items())),
    )


def kind_of_name(name: Parts) -> Kind:
    """The kind of a remote by the parts of its full name."""
    return (Kind.CATALOG, Kind.DATABASE, Kind.TABLE)[len(name) - 1]


def pattern_of(like: str | None) -> str:
    """A pattern of names; all where there is none."""
    return "*" if like is None else like


def rows_of(column: str, names: Any) -> Result:
    """A result with one column."""
    return Result((column,), tuple((name,) for name in names))

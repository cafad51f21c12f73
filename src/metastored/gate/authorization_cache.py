"""A cache of the data for authorization: roles of callers, owners of objects, grants.

It is read from the store; any change to the database, by any process, invalidates the complete cache. Decisions are
made in `rules.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from metastored.model.names import DatabaseName, TableName
from metastored.model.remotes.definitions import Definitions
from metastored.model.remotes.values import Access, is_remote, remote_keys
from metastored.service.core import rows
from metastored.service.registry.connectors import CONNECTORS, leads_to_remotes
from metastored.service.security.roles import PUBLIC, roles_of
from metastored.store.engine.database import Database
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases, remotes, tables
from metastored.store.objects.remotes import Of
from metastored.store.security import grants
from metastored.store.security.grants import Grant, On
from metastored.store.transactions import locks, transactions
from metastored.wire.generated.common import PrincipalType

MOST: Final = 20_000
"""The most entries of the cache."""

T = TypeVar("T")


class Item(NamedTuple):
    """The fields of an object that authorization needs."""

    owner: str | None
    owner_type: int
    location: str | None
    grants: tuple[Grant, ...]
    remote: Mapping[str, str] = MappingProxyType({})
    """Those of its parameters that are keys of remotes, secrets masked."""
    is_remote: bool = False
    """Whether the store has a definition for it; a local object may have such parameters too, if it was imported."""
    owning_roles: frozenset[str] = frozenset()
    """Roles that count as its owner, beside the owner."""


class AuthorizationCache:
    """`at()` returns the current state, for one decision."""

    def __init__(self, database: Database, definitions: Callable[[], Definitions] = Definitions) -> None:
        """`definitions` returns the present definitions of remotes."""
        self._database = database
        self._definitions = definitions
        self._version: int | None = None
        self._entries: dict[Hashable, Any] = {}

    def at(self) -> State:
        version = self._database.version()
        if version != self._version or len(self._entries) > MOST:
            # First the entries, then their version: a thread that reads the new version must not get old entries.
            self._entries = {}
            self._version = version
        return State(self._database.reader(), self._entries, self._definitions)


class State:
    """One state of the database."""

    __slots__ = ("_definitions", "_entries", "_tx")

    def __init__(
        self, tx: Transaction, entries: dict[Hashable, Any], definitions: Callable[[], Definitions] = Definitions
    ) -> None:
        self._tx = tx
        self._entries = entries
        self._definitions = definitions

    def _cached(self, key: Hashable, read: Callable[[], T]) -> T:
        try:
            value: T = self._entries[key]
        except KeyError:
            value = self._entries[key] = read()
        return value

    def was_allowed(self, key: Hashable) -> bool:
        """Whether this call was allowed before, in this state."""
        return ("allowed", key) in self._entries

    def allow(self, key: Hashable) -> None:
        self._entries["allowed", key] = True

    def roles(self, user: str | None, groups: tuple[str, ...]) -> dict[str, bool]:
        """Each role of a caller, with whether the caller may grant it. A caller without a name has the role public."""
        return self._cached(("roles", user, groups), lambda: roles_of(self._tx, user or "", groups))

    def metastore(self) -> tuple[Grant, ...]:
        """The grants on the complete metastore."""
        return self._cached("metastore", lambda: self._grants(On(grants.GLOBAL)))

    def database(self, name: DatabaseName) -> Item | None:
        return self._cached(("database", name), lambda: self._read_database(name))

    def table(self, name: TableName) -> Item | None:
        return self._cached(("table", name), lambda: self._read_table(name))

    def connector(self, name: str) -> Item | None:
        return self._cached(("connector", name), lambda: self._read_connector(name))

    def table_of_id(self, id: int) -> TableName | None:
        """The name of the table with this number."""
        return self._cached(("table", id), lambda: self._read_name(id))

    def openers(self, txns: tuple[int, ...]) -> set[str]:
        """The callers who opened these transactions, without unknown transactions."""
        return set(transactions.openers(self._tx, txns).values())

    def openers_between(self, low: int, high: int) -> set[str]:
        """The callers who opened the open transactions between two numbers."""
        return transactions.openers_between(self._tx, low, high)

    def lock_opener(self, lock: int) -> str | None:
        """The caller who requested a lock, None if it does not exist."""
        return locks.opener(self._tx, lock)

    def _grants(self, on: On) -> tuple[Grant, ...]:
        return tuple(row.grant for row in grants.on(self._tx, on))

    def _read_database(self, name: DatabaseName) -> Item | None:
        row = databases.find(self._tx, *name)
        if row is None:
            return self._shown_by_catalog(name)
        database = rows.database_of(row, name.catalog)
        granted = self._grants(On(grants.DATABASE, db_id=row.id))
        owner_type, remote = (
            database.ownerType or PrincipalType.USER,
            self._remote(database.parameters, Of(db_id=row.id)),
        )
        return Item(database.ownerName, owner_type, database.locationUri, granted, *remote)

    def _shown_by_catalog(self, name: DatabaseName) -> Item | None:
        """A database that is only at a remote: the remote catalog says which roles may read and write it."""
        definitions = self._definitions()
        remote = definitions.database_by_catalog(*name)
        if remote is None:
            return None
        catalog = next(each for each in definitions.catalogs if each.name == remote.of_catalog)
        readers = {*(catalog.readers or (PUBLIC,)), *catalog.writers}
        granted = tuple(Grant(role, PrincipalType.ROLE, "SELECT", False, 0) for role in sorted(readers))
        writers = catalog.writers if remote.access is Access.WRITE else ()
        return Item(None, PrincipalType.ROLE, None, granted, is_remote=True, owning_roles=frozenset(writers))

    def _read_connector(self, name: str) -> Item | None:
        connector = CONNECTORS.find(self._tx, name)
        if connector is None:
            return None
        granted = self._grants(On(grants.DATACONNECTOR, connector=name))
        owner_type, leads = connector.value.ownerType or PrincipalType.USER, leads_to_remotes(connector.value)
        return Item(connector.value.ownerName, owner_type, None, granted, is_remote=leads)

    def _read_name(self, id: int) -> TableName | None:
        name = tables.full_name(self._tx, id)
        return None if name is None else TableName(*name)

    def _read_table(self, name: TableName) -> Item | None:
        row = tables.find(self._tx, *name)
        if row is None:
            return None
        table = rows.table_of(row, *name.database_name)
        granted = self._grants(On(grants.TABLE, table_id=row.id))
        location = table.sd.location if table.sd is not None else None
        owner_type, remote = table.ownerType or PrincipalType.USER, self._remote(table.parameters, Of(table_id=row.id))
        return Item(table.owner, owner_type, location, granted, *remote)

    def _remote(self, parameters: Mapping[str, str] | None, of: Of) -> tuple[Mapping[str, str], bool]:
        if not is_remote(parameters):
            return {}, False
        return remote_keys(parameters), remotes.find(self._tx, of) is not None

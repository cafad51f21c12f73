"""What decisions rest on: who has which role, who owns an object, what was granted on it.

It is read from the store and remembered while the database stands still: the smallest change to anything in it, by any
process, makes a new start. Nothing here decides.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, NamedTuple, TypeVar

from metastored.model.names import DatabaseName, TableName
from metastored.service.core import rows
from metastored.service.registry.connectors import CONNECTORS
from metastored.service.security.roles import roles_of
from metastored.store.engine.database import Database
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases, tables
from metastored.store.security import grants
from metastored.store.security.grants import Grant, On
from metastored.store.transactions import locks, transactions
from metastored.wire.generated.common import PrincipalType

MOST: Final = 20_000
"""How much is remembered of one state of the database."""

T = TypeVar("T")


class Item(NamedTuple):
    """An object of the store, as far as decisions need it."""

    owner: str | None
    owner_type: int
    location: str | None
    grants: tuple[Grant, ...]


class Knowledge:
    """`at()` reads the present state; what it gives is for one decision."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._version: int | None = None
        self._known: dict[Hashable, Any] = {}

    def at(self) -> State:
        version = self._database.version()
        if version != self._version or len(self._known) > MOST:
            # First the memory, then its number: a thread that sees the number must not find older memories.
            self._known = {}
            self._version = version
        return State(self._database.reader(), self._known)


class State:
    """One state of the database."""

    __slots__ = ("_known", "_tx")

    def __init__(self, tx: Transaction, known: dict[Hashable, Any]) -> None:
        self._tx = tx
        self._known = known

    def _remembered(self, key: Hashable, read: Callable[[], T]) -> T:
        try:
            found: T = self._known[key]
        except KeyError:
            found = self._known[key] = read()
        return found

    def was_allowed(self, question: Hashable) -> bool:
        """Whether the same was asked and allowed before, in this state."""
        return ("allowed", question) in self._known

    def allow(self, question: Hashable) -> None:
        self._known["allowed", question] = True

    def roles(self, user: str | None, groups: tuple[str, ...]) -> dict[str, bool]:
        """Every role of a caller; whether they may pass it on. Who has no name is at least public."""
        return self._remembered(("roles", user, groups), lambda: roles_of(self._tx, user or "", groups))

    def metastore(self) -> tuple[Grant, ...]:
        """What was granted on everything."""
        return self._remembered("metastore", lambda: self._grants(On(grants.GLOBAL)))

    def database(self, name: DatabaseName) -> Item | None:
        return self._remembered(("database", name), lambda: self._read_database(name))

    def table(self, name: TableName) -> Item | None:
        return self._remembered(("table", name), lambda: self._read_table(name))

    def connector(self, name: str) -> Item | None:
        return self._remembered(("connector", name), lambda: self._read_connector(name))

    def table_of_id(self, id: int) -> TableName | None:
        """The name of the table with this number."""
        return self._remembered(("table", id), lambda: self._read_name(id))

    def openers(self, txns: tuple[int, ...]) -> set[str]:
        """The callers who opened those of these transactions that are known."""
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
            return None
        found = rows.database_of(row, name.catalog)
        granted = self._grants(On(grants.DATABASE, db_id=row.id))
        return Item(found.ownerName, found.ownerType or PrincipalType.USER, found.locationUri, granted)

    def _read_connector(self, name: str) -> Item | None:
        found = CONNECTORS.find(self._tx, name)
        if found is None:
            return None
        granted = self._grants(On(grants.DATACONNECTOR, connector=name))
        return Item(found.value.ownerName, found.value.ownerType or PrincipalType.USER, None, granted)

    def _read_name(self, id: int) -> TableName | None:
        found = tables.place(self._tx, id)
        return None if found is None else TableName(*found)

    def _read_table(self, name: TableName) -> Item | None:
        row = tables.find(self._tx, *name)
        if row is None:
            return None
        found = rows.table_of(row, *name.database_name)
        granted = self._grants(On(grants.TABLE, table_id=row.id))
        location = found.sd.location if found.sd is not None else None
        return Item(found.owner, found.ownerType or PrincipalType.USER, location, granted)

"""A caller's ownership and grants at one state of the store: the primitive checks that `rules.py` combines.

It is independent of calls and methods, and never reads the store itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from metastored.gate.authorization_cache import Item, State
from metastored.gate.needs import ADMIN
from metastored.model.names import DatabaseName, TableName
from metastored.service.security.roles import PUBLIC
from metastored.store.security.grants import Grant
from metastored.wire.generated.common import PrincipalType
from metastored.wire.message import Session

DATA_ACTIONS: Final = frozenset({"select", "insert", "update", "delete"})
STORED_BY_NAME: Final = frozenset({"transaction", "lock", "compaction"})
"""Objects stored by table name, for tables that need not exist: with them a caller could reserve a free name."""
ALL: Final = "ALL"
CREATE: Final = "CREATE"
CREATE_REMOTE: Final = "CREATE_REMOTE"
"""To make and to change remotes. It is not part of what an owner has, nor of ALL on a database."""


class Denied(Exception):
    """The missing privilege, as the end of a sentence."""


class Policy(NamedTuple):
    """The server's settings."""

    admins: frozenset[str] = frozenset()
    """Users who have the role admin without a grant: somebody must make the first grant."""
    warehouse: str = ""
    """The directory of databases that name no location."""
    services: frozenset[str] = frozenset()
    """Users who may use the store of tokens, beside admins; `services.py` checks that they are authenticated."""


class Caller:
    """One session's user. Methods that begin with `_check` raise Denied."""

    def __init__(self, policy: Policy, state: State, session: Session) -> None:
        self._policy = policy
        self._state = state
        self._user = session.user
        self._opener = session.user or ""
        self._groups = frozenset(session.groups)
        self._entrusted = session.entrusted
        self._roles = state.roles(session.user, session.groups)
        self._stored_by_name = False
        self._admin = ADMIN in self._roles or (session.user is not None and session.user in policy.admins)

    @property
    def is_admin(self) -> bool:
        return self._admin

    def _owns(self, item: Item) -> bool:
        if not item.owning_roles.isdisjoint(self._roles):
            return True
        if not item.owner:
            return False
        match item.owner_type:
            case PrincipalType.ROLE:
                return item.owner in self._roles
            case PrincipalType.GROUP:
                return item.owner in self._groups
        return item.owner == self._user

    def _holds(self, granted: Iterable[Grant], words: tuple[str, ...], *, option: bool = False) -> bool:
        return any(
            (grant.privilege.upper() in words or grant.privilege.upper() == ALL)
            and (grant.grant_option or not option)
            and self._is(grant.principal, grant.principal_type)
            for grant in granted
        )

    def _is(self, principal: str, kind: int | None) -> bool:
        """Whether something granted to a principal is granted to the caller."""
        match kind:
            case PrincipalType.ROLE:
                return principal in self._roles
            case PrincipalType.GROUP:
                return principal in self._groups
        return principal == self._user

    def _around(self, name: TableName | DatabaseName) -> list[Item]:
        """The object and what contains it, as far as they exist."""
        names = (name, name.database_name) if isinstance(name, TableName) else (name,)
        items = [
            self._state.table(each) if isinstance(each, TableName) else self._state.database(each) for each in names
        ]
        return [item for item in items if item is not None]

    def _owns_all(self, name: TableName | DatabaseName, *, creates_table: bool = False) -> bool:
        """Whether the caller owns the object, or could create it if it does not exist.

        An object in a database that does not exist counts as owned, since the call fails anyway. The exception are
        objects stored by name (STORED_BY_NAME): for these the caller needs the right to create databases.
        """
        table = self._state.table(name) if isinstance(name, TableName) else None
        if table is not None:
            return self._owns(table)
        database = self._state.database(name.database_name if isinstance(name, TableName) else name)
        if database is None:
            return not self._stored_by_name
        by_everybody = database.owner_type == PrincipalType.ROLE and database.owner == PUBLIC
        # The owner of a database may create tables. If the role public owns it, all users may create tables in it, and
        # nothing else.
        return self._owns(database) and (not by_everybody or creates_table or isinstance(name, TableName))

    def _check_data(self, table: TableName, actions: tuple[str, ...]) -> None:
        words = tuple(action.upper() for action in actions)
        if self._owns_all(table):
            return
        granted = [*(grant for item in self._around(table) for grant in item.grants), *self._state.metastore()]
        if not self._holds(granted, words):
            raise Denied(f"{' or '.join(words)} on table {table}")

    def _check_content(self, database: DatabaseName, actions: tuple[str, ...]) -> None:
        """Objects of a database other than tables may be read by callers who may read the complete database."""
        words = tuple(action.upper() for action in actions)
        if self._owns_all(database):
            return
        granted = [*(grant for item in self._around(database) for grant in item.grants), *self._state.metastore()]
        if not self._holds(granted, words):
            raise Denied(f"{' or '.join(words)} on database {database}")

    def _check_owner(self, name: TableName | DatabaseName, *, creates_table: bool = False) -> None:
        if not self._owns_all(name, creates_table=creates_table):
            raise Denied(f"ownership of {kind_of(name)} {name}")

    def _check_remote(self, database: DatabaseName | None, *, option: bool = False) -> None:
        """To make or change a remote; on a database, the remote tables in it.

        ALL on a database is granted by its owner, and does not stand for this: only who decides about the metastore
        decides where it may connect to.
        """
        if self._holds(self._state.metastore(), (CREATE_REMOTE,), option=option):
            return
        where = "the metastore"
        if database is not None:
            item = self._state.database(database)
            exact = [each for each in item.grants if each.privilege.upper() != ALL] if item is not None else []
            if self._holds(exact, (CREATE_REMOTE,), option=option):
                return
            where = f"database {database}, or on the metastore"
        raise Denied(f"{CREATE_REMOTE}{' with grant option' if option else ''} on {where}")

    def _check_connector(self, name: str, actions: tuple[str, ...]) -> None:
        item = self._state.connector(name)
        if item is None or self._owns(item):
            return
        words = tuple(action.upper() for action in actions)
        if not DATA_ACTIONS.issuperset(actions):
            raise Denied(f"ownership of connector {name}")
        if not self._holds([*item.grants, *self._state.metastore()], words):
            raise Denied(f"{' or '.join(words)} on connector {name}")


def kind_of(name: TableName | DatabaseName) -> str:
    """The kind of an object, for messages."""
    return "table" if isinstance(name, TableName) else "database"

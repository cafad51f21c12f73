"""What a caller owns and was granted, at one state of the store: the ground that `rules.py` decides on.

It knows no call and no method. Nothing here reads the store itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from metastored.gate.knowledge import Item, State
from metastored.gate.needs import ADMIN
from metastored.model.names import DatabaseName, TableName
from metastored.service.security.roles import PUBLIC
from metastored.store.security.grants import Grant
from metastored.wire.generated.common import PrincipalType
from metastored.wire.message import Session

DATA_ACTIONS: Final = frozenset({"select", "insert", "update", "delete"})
KEPT_BY_NAME: Final = frozenset({"transaction", "lock", "compaction"})
"""What is stored under the names of tables, which need not exist: by it a name that nobody has would be reserved."""
ALL: Final = "ALL"
CREATE: Final = "CREATE"


class Denied(Exception):
    """What the caller lacks, as the end of a sentence."""


class Policy(NamedTuple):
    """The server's settings."""

    admins: frozenset[str] = frozenset()
    """Users who have the role admin without being given it: somebody must be the first to grant."""
    warehouse: str = ""
    """The directory of databases that name no location."""
    services: frozenset[str] = frozenset()
    """Users for whom the store of tokens is, beside admins; `services.py` sees to it that they are authenticated."""


class Caller:
    """One session's user. Methods that begin with `_check` raise Denied."""

    def __init__(self, policy: Policy, state: State, session: Session) -> None:
        self._policy = policy
        self._state = state
        self._user = session.user
        self._opener = session.user or ""
        self._groups = frozenset(session.groups)
        self._roles = state.roles(session.user, session.groups)
        self._kept_by_name = False
        self._admin = ADMIN in self._roles or (session.user is not None and session.user in policy.admins)

    @property
    def is_admin(self) -> bool:
        return self._admin

    def _owns(self, item: Item) -> bool:
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
        found = [
            self._state.table(each) if isinstance(each, TableName) else self._state.database(each) for each in names
        ]
        return [item for item in found if item is not None]

    def _owns_all(self, name: TableName | DatabaseName, *, creates_table: bool = False) -> bool:
        """Whether the object is the caller's, or does not exist and could be; what is in no database is anybody's.

        By names that are kept whether they exist or not, only who may create databases speaks of one that does not.
        """
        table = self._state.table(name) if isinstance(name, TableName) else None
        if table is not None:
            return self._owns(table)
        database = self._state.database(name.database_name if isinstance(name, TableName) else name)
        if database is None:
            return not self._kept_by_name
        by_everybody = database.owner_type == PrincipalType.ROLE and database.owner == PUBLIC
        # A table that does not exist is created by who may create it; everybody may in what public owns, and no more.
        return self._owns(database) and (not by_everybody or creates_table or isinstance(name, TableName))

    def _check_data(self, table: TableName, actions: tuple[str, ...]) -> None:
        words = tuple(action.upper() for action in actions)
        if self._owns_all(table):
            return
        granted = [*(grant for item in self._around(table) for grant in item.grants), *self._state.metastore()]
        if not self._holds(granted, words):
            raise Denied(f"{' or '.join(words)} on table {table}")

    def _check_content(self, database: DatabaseName, actions: tuple[str, ...]) -> None:
        """What is in a database beside tables is read by who may read all of it."""
        words = tuple(action.upper() for action in actions)
        if self._owns_all(database):
            return
        granted = [*(grant for item in self._around(database) for grant in item.grants), *self._state.metastore()]
        if not self._holds(granted, words):
            raise Denied(f"{' or '.join(words)} on database {database}")

    def _check_owner(self, name: TableName | DatabaseName, *, creates_table: bool = False) -> None:
        if not self._owns_all(name, creates_table=creates_table):
            raise Denied(f"ownership of {kind_of(name)} {name}")

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
    """What messages call an object."""
    return "table" if isinstance(name, TableName) else "database"

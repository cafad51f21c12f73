"""SQL-standard authorisation: whether a caller may do what a call asks for.

    select, insert, update, delete on a table   its owner, and who was granted it on the table, its database, or
                                                everything
    alter, drop                                 the owner
    create a table, schema, package, …          the owner of the database
    create a database or a connector            who was granted CREATE on everything
    use a location                              where the object would lie by itself or lies already; elsewhere who was
                                                granted USE_LOCATION on everything
    make a view from tables                     who may select from them
    grant a privilege or a role                 the owner of the object; who has it with the grant option
    everything                                  who has the role admin

ALL stands for every privilege. A table that does not exist is decided by its database, so that nobody learns what is
there; what is in no database that exists is left to whoever answers the call. Nothing here reads the store itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from metastored.gate.knowledge import Item, State
from metastored.gate.needs import ADMIN, Need, needs_of
from metastored.gate.objects import DatabaseName, Located, Objects, TableName, databases_of, objects_of, tables_of
from metastored.hive.locations import LocationError, is_under, join
from metastored.hive.names import directory_name
from metastored.store.grants import DATABASE, DATACONNECTOR, GLOBAL, Grant, On
from metastored.wire.generated.common import PrincipalType
from metastored.wire.generated.locks import LockComponent, LockType
from metastored.wire.generated.roles import HiveObjectPrivilege, HiveObjectRef
from metastored.wire.message import Call, Session
from metastored.wire.naming import Group, groups_in, names_in

DATA_ACTIONS: Final = frozenset({"select", "insert", "update", "delete"})
ALL: Final = "ALL"
CREATE: Final = "CREATE"
USE_LOCATION: Final = "USE_LOCATION"


class Denied(Exception):
    """What the caller lacks, as the end of a sentence."""


class Policy(NamedTuple):
    """What the server was told."""

    admins: frozenset[str] = frozenset()
    """Users who have the role admin without being given it: somebody must be the first to grant."""
    warehouse: str = ""
    """Where databases lie by themselves."""


class Decision:
    """One caller's call, at one state of the store. `check` raises Denied."""

    def __init__(self, policy: Policy, state: State, session: Session) -> None:
        self._policy = policy
        self._state = state
        self._user = session.user
        self._groups = frozenset(session.groups)
        self._roles = state.roles(session.user, session.groups)
        self._admin = ADMIN in self._roles or (session.user is not None and session.user in policy.admins)

    def check(self, call: Call) -> None:
        if self._admin:
            return
        method = call.method
        if method.hook == "lock":
            self._check_locks(call)
            return
        if method.hook == "grants" and not method.privileges:
            self._check_reading_grants(call)
            return
        objects = objects_of(call)
        for need in needs_of(method):
            self._check(need, objects, call)
        for source in objects.sources:
            self._check_data(source, ("select",))

    def _check(self, need: Need, objects: Objects, call: Call) -> None:
        if need.actions == (ADMIN,):
            raise Denied("the admin role")
        if need.object == "location":
            for located in objects.locations:
                self._check_location(located)
        elif "grant" in need.actions:
            self._check_granting(need.object, call)
        elif DATA_ACTIONS.issuperset(need.actions):
            for table in objects.tables:
                self._check_data(table, need.actions)
            if any(role == "pattern" for role, _ in names_in(call.method, call.args)):
                # A pattern may find every table of its database.
                for database in objects.databases:
                    self._check_data(database, need.actions)
        elif need.object == "table" and "create" not in need.actions:
            for table in objects.tables:
                self._check_owner(table)
        elif need.object in ("database", "connector") and "create" in need.actions:
            if not self._holds(self._state.metastore(), (CREATE,)):
                raise Denied(f"{CREATE} on the metastore to create a {need.object}")
        elif need.object == "connector" or not objects.databases:
            raise Denied("the admin role")
        else:
            for database in objects.databases:
                self._check_owner(database)

    # Owners and grants

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
        names = (name, name.database) if isinstance(name, TableName) else (name,)
        found = [
            self._state.table(each) if isinstance(each, TableName) else self._state.database(each) for each in names
        ]
        return [item for item in found if item is not None]

    def _check_data(self, name: TableName | DatabaseName, actions: tuple[str, ...], *, option: bool = False) -> None:
        words = tuple(action.upper() for action in actions)
        around = self._around(name)
        database = name.database if isinstance(name, TableName) else name
        if not around and "*" not in database.database:
            return  # There is nothing; a star may stand for what there is.
        # A table belongs to its owner, and one that does not exist to the owner of its database.
        if around and self._owns(around[0]):
            return
        granted = [*(grant for item in around for grant in item.grants), *self._state.metastore()]
        if not self._holds(granted, words, option=option):
            raise Denied(f"{' or '.join(words)}{' with grant option' if option else ''} on {_kind(name)} {name}")

    def _check_owner(self, name: TableName | DatabaseName) -> None:
        around = self._around(name)
        if around and not self._owns(around[0]):
            raise Denied(f"ownership of {_kind(name)} {name}")

    # Locations

    def _check_location(self, located: Located) -> None:
        if self._holds(self._state.metastore(), (USE_LOCATION,)):
            return
        try:
            if any(is_under(located.location, home) for home in self._homes(located.owner)):
                return
        except LocationError:
            pass  # What cannot be read is nobody's place.
        raise Denied(f"{USE_LOCATION} on the metastore for the location {located.location}")

    def _homes(self, owner: TableName | DatabaseName | None) -> Iterator[str]:
        """Where an object may lie: where it is, and where it would be put by itself."""
        if owner is None:
            return
        if isinstance(owner, DatabaseName):
            item = self._state.database(owner)
            if self._policy.warehouse:
                yield join(self._policy.warehouse, f"{directory_name(owner.database)}.db")
        else:
            item = self._state.table(owner)
            database = self._state.database(owner.database)
            if database is not None and database.location:
                yield join(database.location, directory_name(owner.table))
        if item is not None and item.location:
            yield item.location

    # What no table of methods can describe

    def _check_locks(self, call: Call) -> None:
        """To read is to lock for reading; any other lock is for who may change something."""
        for group in groups_in(call.method, call.args):
            if group.struct != LockComponent.__name__:
                continue
            reads = group.value.type == LockType.SHARED_READ
            tables = list(tables_of(group))
            for table in tables:
                self._check_data(table, ("select",) if reads else ("insert", "update", "delete"))
            if not tables and not reads:
                for database in databases_of(group):
                    self._check_owner(database)

    def _check_granting(self, what: str, call: Call) -> None:
        if what == "role":
            role = next((value for kind, value in names_in(call.method, call.args) if kind == "user"), None)
            if role is not None and not self._roles.get(role, False):
                raise Denied(f"the admin option on role {role}")
            return
        for group in groups_in(call.method, call.args):
            around = group.within
            if around is None or around.struct != HiveObjectPrivilege.__name__:
                continue
            if group.struct == HiveObjectRef.__name__:
                self._check_passing_on(around.value, group)

    def _check_passing_on(self, privilege: HiveObjectPrivilege, group: Group) -> None:
        """A privilege is passed on by the owner of its object, and by who has it with the grant option."""
        info = privilege.grantInfo
        ref: HiveObjectRef = group.value
        granted = list(self._state.metastore())
        if ref.objectType in (None, GLOBAL):
            where = "the metastore"
        elif ref.objectType == DATACONNECTOR:
            granted += self._state.granted(On(DATACONNECTOR, connector=(ref.objectName or "").lower()))
            where = f"connector {ref.objectName}"
        else:
            names = databases_of(group) if ref.objectType == DATABASE else list(tables_of(group))
            around = self._around(names[0]) if names else []
            if not around or self._owns(around[0]):
                return
            granted += (grant for item in around for grant in item.grants)
            where = f"{_kind(names[0])} {names[0]}"
        for word in (info.privilege or "").upper().split(",") if info is not None else ():
            if not self._holds(granted, (word,), option=True):
                raise Denied(f"{word} with grant option on {where}")

    def _check_reading_grants(self, call: Call) -> None:
        """Everybody may see what they have themselves; the owner of an object, what others have on it."""
        named = [value for role, value in names_in(call.method, call.args) if role == "user"]
        if named and all(name == self._user or name in self._groups or name in self._roles for name in named):
            return
        objects = objects_of(call)
        around: list[TableName | DatabaseName] = [*(objects.tables or objects.databases)]
        if not around:
            raise Denied("the admin role to see what others were granted")
        for name in around:
            self._check_owner(name)


def _kind(name: TableName | DatabaseName) -> str:
    return "table" if isinstance(name, TableName) else "database"

"""SQL-standard authorization: decides which caller may make which call.

    select, insert, update, delete on a table   its owner; users with the privilege on the table, its database, or
                                                the metastore
    alter, drop                                 the owner; alter also the server itself, for tables that it entrusts
                                                to a session
    create a table                              the owner of the database
    create a schema, package, …                 the same, but never by the role public
    read a schema, package, …                   the owner of the database; users with SELECT on it
    create a database or a connector            users with CREATE on the metastore
    make a remote, or change where it points    users with CREATE_REMOTE on the metastore or, for a remote table, on
                                                its database; not the owner, and not users with ALL on a database.
                                                To move a remote table, on the database that it is moved to; to let
                                                the server open a location, as of an Iceberg table, USE_LOCATION too
    read a database of a remote catalog         the roles that the catalog names, or everybody where it names none
    write to it                                 the roles that the catalog names
    read a connector                            its owner; users with SELECT on it
    end, keep alive a transaction or a lock     the user who opened it
    use a location                              the default and the current location of the object need no privilege;
                                                other locations: users with USE_LOCATION on the metastore
    create a view from tables                   users who may select from them
    grant a privilege or a role                 the owner of the object; users who have it with the grant option
    everything                                  users with the role admin

ALL includes every privilege. The role public, which all users have, owns the database default as in Hive; so all users
may create tables in it, but neither alter nor drop it, nor grant on it. For a table that does not exist, its database
decides, so that a refusal does not reveal which tables exist. For a database that does not exist, the service returns
the error. This module never reads the store itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from metastored.gate.authorization_cache import Item
from metastored.gate.caller import CREATE, CREATE_REMOTE, DATA_ACTIONS, STORED_BY_NAME, Caller, Denied, kind_of
from metastored.gate.needs import ADMIN, SERVICE, Need, gives, needs_of
from metastored.gate.remote_definitions import Defined, definitions_in, lists_definitions
from metastored.hive.locations import LocationError, is_under, join
from metastored.hive.names import directory_name, normalize
from metastored.hive.transactions.leases import LEASES
from metastored.model.names import DatabaseName, TableName
from metastored.model.objects import Located, Objects, databases_of, objects_of, tables_of
from metastored.model.remotes.keys import CONNECTOR, is_remote, remote_keys
from metastored.model.remotes.rights import locations_of
from metastored.store.security.grants import DATABASE, DATACONNECTOR, GLOBAL
from metastored.wire.generated.common import DataOperationType
from metastored.wire.generated.locks import LockComponent, LockType, ShowLocksResponseElement
from metastored.wire.generated.roles import HiveObjectPrivilege, HiveObjectRef
from metastored.wire.message import Call
from metastored.wire.methods.naming import Group, groups_in, groups_of, names_in

USE_LOCATION: Final = "USE_LOCATION"
ANY_WRITE: Final = ("insert", "update", "delete")
WRITES: Final = {
    DataOperationType.INSERT: ("insert",),
    DataOperationType.UPDATE: ("update",),
    DataOperationType.DELETE: ("delete",),
}
"""The privilege that a lock for a change of rows needs, where it says which change."""
NAMES_OF_A_TABLE: Final = frozenset({"dbName", "tableName"})


class Decision(Caller):
    """One caller's call, at one state of the store. `check` raises Denied."""

    def check(self, call: Call) -> None:
        if self._admin:
            return
        method = call.method
        self._stored_by_name = method.object in STORED_BY_NAME and not self._holds(self._state.metastore(), (CREATE,))
        if method.hook == "grants" and not method.privileges:
            self._check_reading_grants(call)
            return
        if lists_definitions(call):
            return  # It is filtered.
        objects = objects_of(call)
        needs = needs_of(method)
        makes_remote = self._check_definitions(call, objects, creates=any("create" in need.actions for need in needs))
        for need in needs:
            if makes_remote and (need.object == "location" or "create" in need.actions):
                continue  # The location of a remote is ignored, and CREATE_REMOTE is the privilege to create it.
            if not need.if_set or gives(call, need.if_set):
                self._check(need, objects, call)
        if method.hook == "filter":
            self._check_limit(call, objects)
            self._check_projection(call)
        for source in objects.sources:
            self._check_data(source, ("select",))

    def _check(self, need: Need, objects: Objects, call: Call) -> None:
        match need.object:
            case _ if need.actions in ((ADMIN,), (SERVICE,)):
                if need.actions == (ADMIN,) or self._user not in self._policy.services:
                    raise Denied("the admin role")
            case "location":
                for located in objects.locations:
                    self._check_location(located, objects.tables)
            case "transaction":
                self._check_own_transactions(objects.txns, whole_range=call.method.hook == "txn_range")
            case "lock":
                self._check_own_locks(objects.locks)
            case "table" if call.method.hook == "lock":
                self._check_locks(call)
            case "connector" if "create" not in need.actions:
                for connector in objects.connectors:
                    self._check_connector(connector, need.actions)
            case _ if "grant" in need.actions:
                self._check_granting(need.object, call)
            case _ if "create" in need.actions:
                self._check_creating(need.object, objects)
            case "table":
                self._check_tables(need.actions, objects, call)
            case _ if not objects.databases:
                raise Denied("the admin role")
            case _:
                for database in objects.databases:
                    if DATA_ACTIONS.issuperset(need.actions):
                        self._check_content(database, need.actions)
                    else:
                        self._check_owner(database)

    def _check_tables(self, actions: tuple[str, ...], objects: Objects, call: Call) -> None:
        by_id = (self._state.table_of_id(id) for id in objects.table_ids)
        tables = (*objects.tables, *filter(None, by_id))
        reads = DATA_ACTIONS.issuperset(actions)
        for table in tables:
            if reads:
                self._check_data(table, actions)
            elif actions != ("alter",) or table not in self._entrusted:
                self._check_owner(table)
        if tables:
            return
        # No table may mean every table; a request about a transaction need not be about tables at all.
        if not objects.databases and call.method.object not in STORED_BY_NAME:
            raise Denied("the admin role where no table is named")
        for database in objects.databases:
            if reads:
                self._check_content(database, actions)
            else:
                self._check_owner(database)

    def _check_creating(self, what: str, objects: Objects) -> None:
        if what in ("database", "connector"):
            if not self._holds(self._state.metastore(), (CREATE,)):
                raise Denied(f"{CREATE} on the metastore to create a {what}")
            return
        if not objects.databases:
            raise Denied("the admin role")
        for database in objects.databases:
            self._check_owner(database, creates_table=what == "table")
        for table in objects.tables:
            # Beside the new table, the tables that its foreign keys refer to.
            if self._state.table(table) is not None:
                self._check_data(table, ("select",))

    # Remotes

    def _check_definitions(self, call: Call, objects: Objects, *, creates: bool) -> bool:
        """Who makes a remote, or changes where it points, needs CREATE_REMOTE; whether the call is about a remote."""
        defines = False
        for defined in definitions_in(call):
            home = self._state.database(defined.database) if defined.database is not None else None
            if home is not None and home.is_remote:
                continue  # A table of a remote database is the remote's; its parameters define nothing here.
            # An ALTER names first what is changed; the definition may have its new name.
            current = None if creates else self._current(defined, objects)
            was_remote = current is not None and current.is_remote
            if not was_remote and not self._is_remote(defined):
                continue
            defines = defines or creates or was_remote
            same = current is not None and current.remote == remote_keys(defined.parameters)
            moved = was_remote and defined.kind == "table" and self._leaves_database(defined, objects)
            if same and not moved and defined.kind != "connector":
                continue
            connector = defined.parameters.get(CONNECTOR)
            if connector:
                self._check_connector(normalize(connector), ("select",))
            self._check_remote(defined.database)
            before = {} if current is None else current.remote
            for key, location in locations_of(defined.parameters):
                if before.get(key) != defined.parameters.get(key):
                    self._check_location(Located(location, None), ())
        return defines

    @staticmethod
    def _leaves_database(defined: Defined, objects: Objects) -> bool:
        return bool(objects.tables) and defined.database not in (None, objects.tables[0].database_name)

    def _current(self, defined: Defined, objects: Objects) -> Item | None:
        match defined.kind:
            case "table":
                return self._state.table(objects.tables[0]) if objects.tables else None
            case "database":
                return self._state.database(objects.databases[0]) if objects.databases else None
        return self._state.connector(objects.connectors[0]) if objects.connectors else None

    def _is_remote(self, defined: Defined) -> bool:
        """Whether an object would be made remote by this definition."""
        if defined.kind == "connector":
            return defined.leads
        if is_remote(defined.parameters):
            return True
        item = self._state.connector(normalize(defined.connector)) if defined.connector else None
        return item is not None and item.is_remote

    # Transactions and locks

    def _check_own_transactions(self, ids: tuple[int, ...], *, whole_range: bool) -> None:
        if not ids:
            return
        state = self._state
        openers = state.openers_between(min(ids), max(ids)) if whole_range else state.openers(ids)
        if openers - {self._opener}:
            raise Denied("to have opened each of these transactions")

    def _check_own_locks(self, ids: tuple[int, ...]) -> None:
        for id in ids:
            if self._state.lock_opener(id) not in (None, self._opener):
                raise Denied(f"to have requested the lock {id}")

    # Lists

    def _check_limit(self, call: Call, objects: Objects) -> None:
        """A limited list would reveal hidden objects by its length: a limit needs access to the complete list."""
        limits = [value for role, value in names_in(call.method, call.args) if role == "limit"]
        if any(limit >= 0 for limit in limits):
            for database in objects.databases:
                try:
                    self._check_content(database, ("select",))
                except Denied as lacking:
                    raise Denied(
                        f"{lacking} to limit this list; without a limit (-1) it has what you may read"
                    ) from None

    def _check_projection(self, call: Call) -> None:
        """Which elements are visible is decided by their names: a projection must not leave them out."""
        for argument in call.args:
            fields = getattr(getattr(argument, "projectionSpec", None), "fieldList", None)
            missing = NAMES_OF_A_TABLE.difference(fields or NAMES_OF_A_TABLE)
            if missing:
                raise Denied(f"{' and '.join(sorted(missing))} in the projection, to find the tables that you may read")

    def sees(self, element: Any, call: Call) -> bool:
        """Whether the caller may have one element of a list: a struct, or the name of a table."""
        try:
            if isinstance(element, str):
                for database in objects_of(call).databases:
                    self._check_data(database.table(normalize(element)), ("select",))
            else:
                self._check_element(element)
        except Denied:
            return False
        return True

    def sees_definition(self, name: tuple[str, ...]) -> bool:
        """Whether the caller may see the definition of a remote: of databases and catalogs everybody may."""
        try:
            if len(name) == 3:
                self._check_data(TableName(*name), ("select",))
        except Denied:
            return False
        return True

    def _check_element(self, element: Any) -> None:
        """The outermost struct that names a table, else a database, else a transaction, decides."""
        if isinstance(element, ShowLocksResponseElement) and element.dbname == LEASES:
            return  # Who waits for a lease may know who holds it.
        groups = list(groups_of(element))
        for group in groups:
            if tables := list(tables_of(group)):
                for table in tables:
                    self._check_data(table, ("select",))
                return
        for group in groups:
            if databases := databases_of(group):
                for database in databases:
                    self._check_content(database, ("select",))
                return
        ids = tuple(value for group in groups for role, value in group.names if role == "txn_id")
        if not ids:
            raise Denied("a name to decide by")
        self._check_own_transactions(ids, whole_range=False)

    # Locations

    def check_location(self, location: str) -> None:
        """Whether the caller may use a location that no object of this metastore has. Raises Denied."""
        if not self._admin:
            self._check_location(Located(location, None), ())

    def _check_location(self, located: Located, tables: Iterable[TableName]) -> None:
        if self._holds(self._state.metastore(), (USE_LOCATION,)):
            return
        try:
            if any(is_under(located.location, allowed) for allowed in self._allowed_locations(located.owner)):
                return
            # A table that is renamed can stay where it is.
            own = (item for item in map(self._state.table, tables) if item is not None and self._owns(item))
            if any(item.location and is_under(located.location, item.location) for item in own):
                return
        except LocationError:
            pass  # An invalid location is below no allowed location.
        raise Denied(f"{USE_LOCATION} on the metastore for the location {located.location}")

    def _allowed_locations(self, owner: TableName | DatabaseName | None) -> Iterator[str]:
        """The locations that an object may have without a privilege: the current and the default location."""
        if owner is None:
            return
        if isinstance(owner, DatabaseName):
            item = self._state.database(owner)
            if self._policy.warehouse:
                yield join(self._policy.warehouse, f"{directory_name(owner.database)}.db")
        else:
            item = self._state.table(owner)
            database = self._state.database(owner.database_name)
            if database is not None and database.location:
                yield join(database.location, directory_name(owner.table))
        if item is not None and item.location:
            yield item.location

    def may(self, table: TableName, privilege: str) -> bool:
        """Whether the caller has a privilege on the rows of a table that exists."""
        if self.is_admin:
            return True
        if self._state.table(table) is None:
            return False
        try:
            self._check_data(table, (privilege,))
        except Denied:
            return False
        return True

    # Rules that the method table cannot describe

    def _check_locks(self, call: Call) -> None:
        """A shared-read lock needs SELECT; any other lock the privilege of its operation, or any privilege to write.

        Leases that belong to no table are open to everybody.
        """
        for group in groups_in(call.method, call.args):
            if group.struct != LockComponent.__name__ or group.value.dbname == LEASES:
                continue
            reads = group.value.type == LockType.SHARED_READ
            tables = list(tables_of(group))
            for table in tables:
                self._check_data(table, ("select",) if reads else WRITES.get(group.value.operationType, ANY_WRITE))
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
        """A privilege may be granted by the owner of its object, and by users who have it with the grant option."""
        info = privilege.grantInfo
        ref: HiveObjectRef = group.value
        granted = list(self._state.metastore())
        if ref.objectType in (None, GLOBAL):
            where = "the metastore"
        elif ref.objectType == DATACONNECTOR:
            connector = self._state.connector(normalize(ref.objectName or ""))
            if connector is not None and self._owns(connector):
                return
            granted += connector.grants if connector is not None else ()
            where = f"connector {ref.objectName}"
        else:
            names: list[DatabaseName | TableName] = [*databases_of(group)]
            if ref.objectType != DATABASE:
                names = [*tables_of(group)]
            words = (info.privilege or "").upper().split(",") if info is not None else []
            if CREATE_REMOTE in (word.strip() for word in words):
                # An owner decides about the object, not about where the metastore connects to.
                self._check_remote(names[0] if names and isinstance(names[0], DatabaseName) else None, option=True)
            if not names or self._owns_all(names[0]):
                return
            granted += (grant for item in self._around(names[0]) for grant in item.grants)
            where = f"{kind_of(names[0])} {names[0]}"
        for word in (info.privilege or "").upper().split(",") if info is not None else ():
            if not self._holds(granted, (word,), option=True):
                raise Denied(f"{word} with grant option on {where}")

    def _check_reading_grants(self, call: Call) -> None:
        """All users may read their own grants; the owner of an object, all grants on it."""
        named = [value for role, value in names_in(call.method, call.args) if role == "user"]
        if named and all(name == self._user or name in self._groups or name in self._roles for name in named):
            return
        objects = objects_of(call)
        around: list[TableName | DatabaseName] = [*(objects.tables or objects.databases)]
        if not around:
            raise Denied("the admin role to see what others were granted")
        for name in around:
            self._check_owner(name)

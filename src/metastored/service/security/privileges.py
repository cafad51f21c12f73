"""Privileges on objects: grant, revoke, list. They are stored here and enforced, if at all, in `gate/`.

A privilege is a word, and any word is stored. As in Hive, a grant on a table or partition that does not exist is
ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from metastored.errors import InvalidObjectException, MetaException, NoSuchObjectException
from metastored.hive.names import PartitionNameError, make_part_name, normalize, partition_name_to_vals
from metastored.service.core import rows
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.service.security.roles import ADMIN, check_role, roles_of, wrapped
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases, partitions, tables
from metastored.store.security import grants, role_grants
from metastored.store.security.grants import Grant, GrantRow, On
from metastored.wire.generated.common import PrincipalPrivilegeSet, PrincipalType, PrivilegeGrantInfo, Table
from metastored.wire.generated.roles import (
    GrantRevokePrivilegeRequest,
    GrantRevokePrivilegeResponse,
    GrantRevokeType,
    HiveObjectPrivilege,
    HiveObjectRef,
    HiveObjectType,
    PrivilegeBag,
)
from metastored.wire.structs import replace

OWN_AUTHORIZER: Final = "SQL"
"""The authorizer of grants that the metastore makes itself; other authorizers refresh only their own grants."""

_Kind = HiveObjectType


class Target(NamedTuple):
    """An object as a request names it."""

    ref: HiveObjectRef
    on: On | None
    """None when there is no such object."""
    part_name: str | None = None


def target_of(ctx: Context, tx: Transaction, ref: HiveObjectRef | None) -> Target:
    """Looks up the object that a request names."""
    if ref is None or ref.objectType not in _Kind.NAMES:
        known = ", ".join(_Kind.NAMES.values())
        raise MetaException(f"the type of the object is missing or unknown; known are {known}")
    kind = ref.objectType
    if kind == _Kind.GLOBAL:
        return Target(ref, On(kind))
    if kind == _Kind.DATACONNECTOR:
        return Target(ref, On(kind, connector=normalize(ref.objectName or "")))
    where = ctx.name(ref.dbName, ref.catName)
    if kind == _Kind.DATABASE:
        database = databases.find(tx, *where)
        return Target(ref, None if database is None else On(kind, db_id=database.id))
    row = tables.find(tx, *where, normalize(ref.objectName or ""))
    if row is None:
        return Target(ref, None)
    if kind == _Kind.TABLE:
        return Target(ref, On(kind, table_id=row.id))
    column = None if kind != _Kind.COLUMN or ref.columnName is None else normalize(ref.columnName)
    if kind == _Kind.COLUMN and not ref.partValues:
        return Target(ref, On(kind, table_id=row.id, column_name=column))
    part_name = _part_name(rows.table_of(row, *where), ref.partValues or ())
    partition = partitions.find(tx, row.id, part_name)
    if partition is None:
        return Target(ref, None, part_name)
    return Target(ref, On(kind, table_id=row.id, partition_id=partition.id, column_name=column), part_name)


def _part_name(table: Table, values: tuple[str, ...]) -> str:
    try:
        return make_part_name(tuple(key.name or "" for key in table.partitionKeys or ()), values)
    except PartitionNameError as error:
        raise MetaException(str(error)) from None


# --- granting ---------------------------------------------------------------------------------------------------


@method
def grant_privileges(ctx: Context, privileges: PrivilegeBag | None) -> bool:
    def grant(tx: Transaction) -> None:
        role_grants.lock(tx)
        for item in _items(privileges):
            _grant(ctx, tx, item)

    ctx.database.run(grant)
    return True


def _items(bag: PrivilegeBag | None) -> tuple[HiveObjectPrivilege, ...]:
    if bag is None:
        raise MetaException("the privileges are missing: the request has none")
    return bag.privileges or ()


def _words(item: HiveObjectPrivilege) -> list[str]:
    """`SELECT,INSERT` is two privileges."""
    if item.grantInfo is None or item.grantInfo.privilege is None:
        raise MetaException("a privilege is missing: grantInfo must name one, such as SELECT")
    return item.grantInfo.privilege.split(",")


def _principal(item: HiveObjectPrivilege) -> tuple[str, int]:
    if item.principalName is None or item.principalType not in PrincipalType.NAMES:
        raise MetaException("a privilege is for a principal: its name and type (USER, ROLE or GROUP) must be given")
    return item.principalName, item.principalType


def _grant(ctx: Context, tx: Transaction, item: HiveObjectPrivilege) -> None:
    words, (principal, kind) = _words(item), _principal(item)
    info = item.grantInfo
    assert info is not None  # The privileges are part of the object.
    if info.grantorType not in PrincipalType.NAMES:
        raise MetaException("a privilege has a grantor: its grantorType (USER, ROLE or GROUP) must be given")
    if kind == PrincipalType.ROLE:
        check_role(ctx, tx, principal)
    target = target_of(ctx, tx, item.hiveObject)
    _check_database(ctx, target)
    if target.on is None:
        return
    had = {
        row.grant.privilege
        for row in grants.on(tx, target.on, principal, kind)
        if _same(row.grant.grantor, info.grantor) and item.authorizer in (None, row.grant.authorizer)
    }
    for word in words:
        if word in had:
            where = _granted_on(target)
            raise wrapped(ctx, InvalidObjectException(f"{word} is already granted{where} by {info.grantor}"))
        grants.insert(
            tx,
            target.on,
            Grant(
                principal,
                kind,
                word,
                bool(info.grantOption),
                ctx.now(),
                info.grantor,
                info.grantorType,
                item.authorizer,
            ),
        )


def _check_database(ctx: Context, target: Target) -> None:
    """A missing table or partition is ignored, a missing database is an error."""
    if target.on is None and target.ref.objectType == _Kind.DATABASE:
        where = ctx.name(target.ref.dbName, target.ref.catName)
        name = f"{where.catalog}.{where.database}" if ctx.rules.names_catalogs else where.database
        raise wrapped(ctx, NoSuchObjectException(f"There is no database {name}"))


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.lower() == other.lower()


def _granted_on(target: Target) -> str:
    ref = target.ref
    within = ",".join(filter(None, (ref.dbName, ref.objectName, target.part_name)))
    match ref.objectType:
        case _Kind.DATABASE:
            return f" on database {ref.dbName}"
        case _Kind.DATACONNECTOR:
            return f" on data connector {ref.objectName}"
        case _Kind.TABLE:
            return f" on table [{within}]"
        case _Kind.PARTITION:
            return f" on partition [{within}]"
        case _Kind.COLUMN:
            return f" on column {ref.columnName} [{within}]"
    return ""


def grants_of_new_table(ctx: Context, tx: Transaction, table_id: int, table: Table) -> None:
    """Stores the privileges that a table is created with. Call it in the transaction that inserts the table."""
    privilege_set = table.privileges
    if privilege_set is None:
        return
    for privileges, kind in (
        (privilege_set.userPrivileges, PrincipalType.USER),
        (privilege_set.groupPrivileges, PrincipalType.GROUP),
        (privilege_set.rolePrivileges, PrincipalType.ROLE),
    ):
        for principal, infos in (privileges or {}).items():
            for info in infos:
                if info.privilege is None:
                    raise MetaException(f"a privilege of {principal} has no name; name one, such as SELECT")
                grant = Grant(
                    principal,
                    kind,
                    info.privilege,
                    bool(info.grantOption),
                    ctx.now(),
                    info.grantor,
                    info.grantorType,
                    OWN_AUTHORIZER,
                )
                grants.insert(tx, On(_Kind.TABLE, table_id=table_id), grant)


# --- revoking ---------------------------------------------------------------------------------------------------


@method
def revoke_privileges(ctx: Context, privileges: PrivilegeBag | None) -> bool:
    return _revoke_all(ctx, privileges, only_grant_option=False)


def _revoke_all(ctx: Context, privileges: PrivilegeBag | None, *, only_grant_option: bool) -> bool:
    def revoke(tx: Transaction) -> None:
        role_grants.lock(tx)
        for item in _items(privileges):
            if item.grantInfo is not None and (item.grantInfo.privilege or "").strip():
                _revoke(ctx, tx, item, only_grant_option=only_grant_option)

    ctx.database.run(revoke)
    return True


def _revoke(ctx: Context, tx: Transaction, item: HiveObjectPrivilege, *, only_grant_option: bool) -> None:
    words, (principal, kind) = _words(item), _principal(item)
    target = target_of(ctx, tx, item.hiveObject)
    _check_database(ctx, target)
    had = [] if target.on is None else grants.on(tx, target.on, principal, kind)
    alike: Callable[[str], str] = str if target.ref.objectType in _WORDS_AS_WRITTEN else str.lower
    found_one = False
    for word in words:
        row = next((row for row in had if alike(row.grant.privilege) == alike(word)), None)
        if row is None:
            # Hive raises an error only if it has found no grant at all.
            if not found_one:
                raise wrapped(ctx, InvalidObjectException(_no_grant(target, word)))
            continue
        found_one = True
        if not only_grant_option:
            grants.delete(tx, row.id)
        elif row.grant.grant_option:
            grants.end_grant_option(tx, row.id)
        else:
            raise MetaException(f"User {principal} does not have grant option with privilege {word}")


_WORDS_AS_WRITTEN: Final = (_Kind.GLOBAL, _Kind.DATABASE, _Kind.DATACONNECTOR)
"""For these kinds of objects `select` differs from SELECT."""


def _no_grant(target: Target, word: str) -> str:
    ref = target.ref
    match ref.objectType:
        case _Kind.GLOBAL:
            return f"No user grant found for privileges {word}"
        case _Kind.DATABASE:
            return f"No database grant found for privileges {word} on database {ref.dbName}"
        case _Kind.DATACONNECTOR:
            return f"No dataconnector grant found for privileges {word} on data connector {ref.objectName}"
    partition = f", partition is {target.part_name}" if target.part_name is not None else ""
    column = f", column name = {ref.columnName}" if ref.objectType == _Kind.COLUMN else ""
    return f"No grant ({word}) found  on table {ref.objectName}{partition}{column}, database is {ref.dbName}"


@method
def grant_revoke_privileges(ctx: Context, request: GrantRevokePrivilegeRequest | None) -> GrantRevokePrivilegeResponse:
    if request is None or request.requestType not in GrantRevokeType.NAMES:
        raise MetaException(f"Unknown request type {request.requestType if request is not None else None}")
    if request.requestType == GrantRevokeType.GRANT:
        done = grant_privileges(ctx, request.privileges)
    else:
        done = _revoke_all(ctx, request.privileges, only_grant_option=bool(request.revokeGrantOption))
    return GrantRevokePrivilegeResponse(success=done)


@method
def refresh_privileges(
    ctx: Context,
    objToRefresh: HiveObjectRef | None,
    authorizer: str | None,
    grantRequest: GrantRevokePrivilegeRequest | None,
) -> GrantRevokePrivilegeResponse:
    """Sets an authorizer's grants on an object to exactly those of the request."""
    if objToRefresh is None or grantRequest is None:
        raise MetaException("refresh_privileges needs an object and a request with all of its grants")
    if objToRefresh.objectType not in (_Kind.DATABASE, _Kind.TABLE, _Kind.COLUMN, _Kind.DATACONNECTOR):
        raise MetaException(f"Unexpected object type {_Kind.NAMES.get(objToRefresh.objectType or 0)}")
    if objToRefresh.objectType == _Kind.COLUMN and objToRefresh.columnName is not None:
        raise MetaException("columnName must be null: the grants of all columns are refreshed together")

    def refresh(tx: Transaction) -> None:
        role_grants.lock(tx)
        target = target_of(ctx, tx, objToRefresh)
        had = [] if target.on is None else grants.on(tx, target.on)
        old = {_identity(_shown(ctx, row)): row for row in had if authorizer in (None, row.grant.authorizer)}
        new = {_identity(item): item for item in _items(grantRequest.privileges)}
        for key in old.keys() - new.keys():
            grants.delete(tx, old[key].id)
        for key, item in new.items():
            if key not in old:
                _grant(ctx, tx, item)

    ctx.database.run(refresh)
    return GrantRevokePrivilegeResponse(success=True)


def _identity(item: HiveObjectPrivilege) -> tuple[object, ...]:
    """The identity of a grant: all fields but its time."""
    ref, info = item.hiveObject or HiveObjectRef(), item.grantInfo or PrivilegeGrantInfo()
    names = (ref.objectType, *(normalize(name or "") for name in (ref.dbName, ref.objectName, ref.columnName)))
    grant = (info.privilege, info.grantor, info.grantorType, bool(info.grantOption), item.authorizer)
    return (*names, ref.partValues or (), item.principalName, item.principalType, *grant)


# --- reading ----------------------------------------------------------------------------------------------------


@method
def list_privileges(
    ctx: Context, principal_name: str | None, principal_type: int | None, hiveObject: HiveObjectRef | None
) -> tuple[HiveObjectPrivilege, ...]:
    """The grants of a principal on an object; of every principal without one, on all objects without one."""
    ref = hiveObject if hiveObject is not None else HiveObjectRef()
    kind = principal_type or 0
    with ctx.reading() as tx:
        if ref.objectType is None or (ref.objectType not in _NAMED_ALONE and ref.dbName is None):
            every = sorted(grants.of_principal(tx, principal_name, kind), key=_listing_order)
            return tuple(
                _shown(ctx, row) for row in every if ref.objectType is None or row.object_type == ref.objectType
            )
        target = target_of(ctx, tx, ref)
        if target.on is None:
            if ref.objectType == _Kind.PARTITION and target.part_name is None:
                raise ctx.no_table(ctx.name(ref.dbName, ref.catName), normalize(ref.objectName or ""))
            return ()
        grant_rows = grants.on(tx, target.on, principal_name, kind)
    shown = tuple(_shown(ctx, row) for row in grant_rows)
    return shown if principal_name is None else tuple(_as_requested(item, ref) for item in shown)


def _as_requested(item: HiveObjectPrivilege, ref: HiveObjectRef) -> HiveObjectPrivilege:
    """A call for one principal's grants gets the names back as they were written."""
    if item.hiveObject is None or ref.objectType == _Kind.GLOBAL:
        return item
    names = {"dbName": ref.dbName, "objectName": item.hiveObject.objectName and ref.objectName}
    return replace(item, hiveObject=replace(item.hiveObject, **names))


_NAMED_ALONE: Final = (_Kind.GLOBAL, _Kind.DATACONNECTOR)


def _listing_order(row: GrantRow) -> tuple[bool, int]:
    """Hive sorts by type of object, the columns of partitions last."""
    return row.object_type == _Kind.COLUMN and row.partition is not None, row.object_type


@method
def get_privilege_set(
    ctx: Context, hiveObject: HiveObjectRef | None, user_name: str | None, group_names: tuple[str, ...] | None
) -> PrincipalPrivilegeSet:
    """The privileges of a user and their groups on an object, granted to them or to their roles."""
    with ctx.reading() as tx:
        target = target_of(ctx, tx, hiveObject)
        ref = target.ref
        if target.on is None and target.part_name is None and ref.partValues:
            missing = ctx.no_table(ctx.name(ref.dbName, ref.catName), normalize(ref.objectName or ""))
            raise MetaException(missing.message)
        configured = (ADMIN,) if user_name in ctx.service.admins else ()
        return privilege_set(tx, target.on, user_name, group_names or (), configured)


def privilege_set(
    tx: Transaction, on: On | None, user: str | None, groups: Iterable[str], configured: Iterable[str] = ()
) -> PrincipalPrivilegeSet:
    """As `get_privilege_set`, for an object that was looked up already; None is an object that does not exist.

    `configured` are roles that the user has by the settings.
    """
    groups = tuple(groups)

    def infos(names: Iterable[str], kind: int) -> dict[str, tuple[PrivilegeGrantInfo, ...]]:
        return {name: tuple(map(_info, () if on is None else grants.on(tx, on, name, kind))) for name in names}

    users = infos((user,), PrincipalType.USER) if user is not None else None
    of_groups = infos(groups, PrincipalType.GROUP) if groups else None
    if on is not None and on.object_type == _Kind.GLOBAL:
        # For the global object only direct grants are listed, without roles.
        return PrincipalPrivilegeSet(userPrivileges=_some(users) or None, groupPrivileges=_some(of_groups))
    names = {*roles_of(tx, user, groups), *configured}
    return PrincipalPrivilegeSet(
        userPrivileges=users, groupPrivileges=of_groups, rolePrivileges=infos(names, PrincipalType.ROLE) or None
    )


def _some(
    infos: dict[str, tuple[PrivilegeGrantInfo, ...]] | None,
) -> dict[str, tuple[PrivilegeGrantInfo, ...]] | None:
    return None if infos is None else {name: each for name, each in infos.items() if each}


def _info(row: GrantRow) -> PrivilegeGrantInfo:
    grant = row.grant
    return PrivilegeGrantInfo(
        privilege=grant.privilege,
        createTime=grant.create_time,
        grantor=grant.grantor,
        grantorType=grant.grantor_type,
        grantOption=grant.grant_option,
    )


def _shown(ctx: Context, row: GrantRow) -> HiveObjectPrivilege:
    return HiveObjectPrivilege(
        hiveObject=HiveObjectRef(
            objectType=row.object_type,
            dbName=row.db,
            objectName=row.connector if row.object_type == _Kind.DATACONNECTOR else row.table,
            partValues=None if row.partition is None else tuple(partition_name_to_vals(row.partition)),
            columnName=row.column,
            catName=row.cat if ctx.rules.names_catalogs else None,
        ),
        principalName=row.grant.principal,
        principalType=row.grant.principal_type,
        grantInfo=_info(row),
        authorizer=row.grant.authorizer,
    )

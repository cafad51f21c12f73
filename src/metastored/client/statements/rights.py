"""Grants and roles as structs of the metastore's API, and the results of SHOW GRANT and its like. Pure.

The columns are Hive's, and its times too: milliseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from metastored.client.statements.values import Result, database_of, table_of
from metastored.hive.names import make_part_name
from metastored.model.names import DatabaseName, TableName
from metastored.statements.basics import Principal
from metastored.statements.rights import ALL, CONNECTOR, DATABASE, SERVER, Grant, Privilege, Revoke, Target
from metastored.wire.generated.common import PrincipalType, PrivilegeGrantInfo
from metastored.wire.generated.roles import (
    HiveObjectPrivilege,
    HiveObjectRef,
    HiveObjectType,
    PrivilegeBag,
    RolePrincipalGrant,
)

DATA: Final = ("SELECT", "INSERT", "UPDATE", "DELETE")
"""What Hive stores for ALL, but for grants on the server, where ALL also means the privileges to create."""
AUTHORIZER: Final = "SQL"
PRINCIPAL_TYPES: Final = {name: number for number, name in PrincipalType.NAMES.items()}

GRANT_COLUMNS: Final = (
    *("database", "table", "partition", "column", "principal_name", "principal_type", "privilege"),
    *("grant_option", "grant_time", "grantor"),
)
ROLE_COLUMNS: Final = ("role", "grant_option", "grant_time", "grantor")
MEMBER_COLUMNS: Final = ("principal_name", "principal_type", "grant_option", "grantor", "grantor_type", "grant_time")


def type_of(principal: Principal) -> int:
    """The number of the API for the kind of a principal."""
    return PRINCIPAL_TYPES[principal.kind]


def reference(target: Target, current: DatabaseName, values: tuple[str, ...] | None = None) -> HiveObjectRef:
    """An object as the API names it; `values` are those of a partition."""
    if target.kind == SERVER:
        return HiveObjectRef(HiveObjectType.GLOBAL)
    if target.kind == CONNECTOR:
        return HiveObjectRef(HiveObjectType.DATACONNECTOR, objectName=target.name[0])
    if target.kind == DATABASE:
        database = database_of(target.name, current)
        return HiveObjectRef(HiveObjectType.DATABASE, database.database, catName=database.catalog_field)
    table = table_of(target.name, current)
    kind = HiveObjectType.TABLE if values is None else HiveObjectType.PARTITION
    return HiveObjectRef(kind, table.database, table.table, values, catName=table.catalog_field)


def column_reference(ref: HiveObjectRef, column: str | None) -> HiveObjectRef:
    """A column of the table or partition that a reference names; None is all of them, at a metastored."""
    return HiveObjectRef(HiveObjectType.COLUMN, ref.dbName, ref.objectName, ref.partValues, column, ref.catName)


def expanded(privileges: Iterable[Privilege], target: Target) -> tuple[Privilege, ...]:
    """ALL as the privileges that Hive stores for it; on the server it stays one word. Each privilege once."""
    once: dict[Privilege, None] = {}
    for each in privileges:
        words = DATA if each.word == ALL and target.kind != SERVER else (each.word,)
        once |= dict.fromkeys(Privilege(word, each.columns) for word in words)
    return tuple(once)


def bag(
    statement: Grant | Revoke, privileges: Iterable[Privilege], ref: HiveObjectRef, grantor: str | None
) -> PrivilegeBag:
    """What a GRANT or REVOKE is about, as the API takes it: all of it is done, or nothing."""
    option = isinstance(statement, Grant) and statement.option
    items = []
    for principal in dict.fromkeys(statement.principals):
        for each in privileges:
            info = PrivilegeGrantInfo(each.word, 0, grantor, PrincipalType.USER, option)
            for on in [column_reference(ref, name) for name in each.columns] or [ref]:
                items.append(HiveObjectPrivilege(on, principal.name, type_of(principal), info, AUTHORIZER))
    return PrivilegeBag(tuple(items))


# --- results --------------------------------------------------------------------------------------------------


def shown_grants(grants: Iterable[HiveObjectPrivilege], keys: dict[TableName, tuple[str, ...]]) -> Result:
    """SHOW GRANT; `keys` has the partition keys of tables, for the names of partitions."""
    rows = [_grant_row(each, keys) for each in grants]
    return Result(GRANT_COLUMNS, tuple(sorted(rows)))


def _grant_row(each: HiveObjectPrivilege, keys: dict[TableName, tuple[str, ...]]) -> tuple[str, ...]:
    ref, info = each.hiveObject or HiveObjectRef(), each.grantInfo or PrivilegeGrantInfo()
    values = ref.partValues or ()
    names = keys.get(TableName("", ref.dbName or "", ref.objectName or ""), ())
    partition = make_part_name(names, values) if values and len(names) == len(values) else "/".join(values)
    return (
        *(ref.dbName or "", ref.objectName or "", partition, ref.columnName or ""),
        *(each.principalName or "", PrincipalType.NAMES.get(each.principalType or 0, ""), info.privilege or ""),
        *(_truth(info.grantOption), _time(info.createTime), info.grantor or ""),
    )


def shown_roles(grants: Iterable[RolePrincipalGrant]) -> Result:
    """SHOW ROLE GRANT."""
    rows = [
        (each.roleName or "", _truth(each.grantOption), _time(each.grantTime), each.grantorName or "")
        for each in grants
    ]
    return Result(ROLE_COLUMNS, tuple(sorted(rows)))


def shown_members(grants: Iterable[RolePrincipalGrant]) -> Result:
    """SHOW PRINCIPALS."""
    kinds = PrincipalType.NAMES
    rows = [
        (
            *(each.principalName or "", kinds.get(each.principalType or 0, ""), _truth(each.grantOption)),
            *(each.grantorName or "", kinds.get(each.grantorPrincipalType or 0, ""), _time(each.grantTime)),
        )
        for each in grants
    ]
    return Result(MEMBER_COLUMNS, tuple(sorted(rows)))


def _truth(value: bool | None) -> str:
    return "true" if value else "false"


def _time(seconds: int | None) -> str:
    return str((seconds or 0) * 1000)

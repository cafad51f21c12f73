"""Roles, privileges, and the stores of tokens and keys."""

from collections.abc import Sequence
from typing import Any

from metastored.wire.generated.common import PrincipalPrivilegeSet, PrivilegeGrantInfo
from metastored.wire.generated.databases import Database
from metastored.wire.generated.roles import (
    GetPrincipalsInRoleRequest,
    GetRoleGrantsForPrincipalRequest,
    GrantRevokePrivilegeRequest,
    GrantRevokeRoleRequest,
    HiveObjectPrivilege,
    HiveObjectRef,
    PrivilegeBag,
    Role,
)
from metastored.wire.structs import replace
from tests.differential.script import SINCE_3_1, EditTable, Probe, ask
from tests.support.objects import partition, table

DB = "rol"
LEVEL = "rolp"
USER, ROLE, GROUP = 1, 2, 3
EVERYTHING = HiveObjectRef(objectType=1)
ON_DB = HiveObjectRef(objectType=2, dbName=DB)
ON_TABLE = HiveObjectRef(objectType=3, dbName=DB, objectName="t")
ON_PARTITION = HiveObjectRef(objectType=4, dbName=DB, objectName="p", partValues=("1", "2"))
ON_COLUMN = HiveObjectRef(objectType=5, dbName=DB, objectName="t", columnName="a")
ON_PARTITION_COLUMN = replace(ON_PARTITION, objectType=5, columnName="a")
OBJECTS = {
    "everything": EVERYTHING,
    "a database": ON_DB,
    "a table": ON_TABLE,
    "a partition": ON_PARTITION,
    "a column": ON_COLUMN,
    "a column of a partition": ON_PARTITION_COLUMN,
}


def bag(ref: HiveObjectRef, word: str = "SELECT", to: str = "u1", kind: int = USER, *, option: bool = False) -> Any:
    info = PrivilegeGrantInfo(privilege=word, createTime=1, grantor="g", grantorType=USER, grantOption=option)
    item = HiveObjectPrivilege(hiveObject=ref, principalName=to, principalType=kind, grantInfo=info)
    return PrivilegeBag(privileges=(item,))


def both(kind: int, ref: HiveObjectRef, *, option: bool = False) -> GrantRevokePrivilegeRequest:
    return GrantRevokePrivilegeRequest(
        requestType=kind, privileges=bag(ref, "UPDATE", option=True), revokeGrantOption=option
    )


def role_request(kind: int, *, option: bool) -> GrantRevokeRoleRequest:
    return GrantRevokeRoleRequest(
        requestType=kind,
        roleName="rol1",
        principalName="u3",
        principalType=USER,
        grantor="g",
        grantorType=USER,
        grantOption=option,
    )


def ours(names: Any) -> Any:
    return sorted(names)


def members(result: Any) -> Any:
    """Hive has no order for them."""
    return sorted(result.principalGrants, key=lambda grant: (grant.principalType, grant.principalName))


def words(result: Any) -> Any:
    return sorted(result, key=lambda item: item.grantInfo.privilege)


def sets(result: Any) -> Any:
    return [
        {name: sorted(infos, key=lambda info: info.privilege) for name, infos in (kind or {}).items()}
        for kind in result
    ]


ROLES: Sequence[Probe] = [
    ask("at first", "get_role_names", show=ours),
    ask("new", "create_role", Role(roleName="rol1", createTime=1, ownerName="o")),
    ask("new, in upper case", "create_role", Role(roleName="ROL1", createTime=1, ownerName="o")),
    ask("taken", "create_role", Role(roleName="rol1", createTime=1, ownerName="o")),
    ask("public", "create_role", Role(roleName="public", createTime=1, ownerName="o")),
    ask("admin", "create_role", Role(roleName="admin", createTime=1, ownerName="o")),
    ask("to a user", "grant_role", "rol1", "u1", USER, "g", USER, False),
    ask("to a user again", "grant_role", "rol1", "u1", USER, "g", USER, False),
    ask("to a group", "grant_role", "rol1", "g1", GROUP, "g", USER, True),
    ask("missing", "grant_role", "zz", "u1", USER, "g", USER, False),
    ask("to a missing role", "grant_role", "rol1", "zz", ROLE, "g", USER, False),
    ask("public", "grant_role", "public", "u1", USER, "g", USER, False),
    ask("another", "create_role", Role(roleName="rol2", ownerName="o")),
    ask("to a role", "grant_role", "rol1", "rol2", ROLE, "g", USER, False),
    ask("in a circle", "grant_role", "rol2", "rol1", ROLE, "g", USER, False),
    ask("to itself", "grant_role", "rol1", "rol1", ROLE, "g", USER, False),
    ask("of a user", "list_roles", "u1", USER),
    ask("of nobody", "list_roles", "nobody", USER),
    ask("of a group", "list_roles", "g1", GROUP),
    ask("of a role", "list_roles", "rol2", ROLE),
    ask("members", "get_principals_in_role", GetPrincipalsInRoleRequest(roleName="rol1"), show=members),
    ask("members of a missing one", "get_principals_in_role", GetPrincipalsInRoleRequest(roleName="zz")),
    ask(
        "of a user",
        "get_role_grants_for_principal",
        GetRoleGrantsForPrincipalRequest(principal_name="u1", principal_type=USER),
    ),
    ask(
        "of a role",
        "get_role_grants_for_principal",
        GetRoleGrantsForPrincipalRequest(principal_name="rol2", principal_type=ROLE),
    ),
    ask("grant", "grant_revoke_role", role_request(1, option=True)),
    ask("grant again", "grant_revoke_role", role_request(1, option=True)),
    ask("only the option", "grant_revoke_role", role_request(2, option=True)),
    ask("only the option, again", "grant_revoke_role", role_request(2, option=True)),
    ask("with one option left", "get_principals_in_role", GetPrincipalsInRoleRequest(roleName="rol1"), show=members),
    ask("revoke", "grant_revoke_role", role_request(2, option=False)),
    ask("from a user", "revoke_role", "rol1", "u1", USER),
    ask("missing", "revoke_role", "zz", "u1", USER),
    ask("public", "revoke_role", "public", "u1", USER),
    ask("after it was revoked", "list_roles", "u1", USER),
]

PRIVILEGES: Sequence[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    ask("for them", "create_table", table(DB, "t")),
    ask("for them, with partitions", "create_table", table(DB, "p", keys="ds string, h int")),
    ask("for them", "add_partition", partition(DB, "p", ("1", "2")), show=lambda result: result.values),
    *(ask(f"on {name}", "grant_privileges", bag(ref)) for name, ref in OBJECTS.items()),
    *(ask(f"on {name}, again", "grant_privileges", bag(ref)) for name, ref in OBJECTS.items()),
    *(ask(f"on {name}", "list_privileges", "u1", USER, ref) for name, ref in OBJECTS.items()),
    *(
        ask(f"of everybody on {name}", "list_privileges", None, None, ref)
        for name, ref in OBJECTS.items()
        if ref is not ON_PARTITION_COLUMN
    ),
    # Hive 3.1 looks for these in the wrong order of names, and never finds any.
    ask(
        "of everybody on a column of a partition",
        "list_privileges",
        None,
        None,
        ON_PARTITION_COLUMN,
        versions=("2.3",),
    ),
    *(ask(f"on {name}", "get_privilege_set", ref, "u1", ("g1",)) for name, ref in OBJECTS.items()),
    *(ask(f"of a group on {name}", "get_privilege_set", ref, None, ("g1",)) for name, ref in OBJECTS.items()),
    ask("of all objects", "list_privileges", "u1", USER, HiveObjectRef()),
    ask("of all tables", "list_privileges", "u1", USER, HiveObjectRef(objectType=3)),
    ask("in upper case", "list_privileges", "u1", USER, replace(ON_TABLE, dbName="ROL", objectName="T")),
    ask("of nobody", "list_privileges", "nobody", USER, ON_TABLE),
    ask("on a missing table", "list_privileges", "u1", USER, replace(ON_TABLE, objectName="nope")),
    ask("on a missing database", "list_privileges", "u1", USER, replace(ON_DB, dbName="nope")),
    ask("on a partition of no table", "list_privileges", "u1", USER, replace(ON_PARTITION, objectName="nope")),
    ask("with too many values", "list_privileges", "u1", USER, replace(ON_PARTITION, partValues=("1", "2", "3"))),
    ask("on a missing table", "get_privilege_set", replace(ON_TABLE, objectName="nope"), "u1", ()),
    ask("on a partition of no table", "get_privilege_set", replace(ON_PARTITION, objectName="nope"), "u1", ()),
    ask("on a missing table", "grant_privileges", bag(replace(ON_TABLE, objectName="nope"))),
    ask("on a missing database", "grant_privileges", bag(replace(ON_DB, dbName="nope"))),
    ask("on a missing partition", "grant_privileges", bag(replace(ON_PARTITION, partValues=("8", "9")))),
    ask("to a role", "grant_privileges", bag(ON_TABLE, "INSERT", "rol2", ROLE)),
    ask("to a missing role", "grant_privileges", bag(ON_TABLE, "INSERT", "zz", ROLE)),
    ask("two at once", "grant_privileges", bag(ON_TABLE, "INSERT,DELETE", "u2")),
    ask("two at once", "list_privileges", "u2", USER, ON_TABLE, show=words),
    ask("any word", "grant_privileges", bag(ON_TABLE, "Juggle", "u2")),
    ask("with roles", "grant_role", "rol2", "u2", USER, "g", USER, False),
    ask("through roles", "get_privilege_set", ON_TABLE, "u2", (), show=sets),
    ask("grant", "grant_revoke_privileges", both(1, ON_DB)),
    ask("only the option", "grant_revoke_privileges", both(2, ON_DB, option=True)),
    ask("only the option, again", "grant_revoke_privileges", both(2, ON_DB, option=True)),
    ask("with one option less", "list_privileges", "u1", USER, ON_DB),
    ask("revoke", "grant_revoke_privileges", both(2, ON_DB)),
    *(ask(f"on {name}, another", "revoke_privileges", bag(ref, "DROP")) for name, ref in OBJECTS.items()),
    *(ask(f"on {name}", "revoke_privileges", bag(ref)) for name, ref in OBJECTS.items()),
    *(ask(f"on {name}, again", "revoke_privileges", bag(ref)) for name, ref in OBJECTS.items()),
    ask("in small letters on a table", "revoke_privileges", bag(ON_TABLE, "insert", "u2")),
    ask("nothing", "revoke_privileges", bag(ON_TABLE, "", "u2")),
    ask("on a missing table", "revoke_privileges", bag(replace(ON_TABLE, objectName="nope"))),
    ask("on a missing database", "revoke_privileges", bag(replace(ON_DB, dbName="nope"))),
    EditTable("another name", DB, "t", lambda result: replace(result, tableName="t2")),
    ask("of a renamed table", "list_privileges", "u2", USER, replace(ON_TABLE, objectName="t2"), show=words),
    ask("of its old name", "list_privileges", "u2", USER, ON_TABLE),
    ask(
        "with privileges",
        "create_table",
        replace(
            table(DB, "owned"),
            privileges=PrincipalPrivilegeSet(
                userPrivileges={"bob": (PrivilegeGrantInfo("SELECT", 1, "bob", USER, True),)},
                groupPrivileges={"g1": (PrivilegeGrantInfo("INSERT", 1, "bob", USER, False),)},
                rolePrivileges={"public": (PrivilegeGrantInfo("DELETE", 1, "bob", USER, False),)},
            ),
        ),
    ),
    ask("of a new table's owner", "list_privileges", "bob", USER, replace(ON_TABLE, objectName="owned")),
    ask("of a new table", "get_privilege_set", replace(ON_TABLE, objectName="owned"), "bob", ("g1",)),
    ask("does not show them", "get_table", DB, "owned", show=lambda result: result.privileges),
    ask("a table and its grants", "drop_table", DB, "owned", True),
    ask("a table", "create_table", table(DB, "owned")),
    ask("of a table made anew", "list_privileges", "bob", USER, replace(ON_TABLE, objectName="owned")),
    ask("a role and its grants", "drop_role", "rol2"),
    ask("of a dropped role", "list_privileges", "rol2", ROLE, HiveObjectRef()),
    ask(
        "a table",
        "refresh_privileges",
        replace(ON_TABLE, objectName="t2"),
        "A",
        GrantRevokePrivilegeRequest(requestType=1, privileges=bag(replace(ON_TABLE, objectName="t2"), "REFRESHED")),
        versions=SINCE_3_1,
    ),
    ask("refreshed", "list_privileges", "u1", USER, replace(ON_TABLE, objectName="t2")),
    ask(
        "a partition",
        "refresh_privileges",
        ON_PARTITION,
        "A",
        GrantRevokePrivilegeRequest(requestType=1, privileges=PrivilegeBag(privileges=())),
        versions=SINCE_3_1,
    ),
    ask("with all of them", "drop_database", DB, True, True),
    ask("of what was dropped", "list_privileges", "u2", USER, HiveObjectRef()),
]


def at(*values: str, column: str | None = None) -> HiveObjectRef:
    return HiveObjectRef(5 if column else 4, LEVEL, "p", tuple(values), column)


def parts(result: Any) -> Any:
    return sorted((part.values, None if part.privileges is None else sets(part.privileges)) for part in result)


BY_PARTITION: Sequence[Probe] = [
    ask("that grants by partition", "create_database", Database(name=LEVEL)),
    ask(
        "that grants by partition",
        "create_table",
        table(LEVEL, "p", keys="ds string", parameters={"PARTITION_LEVEL_PRIVILEGE": "true"}),
    ),
    ask("that does not", "create_table", table(LEVEL, "q", keys="ds string")),
    ask("on a table for its partitions", "grant_privileges", bag(replace(ON_TABLE, dbName=LEVEL, objectName="p"))),
    ask(
        "on a column for its partitions",
        "grant_privileges",
        bag(HiveObjectRef(5, LEVEL, "p", None, "a"), "UPDATE", "g1", GROUP, option=True),
    ),
    ask("with grants", "add_partition", partition(LEVEL, "p", ("1",)), show=lambda result: result.privileges),
    ask("with grants", "add_partitions", (partition(LEVEL, "p", ("2",)), partition(LEVEL, "p", ("3",)))),
    ask("with grants", "append_partition", LEVEL, "p", ("4",), show=lambda result: result.values),
    ask("to exchange", "append_partition", LEVEL, "q", ("5",), show=lambda result: result.values),
    ask("with grants", "exchange_partition", {"ds": "5"}, LEVEL, "q", LEVEL, "p", show=lambda result: result.values),
    *(ask(f"on new partition {n}", "list_privileges", "u1", USER, at(n)) for n in "12345"),
    *(ask(f"on a column of new partition {n}", "list_privileges", "g1", GROUP, at(n, column="a")) for n in "15"),
    ask("on a new partition", "get_privilege_set", at("1"), "u1", ("g1",), show=sets),
    ask("later, on the table", "grant_privileges", bag(replace(ON_TABLE, dbName=LEVEL, objectName="p"), "DROP", "u2")),
    ask("on a partition that was there", "list_privileges", "u2", USER, at("1")),
    ask("with its grants", "get_partition_with_auth", LEVEL, "p", ("1",), "u1", ("g1",), show=lambda p: parts((p,))),
    ask("without a user", "get_partition_with_auth", LEVEL, "p", ("1",), None, None, show=lambda p: parts((p,))),
    ask("without asking", "get_partition", LEVEL, "p", ("1",), show=lambda result: result.privileges),
    ask("with their grants", "get_partitions_with_auth", LEVEL, "p", -1, "u1", ("g1",), show=parts),
    ask("without a user", "get_partitions_with_auth", LEVEL, "p", -1, None, None, show=parts),
    ask("without groups", "get_partitions_with_auth", LEVEL, "p", -1, "u1", None, show=parts),
    ask("of groups", "get_partitions_with_auth", LEVEL, "p", -1, None, ("g1",), show=parts),
    ask("with their grants", "get_partitions_ps_with_auth", LEVEL, "p", ("2",), -1, "u1", ("g1",), show=parts),
    ask("without groups", "get_partitions_ps_with_auth", LEVEL, "p", ("2",), -1, "u1", None, show=parts),
    ask("that grants by partition", "drop_database", LEVEL, True, True),
]

TOKENS: Sequence[Probe] = [
    ask("new", "add_token", "i", "t"),
    ask("taken", "add_token", "i", "u"),
    ask("one", "get_token", "i"),
    ask("missing", "get_token", "zz"),
    ask("all", "get_all_token_identifiers"),
    ask("one", "remove_token", "i"),
    ask("missing", "remove_token", "i"),
    ask("none", "get_master_keys"),
    ask("missing", "remove_master_key", 77),
    ask("missing", "update_master_key", 77, "k"),
]

SCRIPT: Sequence[Probe] = [
    *ROLES,
    *PRIVILEGES,
    *BY_PARTITION,
    *TOKENS,
    ask("one", "drop_role", "rol1"),
    ask("in upper case", "drop_role", "ROL1"),
    ask("missing", "drop_role", "rol1"),
    ask("admin", "drop_role", "admin"),
    ask("public", "drop_role", "public"),
    ask("at last", "get_role_names", show=ours),
]

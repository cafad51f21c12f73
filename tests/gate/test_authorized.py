"""Authorization: users by methods, owners, grants, roles."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.errors import ApplicationError, MetaException, MetastoreError
from metastored.gate.needs import is_open
from metastored.service.core import name_lists
from metastored.wire.generated.common import CreationMetadata, DataOperationType
from metastored.wire.generated.databases import Database
from metastored.wire.generated.locks import LockComponent, LockLevel, LockRequest, LockType
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.roles import (
    GetPrincipalsInRoleRequest,
    GetRoleGrantsForPrincipalRequest,
    HiveObjectRef,
    Role,
)
from metastored.wire.generated.tables import GetTableRequest, GetTablesRequest
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.gate.conftest import (
    EVERYTHING,
    GROUP,
    ROLE,
    USER,
    Guarded,
    bag,
    on_database,
    on_table,
    session_of,
    table,
)

DENIED = "Permission denied"


def allowed(guarded: Guarded, user: str | None, name: str, *args: Any, groups: tuple[str, ...] = ()) -> bool:
    """Whether a call passed the gate, whatever its result."""
    error = guarded.reply(session_of(user, groups), name, *args).error
    return error is None or not str(error).startswith(DENIED)


def lock_of(kind: int, db: str = "d", name: str | None = "t", operation: int | None = None) -> LockRequest:
    level = LockLevel.DB if name is None else LockLevel.TABLE
    component = LockComponent(type=kind, level=level, dbname=db, tablename=name, operationType=operation)
    return LockRequest(component=(component,), user="x", hostname="h")


MATRIX: dict[str, tuple[tuple[str, tuple[Any, ...]], str]] = {
    "read a table": (("get_table", ("d", "t")), "tom reader all everywhere"),
    "read a table by request": (
        ("get_table_req", (GetTableRequest(dbName="D", tblName="T", catName="hive"),)),
        "tom reader all everywhere",
    ),
    "read a table of a named catalog": (("get_table", ("@hive#d", "t")), "tom reader all everywhere"),
    "read its tables by a pattern": (
        ("get_table_objects_by_name_req", (GetTablesRequest(dbName="d", tablesPattern="*"),)),
        "dana everywhere",
    ),
    # All users may call it; the reply has only the tables that the caller may read (test_holes.py).
    "read tables of every database": (
        ("get_table_objects_by_name_req", (GetTablesRequest(dbName="*", tblNames=("t",)),)),
        "*",
    ),
    "read its partitions": (("get_partition_names", ("d", "t", -1)), "tom reader all everywhere"),
    "add a partition": (
        ("add_partition", (Partition(values=("1",), dbName="d", tableName="t", sd=table("t", "x").sd),)),
        "tom writer all",
    ),
    "drop a partition": (("drop_partition", ("d", "t", ("9",), False)), "tom deleter all"),
    "alter it": (("alter_table", ("d", "t", table("t", "tom", location="file:/nowhere/d.db/t"))), "tom"),
    "drop it": (("drop_table", ("d", "gone", False)), "dana"),
    "create another": (("create_table", (table("new", "dana"),)), "dana"),
    "alter the database": (("alter_database", ("d", Database(name="d", ownerName="dana"))), "dana"),
    "drop the database": (("drop_database", ("d", False, False)), "dana"),
    "create a database": (("create_database", (Database(name="new"),)), "creator"),
    "make a role": (("create_role", (Role(roleName="new"),)), ""),
    "see who has a role": (("get_principals_in_role", (GetPrincipalsInRoleRequest(roleName="r"),)), ""),
    "read the keys": (("get_master_keys", ()), ""),
    "lock to read": (("lock", (lock_of(LockType.SHARED_READ),)), "tom reader all everywhere"),
    "lock to write": (("lock", (lock_of(LockType.SHARED_WRITE),)), "tom writer deleter all"),
    "lock to insert": (
        ("lock", (lock_of(LockType.SHARED_WRITE, operation=DataOperationType.INSERT),)),
        "tom writer all",
    ),
    "lock to delete": (
        ("lock", (lock_of(LockType.SHARED_WRITE, operation=DataOperationType.DELETE),)),
        "tom deleter all",
    ),
    "lock the database": (("lock", (lock_of(LockType.EXCLUSIVE, name=None),)), "dana"),
    "list databases": (("get_all_databases", ()), "*"),
    "list tables": (("get_all_tables", ("d",)), "*"),
    "say who they are": (("set_ugi", ("x", ())), "*"),
    "open a transaction's list": (("get_open_txns", ()), "*"),
}
USERS = ("dana", "tom", "reader", "writer", "deleter", "all", "everywhere", "creator", "stranger")


@pytest.mark.parametrize("deed", MATRIX)
def test_users_have_access_by_ownership_and_grants(guarded: Guarded, deed: str) -> None:
    guarded.grant(on_table("d", "t"), "SELECT", "reader")
    guarded.grant(on_table("d", "t"), "insert", "writer")
    guarded.grant(on_table("d", "t"), "DELETE", "deleter")
    guarded.grant(on_table("d", "t"), "ALL", "all")
    guarded.grant(on_database("d"), "SELECT", "everywhere")
    guarded.grant(EVERYTHING, "CREATE", "creator")
    (name, args), expected = MATRIX[deed]
    users = {user for user in USERS if allowed(guarded, user, name, *args)}
    assert users == (set(USERS) if expected == "*" else set(expected.split()))
    assert allowed(guarded, "root", name, *args)


def test_a_refusal_names_the_user_and_the_missing_privilege(guarded: Guarded) -> None:
    with pytest.raises(MetaException) as raised:
        guarded.call("alice", "get_table", "d", "t")
    assert str(raised.value) == "Permission denied: user alice needs SELECT on table d.t"
    with pytest.raises(MetaException, match=r"a caller without a name needs ownership of table d.t"):
        guarded.call(None, "alter_table", "d", "t", table("t", "tom"))
    with pytest.raises(MetaException, match="user alice needs the admin role"):
        guarded.call("alice", "get_role_names")


def test_a_refused_call_changes_nothing(guarded: Guarded) -> None:
    with pytest.raises(MetaException, match=DENIED):
        guarded.call("alice", "create_table", table("new", "alice"))
    assert guarded.unguarded("get_all_tables", "d") == ("t",)


def test_names_that_are_kept_for_one_user_are_refused_to_others(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_lists, "KEPT", 1)
    part = Partition(values=("1",), dbName="d", tableName="t", sd=table("t", "x").sd)
    guarded.unguarded("add_partition", part)
    assert guarded.call("tom", "get_partition_names", "d", "t", -1) == ("p=1",)
    assert not allowed(guarded, "alice", "get_partition_names", "d", "t", -1)
    guarded.grant(on_table("d", "t"), "SELECT", "alice")
    assert guarded.call("alice", "get_partition_names", "d", "t", -1) == ("p=1",)


def test_roles_and_groups_carry_privileges(guarded: Guarded) -> None:
    guarded.grant(on_table("d", "t"), "SELECT", "r", ROLE)
    guarded.grant(on_table("d", "t"), "INSERT", "team", GROUP)
    assert allowed(guarded, "rose", "get_table", "d", "t")
    assert not allowed(guarded, "alice", "get_table", "d", "t")
    part = Partition(values=("1",), dbName="d", tableName="t", sd=table("t", "x").sd)
    assert allowed(guarded, "alice", "add_partition", part, groups=("team",))


def test_a_role_within_a_role_counts(guarded: Guarded) -> None:
    guarded.unguarded("create_role", Role(roleName="outer"))
    guarded.unguarded("grant_role", "outer", "r", ROLE, "root", USER, False)
    guarded.grant(on_table("d", "t"), "SELECT", "outer", ROLE)
    assert allowed(guarded, "rose", "get_table", "d", "t")


def test_all_users_have_the_grants_of_public(guarded: Guarded) -> None:
    guarded.grant(on_table("d", "t"), "SELECT", "public", ROLE)
    assert allowed(guarded, "alice", "get_table", "d", "t")
    assert allowed(guarded, None, "get_table", "d", "t")


def test_all_users_create_tables_in_default_which_public_owns(guarded: Guarded) -> None:
    guarded.call("alice", "create_table", table("mine", "alice", "default"))
    assert guarded.call("alice", "get_table", "default", "mine").owner == "alice"
    assert not allowed(guarded, "bob", "get_table", "default", "mine")


def test_users_with_the_role_admin_may_do_everything(guarded: Guarded) -> None:
    guarded.unguarded("grant_role", "admin", "alice", USER, "root", USER, False)
    assert guarded.call("alice", "get_role_names") == ("admin", "public", "r")
    assert guarded.call("alice", "get_table", "d", "t").owner == "tom"


def test_a_revoked_privilege_is_gone_at_once(guarded: Guarded) -> None:
    guarded.grant(on_table("d", "t"), "SELECT", "alice")
    assert allowed(guarded, "alice", "get_table", "d", "t")
    guarded.unguarded("revoke_privileges", bag(on_table("d", "t"), "SELECT", "alice"))
    assert not allowed(guarded, "alice", "get_table", "d", "t")


def test_the_cache_of_allowed_calls_is_per_user(guarded: Guarded) -> None:
    guarded.grant(on_table("d", "t"), "SELECT", "team", GROUP)
    for _ in range(2):
        assert allowed(guarded, "alice", "get_table", "d", "t", groups=("team",))
        assert not allowed(guarded, "alice", "get_table", "d", "t")
        assert not allowed(guarded, "bob", "get_table", "d", "t")


def test_a_new_owner_takes_over_at_once(guarded: Guarded) -> None:
    assert not allowed(guarded, "alice", "get_table", "d", "t")
    found = guarded.unguarded("get_table", "d", "t")
    guarded.unguarded("alter_table", "d", "t", replace(found, owner="alice"))
    assert allowed(guarded, "alice", "get_table", "d", "t")
    assert not allowed(guarded, "tom", "get_table", "d", "t")


def test_a_table_cannot_be_moved_into_anothers_database(guarded: Guarded) -> None:
    found = guarded.unguarded("get_table", "d", "t")
    guarded.unguarded("create_database", Database(name="e", ownerName="eve", ownerType=USER))
    with pytest.raises(MetaException, match=r"user tom needs ownership of table e.t"):
        guarded.call("tom", "alter_table", "d", "t", replace(found, dbName="e"))


def test_a_missing_object_is_denied_to_other_users_and_not_found_for_the_owner(guarded: Guarded) -> None:
    with pytest.raises(MetaException, match=r"user alice needs SELECT on table d.nope"):
        guarded.call("alice", "get_table", "d", "nope")
    with pytest.raises(MetastoreError, match=r"d.nope table not found"):
        guarded.call("dana", "get_table", "d", "nope")
    with pytest.raises(MetastoreError, match=r"nodb.t table not found"):
        guarded.call("alice", "get_table", "nodb", "t")


def test_a_view_is_made_from_tables_that_its_maker_may_read(guarded: Guarded) -> None:
    sources = CreationMetadata(catName="hive", dbName="d", tblName="v", tablesUsed=frozenset({"d.t"}))
    view = table("v", "dana", creationMetadata=sources)
    with pytest.raises(MetaException, match=r"user dana needs SELECT on table d\.t"):
        guarded.call("dana", "create_table", view)
    guarded.grant(on_table("d", "t"), "SELECT", "dana")
    assert allowed(guarded, "dana", "create_table", view)


# --- locations ----------------------------------------------------------------------------------------------------


def test_a_table_may_have_its_default_location(guarded: Guarded) -> None:
    assert allowed(guarded, "dana", "create_table", table("n1", "dana", location="file:///nowhere/d.db/n1"))
    for place in ("file:/elsewhere", "file:/nowhere/d.db/t", "file:/nowhere/d.db/n2/../t", "s3a://b/n2"):
        assert not allowed(guarded, "dana", "create_table", table("n2", "dana", location=place)), place


def test_a_location_elsewhere_needs_a_grant(guarded: Guarded) -> None:
    with pytest.raises(MetaException, match="user dana needs USE_LOCATION on the metastore for the location file:/x"):
        guarded.call("dana", "create_table", table("n", "dana", location="file:/x"))
    guarded.grant(EVERYTHING, "USE_LOCATION", "dana")
    guarded.call("dana", "create_table", table("n", "dana", location="file:/x"))


def test_an_alter_may_leave_a_table_where_it_is(guarded: Guarded) -> None:
    guarded.unguarded("create_table", table("far", "tom", location="file:/far"))
    found = guarded.unguarded("get_table", "d", "far")
    assert allowed(guarded, "tom", "alter_table", "d", "far", found)
    moved = replace(found, sd=replace(found.sd, location="file:/further"))
    assert not allowed(guarded, "tom", "alter_table", "d", "far", moved)


def test_a_session_may_alter_the_table_that_the_server_entrusts_to_it_and_nothing_else(guarded: Guarded) -> None:
    guarded.unguarded("create_table", table("other", "tom"))
    found, other = guarded.unguarded("get_table", "d", "t"), guarded.unguarded("get_table", "d", "other")
    session = session_of("alice")
    session.entrusted = frozenset({("hive", "d", "t")})

    def passes(name: str, *args: Any) -> bool:
        return not str(guarded.reply(session, name, *args).error or "").startswith(DENIED)

    assert passes("alter_table_with_environment_context", "d", "t", found)
    assert not passes("alter_table_with_environment_context", "d", "other", other)
    assert not passes("alter_table_with_environment_context", "d", "t", replace(found, tableName="renamed"))
    moved = replace(found, sd=replace(found.sd, location="file:/elsewhere"))
    assert not passes("alter_table_with_environment_context", "d", "t", moved)
    assert not passes("get_table", "d", "t")
    assert not passes("drop_table", "d", "t", False)
    assert not passes("grant_privileges", bag(on_table("d", "t"), "SELECT", "alice"))
    assert not allowed(guarded, "alice", "alter_table_with_environment_context", "d", "t", found)


def test_a_database_may_have_its_default_location(guarded: Guarded) -> None:
    guarded.grant(EVERYTHING, "CREATE", "alice")
    assert allowed(guarded, "alice", "create_database", Database(name="n1", locationUri="file:/nowhere/n1.db"))
    assert not allowed(guarded, "alice", "create_database", Database(name="n2", locationUri="file:/nowhere/d.db"))


# --- granting -----------------------------------------------------------------------------------------------------


def test_an_owner_grants_on_own_objects(guarded: Guarded) -> None:
    assert guarded.call("tom", "grant_privileges", bag(on_table("d", "t"), "SELECT", "alice")) is True
    assert allowed(guarded, "alice", "get_table", "d", "t")
    with pytest.raises(MetaException, match=r"user alice needs SELECT with grant option on table d.t"):
        guarded.call("alice", "grant_privileges", bag(on_table("d", "t"), "SELECT", "bob"))


def test_the_grant_option_allows_exactly_its_privilege(guarded: Guarded) -> None:
    guarded.grant(on_table("d", "t"), "SELECT", "alice", option=True)
    assert guarded.call("alice", "grant_privileges", bag(on_table("d", "t"), "SELECT", "bob")) is True
    with pytest.raises(MetaException, match=r"needs INSERT with grant option on table d.t"):
        guarded.call("alice", "grant_privileges", bag(on_table("d", "t"), "SELECT,INSERT", "carol"))


def test_only_admins_grant_on_everything(guarded: Guarded) -> None:
    for user in ("tom", "dana"):
        with pytest.raises(MetaException, match="needs CREATE with grant option on the metastore"):
            guarded.call(user, "grant_privileges", bag(EVERYTHING, "CREATE", user))
    assert guarded.call("root", "grant_privileges", bag(EVERYTHING, "CREATE", "tom")) is True


def test_a_role_is_passed_on_with_the_admin_option(guarded: Guarded) -> None:
    grant = ("grant_role", "r", "alice", USER, "rose", USER, False)
    with pytest.raises(MetaException, match="user rose needs the admin option on role r"):
        guarded.call("rose", *grant)
    guarded.unguarded("revoke_role", "r", "rose", USER)
    guarded.unguarded("grant_role", "r", "rose", USER, "root", USER, True)
    assert guarded.call("rose", *grant) is True


def test_all_users_see_their_own_grants(guarded: Guarded) -> None:
    assert [role.roleName for role in guarded.call("rose", "list_roles", "rose", USER)] == ["r", "public"]
    assert guarded.call("rose", "list_privileges", "r", ROLE, on_table("d", "t")) == ()
    assert guarded.call("rose", "get_privilege_set", on_table("d", "t"), "rose", ()) is not None
    request = GetRoleGrantsForPrincipalRequest(principal_name="rose", principal_type=USER)
    assert not allowed(guarded, "alice", "get_role_grants_for_principal", request)
    assert not allowed(guarded, "alice", "list_privileges", "rose", USER, HiveObjectRef())
    assert not allowed(guarded, "alice", "list_privileges", None, USER, on_table("d", "t"))
    assert allowed(guarded, "tom", "list_privileges", None, USER, on_table("d", "t"))


# --- all methods ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_decision_whatever_its_arguments(empty_metastore: Guarded, name: str) -> None:
    """Methods that need the admin role are refused, and nothing fails inside the gate."""
    for user in ("alice", "root", None):
        try:
            empty_metastore.call(user, name)
        except (MetastoreError, ApplicationError) as error:
            refused = str(error).startswith(DENIED)
        else:
            refused = False
        if METHODS[name].privileges == "admin":
            assert refused == (user != "root")
        if is_open(METHODS[name]) or user == "root":
            assert not refused


def test_a_refusal_by_a_method_without_exceptions_has_the_reason(guarded: Guarded) -> None:
    with pytest.raises(ApplicationError, match="Permission denied: user alice needs the admin role"):
        guarded.call("alice", "get_all_token_identifiers")

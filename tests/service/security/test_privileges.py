"""Privileges on objects: granted, listed, revoked; and they follow their objects."""

from typing import Any

import pytest

from metastored.errors import MetaException
from metastored.wire.generated.common import (
    FieldSchema,
    PrincipalPrivilegeSet,
    PrincipalType,
    PrivilegeGrantInfo,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import GetPartitionsPsWithAuthRequest, Partition
from metastored.wire.generated.roles import (
    GrantRevokePrivilegeRequest,
    GrantRevokeType,
    HiveObjectPrivilege,
    HiveObjectRef,
    HiveObjectType,
    PrivilegeBag,
    Role,
)
from metastored.wire.structs import replace
from tests.support.metastore import Metastore

USER, ROLE, GROUP = PrincipalType.USER, PrincipalType.ROLE, PrincipalType.GROUP
DB = HiveObjectRef(objectType=HiveObjectType.DATABASE, dbName="d")
T = HiveObjectRef(objectType=HiveObjectType.TABLE, dbName="d", objectName="t")
P = HiveObjectRef(objectType=HiveObjectType.PARTITION, dbName="d", objectName="t", partValues=("1",))
C = HiveObjectRef(objectType=HiveObjectType.COLUMN, dbName="d", objectName="t", columnName="a")
PC = replace(C, partValues=("1",))
EVERYTHING = HiveObjectRef(objectType=HiveObjectType.GLOBAL)
CONNECTOR = HiveObjectRef(objectType=HiveObjectType.DATACONNECTOR, objectName="dc")
OBJECTS = {"global": EVERYTHING, "database": DB, "table": T, "partition": P, "column": C, "of a partition": PC}


def table(name: str = "t", **other: Any) -> Table:
    columns = (FieldSchema(name="a", type="int"),)
    return Table(
        tableName=name,
        dbName="d",
        owner="o",
        sd=StorageDescriptor(cols=columns, serdeInfo=SerDeInfo()),
        partitionKeys=(FieldSchema(name="p", type="string"),),
        tableType="MANAGED_TABLE",
        **other,
    )


@pytest.fixture
def home(metastore: Metastore) -> Metastore:
    """A metastore with the table d.t and its partition p=1."""
    metastore.call("create_database", Database(name="d", ownerName="o"))
    metastore.call("create_table", table())
    metastore.call("add_partition", Partition(values=("1",), dbName="d", tableName="t", sd=table().sd))
    return metastore


def privilege(
    on: HiveObjectRef, word: str = "SELECT", to: str = "u1", kind: int = USER, *, option: bool = False, by: str = "g"
) -> HiveObjectPrivilege:
    info = PrivilegeGrantInfo(privilege=word, grantor=by, grantorType=USER, grantOption=option)
    return HiveObjectPrivilege(hiveObject=on, principalName=to, principalType=kind, grantInfo=info)


def bag(*items: HiveObjectPrivilege) -> PrivilegeBag:
    return PrivilegeBag(privileges=items)


def words(metastore: Metastore, on: HiveObjectRef, of: str | None = "u1", kind: int = USER) -> list[str]:
    return [item.grantInfo.privilege for item in metastore.call("list_privileges", of, kind, on)]


@pytest.mark.parametrize("name", OBJECTS)
def test_a_privilege_is_granted_and_revoked_on_exactly_its_object(home: Metastore, name: str) -> None:
    assert home.call("grant_privileges", bag(privilege(OBJECTS[name]))) is True
    for other, ref in OBJECTS.items():
        assert words(home, ref) == (["SELECT"] if other == name else []), other
    assert home.call("revoke_privileges", bag(privilege(OBJECTS[name]))) is True
    assert words(home, OBJECTS[name]) == []


def test_a_connector_is_identified_by_its_name(home: Metastore) -> None:
    home.call("grant_privileges", bag(privilege(CONNECTOR, "ALL")))
    (result,) = home.call("list_privileges", "u1", USER, CONNECTOR)
    assert result.hiveObject == CONNECTOR
    with pytest.raises(MetaException, match="No dataconnector grant found for privileges X on data connector dc"):
        home.call("revoke_privileges", bag(privilege(CONNECTOR, "X")))


def test_a_grant_is_listed_as_it_was_made(home: Metastore) -> None:
    home.call("grant_privileges", bag(privilege(T, option=True)))
    (result,) = home.call("list_privileges", "u1", USER, T)
    assert result == HiveObjectPrivilege(
        hiveObject=replace(T, catName="hive"),
        principalName="u1",
        principalType=USER,
        grantInfo=PrivilegeGrantInfo(
            privilege="SELECT", createTime=int(home.clock.now), grantor="g", grantorType=USER, grantOption=True
        ),
    )


def test_several_privileges_can_be_in_one_word(home: Metastore) -> None:
    home.call("grant_privileges", bag(privilege(T, "SELECT,INSERT")))
    assert words(home, T) == ["SELECT", "INSERT"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("global", "SELECT is already granted by g"),
        ("database", "SELECT is already granted on database d by g"),
        ("table", r"SELECT is already granted on table \[d,t\] by g"),
        ("partition", r"SELECT is already granted on partition \[d,t,p=1\] by g"),
        ("column", r"SELECT is already granted on column a \[d,t\] by g"),
        ("of a partition", r"SELECT is already granted on column a \[d,t,p=1\] by g"),
    ],
)
def test_the_same_grantor_grants_once(home: Metastore, name: str, text: str) -> None:
    home.call("grant_privileges", bag(privilege(OBJECTS[name])))
    with pytest.raises(MetaException, match=text):
        home.call("grant_privileges", bag(privilege(OBJECTS[name], "INSERT"), privilege(OBJECTS[name])))
    assert words(home, OBJECTS[name]) == ["SELECT"]
    home.call("grant_privileges", bag(privilege(OBJECTS[name], by="another")))
    assert words(home, OBJECTS[name]) == ["SELECT", "SELECT"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("global", "No user grant found for privileges SELECT"),
        ("database", "No database grant found for privileges SELECT on database d"),
        ("table", r"No grant \(SELECT\) found  on table t, database is d"),
        ("partition", r"No grant \(SELECT\) found  on table t, partition is p=1, database is d"),
        ("column", r"No grant \(SELECT\) found  on table t, column name = a, database is d"),
        ("of a partition", r"No grant \(SELECT\) found  on table t, partition is p=1, column name = a, database is d"),
    ],
)
def test_a_privilege_that_was_not_granted_is_not_revoked(home: Metastore, name: str, text: str) -> None:
    with pytest.raises(MetaException, match=text):
        home.call("revoke_privileges", bag(privilege(OBJECTS[name])))


def test_only_the_grant_option_is_revoked_on_request(home: Metastore) -> None:
    home.call("grant_privileges", bag(privilege(T, option=True)))
    request = GrantRevokePrivilegeRequest(
        requestType=GrantRevokeType.REVOKE, privileges=bag(privilege(T)), revokeGrantOption=True
    )
    assert home.call("grant_revoke_privileges", request).success is True
    (result,) = home.call("list_privileges", "u1", USER, T)
    assert result.grantInfo.grantOption is False
    with pytest.raises(MetaException, match="User u1 does not have grant option with privilege SELECT"):
        home.call("grant_revoke_privileges", request)


def test_nothing_is_granted_to_a_missing_role(home: Metastore) -> None:
    with pytest.raises(MetaException, match="NoSuchObjectException Role zz does not exist"):
        home.call("grant_privileges", bag(privilege(DB), privilege(T, to="zz", kind=ROLE)))
    assert words(home, DB) == []


def test_a_grant_on_a_missing_table_is_passed_over(home: Metastore) -> None:
    assert home.call("grant_privileges", bag(privilege(replace(T, objectName="nope")))) is True
    assert home.call("list_privileges", "u1", USER, HiveObjectRef()) == ()


def test_a_missing_database_is_named(home: Metastore) -> None:
    with pytest.raises(MetaException, match=r"NoSuchObjectException There is no database hive\.nope"):
        home.call("grant_privileges", bag(privilege(replace(DB, dbName="nope"))))


def test_the_role_admin_may_everything_from_the_start(metastore: Metastore) -> None:
    (result,) = metastore.call("list_privileges", None, USER, EVERYTHING)
    assert (result.principalName, result.grantInfo.privilege, result.grantInfo.grantOption) == ("admin", "All", True)


def test_all_grants_of_a_principal_are_listed_by_kind(home: Metastore) -> None:
    for ref in (PC, C, P, T, DB, EVERYTHING):
        home.call("grant_privileges", bag(privilege(ref)))
    result = home.call("list_privileges", "u1", USER, HiveObjectRef())
    assert [item.hiveObject.objectType for item in result] == [1, 2, 3, 4, 5, 5]
    assert [item.hiveObject.partValues for item in result] == [None, None, None, ("1",), None, ("1",)]


def test_everybodys_grants_on_an_object_are_listed(home: Metastore) -> None:
    home.call("grant_privileges", bag(privilege(T), privilege(T, to="u2"), privilege(T, to="g1", kind=GROUP)))
    result = home.call("list_privileges", None, USER, T)
    assert [item.principalName for item in result] == ["u1", "u2", "g1"]


def test_a_privilege_set_has_the_user_the_groups_and_all_roles(home: Metastore) -> None:
    home.call("create_role", Role(roleName="inner"))
    home.call("create_role", Role(roleName="outer"))
    home.call("grant_role", "inner", "u1", USER, "g", USER, False)
    home.call("grant_role", "outer", "inner", ROLE, "g", USER, False)
    home.call("grant_privileges", bag(privilege(T, "INSERT", "outer", ROLE), privilege(T, "SELECT", "g1", GROUP)))
    result = home.call("get_privilege_set", T, "u1", ("g1", "g2"))
    shown = {
        kind: {name: [info.privilege for info in infos] for name, infos in privileges.items()}
        for kind, privileges in zip(("user", "group", "role"), result, strict=True)
    }
    assert shown == {
        "user": {"u1": []},
        "group": {"g1": ["SELECT"], "g2": []},
        "role": {"inner": [], "outer": ["INSERT"], "public": []},
    }


def test_the_global_privilege_set_names_only_principals_with_grants(home: Metastore) -> None:
    assert home.call("get_privilege_set", EVERYTHING, "u1", ("g1",)) == PrincipalPrivilegeSet(groupPrivileges={})
    home.call("grant_privileges", bag(privilege(EVERYTHING, "CREATE")))
    result = home.call("get_privilege_set", EVERYTHING, "u1", ())
    assert list(result.userPrivileges) == ["u1"]


def test_a_partition_is_named_by_as_many_values_as_there_are_keys(home: Metastore) -> None:
    with pytest.raises(MetaException, match="Invalid partition key & values"):
        home.call("get_privilege_set", replace(P, partValues=("1", "2")), "u1", ())


def test_grants_follow_a_renamed_table(home: Metastore) -> None:
    home.call("grant_privileges", bag(privilege(T)))
    result = home.call("get_table", "d", "t")
    home.call("alter_table", "d", "t", replace(result, tableName="other"))
    assert words(home, replace(T, objectName="other")) == ["SELECT"]
    assert words(home, T) == []


def test_grants_follow_a_renamed_partition(home: Metastore) -> None:
    home.call("grant_privileges", bag(privilege(P)))
    result = home.call("get_partition", "d", "t", ("1",))
    home.call("rename_partition", "d", "t", ("1",), replace(result, values=("2",)))
    assert words(home, replace(P, partValues=("2",))) == ["SELECT"]


def test_dropping_an_object_drops_its_grants(home: Metastore) -> None:
    for ref in (DB, T, P, C, PC, EVERYTHING):
        home.call("grant_privileges", bag(privilege(ref)))
    home.call("drop_partition", "d", "t", ("1",), True)
    assert [item.hiveObject.objectType for item in home.call("list_privileges", "u1", USER, HiveObjectRef())] == [
        1,
        2,
        3,
        5,
    ]
    home.call("drop_table", "d", "t", True)
    home.call("create_table", table())
    assert words(home, T) == []
    home.call("drop_database", "d", True, True)
    assert [item.hiveObject.objectType for item in home.call("list_privileges", "u1", USER, HiveObjectRef())] == [1]


def test_dropping_a_role_drops_its_grants(home: Metastore) -> None:
    home.call("create_role", Role(roleName="r1"))
    home.call("grant_privileges", bag(privilege(T, to="r1", kind=ROLE)))
    home.call("drop_role", "r1")
    home.call("create_role", Role(roleName="r1"))
    assert words(home, T, "r1", ROLE) == []


def test_a_table_is_created_with_its_privileges(home: Metastore) -> None:
    info = PrivilegeGrantInfo(privilege="SELECT", createTime=-1, grantor="o", grantorType=USER, grantOption=True)
    home.call("create_table", table("t2", privileges=PrincipalPrivilegeSet({"o": (info,)}, {}, {"public": (info,)})))
    ref = replace(T, objectName="t2")
    assert words(home, ref, "o") == ["SELECT"]
    (result,) = home.call("list_privileges", "public", ROLE, ref)
    assert (result.grantInfo.createTime, result.authorizer) == (int(home.clock.now), "SQL")
    assert home.call("get_table", "d", "t2").privileges is None


def test_a_refresh_leaves_exactly_the_grants_it_names(home: Metastore) -> None:
    keep, new = replace(privilege(T), authorizer="A"), replace(privilege(T, "INSERT", "u2"), authorizer="A")
    gone = replace(privilege(T, "DELETE"), authorizer="A")
    others = privilege(T, "UPDATE")
    home.call("grant_privileges", bag(keep, gone, others))
    kept = home.call("list_privileges", None, USER, T)[0]
    home.clock.forward(100)
    request = GrantRevokePrivilegeRequest(requestType=GrantRevokeType.GRANT, privileges=bag(keep, new))
    assert home.call("refresh_privileges", T, "A", request).success is True
    result = home.call("list_privileges", None, USER, T)
    assert sorted(item.grantInfo.privilege for item in result) == ["INSERT", "SELECT", "UPDATE"]
    assert kept in result


def test_a_partition_is_not_refreshed(home: Metastore) -> None:
    with pytest.raises(MetaException, match="Unexpected object type PARTITION"):
        home.call("refresh_privileges", P, "A", GrantRevokePrivilegeRequest(privileges=bag()))


def test_a_privilege_without_a_name_is_refused(home: Metastore) -> None:
    nameless = replace(privilege(T), grantInfo=None)
    with pytest.raises(MetaException, match="a privilege is missing: grantInfo must name one, such as SELECT"):
        home.call("grant_privileges", bag(privilege(T), nameless))
    assert words(home, T) == []


# --- grants by partition ------------------------------------------------------------------------------------------


def by_partition(metastore: Metastore, value: str = "TRUE") -> None:
    """The table d.bp, on which u1 and a column's g1 have something, and its new partitions p=1 and p=2."""
    metastore.call("create_table", table("bp", parameters={"PARTITION_LEVEL_PRIVILEGE": value}))
    on, column = replace(T, objectName="bp"), replace(C, objectName="bp")
    metastore.call("grant_privileges", bag(privilege(on, "SELECT,DROP"), privilege(column, to="g1", kind=GROUP)))
    parts = [Partition(values=(name,), dbName="d", tableName="bp", sd=table().sd) for name in ("1", "2")]
    metastore.call("add_partitions", tuple(parts))


@pytest.mark.parametrize("name", ["1", "2"])
def test_a_new_partition_gets_the_grants_of_its_table(home: Metastore, name: str) -> None:
    by_partition(home, "true")
    on = replace(P, objectName="bp", partValues=(name,))
    assert sorted(words(home, on)) == ["DROP", "SELECT"]
    assert words(home, replace(PC, objectName="bp", partValues=(name,)), "g1", GROUP) == ["SELECT"]
    (first, _) = home.call("list_privileges", "u1", USER, on)
    assert first.grantInfo.createTime == int(home.clock.now)


def test_only_tables_with_the_parameter_have_grants_by_partition(home: Metastore) -> None:
    by_partition(home, "yes")
    assert words(home, replace(P, objectName="bp")) == []
    assert home.call("get_partition_with_auth", "d", "bp", ("1",), "u1", ()).privileges is None


def test_later_grants_are_not_copied(home: Metastore) -> None:
    by_partition(home)
    home.call("grant_privileges", bag(privilege(replace(T, objectName="bp"), to="late")))
    assert words(home, replace(P, objectName="bp"), "late") == []


def test_partitions_are_returned_with_the_users_privileges(home: Metastore) -> None:
    by_partition(home)
    home.call("revoke_privileges", bag(privilege(replace(P, objectName="bp"), "SELECT,DROP")))

    def listed(*parts: Partition) -> list[list[str]]:
        result = [(part.privileges.userPrivileges or {})["u1"] for part in parts if part.privileges is not None]
        return [sorted(info.privilege or "" for info in infos) for infos in result]

    both = [[], ["DROP", "SELECT"]]
    assert listed(home.call("get_partition_with_auth", "d", "bp", ("2",), "u1", ())) == both[1:]
    assert listed(*home.call("get_partitions_with_auth", "d", "bp", -1, "u1", ())) == both
    assert listed(*home.call("get_partitions_ps_with_auth", "d", "bp", ("2",), -1, "u1", ())) == both[1:]
    assert listed(*home.call("get_partitions_ps_with_auth", "d", "bp", ("2",), -1, "u1", None)) == []
    assert listed(*home.call("get_partitions", "d", "bp", -1)) == []
    request = GetPartitionsPsWithAuthRequest(dbName="d", tblName="bp", userName="u1", groupNames=())
    assert listed(*home.call("get_partitions_ps_with_auth_req", request).partitions) == both
    some = replace(request, partNames=("p=2",))
    assert listed(*home.call("get_partitions_ps_with_auth_req", some).partitions) == both[1:]

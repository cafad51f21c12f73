"""Roles: created, granted, revoked, with Hive's messages."""

import pytest

from metastored.errors import ApplicationError, MetaException
from metastored.hive.generation import Generation
from metastored.wire.generated.common import PrincipalType
from metastored.wire.generated.roles import (
    GetPrincipalsInRoleRequest,
    GetRoleGrantsForPrincipalRequest,
    GrantRevokeRoleRequest,
    GrantRevokeType,
    HiveObjectRef,
    HiveObjectType,
    Role,
)
from tests.service.conftest import Starter
from tests.support.metastore import Metastore

USER, ROLE = PrincipalType.USER, PrincipalType.ROLE
WRAPPED = "Got exception: org.apache.hadoop.hive.metastore.api."


def make(metastore: Metastore, *names: str) -> None:
    for name in names:
        assert metastore.call("create_role", Role(roleName=name, ownerName="o")) is True


def grant(metastore: Metastore, role: str, to: str, kind: int = USER, option: bool = False) -> None:
    assert metastore.call("grant_role", role, to, kind, "g", USER, option) is True


def roles_of(metastore: Metastore, name: str, kind: int = USER) -> list[str]:
    return [role.roleName for role in metastore.call("list_roles", name, kind)]


def test_admin_and_public_are_there_from_the_start(metastore: Metastore) -> None:
    assert metastore.call("get_role_names") == ("admin", "public")


def test_a_role_is_listed_for_its_members_with_its_owner_and_time(metastore: Metastore) -> None:
    make(metastore, "r1")
    grant(metastore, "r1", "u1")
    now = int(metastore.clock.now)
    assert metastore.call("list_roles", "u1", USER) == (
        Role(roleName="r1", createTime=now, ownerName="o"),
        Role(roleName="public", createTime=0, ownerName="public"),
    )


def test_only_users_have_the_role_public(metastore: Metastore) -> None:
    make(metastore, "r1")
    assert roles_of(metastore, "nobody") == ["public"]
    assert roles_of(metastore, "r1", ROLE) == []


def test_a_role_that_exists_is_not_made_again(metastore: Metastore) -> None:
    make(metastore, "r1")
    with pytest.raises(MetaException, match=f"{WRAPPED}InvalidObjectException Role r1 already exists."):
        make(metastore, "r1")


def test_hive_2_3_gives_no_reason_why_a_role_is_refused(start: Starter) -> None:
    old = start(Generation.HIVE_2_3)
    make(old, "r1")
    with pytest.raises(ApplicationError, match="Internal error processing create_role"):
        make(old, "r1")


@pytest.mark.parametrize(
    ("generation", "word"), [(Generation.HIVE_2_3, "implictly"), (Generation.HIVE_3_1, "implicitly")]
)
def test_public_is_neither_created_nor_granted_nor_revoked(start: Starter, generation: Generation, word: str) -> None:
    metastore = start(generation)
    with pytest.raises(MetaException, match=f"public role {word} exists. It can't be created."):
        make(metastore, "public")
    with pytest.raises(MetaException, match=f"Since all users {word} belong to public role."):
        grant(metastore, "public", "u1")
    with pytest.raises(MetaException, match=r"public role can't be revoked."):
        metastore.call("revoke_role", "public", "u1", USER)


@pytest.mark.parametrize("name", ["admin", "public"])
def test_admin_and_public_are_never_dropped(metastore: Metastore, name: str) -> None:
    with pytest.raises(MetaException, match=r"public,admin roles can't be dropped."):
        metastore.call("drop_role", name)


def test_to_drop_a_missing_role_is_no_error(metastore: Metastore) -> None:
    assert metastore.call("drop_role", "nope") is True


def test_a_dropped_role_is_revoked_from_all_members(metastore: Metastore) -> None:
    make(metastore, "r1", "r2")
    grant(metastore, "r1", "u1")
    grant(metastore, "r2", "r1", ROLE)
    assert metastore.call("drop_role", "r1") is True
    assert roles_of(metastore, "u1") == ["public"]
    assert metastore.call("get_principals_in_role", GetPrincipalsInRoleRequest(roleName="r2")).principalGrants == ()


def test_a_missing_role_is_not_granted(metastore: Metastore) -> None:
    with pytest.raises(MetaException, match=f"{WRAPPED}NoSuchObjectException zz role can not be found."):
        grant(metastore, "zz", "u1")


def test_a_role_is_not_granted_to_a_missing_role(metastore: Metastore) -> None:
    make(metastore, "r1")
    with pytest.raises(MetaException, match=f"{WRAPPED}NoSuchObjectException Role zz does not exist"):
        grant(metastore, "r1", "zz", ROLE)


def test_a_role_is_granted_once(metastore: Metastore) -> None:
    make(metastore, "r1")
    grant(metastore, "r1", "u1")
    with pytest.raises(MetaException, match="InvalidObjectException Principal u1 already has the role r1"):
        grant(metastore, "r1", "u1")


def test_roles_do_not_contain_each_other(metastore: Metastore) -> None:
    make(metastore, "r1", "r2", "r3")
    grant(metastore, "r1", "r2", ROLE)
    grant(metastore, "r2", "r3", ROLE)
    with pytest.raises(MetaException, match="Cannot grant role r1 to r3 as r3 already belongs to the role r1"):
        grant(metastore, "r3", "r1", ROLE)
    with pytest.raises(MetaException, match="no cycles allowed"):
        grant(metastore, "r1", "r1", ROLE)


def test_members_are_listed_with_their_grantor(metastore: Metastore) -> None:
    make(metastore, "r1")
    grant(metastore, "r1", "u1", option=True)
    (result,) = metastore.call("get_principals_in_role", GetPrincipalsInRoleRequest(roleName="r1")).principalGrants
    assert (result.principalName, result.principalType, result.grantOption) == ("u1", USER, True)
    assert (result.grantTime, result.grantorName, result.grantorPrincipalType) == (int(metastore.clock.now), "g", USER)


def test_the_grants_of_a_user_end_with_public(metastore: Metastore) -> None:
    make(metastore, "r1")
    grant(metastore, "r1", "u1")
    request = GetRoleGrantsForPrincipalRequest(principal_name="u1", principal_type=USER)
    given, public = metastore.call("get_role_grants_for_principal", request).principalGrants
    assert given.roleName == "r1"
    assert (public.roleName, public.grantTime, public.grantorName) == ("public", 0, None)


def test_one_call_grants_and_revokes(metastore: Metastore) -> None:
    make(metastore, "r1")
    request = GrantRevokeRoleRequest(
        requestType=GrantRevokeType.GRANT,
        roleName="r1",
        principalName="u1",
        principalType=USER,
        grantor="g",
        grantorType=USER,
        grantOption=True,
    )
    assert metastore.call("grant_revoke_role", request).success is True
    assert roles_of(metastore, "u1") == ["r1", "public"]
    back = GrantRevokeRoleRequest(
        requestType=GrantRevokeType.REVOKE, roleName="r1", principalName="u1", principalType=USER
    )
    assert metastore.call("grant_revoke_role", back).success is True
    assert roles_of(metastore, "u1") == ["public"]


def test_the_grant_option_alone_can_be_revoked_once(metastore: Metastore) -> None:
    make(metastore, "r1")
    grant(metastore, "r1", "u1", option=True)
    request = GrantRevokeRoleRequest(
        requestType=GrantRevokeType.REVOKE, roleName="r1", principalName="u1", principalType=USER, grantOption=True
    )
    assert metastore.call("grant_revoke_role", request).success is True
    assert roles_of(metastore, "u1") == ["r1", "public"]
    with pytest.raises(MetaException, match="User u1 does not have grant option with role r1"):
        metastore.call("grant_revoke_role", request)


def test_an_unknown_kind_of_principal_is_refused_by_a_sentence(metastore: Metastore) -> None:
    make(metastore, "r1")
    with pytest.raises(MetaException, match=r"type of a principal is missing or unknown \(9\); USER is 1"):
        grant(metastore, "r1", "u1", 9)
    assert roles_of(metastore, "u1") == ["public"]


def test_admin_users_are_listed_as_members_of_admin(start: Starter) -> None:
    metastore = start(admins=frozenset({"root", "ops"}))
    assert roles_of(metastore, "root") == ["admin", "public"]
    assert roles_of(metastore, "alice") == ["public"]
    request = GetRoleGrantsForPrincipalRequest("root", USER)
    (admin, _) = metastore.call("get_role_grants_for_principal", request).principalGrants
    assert (admin.roleName, admin.grantOption, admin.grantorName, admin.grantorPrincipalType) == (
        *("admin", True, "admin"),
        ROLE,
    )
    members = metastore.call("get_principals_in_role", GetPrincipalsInRoleRequest("admin")).principalGrants
    assert [member.principalName for member in members] == ["ops", "root"]


def test_an_admin_user_with_a_grant_of_the_role_is_listed_once(start: Starter) -> None:
    metastore = start(admins=frozenset({"root"}))
    grant(metastore, "admin", "root")
    assert roles_of(metastore, "root") == ["admin", "public"]
    members = metastore.call("get_principals_in_role", GetPrincipalsInRoleRequest("admin")).principalGrants
    assert [member.principalName for member in members] == ["root"]


def test_admin_cannot_be_revoked_from_a_user_who_has_it_by_the_settings(start: Starter) -> None:
    metastore = start(admins=frozenset({"root"}))
    with pytest.raises(MetaException, match="has the role admin by the setting admin_users"):
        metastore.call("revoke_role", "admin", "root", USER)


def test_a_role_of_an_admin_user_counts_in_the_set_of_privileges(start: Starter) -> None:
    metastore = start(admins=frozenset({"root"}))
    ref = HiveObjectRef(objectType=HiveObjectType.DATABASE, dbName="default")
    assert set(metastore.call("get_privilege_set", ref, "root", ()).rolePrivileges) == {"admin", "public"}
    assert set(metastore.call("get_privilege_set", ref, "alice", ()).rolePrivileges) == {"public"}

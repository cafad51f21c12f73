"""Executes the statements about roles and privileges, as calls of the metastore under the caller's own session.

Calls that Hive ignores are errors here: a grant on a table that does not exist, a DROP of a role that does not exist,
a REVOKE of a role from somebody who does not have it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from metastored.client.statements.rights import (
    bag,
    column_reference,
    expanded,
    reference,
    shown_grants,
    shown_members,
    shown_roles,
    type_of,
)
from metastored.client.statements.values import Result, database_of, rows_of, table_of
from metastored.errors import (
    Error,
    InvalidOperationException,
    MetastoreError,
    MethodMissing,
    NoSuchObjectException,
    ObjectNotFound,
    PermissionDenied,
    TableNotFound,
)
from metastored.hive.names import normalize
from metastored.model.names import DatabaseName, TableName
from metastored.model.partitions import keys_of, values_of
from metastored.statements import rights as s
from metastored.statements.basics import GROUP, ROLE, USER, Principal
from metastored.wire.generated.common import PrincipalType
from metastored.wire.generated.connectors import GetDataConnectorRequest
from metastored.wire.generated.roles import (
    GetPrincipalsInRoleRequest,
    GetRoleGrantsForPrincipalRequest,
    GrantRevokePrivilegeRequest,
    GrantRevokeRoleRequest,
    GrantRevokeType,
    HiveObjectPrivilege,
    HiveObjectRef,
    PrivilegeBag,
    Role,
    RolePrincipalGrant,
)

if TYPE_CHECKING:
    from metastored.client._async.operations import AsyncOperations

DONE: Final = Result()
_PLAIN: Final = re.compile(r"\w+", re.ASCII)


async def execute_right(client: AsyncOperations, current: DatabaseName, statement: s.RightsStatement) -> Result:
    """Executes one statement. Raises what the metastore raises."""
    match statement:
        case s.CreateRole(name):
            await client.api.create_role(Role(name, 0, client.user))
        case s.DropRole(name, if_exists):
            if name not in await client.api.get_role_names():
                if if_exists:
                    return DONE
                raise _no_role(name)
            await client.api.drop_role(name)
        case s.SetRole(name):
            return await _set_role(client, name)
        case s.ShowRoles():
            return rows_of("role", sorted(await client.api.get_role_names()))
        case s.ShowCurrentRoles():
            return rows_of("role", await current_roles(client))
        case s.ShowRoleGrant(principal):
            return shown_roles(await role_grants(client, principal))
        case s.ShowPrincipals(name):
            return shown_members(await members(client, name))
        case s.GrantRole():
            await _grant_roles(client, statement)
        case s.RevokeRole():
            await _revoke_roles(client, statement)
        case s.Grant(privileges, _, target):
            await check_target(client, current, target)
            ref = await _reference(client, current, target)
            await _check_columns(client, current, statement)
            await client.api.grant_privileges(bag(statement, expanded(privileges, target), ref, client.user))
        case s.Revoke():
            await _revoke(client, current, statement)
        case s.ShowGrant(principal, on):
            return await _show_grant(client, current, principal, on)
    return DONE


# --- roles ----------------------------------------------------------------------------------------------------


async def role_grants(client: AsyncOperations, principal: Principal) -> tuple[RolePrincipalGrant, ...]:
    """The roles that a principal was granted; a user has `public` too."""
    request = GetRoleGrantsForPrincipalRequest(principal.name, type_of(principal))
    return (await client.api.get_role_grants_for_principal(request)).principalGrants or ()


async def members(client: AsyncOperations, role: str) -> tuple[RolePrincipalGrant, ...]:
    """The principals who were granted a role. Raises NoSuchObjectException."""
    grants = (await client.api.get_principals_in_role(GetPrincipalsInRoleRequest(role))).principalGrants or ()
    if not grants and role not in await client.api.get_role_names():
        raise _no_role(role)
    return grants


async def current_roles(client: AsyncOperations) -> list[str]:
    """All roles of the client's user: direct ones, those of its groups, and those through other roles. Sorted."""
    waiting = [Principal(name, GROUP) for name in client.groups]
    if client.user is not None:
        waiting.append(Principal(client.user, USER))
    roles = {"public"}
    while waiting:
        for grant in await role_grants(client, waiting.pop()):
            if grant.roleName is not None and grant.roleName not in roles:
                roles.add(grant.roleName)
                waiting.append(Principal(grant.roleName, ROLE))
    return sorted(roles)


async def _set_role(client: AsyncOperations, role: str) -> Result:
    """The metastore has no session roles: a role that the user has is in effect already."""
    always = "a session of the metastore always has all roles of its user"
    if role == "none":
        raise InvalidOperationException(f"SET ROLE NONE is not possible: {always}; REVOKE takes a role away")
    if role not in ("all", *(roles := await current_roles(client))):
        raise InvalidOperationException(
            f"{client.user or 'the caller'} does not have the role {role}; SHOW CURRENT ROLES lists {', '.join(roles)}"
        )
    return rows_of("note", [f"nothing is changed: {always}"])


async def _grant_roles(client: AsyncOperations, statement: s.GrantRole) -> None:
    """One call for each role and principal; if one fails, those before it are revoked again."""
    done: list[tuple[str, Principal]] = []
    try:
        for role in dict.fromkeys(statement.roles):
            for principal in dict.fromkeys(statement.principals):
                member = (role, principal.name, type_of(principal))
                await client.api.grant_role(*member, client.user, PrincipalType.USER, statement.option)
                done.append((role, principal))
    except Error:
        for role, principal in done:
            await client.api.revoke_role(role, principal.name, type_of(principal))
        raise


async def _revoke_roles(client: AsyncOperations, statement: s.RevokeRole) -> None:
    pairs = [(role, each) for role in dict.fromkeys(statement.roles) for each in dict.fromkeys(statement.principals)]
    for principal in dict.fromkeys(statement.principals):
        try:
            granted = {each.roleName for each in await role_grants(client, principal)}
        except PermissionDenied:
            continue  # Who may revoke a role need not be allowed to list the roles of others.
        missing = [role for role in statement.roles if role not in granted]
        if missing:
            raise InvalidOperationException(f"{principal} was not granted the role {missing[0]}")
    for role, principal in pairs:
        member = (role, principal.name, type_of(principal))
        if statement.option:
            request = GrantRevokeRoleRequest(GrantRevokeType.REVOKE, *member, grantOption=True)
            await client.api.grant_revoke_role(request)
        else:
            await client.api.revoke_role(*member)


def _no_role(name: str) -> NoSuchObjectException:
    return ObjectNotFound("role", name, f"there is no role {name}; SHOW ROLES lists the roles")


# --- privileges -----------------------------------------------------------------------------------------------


async def check_target(client: AsyncOperations, current: DatabaseName, target: s.Target) -> None:
    """Raises NoSuchObjectException if an object does not exist. It needs no privilege on the object."""
    if target.kind == s.DATABASE:
        await client.api.get_database(database_of(target.name, current).field)
    elif target.kind == s.TABLE:
        table = table_of(target.name, current)
        pattern = table.table if _PLAIN.fullmatch(table.table) else "*"
        names = await client.api.get_tables(table.database_field, pattern)
        if normalize(table.table) not in {normalize(name) for name in names}:
            await client.api.get_database(table.database_field)
            raise TableNotFound("table", str(table))
    elif target.kind == s.CONNECTOR:
        try:
            await client.api.get_dataconnector_req(GetDataConnectorRequest(target.name[0]))
        except MethodMissing as error:
            raise InvalidOperationException(f"this metastore has no connectors: {error}") from None


async def _reference(client: AsyncOperations, current: DatabaseName, target: s.Target) -> HiveObjectRef:
    """The object of a grant; a partition has to exist."""
    if not target.partition:
        return reference(target, current)
    name = table_of(target.name, current)
    values = values_of(str(name), keys_of(await client.fresh_table(name)), dict(target.partition))
    await client.partition(name, values)
    return reference(target, current, values)


async def _check_columns(client: AsyncOperations, current: DatabaseName, statement: s.Grant) -> None:
    wanted = [column for each in statement.privileges for column in each.columns]
    if not wanted:
        return
    name = table_of(statement.target.name, current)
    table = await client.fresh_table(name)
    known = [each.name or "" for each in (*((table.sd and table.sd.cols) or ()), *(table.partitionKeys or ()))]
    for column in wanted:
        if normalize(column) not in known:
            raise InvalidOperationException(f"{name} has no column {column}; its columns are {', '.join(known)}")


async def _revoke(client: AsyncOperations, current: DatabaseName, statement: s.Revoke) -> None:
    target = statement.target
    await check_target(client, current, target)
    ref = await _reference(client, current, target)
    items: list[HiveObjectPrivilege] = []
    for each in statement.privileges:
        if each.word != s.ALL or each.columns:
            items += bag(statement, expanded((each,), target), ref, client.user).privileges or ()
            continue
        for principal in statement.principals:
            granted = await _listed(client, principal, ref)
            if not granted:
                raise InvalidOperationException(f"{principal} has no privilege on this object that could be revoked")
            # A word is there once for each grantor, and each item of a request removes one grant.
            words = [s.Privilege(grant.grantInfo.privilege or "") for grant in granted if grant.grantInfo is not None]
            items += bag(s.Revoke((), (principal,), target), words, ref, client.user).privileges or ()
    request = PrivilegeBag(tuple(items))
    if statement.option:
        await client.api.grant_revoke_privileges(GrantRevokePrivilegeRequest(GrantRevokeType.REVOKE, request, True))
    else:
        await client.api.revoke_privileges(request)


async def _listed(
    client: AsyncOperations, principal: Principal | None, ref: HiveObjectRef | None
) -> tuple[HiveObjectPrivilege, ...]:
    if principal is None:
        return tuple(await client.api.list_privileges(None, PrincipalType.USER, ref))
    return tuple(await client.api.list_privileges(principal.name, type_of(principal), ref))


async def grants_on(
    client: AsyncOperations, current: DatabaseName, target: s.Target
) -> tuple[HiveObjectPrivilege, ...]:
    """All grants on one object: of a table, without those of its columns and partitions."""
    return await _listed(client, None, reference(target, current))


async def _show_grant(
    client: AsyncOperations, current: DatabaseName, principal: Principal | None, target: s.Target | None
) -> Result:
    if target is None:
        grants = await _listed(client, principal, None)
        return shown_grants(grants, {})
    await check_target(client, current, target)
    ref = await _reference(client, current, target)
    grants = await _listed(client, principal, ref)
    keys: dict[TableName, tuple[str, ...]] = {}
    if target.kind == s.TABLE:
        name = table_of(target.name, current)
        try:
            table = await client.fresh_table(name)
        except PermissionDenied:
            return shown_grants(grants, keys)  # The grants may be read, and the table may not.
        keys[TableName("", ref.dbName or "", ref.objectName or "")] = keys_of(table)
        with suppress(MetastoreError):  # Apache's metastore lists the grants of single columns only.
            grants += await _listed(client, principal, column_reference(ref, None))
    return shown_grants(grants, keys)

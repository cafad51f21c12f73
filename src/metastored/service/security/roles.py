"""Roles and their members. The privileges of a role are in `privileges.py`; nothing is enforced here.

Every user has the role public without a grant; public and admin exist from the first start and cannot be dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from metastored.errors import InvalidObjectException, MetaException, MetastoreError, NoSuchObjectException
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.security import grants, role_grants, roles
from metastored.store.security.role_grants import RoleGrantRow
from metastored.store.security.roles import RoleRow
from metastored.wire.generated.common import PrincipalType
from metastored.wire.generated.roles import (
    GetPrincipalsInRoleRequest,
    GetPrincipalsInRoleResponse,
    GetRoleGrantsForPrincipalRequest,
    GetRoleGrantsForPrincipalResponse,
    GrantRevokeRoleRequest,
    GrantRevokeRoleResponse,
    GrantRevokeType,
    Role,
    RolePrincipalGrant,
)

ADMIN: Final = "admin"
PUBLIC: Final = "public"


def wrapped(ctx: Context, error: MetastoreError) -> MetastoreError:
    """An error that these methods do not declare: since 3.1 it is wrapped in a MetaException.

    Hive 2.3 fails with an internal error instead, and the client never gets the reason; here it gets the same
    MetaException.
    """
    if not ctx.rules.explains_grants:
        return error
    return MetaException(f"Got exception: org.apache.hadoop.hive.metastore.api.{type(error).__name__} {error.message}")


def _implicitly(ctx: Context) -> str:
    return "implicitly" if ctx.rules.explains_grants else "implictly"


def _given(name: str | None, what: str) -> str:
    if name is None:
        raise MetaException(f"the name of a {what} is missing: the request names none")
    return name


def _type(principal_type: int | None) -> int:
    if principal_type not in PrincipalType.NAMES:
        known = ", ".join(f"{name} is {number}" for number, name in PrincipalType.NAMES.items())
        raise MetaException(f"the type of a principal is missing or unknown ({principal_type}); {known}")
    return principal_type


def _existing(ctx: Context, tx: Transaction, name: str) -> RoleRow:
    row = roles.find(tx, name)
    if row is None:
        raise wrapped(ctx, NoSuchObjectException(f"{name} role can not be found."))
    return row


def check_role(ctx: Context, tx: Transaction, name: str) -> None:
    """Raises an error if the grantee is a role that does not exist."""
    if roles.find(tx, name) is None:
        raise wrapped(ctx, NoSuchObjectException(f"Role {name} does not exist"))


# --- roles ------------------------------------------------------------------------------------------------------


@method
def get_role_names(ctx: Context) -> tuple[str, ...]:
    return tuple(roles.names(ctx.reader()))


@method
def create_role(ctx: Context, role: Role | None) -> bool:
    name = _given(role.roleName if role is not None else None, "role")
    owner = role.ownerName if role is not None else None
    if name == PUBLIC:
        raise MetaException(f"public role {_implicitly(ctx)} exists. It can't be created.")
    taken = wrapped(ctx, InvalidObjectException(f"Role {name} already exists."))

    def create(tx: Transaction) -> None:
        if roles.find(tx, name) is not None:
            raise taken
        roles.insert(tx, name, owner, ctx.now())

    try:
        ctx.database.run(create)
    except ConstraintViolated:
        raise taken from None
    return True


@method
def drop_role(ctx: Context, role_name: str | None) -> bool:
    name = _given(role_name, "role")
    if name in (ADMIN, PUBLIC):
        raise MetaException("public,admin roles can't be dropped.")

    def drop(tx: Transaction) -> None:
        role_grants.lock(tx)
        role_grants.delete_member(tx, name, PrincipalType.ROLE)
        grants.delete_principal(tx, name, PrincipalType.ROLE)
        roles.delete(tx, name)

    ctx.database.run(drop)
    return True


# --- members ----------------------------------------------------------------------------------------------------


@method
def grant_role(
    ctx: Context,
    role_name: str | None,
    principal_name: str | None,
    principal_type: int | None,
    grantor: str | None,
    grantorType: int | None,
    grant_option: bool | None,
) -> bool:
    role, principal = _given(role_name, "role"), _given(principal_name, "principal")
    kind, grantor_kind = _type(principal_type), _type(grantorType)
    if role == PUBLIC:
        raise MetaException(
            f"No user can be added to public. Since all users {_implicitly(ctx)} belong to public role."
        )

    def grant(tx: Transaction) -> None:
        role_grants.lock(tx)
        _existing(ctx, tx, role)
        if kind == PrincipalType.ROLE and (
            principal == role or principal in role_grants.hierarchy(tx, [(role, PrincipalType.ROLE)])
        ):
            raise MetaException(
                f"Cannot grant role {principal} to {role} as {role} already belongs to the role {principal}. "
                "(no cycles allowed)"
            )
        if role_grants.find(tx, role, principal, kind) is not None:
            raise wrapped(ctx, InvalidObjectException(f"Principal {principal} already has the role {role}"))
        if kind == PrincipalType.ROLE:
            check_role(ctx, tx, principal)
        role_grants.insert(
            tx, RoleGrantRow(role, principal, kind, bool(grant_option), ctx.now(), grantor, grantor_kind)
        )

    ctx.database.run(grant)
    return True


@method
def revoke_role(ctx: Context, role_name: str | None, principal_name: str | None, principal_type: int | None) -> bool:
    return _revoke(ctx, role_name, principal_name, principal_type, only_grant_option=False)


def _revoke(
    ctx: Context,
    role_name: str | None,
    principal_name: str | None,
    principal_type: int | None,
    *,
    only_grant_option: bool,
) -> bool:
    role, principal, kind = _given(role_name, "role"), _given(principal_name, "principal"), _type(principal_type)
    if role == PUBLIC:
        raise MetaException("public role can't be revoked.")

    def revoke(tx: Transaction) -> None:
        role_grants.lock(tx)
        _existing(ctx, tx, role)
        if role == ADMIN and kind == PrincipalType.USER and principal in ctx.service.admins:
            raise MetaException(f"{principal} has the role admin by the setting admin_users: take the name out of it")
        grant = role_grants.find(tx, role, principal, kind)
        if only_grant_option:
            if grant is None or not grant.grant_option:
                raise MetaException(f"User {principal} does not have grant option with role {role}")
            role_grants.end_grant_option(tx, role, principal, kind)
        else:
            role_grants.delete(tx, role, principal, kind)

    ctx.database.run(revoke)
    return True


@method
def grant_revoke_role(ctx: Context, request: GrantRevokeRoleRequest | None) -> GrantRevokeRoleResponse:
    if request is None or request.requestType not in GrantRevokeType.NAMES:
        raise MetaException(f"Unknown request type {request.requestType if request is not None else None}")
    member = (request.roleName, request.principalName, request.principalType)
    if request.requestType == GrantRevokeType.GRANT:
        done = grant_role(ctx, *member, request.grantor, request.grantorType, request.grantOption)
    else:
        done = _revoke(ctx, *member, only_grant_option=bool(request.grantOption))
    return GrantRevokeRoleResponse(success=done)


@method
def list_roles(ctx: Context, principal_name: str | None, principal_type: int | None) -> tuple[Role, ...]:
    with ctx.reading() as tx:
        names = [grant.roleName for grant in _roles_of(ctx, tx, principal_name, principal_type)]
        role_rows = [RoleRow(PUBLIC, PUBLIC, 0) if name == PUBLIC else _existing(ctx, tx, name or "") for name in names]
    return tuple(Role(roleName=row.name, createTime=row.create_time, ownerName=row.owner) for row in role_rows)


@method
def get_role_grants_for_principal(
    ctx: Context, request: GetRoleGrantsForPrincipalRequest
) -> GetRoleGrantsForPrincipalResponse:
    with ctx.reading() as tx:
        role_rows = _roles_of(ctx, tx, request.principal_name, request.principal_type)
    return GetRoleGrantsForPrincipalResponse(principalGrants=role_rows)


@method
def get_principals_in_role(ctx: Context, request: GetPrincipalsInRoleRequest) -> GetPrincipalsInRoleResponse:
    grant_rows = tuple(map(_granted, role_grants.of_role(ctx.reader(), request.roleName or "")))
    if request.roleName == ADMIN:
        members = {member.principalName for member in grant_rows if member.principalType == PrincipalType.USER}
        grant_rows += tuple(_configured(ctx, user) for user in sorted(ctx.service.admins - members))
    return GetPrincipalsInRoleResponse(principalGrants=grant_rows)


def _roles_of(ctx: Context, tx: Transaction, principal: str | None, kind: int | None) -> tuple[RolePrincipalGrant, ...]:
    """The roles of a principal, by grants or by the settings, and public, which every user has."""
    grant_rows = [] if principal is None or kind is None else role_grants.of_principal(tx, principal, kind)
    granted = tuple(map(_granted, grant_rows))
    if kind != PrincipalType.USER:
        return granted
    if principal in ctx.service.admins and all(grant.roleName != ADMIN for grant in granted):
        granted += (_configured(ctx, principal),)
    public = RolePrincipalGrant(
        roleName=PUBLIC, principalName=principal, principalType=kind, grantOption=False, grantTime=0
    )
    return (*granted, public)


def _configured(ctx: Context, user: str) -> RolePrincipalGrant:
    """The membership in admin that a user has by the settings, as Hive grants it at each start."""
    return RolePrincipalGrant(
        roleName=ADMIN,
        principalName=user,
        principalType=PrincipalType.USER,
        grantOption=True,
        grantTime=int(ctx.service.started),
        grantorName=ADMIN,
        grantorPrincipalType=PrincipalType.ROLE,
    )


def roles_of(tx: Transaction, user: str | None, groups: Iterable[str]) -> dict[str, bool]:
    """Every role of a user and their groups, directly or through other roles, and whether they may grant it."""
    principals = [(group, PrincipalType.GROUP) for group in groups]
    if user is None:
        return role_grants.hierarchy(tx, principals)
    principals += [(user, PrincipalType.USER), (PUBLIC, PrincipalType.ROLE)]
    return {**role_grants.hierarchy(tx, principals), PUBLIC: False}


def is_admin(ctx: Context, tx: Transaction) -> bool:
    """Whether the caller is in `admin_users` or has the role admin, whether `authorization` is on or not."""
    return ctx.user in ctx.service.admins or ADMIN in roles_of(tx, ctx.user or "", ctx.session.groups)


def _granted(row: RoleGrantRow) -> RolePrincipalGrant:
    return RolePrincipalGrant(
        roleName=row.role,
        principalName=row.principal,
        principalType=row.principal_type,
        grantOption=row.grant_option,
        grantTime=row.create_time,
        grantorName=row.grantor,
        grantorPrincipalType=row.grantor_type,
    )

"""The rows of role memberships. Members are users, groups and other roles."""

from collections.abc import Iterable
from typing import NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound
from metastored.store.engine.transaction import Transaction

ROLE = 2
"""The type of a principal that is itself a role; the numbers are those of Hive's PrincipalType."""


class RoleGrantRow(NamedTuple):
    role: str
    principal: str
    principal_type: int
    grant_option: bool
    create_time: int
    grantor: str | None
    grantor_type: int | None


_g = schema.role_grants.c
_COLUMNS = sa.select(
    _g.role, _g.principal, _g.principal_type, _g.grant_option, _g.create_time, _g.grantor, _g.grantor_type
)
_MEMBER = sa.and_(_g.principal == sa.bindparam("principal"), _g.principal_type == sa.bindparam("principal_type"))
_THIS = sa.and_(_g.role == sa.bindparam("role"), _MEMBER)

_FIND = Statement(_COLUMNS.where(_THIS))
_OF_PRINCIPAL = Statement(_COLUMNS.where(_MEMBER).order_by(_g.create_time, _g.role))
_OF_ROLE = Statement(
    _COLUMNS.where(_g.role == sa.bindparam("role")).order_by(_g.create_time, _g.principal, _g.principal_type)
)
_INSERT = Statement(sa.insert(schema.role_grants).values(bound(*RoleGrantRow._fields)))
_END_GRANT_OPTION = Statement(sa.update(schema.role_grants).values(grant_option=sa.false()).where(_THIS))
_DELETE = Statement(sa.delete(schema.role_grants).where(_THIS))
_DELETE_MEMBER = Statement(sa.delete(schema.role_grants).where(_MEMBER))
_LOCK = Statement(sa.select(schema.roles.c.name).order_by(schema.roles.c.name).with_for_update())


def _row(row: tuple[object, ...]) -> RoleGrantRow:
    grant = RoleGrantRow._make(row)
    return grant._replace(grant_option=bool(grant.grant_option))


def find(tx: Transaction, role: str, principal: str, principal_type: int) -> RoleGrantRow | None:
    row = tx.one(_FIND, role=role, principal=principal, principal_type=principal_type)
    return None if row is None else _row(row)


def of_principal(tx: Transaction, principal: str, principal_type: int) -> list[RoleGrantRow]:
    """The roles that were granted to a principal directly, oldest first."""
    return [_row(row) for row in tx.all(_OF_PRINCIPAL, principal=principal, principal_type=principal_type)]


def of_role(tx: Transaction, role: str) -> list[RoleGrantRow]:
    """The members of a role, oldest first."""
    return [_row(row) for row in tx.all(_OF_ROLE, role=role)]


def hierarchy(tx: Transaction, principals: Iterable[tuple[str, int]]) -> dict[str, bool]:
    """Every role of these principals, directly or through other roles, and whether they may grant it."""
    roles: dict[str, bool] = {}
    waiting = list(principals)
    seen = set(waiting)
    while waiting:
        for grant in of_principal(tx, *waiting.pop()):
            roles[grant.role] = roles.get(grant.role, False) or grant.grant_option
            role = (grant.role, ROLE)
            if role not in seen:
                seen.add(role)
                waiting.append(role)
    return roles


def insert(tx: Transaction, grant: RoleGrantRow) -> None:
    tx.run(_INSERT, **grant._asdict())


def end_grant_option(tx: Transaction, role: str, principal: str, principal_type: int) -> None:
    tx.run(_END_GRANT_OPTION, role=role, principal=principal, principal_type=principal_type)


def delete(tx: Transaction, role: str, principal: str, principal_type: int) -> None:
    tx.run(_DELETE, role=role, principal=principal, principal_type=principal_type)


def delete_member(tx: Transaction, principal: str, principal_type: int) -> None:
    """Revokes all roles of a principal."""
    tx.run(_DELETE_MEMBER, principal=principal, principal_type=principal_type)


def lock(tx: Transaction) -> None:
    """Keeps other transactions from changing roles or grants until this one ends.

    Two grants can each be allowed alone and not together: the same one twice, or two roles each to the other. They are
    rare, so all of them wait for each other. SQLite has one write transaction at a time anyway.
    """
    if tx.dialect != "sqlite":
        tx.all(_LOCK)

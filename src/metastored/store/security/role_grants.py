"""The rows of role memberships. Members are users, groups and other roles."""

from collections.abc import Iterable
from typing import NamedTuple

from metastored.store.engine.statements import Statement, column_list, insert_into
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


_COLUMNS = column_list(*RoleGrantRow._fields)
_MEMBER = "principal = :principal AND principal_type = :principal_type"
_THIS = f"role = :role AND {_MEMBER}"

_FIND = Statement(f"SELECT {_COLUMNS} FROM role_grants WHERE {_THIS}")
_OF_PRINCIPAL = Statement(f"SELECT {_COLUMNS} FROM role_grants WHERE {_MEMBER} ORDER BY create_time, role")
_OF_ROLE = Statement(
    f"SELECT {_COLUMNS} FROM role_grants WHERE role = :role ORDER BY create_time, principal, principal_type"
)
_INSERT = Statement(insert_into("role_grants", *RoleGrantRow._fields))
_END_GRANT_OPTION = Statement(f"UPDATE role_grants SET grant_option = FALSE WHERE {_THIS}")
_DELETE = Statement(f"DELETE FROM role_grants WHERE {_THIS}")
_DELETE_MEMBER = Statement(f"DELETE FROM role_grants WHERE {_MEMBER}")
_LOCK = Statement("SELECT name FROM roles ORDER BY name FOR UPDATE")


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

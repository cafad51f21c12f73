"""The statements about roles and privileges as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from metastored.statements.basics import Pairs, Parts, Principal

SERVER: Final = "SERVER"
DATABASE: Final = "DATABASE"
TABLE: Final = "TABLE"
CONNECTOR: Final = "CONNECTOR"

ALL: Final = "ALL"
CREATE_REMOTE: Final = "CREATE_REMOTE"
USE_LOCATION: Final = "USE_LOCATION"
PRIVILEGES: Final = (
    *("SELECT", "INSERT", "UPDATE", "DELETE", ALL, "CREATE", "ALTER", "DROP", "INDEX", "LOCK", "SHOW_DATABASE"),
    *(CREATE_REMOTE, USE_LOCATION),
)
"""Hive's privileges, and metastored's own: the last two."""
GRANTED_ON: Final = {CREATE_REMOTE: (SERVER, DATABASE), USE_LOCATION: (SERVER,)}
"""The objects on which metastored's own privileges can be granted."""


@dataclass(frozen=True, slots=True)
class Target:
    """The object of a grant: the server, a database, a table or view, a partition, or a connector."""

    kind: str = SERVER
    name: Parts = ()
    partition: Pairs = ()


@dataclass(frozen=True, slots=True)
class Privilege:
    """A privilege, in capital letters, on a complete object or on these columns of a table."""

    word: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateRole:
    """CREATE ROLE."""

    name: str


@dataclass(frozen=True, slots=True)
class DropRole:
    """DROP ROLE."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class SetRole:
    """SET ROLE."""

    name: str


@dataclass(frozen=True, slots=True)
class ShowRoles:
    """SHOW ROLES."""


@dataclass(frozen=True, slots=True)
class ShowCurrentRoles:
    """SHOW CURRENT ROLES."""


@dataclass(frozen=True, slots=True)
class ShowRoleGrant:
    """SHOW ROLE GRANT: the roles of a principal."""

    principal: Principal


@dataclass(frozen=True, slots=True)
class ShowPrincipals:
    """SHOW PRINCIPALS: the members of a role."""

    name: str


@dataclass(frozen=True, slots=True)
class GrantRole:
    """GRANT of roles; `option` is the admin option."""

    roles: tuple[str, ...]
    principals: tuple[Principal, ...]
    option: bool = False


@dataclass(frozen=True, slots=True)
class RevokeRole:
    """REVOKE of roles; with `option` only of the admin option."""

    roles: tuple[str, ...]
    principals: tuple[Principal, ...]
    option: bool = False


@dataclass(frozen=True, slots=True)
class Grant:
    """GRANT of privileges; `option` is the grant option."""

    privileges: tuple[Privilege, ...]
    principals: tuple[Principal, ...]
    target: Target = Target()
    option: bool = False


@dataclass(frozen=True, slots=True)
class Revoke:
    """REVOKE of privileges; with `option` only of the grant option."""

    privileges: tuple[Privilege, ...]
    principals: tuple[Principal, ...]
    target: Target = Target()
    option: bool = False


@dataclass(frozen=True, slots=True)
class ShowGrant:
    """SHOW GRANT; of all principals where there is none, on all objects where there is none."""

    principal: Principal | None = None
    target: Target | None = None


RightsStatement: TypeAlias = (
    CreateRole
    | DropRole
    | SetRole
    | ShowRoles
    | ShowCurrentRoles
    | ShowRoleGrant
    | ShowPrincipals
    | GrantRole
    | RevokeRole
    | Grant
    | Revoke
    | ShowGrant
)

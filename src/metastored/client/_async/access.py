"""Who may do what on an object, and why: its owner, the grants on it and around it, and the members of roles.

It reads with the rights of the caller: what the caller may not read is a note in the result, and no error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from metastored.client._async.rights import check_target, grants_on, members
from metastored.client.statements.values import database_of, table_of
from metastored.errors import NoSuchObjectException, PermissionDenied
from metastored.model.names import DatabaseName
from metastored.statements.basics import ROLE, Principal
from metastored.statements.rights import DATABASE, SERVER, TABLE, Target
from metastored.wire.generated.common import PrincipalType

if TYPE_CHECKING:
    from metastored.client._async.client import AsyncClient

ADMIN: Final = "admin"
PUBLIC: Final = "public"
EVERYTHING: Final = "everything"
COLUMNS: Final = ("principal", "type", "may", "grant_option", "by", "through", "grantor")


class Right(NamedTuple):
    """What one principal may do. Its fields are COLUMNS."""

    principal: str
    type: str
    may: str
    grant_option: bool
    by: str
    """The grant, or the ownership: `grant on database shop`."""
    through: str
    """The roles by which the principal has it; empty for a direct grant."""
    grantor: str


class Access(NamedTuple):
    """Rights, and sentences about what the caller may not read."""

    rights: tuple[Right, ...]
    notes: tuple[str, ...]


async def access(client: AsyncClient, target: Target, current: DatabaseName) -> Access:
    """The rights on the server, a database or a table. Raises NoSuchObjectException if it does not exist."""
    await check_target(client, current, target)
    rights: list[Right] = []
    notes: list[str] = []
    await _add_owner(client, target, current, rights, notes)
    for around, where in _around(target, current):
        try:
            granted = await grants_on(client, current, around)
        except PermissionDenied as error:
            notes.append(f"grants on {where} are not listed: {error}")
            continue
        for each in granted:
            info = each.grantInfo
            if info is None or not each.principalName:
                continue
            kind = PrincipalType.NAMES.get(each.principalType or 0, "")
            if (each.principalName, kind) == (ADMIN, ROLE):
                continue  # It has everything, below.
            option, by = bool(info.grantOption), f"grant on {where}"
            rights.append(Right(each.principalName, kind, info.privilege or "", option, by, "", info.grantor or ""))
    rights.append(Right(ADMIN, ROLE, EVERYTHING, True, "role admin", "", ""))
    members_of = _Members(client, notes)
    for right in tuple(rights):
        if right.type == ROLE:
            rights += await members_of.expanded(right)
    return Access(tuple(rights), tuple(dict.fromkeys(notes)))


def _around(target: Target, current: DatabaseName) -> list[tuple[Target, str]]:
    """The object and what contains it, with their names for people."""
    around = []
    if target.kind == TABLE:
        table = table_of(target.name, current)
        around.append((target, f"table {table}"))
        target = Target(DATABASE, tuple(part for part in table.database_name if part))
    if target.kind == DATABASE:
        around.append((target, f"database {database_of(target.name, current)}"))
    return [*around, (Target(SERVER), "the server")]


async def _add_owner(
    client: AsyncClient, target: Target, current: DatabaseName, rights: list[Right], notes: list[str]
) -> None:
    if target.kind == SERVER:
        return
    try:
        if target.kind == TABLE:
            name = f"table {table_of(target.name, current)}"
            table = await client.fresh_table(table_of(target.name, current))
            owner, kind = table.owner, table.ownerType
        else:
            name = f"database {database_of(target.name, current)}"
            database = await client.api.get_database(database_of(target.name, current).field)
            owner, kind = database.ownerName, database.ownerType
    except PermissionDenied as error:
        notes.append(f"the owner is not listed: {error}")
        return
    if owner:
        by = f"owner of {name}"
        type = PrincipalType.NAMES.get(kind or PrincipalType.USER, "")
        rights.append(Right(owner, type, EVERYTHING, True, by, "", ""))


class _Members:
    """The members of roles, each role read once."""

    def __init__(self, client: AsyncClient, notes: list[str]) -> None:
        self._client = client
        self._notes = notes
        self._read: dict[str, tuple[Principal, ...]] = {}

    async def expanded(self, right: Right) -> list[Right]:
        """A right of a role for each of its members, and for the members of roles among them."""
        rights: list[Right] = []
        waiting: list[tuple[str, str]] = [(right.principal, right.principal)]
        seen = {right.principal}
        while waiting:
            role, path = waiting.pop()
            for member in await self._members(role):
                rights.append(right._replace(principal=member.name, type=member.kind, through=path, grant_option=False))
                if member.kind == ROLE and member.name not in seen:
                    seen.add(member.name)
                    waiting.append((member.name, f"{member.name}, {path}"))
        return rights

    async def _members(self, role: str) -> tuple[Principal, ...]:
        if role == PUBLIC:
            return (Principal("every user"),)
        if role not in self._read:
            self._read[role] = ()
            try:
                self._read[role] = tuple(
                    Principal(each.principalName or "", PrincipalType.NAMES.get(each.principalType or 0, ""))
                    for each in await members(self._client, role)
                )
            except PermissionDenied as error:
                self._notes.append(f"the members of roles are not listed: {error}")
            except NoSuchObjectException:
                pass  # It was dropped meanwhile, and has no members.
        return self._read[role]

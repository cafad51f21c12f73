"""Copies roles, their members and the grants. They come last, since their objects must exist."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from metastored.errors import ApplicationError, MetastoreError
from metastored.hive.names import DEFAULT_CATALOG
from metastored.transfer.differences import differences
from metastored.transfer.ends import Ends
from metastored.transfer.reading import Reader
from metastored.transfer.report import Action
from metastored.wire.generated.common import PrivilegeGrantInfo
from metastored.wire.generated.roles import HiveObjectPrivilege, HiveObjectRef, HiveObjectType, Role, RolePrincipalGrant
from metastored.wire.structs import replace

BATCH: Final = 500
"""Privileges written at once."""
EVERYWHERE: Final = ("admin", "public")
"""Roles that exist in every metastore."""


def copy_roles(ends: Ends) -> None:
    """All roles, then all members: a member may be a role."""
    names, there = ends.source.role_names(), set(ends.target.role_names())
    members = {name: ends.source.members(name) for name in names}
    ends.tally.count("role", len(names))
    for name in names:
        with ends.failing("role", name):
            _copy_role(ends, ends.source.role(name, members[name]), name in there)
    for name in names:
        with ends.failing("role", name):
            _copy_members(ends, members[name], ends.target.members(name) if name in there or ends.writes else ())
    if ends.includes_extra and ends.catalogs.name is None:
        for name in sorted(there - {*names, *EVERYWHERE}):
            ends.settle("role", name, Action.DROP, partial(ends.writer.drop_role, name))


def _copy_role(ends: Ends, role: Role, is_there: bool) -> None:
    name = role.roleName or ""
    if not is_there:
        ends.settle("role", name, Action.ADD, lambda: ends.writer.put_role(role, None))
        return
    before = ends.target.role(name, ends.target.members(name))
    # Not every server returns when a role was created.
    if role.createTime is None or (before.createTime is None and not ends.writes):
        return
    fields = differences(role, before, ends.writer.stamped)
    if fields:
        ends.settle("role", name, Action.ALTER, lambda: ends.writer.put_role(role, before), fields)


def _copy_members(ends: Ends, source: Sequence[RolePrincipalGrant], target: Sequence[RolePrincipalGrant]) -> None:
    there = {(one.principalName, one.principalType): one for one in target}
    for member in source:
        before = there.pop((member.principalName, member.principalType), None)
        fields = [] if before is None else differences(member, before, ends.writer.stamped)
        if before is None or fields:
            name = f"{member.principalName} of role {member.roleName}"
            action = Action.ADD if before is None else Action.ALTER
            ends.settle("member", name, action, partial(ends.writer.put_member, member, before), fields)
    if ends.includes_extra and ends.catalogs.name is None:
        for member in there.values():
            name = f"{member.principalName} of role {member.roleName}"
            ends.settle("member", name, Action.DROP, partial(ends.writer.drop_member, member))


# --- grants -------------------------------------------------------------------------------------------------------

_Key = tuple[object, ...]


def copy_grants(ends: Ends) -> None:
    """Copies the grants on the selected objects; grants on the metastore only if everything is selected."""
    there = {_key(item): item for item in _meant(ends, ends.target, of_target=True)}
    waiting: list[HiveObjectPrivilege] = []
    for item in _meant(ends, ends.source, of_target=False):
        ends.tally.count("privilege")
        before = there.pop(_key(item), None)
        fields = [] if before is None else differences(item, before, ends.writer.stamped)
        if before is not None and not fields:
            continue
        if before is not None and ends.writes:
            ends.writer.drop_grants([before])
        waiting.append(item)
        if len(waiting) >= BATCH:
            _write(ends, waiting)
            waiting = []
        ends.tally.change("privilege", _words(item), Action.ADD if before is None else Action.ALTER, fields)
    _write(ends, waiting)
    if ends.includes_extra:
        for item in there.values():
            with ends.failing("privilege", _words(item)):
                ends.settle("privilege", _words(item), Action.DROP, partial(ends.writer.drop_grants, [item]))


def _write(ends: Ends, items: Sequence[HiveObjectPrivilege]) -> None:
    """Writes all grants at once; if that is refused, one by one, so that only the refused grants are missing."""
    if not ends.writes or not items:
        return
    if len(items) > 1:
        try:
            ends.writer.put_grants(items)
            return
        except (MetastoreError, ApplicationError):
            pass
    for item in items:
        with ends.failing("privilege", _words(item)):
            ends.writer.put_grants([item])


def _meant(ends: Ends, reader: Reader, *, of_target: bool) -> list[HiveObjectPrivilege]:
    """The selected grants, with the target's names."""
    sources = {ends.catalogs.target(each): each for each in ends.source.catalogs()}
    grants = []
    for item in reader.grants():
        ref = item.hiveObject or HiveObjectRef()
        if ref.objectType == HiveObjectType.DATACONNECTOR:
            continue
        if ref.objectType == HiveObjectType.GLOBAL:
            if ends.selection.is_everything and ends.catalogs.name is None:
                grants.append(item)
            continue
        catalog = None if ref.catName in (None, DEFAULT_CATALOG) else ref.catName
        if of_target:
            if catalog not in sources:
                continue
            here = sources[catalog]
        else:
            here, catalog = catalog, ends.catalogs.target(catalog)
        if not ends.selection.has_catalog(here) or not ends.selection.has_database(ref.dbName or ""):
            continue
        if ref.objectType == HiveObjectType.DATABASE:
            if ends.selection.tables is not None:
                continue
        elif not ends.selection.has_table(ref.objectName or ""):
            continue
        grants.append(replace(item, hiveObject=replace(ref, catName=catalog)))
    return grants


def _key(item: HiveObjectPrivilege) -> _Key:
    ref, info = item.hiveObject or HiveObjectRef(), item.grantInfo or PrivilegeGrantInfo()
    where = (ref.objectType, ref.catName, ref.dbName, ref.objectName, ref.partValues or (), ref.columnName)
    return (*where, item.principalName, item.principalType, info.privilege, info.grantor, info.grantorType)


def _words(item: HiveObjectPrivilege) -> str:
    ref, info = item.hiveObject or HiveObjectRef(), item.grantInfo or PrivilegeGrantInfo()
    on = ".".join(part for part in (ref.catName, ref.dbName, ref.objectName, ref.columnName) if part)
    return f"{info.privilege} on {on or 'everything'} to {item.principalName}"

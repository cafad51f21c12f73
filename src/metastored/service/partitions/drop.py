"""Dropping partitions, with the data of managed tables if the call requests it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from metastored.errors import MetaException, NoSuchObjectException
from metastored.hive.generation import Generation
from metastored.hive.location_rules import archive_directory
from metastored.hive.names import normalize
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.conflicts import is_unchanged, locked_at_location, no_pending_job, version_for
from metastored.service.core.context import Context, Encoded
from metastored.service.core.partition_lists import splicer, structs
from metastored.service.core.removing import deletes_data, plan_removals, purges, removing
from metastored.service.core.serving import method
from metastored.service.partitions.by_expression import chosen
from metastored.service.partitions.get import Partitioned, Values, no_partition, partitioned, partitioned_or, values_in
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import partitions
from metastored.store.transactions.resources import partitions_dropped
from metastored.wire.codec import binary
from metastored.wire.generated.common import EnvironmentContext
from metastored.wire.generated.partitions import (
    DropPartitionRequest,
    DropPartitionsExpr,
    DropPartitionsRequest,
    DropPartitionsResult,
    Partition,
)

IS_ARCHIVED: Final = "is_archived"
_ARCHIVED: Final = IS_ARCHIVED.encode()


@method
def drop_partition(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: Values | None, deleteData: bool | None
) -> bool:
    return _drop(ctx, ctx.name(db_name), tbl_name, part_vals, bool(deleteData))


@method
def drop_partition_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: Values | None,
    deleteData: bool | None,
    environment_context: EnvironmentContext | None,
) -> bool:
    return _drop(ctx, ctx.name(db_name), tbl_name, part_vals, bool(deleteData), environment_context)


@method
def drop_partition_by_name(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_name: str | None, deleteData: bool | None
) -> bool:
    return _drop_by_name(ctx, ctx.name(db_name), tbl_name, part_name, bool(deleteData))


@method
def drop_partition_by_name_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_name: str | None,
    deleteData: bool | None,
    environment_context: EnvironmentContext | None,
) -> bool:
    return _drop_by_name(ctx, ctx.name(db_name), tbl_name, part_name, bool(deleteData), environment_context)


@method
def drop_partition_req(ctx: Context, dropPartitionReq: DropPartitionRequest) -> bool:
    request = dropPartitionReq
    where, env = ctx.name(request.dbName, request.catName), request.environmentContext
    if request.partVals is None and request.partName is not None:
        return _drop_by_name(ctx, where, request.tblName, request.partName, bool(request.deleteData), env)
    return _drop(ctx, where, request.tblName, request.partVals, bool(request.deleteData), env)


def _drop_by_name(
    ctx: Context,
    where: DatabaseName,
    tbl_name: str | None,
    part_name: str | None,
    delete_data: bool,
    env: EnvironmentContext | None = None,
) -> bool:
    missing = NoSuchObjectException(f"{where.database}.{normalize(tbl_name or '')} table not found")
    parent = partitioned_or(ctx, where, tbl_name, missing)
    return _drop(ctx, where, tbl_name, values_in(parent, part_name, NoSuchObjectException), delete_data, env)


def _drop(
    ctx: Context,
    where: DatabaseName,
    tbl_name: str | None,
    values: Values | None,
    delete_data: bool,
    env: EnvironmentContext | None = None,
) -> bool:
    if values is None:
        raise MetaException("The partition values cannot be null.")
    if not values and ctx.generation >= Generation.HIVE_4_0:
        raise MetaException("Partition name is invalid. null")
    # Without a table Hive reports that the partition does not exist: it does not look up anything else.
    parent = partitioned_or(ctx, where, tbl_name, no_partition(values))
    if not remove(ctx, parent, [parent.part_name(values)], delete_data=delete_data, env=env).rows:
        raise no_partition(values)
    return True


@method
def drop_partitions_req(ctx: Context, req: DropPartitionsRequest) -> DropPartitionsResult | Encoded:
    if req.parts is None or (req.parts.names is None and req.parts.exprs is None):
        raise MetaException("Partition spec is not set: drop_partitions_req needs names or expressions")
    parent = partitioned(ctx, ctx.reader(), ctx.name(req.dbName, req.catName), req.tblName)
    if req.parts.names is not None:
        names = list(dict.fromkeys(req.parts.names))
        missing = len(partitions.existing(ctx.reader(), parent.row.id, names)) < len(names)
    else:
        names = _expressed(ctx, parent, req.parts.exprs or (), ignore_archives=bool(req.ignoreProtection))
        # One partition for each expression is enough, whichever expressions selected them.
        missing = len(names) < len(req.parts.exprs or ())
    if missing and not req.ifExists:
        raise NoSuchObjectException("Some partitions to drop are missing")
    dropped = remove(ctx, parent, names, delete_data=bool(req.deleteData), env=req.environmentContext)
    if req.needResult is False:
        return DropPartitionsResult()
    by_name = {row[1]: row for row in dropped.rows}
    return structs(dropped.splice, [by_name[name] for name in names if name in by_name], wrapped=True)


def _expressed(
    ctx: Context, parent: Partitioned, exprs: Sequence[DropPartitionsExpr], *, ignore_archives: bool
) -> list[str]:
    """The names that each expression selects; names that two expressions select occur twice."""
    names: list[str] = []
    with ctx.reading() as tx:
        for each in exprs:
            selected = chosen(ctx, tx, parent, each.expr, None)
            if selected.unknown is not None:
                raise MetaException(f"Unexpected unknown partitions to drop: {selected.unknown}")
            if each.partArchiveLevel is not None and not ignore_archives:
                splice = splicer(ctx, tx, parent.where, parent.row)
                for row in selected.rows:
                    _check_archive(splice.partition(row), row[1], each.partArchiveLevel)
            names += [row[1] for row in selected.rows]
    return names


def _check_archive(part: Partition, name: str, level: int) -> None:
    """Partitions that were archived together, at the level of one key, are dropped together."""
    parameters = part.parameters or {}
    if not is_archived(part):
        return
    archived_at = parameters.get("archiving_level", str(len(part.values or ())))
    if not archived_at.isdecimal() or int(archived_at) < level:
        raise MetaException(f"Cannot drop a subset of partitions  in an archive, partition {name}")


class Dropped(NamedTuple):
    """Partitions that were dropped: their rows, and what makes structs of them."""

    rows: list[Row]
    splice: rows.Splicer
    directories: list[str]
    """The directories that were removed with them."""


def remove(
    ctx: Context,
    parent: Partitioned,
    names: Sequence[str],
    *,
    delete_data: bool,
    env: EnvironmentContext | None = None,
) -> Dropped:
    """Removes the partitions that exist and returns them."""
    owned = delete_data and deletes_data(ctx, parent.table)
    root = parent.location
    purge = purges(parent.table, env)

    def find_existing(tx: Transaction) -> Dropped:
        found: list[Row] = list(partitions.find_many(tx, parent.row.id, names))
        if known is not None and found == known.rows:
            return known
        splice = splicer(ctx, tx, parent.where, parent.row)
        return Dropped(found, splice, _directories(root, splice, found) if owned else [])

    known: Dropped | None = None
    version: int | None = None
    if owned:
        version = version_for(ctx.database, len(names))
        # The directories are checked before the transaction.
        with ctx.reading() as tx:
            known = find_existing(tx)

    def change(tx: Transaction) -> tuple[Dropped, list[int]]:
        locked_at_location(tx, parent.row)
        removed = known if known is not None and is_unchanged(ctx.database, version) else find_existing(tx)
        if not removed.rows:
            return removed, []
        no_pending_job(tx, removed.directories)
        planned = plan_removals(ctx, tx, removed.directories, below=root, purge=purge)
        gone = [row[1] for row in removed.rows]
        partitions.delete_many(tx, parent.row.id, gone)
        partitions_dropped(tx, parent.where.table(parent.row.name), gone)
        objects = [("table", binary.encode(parent.table))]
        objects += [("values", removed.splice.values(row)) for row in removed.rows]
        record(ctx, tx, "DROP_PARTITION", parent.where, parent.row.name, objects)
        return removed, planned

    return removing(ctx, change, known.directories if known is not None else ())


def is_archived(part: Partition) -> bool:
    return (part.parameters or {}).get(IS_ARCHIVED, "").lower() == "true"


def _directories(root: str | None, splice: rows.Splicer, found: Sequence[Row]) -> list[str]:
    """The directories that are removed with partitions.

    For an archived one, the directory that contains the archive.
    """
    return list(dict.fromkeys(filter(None, (_directory(root, splice, row) for row in found))))


def _directory(root: str | None, splice: rows.Splicer, row: Row) -> str | None:
    stored = splice.location(row)
    location = None if stored is None else stored.decode("utf-8", "surrogateescape")
    # Most bodies do not name the parameter of archives, and are not decoded.
    if not location or _ARCHIVED not in row[-1] or not is_archived(part := splice.partition(row)):
        return location
    # The parameter is a client's text that was not validated as a location: it counts only below the table.
    original = (part.parameters or {}).get("original_location")
    directory = archive_directory(location, original, root) if root else None
    if directory is None:
        raise MetaException(
            f"the archived partition {location} was at {original} before, which is not below the table's directory"
            f" {root}; drop it without deleteData, and remove the files by hand"
        )
    return directory

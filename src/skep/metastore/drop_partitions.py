"""Dropping partitions, with the data of managed tables when asked."""

from __future__ import annotations

from collections.abc import Sequence

from skep.errors import MetaException, NoSuchObjectException
from skep.hive.names import PartitionNameError, normalize, partition_values
from skep.metastore import normal
from skep.metastore.changes import record
from skep.metastore.context import Context, properties
from skep.metastore.directories import finish, plan_removal
from skep.metastore.listing import splicer
from skep.metastore.partitions import Partitioned, no_partition
from skep.store import partitions, tables
from skep.store.transaction import Row, Transaction
from skep.wire import binary
from skep.wire.generated.common import EnvironmentContext
from skep.wire.generated.partitions import DropPartitionsRequest, DropPartitionsResult, Partition


def drop_partition(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: tuple[str, ...] | None,
    deleteData: bool | None,
) -> bool:
    return _drop_one(ctx, db_name, tbl_name, part_vals, delete_data=bool(deleteData), env={})


def drop_partition_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: tuple[str, ...] | None,
    deleteData: bool | None,
    environment_context: EnvironmentContext | None,
) -> bool:
    env = properties(environment_context)
    return _drop_one(ctx, db_name, tbl_name, part_vals, delete_data=bool(deleteData), env=env)


def drop_partition_by_name(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_name: str | None, deleteData: bool | None
) -> bool:
    values = _values(ctx, db_name, tbl_name, part_name)
    return _drop_one(ctx, db_name, tbl_name, values, delete_data=bool(deleteData), env={})


def drop_partition_by_name_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_name: str | None,
    deleteData: bool | None,
    environment_context: EnvironmentContext | None,
) -> bool:
    values = _values(ctx, db_name, tbl_name, part_name)
    env = properties(environment_context)
    return _drop_one(ctx, db_name, tbl_name, values, delete_data=bool(deleteData), env=env)


def _values(ctx: Context, db_name: str | None, tbl_name: str | None, part_name: str | None) -> tuple[str, ...]:
    of = Partitioned(ctx, ctx.reader(), db_name, tbl_name)
    try:
        return tuple(partition_values(part_name or "", of.names))
    except PartitionNameError as error:
        raise NoSuchObjectException(str(error)) from None


def _drop_one(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    values: tuple[str, ...] | None,
    *,
    delete_data: bool,
    env: dict[str, str],
) -> bool:
    if values is None:
        raise MetaException("The partition values cannot be null.")
    where = ctx.name(db_name)
    if tables.find(ctx.reader(), *where, normalize(tbl_name or "")) is None:
        # Hive says so here: it looks for the partition, not for the table.
        raise no_partition(values)
    of = Partitioned(ctx, ctx.reader(), db_name, tbl_name)
    name = of.part_name(values)
    if not remove(ctx, of, [name], delete_data=delete_data):
        raise no_partition(values)
    return True


def drop_partitions_req(ctx: Context, req: DropPartitionsRequest) -> DropPartitionsResult:
    if req.parts is None or req.parts.names is None:
        raise MetaException("drop_partitions_req by serialized expressions is not served: name the partitions instead")
    if req.catName is not None:
        ctx.saw_catalog()
    of = Partitioned(ctx, ctx.reader(), req.dbName, req.tblName)
    wanted = list(dict.fromkeys(req.parts.names))
    if not req.ifExists and len(partitions.existing(ctx.reader(), of.row.id, wanted)) < len(wanted):
        raise NoSuchObjectException("Some partitions to drop are missing")
    removed = remove(ctx, of, wanted, delete_data=bool(req.deleteData))
    if not req.needResult:
        return DropPartitionsResult()
    return DropPartitionsResult(partitions=tuple(removed))


def remove(ctx: Context, of: Partitioned, names: Sequence[str], *, delete_data: bool) -> list[Partition]:
    """Removes those that exist; what they were comes back."""
    external = normal.is_external(of.table)
    root = of.table.sd.location if of.table.sd is not None else None

    def change(tx: Transaction) -> tuple[list[Partition], list[int]]:
        tables.lock(tx, of.row.id)
        found: list[Row] = list(partitions.find_many(tx, of.row.id, names))
        if not found:
            return [], []
        splice = splicer(tx, of.where, of.row)
        removed = [splice.partition(row) for row in found]
        planned = []
        if delete_data and not external:
            for part in removed:
                location = part.sd.location if part.sd is not None else None
                if location:
                    planned.append(plan_removal(ctx, tx, location, below=root))
        partitions.delete_many(tx, of.row.id, [row[1] for row in found])
        objects = [("table", binary.encode(of.table))]
        objects += [("values", binary.encode(Partition(values=part.values))) for part in removed]
        record(ctx, tx, "DROP_PARTITION", of.where, of.row.name, objects)
        return removed, planned

    removed, planned = ctx.database.run(change)
    finish(ctx, planned)
    return removed

"""Changing and renaming partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from skep.errors import InvalidObjectException, InvalidOperationException, MetaException, StoreError
from skep.hive.generation import Generation
from skep.hive.locations import join
from skep.hive.names import normalize
from skep.hive.stats import FAST_STATS
from skep.metastore import normal, rows
from skep.metastore.add_partitions import Placing
from skep.metastore.basic_stats import DO_NOT_UPDATE_STATS, gathered_for_partition
from skep.metastore.changes import record
from skep.metastore.context import Context, properties
from skep.metastore.directories import plan_move
from skep.metastore.java_text import java_text
from skep.metastore.listing import splicer
from skep.metastore.partitions import Partitioned
from skep.store import jobs, partitions, tables
from skep.store.partitions import PartitionRow
from skep.store.transaction import Transaction
from skep.wire import binary
from skep.wire.generated.common import EnvironmentContext
from skep.wire.generated.partitions import Partition
from skep.wire.structs import replace


def alter_partition(ctx: Context, db_name: str | None, tbl_name: str | None, new_part: Partition | None) -> None:
    _alter(ctx, db_name, tbl_name, (new_part,), {})


def alter_partition_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    new_part: Partition | None,
    environment_context: EnvironmentContext | None,
) -> None:
    _alter(ctx, db_name, tbl_name, (new_part,), properties(environment_context))


def alter_partitions(
    ctx: Context, db_name: str | None, tbl_name: str | None, new_parts: tuple[Partition, ...] | None
) -> None:
    _alter(ctx, db_name, tbl_name, new_parts or (), {}, several=True)


def alter_partitions_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    new_parts: tuple[Partition, ...] | None,
    environment_context: EnvironmentContext | None,
) -> None:
    _alter(ctx, db_name, tbl_name, new_parts or (), properties(environment_context), several=True)


def _of(ctx: Context, db_name: str | None, tbl_name: str | None) -> Partitioned:
    where = ctx.name(db_name)
    if tables.find(ctx.reader(), *where, normalize(tbl_name or "")) is None:
        raise InvalidOperationException("Unable to alter partition because table or database does not exist.")
    return Partitioned(ctx, ctx.reader(), db_name, tbl_name)


def _missing(ctx: Context, values: tuple[str, ...], several: bool) -> InvalidOperationException:
    gone = f"partition values={java_text(values)}"
    if several:
        return InvalidOperationException(f"Alter partition operation failed: NoSuchObjectException(message:{gone})")
    if ctx.generation < Generation.HIVE_3_1:
        return InvalidOperationException("alter is not possible")
    return InvalidOperationException(f"alter is not possible: {gone}")


class _Changed(NamedTuple):
    name: str
    part: Partition


def _alter(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    given: Sequence[Partition | None],
    env: dict[str, str],
    *,
    several: bool = False,
) -> None:
    """All of them or none."""
    of = _of(ctx, db_name, tbl_name)
    with ctx.reading() as tx:
        splice = splicer(tx, of.where, of.row)
        wanted = []
        for part in given:
            if part is None or part.values is None:
                raise MetaException("a partition to be changed needs its values")
            if part.sd is None:
                raise MetaException(f"partition {java_text(part.values)} has no storage descriptor")
            name = of.part_name(part.values)
            row = partitions.find(tx, of.row.id, name)
            if row is None:
                raise _missing(ctx, part.values, several)
            wanted.append((name, part, splice.partition(row)))
    now = ctx.now()
    changed = []
    for name, part, before in wanted:
        parameters = part.parameters or {}
        location = part.sd.location if part.sd is not None else None
        if _must_list(before.parameters or {}, parameters, env) and not normal.is_view(of.table):
            parameters = gathered_for_partition(ctx.warehouse, parameters, location, env, force=True)
        changed.append(_Changed(name, replace(part, parameters=normal.ddl_time(parameters, now))))

    def write(tx: Transaction) -> None:
        tables.lock(tx, of.row.id)
        splice = splicer(tx, of.where, of.row)
        placing = Placing(tx, of.row, of)
        events = []
        for name, part in changed:
            row = partitions.find(tx, of.row.id, name)
            if row is None:
                raise _missing(ctx, part.values or (), several)
            events.append(_write(tx, of, row, part, splice.partition(row), placing))
        for before, after in events:
            _record(ctx, tx, of, before, after)

    ctx.database.run(write)


def _must_list(old: dict[str, str], new: dict[str, str], env: dict[str, str]) -> bool:
    """Whether the server counts files again: not when the caller forbids it or nothing says they changed."""
    if env.get(DO_NOT_UPDATE_STATS, "").lower() == "true":
        return False
    if not all(key in new for key in FAST_STATS):
        return True
    if env.get("STATS_GENERATED") in ("TASK", "USER"):
        return True
    return any(old.get(key) != new[key] for key in FAST_STATS)


def _write(
    tx: Transaction, of: Partitioned, row: PartitionRow, part: Partition, before: Partition, placing: Placing
) -> tuple[Partition, Partition]:
    """Replaces the row; (before, after) come back for the event."""
    assert part.sd is not None
    sd = normal.storage(part.sd)
    after = replace(
        part,
        dbName=of.where.database,
        tableName=of.row.name,
        catName=of.where.catalog,
        createTime=part.createTime or before.createTime or 0,
        lastAccessTime=part.lastAccessTime or 0,
        sd=sd,
    )
    base, suffix = placing.place(row.name, sd.location)
    partitions.update(
        tx,
        row.id,
        shape=partitions.add_shape(tx, of.row.id, rows.shape_of(sd)),
        base=base,
        suffix=suffix,
        write_id=part.writeId or row.write_id,
        body=rows.partition_body(after),
    )
    return before, after


def _record(ctx: Context, tx: Transaction, of: Partitioned, before: Partition, after: Partition) -> None:
    objects = [
        ("table", binary.encode(of.table)),
        ("before", binary.encode(before)),
        ("after", binary.encode(after)),
    ]
    record(ctx, tx, "ALTER_PARTITION", of.where, of.row.name, objects)


# --- renaming -------------------------------------------------------------------------------------------------------


def rename_partition(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: tuple[str, ...] | None,
    new_part: Partition | None,
) -> None:
    """Other values for a partition. A managed one's directory follows by a job, like a table's."""
    if new_part is None or new_part.values is None or new_part.sd is None:
        raise MetaException("a partition to be renamed needs its new values and a storage descriptor")
    where = ctx.name(db_name)
    if tables.find(ctx.reader(), *where, normalize(tbl_name or "")) is None:
        raise InvalidObjectException("Unable to rename partition because table or database do not exist")
    of = Partitioned(ctx, ctx.reader(), db_name, tbl_name)
    old_name, new_name = of.part_name(part_vals), of.part_name(new_part.values)
    wanted = replace(new_part, parameters=normal.ddl_time(new_part.parameters, ctx.now()))
    root = of.table.sd.location if of.table.sd is not None else None
    follows = not normal.is_external(of.table) and root is not None

    def change(tx: Transaction) -> tuple[int, str, str] | None:
        tables.lock(tx, of.row.id)
        row = partitions.find(tx, of.row.id, old_name)
        if row is None:
            raise InvalidOperationException("Unable to rename partition because old partition does not exist")
        if partitions.find(tx, of.row.id, new_name) is not None:
            raise InvalidOperationException(
                f"Partition already exists:{of.where.database}.{of.row.name}.{java_text(wanted.values)}"
            )
        before = splicer(tx, of.where, of.row).partition(row)
        source = before.sd.location if before.sd is not None else None
        target = join(root, new_name) if follows and root is not None else source
        assert wanted.sd is not None
        moved = replace(wanted, sd=replace(wanted.sd, location=target))
        # The name goes first: where the partition lies is written down with it, and then replaced.
        partitions.rename(tx, row.id, new_name, wanted.values or (), row.name)
        renamed = partitions.find(tx, of.row.id, new_name)
        assert renamed is not None
        _, after = _write(tx, of, renamed, moved, before, Placing(tx, of.row, of))
        job = plan_move(ctx, tx, source, target) if source and target and source != target else None
        _record(ctx, tx, of, before, after)
        return None if job is None or source is None or target is None else (job, source, target)

    planned = ctx.database.run(change)
    if planned is not None:
        _move(ctx, of, old_name, part_vals or (), new_name, *planned)


def _move(
    ctx: Context,
    of: Partitioned,
    old_name: str,
    old_values: tuple[str, ...],
    new_name: str,
    job: int,
    source: str,
    target: str,
) -> None:
    failure: InvalidOperationException | None = None
    try:
        if ctx.warehouse.exists(target):
            failure = InvalidOperationException(
                f"New location for this table {of.where.database}.{of.row.name} already exists : {target}"
            )
        elif ctx.warehouse.exists(source):
            ctx.warehouse.move(source, target)
    except StoreError as error:
        failure = InvalidOperationException(f"Unable to move {source} to {target}: {error}")

    def take_back(tx: Transaction) -> None:
        row = partitions.find(tx, of.row.id, new_name)
        if row is not None:
            values = tuple(old_values)
            partitions.rename(tx, row.id, old_name, values, row.suffix)
            now = partitions.find(tx, of.row.id, old_name)
            assert now is not None
            before = splicer(tx, of.where, of.row).partition(now)
            assert before.sd is not None
            restored = replace(before, values=values, sd=replace(before.sd, location=source))
            _write(tx, of, now, restored, before, Placing(tx, of.row, of))
        jobs.done(tx, job)

    if failure is not None:
        ctx.database.run(take_back)
        raise failure
    ctx.database.run(lambda tx: jobs.done(tx, job))

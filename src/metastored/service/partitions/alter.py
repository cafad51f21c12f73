"""Altering and renaming partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from metastored.errors import InvalidOperationException, MetaException, MetastoreError
from metastored.hive.location_rules import relative
from metastored.hive.locations import LocationError, is_relative, join
from metastored.hive.names import normalize
from metastored.hive.statistics.basic import (
    DO_NOT_UPDATE_STATS,
    FAST_STATS,
    clear_basic_state,
    has_fast_stats,
    set_basic_state,
)
from metastored.model import kinds, normal
from metastored.model.conditions import CHANGES_ONLY, OTHER_PARTITION, storage_with_changes_of
from metastored.model.names import DatabaseName
from metastored.service.core import rows, translation
from metastored.service.core.changes import OF_TABLE, WITHOUT_STORAGE, record_many
from metastored.service.core.conflicts import is_unchanged, locked_at_location, no_pending_job, version_for
from metastored.service.core.context import Context, properties
from metastored.service.core.directories import move_or_roll_back, plan_move
from metastored.service.core.java_text import java_text
from metastored.service.core.partition_lists import splicer
from metastored.service.core.serving import method
from metastored.service.partitions.add import NO_SHAPE, ShapesAndBases, is_plain, stored_partition_location
from metastored.service.partitions.get import Partitioned, Values, partitioned_or
from metastored.service.statistics.basic import gathered_for_partition
from metastored.service.statistics.delete import forget_changed_columns_of_partitions
from metastored.service.statistics.validity import NO_WRITER, Writer, checked_on_alter
from metastored.store.engine.stored import BODY_FORMAT
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import partitions, tables
from metastored.store.objects.partitions import PartitionRow
from metastored.store.transactions.resources import partition_renamed
from metastored.wire.codec import binary
from metastored.wire.generated.common import EnvironmentContext, StorageDescriptor
from metastored.wire.generated.partitions import (
    AlterPartitionsRequest,
    AlterPartitionsResponse,
    Partition,
    RenamePartitionRequest,
    RenamePartitionResponse,
)
from metastored.wire.structs import replace

NOT_COMMITTED = "The transaction for alter partition did not commit successfully."


@method
def alter_partition(ctx: Context, db_name: str | None, tbl_name: str | None, new_part: Partition | None) -> None:
    _alter_one(ctx, ctx.name(db_name), tbl_name, new_part, {})


@method
def alter_partition_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    new_part: Partition | None,
    environment_context: EnvironmentContext | None,
) -> None:
    _alter_one(ctx, ctx.name(db_name), tbl_name, new_part, properties(environment_context))


@method
def alter_partitions(
    ctx: Context, db_name: str | None, tbl_name: str | None, new_parts: tuple[Partition, ...] | None
) -> None:
    _alter_many(ctx, ctx.name(db_name), tbl_name, new_parts, {})


@method
def alter_partitions_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    new_parts: tuple[Partition, ...] | None,
    environment_context: EnvironmentContext | None,
) -> None:
    _alter_many(ctx, ctx.name(db_name), tbl_name, new_parts, properties(environment_context))


@method
def alter_partitions_req(ctx: Context, req: AlterPartitionsRequest) -> AlterPartitionsResponse:
    where = ctx.name(req.dbName, req.catName)
    parts = req.partitions
    if parts is not None and req.writeId is not None and req.writeId > 0:
        parts = tuple(replace(part, writeId=req.writeId) for part in parts)
    writer = Writer(req.writeId or 0, req.validWriteIdList)
    _alter_many(ctx, where, req.tableName, parts, properties(req.environmentContext), writer)
    return AlterPartitionsResponse()


def _alter_one(
    ctx: Context, where: DatabaseName, tbl_name: str | None, part: Partition | None, env: Mapping[str, str]
) -> None:
    if part is None:
        raise MetaException("a partition to be changed needs its values")
    prefix = "alter is not possible: " if ctx.rules.names_catalogs else ""
    no_table = "Unable to alter partition because table or database does not exist."
    parent = partitioned_or(ctx, where, tbl_name, InvalidOperationException(f"{prefix}{no_table}"))
    gone = f": partition values={java_text(part.values)}" if ctx.rules.names_catalogs else ""
    _alter(ctx, parent, (part,), env, lambda values: InvalidOperationException(f"alter is not possible{gone}"))


def _alter_many(
    ctx: Context,
    where: DatabaseName,
    tbl_name: str | None,
    parts: tuple[Partition, ...] | None,
    env: Mapping[str, str],
    writer: Writer = NO_WRITER,
) -> None:
    no_table = "Unable to alter partitions because table or database does not exist."
    if ctx.rules.names_catalogs:
        no_table = f"Alter partition operation failed: InvalidObjectException(message:{no_table})"
    parent = partitioned_or(ctx, where, tbl_name, InvalidOperationException(no_table))

    def missing(values: Values) -> InvalidOperationException:
        gone = f"NoSuchObjectException(message:partition values={java_text(values)})"
        return InvalidOperationException(f"Alter partition operation failed: {gone}")

    _alter(ctx, parent, parts or (), env, missing, writer)


# --- common to all ---------------------------------------------------------------------------------------------------


class _Missing(Protocol):
    def __call__(self, values: Values) -> InvalidOperationException: ...


class _Changed(NamedTuple):
    name: str
    part: Partition
    sent: dict[str, str]
    """The parameters that the client sent."""


def _alter(
    ctx: Context,
    parent: Partitioned,
    requested: Sequence[Partition],
    env: Mapping[str, str],
    missing: _Missing,
    writer: Writer = NO_WRITER,
) -> None:
    """Alters all of them or none. Raises MetaException if one of them does not meet the condition of the call."""
    names = env.get(CHANGES_ONLY)
    only = None if names is None else frozenset(filter(None, names.split(",")))
    version = version_for(ctx.database, len(requested))
    with ctx.reading() as tx:
        part_names = list(_names(parent, requested))
        existing = _by_name(tx, parent, part_names)
        parameters_of = rows.ParametersOf()
        changes = []
        for at, part in enumerate(requested):
            name = part_names[at] if at < len(part_names) else parent.part_name(part.values)
            if part.sd is not None and part.sd.cols is None:
                raise MetaException(f"the storage descriptor of partition {name} has no columns")
            row = existing.get(name)
            if row is None:
                raise missing(part.values or ())
            if not _has_storage(part, parent) or not _is_of(ctx, part, parent):
                raise MetaException(NOT_COMMITTED)
            changes.append((name, _with_location(ctx, parent, part), parameters_of(row)))
    now = ctx.now()
    changed = []
    counts = _counts(parent, env)
    for name, part, old in changes:
        counted = _counted(ctx, old, part, env) if counts else part.parameters
        parameters = normal.ddl_time_of_partition(counted, now)
        changed.append(_Changed(name, _completed(parent, part, parameters), part.parameters or {}))

    def write(tx: Transaction) -> None:
        locked_at_location(tx, parent.row)
        shapes_and_bases = ShapesAndBases(tx, parent.row, parent)
        states: list[_State] = []
        stored = existing if is_unchanged(ctx.database, version) else None
        for batch in _batches(changed):
            splice = splicer(ctx, tx, parent.where, parent.row)
            without_shapes = splice.without_shapes()
            if stored is None:
                stored = _by_name(tx, parent, [name for name, _, _ in batch])
            replacements = []
            for name, part, sent in batch:
                row = stored.get(name)
                if row is None:
                    raise missing(part.values or ())
                if only is not None:
                    _check_only(name, splice.partition(row), replace(part, parameters=sent), only)
                if writer.snapshot is not None:
                    new = dict(part.parameters or {})
                    old = rows.partition_parameters(row)
                    verified = checked_on_alter(parent.table, old, new, row.write_id, writer)
                    part = replace(part, parameters=verified)
                replacements.append(_Replacement(row, without_shapes.struct(row), part))
            states += _write(tx, parent, replacements, shapes_and_bases)
            stored = None
        _record(ctx, tx, parent, states)

    ctx.database.run(write)


def _check_only(name: str, before: Partition, requested: Partition, only: frozenset[str]) -> None:
    """Raises MetaException if the stored partition differs from the requested one in more than these names."""
    old, new = before.parameters or {}, requested.parameters or {}
    same = all(old.get(key) == new.get(key) for key in {*old, *new} - only)
    if not same or storage_with_changes_of(before.sd, requested.sd, only) != requested.sd:
        raise MetaException(f"{OTHER_PARTITION}the names of {CHANGES_ONLY}: {', '.join(sorted(only))} ({name})")


def _names(parent: Partitioned, requested: Sequence[Partition]) -> Iterator[str]:
    """The names of the partitions, up to the first whose values are invalid.

    The caller raises that error in its turn.
    """
    for part in requested:
        try:
            yield parent.part_name(part.values)
        except MetastoreError:
            return


def _by_name(tx: Transaction, parent: Partitioned, names: Iterable[str]) -> dict[str, PartitionRow]:
    return {row.name: row for row in partitions.find_many(tx, parent.row.id, list(names))}


def _batches(changed: Sequence[_Changed]) -> Iterator[list[_Changed]]:
    """The changes in their order, split where a name occurs again.

    The second change of a partition follows the first.
    """
    batch: dict[str, _Changed] = {}
    for each in changed:
        if each.name in batch:
            yield list(batch.values())
            batch = {}
        batch[each.name] = each
    if batch:
        yield list(batch.values())


def _with_location(ctx: Context, parent: Partitioned, part: Partition) -> Partition:
    """The partition with its location as it is stored.

    A relative location is below the table's own. Hive stores it as it is, and can then no longer drop the table.
    """
    sd = part.sd
    if sd is None or not sd.location:
        return part
    below = f"{parent.location.rstrip('/')}/" if parent.location else None
    location = sd.location
    if below and is_plain(location, below):
        return part
    if below and is_relative(location):
        try:
            location = relative(below, location)
        except LocationError as error:
            raise MetaException(str(error)) from None
    location = stored_partition_location(ctx, location, below)
    return part if location == sd.location else replace(part, sd=replace(sd, location=location))


def _is_of(ctx: Context, part: Partition, parent: Partitioned) -> bool:
    """Whether a partition names the table that it is passed to; Hive looks that table up again."""
    if ctx.rules.names_catalogs and part.catName is not None and normalize(part.catName) != parent.where.catalog:
        return False
    return normalize(part.tableName or "") == parent.row.name and normalize(part.dbName or "") == parent.where.database


def _has_storage(part: Partition, parent: Partitioned) -> bool:
    """Whether a partition has storage; partitions of a view, which has no location, may omit it."""
    return part.sd is not None or parent.location is None


def _counts(parent: Partitioned, env: Mapping[str, str]) -> bool:
    """Whether files may be counted at all."""
    return env.get(DO_NOT_UPDATE_STATS, "").lower() != "true" and not kinds.is_view(parent.table)


def _counted(ctx: Context, old: Mapping[str, str], part: Partition, env: Mapping[str, str]) -> dict[str, str]:
    """The parameters, with files counted again if something indicates that they changed.

    `old` are those of the stored partition.
    """
    new = part.parameters or {}
    same = all(key in old and old[key] == new.get(key) for key in FAST_STATS)
    generated = env.get("STATS_GENERATED")
    if has_fast_stats(new) and same and generated not in ("TASK", "USER"):
        return new
    if same:
        return set_basic_state(new) if generated == "TASK" else clear_basic_state(new)
    location = part.sd.location if part.sd is not None else None
    return gathered_for_partition(ctx, new, location, env, force=True)


def _completed(parent: Partitioned, part: Partition, parameters: dict[str, str]) -> Partition:
    """The partition with the names of its table and its parameters, and with times."""
    return replace(
        part,
        dbName=parent.where.database,
        tableName=parent.row.name,
        catName=parent.where.catalog,
        createTime=part.createTime or 0,
        lastAccessTime=part.lastAccessTime or 0,
        parameters=parameters,
    )


class _Replacement(NamedTuple):
    """A stored partition, as its row and as an event stores it, and its replacement."""

    row: PartitionRow
    before: bytes
    part: Partition


class _State(NamedTuple):
    """A partition before and after a change, as an event stores it; each with its shape."""

    before: bytes
    shape_before: bytes
    after: bytes
    shape_after: bytes


def _write(
    tx: Transaction, parent: Partitioned, replacements: Sequence[_Replacement], shapes_and_bases: ShapesAndBases
) -> list[_State]:
    """Replaces the rows; returns what changed for the events. All are `_completed`, and none occurs twice."""
    new_rows, written = [], []
    changed_columns: dict[str, tuple[StorageDescriptor, StorageDescriptor]] = {}
    stored_shapes = partitions.shapes(tx, parent.row.id)
    last: StorageDescriptor | None = None
    shape_after = NO_SHAPE
    for row, before, part in replacements:
        sd = part.sd
        if sd is None:
            shape_after = NO_SHAPE
        elif last is None or sd.cols is not last.cols or sd[2:] != last[2:]:
            # Partitions of one call mostly share all but the location, which is the second field.
            shape_after = rows.shape_of(normal.storage(sd))
        last = sd
        base, suffix = shapes_and_bases.base_and_suffix(row.name, None if sd is None else sd.location)
        shape = shapes_and_bases.shape(shape_after)
        body = rows.partition_body(part)
        write_id = part.writeId or row.write_id
        new_rows.append(PartitionRow(row.id, row.name, shape, base, suffix, write_id, BODY_FORMAT, body))
        shape_before = NO_SHAPE if row.shape is None else stored_shapes[row.shape]
        if shape != row.shape and sd is not None and row.shape is not None:
            old, new = rows.storage_of(shape_before), rows.storage_of(shape_after)
            if old.cols != new.cols:
                changed_columns[row.name] = old, new
        written.append(_State(before, shape_before, rows.altered_partition(part, body), shape_after))
    partitions.update_many(tx, new_rows)
    forget_changed_columns_of_partitions(tx, parent.row.id, changed_columns)
    return written


def _record(ctx: Context, tx: Transaction, parent: Partitioned, changes: Sequence[_State]) -> None:
    """One event for each change. The storage is mostly that of the table, and not changed."""
    if not changes:
        return
    storage: dict[bytes, tuple[bytes, bool]] = {}

    def parts(change: _State) -> Iterator[tuple[str, bytes]]:
        shapes = [("sd", change.shape_after)]
        if change.shape_before != change.shape_after:
            shapes = [("before sd", change.shape_before), ("after sd", change.shape_after)]
        for name, shape in shapes:
            if shape != NO_SHAPE:
                if shape not in storage:
                    storage[shape] = rows.storage_beside(shape, parent.table)
                struct, of_table = storage[shape]
                yield (name + OF_TABLE if of_table else name), struct
        yield "before", change.before
        yield "after", change.after

    record_many(
        ctx,
        tx,
        "ALTER_PARTITION",
        parent.where,
        parent.row.name,
        list(map(parts, changes)),
        shared=[("table", binary.encode(parent.table))],
        fmt=WITHOUT_STORAGE,
    )


# --- renaming -------------------------------------------------------------------------------------------------------


@method
def rename_partition(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: Values | None,
    new_part: Partition | None,
) -> None:
    _rename(ctx, ctx.name(db_name), tbl_name, part_vals, new_part)


@method
def rename_partition_req(ctx: Context, req: RenamePartitionRequest) -> RenamePartitionResponse:
    _rename(ctx, ctx.name(req.dbName, req.catName), req.tableName, req.partVals, req.newPart)
    return RenamePartitionResponse()


def _rename(
    ctx: Context, where: DatabaseName, tbl_name: str | None, part_vals: Values | None, new_part: Partition | None
) -> None:
    """Changes the values of a partition.

    A managed one's directory is moved by a job, like a table's. Without old values the partition is altered in place,
    as Hive does.
    """
    if not part_vals and new_part is not None:
        _alter_one(ctx, where, tbl_name, new_part, {})
        return
    missing = InvalidOperationException("Unable to alter partition because table or database does not exist.")
    parent = partitioned_or(ctx, where, tbl_name, missing)
    if new_part is None or not _has_storage(new_part, parent):
        raise MetaException("a partition to be renamed needs its new values and a storage descriptor")
    old_name, new_name = parent.part_name(part_vals), parent.part_name(new_part.values)
    now = ctx.now()
    root = parent.location
    translated = ctx.rules.moves_translated and translation.is_translated(parent.table)
    follows = (parent.table.tableType != kinds.EXTERNAL or translated) and root is not None
    with ctx.reading() as tx:
        stored = partitions.find(tx, parent.row.id, old_name)
        if stored is None:
            raise _no_old()
        current = splicer(ctx, tx, parent.where, parent.row).partition(stored)
        taken = partitions.find(tx, parent.row.id, new_name) is not None
        if follows and not taken and "" in (new_part.values or ()):
            # Hive creates a directory for an empty value when it adds a partition, but not when it renames one.
            spec = dict(zip(parent.names, new_part.values or (), strict=True))
            raise MetaException(f"Partition spec is incorrect. {java_text(spec)}")
        if not taken and not _is_of(ctx, new_part, parent):
            raise MetaException(NOT_COMMITTED)
        if new_part.sd is not None:
            normal.columns(new_part.sd.cols)  # Before any directory is moved.
        new_location = join(root, new_name) if follows and root is not None and not taken else None
        no_pending_job(tx, [new_location])
    old_location = current.sd.location if current.sd is not None else None
    if (
        old_location
        and new_location is not None
        and new_location != old_location
        and ctx.warehouse.exists(new_location)
    ):
        raise _occupied(parent, new_location)
    parameters = new_part.parameters or {}
    if parent.table.tableType != kinds.EXTERNAL or ctx.rules.counts_renamed_external:
        counted = replace(new_part, sd=current.sd)
        parameters = _counted(ctx, current.parameters or {}, counted, {}) if _counts(parent, {}) else parameters
    changed = _completed(parent, new_part, normal.ddl_time_of_partition(parameters, now))

    def change(tx: Transaction) -> tuple[Partition, int, str, str] | None:
        locked_at_location(tx, parent.row)
        row = partitions.find(tx, parent.row.id, old_name)
        if row is None:
            raise _no_old()
        if partitions.find(tx, parent.row.id, new_name) is not None:
            raise InvalidOperationException(
                f"Partition already exists:{parent.where.database}.{parent.row.name}.{java_text(changed.values)}"
            )
        splice = splicer(ctx, tx, parent.where, parent.row)
        before, source_state = splice.partition(row), splice.without_shapes().struct(row)
        source = before.sd.location if before.sd is not None else None
        target = join(root, new_name) if follows and root is not None else source
        moved = changed if changed.sd is None else replace(changed, sd=replace(changed.sd, location=target))
        # The name comes first: the location is written with it, and then replaced.
        partitions.rename(tx, parent.row.id, row.id, new_name, changed.values or (), row.name)
        partition_renamed(tx, parent.where.table(parent.row.name), old_name, new_name)
        renamed = partitions.find(tx, parent.row.id, new_name)
        assert renamed is not None
        replacement = _Replacement(renamed, source_state, moved)
        written = _write(tx, parent, [replacement], ShapesAndBases(tx, parent.row, parent))
        job = None
        if source and target and source != target:
            no_pending_job(tx, [source, target])
            job = plan_move(ctx, tx, source, target)
        _record(ctx, tx, parent, written)
        return None if job is None or source is None or target is None else (before, job, source, target)

    planned = ctx.database.run(change)
    if planned is not None:
        _move(ctx, parent, old_name, new_name, *planned)


def _occupied(parent: Partitioned, target: str) -> InvalidOperationException:
    return InvalidOperationException(
        f"New location for this table {parent.where.database}.{parent.row.name} already exists : {target}"
    )


def _no_old() -> InvalidOperationException:
    return InvalidOperationException("Unable to rename partition because old partition does not exist")


def _move(
    ctx: Context,
    parent: Partitioned,
    old_name: str,
    new_name: str,
    before: Partition,
    job: int,
    source: str,
    target: str,
) -> None:
    """Moves the directory of a renamed partition; rolls the rename back if that fails."""

    def take_back(tx: Transaction) -> None:
        tables.lock(tx, parent.row.id)
        row = partitions.find(tx, parent.row.id, new_name)
        if row is None:
            # Another call dropped or renamed it in the meantime: that change stays.
            return
        renamed = splicer(ctx, tx, parent.where, parent.row).without_shapes().struct(row)
        partitions.rename(tx, parent.row.id, row.id, old_name, before.values or (), row.suffix)
        partition_renamed(tx, parent.where.table(parent.row.name), new_name, old_name)
        now = partitions.find(tx, parent.row.id, old_name)
        assert now is not None
        former = _completed(parent, before, before.parameters or {})
        written = _write(tx, parent, [_Replacement(now, renamed, former)], ShapesAndBases(tx, parent.row, parent))
        # Readers of the log saw the rename; they must see this change too.
        _record(ctx, tx, parent, written)

    move_or_roll_back(
        ctx,
        job,
        source,
        target,
        occupied=lambda: _occupied(parent, target),
        failed=lambda error: InvalidOperationException(f"Unable to move {source} to {target}: {error}"),
        take_back=take_back,
    )

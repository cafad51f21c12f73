"""Exchanging partitions: they move to another table together with their directories."""

from __future__ import annotations

from collections.abc import Callable

from metastored.errors import MetaException
from metastored.hive.locations import join
from metastored.hive.names import make_part_name, normalize
from metastored.model import normal
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.conflicts import locked_at_location, no_pending_job
from metastored.service.core.context import Context
from metastored.service.core.directories import move_or_roll_back, plan_move
from metastored.service.core.java_text import java_text
from metastored.service.core.partition_lists import splicer
from metastored.service.core.serving import method
from metastored.service.partitions.add import ShapesAndBases
from metastored.service.partitions.get import Partitioned, Values
from metastored.service.partitions.privileges import copy_grants
from metastored.service.partitions.search import matching, partial
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import partitions, tables
from metastored.store.objects.partitions import NewPartition
from metastored.wire.codec import binary
from metastored.wire.generated.common import FieldSchema
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

Spec = dict[str, str]


@method
def exchange_partition(
    ctx: Context,
    partitionSpecs: Spec | None,
    source_db: str | None,
    source_table_name: str | None,
    dest_db: str | None,
    dest_table_name: str | None,
) -> Partition:
    """Returns an empty partition, as Hive does; `exchange_partitions` returns all of them."""
    exchange(ctx, partitionSpecs, source_db, source_table_name, dest_db, dest_table_name)
    return Partition(createTime=0, lastAccessTime=0)


@method
def exchange_partitions(
    ctx: Context,
    partitionSpecs: Spec | None,
    source_db: str | None,
    source_table_name: str | None,
    dest_db: str | None,
    dest_table_name: str | None,
) -> tuple[Partition, ...]:
    return tuple(exchange(ctx, partitionSpecs, source_db, source_table_name, dest_db, dest_table_name))


def exchange(
    ctx: Context,
    spec: Spec | None,
    source_db: str | None,
    source_name: str | None,
    target_db: str | None,
    target_name: str | None,
) -> list[Partition]:
    if spec is None or None in (source_db, source_name, target_db, target_name):
        raise MetaException(
            "The DB and table name for the source and destination tables, and the partition specs must not be null."
        )
    source_where, target_where = ctx.name(source_db), ctx.name(target_db)
    if source_where.catalog != target_where.catalog:
        raise MetaException("You cannot move a partition across catalogs")
    target = _table(ctx, target_where, target_name or "", "destination")
    source = _table(ctx, source_where, source_name or "", "source")
    values = tuple(spec.get(name, "") for name in source.names)
    key_values = [(name, value) for name, value in zip(source.names, values, strict=True) if value]
    if not key_values:
        raise MetaException("Invalid partition key & values; keys [], values []")
    if source.location is None or target.location is None:
        raise MetaException("Partitions of views cannot be exchanged.")
    folder = make_part_name(tuple(name for name, _ in key_values), [value for _, value in key_values])
    old_place, new_place = join(source.location, folder), join(target.location, folder)
    if [name for name, _ in key_values] != list(source.names[: len(key_values)]):
        raise MetaException(
            f"Got exception: the directory {old_place} does not exist: give the first keys, without a gap"
        )

    def find_movable(tx: Transaction) -> list[Row]:
        return _movable(ctx, tx, source, target, values, spec)

    with ctx.reading() as tx:
        find_movable(tx)
    _check_places(ctx, old_place, new_place)
    moved, job = ctx.database.run(lambda tx: _change(ctx, tx, source, target, find_movable, old_place, new_place))
    _move(ctx, source, target, moved, job, old_place, new_place)
    return moved


def _table(ctx: Context, where: DatabaseName, name: str, which: str) -> Partitioned:
    row = tables.find(ctx.reader(), *where, normalize(name))
    if row is None:
        raise MetaException(f"The {which} table {ctx.full_name(where, name)} not found")
    return Partitioned(where, row)


def _movable(
    ctx: Context, tx: Transaction, source: Partitioned, target: Partitioned, values: Values, spec: Spec
) -> list[Row]:
    """The partitions to move to the other table. Raises an error if that is not possible."""
    parts = matching(ctx, tx, source, partial(ctx, source, values))
    if not parts:
        raise MetaException(f"No partition is found with the values {java_text(spec)} for the table {source.row.name}")
    if not _alike(source, target):
        raise MetaException("The tables have different schemas. Their partitions cannot be exchanged.")
    taken = partitions.existing(tx, target.row.id, [row[1] for row in parts])
    if taken:
        raise MetaException(f"The partition {taken[0]} already exists in the table {target.row.name}")
    return parts


def _check_places(ctx: Context, old_place: str, new_place: str) -> None:
    if ctx.warehouse.exists(new_place):
        raise MetaException("Cannot rename the source path. The destination path already exists.")
    if ctx.warehouse.looks_at(old_place) and not ctx.warehouse.exists(old_place):
        raise MetaException(f"Cannot rename the source path: {old_place} does not exist.")


def _change(
    ctx: Context,
    tx: Transaction,
    source: Partitioned,
    target: Partitioned,
    find: Callable[[Transaction], list[Row]],
    old_place: str,
    new_place: str,
) -> tuple[list[Partition], int]:
    """Moves the rows to the other table."""
    for each in _in_order(source, target):
        locked_at_location(tx, each.row)
    no_pending_job(tx, [old_place, new_place])
    parts = find(tx)
    splice = splicer(ctx, tx, source.where, source.row)
    old = [splice.partition(row) for row in parts]
    job = plan_move(ctx, tx, old_place, new_place)
    return _hand_over(ctx, tx, source, target, old), job


def _in_order(*both: Partitioned) -> list[Partitioned]:
    """The order in which tables are locked."""
    return sorted(both, key=lambda parent: (parent.where, parent.row.name))


def _hand_over(
    ctx: Context, tx: Transaction, source: Partitioned, target: Partitioned, old: list[Partition]
) -> list[Partition]:
    """Removes partitions from one table and adds them to the other, with an event for each."""
    new = _insert(ctx, tx, target, old)
    partitions.delete_many(tx, source.row.id, [source.part_name(part.values) for part in old])
    table = ("table", binary.encode(target.table))
    record(ctx, tx, "ADD_PARTITION", target.where, target.row.name, [table, *_encoded("partition", new)])
    table = ("table", binary.encode(source.table))
    gone = [Partition(values=part.values) for part in new]
    record(ctx, tx, "DROP_PARTITION", source.where, source.row.name, [table, *_encoded("values", gone)])
    return new


def _insert(ctx: Context, tx: Transaction, parent: Partitioned, parts: list[Partition]) -> list[Partition]:
    """Adds partitions of another table to this one, below its directory."""
    named = [(parent.part_name(part.values), part) for part in parts]
    new = [_at_default_location(ctx, parent, part, name) for name, part in named]
    shapes_and_bases = ShapesAndBases(tx, parent.row, parent)
    partitions.insert_many(
        tx,
        parent.row.id,
        [
            NewPartition(
                name,
                part.values or (),
                partitions.add_shape(tx, parent.row.id, rows.shape_of(part.sd)) if part.sd is not None else None,
                *shapes_and_bases.base_and_suffix(name, part.sd.location if part.sd is not None else None),
                write_id=part.writeId or -1,
                body=rows.partition_body(part),
            )
            for (name, _), part in zip(named, new, strict=True)
        ],
    )
    copy_grants(ctx, tx, parent.row, [name for name, _ in named])
    return new


def _encoded(name: str, parts: list[Partition]) -> list[tuple[str, bytes]]:
    return [(name, binary.encode(part)) for part in parts]


def _at_default_location(ctx: Context, target: Partitioned, part: Partition, name: str) -> Partition:
    """The partition as one of the other table, below its directory."""
    assert part.sd is not None and target.location is not None
    sd = normal.storage(replace(part.sd, location=join(target.location, name)))
    where = target.where
    return replace(part, dbName=where.database, tableName=target.row.name, catName=ctx.shown(where.catalog), sd=sd)


def _alike(one: Partitioned, other: Partitioned) -> bool:
    def typed(fields: tuple[FieldSchema, ...] | None) -> list[tuple[str | None, str | None]]:
        return [(field.name, field.type) for field in fields or ()]

    def columns(parent: Partitioned) -> tuple[FieldSchema, ...]:
        return (parent.table.sd.cols if parent.table.sd is not None else None) or ()

    return typed(columns(one)) == typed(columns(other)) and typed(one.keys) == typed(other.keys)


def _move(
    ctx: Context,
    source: Partitioned,
    target: Partitioned,
    moved: list[Partition],
    job: int,
    old_place: str,
    new_place: str,
) -> None:
    """Moves the directory; rolls the exchange back if that fails."""

    def take_back(tx: Transaction) -> None:
        for each in _in_order(source, target):
            tables.lock(tx, each.row.id)
        _hand_over(ctx, tx, target, source, moved)

    def failed(why: object) -> MetaException:
        return MetaException(f"{old_place} could not be moved to {new_place}: {why}")

    move_or_roll_back(
        ctx,
        job,
        old_place,
        new_place,
        occupied=lambda: failed("something is there already"),
        failed=failed,
        take_back=take_back,
    )

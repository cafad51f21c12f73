"""Marks on partitions: one process marks a partition as loaded, another reads the mark."""

from __future__ import annotations

from metastored.errors import InvalidPartitionException, MetaException, UnknownTableException
from metastored.hive.names import make_part_name
from metastored.service.core.conflicts import locked_at_location
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.service.partitions.get import Partitioned, partitioned_or
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import partition_marks


@method
def markPartitionForEvent(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: dict[str, str] | None, eventType: int | None
) -> None:
    parent, name, type = _target(ctx, db_name, tbl_name, part_vals, eventType)

    def write(tx: Transaction) -> None:
        locked_at_location(tx, parent.row)
        partition_marks.mark(tx, parent.row.id, name, type, ctx.now())

    ctx.database.run(write)


@method
def isPartitionMarkedForEvent(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: dict[str, str] | None, eventType: int | None
) -> bool:
    parent, name, type = _target(ctx, db_name, tbl_name, part_vals, eventType)
    return partition_marks.is_marked(ctx.reader(), parent.row.id, name, type)


def _target(
    ctx: Context, db_name: str | None, tbl_name: str | None, values: dict[str, str] | None, type: int | None
) -> tuple[Partitioned, str, int]:
    missing = UnknownTableException(f"Table: {tbl_name} is not found.")
    parent = partitioned_or(ctx, ctx.name(db_name), tbl_name, missing)
    by_key = values or {}
    if type is None:
        raise MetaException("a mark needs the type of its event")
    if len(by_key) != len(parent.names):
        raise InvalidPartitionException(
            f"Number of partition columns in table: {len(parent.names)} doesn't match with number of supplied partition"
            f" values: {len(by_key)}"
        )
    for name in parent.names:
        if name not in by_key:
            raise InvalidPartitionException(f"No value found for partition column: {name}")
    return parent, make_part_name(parent.names, [by_key[name] for name in parent.names]), type

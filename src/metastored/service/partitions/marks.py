"""Marks on partitions: one process says that a partition is loaded, another asks."""

from __future__ import annotations

from metastored.errors import InvalidPartitionException, MetaException, UnknownTableException
from metastored.hive.names import make_part_name
from metastored.service.core.conflicts import locked_in_place
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.service.partitions.get import Partitioned, partitioned_or
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import partition_marks


@method
def markPartitionForEvent(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: dict[str, str] | None, eventType: int | None
) -> None:
    of, name, type = _asked(ctx, db_name, tbl_name, part_vals, eventType)

    def write(tx: Transaction) -> None:
        locked_in_place(tx, of.row)
        partition_marks.mark(tx, of.row.id, name, type, ctx.now())

    ctx.database.run(write)


@method
def isPartitionMarkedForEvent(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: dict[str, str] | None, eventType: int | None
) -> bool:
    of, name, type = _asked(ctx, db_name, tbl_name, part_vals, eventType)
    return partition_marks.is_marked(ctx.reader(), of.row.id, name, type)


def _asked(
    ctx: Context, db_name: str | None, tbl_name: str | None, values: dict[str, str] | None, type: int | None
) -> tuple[Partitioned, str, int]:
    missing = UnknownTableException(f"Table: {tbl_name} is not found.")
    of = partitioned_or(ctx, ctx.name(db_name), tbl_name, missing)
    given = values or {}
    if type is None:
        raise MetaException("a mark needs the type of its event")
    if len(given) != len(of.names):
        raise InvalidPartitionException(
            f"Number of partition columns in table: {len(of.names)} doesn't match with number of supplied partition"
            f" values: {len(given)}"
        )
    for name in of.names:
        if name not in given:
            raise InvalidPartitionException(f"No value found for partition column: {name}")
    return of, make_part_name(of.names, [given[name] for name in of.names]), type

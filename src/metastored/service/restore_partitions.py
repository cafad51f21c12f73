"""Writes partitions of another metastore exactly as they are, many at a time.

Not part of the API, like `restore.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metastored.errors import InvalidObjectException
from metastored.model import normal
from metastored.model.column_statistics import column_of
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.context import Context
from metastored.service.core.partition_lists import splicer
from metastored.service.partitions.add import NO_SHAPE, New, ShapesAndBases, event_parts
from metastored.service.partitions.get import Partitioned
from metastored.service.statistics.data import row_of
from metastored.service.statistics.get import ENGINE
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import column_statistics, partitions, tables
from metastored.store.objects.partitions import NewPartition, PartitionRow
from metastored.wire.codec import binary
from metastored.wire.generated.common import ColumnStatisticsObj, StorageDescriptor
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

Statistics = Mapping[str, Sequence[ColumnStatisticsObj]]
"""By the partition's name."""


def restore_partitions(
    ctx: Context,
    where: DatabaseName,
    table: str,
    parts: Sequence[Partition],
    statistics: Statistics,
    forgotten: Mapping[str, Sequence[str]],
) -> None:
    """Adds partitions or replaces those with the same values, with statistics; all or none."""

    def write(tx: Transaction) -> None:
        row = tables.find(tx, *where, table)
        if row is None:
            raise InvalidObjectException(f"there is no table {where.database}.{table} to add partitions to")
        tables.lock(tx, row.id)
        parent = Partitioned(where, row)
        prepared = _prepared(parent, parts)
        there = {
            existing.name: existing for existing in partitions.find_many(tx, row.id, [part.name for part in prepared])
        }
        writing = _Writing(ctx, tx, parent)
        writing.change([part for part in prepared if part.name in there], there)
        writing.add([part for part in prepared if part.name not in there])
        _write_statistics(ctx, tx, row.id, statistics, forgotten)
        writing.record_events()

    ctx.database.run(write)


def _prepared(parent: Partitioned, parts: Sequence[Partition]) -> list[New]:
    """Names, shapes and locations. A partition whose storage equals that of the one before reuses its shape."""
    prepared: list[New] = []
    last: StorageDescriptor | None = None
    shape = b""
    for part in parts:
        sd = part.sd
        if sd is not None and (last is None or sd[0] is not last[0] or sd[2:] != last[2:]):
            shape, last = rows.shape_of(normal.storage(sd)), sd
        prepared.append(
            New(parent.part_name(part.values), part, shape if sd is not None else NO_SHAPE, sd.location if sd else None)
        )
    return prepared


class _Writing:
    """Partitions of one table that are being written."""

    def __init__(self, ctx: Context, tx: Transaction, parent: Partitioned) -> None:
        self._ctx = ctx
        self._tx = tx
        self._of = parent
        self._shapes_and_bases = ShapesAndBases(tx, parent.row, parent)
        self._shapes: dict[bytes, int | None] = {NO_SHAPE: None}
        self._events: list[tuple[str, list[tuple[str, bytes]]]] = []

    def _shape(self, sd: bytes) -> int | None:
        """The storage; None for a partition of a view."""
        if sd not in self._shapes:
            self._shapes[sd] = partitions.add_shape(self._tx, self._of.row.id, sd)
        return self._shapes[sd]

    def add(self, new: Sequence[New]) -> None:
        if not new:
            return
        bodies = [rows.partition_body(part.partition) for part in new]
        rows_to_add = [
            NewPartition(
                part.name,
                part.partition.values or (),
                self._shape(part.shape),
                *self._shapes_and_bases.base_and_suffix(part.name, part.location),
                write_id=part.partition.writeId or -1,
                body=body,
            )
            for part, body in zip(new, bodies, strict=True)
        ]
        partitions.insert_many(self._tx, self._of.row.id, rows_to_add)
        self._events.append(("ADD_PARTITION", event_parts(self._of, new, bodies)))

    def change(self, changed: Sequence[New], there: Mapping[str, PartitionRow]) -> None:
        splice = splicer(self._ctx, self._tx, self._of.where, self._of.row) if changed else None
        names = {"dbName": self._of.where.database, "tableName": self._of.row.name, "catName": self._of.where.catalog}
        table = ("table", binary.encode(self._of.table))
        for part in changed:
            assert splice is not None
            before = splice.partition(there[part.name])
            base, suffix = self._shapes_and_bases.base_and_suffix(part.name, part.location)
            partitions.update(
                self._tx,
                there[part.name].id,
                shape=self._shape(part.shape),
                base=base,
                suffix=suffix,
                write_id=part.partition.writeId or there[part.name].write_id,
                body=rows.partition_body(part.partition),
            )
            after = binary.encode(replace(part.partition, **names))
            self._events.append(("ALTER_PARTITION", [table, ("before", binary.encode(before)), ("after", after)]))

    def record_events(self) -> None:
        """Records the events; the last step of the transaction."""
        for event, objects in self._events:
            record(self._ctx, self._tx, event, self._of.where, self._of.row.name, objects)


def _write_statistics(
    ctx: Context, tx: Transaction, table_id: int, statistics: Statistics, forgotten: Mapping[str, Sequence[str]]
) -> None:
    for name, columns in forgotten.items():
        column_statistics.delete(tx, table_id, partitions=[name], columns=columns, engine=ENGINE)
    if not statistics:
        return
    owners = {row.name: row.id for row in partitions.find_many(tx, table_id, list(statistics))}
    new = [
        row_of(owners[name], column_of(one), ENGINE, ctx.now())
        for name, columns in statistics.items()
        if name in owners
        for one in columns
    ]
    column_statistics.write_of_partitions(tx, table_id, new)

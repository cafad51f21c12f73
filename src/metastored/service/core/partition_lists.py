"""Lists of partitions as replies: spliced from rows, in one piece when short, streamed from a snapshot when long.

The count of a Thrift list and the length of a frame come first on the wire; both are computed in the snapshot that
the rows are then read from (`Stream` in `wire/message.py`). This file never decodes a partition.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Final

from metastored.model.names import DatabaseName
from metastored.service.core import rows, translation
from metastored.service.core.context import Context, Encoded
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import partitions
from metastored.store.objects.partitions import Where
from metastored.store.objects.tables import TableRow
from metastored.wire.message import Stream

SHORT: Final = 500
"""Lists up to this length are sent in one piece."""

HELD: Final = 8 << 20
"""Bytes of rows up to which they stay in memory until they are sent.

The length of a longer list is computed by the database, from all its rows; one with a condition is then read again.
"""
ROW: Final = 512
"""Bytes that a row needs beside its body, about."""

_NAME, _BODY = itemgetter(1), itemgetter(-1)

Each = Callable[[Transaction, int], Iterator[Row]]


def splicer(
    ctx: Context, tx: Transaction, where: DatabaseName, row: TableRow, abilities: translation.Abilities | None = None
) -> rows.Splicer:
    """Partitions of the table as this caller gets them; the caller may have named its capabilities."""
    shapes, bases = partitions.shapes(tx, row.id), partitions.bases(tx, row.id)
    if abilities and ctx.rules.returns_access and _hides_buckets(where, row, abilities):
        shapes = {number: rows.without_buckets(shape) for number, shape in shapes.items()}
    return rows.Splicer(
        ctx.shown(where.catalog), where.database, row.name, shapes, bases, always_written=ctx.rules.returns_ids
    )


def _hides_buckets(where: DatabaseName, row: TableRow, abilities: translation.Abilities) -> bool:
    if not translation.applies(where.catalog, abilities):
        return False
    return translation.hides_buckets_of_partitions(rows.table_of(row, *where), abilities)


def structs(splice: rows.Splicer, partition_rows: Sequence[Row], *, wrapped: bool = False) -> Encoded:
    """A few partitions; `wrapped` is the form of the `_req` calls, whose list is a field of the reply."""
    body = chain.from_iterable(map(splice.parts, partition_rows))
    return Encoded(
        rows.wrapped_list(body, len(partition_rows)) if wrapped else rows.list_reply(body, len(partition_rows))
    )


def listed(
    ctx: Context,
    where: DatabaseName,
    row: TableRow,
    condition: Where | None,
    limit: int = -1,
    *,
    wrapped: bool = False,
) -> Encoded:
    """All partitions, or those that match, in the order of their names."""

    def each(tx: Transaction, most: int) -> Iterator[Row]:
        if condition is None:
            return partitions.each(tx, row.id, most)
        return partitions.each_matching(tx, row.id, condition, most)

    with ctx.reading() as tx:
        if condition is None:
            first: list[Row] | None = list(each(tx, SHORT + 1 if limit < 0 else min(limit, SHORT + 1)))
        else:
            first = held(partitions.each_matching(tx, row.id, condition, limit, ordered=False))
        if first is not None and len(first) <= SHORT:
            return structs(splicer(ctx, tx, where, row), first, wrapped=wrapped)
        if first is not None and condition is not None:
            return _sent(splicer(ctx, tx, where, row), first, wrapped=wrapped)
    return _streamed(ctx, where, row, condition, limit, each, wrapped=wrapped)


def held(partition_rows: Iterator[Row]) -> list[Row] | None:
    """All rows in the order of their names, or None if they have more than HELD bytes.

    The database need not sort them: here they are sorted in less time, as most of them are in order.
    """
    some, complete = _first(partition_rows)
    if not complete:
        return None
    some.sort(key=_NAME)
    return some


def _first(partition_rows: Iterator[Row]) -> tuple[list[Row], bool]:
    """The first rows, of about HELD bytes, and whether these are all."""
    first: list[Row] = []
    size = 0
    while some := list(islice(partition_rows, SHORT)):
        size += len(some) * ROW + sum(map(len, map(_BODY, some)))
        first += some
        if size > HELD:
            return first, False
    return first, True


def _sent(splice: rows.Splicer, partition_rows: list[Row], *, wrapped: bool) -> Encoded:
    """Rows that are in memory, spliced once; their pieces are joined while they are sent."""
    head, tail = rows.list_head(len(partition_rows), wrapped=wrapped)
    pieces = [head, *chain.from_iterable(map(splice.parts, partition_rows)), tail]
    length = sum(map(len, pieces))
    step = max(1, len(pieces) * rows.CHUNK // length)
    chunks = (b"".join(pieces[start : start + step]) for start in range(0, len(pieces), step))
    return Encoded(Stream(chunks, length, at_hand=True))


def _streamed(
    ctx: Context,
    where: DatabaseName,
    row: TableRow,
    condition: Where | None,
    limit: int,
    each: Each,
    *,
    wrapped: bool,
) -> Encoded:
    snapshot = ctx.database.snapshot()
    try:
        splice = splicer(ctx, snapshot, where, row)
        following = each(snapshot, limit)
        first, complete = _first(following)
        if complete:
            snapshot.close()
            return _sent(splice, first, wrapped=wrapped)
        groups = partitions.sizes(snapshot, row.id, condition, limit)
        count = sum(group.number for group in groups)
        head, tail = rows.list_head(count, wrapped=wrapped)
        length = len(head) + sum(splice.size(group) for group in groups) + len(tail)
    except BaseException:
        snapshot.close()
        raise
    read = deque(first)
    del first

    def chunks() -> Iterator[bytes]:
        try:
            yield head
            yield from splice.chunks(chain(_taken(read), following))
            yield tail
        finally:
            snapshot.close()

    return Encoded(Stream(chunks(), length))


def _taken(read: deque[Row]) -> Iterator[Row]:
    """The rows, which are released one by one."""
    while read:
        yield read.popleft()

"""Lists of partitions as replies: spliced from rows, in one piece when short, streamed from a snapshot when long.

The count of a Thrift list and the length of a frame come first on the wire; both are computed in the snapshot that
the rows are then read from (`Stream` in `wire/message.py`). This file never decodes a partition.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Final, NamedTuple, TypeVar

from metastored.model.names import DatabaseName
from metastored.service.core import rows, translation
from metastored.service.core.context import Context, Encoded
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import partitions
from metastored.store.objects.partitions import CompactRow, PartitionRow, Where
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

AnyRow = TypeVar("AnyRow", bound=Row)

_NAME, _BODY = itemgetter(1), itemgetter(-1)


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
    with ctx.reading() as tx:
        if condition is None:
            most = SHORT + 1 if limit < 0 else min(limit, SHORT + 1)
            first: list[PartitionRow] | None = list(partitions.each(tx, row.id, most))
        else:
            first = held(ctx, partitions.each_matching(tx, row.id, condition, limit, ordered=False))
        if first is not None and len(first) <= SHORT:
            return structs(splicer(ctx, tx, where, row), first, wrapped=wrapped)
        if first is not None and condition is not None:
            splice = splicer(ctx, tx, where, row)
            return _sent(list(chain.from_iterable(map(splice.parts, first))), len(first), wrapped=wrapped)
    ctx.check_turn()

    def batches(tx: Transaction, splice: rows.Splicer) -> Iterator[_Batch]:
        if condition is not None:
            return _batches(splice, partitions.each_matching(tx, row.id, condition, limit))
        if first is not None and 2 * sum(map(partitions.is_compact, first)) > len(first):
            compact, others = partitions.each_compact(tx, row.id, limit), partitions.each_not_compact(tx, row.id)
            return _compact_batches(splice, compact, others)
        return _batches(splice, partitions.each(tx, row.id, limit))

    return _streamed(ctx, where, row, condition, limit, batches, wrapped=wrapped)


def in_turn(ctx: Context, partition_rows: Iterator[AnyRow]) -> Iterator[AnyRow]:
    """The same rows. If there are many, a call that only reads waits for its turn: see `Context.check_turn`."""
    first = list(islice(partition_rows, SHORT + 1))
    if len(first) > SHORT:
        ctx.check_turn()
    return chain(first, partition_rows)


def named(ctx: Context, tx: Transaction, table_id: int, names: Sequence[str]) -> list[PartitionRow]:
    """The named partitions that exist, sorted by name; many of them in turn, as above. Names may be repeated."""
    if len(names) > SHORT:
        ctx.check_turn()
    return partitions.find_many(tx, table_id, list(dict.fromkeys(names)))


def held(ctx: Context, partition_rows: Iterator[AnyRow]) -> list[AnyRow] | None:
    """All rows in the order of their names, or None if they have more than HELD bytes.

    The database need not sort them: here they are sorted in less time, as most of them are in order.
    """
    all_rows: list[AnyRow] = []
    size = 0
    partition_rows = in_turn(ctx, partition_rows)
    while some := list(islice(partition_rows, SHORT)):
        size += _size(some)
        if size > HELD:
            return None
        all_rows += some
    all_rows.sort(key=_NAME)
    return all_rows


def _size(some: Sequence[Row]) -> int:
    return len(some) * ROW + sum(map(len, map(_BODY, some)))


class _Batch(NamedTuple):
    """Some partitions: how many, the bytes of their rows in memory, and their structs in pieces."""

    number: int
    size: int
    pieces: list[bytes]


def _batches(splice: rows.Splicer, each: Iterator[PartitionRow]) -> Iterator[_Batch]:
    while some := list(islice(each, SHORT)):
        yield _Batch(len(some), _size(some), list(chain.from_iterable(map(splice.parts, some))))


def _compact_batches(
    splice: rows.Splicer, each: Iterator[CompactRow], others: Iterator[PartitionRow]
) -> Iterator[_Batch]:
    while some := list(islice(each, SHORT)):
        yield _Batch(len(some), _size(some), splice.pieces(some, others))


def _held_batches(batches: Iterator[_Batch]) -> tuple[list[_Batch], bool]:
    """The first batches, of about HELD bytes, and whether these are all."""
    first = []
    size = 0
    for batch in batches:
        first.append(batch)
        size += batch.size
        if size > HELD:
            return first, False
    return first, True


def _sent(pieces: list[bytes], count: int, *, wrapped: bool) -> Encoded:
    """The pieces of all partitions, which are in memory; they are joined while they are sent."""
    head, tail = rows.list_head(count, wrapped=wrapped)
    pieces = [head, *pieces, tail]
    length = sum(map(len, pieces))
    return Encoded(Stream(rows.chunks(pieces, length), length, at_hand=True))


def _streamed(
    ctx: Context,
    where: DatabaseName,
    row: TableRow,
    condition: Where | None,
    limit: int,
    batches: Callable[[Transaction, rows.Splicer], Iterator[_Batch]],
    *,
    wrapped: bool,
) -> Encoded:
    snapshot = ctx.database.snapshot()
    try:
        splice = splicer(ctx, snapshot, where, row)
        following = batches(snapshot, splice)
        first, complete = _held_batches(following)
        if complete:
            snapshot.close()
            pieces = list(chain.from_iterable(batch.pieces for batch in first))
            return _sent(pieces, sum(batch.number for batch in first), wrapped=wrapped)
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
            for batch in chain(_taken(read), following):
                yield from rows.chunks(batch.pieces, sum(map(len, batch.pieces)))
            yield tail
        finally:
            snapshot.close()

    return Encoded(Stream(chunks(), length))


def _taken(read: deque[_Batch]) -> Iterator[_Batch]:
    """The batches, which are released one by one."""
    while read:
        yield read.popleft()

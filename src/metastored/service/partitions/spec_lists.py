"""Lists of PartitionSpecs as replies, spliced from rows: partitions below the table's directory share their storage.

The form is that of `specs.grouped`: partitions with the same storage descriptor form a group, in which each has only
its own fields and the path below the table's directory; partitions outside of that directory are listed completely,
last. A short list is made in memory. For a long one the rows are read from one snapshot: once to count the members of
each group and their bytes, which come first on the wire, and once more for each group, to send them.
This file never decodes a partition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

from metastored.service.core import rows
from metastored.service.core.context import Context, Encoded
from metastored.service.core.partition_lists import SHORT, held, splicer
from metastored.service.partitions.get import Partitioned
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import partitions
from metastored.wire.codec import binary
from metastored.wire.generated.common import StorageDescriptor
from metastored.wire.message import Stream
from metastored.wire.structs import replace
from metastored.wire.types import LIST, STRUCT

MAX_SCANS: Final = 8
"""Groups up to which the rows of a long list are read once for each; the members of more are held in memory."""

PIECE: Final = 128 * 1024
"""Bytes that are spliced before they are sent: the fewer, the earlier a client begins to decode."""

_MEMBERS: Final = binary.pack_field(LIST, 1) + bytes([STRUCT])
"""The header of a list of structs, before their number."""
Each = Callable[[Transaction, bool], Iterator[Row]]
"""Reads the rows in a transaction: sorted by their names, or in any order."""


def normalized(sd: StorageDescriptor | None) -> StorageDescriptor:
    """A storage descriptor as groups share it: numbers that are absent are zero, as in Java."""
    sd = sd or StorageDescriptor()
    return replace(sd, compressed=bool(sd.compressed), numBuckets=sd.numBuckets or 0)


class _Group(NamedTuple):
    """The bytes of a PartitionSpec before the number of its members, and behind the members."""

    head: bytes
    tail: bytes


class _SpecNames:
    """The PartitionSpecs of one table."""

    def __init__(self, catalog: str | None, database: str, table: str) -> None:
        self._names = rows.text_field(1, database) + rows.text_field(2, table)
        self._catalog = b"" if catalog is None else rows.text_field(6, catalog)

    def shared(self, root: str | None, sd: bytes) -> _Group:
        """Members without storage, which share this StorageDescriptor struct."""
        behind = binary.pack_field(STRUCT, 2) + sd + rows.STOP + self._catalog + rows.STOP
        return _Group(self._head(root) + binary.pack_field(STRUCT, 4) + _MEMBERS, behind)

    def listed(self, root: str | None) -> _Group:
        """Complete partitions."""
        return _Group(self._head(root) + binary.pack_field(STRUCT, 5) + _MEMBERS, rows.STOP + self._catalog + rows.STOP)

    def _head(self, root: str | None) -> bytes:
        return self._names if root is None else self._names + rows.text_field(3, root)


class _Grouping:
    """Assigns rows to groups, which are numbered in the order in which their first rows appear."""

    def __init__(self, ctx: Context, tx: Transaction, parent: Partitioned) -> None:
        self._splice = splicer(ctx, tx, parent.where, parent.row)
        self._shapes = partitions.shapes(tx, parent.row.id)
        self._names = _SpecNames(ctx.shown(parent.where.catalog), parent.where.database, parent.row.name)
        self._root = parent.location or ""
        self._encoded_root = self._root.encode("utf-8", "surrogateescape")
        # What begins with both is below the root; one of them begins with the other.
        self._below = max(self._encoded_root, self._encoded_root.rstrip(b"/") + b"/", key=len)
        self._numbers: dict[tuple[int | None, bool], int] = {}
        self._by_text: dict[str, int] = {}
        self.groups: list[_Group] = []
        self._outside: int | None = None

    def placed(self, row: Row) -> tuple[int, bytes | None]:
        """The group of a row, and its path below the shared location."""
        location = self._splice.location(row)
        if location is None:
            return self._shared(row[2], False), None
        if location == self._encoded_root or location.startswith(self._below):
            return self._shared(row[2], True), location[len(self._encoded_root) :]
        if self._outside is None:
            self._outside = len(self.groups)
            self.groups.append(self._names.listed(None))
        return self._outside, None

    def length(self, number: int, row: Row, path: bytes | None) -> int:
        """The bytes that a row has in its group."""
        if number == self._outside:
            return self._splice.length(row)
        return self._splice.length_without_storage(row, path)

    def member(self, number: int, row: Row, path: bytes | None) -> bytes:
        """The struct of a row in its group."""
        return self._splice.struct(row) if number == self._outside else self._splice.without_storage(row, path)

    def order(self) -> list[int]:
        """The numbers of the groups as they are sent: partitions that are listed completely are last."""
        numbers = [number for number in range(len(self.groups)) if number != self._outside]
        return numbers if self._outside is None else [*numbers, self._outside]

    def _shared(self, shape: int | None, located: bool) -> int:
        number = self._numbers.get((shape, located))
        if number is None:
            sd = normalized(None if shape is None else rows.storage_of(self._shapes[shape]))
            if located:
                sd = replace(sd, location=self._root)
            # Two shapes may have become equal by a change of both. Descriptors contain maps; their text can be a key.
            number = self._by_text.setdefault(repr(sd), len(self.groups))
            self._numbers[shape, located] = number
            if number == len(self.groups):
                self.groups.append(self._names.shared(sd.location, binary.encode(sd)))
        return number


def specs_reply(ctx: Context, parent: Partitioned, each: Each, *, grouped: bool) -> Encoded:
    """The result struct of a call that returns PartitionSpecs: groups, or one list.

    Hive groups only where the table requests it. Here a long list is grouped too: with a storage descriptor for each
    partition it would be ten times longer, and clients read both forms.
    """
    with ctx.reading() as tx:
        short = held(ctx, each(tx, False))
        if short is not None:
            if len(short) > SHORT or grouped:
                return _in_memory(_Grouping(ctx, tx, parent), short)
            return _listed(ctx, tx, parent, short)
    return _streamed(ctx, parent, each)


def _listed(ctx: Context, tx: Transaction, parent: Partitioned, partition_rows: list[Row]) -> Encoded:
    """One PartitionSpec that has a few complete partitions."""
    splice = splicer(ctx, tx, parent.where, parent.row)
    names = _SpecNames(ctx.shown(parent.where.catalog), parent.where.database, parent.row.name)
    head, tail = names.listed(parent.location)
    first, last = rows.list_head(1)
    structs = map(splice.struct, partition_rows)
    return Encoded(b"".join((first, head, rows.pack(len(partition_rows)), *structs, tail, last)))


def _in_memory(grouping: _Grouping, partition_rows: Iterable[Row]) -> Encoded:
    """Members that are spliced before the first is sent: to count their bytes takes about as long."""
    groups: defaultdict[int, list[bytes]] = defaultdict(list)
    for row in partition_rows:
        number, path = grouping.placed(row)
        groups[number].append(grouping.member(number, row, path))
    counts = {number: (len(members), sum(map(len, members))) for number, members in groups.items()}
    length, pieces = _pieces(grouping, counts, groups.__getitem__)
    if length <= rows.CHUNK:
        return Encoded(b"".join(pieces))
    return Encoded(Stream(rows.joined(pieces, PIECE), length, at_hand=True))


def _streamed(ctx: Context, parent: Partitioned, each: Each) -> Encoded:
    snapshot = ctx.database.snapshot()
    try:
        grouping = _Grouping(ctx, snapshot, parent)
        counts: dict[int, tuple[int, int]] = {}
        for row in each(snapshot, True):
            number, path = grouping.placed(row)
            count, size = counts.get(number, (0, 0))
            counts[number] = count + 1, size + grouping.length(number, row, path)
        if len(counts) > MAX_SCANS:
            reply = _in_memory(grouping, each(snapshot, True))
            snapshot.close()
            return reply
    except BaseException:
        snapshot.close()
        raise

    def members(number: int) -> Iterator[bytes]:
        placed = ((row, *grouping.placed(row)) for row in each(snapshot, True))
        return (grouping.member(number, row, path) for row, group, path in placed if group == number)

    length, pieces = _pieces(grouping, counts, members)

    def chunks() -> Iterator[bytes]:
        try:
            yield from rows.joined(pieces)
        finally:
            snapshot.close()

    return Encoded(Stream(chunks(), length))


def _pieces(
    grouping: _Grouping, counts: dict[int, tuple[int, int]], members: Callable[[int], Iterable[bytes]]
) -> tuple[int, Iterator[bytes]]:
    """The length of the reply, and its bytes in pieces. `counts` are the members of each group and their bytes."""
    head, tail = rows.list_head(len(counts))
    specs: list[Iterable[bytes]] = []
    length = len(head) + len(tail)
    for number in grouping.order():
        group, (count, size) = grouping.groups[number], counts[number]
        length += len(group.head) + 4 + size + len(group.tail)
        specs.append(chain((group.head, rows.pack(count)), _later(members, number), (group.tail,)))
    return length, chain((head,), chain.from_iterable(specs), (tail,))


def _later(members: Callable[[int], Iterable[bytes]], number: int) -> Iterator[bytes]:
    """The members of a group; they are not read before the first is needed."""
    yield from members(number)

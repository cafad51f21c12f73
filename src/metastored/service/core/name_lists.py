"""Lists of names as replies: of the tables of a database, and of the partitions of a table.

Reading a hundred thousand names takes SQLite 45 ms, so encoded lists are kept, each with the version of the names in
the database. Every call reads the version there, so a list is never stale, whichever program has changed the names. The
version is read before the names: names of a later state are kept under a version that no later call reads.

All that a list depends on is its key or its version. Who may ask for a list is decided in `gate/`, before the call.
Very long lists of partitions are streamed from a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from metastored.hive.patterns import compile_pattern, literal_prefix
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.context import Context, Encoded
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import partitions, tables
from metastored.store.objects.tables import TableRow
from metastored.wire.codec.binary import pack_texts
from metastored.wire.message import Stream

__all__ = ["KEPT", "NAMES_HELD", "names_of_partitions", "names_of_tables", "selected_names_of_partitions"]

KEPT: Final = 500
"""Lists of fewer names are not kept."""
NAMES_HELD: Final = 128 * 1024
"""Longer lists are not kept; of partitions, they are streamed."""
ENTRY: Final = 512
"""Bytes that an entry needs besides its list and its key, about."""


def names_of_tables(ctx: Context, where: DatabaseName, pattern: str | None = None, type: str | None = None) -> Encoded:
    """The names of a database's tables that match a pattern, of one type or all, sorted."""
    matches = compile_pattern(pattern)
    asked = None if pattern is None or pattern.strip() == "*" else pattern.strip().lower()

    def read(tx: Transaction) -> list[str]:
        names = tables.names(tx, *where, type=type, prefix=literal_prefix(pattern))
        return names if asked is None else list(filter(matches, names))

    tx = ctx.reader()
    found = tables.names_version(tx, *where)
    if found is None:
        return Encoded(_reply(read(tx)))
    db_id, stamp = found
    key = ("tables", db_id, type, asked)
    return Encoded(_kept(ctx, key, stamp, lambda: read(tx), len(asked or "")))


def names_of_partitions(ctx: Context, row: TableRow, limit: int = -1) -> Encoded:
    """The names of a table's partitions, sorted: all, or the first ones."""
    most = limit if 0 <= limit <= NAMES_HELD else -1
    tx = ctx.reader()
    version = partitions.names_version(tx, row.id) if most < 0 or most >= KEPT else None
    key = ("partitions", row.id, most)
    known = _known(ctx, key, version)
    if known is not None:
        return Encoded(known)
    names = partitions.names(tx, row.id, NAMES_HELD + 1 if most < 0 else most)
    if len(names) > NAMES_HELD:
        return Encoded(_streamed(ctx, row, limit))
    return Encoded(_keep(ctx, key, version, names))


def selected_names_of_partitions(
    ctx: Context,
    row: TableRow,
    values: Sequence[str],
    limit: int,
    read: Callable[[Transaction], list[str]],
    *,
    wrapped: bool,
) -> Encoded:
    """The names that `read` selects by some values; wrapped, as field 1 of the result's struct.

    The values are compared as the keys of the table and the caller's version of Hive say.
    """
    tx = ctx.reader()
    names = partitions.names_version(tx, row.id)
    version = None if names is None else (names, row.body)
    key = ("selected", row.id, tuple(values), limit, ctx.generation, ctx.accepts, wrapped)
    return Encoded(_kept(ctx, key, version, lambda: read(tx), len(row.body) + sum(map(len, values)), wrapped=wrapped))


def _kept(
    ctx: Context,
    key: Hashable,
    version: Any,
    read: Callable[[], list[str]],
    size: int = 0,
    *,
    wrapped: bool = False,
) -> bytes:
    known = _known(ctx, key, version)
    return known if known is not None else _keep(ctx, key, version, read(), size, wrapped=wrapped)


def _known(ctx: Context, key: Hashable, version: Any) -> bytes | None:
    return None if version is None else ctx.service.names.known(key, version)


def _keep(
    ctx: Context, key: Hashable, version: Any, names: Sequence[str], size: int = 0, *, wrapped: bool = False
) -> bytes:
    """The reply with these names, kept if it is worth it; `size` is that of the key and the version."""
    body = _reply(names, wrapped=wrapped)
    if version is not None and KEPT <= len(names) <= NAMES_HELD:
        ctx.service.names.keep(key, version, body, ENTRY + 4 * size + len(body))
    return body


def _reply(names: Sequence[str], *, wrapped: bool = False) -> bytes:
    head, tail = rows.text_list_head(len(names), wrapped=wrapped)
    return b"".join((head, pack_texts(names), tail))


def _streamed(ctx: Context, row: TableRow, limit: int) -> Stream:
    """The names are read twice, the first time for the length of the reply."""
    snapshot = ctx.database.snapshot()
    try:
        count, size = partitions.name_size(snapshot, row.id, limit)
        head, tail = rows.text_list_head(count)
    except BaseException:
        snapshot.close()
        raise

    def chunks() -> Iterator[bytes]:
        try:
            yield head
            names = partitions.each_name(snapshot, row.id, limit)
            while some := list(islice(names, 8192)):
                yield pack_texts(some)
            yield tail
        finally:
            snapshot.close()

    return Stream(chunks(), len(head) + size + 4 * count + len(tail))

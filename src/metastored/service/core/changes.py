"""A change and its event, in one transaction.

An event row contains encoded objects, not Hive's JSON. The JSON is rendered when a client reads the event. A body is a
sequence of named byte strings: `name length, name, value length, value`; names may repeat, order counts. Partitions are
stored by shape: `sd` (a StorageDescriptor without location), then `partitions` (their own fields and locations). Other
values (numbers of transactions, names of files) are in `fields`. `events/messages.py` lists the names of each event
type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final
from zlib import compress, decompressobj
from zlib import error as CompressionError

import orjson

from metastored.model.names import DatabaseName
from metastored.service.core.context import Context
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import events
from metastored.wire.codec.binary import INCOMPLETE, pack_i, unpack_u

EVENT_FORMAT: Final = 1
"""The encoding of events: `pack`."""
OF_TABLE: Final = " of table"
"""The end of the name of a part that is a storage descriptor without its columns: they are those of the table."""
WITHOUT_STORAGE: Final = 2
"""As EVENT_FORMAT, for changed partitions whose storage descriptors are parts of their own.

Before and after a change they are mostly the same, and columns are most of an event's bytes. Versions that know only
the first format refuse to read these events, and do not render them with parts missing.
"""
SHARED: Final = 3
"""As WITHOUT_STORAGE; the first part, `shared`, has the parts that all events of a call begin with, compressed.

Without it, the table is most of an event's bytes.
"""
MANY: Final = 16
"""From this many events of a call on, what they share is compressed."""
SHARED_BYTES: Final = 128 << 20
"""More than a request has: in the file of somebody else, a few bytes could stand for many more."""


def pack(parts: Iterable[tuple[str, bytes]]) -> bytes:
    """Named byte strings as one body."""
    out: list[bytes] = []
    for name, value in parts:
        key = name.encode()
        out += (pack_i(len(key)), key, pack_i(len(value)), value)
    return b"".join(out)


def unpack(body: bytes) -> list[tuple[str, bytes]]:
    """The reverse of `pack`. Raises ValueError for other bytes: those of a backup may be anybody's."""
    at, parts, size = 0, [], len(body)
    try:
        while at < size:
            end = at + 4 + unpack_u(body, at)[0]
            name = body[at + 4 : end].decode()
            at = end + 4 + unpack_u(body, end)[0]
            parts.append((name, body[end + 4 : at]))
    except INCOMPLETE:
        at = size + 1
    if at > size:
        raise ValueError("its parts are cut short")
    return parts


def unpack_event(fmt: int, body: bytes) -> list[tuple[str, bytes]]:
    """The parts of an event. Raises ValueError for a format that this version does not read, and for damaged bytes."""
    if fmt not in (EVENT_FORMAT, WITHOUT_STORAGE, SHARED):
        raise ValueError(f"it has format {fmt}, which this version of metastored does not read")
    parts = unpack(body)
    if fmt != SHARED:
        return parts
    if not parts:
        raise ValueError("it lacks the parts that events share")
    return [*unpack(_decompressed(parts[0][1])), *parts[1:]]


def _decompressed(data: bytes) -> bytes:
    inflate = decompressobj()
    try:
        shared = inflate.decompress(data, SHARED_BYTES)
    except CompressionError as error:
        raise ValueError(f"the parts that events share are damaged: {error}") from error
    if not inflate.eof:
        raise ValueError(f"the parts that events share have more than {SHARED_BYTES} bytes, or are cut short")
    return shared


def fields(**values: Any) -> tuple[str, bytes]:
    """Numbers, texts and lists of them, under the names that they have in Hive's JSON message."""
    return "fields", orjson.dumps(values)


def record(
    ctx: Context,
    tx: Transaction,
    type: str,
    where: DatabaseName | None = None,
    table: str | None = None,
    parts: Iterable[tuple[str, bytes]] = (),
) -> int:
    """Appends an event. Call it last in the transaction, because it takes the sequence's lock."""
    return record_many(ctx, tx, type, where, table, (parts,))


def record_many(
    ctx: Context,
    tx: Transaction,
    type: str,
    where: DatabaseName | None,
    table: str | None,
    objects: Collection[Iterable[tuple[str, bytes]]],
    *,
    shared: Iterable[tuple[str, bytes]] = (),
    fmt: int = EVENT_FORMAT,
) -> int:
    """Appends one event for each of `objects`, in two statements; returns the last event's id.

    Each event begins with the parts in `shared`; many events in WITHOUT_STORAGE have them as in SHARED. Call it last in
    the transaction.
    """
    catalog, database = where if where is not None else (None, None)
    user = [("user", ctx.user.encode())] if ctx.user else []
    begins = pack((*user, *shared))
    if fmt == WITHOUT_STORAGE and len(objects) >= MANY:
        fmt, begins = SHARED, pack([("shared", compress(begins, 1))])
    bodies = [begins + pack(parts) for parts in objects]
    return events.append_many(
        tx, time=ctx.now(), type=type, cat=catalog, db=database, tbl=table, fmt=fmt, bodies=bodies
    )

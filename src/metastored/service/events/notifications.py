"""The event log as clients read it, events that clients report themselves, and the write log of transactions.

Every change of metadata records an event (`core/changes.py`); this module reads them and renders their messages
(`messages.py`). As in Hive, a transaction's writes are not events: they are stored until a client that follows the log
sees the transaction's commit and requests them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final

from metastored.errors import MetaException
from metastored.hive.names import DEFAULT_CATALOG, normalize
from metastored.service.core import rows
from metastored.service.core.changes import fields, record
from metastored.service.core.context import Context, Encoded
from metastored.service.core.documents import Kind
from metastored.service.core.partition_lists import splicer
from metastored.service.core.serving import method
from metastored.service.events.messages import file_text, rendered
from metastored.service.partitions.get import Partitioned, no_partition, partitioned
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import events, partitions
from metastored.store.objects.events import EventFilter, EventRow
from metastored.wire.codec import binary, tjson
from metastored.wire.generated.common import WriteEventInfo
from metastored.wire.generated.notifications import (
    CurrentNotificationEventId,
    FireEventRequest,
    FireEventResponse,
    GetAllWriteEventInfoRequest,
    InsertEventRequestData,
    NotificationEventRequest,
    NotificationEventsCountRequest,
    NotificationEventsCountResponse,
    WriteNotificationLogBatchRequest,
    WriteNotificationLogBatchResponse,
    WriteNotificationLogRequest,
    WriteNotificationLogResponse,
)
from metastored.wire.generated.partitions import Partition
from metastored.wire.message import Stream
from metastored.wire.structs import replace

MAX_EVENTS: Final = 1_000_000
"""The most events that one call returns, as Hive's metastore.max.event.response."""
MAX_BYTES: Final = 64 * 1024 * 1024
"""A reply that reaches this length ends early: a client that follows the log requests the rest with its next call."""
PAGE: Final = 1000
FILE_SEPARATOR: Final = "]"
WRITE_EVENTS: Final = Kind("write_event", WriteEventInfo)
"""The write log of a transaction: the parent is the transaction, the key `db/table/partition`, the number the time."""


@method
def get_current_notificationEventId(ctx: Context) -> CurrentNotificationEventId:
    return CurrentNotificationEventId(eventId=events.current(ctx.reader()))


@method
def get_next_notification(ctx: Context, rqst: NotificationEventRequest) -> Encoded:
    requested = rqst.maxEvents or 0
    limit = requested if 0 < requested < MAX_EVENTS else MAX_EVENTS
    event_filter = EventFilter(
        cat=normalize(rqst.catName) if rqst.catName is not None else None,
        db=normalize(rqst.dbName) if rqst.dbName is not None else None,
        tables=tuple(map(normalize, rqst.tableNames or ())),
        types=rqst.eventTypeList or None,
        not_types=rqst.eventTypeSkipList or (),
    )
    structs: list[bytes] = []
    size = 0
    last = rqst.lastEvent or 0
    with ctx.reading() as tx:
        while len(structs) < limit and size < MAX_BYTES:
            page = events.ids_since(tx, last, min(PAGE, limit - len(structs)), event_filter)
            for event in _encoded_events(ctx, tx, page):
                structs.append(event)
                size += len(event)
                if size >= MAX_BYTES:
                    break
            if len(page) < PAGE:
                break
            last = page[-1]
    if size <= rows.CHUNK:
        return Encoded(rows.wrapped_list(structs, len(structs)))
    head, tail = rows.list_head(len(structs), wrapped=True)
    step = rows.CHUNK * len(structs) // size + 1

    def chunks() -> Iterator[bytes]:
        yield head
        for at in range(0, len(structs), step):
            yield b"".join(structs[at : at + step])
        yield tail

    return Encoded(Stream(chunks(), len(head) + size + len(tail), at_hand=True))


def _encoded_events(ctx: Context, tx: Transaction, ids: Sequence[int]) -> Iterator[bytes]:
    """NotificationEvent structs in Thrift binary. Cached events are not read from the database."""
    cached = ctx.service.rendered
    known = {id: cached.get(id, ctx.generation) for id in ids}
    event_rows = {row.id: row for row in events.find_many(tx, [id for id, event in known.items() if event is None])}
    new: dict[int, bytes] = {}
    try:
        for id, event in known.items():
            if event is None:
                event = new[id] = _encoded(ctx, event_rows.pop(id))
            yield event
    finally:
        cached.put(ctx.generation, new)


def _encoded(ctx: Context, row: EventRow) -> bytes:
    message, format = rendered(row, ctx.generation)
    return b"".join((
        _ID, binary.pack_q(row.id), _TIME, binary.pack_i(row.time), _subject(row.type, row.cat, row.db, row.tbl),
        _MESSAGE, binary.pack_i(len(message)), message, _format(format),
    ))  # fmt: skip


_ID, _TIME, _MESSAGE = binary.pack_field(10, 1), binary.pack_field(8, 2), binary.pack_field(11, 6)


@lru_cache(256)
def _subject(type: str, cat: str | None, db: str | None, tbl: str | None) -> bytes:
    """The fields of an event's struct that name its object; consecutive events are often of one table."""
    named = ((3, type), (4, db), (5, tbl), (8, cat))
    return b"".join(rows.text_field(number, name) for number, name in named if name is not None)


@cache
def _format(name: str) -> bytes:
    """The last field, and the struct's end."""
    return rows.text_field(7, name) + rows.STOP


@method
def get_notification_events_count(
    ctx: Context, rqst: NotificationEventsCountRequest
) -> NotificationEventsCountResponse:
    database = rqst.dbName
    event_filter = EventFilter(
        cat=normalize(rqst.catName or DEFAULT_CATALOG),
        db=None if database is None or database == "*" else normalize(database),
        tables=tuple(map(normalize, rqst.tableNames or ())),
        until=rqst.toEventId,
        and_nameless=True,
    )
    count = events.count_since(ctx.reader(), rqst.fromEventId or 0, event_filter)
    return NotificationEventsCountResponse(eventsCount=count if rqst.limit is None else min(count, rqst.limit))


# --- events that clients report -------------------------------------------------------------------------------------


@method
def fire_listener_event(ctx: Context, rqst: FireEventRequest) -> FireEventResponse:
    """Records an event for an engine that writes files itself:

    INSERT with the files, RELOAD when it reads them again.
    """
    data = rqst.data
    if data is None or (data.insertData is None and data.insertDatas is None and data.refreshEvent is None):
        raise MetaException("fire_listener_event needs the data of an insert or a refresh")
    where = ctx.name(rqst.dbName, rqst.catName)
    inserts: tuple[InsertEventRequestData, ...] = data.insertDatas or ()
    if data.insertData is not None:
        inserts = (replace(data.insertData, partitionVal=rqst.partitionVals),)
    elif any(insert.partitionVal is None for insert in inserts):
        raise MetaException("Partition values must be set when firing multiple insert events")

    def fire(tx: Transaction) -> list[int]:
        parent = partitioned(ctx, tx, where, rqst.tableName)
        table = ("table", binary.encode(parent.table))
        if data.insertData is None and data.insertDatas is None:
            own = [table, *_partition_part(ctx, tx, parent, rqst.partitionVals), fields(refreshEvent=data.refreshEvent)]
            return [record(ctx, tx, "RELOAD", where, parent.row.name, own)]
        bodies = [
            [table, *_partition_part(ctx, tx, parent, each.partitionVal), _insert_fields(each)] for each in inserts
        ]
        return [record(ctx, tx, "INSERT", where, parent.row.name, body) for body in bodies]

    return FireEventResponse(eventIds=tuple(ctx.database.run(fire)))


def _partition_part(
    ctx: Context, tx: Transaction, parent: Partitioned, values: tuple[str, ...] | None
) -> list[tuple[str, bytes]]:
    if values is None:
        return []
    return [("partition", binary.encode(_partition(ctx, tx, parent, values)))]


def _partition(ctx: Context, tx: Transaction, parent: Partitioned, values: tuple[str, ...]) -> Partition:
    row = partitions.find(tx, parent.row.id, parent.part_name(values))
    if row is None:
        raise no_partition(values)
    return splicer(ctx, tx, parent.where, parent.row).partition(row)


def _insert_fields(data: InsertEventRequestData) -> tuple[str, bytes]:
    return fields(replace=data.replace is not False, files=_files(data))


def _files(data: InsertEventRequestData) -> list[tuple[str, str | None, str | None]]:
    """(file, its checksum, the directory below the table) of each file."""
    files = data.filesAdded or ()
    checksums = data.filesAddedChecksum or ()
    below = data.subDirectoryList or ()
    for name, values in (("filesAddedChecksum", checksums), ("subDirectoryList", below)):
        if values and len(values) != len(files):
            raise MetaException(
                f"an event names {len(files)} files and {len(values)} in {name}: one for each is needed"
            )
    none = (None,) * len(files)
    return list(zip(files, checksums or none, below or none, strict=True))


# --- the write log of transactions
# ----------------------------------------------------------------------------------------


@method
def add_write_notification_log(ctx: Context, rqst: WriteNotificationLogRequest) -> WriteNotificationLogResponse:
    where = ctx.name(rqst.db)

    def add(tx: Transaction) -> None:
        parent = partitioned(ctx, tx, where, rqst.table)
        part = _partition(ctx, tx, parent, rqst.partitionVals) if rqst.partitionVals else None
        _add(ctx, tx, parent, [(rqst, part)])

    ctx.database.run(add)
    return WriteNotificationLogResponse()


@method
def add_write_notification_log_in_batch(
    ctx: Context, rqst: WriteNotificationLogBatchRequest
) -> WriteNotificationLogBatchResponse:
    """Partitions that no longer exist are skipped, as in Hive."""
    requests = rqst.requestList or ()
    if not requests:
        return WriteNotificationLogBatchResponse()
    where = ctx.name(rqst.db, rqst.catalog)

    def add(tx: Transaction) -> None:
        parent = partitioned(ctx, tx, where, rqst.table)
        if not parent.keys:
            _add(ctx, tx, parent, [(each, None) for each in requests])
            return
        by_name = {parent.part_name(each.partitionVals): each for each in requests}
        splice = splicer(ctx, tx, parent.where, parent.row)
        named_parts = [
            (row[1], splice.partition(row)) for row in partitions.find_many(tx, parent.row.id, list(by_name))
        ]
        _add(ctx, tx, parent, [(by_name[name], part) for name, part in named_parts])

    ctx.database.run(add)
    return WriteNotificationLogBatchResponse()


def _add(
    ctx: Context,
    tx: Transaction,
    partitioned: Partitioned,
    written: Iterable[tuple[WriteNotificationLogRequest, Partition | None]],
) -> None:
    table_text = tjson.text(partitioned.table)
    for request, part in written:
        if request.fileInfo is None or request.txnId is None:
            raise MetaException("a write notification needs a transaction and its files")
        name = partitioned.part_name(part.values) if part is not None else ""
        parent, key = str(request.txnId), f"{partitioned.where.database}/{partitioned.row.name}/{name}"
        files = FILE_SEPARATOR.join(file_text(uri, below) for uri, _, below in _files(request.fileInfo))
        info = WriteEventInfo(
            writeId=request.writeId or 0,
            database=partitioned.where.database,
            table=partitioned.row.name,
            files=files,
            partition=name,
            tableObj=table_text,
            partitionObj=tjson.text(part) if part is not None else None,
        )
        known = WRITE_EVENTS.find(tx, key, parent)
        if known is None:
            WRITE_EVENTS.insert(tx, key, info, parent=parent, at=ctx.now())
        elif files not in (before := known.value.files or ""):
            # A call that is retried names the same files.
            WRITE_EVENTS.update(tx, known, replace(info, files=f"{files}{FILE_SEPARATOR}{before}"), at=ctx.now())


@method
def get_all_write_event_info(ctx: Context, request: GetAllWriteEventInfoRequest) -> tuple[WriteEventInfo, ...]:
    """`*` matches any database or table."""
    documents = WRITE_EVENTS.below(ctx.reader(), str(request.txnId))
    database = _name_or_any(request.dbName)
    table = _name_or_any(request.tableName)
    return tuple(
        each.value
        for each in documents
        if (database is None or each.value.database == database) and (table is None or each.value.table == table)
    )


def _name_or_any(name: str | None) -> str | None:
    return None if name is None or name == "*" else normalize(name)

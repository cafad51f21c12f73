"""A handler that shows ACID tables as views to clients that cannot read them, and refuses their changes.

A client that gets a view believes that it is one: `DROP VIEW orders` would arrive as drop_table and remove the table.
So every change of an ACID table by such a client is refused; it can still create one. All that is needed for a view is
asked of the inner handler in the session of the caller, who needs the same rights as for the table. Clients that read
ACID are not affected.

Who gets views: the sessions that the operator has chosen, and with `by_request` also each client that looks up an ACID
table with get_table. Spark does, and Hive 2.3, which cannot read these tables either. Clients that can use
get_table_req, which says what they are capable of.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol

from metastored.acid_views.files import Files, NotShown, TablePlace, compactions_in, files_of
from metastored.acid_views.lists import metas_by_type, names_by_type
from metastored.acid_views.names import FileTable, Snapshot, narrowed, parse, shown
from metastored.acid_views.partitions import asks_for_partitions, no_partitions
from metastored.acid_views.tables import check_format, failing_view, file_table, named_view, view
from metastored.errors import (
    InvalidOperationException,
    MetaException,
    MetastoreError,
    NoSuchObjectException,
    StoreError,
)
from metastored.hive.locations import LocationError
from metastored.hive.names import DEFAULT_CATALOG, DEFAULT_PARTITION
from metastored.hive.transactions.resolution import Listing
from metastored.hive.transactions.snapshots import ValidTxnList, ValidWriteIdList
from metastored.model.acid import is_insert_only, is_transactional
from metastored.model.names import TableName
from metastored.model.objects import objects_of
from metastored.model.opening import MayOpen
from metastored.model.snapshots import seen_transactions, seen_write_ids
from metastored.threads import Pool
from metastored.wire.generated.common import Table
from metastored.wire.generated.tables import ClientCapabilities, ClientCapability, GetTableRequest, GetTableResult
from metastored.wire.generated.transactions import GetValidWriteIdsRequest
from metastored.wire.message import REPLY, Call, Handler, Reply, Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace

LISTING_AGE: Final = 60.0
"""Seconds for which a listing of directories serves. New rows have new write ids, and so are seen at once; the listing
only does not show that a compaction has replaced directories, which the cleaner keeps for longer than this."""
LISTING_SECONDS: Final = 120.0
"""For the directories of one table."""
MAX_KEPT: Final = 200_000
"""Directories and files of the listings that are kept."""

MAX_CREATED: Final = 1000
"""Tables of one connection."""

_LOOK_UPS: Final = frozenset({"get_table", "get_table_req"})
_LISTS: Final = frozenset({"get_table_objects_by_name", "get_table_objects_by_name_req"})
_BY_TYPE: Final[Mapping[str, Callable[..., Awaitable[object]]]] = {
    "get_tables_by_type": names_by_type,
    "get_table_meta": metas_by_type,
}
_KEPT_FROM: Final = frozenset({"table", "partition", "column_statistics", "constraint", "index"})
"""Objects whose changes are refused. Grants, locks, transactions and requests for a compaction do no harm."""


class Lists(Protocol):
    """Lists the directory of a table or partition: `Warehouse`."""

    def listing(self, uri: str) -> Listing: ...


class _Listed:
    """The directories of a table, and the write ids that were visible when they were listed."""

    __slots__ = ("answer", "compactions", "entries", "places", "since", "table", "write_ids")

    def __init__(self, table: Table, write_ids: str, places: Mapping[TablePlace, Listing], since: float) -> None:
        self.table = table
        self.write_ids = write_ids
        self.places = places
        self.since = since
        self.compactions = compactions_in(places.values())
        self.entries = sum(len(each.files) + 1 + sum(map(len, each.directories.values())) for each in places.values())
        self.answer: tuple[Snapshot, Table] | None = None
        """The last view that was made of it, and the snapshot that it is of."""


class AcidViews:
    """ACID tables as views, for the sessions that `shows` selects."""

    def __init__(
        self,
        inner: Handler,
        warehouse: Lists,
        pool: Pool,
        may_open: MayOpen,
        shows: Callable[[Session], bool],
        by_request: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._warehouse = warehouse
        self._pool = pool
        self._may_open = may_open
        self._shows = shows
        self._by_request = by_request
        self._clock = clock
        self._kept: OrderedDict[TableName, _Listed] = OrderedDict()

    async def handle(self, call: Call, session: Session) -> Reply:
        name = call.method.name
        if not self._shows(session) and not (self._by_request and name == "get_table"):
            return await self._inner.handle(call, session)
        if name in _LOOK_UPS:
            return await self._look_up(call, session)
        if name in _LISTS:
            return await self._list(call, session)
        if name in _BY_TYPE:
            return await self._list_by_type(call, session)
        if name.startswith("create_table"):
            return await self._create(call, session)
        if asks_for_partitions(call.method):
            return await self._partitions(call, session)
        if call.method.cost == "write" and call.method.object in _KEPT_FROM:
            refusal = await self._refusal(call, session)
            if refusal is not None:
                return Reply.failed(call.method, refusal, session.version, InvalidOperationException, MetaException)
        return await self._inner.handle(call, session)

    # Look-ups

    async def _look_up(self, call: Call, session: Session) -> Reply:
        wanted = parse(_name_in(call))
        if wanted is None:
            call.relays = False
            reply = await self._inner.handle(call, session)
            table = _table_in(reply, call)
            if isinstance(reply.error, NoSuchObjectException):
                return reply
        if wanted is not None or table is None:  # Insert-only tables are refused to clients without capabilities.
            asked = _capable(_request_of(call), _name_in(call) if wanted is None else wanted.table)
            table = _table_in(await self._inner.handle(asked, session), asked)
        if table is None or not is_transactional(table.parameters):
            return reply if wanted is None else await self._inner.handle(call, session)
        session.acid_views = True  # Also for what this client does with the view.
        try:
            answer = await self._answer(table, wanted, session)
        except (NotShown, ValueError) as reason:  # A location or a value that cannot be read is a ValueError.
            if wanted is not None:
                text = f"{_name_in(call)} cannot be read any more: {reason}; run the query again"
                return Reply.failed(call.method, text, session.version, NoSuchObjectException)
            answer = failing_view(table, str(reason))
        return Reply.of(call.method, answer if call.method.name == "get_table" else GetTableResult(table=answer))

    async def _list(self, call: Call, session: Session) -> Reply:
        call.relays = False
        reply = await self._inner.handle(call, session)
        if reply.kind != REPLY or reply.error is not None:
            return reply
        value = reply.value(call.method)
        tables = value if type(value) is tuple else value.tables or ()
        listed = tuple(named_view(each) if is_transactional(each.parameters) else each for each in tables)
        return Reply.of(call.method, listed if type(value) is tuple else replace(value, tables=listed))

    async def _list_by_type(self, call: Call, session: Session) -> Reply:
        async def ask(method: str, *args: Any) -> Any:
            return await self._ask(session, method, *args)

        try:
            return Reply.of(call.method, await _BY_TYPE[call.method.name](ask, *call.args))
        except NotShown:
            return await self._inner.handle(call, session)  # It says itself what is wrong with the request.

    async def _partitions(self, call: Call, session: Session) -> Reply:
        for name in objects_of(call).tables:
            _, table = await self._asked(name, session)
            if table is not None and is_transactional(table.parameters):
                reply = no_partitions(call.method)
                if reply is not None:
                    return Reply.of(call.method, reply)
                text = f"{name} is an ACID table, which this client sees as a view: it has no partitions"
                return Reply.failed(call.method, text, session.version, NoSuchObjectException)
        return await self._inner.handle(call, session)

    async def _asked(self, name: TableName, session: Session) -> tuple[Reply, Table | None]:
        """A look-up of a table, or of the table whose files a name stands for."""
        wanted = parse(name.table)
        catalog = None if name.catalog in ("", DEFAULT_CATALOG) else name.catalog
        request = GetTableRequest(dbName=name.database, catName=catalog)
        asked = _capable(request, name.table if wanted is None else wanted.table)
        reply = await self._inner.handle(asked, session)
        return reply, _table_in(reply, asked)

    async def _answer(self, table: Table, wanted: FileTable | None, session: Session) -> Table:
        """The view of a table, or a table of its files. Raises NotShown."""
        check_format(table)
        name = TableName(table.catName or DEFAULT_CATALOG, table.dbName or "", table.tableName or "")
        if name.catalog != DEFAULT_CATALOG:
            raise NotShown(f"it is in the catalog {name.catalog}, and write ids are those of the catalog hive")
        places = await self._places(name, table, session)
        if wanted is not None:
            listed = await self._listed(name, table, shown(wanted.snapshot.write_ids), places)
            return file_table(table, wanted, _files(listed, wanted.snapshot, table))
        write_ids, transactions = await self._snapshot(name, session)
        listed = await self._listed(name, table, shown(write_ids), places)
        snapshot = narrowed(write_ids, transactions, listed.compactions)
        if listed.answer is None or listed.answer[0] != snapshot:
            listed.answer = (snapshot, view(table, places, _files(listed, snapshot, table), snapshot))
        return listed.answer[1]

    async def _snapshot(self, name: TableName, session: Session) -> tuple[ValidWriteIdList, ValidTxnList]:
        seen = seen_transactions(await self._ask(session, "get_open_txns"))
        full_name = f"{name.database}.{name.table}".lower()
        request = GetValidWriteIdsRequest(fullTableNames=(full_name,), validTxnList=str(seen))
        for ids in seen_write_ids(await self._ask(session, "get_valid_write_ids", request)).values():
            return ids, ids.transactions or seen
        raise NotShown("the metastore returned no write ids of it")

    async def _places(self, name: TableName, table: Table, session: Session) -> tuple[TablePlace, ...]:
        """The directories of a table, which may be opened for the caller."""
        location = (table.sd.location if table.sd is not None else None) or ""
        places: tuple[TablePlace, ...] = (TablePlace(location),)
        if table.partitionKeys:
            partitions = await self._ask(session, "get_partitions", name.database, name.table, -1)
            places = tuple(
                TablePlace(
                    (each.sd.location if each.sd is not None else None) or "",
                    tuple(None if value == DEFAULT_PARTITION else value for value in each.values or ()),
                )
                for each in partitions
            )
        outside = {each.location for each in places if not each.location.startswith(f"{location}/")}
        for each in sorted({location, *outside}):
            try:
                refusal = await self._may_open(name, each, session, removes=False)
            except LocationError as error:
                refusal = str(error)
            if refusal is not None:
                raise NotShown(refusal)
        return places

    async def _listed(self, name: TableName, table: Table, write_ids: str, places: tuple[TablePlace, ...]) -> _Listed:
        """The directories of all places, listed when these write ids were visible and the table was the same."""
        kept = self._kept.get(name)
        if kept is not None and (kept.write_ids, kept.table, tuple(kept.places)) == (write_ids, table, places):
            if self._clock() - kept.since < LISTING_AGE:
                self._kept.move_to_end(name)
                return kept
            del self._kept[name]
        since = self._clock()
        try:
            listings = await self._pool.run(lambda: self._listings(places))
        except (StoreError, LocationError) as error:
            raise NotShown(str(error)) from error
        listed = self._kept[name] = _Listed(table, write_ids, listings, since)
        self._kept.move_to_end(name)
        while sum(each.entries for each in self._kept.values()) > MAX_KEPT:
            self._kept.popitem(last=False)
        return listed

    def _listings(self, places: tuple[TablePlace, ...]) -> dict[TablePlace, Listing]:
        """On a thread of the pool, which others need too: so for a limited time."""
        listings = {}
        end = self._clock() + LISTING_SECONDS
        for each in places:
            if self._clock() > end:
                raise StoreError(f"its {len(places):,} directories could not be listed within {LISTING_SECONDS:g} s")
            listings[each] = self._warehouse.listing(each.location)
        return listings

    async def _ask(self, session: Session, method: str, *args: Any) -> Any:
        """The value of a call in the caller's session. Raises NotShown if it is refused."""
        asked = METHODS[method]
        padded = (*args, *[None] * (len(asked.args) - len(args)))
        reply = await self._inner.handle(Call(asked, padded), session)
        try:
            return reply.value(asked)
        except MetastoreError as error:
            raise NotShown(f"{method}: {error}") from error

    # Changes

    async def _create(self, call: Call, session: Session) -> Reply:
        reply = await self._inner.handle(call, session)
        if reply.error is None and len(session.created) < MAX_CREATED:
            session.created.update((name.database, name.table) for name in objects_of(call).tables)
        return reply

    async def _is_own_and_empty(self, table: Table, session: Session) -> bool:
        """Whether this client has just created the table, and nobody has written to it.

        A CTAS of Spark's drops the table again when it sees that it cannot write to it.
        """
        if (table.dbName, table.tableName) not in session.created:
            return False
        name = TableName(table.catName or DEFAULT_CATALOG, table.dbName or "", table.tableName or "")
        try:
            write_ids, _ = await self._snapshot(name, session)
        except NotShown:
            return False
        return write_ids.high_watermark == 0

    async def _refusal(self, call: Call, session: Session) -> str | None:
        """Why a change is refused: it is one of an ACID table, or it is not known whether it is."""
        for name in objects_of(call).tables:
            reply, table = await self._asked(name, session)
            if table is None and not isinstance(reply.error, NoSuchObjectException):
                return f"{call.method.name} was not called, because {name} could not be looked up: {reply.error}"
            if table is not None and is_transactional(table.parameters):
                if call.method.name.startswith("drop_table") and await self._is_own_and_empty(table, session):
                    continue
                return (
                    f"{name._replace(table=table.tableName or '')} is an ACID table, which this client sees as a view: "
                    f"{call.method.name} would change the table. Change its rows with metastored.spark.sql, and its "
                    "definition with metastored sql or Hive"
                )
        return None


def _files(listed: _Listed, snapshot: Snapshot, table: Table) -> Files:
    return files_of(listed.places, snapshot, is_insert_only(table.parameters))


def _name_in(call: Call) -> str:
    """The table that a look-up asks for."""
    return _request_of(call).tblName or ""


def _request_of(call: Call) -> GetTableRequest:
    """A look-up in its newer form."""
    first = call.args[0]
    return first if isinstance(first, GetTableRequest) else GetTableRequest(dbName=first, tblName=call.args[1])


def _capable(request: GetTableRequest, table: str) -> Call:
    """A look-up of a table by a client that reads all tables, whatever this one says of itself."""
    able = ClientCapabilities(values=(ClientCapability.INSERT_ONLY_TABLES,))
    return Call(METHODS["get_table_req"], (replace(request, tblName=table, capabilities=able),))


def _table_in(reply: Reply, call: Call) -> Table | None:
    """The table of a look-up; None if there is none."""
    if reply.kind != REPLY or reply.error is not None:
        return None
    try:
        value = reply.value(call.method)
    except MetastoreError:
        return None
    table: Table | None = value.table if isinstance(value, GetTableResult) else value
    return table

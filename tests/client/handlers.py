"""Handlers for tests of the client: a writable metastore in memory, and one with few methods."""

from __future__ import annotations

from typing import Any

from metastored.errors import (
    AlreadyExistsException,
    ApplicationError,
    ConnectionLost,
    MetaException,
    NoSuchLockException,
    NoSuchObjectException,
)
from metastored.wire.generated.common import EnvironmentContext, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function
from metastored.wire.generated.locks import (
    CheckLockRequest,
    HeartbeatRequest,
    LockRequest,
    LockResponse,
    LockState,
    UnlockRequest,
)
from metastored.wire.generated.notifications import (
    CurrentNotificationEventId,
    NotificationEvent,
    NotificationEventRequest,
    NotificationEventResponse,
)
from metastored.wire.generated.partitions import AddPartitionsRequest, AddPartitionsResult, Partition
from metastored.wire.generated.tables import GetTableRequest, GetTableResult, GetTablesRequest, GetTablesResult
from metastored.wire.generated.transactions import (
    AbortTxnRequest,
    AddDynamicPartitions,
    AllocateTableWriteIdsRequest,
    AllocateTableWriteIdsResponse,
    CommitTxnRequest,
    GetOpenTxnsResponse,
    GetValidWriteIdsRequest,
    GetValidWriteIdsResponse,
    OpenTxnRequest,
    OpenTxnsResponse,
    TableValidWriteIds,
    TxnToWriteId,
)
from metastored.wire.message import Call, Reply, Session
from tests.support.memory_metastore import MemoryMetastore
from tests.support.objects import bare_storage, bare_table

NINE = frozenset({
    "get_database", "get_databases", "get_all_databases", "get_tables_by_type", "get_all_tables", "get_table",
    "get_tables", "get_partitions", "get_partition_names",
})  # fmt: skip


def table_of(db: str, name: str, columns: int = 2, **parameters: str) -> Table:
    cols = tuple((f"c{at}", "string") for at in range(columns))
    sd = bare_storage(cols, f"file:///warehouse/{db}.db/{name}", serdeInfo=None)
    return bare_table(db, name, keys=("ds",), owner="ann", sd=sd, parameters=parameters)


class WritableMetastore(MemoryMetastore):
    """A metastore with tables, databases, partitions, functions and notification events."""

    def __init__(self, tables: tuple[Table, ...] = (), events: bool = False) -> None:
        super().__init__({})
        self.made: dict[tuple[str, str], Table] = {}
        self.parts: dict[tuple[str, str], dict[tuple[str, ...], Partition]] = {}
        self.dbs = {"sales": Database(name="sales", parameters={})}
        self.functions: dict[tuple[str, str], Function] = {}
        self.log: list[NotificationEvent] = []
        for table in tables:
            self.create_table(table)
        if events:
            self.get_current_notificationEventId = self._current
            self.get_next_notification = self._next

    def get_all_databases(self) -> tuple[str, ...]:
        return tuple(self.dbs)

    def get_database(self, name: str) -> Database:
        if name not in self.dbs:
            raise NoSuchObjectException(name)
        return self.dbs[name]

    def create_database(self, database: Database) -> None:
        assert database.name is not None
        if database.name in self.dbs:
            raise AlreadyExistsException(f"Database {database.name} already exists")
        self.dbs[database.name] = database

    def drop_database(self, name: str, delete: bool, cascade: bool) -> None:
        if self.dbs.pop(name, None) is None:
            raise NoSuchObjectException(name)

    def get_all_tables(self, database: str) -> tuple[str, ...]:
        return tuple(name for db, name in self.made if db == database)

    def get_table(self, database: str, name: str) -> Table:
        if (database, name) not in self.made:
            raise NoSuchObjectException(f"{database}.{name} table not found")
        return self.made[database, name]

    def get_table_req(self, request: GetTableRequest) -> GetTableResult:
        return GetTableResult(table=self.get_table(request.dbName or "", request.tblName or ""))

    def get_table_objects_by_name_req(self, request: GetTablesRequest) -> GetTablesResult:
        names = [(request.dbName or "", name) for name in request.tblNames or ()]
        return GetTablesResult(tables=tuple(self.made[name] for name in names if name in self.made))

    def create_table(self, table: Table) -> None:
        key = (table.dbName or "", table.tableName or "")
        if key in self.made:
            raise AlreadyExistsException(f"Table {key[1]} already exists")
        self.made[key] = table
        self._tell("CREATE_TABLE", *key)

    def alter_table_with_environment_context(
        self, db: str, name: str, table: Table, context: EnvironmentContext | None
    ) -> None:
        self.get_table(db, name)
        expected = (context.properties or {}).get("expected_parameter_value") if context else None
        if expected is not None and (self.made[db, name].parameters or {}).get("metadata_location") != expected:
            raise MetaException("The table has been modified")
        del self.made[db, name]
        self.made[table.dbName or "", table.tableName or ""] = table
        self._tell("ALTER_TABLE", table.dbName or "", table.tableName or "")

    def drop_table_with_environment_context(
        self, db: str, name: str, delete: bool, context: EnvironmentContext | None
    ) -> None:
        self.get_table(db, name)
        del self.made[db, name]
        self._tell("DROP_TABLE", db, name)

    def add_partitions_req(self, request: AddPartitionsRequest) -> AddPartitionsResult:
        there = self.parts.setdefault((request.dbName or "", request.tblName or ""), {})
        for part in request.parts or ():
            if part.values in there:
                raise AlreadyExistsException(f"Partition already exists: {part.values}")
        there.update({part.values or (): part for part in request.parts or ()})
        return AddPartitionsResult()

    def get_partition(self, db: str, name: str, values: tuple[str, ...]) -> Partition:
        found = self.parts.get((db, name), {}).get(values)
        if found is None:
            raise NoSuchObjectException(f"partition values={list(values)}")
        return found

    def append_partition(self, db: str, name: str, values: tuple[str, ...]) -> Partition:
        there = self.parts.setdefault((db, name), {})
        if values in there:
            raise AlreadyExistsException("Partition already exists")
        there[values] = Partition(values=values, dbName=db, tableName=name)
        return there[values]

    def drop_partition(self, db: str, name: str, values: tuple[str, ...], delete: bool) -> bool:
        self.get_partition(db, name, values)
        del self.parts[db, name][values]
        return True

    def create_function(self, function: Function) -> None:
        self.functions[function.dbName or "", function.functionName or ""] = function

    def drop_function(self, db: str, name: str) -> None:
        self.get_function(db, name)
        del self.functions[db, name]

    def get_function(self, db: str, name: str) -> Function:
        if (db, name) not in self.functions:
            raise NoSuchObjectException(f"Function {db}.{name} does not exist")
        return self.functions[db, name]

    def open_txns(self, request: Any) -> Any:
        raise MetaException("no transactions here")

    def getStatus(self) -> int:
        return 2

    def _current(self) -> CurrentNotificationEventId:
        return CurrentNotificationEventId(eventId=len(self.log))

    def _next(self, request: NotificationEventRequest) -> NotificationEventResponse:
        return NotificationEventResponse(events=tuple(self.log[request.lastEvent or 0 :][: request.maxEvents]))

    def _tell(self, kind: str, db: str, name: str) -> None:
        number = len(self.log) + 1
        self.log.append(NotificationEvent(number, 0, kind, db, name, message="{}"))


class OnlyNine:
    """A server with only the nine methods of the HTTP protocol."""

    def __init__(self, inner: MemoryMetastore) -> None:
        self.inner = inner

    async def handle(self, call: Call, session: Session) -> Reply:
        if call.method.name not in NINE:
            text = f"Invalid method name: '{call.method.name}'"
            return Reply.raised(call.method, ApplicationError(ApplicationError.UNKNOWN_METHOD, text))
        return await self.inner.handle(call, session)


class LockingMetastore(WritableMetastore):
    """A metastore with locks and transactions, whose behaviour the test sets."""

    def __init__(self, tables: tuple[Table, ...] = ()) -> None:
        super().__init__(tables)
        self.states = [LockState.ACQUIRED]
        """The replies to `lock` and each `check_lock`; the last is repeated."""
        self.locked: list[LockRequest] = []
        self.unlocked: list[int | None] = []
        self.beats: list[HeartbeatRequest] = []
        self.ended: list[str] = []
        self.commits: list[CommitTxnRequest] = []
        self.opened: list[OpenTxnRequest] = []
        self.lost: Exception | None = None
        """The error that heartbeats and the end of a transaction return."""
        self.broken = False
        """Heartbeats and commits are lost."""
        self.written: list[AddDynamicPartitions] = []
        self.refuses_partitions: Exception | None = None
        self.write_ids: tuple[TxnToWriteId, ...] = (TxnToWriteId(7, 3),)

    async def handle(self, call: Call, session: Session) -> Reply:
        if self.broken and call.method.name in ("heartbeat", "commit_txn"):
            self.calls.append((call.method.name, call.args))
            raise ConnectionLost("the line is dead")
        return await super().handle(call, session)

    def lock(self, request: LockRequest) -> LockResponse:
        self.locked.append(request)
        return LockResponse(5, self._state())

    def check_lock(self, request: CheckLockRequest) -> LockResponse:
        return LockResponse(request.lockid, self._state())

    def unlock(self, request: UnlockRequest) -> None:
        self.unlocked.append(request.lockid)
        if isinstance(self.lost, NoSuchLockException):
            raise self.lost

    def heartbeat(self, request: HeartbeatRequest) -> None:
        self.beats.append(request)
        if self.lost is not None:
            raise self.lost

    def get_valid_write_ids(self, request: GetValidWriteIdsRequest) -> GetValidWriteIdsResponse:
        seen = (TableValidWriteIds(name, 3, (2,), 2, b"") for name in request.fullTableNames or ())
        return GetValidWriteIdsResponse(tblValidWriteIds=tuple(seen))

    def get_open_txns(self) -> GetOpenTxnsResponse:
        return GetOpenTxnsResponse(txn_high_water_mark=9, open_txns=(5, 7, 8), min_open_txn=5, abortedBits=b"")

    def add_dynamic_partitions(self, request: AddDynamicPartitions) -> None:
        self.written.append(request)
        if self.refuses_partitions is not None:
            raise self.refuses_partitions

    def open_txns(self, request: OpenTxnRequest) -> OpenTxnsResponse:
        self.opened.append(request)
        return OpenTxnsResponse(txn_ids=(7,))

    def commit_txn(self, request: CommitTxnRequest) -> None:
        self.ended.append("commit")
        self.commits.append(request)
        if self.lost is not None:
            raise self.lost

    def abort_txn(self, request: AbortTxnRequest) -> None:
        self.ended.append("abort")
        if self.lost is not None:
            raise self.lost

    def allocate_table_write_ids(self, request: AllocateTableWriteIdsRequest) -> AllocateTableWriteIdsResponse:
        return AllocateTableWriteIdsResponse(txnToWriteIds=self.write_ids)

    def _state(self) -> int:
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

"""The calls to the metastore for reading and writing rows of transactional tables, in Hive's order.

    read     open, lock, snapshot                  … read …     commit
    write    open, write id, lock, snapshot        … write …    partitions, files, commit

The write id is allocated before the lock, so that the lock record contains it; the snapshot is read after the lock, so
that it includes what was committed during the wait for the lock. Another writer may have been faster in between, with a
later write id: a base of it would hide the rows of this write, and a base of this write would not hide its rows. Then a
transaction in which nothing was done yet is replaced by a new one, and another one fails. This module never reads or
writes rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from metastored.client._async.locks import FIRST_WAIT, LONGEST_WAIT, AsyncTransaction, snapshot
from metastored.client._backend import aio as io
from metastored.client.acid import (
    OPERATIONS,
    keeps_writers_out,
    known,
    lock_type,
    read_components,
    write_components,
)
from metastored.errors import (
    ApplicationError,
    InvalidInputException,
    LockFailed,
    NoSuchTxnException,
    TransactionFailed,
    TxnAbortedException,
)
from metastored.hive.names import make_part_name
from metastored.hive.transactions.snapshots import NO_OPEN_ID, ValidTxnList, ValidWriteIdList
from metastored.model.acid import Acid, acid_of
from metastored.model.names import Name, TableName, table_name
from metastored.model.partitions import PartitionValues, values_of
from metastored.wire.generated.common import Table
from metastored.wire.generated.locks import LockComponent
from metastored.wire.generated.notifications import InsertEventRequestData, WriteNotificationLogRequest
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.transactions import AddDynamicPartitions
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from metastored.client._async.metadata import AsyncMetadata


class AsyncRead:
    """A read. Its open transaction prevents the cleaner from removing the files of its snapshot."""

    def __init__(
        self, client: AsyncMetadata, transaction: AsyncTransaction, names: Sequence[Name], timeout: float
    ) -> None:
        if not names:
            raise InvalidInputException("a read needs the name of a table")
        self.transaction: Final = transaction
        self.snapshots: dict[str, ValidWriteIdList] = {}
        """The visible write ids of each table, by `db.t`."""
        self._client = client
        self._tables = tuple(map(table_name, names))
        self._timeout = timeout

    async def __aenter__(self) -> Self:
        for table in self._tables:
            _transactional(await self._client.table(table), table)
        await self.transaction.__aenter__()
        try:
            await self._lock_and_see(self._tables)
        except BaseException as error:
            await self.transaction.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.transaction.__aexit__(kind, error, trace)

    @property
    def visible(self) -> ValidTxnList:
        """The transactions that are visible: directories of compactions are named by theirs."""
        assert self.transaction.visible is not None, "the read was not entered"
        return self.transaction.visible

    async def add(self, *names: Name) -> None:
        """Reads more tables, at the moment of the snapshot of the first ones."""
        tables = [table for table in map(table_name, names) if table not in self._tables]
        for table in tables:
            _transactional(await self._client.table(table), table)
        if tables:
            await self._lock_and_see(tables)
            self._tables += tuple(tables)

    async def _lock_and_see(self, tables: Sequence[TableName]) -> None:
        # The lock ends with the transaction, whose heartbeats keep the lock alive too.
        await self.transaction.hold(read_components(tables), self._timeout)
        seen = await self.transaction.snapshot(*tables, keep=True)
        self.snapshots |= seen
        await self._record_lowest(seen)

    async def _record_lowest(self, snapshots: Mapping[str, ValidWriteIdList]) -> None:
        """Sends the lowest write id that is still needed to Hive 4, if it stores these ids."""
        if await self._client.capabilities.version() < (4, 0):
            return
        lowest = {
            name: seen.min_open if seen.min_open != NO_OPEN_ID else seen.high_watermark + 1
            for name, seen in snapshots.items()
        }
        try:
            await self._client.api.add_write_ids_to_min_history(self.transaction.id, lowest)
        except ApplicationError as error:
            if error.type != ApplicationError.UNKNOWN_METHOD:
                raise


class AsyncWrite:
    """A write to one table. Name its files by `write_id`, and report the partitions with `wrote`."""

    def __init__(
        self,
        client: AsyncMetadata,
        transaction: AsyncTransaction,
        table: TableName,
        operation: str,
        partitions: tuple[str, ...],
        exclusive: bool | None,
        timeout: float,
        joined: bool = False,
    ) -> None:
        self.transaction: Final = transaction
        self.write_id = 0
        """The write id of the rows."""
        self.snapshot = ValidWriteIdList(str(table))
        """The visible write ids of the table, including that of this write."""
        self._client = client
        self._table = table
        self._operation = known(operation)
        self._partitions = partitions
        self._exclusive = exclusive
        self._timeout = timeout
        self._joined = joined
        self._keys: tuple[str, ...] = ()
        self._written: dict[int, dict[str, None]] = {}
        self._sent: set[tuple[int, str]] = set()
        self._files: dict[tuple[str, ...], list[str]] = {}

    async def __aenter__(self) -> Self:
        table = await self._client.table(self._table)
        acid = _transactional(table, self._table)
        if acid.insert_only and self._operation not in ("insert", "overwrite"):
            raise InvalidInputException(f"{self._table} is insert-only: there is no {self._operation} of its rows")
        self._keys = tuple(key.name or "" for key in table.partitionKeys or ())
        if not self._joined:
            await self.transaction.__aenter__()
        try:
            version = await self._client.capabilities.version()
            exclusive = keeps_writers_out(version) if self._exclusive is None else self._exclusive
            # Before 4.0 a server always checks for conflicts and has no such option.
            self._exclusive = exclusive if version >= (4, 0) else None
            lock = lock_type(self._operation, version, exclusive)
            components = write_components(self._table, self._operation, lock, self._partitions, bool(self._keys))
            await self._begin(components)
        except BaseException as error:
            if not self._joined:
                await self.transaction.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._joined:
            if kind is None:
                await self.send()
            return
        if kind is None and not self.transaction.ended:
            try:
                await self.commit()
            except BaseException as failed:
                await self.transaction.__aexit__(type(failed), failed, failed.__traceback__)
                raise
        await self.transaction.__aexit__(kind, error, trace)

    async def _begin(self, components: Sequence[LockComponent]) -> None:
        """Allocates the write id, takes the locks and reads the snapshot, until no other writer was faster."""
        until = io.now() + self._timeout
        while True:
            fresh, locked = self.transaction.fresh, self.transaction.holds_write(components[0])
            self.write_id = await self.transaction.write_id(self._table)
            await self.transaction.hold(components, self._timeout)
            (self.snapshot,) = (await self.transaction.snapshot(self._table, keep=True)).values()
            # The first snapshot of the transaction is that of now.
            now = self.snapshot if fresh else await self._now()
            below = tuple(each for each in now.open if each < self.write_id) if self._replaces else ()
            problem = self._problem(now, below, locked)
            if problem is None:
                self.transaction.writes(self._exclusive, fresh)
                return
            if not fresh:
                raise TransactionFailed(f"transaction {self.transaction.id} cannot write to {self._table}: {problem}")
            await self.transaction.abort()
            await self._wait_for(below, until, problem)
            await self.transaction.restart()

    @property
    def _replaces(self) -> bool:
        return self._operation == "overwrite"

    def _problem(self, now: ValidWriteIdList, below: Sequence[int], locked: bool) -> str | None:
        """Why rows would be lost or doubled if this write went on, or None.

        `now` are the ids that are visible now, and `locked` is whether an earlier statement of the transaction locked
        the table: then nobody can have overwritten it, and later write ids are those of inserts beside it. They stay
        beside a base of this write, which must therefore not have their rows.
        """
        later = [each for each in range(self.write_id + 1, now.high_watermark + 1) if now.is_valid(each)]
        if (later and not locked) or (self._replaces and any(map(self.snapshot.is_valid, later))):
            return f"another transaction was faster, and has committed a write id after {self.write_id}"
        if below:
            listed = ", ".join(map(str, below))
            return f"the overwrite would hide the rows of writers that are still open (write ids {listed})"
        missed = [each for each in now.committed_since(self.snapshot) if each < self.write_id]
        if self._replaces and missed:
            listed = ", ".join(map(str, missed))
            return f"an overwrite would remove rows that others have committed since its snapshot (write ids {listed})"
        return None

    async def _now(self) -> ValidWriteIdList:
        """The write ids that are visible now; the snapshot of the transaction may be older."""
        name = f"{self._table.database}.{self._table.table}"
        _, write_ids = await snapshot(self._client.api, [name], self.transaction.id)
        (now,) = write_ids.values()
        return now

    async def _wait_for(self, below: Sequence[int], until: float, problem: str) -> None:
        """Waits until these write ids have ended. Raises LockFailed if they have not in time."""
        wait = FIRST_WAIT
        while True:
            if io.now() + wait > until:
                raise LockFailed(f"{self._table} was not written within {self._timeout:g} s: {problem}")
            now = await self._now()
            if not any(each in now.open for each in below):
                return
            await io.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)

    async def add_partitions(
        self, partitions: Iterable[Partition | PartitionValues], if_not_exists: bool = True
    ) -> int:
        """Adds partitions that this write created: structs, or only their values. Returns how many were sent."""
        made = [replace(part, writeId=self.write_id) for part in await self._client._made(self._table, partitions)]
        sent = await self._client.add_partitions(self._table, made, if_not_exists)
        self.wrote(*(make_part_name(self._keys, part.values or ()) for part in made))
        return sent

    def wrote(self, *partitions: str, operation: str | None = None) -> None:
        """Reports partitions (`ds=1`) to which rows were written; the commit detects conflicts by them."""
        type = OPERATIONS[known(operation or self._operation)]
        new = [each for each in partitions if (type, each) not in self._sent]
        if new:
            self._written.setdefault(type, {}).update(dict.fromkeys(new))

    def added_files(self, *files: str, partition: PartitionValues = ()) -> None:
        """Reports files that this write created, in a partition (values, a dict or a name) or in the table itself.

        Readers of notification events can get them after the commit. Servers before Hive 4 cannot store them and get
        nothing.
        """
        values = values_of(str(self._table), self._keys, partition)
        self._files.setdefault(values, []).extend(files)

    @property
    def visible(self) -> ValidTxnList:
        """The transactions that are visible: directories of compactions are named by theirs."""
        assert self.transaction.visible is not None, "the write was not entered"
        return self.transaction.visible

    @property
    def exclusive(self) -> bool | None:
        """Whether its locks exclude other writers; None where the server has no such locks."""
        return self._exclusive

    async def commit(self) -> None:
        """Sends the partitions and files, and commits. Raises TransactionFailed if the server has aborted it."""
        await self.send()
        await self.transaction.commit()

    async def send(self) -> None:
        """Sends the reported partitions and files that were not sent yet. Raises TransactionFailed as commit does.

        To be called before files are moved to their partitions: Hive 3.1 records nothing of such a write before, and
        forgets its transaction if it is aborted. Then its files would be visible.
        """
        table, transaction = self._table, self.transaction.id
        for operation, names in list(self._written.items()):
            request = AddDynamicPartitions(
                transaction, self.write_id, table.database, table.table, tuple(names), operation
            )
            try:
                await self._client.api.add_dynamic_partitions(request)
            except (TxnAbortedException, NoSuchTxnException) as error:
                raise TransactionFailed(f"transaction {transaction} was aborted: {error}") from error
            self._sent.update((operation, name) for name in names)
            del self._written[operation]
        await self._send_files()

    async def _send_files(self) -> None:
        if not self._files or await self._client.capabilities.version() < (4, 0):
            return
        of, replaced = self._table, self._operation == "overwrite"
        for values, files in self._files.items():
            added = InsertEventRequestData(replace=replaced, filesAdded=tuple(files))
            request = WriteNotificationLogRequest(
                self.transaction.id, self.write_id, of.database, of.table, added, partitionVals=values or None
            )
            await self._client.api.add_write_notification_log(request)
        self._files.clear()

    async def abort(self) -> None:
        """Aborts the transaction. The cleaner removes its files."""
        await self.transaction.abort()


def _transactional(table: Table, name: TableName) -> Acid:
    acid = acid_of(table)
    if acid is None:
        raise InvalidInputException(f"{name} is not transactional: write to it without a transaction")
    return acid


async def current_acid(client: AsyncMetadata, tables: Sequence[Table]) -> list[Acid | None]:
    """How each table is transactional, with the ids that the metastore has now; None for one that is not.

    It costs two calls if one of the tables is transactional. Servers before Hive 3.0 have no write ids of tables.
    """
    states = [acid_of(table) for table in tables]
    names = [f"{table.dbName}.{table.tableName}".lower() for table in tables]
    transactional = [name for name, acid in zip(names, states, strict=True) if acid is not None]
    if not transactional or not await client.capabilities.has_acid_transactions():
        return states
    seen, lists = await snapshot(client.api, transactional)
    return [
        acid
        if acid is None or name not in lists
        else acid._replace(
            write_id=lists[name].high_watermark,
            transaction_id=seen.high_watermark,
            valid_write_ids=str(lists[name]),
        )
        for name, acid in zip(names, states, strict=True)
    ]

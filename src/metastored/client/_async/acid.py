"""Reading and writing rows of transactional tables, as far as the metastore has a part in it, in Hive's order.

    read     open, lock, snapshot                  … read …     commit
    write    open, write id, lock, snapshot        … write …    partitions, files, commit

The write id comes before the lock, so that the lock's record has it; the snapshot comes after, so that it shows what
was committed while the lock was waited for. The rows themselves are nothing that this module knows of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from metastored.client._async.locks import AsyncTransaction
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
    NoSuchTxnException,
    TransactionFailed,
    TxnAbortedException,
)
from metastored.hive.names import make_part_name
from metastored.hive.transactions.snapshots import NO_OPEN_ID, ValidWriteIdList
from metastored.model.acid import Acid, acid_of
from metastored.model.names import Name, TableName, table_name
from metastored.model.partitions import PartitionValues, values_of
from metastored.wire.generated.common import Table
from metastored.wire.generated.notifications import InsertEventRequestData, WriteNotificationLogRequest
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.transactions import AddDynamicPartitions
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from metastored.client._async.client import AsyncClient


class AsyncRead:
    """A read. Its open transaction is what keeps the files in its snapshot from being cleaned away."""

    def __init__(
        self, client: AsyncClient, transaction: AsyncTransaction, names: Sequence[Name], timeout: float
    ) -> None:
        if not names:
            raise InvalidInputException("a read needs the name of a table")
        self.transaction: Final = transaction
        self.snapshots: dict[str, ValidWriteIdList] = {}
        """What can be seen of each table, by `db.t`."""
        self._client = client
        self._tables = tuple(map(table_name, names))
        self._timeout = timeout

    async def __aenter__(self) -> Self:
        for table in self._tables:
            _transactional(await self._client.table(table), table)
        await self.transaction.__aenter__()
        try:
            # The lock ends with the transaction, and so do its heartbeats: the transaction's own are enough.
            await self.transaction.locked(read_components(self._tables), self._timeout).take()
            self.snapshots = await self.transaction.snapshot(*self._tables)
            await self._remembered()
        except BaseException as error:
            await self.transaction.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.transaction.__aexit__(kind, error, trace)

    async def _remembered(self) -> None:
        """Hive 4 is told the lowest write id that is still needed, where it keeps such a record."""
        if await self._client.capabilities.version() < (4, 0):
            return
        lowest = {
            name: seen.min_open if seen.min_open != NO_OPEN_ID else seen.high_watermark + 1
            for name, seen in self.snapshots.items()
        }
        try:
            await self._client.api.add_write_ids_to_min_history(self.transaction.id, lowest)
        except ApplicationError as error:
            if error.type != ApplicationError.UNKNOWN_METHOD:
                raise


class AsyncWrite:
    """A write to one table. Use `write_id` for its files, and tell it of partitions."""

    def __init__(
        self,
        client: AsyncClient,
        transaction: AsyncTransaction,
        table: TableName,
        operation: str,
        partitions: tuple[str, ...],
        exclusive: bool | None,
        timeout: float,
    ) -> None:
        self.transaction: Final = transaction
        self.write_id = 0
        """The number under which rows are written."""
        self.snapshot = ValidWriteIdList(str(table))
        """What can be seen of the table, this write's own rows included."""
        self._client = client
        self._table = table
        self._operation = known(operation)
        self._partitions = partitions
        self._exclusive = exclusive
        self._timeout = timeout
        self._keys: tuple[str, ...] = ()
        self._written: dict[int, dict[str, None]] = {}
        self._files: dict[tuple[str, ...], list[str]] = {}

    async def __aenter__(self) -> Self:
        table = await self._client.table(self._table)
        acid = _transactional(table, self._table)
        if acid.insert_only and self._operation not in ("insert", "overwrite"):
            raise InvalidInputException(f"{self._table} is insert-only: there is no {self._operation} of its rows")
        self._keys = tuple(key.name or "" for key in table.partitionKeys or ())
        await self.transaction.__aenter__()
        try:
            version = await self._client.capabilities.version()
            exclusive = keeps_writers_out(version) if self._exclusive is None else self._exclusive
            # Before 4.0 a server looks for conflicts in any case, and is not told.
            self._exclusive = exclusive if version >= (4, 0) else None
            self.write_id = await self.transaction.write_id(self._table)
            lock = lock_type(self._operation, version, exclusive)
            components = write_components(self._table, self._operation, lock, self._partitions, bool(self._keys))
            await self.transaction.locked(components, self._timeout).take()
            for seen in (await self.transaction.snapshot(self._table)).values():
                self.snapshot = seen
        except BaseException as error:
            await self.transaction.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and not self.transaction.ended:
            try:
                await self.commit()
            except BaseException as failed:
                await self.transaction.__aexit__(type(failed), failed, failed.__traceback__)
                raise
        await self.transaction.__aexit__(kind, error, trace)

    async def add_partitions(
        self, partitions: Iterable[Partition | PartitionValues], if_not_exists: bool = True
    ) -> int:
        """Adds partitions that this write made: structs, or only their values. Returns how many were sent."""
        given = await self._client._made(self._table, partitions)
        made = [replace(part, writeId=self.write_id) for part in given]
        sent = await self._client.add_partitions(self._table, made, if_not_exists)
        self.wrote(*(make_part_name(self._keys, part.values or ()) for part in made))
        return sent

    def wrote(self, *partitions: str, operation: str | None = None) -> None:
        """Partitions (`ds=1`) that rows were written to: others learn of it, and conflicts are seen, at the commit."""
        told = OPERATIONS[known(operation or self._operation)]
        if partitions:
            self._written.setdefault(told, {}).update(dict.fromkeys(partitions))

    def added_files(self, *files: str, partition: PartitionValues = ()) -> None:
        """Files that this write put in place, in a partition (values, a dict or a name) or in the table itself.

        Who follows the metastore's events can ask for them once the write is committed. Servers before Hive 4 have no
        place for them and are not told.
        """
        values = values_of(str(self._table), self._keys, partition)
        self._files.setdefault(values, []).extend(files)

    async def commit(self) -> None:
        """Tells the partitions and files, and commits. TransactionFailed when the server has aborted it."""
        wanted, transaction = self._table, self.transaction.id
        for operation, names in self._written.items():
            told = AddDynamicPartitions(
                transaction, self.write_id, wanted.database, wanted.table, tuple(names), operation
            )
            try:
                await self._client.api.add_dynamic_partitions(told)
            except (TxnAbortedException, NoSuchTxnException) as error:
                raise TransactionFailed(f"transaction {transaction} was aborted: {error}") from error
        await self._tell_files()
        await self.transaction.commit(self._exclusive)

    async def _tell_files(self) -> None:
        if not self._files or await self._client.capabilities.version() < (4, 0):
            return
        of, replaced = self._table, self._operation == "overwrite"
        for values, files in self._files.items():
            added = InsertEventRequestData(replace=replaced, filesAdded=tuple(files))
            told = WriteNotificationLogRequest(
                self.transaction.id, self.write_id, of.database, of.table, added, partitionVals=values or None
            )
            await self._client.api.add_write_notification_log(told)

    async def abort(self) -> None:
        """Undoes it; its files are for the cleaner to remove."""
        await self.transaction.abort()


def _transactional(table: Table, name: TableName) -> Acid:
    acid = acid_of(table)
    if acid is None:
        raise InvalidInputException(f"{name} is not transactional: write to it without a transaction")
    return acid

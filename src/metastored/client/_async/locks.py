"""Locks and transactions as context managers: acquired on entry, kept alive by heartbeats, ended on exit.

The calls and the lock types are Hive's own. Their order for reads and writes of rows is in acid.py.
"""

from __future__ import annotations

import getpass
import socket
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from metastored.client._async.caller import AsyncCaller
from metastored.client._async.capabilities import AsyncCapabilities
from metastored.client._backend import aio as io
from metastored.errors import (
    ApplicationError,
    CommitUnknown,
    Error,
    InvalidInputException,
    LockFailed,
    NoSuchLockException,
    NoSuchTxnException,
    RemoteProtocolError,
    TransactionFailed,
    TransportError,
    TxnAbortedException,
)
from metastored.hive.transactions.snapshots import ValidTxnList, ValidWriteIdList, encode_bits
from metastored.model.names import Name, table_name
from metastored.model.snapshots import seen_transactions, seen_write_ids
from metastored.wire.generated.common import DataOperationType
from metastored.wire.generated.locks import (
    CheckLockRequest,
    HeartbeatRequest,
    LockComponent,
    LockLevel,
    LockRequest,
    LockState,
    LockType,
    UnlockRequest,
)
from metastored.wire.generated.transactions import (
    AbortTxnRequest,
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    GetValidWriteIdsRequest,
    OpenTxnRequest,
    TxnState,
    TxnType,
)
from metastored.wire.structs import replace

LOCK_TYPES: Final = {
    "shared_read": LockType.SHARED_READ,
    "shared_write": LockType.SHARED_WRITE,
    "excl_write": LockType.EXCL_WRITE,
    "exclusive": LockType.EXCLUSIVE,
}
_NAMES: Final = {number: name for name, number in LOCK_TYPES.items()}
FIRST_WAIT: Final = 0.05
LONGEST_WAIT: Final = 2.0
HEARTBEAT: Final = 60.0
"""Seconds between two heartbeats; servers end a lock or a transaction after five minutes without one."""


WRITES: Final = (DataOperationType.INSERT, DataOperationType.UPDATE, DataOperationType.DELETE)
"""The operations that change rows."""


class AsyncLock:
    """Locks that are requested together. `id` is their number on the server while they are held."""

    def __init__(
        self,
        api: AsyncCaller,
        components: Sequence[LockComponent],
        timeout: float,
        user: str | None,
        transaction: int | None,
        heartbeat: float,
        longest_wait: float = LONGEST_WAIT,
    ) -> None:
        self.id = 0
        self._api = api
        self._longest_wait = longest_wait
        self._type = _NAMES[components[0].type or 0]
        self._timeout = timeout
        self._transaction = transaction or 0
        self._what = ", ".join(
            ".".join(part for part in (each.catName, each.dbname, each.tablename, each.partitionname) if part)
            for each in components
        )
        self._request = LockRequest(
            component=tuple(components),
            txnid=transaction,
            user=user or getpass.getuser(),
            hostname=socket.gethostname(),
            agentInfo="metastored",
        )
        self._heart = io.Heartbeat(heartbeat, self._beat)

    async def __aenter__(self) -> Self:
        await self.take()
        self._heart.start()
        return self

    async def take(self) -> None:
        """Requests the locks and waits, without heartbeats: those of a transaction keep its locks alive too."""
        response = await self._api.call("lock", self._request)
        self.id = response.lockid
        try:
            await self._wait(response.state, response.errorMessage)
        except BaseException:
            await self._unlock()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._heart.stop()
        await self._unlock()
        if kind is None:
            self.check()

    def check(self) -> None:
        """Raises LockFailed if a heartbeat has shown that the lock was lost."""
        if self._heart.error is not None:
            raise LockFailed(
                f"the {self._type} lock {self.id} on {self._what} was lost: {self._heart.error}"
            ) from self._heart.error

    async def _wait(self, state: int, text: str | None) -> None:
        until, wait = io.now() + self._timeout, FIRST_WAIT
        while state == LockState.WAITING:
            if io.now() + wait > until:
                raise LockFailed(
                    f"no {self._type} lock on {self._what} within {self._timeout:g} s: others hold locks on it "
                    "(show_locks lists them)"
                )
            await io.sleep(wait)
            wait = min(wait * 2, self._longest_wait)
            response = await self._api.check_lock(CheckLockRequest(lockid=self.id))
            state, text = response.state or LockState.NOT_ACQUIRED, response.errorMessage
        if state != LockState.ACQUIRED:
            reason = text or LockState.NAMES.get(state, str(state))
            raise LockFailed(f"the {self._type} lock on {self._what} was not given: {reason}")

    async def _beat(self) -> None:
        try:
            await self._api.heartbeat(HeartbeatRequest(lockid=self.id, txnid=self._transaction or None))
        except (TransportError, RemoteProtocolError):
            return  # The next heartbeat may succeed before the lock expires.

    async def _unlock(self) -> None:
        # The locks of a transaction end with it; the server refuses to end them before.
        if not self._transaction:
            try:
                await self._api.unlock(UnlockRequest(lockid=self.id))
            except NoSuchLockException:
                return


class AsyncTransaction:
    """A transaction. `id` is its number on the server while it is open."""

    def __init__(
        self,
        api: AsyncCaller,
        capabilities: AsyncCapabilities,
        user: str | None,
        heartbeat: float,
        type: int = TxnType.DEFAULT,
    ) -> None:
        self.id = 0
        self.visible: ValidTxnList | None = None
        """The transactions that its last snapshot shows; None before the first snapshot."""
        self._api = api
        self._capabilities = capabilities
        self._user = user or getpass.getuser()
        self._type = type
        self._heart = io.Heartbeat(heartbeat, self._beat)
        self._ended = False
        self._used = False
        self._excludes: bool | None = None
        self._held: set[LockComponent] = set()

    async def __aenter__(self) -> Self:
        await self._capabilities.has_acid_transactions(check=True)
        request = OpenTxnRequest(num_txns=1, user=self._user, hostname=socket.gethostname(), agentInfo="metastored")
        if self._type != TxnType.DEFAULT:
            request = replace(request, txn_type=self._type)
        self.id = ((await self._api.open_txns(request)).txn_ids or (0,))[0]
        self._heart.start()
        return self

    @property
    def fresh(self) -> bool:
        """Whether nothing was locked, read or written in it yet: another transaction can take its place."""
        return not self._used

    async def restart(self) -> None:
        """Opens another transaction in the place of an aborted one, with another `id`."""
        assert self._ended, "the transaction is open"
        self._heart = io.Heartbeat(self._heart.seconds, self._beat)
        self.visible, self._ended, self._used, self._excludes = None, False, False, None
        self._held.clear()
        await self.__aenter__()

    def writes(self, exclusive: bool | None, fresh: bool) -> None:
        """Records a write, for the commit: whether its locks exclude other writers, and whether it was the first use.

        The locks of a first write are older than its snapshot: nobody could change its rows in between. Those of
        another one are younger than the snapshot of the transaction, and the server has to check for conflicts.
        """
        self._excludes = exclusive if fresh or exclusive is None else False

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ended:
            return
        if kind is None:
            await self.commit()
        else:
            await self.abort()

    @property
    def ended(self) -> bool:
        """Whether it was committed or aborted."""
        return self._ended

    async def write_id(self, table: Name) -> int:
        """Allocates and returns the write id of this transaction for a table."""
        wanted = table_name(table)
        self._used = True
        request = AllocateTableWriteIdsRequest(dbName=wanted.database, tableName=wanted.table, txnIds=(self.id,))
        answer = await self._api.allocate_table_write_ids(request)
        for given in answer.txnToWriteIds or ():
            if given.txnId == self.id and given.writeId is not None:
                return given.writeId
        raise TransactionFailed(f"transaction {self.id} got no write id for {wanted}")

    def lock(self, *names: Name, type: str = "shared_write", timeout: float = 60.0) -> AsyncLock:
        """Locks that end with the transaction."""
        return self.locked(components(names, type), timeout)

    def locked(self, components: Sequence[LockComponent], timeout: float) -> AsyncLock:
        """The same, for these components."""
        self._used = True
        return AsyncLock(self._api, components, timeout, self._user, self.id, self._heart.seconds)

    async def hold(self, components: Sequence[LockComponent], timeout: float) -> None:
        """Takes locks that end with the transaction, without those that it holds already.

        A second request for the same lock would wait behind others that wait for the first one: a deadlock.
        """
        missing = [each for each in components if each not in self._held and not self._reads_held(each)]
        if missing:
            await self.locked(missing, timeout).take()
            self._held.update(missing)

    def _reads_held(self, component: LockComponent) -> bool:
        """Whether it is a read lock on a table that is locked already, in whatever way."""
        return component.operationType == DataOperationType.SELECT and any(
            _same_table(each, component) and each.partitionname is None for each in self._held
        )

    def holds_write(self, component: LockComponent) -> bool:
        """Whether it has locks for a write to the table of a component: nobody can have overwritten it since."""
        return any(_same_table(each, component) and each.operationType in WRITES for each in self._held)

    async def snapshot(self, *tables: Name, keep: bool = False) -> dict[str, ValidWriteIdList]:
        """The write ids of tables that this transaction sees now, by `db.t`. To be read after the locks.

        With `keep`, it shows the transactions of the last snapshot, if there was one: several tables are then seen at
        the same moment.
        """
        self._used = True
        names = [f"{wanted.database}.{wanted.table}" for wanted in map(table_name, tables)]
        self.visible, write_ids = await snapshot(self._api, names, self.id, self.visible if keep else None)
        return write_ids

    async def commit(self, exclusive: bool | None = None) -> None:
        """Commits the transaction. Raises TransactionFailed if the server has aborted it.

        If the connection is lost, or the server reports that it failed, it is asked for the outcome, and a transaction
        that is still open is committed again. Raises CommitUnknown if the outcome cannot be found out.

        `exclusive` tells Hive 4 that the locks excluded other writers, so that it does not check for conflicts. None
        is right for all writes of `client.write`.
        """
        if exclusive is None:
            exclusive = self._excludes
        self._ended = True
        await self._heart.stop()
        try:
            await self._api.commit_txn(CommitTxnRequest(txnid=self.id, exclWriteEnabled=exclusive))
        except (TxnAbortedException, NoSuchTxnException) as error:
            raise TransactionFailed(f"transaction {self.id} was aborted: {error}") from error
        except (TransportError, RemoteProtocolError, ApplicationError) as error:
            await self._commit_again(exclusive, error)

    async def _commit_again(self, exclusive: bool | None, lost: Error) -> None:
        """Finds out what became of a commit whose reply was lost. A second commit of a transaction does no harm."""
        try:
            state = await transaction_state(self._api, self.id)
            if state == "open":
                await self._api.commit_txn(CommitTxnRequest(txnid=self.id, exclWriteEnabled=exclusive))
                return
        except (TxnAbortedException, NoSuchTxnException) as error:
            raise TransactionFailed(f"transaction {self.id} was aborted: {error}") from error
        except Error:
            text = f"whether transaction {self.id} was committed is not known: {lost}"
            raise CommitUnknown(text, self.id) from lost
        if state == "aborted":
            raise TransactionFailed(f"transaction {self.id} was aborted") from lost

    async def abort(self) -> None:
        """Aborts the transaction. A transaction that no longer exists is not an error."""
        self._ended = True
        await self._heart.stop()
        try:
            await self._api.abort_txn(AbortTxnRequest(txnid=self.id))
        except NoSuchTxnException:
            return

    async def _beat(self) -> None:
        try:
            await self._api.heartbeat(HeartbeatRequest(txnid=self.id))
        except (TransportError, RemoteProtocolError):
            return  # The next heartbeat may succeed before the transaction is aborted.


def components(names: Sequence[Name], type: str) -> tuple[LockComponent, ...]:
    """What is locked: tables, or whole databases."""
    if type not in LOCK_TYPES:
        raise InvalidInputException(f"unknown lock type {type!r}; known are {', '.join(LOCK_TYPES)}")
    if not names:
        raise InvalidInputException("a lock needs the name of a table or a database")
    return tuple(_component(name, LOCK_TYPES[type]) for name in names)


def _same_table(one: LockComponent, other: LockComponent) -> bool:
    return (one.catName, one.dbname, one.tablename) == (other.catName, other.dbname, other.tablename)


def _component(name: Name, type: int) -> LockComponent:
    whole_database = isinstance(name, str) and "." not in name
    if whole_database:
        return LockComponent(type=type, level=LockLevel.DB, dbname=str(name), operationType=DataOperationType.NO_TXN)
    wanted = table_name(name)
    return LockComponent(
        type=type,
        level=LockLevel.TABLE,
        dbname=wanted.database,
        tablename=wanted.table,
        operationType=DataOperationType.NO_TXN,
        catName=wanted.catalog_field,
    )


async def _transactions(api: AsyncCaller) -> ValidTxnList:
    """The transactions that are open or aborted now. Hive 2.3 does not say here which of them are aborted."""
    response = await api.get_open_txns()
    if response.abortedBits is None and response.open_txns:
        states = {each.id: each.state for each in (await api.get_open_txns_info()).open_txns or ()}
        aborted = (states.get(txn) == TxnState.ABORTED for txn in sorted(response.open_txns))
        response = replace(response, abortedBits=encode_bits(at for at, each in enumerate(aborted) if each))
    return seen_transactions(response)


async def transaction_state(api: AsyncCaller, transaction: int) -> str:
    """What became of a transaction: `open`, `committed` or `aborted`. Raises NoSuchTxnException if there was none.

    Servers list open and aborted transactions. An aborted one is listed until its files are removed by the cleaner, and
    then counts as committed: ask soon.
    """
    seen = await _transactions(api)
    if transaction < 1 or transaction > seen.high_watermark:
        raise NoSuchTxnException(f"there is no transaction {transaction}")
    if seen.is_valid(transaction):
        return "committed"
    return "aborted" if seen.is_aborted(transaction) else "open"


async def snapshot(
    api: AsyncCaller, names: Sequence[str], transaction: int | None = None, seen: ValidTxnList | None = None
) -> tuple[ValidTxnList, dict[str, ValidWriteIdList]]:
    """The transactions, and the write ids of tables (`db.t`), that a reader sees now, or a transaction sees.

    With `seen`, these are the transactions, and the write ids are those of them.
    """
    if seen is None:
        seen = await _transactions(api)
        if transaction is not None:
            seen = seen.with_own(transaction)
    request = GetValidWriteIdsRequest(fullTableNames=tuple(name.lower() for name in names), validTxnList=str(seen))
    return seen, seen_write_ids(await api.get_valid_write_ids(request))

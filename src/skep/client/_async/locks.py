"""Locks and transactions as context managers: taken at the beginning, kept alive by heartbeats, ended at the end.

The calls, their order and the kinds of locks are Hive's own; a program that writes rows needs more than this, and
finds it in the room for Spark.
"""

from __future__ import annotations

import getpass
import socket
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from skep.client._async.caller import AsyncCaller
from skep.client._async.capabilities import AsyncCapabilities
from skep.client._backend import aio as io
from skep.client.naming import Name, table_name
from skep.errors import (
    InvalidInputException,
    LockFailed,
    NoSuchLockException,
    NoSuchTxnException,
    TransactionFailed,
    TransportError,
    TxnAbortedException,
)
from skep.wire.generated.common import DataOperationType
from skep.wire.generated.locks import (
    CheckLockRequest,
    HeartbeatRequest,
    LockComponent,
    LockLevel,
    LockRequest,
    LockState,
    LockType,
    UnlockRequest,
)
from skep.wire.generated.transactions import (
    AbortTxnRequest,
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    OpenTxnRequest,
)

LOCK_TYPES: Final = {
    "shared_read": LockType.SHARED_READ,
    "shared_write": LockType.SHARED_WRITE,
    "excl_write": LockType.EXCL_WRITE,
    "exclusive": LockType.EXCLUSIVE,
}
FIRST_WAIT: Final = 0.05
LONGEST_WAIT: Final = 2.0
HEARTBEAT: Final = 60.0
"""Seconds between two heartbeats; servers give up a lock or a transaction after five minutes without one."""


class AsyncLock:
    """Locks that were asked for together. `id` is the server's number while they are held."""

    def __init__(
        self,
        api: AsyncCaller,
        names: Sequence[Name],
        type: str,
        timeout: float,
        user: str | None,
        transaction: int | None,
        heartbeat: float,
    ) -> None:
        if type not in LOCK_TYPES:
            raise InvalidInputException(f"unknown lock type {type!r}; known are {', '.join(LOCK_TYPES)}")
        if not names:
            raise InvalidInputException("a lock needs the name of a table or a database")
        self.id = 0
        self._api = api
        self._type = type
        self._timeout = timeout
        self._transaction = transaction or 0
        self._what = ", ".join(name if isinstance(name, str) else str(table_name(name)) for name in names)
        self._request = LockRequest(
            component=tuple(_component(name, LOCK_TYPES[type]) for name in names),
            txnid=transaction,
            user=user or getpass.getuser(),
            hostname=socket.gethostname(),
            agentInfo="skep",
        )
        self._heart = io.Heart(heartbeat, self._beat)

    async def __aenter__(self) -> Self:
        response = await self._api.call("lock", self._request)
        self.id = response.lockid
        try:
            await self._wait(response.state, response.errorMessage)
        except BaseException:
            await self._give_back()
            raise
        self._heart.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._heart.stop()
        await self._give_back()
        if kind is None:
            self.check()

    def check(self) -> None:
        """Raises LockFailed when a heartbeat has shown that the lock is gone."""
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
                    "(show_locks says who)"
                )
            await io.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)
            response = await self._api.check_lock(CheckLockRequest(lockid=self.id))
            state, text = response.state or LockState.NOT_ACQUIRED, response.errorMessage
        if state != LockState.ACQUIRED:
            reason = text or LockState.NAMES.get(state, str(state))
            raise LockFailed(f"the {self._type} lock on {self._what} was not given: {reason}")

    async def _beat(self) -> None:
        try:
            await self._api.heartbeat(HeartbeatRequest(lockid=self.id, txnid=self._transaction or None))
        except TransportError:
            return  # The next one may get through before the lock is taken away.

    async def _give_back(self) -> None:
        # A transaction's locks end with it, and the server refuses to end them before.
        if not self._transaction:
            try:
                await self._api.unlock(UnlockRequest(lockid=self.id))
            except NoSuchLockException:
                return


class AsyncTransaction:
    """A transaction. `id` is the server's number while it is open."""

    def __init__(self, api: AsyncCaller, capabilities: AsyncCapabilities, user: str | None, heartbeat: float) -> None:
        self.id = 0
        self._api = api
        self._capabilities = capabilities
        self._user = user or getpass.getuser()
        self._heart = io.Heart(heartbeat, self._beat)
        self._ended = False

    async def __aenter__(self) -> Self:
        await self._capabilities.has_acid_transactions(check=True)
        request = OpenTxnRequest(num_txns=1, user=self._user, hostname=socket.gethostname(), agentInfo="skep")
        self.id = ((await self._api.open_txns(request)).txn_ids or (0,))[0]
        self._heart.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._heart.stop()
        if self._ended:
            return
        if kind is None:
            await self.commit()
        else:
            await self.abort()

    async def write_id(self, table: Name) -> int:
        """The number under which this transaction writes to a table."""
        wanted = table_name(table)
        request = AllocateTableWriteIdsRequest(dbName=wanted.db, tableName=wanted.table, txnIds=(self.id,))
        answer = await self._api.allocate_table_write_ids(request)
        for given in answer.txnToWriteIds or ():
            if given.txnId == self.id and given.writeId is not None:
                return given.writeId
        raise TransactionFailed(f"transaction {self.id} got no write id for {wanted}")

    def lock(self, *names: Name, type: str = "shared_write", timeout: float = 60.0) -> AsyncLock:
        """Locks that end with the transaction."""
        return AsyncLock(self._api, names, type, timeout, self._user, self.id, self._heart.seconds)

    async def commit(self) -> None:
        """Makes it so. TransactionFailed when the server has aborted it."""
        self._ended = True
        try:
            await self._api.commit_txn(CommitTxnRequest(txnid=self.id))
        except (TxnAbortedException, NoSuchTxnException) as error:
            raise TransactionFailed(f"transaction {self.id} was aborted: {error}") from error
        except TransportError as error:
            raise TransactionFailed(f"whether transaction {self.id} was committed is not known: {error}") from error

    async def abort(self) -> None:
        """Undoes it. A transaction that is gone already is aborted well enough."""
        self._ended = True
        try:
            await self._api.abort_txn(AbortTxnRequest(txnid=self.id))
        except NoSuchTxnException:
            return

    async def _beat(self) -> None:
        try:
            await self._api.heartbeat(HeartbeatRequest(txnid=self.id))
        except TransportError:
            return  # The next one may get through before the transaction is aborted.


def _component(name: Name, type: int) -> LockComponent:
    whole_database = isinstance(name, str) and "." not in name
    if whole_database:
        return LockComponent(type=type, level=LockLevel.DB, dbname=str(name), operationType=DataOperationType.NO_TXN)
    wanted = table_name(name)
    return LockComponent(
        type=type,
        level=LockLevel.TABLE,
        dbname=wanted.db,
        tablename=wanted.table,
        operationType=DataOperationType.NO_TXN,
        catName=wanted.catalog,
    )

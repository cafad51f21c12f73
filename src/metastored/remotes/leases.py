"""Locks and transactions that concern remotes. Clients see local numbers only; a lease ties them to those of a remote.

A lock over several servers is taken at each remote first and here last, all or none. Here it has all components, so
that it conflicts and is shown as any other. At a remote it belongs to no transaction, for a lock of a transaction could
not be given back alone.

A snapshot of a client means nothing at a remote: its write ids are read under a snapshot taken there, in a read-only
transaction that is kept alive and ended together with the client's own. A remote that does not answer when something
is ended is tried again in the background; until then its own timeout ends it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import socket
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from metastored.connectors.failures import Unreachable
from metastored.errors import (
    ApplicationError,
    Error,
    MetastoreError,
    NoSuchLockException,
    NoSuchTxnException,
    StoreError,
    TxnAbortedException,
)
from metastored.hive.names import CatalogNameError, read_database
from metastored.hive.transactions.snapshots import SnapshotSyntaxError, ValidTxnList
from metastored.model.names import DatabaseName
from metastored.model.objects import objects_of
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.values import Access, Remote
from metastored.model.snapshots import seen_transactions
from metastored.remotes.definitions import Known
from metastored.remotes.endpoints import Endpoints
from metastored.remotes.refusals import acid_write
from metastored.store.engine.database import Database
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions import leases, transactions
from metastored.store.transactions.leases import Lease
from metastored.store.transactions.transactions import TxnState
from metastored.threads import Pool
from metastored.wire.generated.common import DataOperationType
from metastored.wire.generated.locks import (
    CheckLockRequest,
    HeartbeatRequest,
    LockComponent,
    LockRequest,
    LockResponse,
    LockState,
    LockType,
    UnlockRequest,
)
from metastored.wire.generated.transactions import (
    CommitTxnRequest,
    GetValidWriteIdsRequest,
    GetValidWriteIdsResponse,
    OpenTxnRequest,
    TxnType,
)
from metastored.wire.message import REPLY, Call, Handler, Reply, Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace

log = logging.getLogger("metastored.remotes")
T = TypeVar("T")

LEASED: Final = ("check", "heartbeat", "txn_range", "end")
"""Hooks of methods that concern leases."""
GONE: Final = (NoSuchLockException, NoSuchTxnException, TxnAbortedException)
_READING: Final = (DataOperationType.SELECT, DataOperationType.NO_TXN, None)
_WORST: Final = (LockState.ABORT, LockState.NOT_ACQUIRED, LockState.WAITING, LockState.ACQUIRED)


class Leases:
    """The leases of one database."""

    def __init__(self, local: Handler, endpoints: Endpoints, database: Database, pool: Pool) -> None:
        self._local = local
        self._endpoints = endpoints
        self._database = database
        self._pool = pool
        self._opening: dict[tuple[int, str], asyncio.Lock] = {}
        self._ending: set[asyncio.Task[None]] = set()

    # Locks and transactions by their numbers

    async def by_id(self, call: Call, session: Session, known: Known) -> Reply:
        """The local reply, with the state of the remotes in it; leases end or live on with what they belong to."""
        hook = call.method.hook
        if hook not in LEASED:
            return await self._local.handle(call, session)
        try:
            held = await self._read(lambda tx: _leases_of(tx, call))
        except StoreError as error:
            return Reply.failed(call.method, str(error), session.version)
        reply = await self._local.handle(call, session)
        if not held or reply.kind != REPLY or reply.error is not None:
            return reply
        if hook == "end":
            self._end_later(held, known)
            return reply
        try:
            states = [await self._renew(lease, session, known, check=hook == "check") for lease in held]
        except MetastoreError as error:
            return Reply.raised(call.method, error, session.version)
        if hook != "check":
            return reply
        response: LockResponse = reply.value(call.method)
        return Reply.of(call.method, replace(response, state=_worst([response.state, *states])))

    async def _renew(self, lease: Lease, session: Session, known: Known, *, check: bool) -> int | None:
        """Keeps a lease alive; the state of its lock where that is asked for. Raises what the remote says is gone."""
        try:
            if check and lease.remote_lock:
                request = CheckLockRequest(lockid=lease.remote_lock)
                response: LockResponse = await self._ask(lease, known, session, "check_lock", request)
                return response.state
            beat = HeartbeatRequest(lockid=lease.remote_lock or None, txnid=lease.remote_txn or None)
            await self._ask(lease, known, session, "heartbeat", beat)
        except GONE as error:
            raise type(error)(f"what was held at a remote for this is gone: {error}") from None
        except Error as error:
            log.warning("a lease was not kept alive: %s", error)
            return LockState.WAITING if check else None
        return None

    # New locks

    async def lock(self, call: Call, session: Session, known: Known) -> Reply:
        """Takes the components at their remotes, then all of them here."""
        method, request = call.method, call.args[0]
        parts = _parts(request, known)
        for remote, components in parts.items():
            if any(component.isTransactional and component.operationType not in _READING for component in components):
                return acid_write(method, session, remote)
        taken: list[tuple[Remote, LockResponse]] = []
        try:
            for remote in sorted(parts, key=str):
                outgoing = replace(request, component=tuple(parts[remote]), txnid=None)
                response = await self._lock_there(Call(method, (outgoing,)), session, remote, known)
                taken.append((remote, response))
                if response.state in (LockState.ABORT, LockState.NOT_ACQUIRED):
                    await self._give_back(taken, session)
                    return Reply.of(method, replace(response, lockid=0))
            reply = await self._local.handle(call, session)
            if reply.kind != REPLY or reply.error is not None:
                await self._give_back(taken, session)
                return reply
            here: LockResponse = reply.value(method)
            if here.state in (LockState.ABORT, LockState.NOT_ACQUIRED):
                await self._give_back(taken, session)
                return Reply.of(method, here)
            rows = [
                Lease(
                    0,
                    digest(remote.endpoint),
                    request.txnid or 0,
                    here.lockid or 0,
                    0,
                    there.lockid or 0,
                    "",
                    _user(session),
                )
                for remote, there in taken
            ]
            await self._write(lambda tx: leases.insert(tx, rows))
            return Reply.of(method, replace(here, state=_worst([here.state, *(there.state for _, there in taken)])))
        except Error as error:
            await self._give_back(taken, session)
            return Reply.failed(method, str(error), session.version)

    async def _lock_there(self, call: Call, session: Session, remote: Remote, known: Known) -> LockResponse:
        """Raises an error that names the remote."""
        outgoing = known.renaming((remote,)).call(call)
        reply = await self._endpoints.handler(remote.endpoint).handle(outgoing, session)
        try:
            response: LockResponse = reply.value(call.method)
        except (MetastoreError, ApplicationError) as error:
            raise Unreachable(f"{remote}: {error}") from None
        return response

    async def _give_back(self, taken: Sequence[tuple[Remote, LockResponse]], session: Session) -> None:
        for remote, response in taken:
            if response.state not in (LockState.ACQUIRED, LockState.WAITING):
                continue
            try:
                await self._send(remote.endpoint, session, "unlock", UnlockRequest(lockid=response.lockid))
            except Error as error:
                log.warning("a lock of the %s is left to its own timeout: %s", remote, error)

    # Snapshots

    async def snapshot(self, call: Call, session: Session, remote: Remote) -> Call:
        """The request with the transactions of the remote that the caller sees, instead of those of this metastore."""
        request: GetValidWriteIdsRequest = call.args[0]
        txn = await self._own_transaction(request)
        seen = await self._snapshot(remote, txn, session)
        return Call(call.method, (replace(request, validTxnList=seen),), call.seqid)

    def with_transactions(self, sent: Call, reply: Reply) -> Reply:
        """The reply with the transactions that it was made for: names of directories have their numbers."""
        request: GetValidWriteIdsRequest = sent.args[0]
        response: GetValidWriteIdsResponse = reply.value(sent.method)
        tables = tuple(
            # A remote of the remote has its own.
            replace(each, validTxnList=request.validTxnList) if each.validTxnList is None else each
            for each in response.tblValidWriteIds or ()
        )
        return Reply.of(sent.method, replace(response, tblValidWriteIds=tables))

    async def _own_transaction(self, request: GetValidWriteIdsRequest) -> int:
        """The caller's open transaction, 0 for none: a list of valid transactions ends with the caller's own."""
        try:
            highest = ValidTxnList.parse(request.validTxnList or "").high_watermark
        except SnapshotSyntaxError:
            return 0
        transaction = await self._read(lambda tx: transactions.find(tx, highest))
        return highest if transaction is not None and transaction.state == TxnState.OPEN else 0

    async def _snapshot(self, remote: Remote, txn: int, session: Session) -> str:
        if not txn:
            return await self._take_snapshot(remote.endpoint, session, None)
        key = (txn, digest(remote.endpoint))
        lock = self._opening.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                lease = await self._read(lambda tx: leases.of_txn(tx, *key))
                if lease is None:
                    lease = await self._open(remote.endpoint, key, session)
        finally:
            if not lock.locked():
                self._opening.pop(key, None)
        return lease.snapshot

    async def _open(self, endpoint: Endpoint, key: tuple[int, str], session: Session) -> Lease:
        request = OpenTxnRequest(
            num_txns=1,
            user=_user(session),
            hostname=socket.gethostname(),
            agentInfo="metastored",
            txn_type=TxnType.READ_ONLY,
        )
        opened = await self._send(endpoint, session, "open_txns", request)
        own = opened.txn_ids[0]
        seen = await self._take_snapshot(endpoint, session, own)
        lease = Lease(0, key[1], key[0], 0, own, 0, seen, _user(session))
        await self._write(lambda tx: leases.insert(tx, [lease]))
        return lease

    async def _take_snapshot(self, endpoint: Endpoint, session: Session, own: int | None) -> str:
        snapshot = await self._send(endpoint, session, "get_open_txns")
        return str(seen_transactions(snapshot, own))

    # The end

    def _end_later(self, held: Sequence[Lease], known: Known) -> None:
        """Beside the call: a remote that does not answer must not delay the caller's commit."""
        task = asyncio.get_running_loop().create_task(self._end(held, known))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, held: Sequence[Lease], known: Known) -> None:
        ended: list[int] = []
        for lease in held:
            session = Session(user=lease.user_name or None)
            try:
                if lease.remote_lock:
                    await self._ask(lease, known, session, "unlock", UnlockRequest(lockid=lease.remote_lock))
                if lease.remote_txn:
                    await self._ask(lease, known, session, "commit_txn", CommitTxnRequest(txnid=lease.remote_txn))
            except GONE:
                pass  # It ended by itself.
            except Error as error:
                log.warning("a lease could not be ended, and is tried again later: %s", error)
                continue
            ended.append(lease.id)
        try:
            await self._write(lambda tx: leases.delete(tx, ended))
        except StoreError as error:
            log.warning("ended leases are still in the store: %s", error)

    async def sweep(self, known: Known) -> None:
        """Ends the leases of what has ended here: by a crash, a timeout, or while a remote did not answer."""
        abandoned = await self._read(leases.abandoned)
        if abandoned:
            await self._end(abandoned, known)

    # Calls

    async def _ask(self, lease: Lease, known: Known, session: Session, method: str, *args: Any) -> Any:
        for endpoint in known.endpoints():
            if digest(endpoint) == lease.endpoint:
                return await self._send(endpoint, session, method, *args)
        return None  # No remote is there any more: the remote's own timeout ends it.

    async def _send(self, endpoint: Endpoint, session: Session, method: str, *args: Any) -> Any:
        """What an endpoint replies. Raises an error that names it."""
        handler = self._endpoints.handler(endpoint)
        reply = await handler.handle(Call(METHODS[method], args), session)
        try:
            return reply.value(METHODS[method])
        except GONE:
            raise
        except (MetastoreError, ApplicationError) as error:
            raise Unreachable(f"the remote at {endpoint} failed: {error}") from None

    async def _read(self, work: Callable[[Transaction], T]) -> T:
        return await self._pool.run(lambda: work(self._database.reader()))

    async def _write(self, work: Callable[[Transaction], T]) -> T:
        return await self._pool.run(lambda: self._database.run(work))


def digest(endpoint: Endpoint) -> str:
    """Tells endpoints apart in the store, without their secrets."""
    return hashlib.sha256(repr((endpoint.via, endpoint.properties)).encode()).hexdigest()


def _leases_of(tx: Transaction, call: Call) -> list[Lease]:
    named = objects_of(call)
    if call.method.hook == "txn_range":
        return leases.of_range(tx, min(named.txns, default=0), max(named.txns, default=0))
    if not named.locks and not named.txns:
        return []
    return leases.of(tx, named.locks, named.txns)


def _parts(request: LockRequest, known: Known) -> dict[Remote, list[LockComponent]]:
    """The components that remotes get. One that may only be read gets locks of readers: nothing else is done there."""
    by_remote: dict[Remote, list[LockComponent]] = {}
    for component in request.component or ():
        try:
            catalog, database = read_database(component.dbname, component.catName)
        except CatalogNameError:
            continue  # No name of anything: the local metastore has the error for it.
        where = DatabaseName(catalog, database or "")
        remote = known.table(where.table(component.tablename.lower())) if component.tablename else known.database(where)
        if remote is not None and (remote.access is Access.WRITE or component.type == LockType.SHARED_READ):
            by_remote.setdefault(remote, []).append(component)
    return by_remote


def _worst(states: Sequence[int | None]) -> int:
    return next(state for state in _WORST if state in states)


def _user(session: Session) -> str:
    return session.user or ""

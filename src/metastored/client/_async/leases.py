"""Leases as context managers: a process that is at work holds one, and another process can take it when it is gone.

See `hive/transactions/leases.py` for the rule. A metastore removes a lock without heartbeats after its own timeout of
five minutes; Apache's does so only if its housekeeping is on. Therefore a process that waits for a lease compares the
heartbeats that the server lists with that of its own request, by the server's clock, and removes a lease that is over.
"""

from __future__ import annotations

import getpass
import os
import socket
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from metastored.client._async.caller import AsyncCaller
from metastored.client._async.capabilities import AsyncCapabilities
from metastored.client._backend import aio as io
from metastored.errors import (
    ApplicationError,
    LeaseHeld,
    LockFailed,
    MetastoreError,
    NoSuchLockException,
    NotSupported,
    RemoteProtocolError,
    TransportError,
)
from metastored.hive.transactions import leases
from metastored.hive.transactions.leases import LEASES, Seen, agent, lease_partition, lease_table
from metastored.model.names import Name, table_name
from metastored.wire.generated.common import DataOperationType
from metastored.wire.generated.locks import (
    CheckLockRequest,
    HeartbeatRequest,
    LockComponent,
    LockLevel,
    LockRequest,
    LockState,
    LockType,
    ShowLocksRequest,
    UnlockRequest,
)
from metastored.wire.structs import replace

PATIENCE: Final = 5.0
"""Seconds to wait while others only wait for the lease too."""
_WAIT: Final = 0.05


class AsyncLease:
    """A lease, for `async with`. Raises LeaseHeld, and NotSupported where the metastore has no locks.

    `id` is the number of its lock while it is held. `what` says in errors what the lease is for: "the pipeline daily".
    """

    def __init__(
        self,
        api: AsyncCaller,
        capabilities: AsyncCapabilities,
        user: str | None,
        what: str,
        held: LockComponent,
    ) -> None:
        self.what = what
        self._api = api
        self._capabilities = capabilities
        self._user = user or getpass.getuser()
        self._held = held
        self.id = 0
        self._renewed = 0.0
        self._expires = leases.EXPIRES
        self._heart = io.Heartbeat(leases.HEARTBEAT, self._beat)

    async def __aenter__(self) -> Self:
        self.id = await self._taken(self._held)
        self._renewed = io.now()
        self._heart.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._heart.stop()
        # What was done under the lease is done: a lock that cannot be released now expires.
        with suppress(TransportError, RemoteProtocolError, MetastoreError, ApplicationError):
            await self._api.unlock(UnlockRequest(lockid=self.id))

    def check(self) -> None:
        """Raises LockFailed if the lease was lost, or if no heartbeat has reached the server for too long."""
        if self._heart.error is not None:
            raise self._lost(str(self._heart.error)) from self._heart.error
        silent = io.now() - self._renewed
        if silent > self._expires:
            raise self._lost(f"no heartbeat reached the metastore for {silent:.0f} s")

    async def renew(self) -> None:
        """Sends a heartbeat now. Raises LockFailed if the lease was lost, and what the connection raises."""
        try:
            await self._api.heartbeat(HeartbeatRequest(lockid=self.id))
        except NoSuchLockException as error:
            raise self._lost(str(error)) from error
        self._renewed = io.now()

    async def is_free(self) -> bool:
        """Whether nobody has the lease: then it was taken and released, and its last holder cannot renew it."""
        try:
            id = await self._taken(replace(self._held, type=LockType.EXCLUSIVE))
        except LeaseHeld:
            return False
        await self._api.unlock(UnlockRequest(lockid=id))
        return True

    async def _taken(self, component: LockComponent) -> int:
        """The id of the lock, once it is held."""
        await self._capabilities.has_lock_service(check=True)
        request = LockRequest(
            component=(component,), user=self._user, hostname=socket.gethostname(), agentInfo=agent(os.getpid())
        )
        try:
            response = await self._api.call("lock", request)
        except ApplicationError as error:
            raise NotSupported(f"the metastore gives no lock for {self.what}: {error}") from error
        id, until = response.lockid, io.now() + PATIENCE
        try:
            while response.state == LockState.WAITING:
                seen = await self._blockers(id)
                removed = [each for each in seen if await self._removed(each)]
                response = await self._api.check_lock(CheckLockRequest(lockid=id))
                if response.state == LockState.WAITING and not removed:
                    holder = next((each for each in seen if each.held), None)
                    if holder is not None or io.now() > until:
                        raise self._refused(holder)
                    await io.sleep(_WAIT)
            if response.state != LockState.ACQUIRED:
                raise LockFailed(f"the metastore gives no lock for {self.what}: {response.errorMessage or ''}")
        except BaseException:
            with suppress(TransportError, RemoteProtocolError, MetastoreError, ApplicationError):
                await self._api.unlock(UnlockRequest(lockid=id))
            raise
        return int(id)

    async def _blockers(self, id: int) -> list[Seen]:
        """Other locks on the same name, as the server lists them. The heartbeat of this request is the present time."""
        name = self._held
        request = ShowLocksRequest(dbname=name.dbname, catname=name.catName)
        listed = (await self._api.show_locks(request)).locks or ()
        # Locks on the whole table or database conflict with one on a partition.
        near = [
            each
            for each in listed
            if (each.dbname or "").lower() == (name.dbname or "").lower()
            and (each.tablename or "").lower() in ("", (name.tablename or "").lower())
            and each.partname in (None, "", name.partitionname)
        ]
        now = next((each.lastheartbeat or 0 for each in near if each.lockid == id), 0)
        return [
            Seen(
                each.lockid or 0,
                each.state == LockState.ACQUIRED,
                now - each.lastheartbeat if now and each.lastheartbeat else 0,
                each.acquiredat or 0,
                each.user or "",
                each.hostname or "",
                each.agentInfo or "",
            )
            for each in near
            if each.lockid != id
        ]

    async def _removed(self, seen: Seen) -> bool:
        """Removes a lease that is over. False if it is not, or if the server forbids it: then it expires there."""
        if not seen.is_over(self._expires):
            return False
        try:
            await self._api.unlock(UnlockRequest(lockid=seen.id))
        except (MetastoreError, ApplicationError):
            return False
        return True

    async def _beat(self) -> None:
        try:
            await self._api.heartbeat(HeartbeatRequest(lockid=self.id))
        except (TransportError, RemoteProtocolError):
            return  # The next heartbeat may succeed before the lease is over.
        self._renewed = io.now()

    def _lost(self, reason: str) -> LockFailed:
        return LockFailed(f"the lease of {self.what} was lost, and another process may have it: {reason}")

    def _refused(self, holder: Seen | None) -> LeaseHeld:
        who = "another process" if holder is None else holder.text
        return LeaseHeld(
            f"{who} has {self.what}. If that process is gone, its lease ends {self._expires:.0f} s after its last "
            "heartbeat; for other users of a metastore with authorization, after five minutes"
        )


def lease_component(name: str, table: Name | None) -> LockComponent:
    """The lock of a lease. One at a table lets its readers and writers pass; a drop by Hive waits for it.

    It is where the table is: a table of a remote has its leases at the remote.
    """
    if table is None:
        return LockComponent(
            type=LockType.EXCLUSIVE,
            level=LockLevel.TABLE,
            dbname=LEASES,
            tablename=lease_table(name),
            operationType=DataOperationType.NO_TXN,
        )
    wanted = table_name(table)
    return LockComponent(
        type=LockType.SHARED_READ,
        level=LockLevel.PARTITION,
        dbname=wanted.database,
        tablename=wanted.table,
        partitionname=lease_partition(name),
        operationType=DataOperationType.NO_TXN,
        catName=wanted.catalog_field,
    )

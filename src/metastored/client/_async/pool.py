"""The connection pool of a client. Connections are opened on demand and reused for the same user.

The number of concurrent calls is bounded; other calls wait, each with its own deadline. The user is sent once for each
connection (`set_ugi`), so a connection is never used for another user. Connections are assigned under a lock, without
waiting; everything that waits is outside of the lock. Beside the calls, idle connections above `min_idle` are closed
when their time is up, and `min_idle` connections are kept open. The pool never retries a call.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable
from typing import Final

from metastored.client._backend import aio as io
from metastored.client.endpoints import Addresses, Endpoint, Identity
from metastored.client.pooling import CLOSED, PoolSettings, PoolStats
from metastored.errors import (
    ApplicationError,
    AuthenticationError,
    ConnectError,
    ConnectionLost,
    MetastoreError,
    PoolExhausted,
    RemoteProtocolError,
    TimeoutExceeded,
    TransportError,
)
from metastored.wire.codec import binary
from metastored.wire.methods import METHODS

log = logging.getLogger("metastored.client")

SET_UGI: Final = METHODS["set_ugi"]
HEALTH_CHECK: Final = METHODS["getStatus"]


class AsyncPool:
    """`acquire` a connection, make a call, `release` the connection."""

    def __init__(self, endpoints: Iterable[Endpoint], settings: PoolSettings = PoolSettings()) -> None:  # noqa: B008
        self.settings: Final = settings.checked()
        self.addresses: Final = Addresses(endpoints)
        self.closed = False
        self._lock = io.Lock()
        self._openings = io.Openings()
        self._idle: list[io.Connection] = []
        """The most recently used connection is last, and is used first."""
        self._busy = 0
        self._waiting: deque[io.Waiter] = deque()
        self._keeper: io.Heartbeat | None = None
        """Keeps `min_idle` connections open."""
        self._expiry: io.Timer | None = None
        """Pending while there are idle connections above `min_idle`."""
        self._acquired = self._opened = self._failed = self._replaced = self._refused = 0

    async def acquire(self, identity: Identity, deadline: io.Deadline) -> io.Connection:
        """A connection for this user. The caller must `release` it.

        Raises TimeoutExceeded at the deadline or after `acquire_timeout`, PoolExhausted if too many calls wait, and
        ConnectError if no address can be reached.
        """
        waiter = self._enter()
        if self.settings.min_idle and self._keeper is None:
            self._keep(identity)
        limit = deadline
        try:
            if waiter is not None:
                limit = self._limit(deadline)
                await self._wait(waiter, limit)
            try:
                while (idle := self._take_idle(identity)) is not None:
                    if await self._is_alive(idle, limit):
                        return idle
                if limit is deadline:
                    limit = self._limit(deadline)
                return await self._open(identity, limit)
            except BaseException:
                self._leave()
                raise
        finally:
            if limit is not deadline:
                limit.cancel()

    def release(self, connection: io.Connection) -> None:
        """Returns a connection to the pool, unless it is closed or too old, and lets the next call continue."""
        now = io.now()
        if not connection.closed and now - connection.opened > self.settings.max_lifetime:
            connection.abort()
            self._replaced += 1
        with self._lock:
            if not connection.closed and not self.closed:
                connection.reused = True
                connection.idle_since = now
                self._idle.append(connection)
            expired = self._expired(now)
            if self._expiry is None and len(self._idle) > self.settings.min_idle:
                self._expiry = io.later(self.settings.idle_timeout, self._close_expired)
        for each in expired:
            each.abort()
        if self.closed and not connection.closed:
            connection.abort()
        self._leave()

    async def start(self, identity: Identity, deadline: io.Deadline) -> None:
        """Opens `min_idle` connections, and keeps them open from now on."""
        await self.fill(identity, deadline)
        self._keep(identity)

    async def fill(self, identity: Identity, deadline: io.Deadline) -> None:
        """Opens the connections that are missing from `min_idle`.

        At most `min_idle` connections are opened: if a server closes each of them at once, the next check retries.
        """
        for _ in range(self.settings.min_idle):
            if not self._reserve():
                return
            try:
                connection = await self._open(identity, deadline)
                with self._lock:
                    connection.idle_since = io.now()
                    connection.reused = True  # From now on the server may close it while it is idle.
                    keep = not self.closed
                    if keep:
                        self._idle.insert(0, connection)  # Connections that were used before are preferred.
                if not keep:
                    connection.abort()
            finally:
                self._leave()

    async def close(self) -> None:
        """Closes all connections, including those in use, and waits until they are closed."""
        with self._lock:
            self.closed = True
            waiting, self._waiting = self._waiting, deque()
            expiry, self._expiry = self._expiry, None
        if expiry is not None:
            expiry.cancel()
        for waiter in waiting:
            if not waiter.done():
                waiter.set_exception(ConnectError(CLOSED))
        await self._openings.close()
        if self._keeper is not None:
            await self._keeper.stop()

    def drop_idle(self) -> None:
        """Closes all idle connections: after a restart of the metastore all of them are stale."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._replaced += len(idle)
        for connection in idle:
            connection.abort()

    def stats(self) -> PoolStats:
        with self._lock:
            idle, waiting = len(self._idle), sum(not waiter.done() for waiter in self._waiting)
            counts = (self._acquired, self._opened, self._failed, self._replaced, self._refused)
            return PoolStats(idle + self._busy, idle, self._busy, waiting, *counts)

    # Assignment: under the lock, without waiting

    def _enter(self) -> io.Waiter | None:
        """Counts the call as busy; returns a waiter if it must wait for another call to end."""
        with self._lock:
            if self.closed:
                raise ConnectError(CLOSED)
            self._acquired += 1
            if self._busy < self.settings.max_size:
                self._busy += 1
                return None
            if len(self._waiting) >= self.settings.max_waiting:
                self._waiting = deque(waiter for waiter in self._waiting if not waiter.done())
                if len(self._waiting) >= self.settings.max_waiting:
                    self._refused += 1
                    raise PoolExhausted(
                        f"{self.settings.max_size} calls are in progress and {len(self._waiting)} are waiting; "
                        "raise max_size or max_waiting, or make fewer calls at a time"
                    )
            waiter = io.new_waiter()
            self._waiting.append(waiter)
            return waiter

    def _leave(self) -> None:
        """A call has ended: the next one that waits continues."""
        with self._lock:
            while self._waiting:
                if io.resolve(self._waiting.popleft()):
                    return
            self._busy -= 1

    def _take_idle(self, identity: Identity) -> io.Connection | None:
        now = io.now()
        with self._lock:
            expired = self._expired(now)
            idle = None
            for at in range(len(self._idle) - 1, -1, -1):
                if self._idle[at].identity == identity:
                    idle = self._idle.pop(at)
                    break
            if idle is None and len(self._idle) + self._busy > self.settings.max_size:
                expired.append(self._idle.pop(0))  # A connection of another user is closed to stay within max_size.
        for each in expired:
            each.abort()
        return idle

    def _expired(self, now: float) -> list[io.Connection]:
        """Removes the idle connections above `min_idle` whose time is up, and returns them."""
        spare = len(self._idle) - self.settings.min_idle
        if spare <= 0:
            return []
        oldest = now - self.settings.idle_timeout
        expired = [each for each in self._idle if each.idle_since < oldest][:spare]
        if expired:
            self._idle = [each for each in self._idle if each not in expired]
            self._replaced += len(expired)
        return expired

    def _close_expired(self) -> None:
        """Runs when the first idle connection may have expired, and again while there are more than `min_idle`."""
        now = io.now()
        with self._lock:
            self._expiry = None
            expired = self._expired(now)
            if not self.closed and len(self._idle) > self.settings.min_idle:
                seconds = min(each.idle_since for each in self._idle) + self.settings.idle_timeout - now
                self._expiry = io.later(max(seconds, 0.001), self._close_expired)
        for each in expired:
            each.abort()

    def _reserve(self) -> bool:
        """Whether one more idle connection is missing. It is counted as busy, until `_leave`, while it is opened.

        Closes idle connections that are broken or too old.
        """
        now, settings = io.now(), self.settings
        with self._lock:
            bad = [each for each in self._idle if not each.usable() or now - each.opened > settings.max_lifetime]
            self._idle = [each for each in self._idle if each not in bad]
            self._replaced += len(bad)
            idle = len(self._idle)
            missing = not self.closed and idle < settings.min_idle and idle + self._busy < settings.max_size
            self._busy += missing
        for each in bad:
            each.abort()
        return missing

    def _keep(self, identity: Identity) -> None:
        """Starts to keep `min_idle` connections open."""

        async def check() -> None:
            deadline = io.Deadline(
                self.settings.look_every + sum(each.connect_timeout for each in self.addresses.order())
            )
            try:
                await self.fill(identity, deadline)
            except (TransportError, RemoteProtocolError, AuthenticationError) as error:
                log.debug("no idle connection to %s could be opened: %s", self.addresses, error)
            finally:
                deadline.cancel()

        with self._lock:
            if self._keeper is not None or self.closed:
                return
            self._keeper = io.Heartbeat(self.settings.look_every, check)
        self._keeper.start()

    def _forget(self, connection: io.Connection) -> None:
        """The peer has closed the connection."""
        with self._lock:
            if connection in self._idle:
                self._idle.remove(connection)
                self._replaced += 1

    # Waiting: outside of the lock

    def _limit(self, deadline: io.Deadline) -> io.Deadline:
        """The deadline by which a call has a connection."""
        seconds = self.settings.acquire_timeout
        return deadline if seconds is None else io.Deadline(min(seconds, deadline.remaining()))

    async def _wait(self, waiter: io.Waiter, deadline: io.Deadline) -> None:
        try:
            await deadline.wait(waiter, f"waiting for a connection while {self.settings.max_size} calls use them all")
        except BaseException:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._leave()  # A connection became free at the moment of the timeout.
            raise

    async def _is_alive(self, connection: io.Connection, deadline: io.Deadline) -> bool:
        """Whether an idle connection can be used. It is closed if not."""
        alive = connection.usable()
        if alive and io.now() - connection.idle_since > self.settings.check_after:
            limit = io.Deadline(min(connection.endpoint.connect_timeout, deadline.remaining()))
            try:
                # Any reply shows that it is alive, also one that says that there is no such method.
                await limit.wait(connection.call(HEALTH_CHECK, b"\0"), "the health check")
                alive = not connection.closed  # Over HTTP a server may close the connection after its reply.
            except (TransportError, RemoteProtocolError):
                alive = False
            except BaseException:
                connection.abort()
                raise
            finally:
                limit.cancel()
        if not alive:
            self._replaced += 1
            connection.abort()
        return alive

    async def _open(self, identity: Identity, deadline: io.Deadline) -> io.Connection:
        """A new connection to the first address that replies."""
        failures: list[tuple[Endpoint, Exception]] = []
        endpoints = self.addresses.order()
        for at, endpoint in enumerate(endpoints):
            untried = len(endpoints) - at
            # An address that does not reply must leave time for the others.
            limit = (
                deadline if untried == 1 else io.Deadline(min(endpoint.connect_timeout, deadline.remaining() / untried))
            )
            try:
                connection = await self._connect(endpoint, identity, limit, probe=len(endpoints) > 1)
            except (ConnectError, ConnectionLost, RemoteProtocolError, TimeoutExceeded) as error:
                self._failed += 1
                if self.closed:
                    raise ConnectError(CLOSED) from None
                failures.append((endpoint, error))
                if deadline.remaining() <= 0:
                    break
            else:
                self._opened += 1
                self.addresses.replied(endpoint, connection.endpoint)
                return connection
            finally:
                if limit is not deadline:
                    limit.cancel()
        if len(failures) == 1:
            failure = failures[0][1]
            # The call itself was not sent.
            raise ConnectError(str(failure)) if isinstance(failure, ConnectionLost) else failure
        raise ConnectError("; ".join(f"{endpoint.uri}: {error}" for endpoint, error in failures))

    async def _connect(
        self, endpoint: Endpoint, identity: Identity, deadline: io.Deadline, probe: bool
    ) -> io.Connection:
        """A new connection to this address. Detects the protocol and the framing if they are not set.

        With `probe` the connection must have replied to a call: an address may accept connections and close them.
        """
        first, *others = endpoint.alternatives()
        if not others:
            return await self._introduce(endpoint, identity, deadline, probe)
        try:
            return await self._introduce(first, identity, deadline, probe=True)
        except ConnectionLost:
            # A server that expects frames reads the first bytes as a length, and one with another protocol as garbage:
            # both close the connection.
            for other in others:
                try:
                    return await self._introduce(other, identity, deadline, probe=True)
                except (TransportError, RemoteProtocolError):
                    continue
            raise

    async def _introduce(
        self, endpoint: Endpoint, identity: Identity, deadline: io.Deadline, probe: bool
    ) -> io.Connection:
        """A new connection whose server knows the user and, with `probe`, has replied to a call."""
        connection = await self._openings.open(endpoint, identity, deadline, self._forget)
        try:
            if identity.user is not None and endpoint.introduces:
                body = binary.encode_args(SET_UGI, (identity.user, identity.groups))
                (await deadline.wait(connection.call(SET_UGI, body), "connecting")).value(SET_UGI)
            elif probe:
                await deadline.wait(connection.call(HEALTH_CHECK, b"\0"), "connecting")
                if connection.closed:  # An HTTP server that closes the connection after each reply.
                    return await self._openings.open(endpoint, identity, deadline, self._forget)
        except (MetastoreError, ApplicationError) as error:
            if isinstance(error, ApplicationError) and error.type == ApplicationError.UNKNOWN_METHOD:
                return connection  # The server has no users.
            connection.abort()
            raise ConnectError(f"the server does not accept the user {identity.user!r}: {error}") from error
        except BaseException:
            connection.abort()
            raise
        return connection

"""Connections to one metastore: opened when they are needed, kept for the user they were opened for.

A bounded number of calls is on its way at a time; the others wait for their turn, each with its own deadline. A
metastore learns the caller's name once a connection (`set_ugi`), so a connection never changes hands. Who gets which
connection is decided under a lock, without waiting; all that waits happens outside of it. Where some should always
be ready (`min_idle`), they are looked after beside the calls. Nothing here retries a call: that is for who knows it.
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
from metastored.wire import binary
from metastored.wire.methods import METHODS

log = logging.getLogger("metastored.client")

SET_UGI: Final = METHODS["set_ugi"]
SIGN_OF_LIFE: Final = METHODS["getStatus"]


class AsyncPool:
    """`acquire` a connection, call, `release` it."""

    def __init__(self, endpoints: Iterable[Endpoint], settings: PoolSettings = PoolSettings()) -> None:  # noqa: B008
        self.settings: Final = settings.checked()
        self.addresses: Final = Addresses(endpoints)
        self.closed = False
        self._lock = io.Lock()
        self._openings = io.Openings()
        self._idle: list[io.Connection] = []
        """The one that was used last is at the end, and used first."""
        self._busy = 0
        self._waiting: deque[io.Turn] = deque()
        self._keeper: io.Heartbeat | None = None
        """Opens what should always be there, beside the calls."""
        self._acquired = self._opened = self._failed = self._replaced = self._refused = 0

    async def acquire(self, identity: Identity, deadline: io.Deadline) -> io.Connection:
        """A connection that speaks for this caller, and a turn to use it."""
        turn = self._ask()
        if self.settings.min_idle and self._keeper is None:
            self._keep(identity)
        if turn is not None:
            try:
                await deadline.wait(turn, f"waiting while {self.settings.max_size} other calls are under way")
            except BaseException:
                if turn.done() and not turn.cancelled() and turn.exception() is None:
                    self._pass_on()  # It came in the moment that we gave up.
                raise
        try:
            while (kept := self._kept(identity)) is not None:
                if await self._is_alive(kept, deadline):
                    return kept
            return await self._open(identity, deadline)
        except BaseException:
            self._pass_on()
            raise

    def release(self, connection: io.Connection) -> None:
        """Gives the turn to the next, and keeps the connection if it is still good."""
        now = io.now()
        if not connection.closed and now - connection.opened > self.settings.max_lifetime:
            connection.abort()
            self._replaced += 1
        with self._lock:
            if not connection.closed and not self.closed:
                connection.reused = True
                connection.idle_since = now
                self._idle.append(connection)
            old = self._too_old(now)
        for each in old:
            each.abort()
        if self.closed and not connection.closed:
            connection.abort()
        self._pass_on()

    async def start(self, identity: Identity, deadline: io.Deadline) -> None:
        """Opens what should always be there, and looks after it from then on."""
        await self.fill(identity, deadline)
        self._keep(identity)

    async def fill(self, identity: Identity, deadline: io.Deadline) -> None:
        """Opens what should always be there and is not."""
        while self._has_room():
            connection = await self._open(identity, deadline)
            with self._lock:
                connection.idle_since = io.now()
                connection.reused = True  # From now on it may be closed while nobody looks.
                unwanted = self.closed
                if not unwanted:
                    self._idle.insert(0, connection)  # Those that have proven themselves are used first.
            if unwanted:
                connection.abort()

    async def close(self) -> None:
        """Closes every connection, those in use too, and waits until they are closed."""
        with self._lock:
            self.closed = True
            waiting, self._waiting = self._waiting, deque()
        for turn in waiting:
            if not turn.done():
                turn.set_exception(ConnectError(CLOSED))
        await self._openings.close()
        if self._keeper is not None:
            await self._keeper.stop()

    def drop_idle(self) -> None:
        """Closes what is not in use: after a restart of the metastore all of it is stale."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._replaced += len(idle)
        for connection in idle:
            connection.abort()

    def stats(self) -> PoolStats:
        with self._lock:
            idle, waiting = len(self._idle), sum(not turn.done() for turn in self._waiting)
            counts = (self._acquired, self._opened, self._failed, self._replaced, self._refused)
            return PoolStats(idle + self._busy, idle, self._busy, waiting, *counts)

    # Who gets what: decided at once, under the lock

    def _ask(self) -> io.Turn | None:
        """None when it is this call's turn already."""
        with self._lock:
            if self.closed:
                raise ConnectError(CLOSED)
            self._acquired += 1
            if self._busy < self.settings.max_size:
                self._busy += 1
                return None
            if len(self._waiting) >= self.settings.max_waiting:
                self._waiting = deque(turn for turn in self._waiting if not turn.done())
                if len(self._waiting) >= self.settings.max_waiting:
                    self._refused += 1
                    raise PoolExhausted(
                        f"{self.settings.max_size} calls are under way and {len(self._waiting)} wait already; "
                        "raise max_size or max_waiting, or call less at a time"
                    )
            turn = io.new_turn()
            self._waiting.append(turn)
            return turn

    def _pass_on(self) -> None:
        with self._lock:
            while self._waiting:
                if io.give(self._waiting.popleft()):
                    return
            self._busy -= 1

    def _kept(self, identity: Identity) -> io.Connection | None:
        now = io.now()
        with self._lock:
            old = self._too_old(now)
            found = None
            for at in range(len(self._idle) - 1, -1, -1):
                if self._idle[at].identity == identity:
                    found = self._idle.pop(at)
                    break
            if found is None and len(self._idle) + self._busy > self.settings.max_size:
                old.append(self._idle.pop(0))  # Other users' connections make room.
        for each in old:
            each.abort()
        return found

    def _too_old(self, now: float) -> list[io.Connection]:
        """Takes out what has been unused for too long, the oldest first."""
        oldest, found = now - self.settings.idle_timeout, []
        while len(self._idle) > self.settings.min_idle and self._idle[0].idle_since < oldest:
            found.append(self._idle.pop(0))
        self._replaced += len(found)
        return found

    def _has_room(self) -> bool:
        """Whether one more unused connection should be there; those that are closed, or too old, are taken out."""
        now, settings = io.now(), self.settings
        with self._lock:
            bad = [each for each in self._idle if not each.usable() or now - each.opened > settings.max_lifetime]
            self._idle = [each for each in self._idle if each not in bad]
            self._replaced += len(bad)
            idle = len(self._idle)
            room = not self.closed and idle < settings.min_idle and idle + self._busy < settings.max_size
        for each in bad:
            each.abort()
        return room

    def _keep(self, identity: Identity) -> None:
        """Begins to look after the connections that should always be there."""

        async def look() -> None:
            deadline = io.Deadline(
                self.settings.look_every + sum(each.connect_timeout for each in self.addresses.order())
            )
            try:
                await self.fill(identity, deadline)
            except (TransportError, RemoteProtocolError, AuthenticationError) as error:
                log.debug("no connection to %s could be made in advance: %s", self.addresses, error)
            finally:
                deadline.cancel()

        with self._lock:
            if self._keeper is not None or self.closed:
                return
            self._keeper = io.Heartbeat(self.settings.look_every, look)
        self._keeper.start()

    def _forget(self, connection: io.Connection) -> None:
        """The connection was closed by the other end."""
        with self._lock:
            if connection in self._idle:
                self._idle.remove(connection)
                self._replaced += 1

    # What waits

    async def _is_alive(self, connection: io.Connection, deadline: io.Deadline) -> bool:
        good = connection.usable()
        if good and io.now() - connection.idle_since > self.settings.check_after:
            try:
                # Any answer is a sign of life, also that there is no such method.
                await deadline.wait(connection.call(SIGN_OF_LIFE, b"\0"), "a sign of life")
            except (TransportError, RemoteProtocolError):
                good = False
            except BaseException:
                connection.abort()
                raise
        if not good:
            self._replaced += 1
            connection.abort()
        return good

    async def _open(self, identity: Identity, deadline: io.Deadline) -> io.Connection:
        failures: list[tuple[Endpoint, Exception]] = []
        for endpoint in self.addresses.order():
            try:
                connection = await self._connect(endpoint, identity, deadline)
            except (ConnectError, ConnectionLost, RemoteProtocolError, TimeoutExceeded) as error:
                self._failed += 1
                if self.closed:
                    raise ConnectError(CLOSED) from None
                failures.append((endpoint, error))
                if deadline.remaining() <= 0:
                    break
            else:
                self._opened += 1
                self.addresses.answered(endpoint, connection.endpoint)
                return connection
        if len(failures) == 1:
            failure = failures[0][1]
            # Nothing of the call itself was sent yet.
            raise ConnectError(str(failure)) if isinstance(failure, ConnectionLost) else failure
        raise ConnectError("; ".join(f"{endpoint.uri}: {error}" for endpoint, error in failures))

    async def _connect(self, endpoint: Endpoint, identity: Identity, deadline: io.Deadline) -> io.Connection:
        first, *others = endpoint.alternatives()
        if not others:
            return await self._introduced(endpoint, identity, deadline)
        try:
            return await self._introduced(first, identity, deadline, try_out=True)
        except ConnectionLost:
            # A server that expects frames takes the first bytes for a length, one that speaks another protocol for
            # garbage: both hang up without a word.
            for other in others:
                try:
                    return await self._introduced(other, identity, deadline, try_out=True)
                except (TransportError, RemoteProtocolError):
                    continue
            raise

    async def _introduced(
        self, endpoint: Endpoint, identity: Identity, deadline: io.Deadline, try_out: bool = False
    ) -> io.Connection:
        """A connection whose server knows the caller, and, to try it out, has answered."""
        connection = await self._openings.open(endpoint, identity, deadline, self._forget)
        try:
            if identity.user is not None:
                body = binary.encode_args(SET_UGI, (identity.user, identity.groups))
                (await deadline.wait(connection.call(SET_UGI, body), "connecting")).value(SET_UGI)
            elif try_out:
                await deadline.wait(connection.call(SIGN_OF_LIFE, b"\0"), "connecting")
        except (MetastoreError, ApplicationError) as error:
            if isinstance(error, ApplicationError) and error.type == ApplicationError.UNKNOWN_METHOD:
                return connection  # It does not ask who calls.
            connection.abort()
            raise ConnectError(f"it does not accept the user {identity.user!r}: {error}") from error
        except BaseException:
            connection.abort()
            raise
        return connection

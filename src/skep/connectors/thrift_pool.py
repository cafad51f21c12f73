"""Connections to one Thrift metastore: opened when they are needed, kept for the user they were opened for.

A bounded number of calls is on its way at a time; the others wait for their turn, each with its own deadline. A
metastore learns the caller's name once a connection (`set_ugi`), so a connection never changes hands. Nothing here
retries: that is for who knows the call.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from typing import Final, NamedTuple, cast

from skep.connectors.deadline import Deadline
from skep.errors import (
    ApplicationError,
    ConnectError,
    ConnectionLost,
    MetastoreError,
    RemoteProtocolError,
)
from skep.wire import binary
from skep.wire.connection import NEED_DATA, ClientConnection
from skep.wire.message import Reply
from skep.wire.methods import METHODS, Method

SET_UGI: Final = METHODS["set_ugi"]


class Endpoint(NamedTuple):
    """Where a metastore listens, what it speaks there, and how much of it is used."""

    host: str
    port: int
    protocol: str = "binary"
    framed: bool = False
    max_connections: int = 16
    """Calls on their way at a time; a metastore spends a thread on each connection."""
    connect_timeout: float = 5.0
    max_idle: float = 60.0
    """Seconds after which an unused connection is not trusted any more: firewalls forget them without a word."""
    max_reply: int = 100 * 1024 * 1024
    """Bytes of one answer, which is held in memory."""


class Identity(NamedTuple):
    """For whom a connection speaks. Without a user the metastore is not told."""

    user: str | None
    groups: tuple[str, ...] = ()


class Connection(asyncio.Protocol):
    """One connection, one call at a time. What arrives goes straight into the sans-IO connection."""

    def __init__(self, pool: Pool, identity: Identity) -> None:
        endpoint = pool.endpoint
        self.identity: Final = identity
        self.closed = False
        self.received = 0
        """Bytes of the answer to the last call."""
        self.reused = False
        """It has answered a call before, and may have been closed by the metastore since."""
        self.idle_since = 0.0
        self._pool = pool
        self._max_reply = endpoint.max_reply
        self._wire = ClientConnection(endpoint.protocol, endpoint.framed)
        self._answer: asyncio.Future[Reply] | None = None
        self._transport: asyncio.Transport | None = None

    def call(self, method: Method, body: bytes) -> asyncio.Future[Reply]:
        """Sends the call; the future has its answer, or ConnectionLost or RemoteProtocolError."""
        assert self._transport is not None and self._answer is None
        self.received = 0
        self._answer = answer = self._pool.loop.create_future()
        if self.closed:
            self._fail(ConnectionLost("the connection was closed"))
        else:
            self._transport.write(self._wire.send(method, body))
        return answer

    def abort(self) -> None:
        """Closes at once: whatever is on its way is given up."""
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no subclass of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._pool.opened(self)

    def data_received(self, data: bytes) -> None:
        answer = self._answer
        if answer is None:
            self.abort()  # Nobody asked: the stream is out of step.
            return
        self.received += len(data)
        if self.received > self._max_reply:
            self._fail(
                RemoteProtocolError(f"an answer of more than {self._max_reply} bytes; ask for fewer objects at a time")
            )
            return
        self._wire.receive_data(data)
        try:
            event = self._wire.next_event()
        except RemoteProtocolError as error:
            self._fail(error)
            return
        if isinstance(event, Reply):
            self._answer = None
            if not answer.done():
                answer.set_result(event)
        else:
            assert event is NEED_DATA

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self._pool.forget(self)
        if self._answer is not None:
            self._fail(ConnectionLost("the connection was closed" if exc is None else f"the connection broke: {exc}"))

    def _fail(self, error: Exception) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_exception(error)
        self.abort()


class Pool:
    """`acquire` a connection, call, `release` it; all in one event loop."""

    def __init__(self, endpoint: Endpoint, loop: asyncio.AbstractEventLoop) -> None:
        self.endpoint: Final = endpoint
        self.loop: Final = loop
        self._idle: list[Connection] = []
        """The one that was used last is at the end, and used first."""
        self._busy = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._connecting: set[asyncio.Task[Connection]] = set()
        self._alive: set[Connection] = set()
        self._emptied: asyncio.Future[None] | None = None
        """Given once the pool is being closed: done when its last connection is."""

    async def acquire(self, identity: Identity, deadline: Deadline) -> Connection:
        """A connection that speaks for this caller, and a turn to use it."""
        if self._emptied is not None:
            raise ConnectError("skep is stopping")
        if self._busy < self.endpoint.max_connections:
            self._busy += 1
        else:
            turn: asyncio.Future[None] = self.loop.create_future()
            self._waiting.append(turn)
            try:
                await deadline.wait(turn, f"waiting while {self.endpoint.max_connections} other calls are under way")
            except BaseException:
                if turn.done() and not turn.cancelled() and turn.exception() is None:
                    self._next_turn()  # It came in the moment that we gave up.
                raise
        try:
            return self._kept(identity) or await self._open(identity, deadline)
        except BaseException:
            self._next_turn()
            raise

    def release(self, connection: Connection) -> None:
        """Gives the turn to the next, and keeps the connection if it is still good."""
        if not connection.closed:
            connection.reused = True
            connection.idle_since = self.loop.time()
            self._idle.append(connection)
        self._next_turn()

    def opened(self, connection: Connection) -> None:
        self._alive.add(connection)

    def forget(self, connection: Connection) -> None:
        """The connection was closed."""
        self._alive.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
        if self._emptied is not None and not self._alive and not self._emptied.done():
            self._emptied.set_result(None)

    async def close(self) -> None:
        """Closes every connection, those in use too, and waits until they are closed."""
        self._emptied = self.loop.create_future()
        for task in self._connecting:
            task.cancel()
        await asyncio.gather(*self._connecting, return_exceptions=True)
        for connection in list(self._alive):
            connection.abort()
        if self._alive:
            await self._emptied

    def drop_idle(self) -> None:
        """Closes what is not in use: after a restart of the metastore all of it is stale."""
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.abort()

    def _next_turn(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._busy -= 1

    def _kept(self, identity: Identity) -> Connection | None:
        oldest = self.loop.time() - self.endpoint.max_idle
        while self._idle and self._idle[0].idle_since < oldest:
            self._idle.pop(0).abort()
        for at in range(len(self._idle) - 1, -1, -1):
            if self._idle[at].identity == identity:
                return self._idle.pop(at)
        if len(self._idle) + self._busy > self.endpoint.max_connections:
            self._idle.pop(0).abort()  # Other users' connections make room.
        return None

    async def _open(self, identity: Identity, deadline: Deadline) -> Connection:
        ready: asyncio.Future[Connection] = self.loop.create_future()
        # A task of its own: it needs time-outs, and the handler may not have become a task yet.
        task = self.loop.create_task(self._connect(identity))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)
        task.add_done_callback(partial(_hand_over, ready))
        try:
            return await deadline.wait(ready, "connecting")
        except BaseException:
            task.cancel()
            raise

    async def _connect(self, identity: Identity) -> Connection:
        endpoint = self.endpoint
        try:
            async with asyncio.timeout(endpoint.connect_timeout):
                _, connection = await self.loop.create_connection(
                    lambda: Connection(self, identity), endpoint.host, endpoint.port
                )
        except TimeoutError:
            raise ConnectError(f"no connection within {endpoint.connect_timeout:g} s") from None
        except OSError as error:
            raise ConnectError(f"no connection: {error.strerror or error}") from error
        if identity.user is None:
            return connection
        try:
            reply = await connection.call(SET_UGI, binary.encode_args(SET_UGI, (identity.user, identity.groups)))
            reply.value(SET_UGI)
        except (MetastoreError, ApplicationError) as error:
            connection.abort()
            raise ConnectError(f"it does not accept the user {identity.user!r}: {error}") from error
        except BaseException:
            connection.abort()
            raise
        return connection


def _hand_over(ready: asyncio.Future[Connection], task: asyncio.Task[Connection]) -> None:
    """A new connection goes to who waits for it; if nobody does any more, it is closed."""
    if task.cancelled():
        if not ready.done():
            ready.set_exception(ConnectError("skep is stopping"))
        return
    error = task.exception()
    if error is None:
        if ready.done():
            task.result().abort()
        else:
            ready.set_result(task.result())
    elif not ready.done():
        ready.set_exception(error)

"""Waiting in an event loop: connections, deadlines, turns, heartbeats. `threads` has the same names.

A call waits on bare futures only, so that a server may take its first step before it has become a task. Everything
of one client belongs to one event loop.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeAlias, TypeVar, cast

from metastored.client.dialects import wire_for
from metastored.client.endpoints import Endpoint, Identity
from metastored.client.pooling import CLOSED
from metastored.client.wires import Wire
from metastored.errors import AuthenticationError, ConnectError, ConnectionLost, RemoteProtocolError, TimeoutExceeded
from metastored.wire.connection import NEED_DATA
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import Method

T = TypeVar("T")

now = time.monotonic
sleep = asyncio.sleep
Turn: TypeAlias = asyncio.Future[Any]


class Lock:
    """One event loop does one thing at a time: there is nothing to guard."""

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def new_turn() -> Turn:
    return asyncio.get_running_loop().create_future()


def give(turn: Turn, value: Any = None) -> bool:
    """Ends the wait; False when nobody waits any more."""
    if turn.done():
        return False
    turn.set_result(value)
    return True


def follow(turn: Turn) -> Turn:
    """A wait of one's own for the same: giving it up does not end the others'."""
    mine = new_turn()
    turn.add_done_callback(lambda done: give(mine, done.result()))
    return mine


class Deadline:
    """One timer for all that a call waits for. Begins to run when it is made; cancel it when the call is done."""

    __slots__ = ("_doing", "_expired", "_future", "_timer", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._doing = ""
        self._expired = False
        self._future: asyncio.Future[Any] | None = None
        self._timer = asyncio.get_running_loop().call_later(seconds, self._expire)

    async def wait(self, future: asyncio.Future[T], doing: str) -> T:
        """The future's result, or TimeoutExceeded; `doing` says what is being waited for."""
        self._doing = doing
        if self._expired:
            future.cancel()
            raise self._error()
        self._future = future
        try:
            return await future
        finally:
            self._future = None

    def remaining(self) -> float:
        return 0.0 if self._expired else max(0.0, self._timer.when() - asyncio.get_running_loop().time())

    def cancel(self) -> None:
        self._timer.cancel()

    def _expire(self) -> None:
        self._expired = True
        if self._future is not None and not self._future.done():
            self._future.set_exception(self._error())

    def _error(self) -> TimeoutExceeded:
        return TimeoutExceeded(f"{self._doing} took longer than {self.seconds:g} s")


class Connection(asyncio.Protocol):
    """One connection, one call at a time. What arrives goes straight into the sans-IO wire."""

    def __init__(self, endpoint: Endpoint, identity: Identity, wire: Wire, lost: Callable[[Connection], None]) -> None:
        self.endpoint: Final = endpoint
        self.identity: Final = identity
        self.opened = now()
        self.idle_since = 0.0
        self.closed = False
        self.received = 0
        """Bytes of the answer to the last call."""
        self.reused = False
        """It was kept for a while, and may have been closed by the metastore since."""
        self._max_reply = endpoint.max_reply
        self._wire = wire
        self._lost = lost
        self._answer: asyncio.Future[Any] | None = None
        self._transport: asyncio.Transport | None = None

    def negotiate(self) -> asyncio.Future[None]:
        """Whatever has to be said before the first call."""
        loop, first = asyncio.get_running_loop(), self._wire.begin()
        done = loop.create_future()
        if not first:
            done.set_result(None)
        else:
            self._answer = done
            self._write(first)
        return done

    def call(self, method: Method, body: bytes) -> asyncio.Future[Reply]:
        """Sends the call; the future has its answer, or ConnectionLost or RemoteProtocolError."""
        assert self._answer is None
        self.received = 0
        answer = asyncio.get_running_loop().create_future()
        if method.oneway:
            self._write(self._wire.send(method, body))
            answer.set_result(Reply(b"\0"))
            return answer
        self._answer = answer
        if self.closed:
            self._fail(ConnectionLost("the connection was closed"))
        else:
            self._write(self._wire.send(method, body))
        return answer

    def usable(self) -> bool:
        """Whether it is open as far as can be told without asking."""
        return not self.closed

    def abort(self) -> None:
        """Closes at once: whatever is on its way is given up."""
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no subclass of asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._answer is None:
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
            while type(event := self._wire.next_event()) is bytes:
                self._write(event)
        except (RemoteProtocolError, AuthenticationError) as error:
            self._fail(error)
            return
        if event is NEED_DATA:
            return
        answer, self._answer = self._answer, None
        if not answer.done():
            answer.set_result(event)
        if self._wire.closes:
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self._lost(self)
        if self._answer is not None:
            text = "the connection was closed" if exc is None else f"the connection broke: {exc}"
            found = self._wire.hint()
            self._fail(ConnectionLost(f"{text}; {found}" if found else text))

    def _write(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(data)

    def _fail(self, error: Exception) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_exception(error)
        self.abort()


class Openings:
    """The connections that exist, and those that are being made."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Connection]] = set()
        self._alive: set[Connection] = set()
        self._emptied: asyncio.Future[None] | None = None
        """Given once all is being closed: done when the last connection is."""

    async def open(
        self, endpoint: Endpoint, identity: Identity, deadline: Deadline, lost: Callable[[Connection], None]
    ) -> Connection:
        """A new connection that is ready for calls."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[Connection] = loop.create_future()
        # A task of its own: it needs time-outs, and who asks may not have become a task yet.
        task = loop.create_task(self._connect(endpoint, identity, lost))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(partial(_hand_over, ready))
        try:
            return await deadline.wait(ready, "connecting")
        except BaseException:
            task.cancel()
            raise

    async def close(self) -> None:
        """Ends what is being made and what is open, and waits until it is closed."""
        self._emptied = asyncio.get_running_loop().create_future()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connection in list(self._alive):
            connection.abort()
        if self._alive:
            await self._emptied

    async def _connect(self, endpoint: Endpoint, identity: Identity, lost: Callable[[Connection], None]) -> Connection:
        def gone(connection: Connection) -> None:
            self._alive.discard(connection)
            lost(connection)
            if self._emptied is not None and not self._alive and not self._emptied.done():
                self._emptied.set_result(None)

        wire = wire_for(endpoint)
        connection = Connection(endpoint, identity, wire, gone)
        try:
            async with asyncio.timeout(endpoint.connect_timeout):
                name = endpoint.host if endpoint.tls else None
                loop = asyncio.get_running_loop()
                await loop.create_connection(
                    lambda: connection, endpoint.host, endpoint.port, ssl=endpoint.tls, server_hostname=name
                )
                if not connection.closed:
                    self._alive.add(connection)
                await connection.negotiate()
        except TimeoutError:
            connection.abort()
            raise ConnectError(f"no connection within {endpoint.connect_timeout:g} s") from None
        except OSError as error:
            connection.abort()
            # asyncio's own text names the address once more, and not what happened to it.
            refused = os.strerror(error.errno) if isinstance(error, ConnectionError) and error.errno else error.strerror
            raise ConnectError(f"no connection: {refused or error}") from error
        except BaseException:
            connection.abort()
            raise
        return connection


def _hand_over(ready: asyncio.Future[Connection], task: asyncio.Task[Connection]) -> None:
    """A new connection goes to who waits for it; if nobody does any more, it is closed."""
    if task.cancelled():
        if not ready.done():
            ready.set_exception(ConnectError(CLOSED))
        return
    error = task.exception()
    if error is None:
        if ready.done():
            task.result().abort()
        else:
            ready.set_result(task.result())
    elif not ready.done():
        ready.set_exception(error)


class InProcess:
    """Calls of a handler in this process, in the event loop of the caller."""

    def __init__(self, handler: Handler, user: str | None) -> None:
        self._handler = handler
        self._session = Session("in process", user=user)

    def call(self, method: Method, body: bytes) -> asyncio.Future[Reply]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()
        # A deadline ends a future, which a task does not allow; and a call nobody waits for is given up.
        task = loop.create_task(_reply(self._handler, Call(method, None, body=body), self._session))
        task.add_done_callback(partial(_pass_on, answer))
        answer.add_done_callback(lambda _: task.cancel())
        return answer

    async def close(self) -> None: ...


async def _reply(handler: Handler, call: Call, session: Session) -> Reply:
    return await handler.handle(call, session)


def _pass_on(answer: asyncio.Future[Reply], task: asyncio.Task[Reply]) -> None:
    if answer.done() or task.cancelled():
        return
    error = task.exception()
    if error is None:
        answer.set_result(task.result())
    else:
        answer.set_exception(error)


class Heartbeat:
    """Calls `beat` every so many seconds until it is stopped. What `beat` raises ends it and is kept."""

    def __init__(self, seconds: float, beat: Callable[[], Awaitable[None]]) -> None:
        self.seconds = seconds
        self._beat = beat
        self._task: asyncio.Task[None] | None = None
        self.error: Exception | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self.error is None:
            await asyncio.sleep(self.seconds)
            try:
                await self._beat()
            except Exception as error:
                self.error = error

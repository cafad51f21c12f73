"""Waiting in an event loop: connections, deadlines, waiters, heartbeats. `threads` has the same names.

A call awaits only bare futures, so that a server can run its first step before it is a task. All objects of one client
belong to one event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeAlias, TypeVar, cast
from weakref import WeakMethod

from metastored.client._backend.relays import RelayedReply
from metastored.client.dialects import wire_for
from metastored.client.endpoints import Endpoint, Identity
from metastored.client.hints import reason_of
from metastored.client.pooling import CLOSED
from metastored.client.wires import Wire
from metastored.errors import (
    AuthenticationError,
    ConnectError,
    ConnectionLost,
    Error,
    RemoteProtocolError,
    ReplyRefused,
    TimeoutExceeded,
)
from metastored.wire.connection import NEED_DATA, Piece
from metastored.wire.limits import MAX_REPLY
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import Method

T = TypeVar("T")

now = time.monotonic
sleep = asyncio.sleep
Timer: TypeAlias = asyncio.TimerHandle
Waiter: TypeAlias = asyncio.Future[Any]


class Lock:
    """Does nothing: an event loop runs one step at a time."""

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def new_waiter() -> Waiter:
    return asyncio.get_running_loop().create_future()


def resolve(waiter: Waiter, value: Any = None) -> bool:
    """Ends the wait; False if nobody waits any more."""
    if waiter.done():
        return False
    waiter.set_result(value)
    return True


def follow(waiter: Waiter) -> Waiter:
    """A separate wait for the same result: cancelling it does not affect the others."""
    own = new_waiter()
    waiter.add_done_callback(lambda done: resolve(own, done.result()))
    return own


def later(seconds: float, method: Callable[[], None]) -> Timer | None:
    """Runs the method after so many seconds, unless its object is gone by then. None outside of an event loop."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # The garbage collector closes a coroutine whose loop has ended.
        return None
    return loop.call_later(seconds, _run_if_alive, WeakMethod(method))


def _run_if_alive(reference: WeakMethod[Callable[[], None]]) -> None:
    method = reference()
    if method is not None:
        method()


class Deadline:
    """One timer for all waits of a call. It starts when it is created; cancel it when the call is done."""

    __slots__ = ("_doing", "_expired", "_future", "_timer", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._doing = ""
        self._expired = False
        self._future: asyncio.Future[Any] | None = None
        self._timer = asyncio.get_running_loop().call_later(seconds, self._expire)

    async def wait(self, future: asyncio.Future[T], doing: str) -> T:
        """The future's result; raises TimeoutExceeded, in which `doing` names what was waited for."""
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
        return TimeoutExceeded(f"{self._doing} took longer than {round(self.seconds, 3):g} s")


class Connection(asyncio.Protocol):
    """A connection. It makes one call at a time; received bytes are passed to the sans-IO wire."""

    def __init__(self, endpoint: Endpoint, identity: Identity, wire: Wire, lost: Callable[[Connection], None]) -> None:
        self.endpoint: Final = endpoint
        self.identity: Final = identity
        self.opened = now()
        self.idle_since = 0.0
        self.closed = False
        self.received = 0
        """Bytes of the reply to the last call."""
        self.reused = False
        """It was idle in the pool, and the metastore may have closed it since."""
        self._max_reply = endpoint.max_reply
        self._wire = wire
        self._lost = lost
        self._reply: asyncio.Future[Any] | None = None
        self._relay: RelayedReply | None = None
        """The rest of a reply that is relayed."""
        self._transport: asyncio.Transport | None = None

    def negotiate(self) -> asyncio.Future[None]:
        """The exchange before the first call, such as SASL."""
        loop, first = asyncio.get_running_loop(), self._wire.begin()
        done = loop.create_future()
        if not first:
            done.set_result(None)
        else:
            self._reply = done
            self._write(first)
        return done

    def call(self, method: Method, body: bytes, relays: bool = False) -> asyncio.Future[Reply]:
        """Sends the call; the future has its reply, ConnectionLost or RemoteProtocolError.

        With `relays` the body of a long reply may be a RelayedReply; the connection is in use until it has ended.
        """
        assert self._reply is None and self._relay is None
        self.received = 0
        reply = asyncio.get_running_loop().create_future()
        if method.oneway:
            self._write(self._wire.send(method, body))
            reply.set_result(Reply(b"\0"))
            return reply
        self._reply = reply
        if self.closed:
            self._fail(ConnectionLost("the connection was closed"))
        else:
            self._write(self._wire.send(method, body, relays))
        return reply

    def usable(self) -> bool:
        """Whether the connection is open, as far as the event loop knows.

        Data without a call, and the end of the connection, close it when they arrive. Records of TLS itself do not:
        asyncio reads them.
        """
        return not self.closed

    def abort(self) -> None:
        """Closes at once and drops whatever is being sent or received."""
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not subclasses of asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._reply is None and self._relay is None:
            self.abort()  # Data without a call: the stream is out of step.
            return
        self.received += len(data)
        most = self._max_reply if self._relay is None else MAX_REPLY
        if self.received > most:
            self._fail(ReplyRefused(f"the reply has more than {most} bytes; request fewer objects in one call"))
            return
        self._wire.receive_data(data)
        try:
            while (event := self._wire.next_part()) is not NEED_DATA:
                if type(event) is bytes:
                    self._write(event)
                elif type(event) is not Piece:
                    break
                elif self._relayed(event):
                    return
        except (RemoteProtocolError, AuthenticationError) as error:
            self._fail(error)
            return
        if event is NEED_DATA:
            return
        assert self._reply is not None
        reply, self._reply = self._reply, None
        if not reply.done():
            reply.set_result(event)
        if self._wire.closes:
            self.abort()

    def _relayed(self, piece: Piece) -> bool:
        """Passes a piece of a long reply on; True if the connection is free for other calls after it."""
        relay, reply = self._relay, self._reply
        if relay is None:
            relay = self._relay = RelayedReply(self)
            self._reply = None
            if reply is None or reply.done():
                self.abort()  # Nobody waits for the reply any more.
                return True
            reply.set_result(Reply(relay))
        relay.add(piece.data)
        if piece.last:
            self._relay = None
            self.resume_reading()
            relay.finish()
        return piece.last

    def pause_reading(self) -> None:
        if self._transport is not None and not self.closed:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self._transport is not None and not self.closed:
            self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self._lost(self)
        if self._reply is not None or self._relay is not None:
            text = "the connection was closed" if exc is None else f"the connection broke: {exc}"
            hint = self._wire.hint()
            self._fail(ConnectionLost(f"{text}; {hint}" if hint else text))

    def _write(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(data)

    def _fail(self, error: Error) -> None:
        reply, self._reply = self._reply, None
        relay, self._relay = self._relay, None
        self.abort()
        if reply is not None and not reply.done():
            reply.set_exception(error)
        if relay is not None:
            relay.finish(error)


class Openings:
    """Opens connections, and closes all of them at the end."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Connection]] = set()
        self._alive: set[Connection] = set()
        self._emptied: asyncio.Future[None] | None = None
        """Exists while everything is being closed: done when the last connection is closed."""

    async def open(
        self, endpoint: Endpoint, identity: Identity, deadline: Deadline, lost: Callable[[Connection], None]
    ) -> Connection:
        """A new connection, ready for calls. `lost` is called when it is closed."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[Connection] = loop.create_future()
        # A task: it needs timeouts, and the caller may not be a task yet.
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
        """Closes all connections, including those in use or being opened, and waits until they are closed."""
        self._emptied = asyncio.get_running_loop().create_future()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connection in list(self._alive):
            connection.abort()
        if self._alive:
            await self._emptied

    async def _connect(self, endpoint: Endpoint, identity: Identity, lost: Callable[[Connection], None]) -> Connection:
        def closed(connection: Connection) -> None:
            self._alive.discard(connection)
            lost(connection)
            if self._emptied is not None and not self._alive and not self._emptied.done():
                self._emptied.set_result(None)

        prepared = endpoint if endpoint.prepare is None else await endpoint.prepare(identity)
        connection = Connection(endpoint, identity, wire_for(prepared), closed)
        try:
            async with asyncio.timeout(endpoint.connect_timeout):
                await _open_transport(prepared, connection)
                if not connection.closed:
                    self._alive.add(connection)
                await connection.negotiate()
        except TimeoutError:
            connection.abort()
            raise ConnectError(f"no connection within {endpoint.connect_timeout:g} s") from None
        except OSError as error:
            connection.abort()
            raise ConnectError(reason_of(error)) from error
        except BaseException:
            connection.abort()
            raise
        return connection


async def _open_transport(endpoint: Endpoint, connection: Connection) -> None:
    loop, name = asyncio.get_running_loop(), endpoint.host if endpoint.tls else None
    if endpoint.open_socket is None:
        await loop.create_connection(
            lambda: connection, endpoint.host, endpoint.port, ssl=endpoint.tls, server_hostname=name
        )
        return
    opened = await endpoint.open_socket()
    try:
        await loop.create_connection(lambda: connection, sock=opened, ssl=endpoint.tls, server_hostname=name)
    except BaseException:
        opened.close()
        raise


def _hand_over(ready: asyncio.Future[Connection], task: asyncio.Task[Connection]) -> None:
    """Passes a new connection to the caller that waits for it; closes it if the caller has stopped waiting."""
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

    def __init__(self, handler: Handler, user: str | None, session: Session | None = None) -> None:
        """`session` is that of a caller whom somebody has authenticated; else one is made for the user."""
        self._handler = handler
        self._session = Session("in process", user=user) if session is None else session

    def call(self, method: Method, body: bytes) -> asyncio.Future[Reply]:
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[Reply] = loop.create_future()
        # A deadline sets an exception on a future, which a task does not allow. A call without a waiter is cancelled.
        task = loop.create_task(_coroutine(self._handler, Call(method, None, body=body), self._session))
        task.add_done_callback(partial(_pass_on, reply))
        reply.add_done_callback(lambda _: task.cancel())
        return reply

    async def close(self) -> None: ...


async def _coroutine(handler: Handler, call: Call, session: Session) -> Reply:
    return await handler.handle(call, session)


def _pass_on(reply: asyncio.Future[Reply], task: asyncio.Task[Reply]) -> None:
    if reply.done() or task.cancelled():
        return
    error = task.exception()
    if error is None:
        reply.set_result(task.result())
    else:
        reply.set_exception(error)


class Heartbeat:
    """Calls `beat` every so many seconds until it is stopped. An exception of `beat` ends it and is stored."""

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


class Background:
    """Runs a function once, beside the calls. The function must raise nothing."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._task = asyncio.get_running_loop().create_task(work())

    async def stop(self) -> None:
        """Cancels it, and waits until it has ended."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

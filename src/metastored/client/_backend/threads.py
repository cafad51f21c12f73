"""Waiting in the caller's thread: connections, deadlines, waiters, heartbeats, with the names of `aio`.

Many threads may use one client. Each call is made in the thread of its caller; only heartbeats and background work have
threads of their own, which are daemon threads.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, Final, Generic, Protocol, TypeVar

from metastored.client._backend.timers import Timer, later
from metastored.client.dialects import wire_for
from metastored.client.endpoints import Endpoint, Identity
from metastored.client.hints import reason_of
from metastored.client.wires import Wire
from metastored.errors import (
    AuthenticationError,
    ConnectError,
    ConnectionLost,
    RemoteProtocolError,
    ReplyRefused,
    TimeoutExceeded,
)
from metastored.wire.connection import NEED_DATA
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import Method

__all__ = [
    "Background", "Connection", "Deadline", "Heartbeat", "InProcess", "Lock", "Openings", "Timer", "Waiter", "follow",
    "later", "new_waiter", "now", "resolve", "sleep",
]  # fmt: skip

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

FIRST_CHUNK: Final = 64 * 1024
CHUNK: Final = 256 * 1024
"""Bytes of one `recv`. The first is small: memory for more would have to be mapped, which takes longer than most
replies. A long reply is read in larger chunks."""

now = time.monotonic
sleep = time.sleep
Lock = threading.Lock


class Pending(Protocol[T_co]):
    """A result that a caller can wait for."""

    def within(self, seconds: float) -> T_co:
        """The result; raises TimeoutError after so many seconds."""
        ...


class Waiter(Future[Any]):
    """A wait that another thread ends."""

    def within(self, seconds: float) -> Any:
        try:
            return self.result(seconds)
        except TimeoutError:
            if self.cancel():
                raise
            return self.result()


def new_waiter() -> Waiter:
    return Waiter()


def resolve(waiter: Waiter, value: Any = None) -> bool:
    """Ends the wait; False if nobody waits any more."""
    try:
        waiter.set_result(value)
    except InvalidStateError:
        return False
    return True


class Deadline:
    """The time by which a call must be done. It starts when it is created."""

    __slots__ = ("_until", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until = now() + seconds

    def wait(self, pending: Pending[T], doing: str) -> T:
        """The result; raises TimeoutExceeded, in which `doing` names what was waited for."""
        try:
            return pending.within(self.remaining())
        except TimeoutError:
            raise TimeoutExceeded(f"{doing} took longer than {round(self.seconds, 3):g} s") from None

    def remaining(self) -> float:
        return max(0.0, self._until - now())

    def cancel(self) -> None: ...


class Later(Generic[T]):
    """Work that is done by the thread that waits for it."""

    __slots__ = ("_work",)

    def __init__(self, work: Callable[[float], T]) -> None:
        self._work = work

    def within(self, seconds: float) -> T:
        return self._work(seconds)


def follow(waiter: Waiter) -> Pending[Any]:
    """A separate wait for the same result: cancelling it does not affect the others."""
    return Later(waiter.result)


def _readable(opened: socket.socket) -> Callable[[], bool]:
    """A function that returns whether bytes, or the end of the connection, can be read. It does not wait."""
    if not hasattr(select, "poll"):  # Windows has only select(), which elsewhere accepts only files below 1024.
        return lambda: bool(select.select([opened], [], [], 0)[0])
    arrivals = select.poll()
    arrivals.register(opened, select.POLLIN)
    return lambda: bool(arrivals.poll(0))


def _is_quiet(opened: ssl.SSLSocket) -> bool:
    """Whether neither data nor the end of the connection has arrived, whatever records of TLS have. Does not wait.

    Bytes on the socket say nothing about the connection: after a handshake of TLS 1.3 the server sends session tickets,
    and later perhaps key updates. OpenSSL reads such records here and reports that it wants more.
    """
    opened.settimeout(0)
    try:
        opened.recv(1)
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return True
    return False


class Connection:
    """A connection. It makes one call at a time."""

    def __init__(self, endpoint: Endpoint, identity: Identity, wire: Wire, opened: socket.socket) -> None:
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
        self._socket = opened
        self._is_readable = _readable(opened)

    def negotiate(self) -> Pending[None]:
        """The exchange before the first call, such as SASL."""

        def work(seconds: float) -> None:
            first = self._wire.begin()
            if first:
                self._exchange(first, seconds)

        return Later(work)

    def call(self, method: Method, body: bytes) -> Pending[Reply]:
        """The reply. The call is sent by the thread that waits for the reply."""

        def work(seconds: float) -> Reply:
            message = self._wire.send(method, body)
            if method.oneway:
                self._send(message, seconds)
                return Reply(b"\0")
            reply: Reply = self._exchange(message, seconds)
            return reply

        return Later(work)

    def usable(self) -> bool:
        """Whether the connection is open and no data arrived without a call. Does not wait."""
        if self.closed:
            return False
        try:
            if isinstance(self._socket, ssl.SSLSocket):
                return not (self._is_readable() or self._socket.pending()) or _is_quiet(self._socket)
            return not self._is_readable()
        except (OSError, ValueError):  # Broken, or closed at this moment by another thread.
            return False

    def abort(self) -> None:
        """Closes at once. A thread that waits for a reply gets ConnectionLost."""
        self.closed = True
        with suppress(OSError):  # The peer may have closed it.
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _send(self, message: bytes, seconds: float) -> None:
        try:
            self._socket.settimeout(max(seconds, 0.001))
            self._socket.sendall(message)
        except TimeoutError:
            self.abort()
            raise
        except OSError as error:
            self.abort()
            raise ConnectionLost(self._explained(f"the connection broke: {error.strerror or error}")) from error

    def _exchange(self, message: bytes, seconds: float) -> Any:
        until = now() + seconds
        self.received = 0
        self._send(message, seconds)
        try:
            while True:
                data = self._socket.recv(CHUNK if self.received else FIRST_CHUNK)
                if not data:
                    raise ConnectionLost(self._explained("the connection was closed"))
                self.received += len(data)
                if self.received > self._max_reply:
                    raise ReplyRefused(
                        f"the reply has more than {self._max_reply} bytes; request fewer objects in one call"
                    )
                self._wire.receive_data(data)
                while type(event := self._wire.next_part()) is bytes:
                    self._socket.sendall(event)
                if event is not NEED_DATA:
                    break
                self._socket.settimeout(max(until - now(), 0.001))
        except TimeoutError:
            self.abort()
            raise
        except OSError as error:
            self.abort()
            raise ConnectionLost(self._explained(f"the connection broke: {error.strerror or error}")) from error
        except (RemoteProtocolError, AuthenticationError, ConnectionLost):
            self.abort()
            raise
        if self._wire.closes:
            self.abort()
        return event

    def _explained(self, text: str) -> str:
        hint = self._wire.hint()
        return f"{text}; {hint}" if hint else text


class Openings:
    """Opens connections, and closes all of them at the end."""

    def __init__(self) -> None:
        self._alive: set[Connection] = set()
        self._lock = Lock()

    def open(
        self, endpoint: Endpoint, identity: Identity, deadline: Deadline, lost: Callable[[Connection], None]
    ) -> Connection:
        """A new connection, ready for calls. `lost` is not used: a closed connection is detected at its next use."""
        limit = min(endpoint.connect_timeout, deadline.remaining())
        until = now() + limit
        wire = wire_for(endpoint)
        opened: socket.socket | None = None
        try:
            opened = socket.create_connection((endpoint.host, endpoint.port), max(limit, 0.001))
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if endpoint.tls is not None:
                opened = endpoint.tls.wrap_socket(opened, server_hostname=endpoint.host)
            connection = Connection(endpoint, identity, wire, opened)
            connection.negotiate().within(max(until - now(), 0.001))
        except BaseException as error:
            if opened is not None:
                opened.close()
            if isinstance(error, TimeoutError):
                raise ConnectError(f"no connection within {round(limit, 3):g} s") from None
            if isinstance(error, OSError):
                raise ConnectError(reason_of(error)) from error
            raise
        with self._lock:
            self._alive = {each for each in self._alive if not each.closed}
            self._alive.add(connection)
        return connection

    def close(self) -> None:
        """Closes all connections, including those in use."""
        with self._lock:
            alive, self._alive = self._alive, set()
        for connection in alive:
            connection.abort()


class InProcess:
    """Calls of a handler in this process. Handlers are asynchronous: they run in an event loop of another thread."""

    def __init__(
        self,
        handler: Handler,
        user: str | None,
        session: Session | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """`session` is that of a caller whom somebody has authenticated; else one is made for the user.

        `loop` is the running event loop that the handler belongs to; else one is made, in a thread of its own. Calls
        must not be made from the loop's own thread.
        """
        self._handler = handler
        self._session = Session("in process", user=user) if session is None else session
        self._thread: threading.Thread | None = None
        if loop is None:
            loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=loop.run_forever, name="metastored-in-process", daemon=True)
            self._thread.start()
        self._loop = loop

    def call(self, method: Method, body: bytes) -> Pending[Reply]:
        def work(seconds: float) -> Reply:
            running = asyncio.run_coroutine_threadsafe(
                _coroutine(self._handler, Call(method, None, body=body), self._session), self._loop
            )
            try:
                return running.result(seconds)
            except TimeoutError:
                running.cancel()
                raise

        return Later(work)

    def close(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


async def _coroutine(handler: Handler, call: Call, session: Session) -> Reply:
    return await handler.handle(call, session)


class Heartbeat:
    """Calls `beat` every so many seconds until it is stopped. An exception of `beat` ends it and is stored."""

    def __init__(self, seconds: float, beat: Callable[[], None]) -> None:
        self.seconds = seconds
        self._beat = beat
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metastored-heartbeat", daemon=True)
        self.error: Exception | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while self.error is None and not self._stopped.wait(self.seconds):
            try:
                self._beat()
            except Exception as error:
                self.error = error


class Background:
    """Runs a function once, beside the calls. The function must raise nothing."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._thread = threading.Thread(target=work, name="metastored-background", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Waits until it has ended."""
        self._thread.join()

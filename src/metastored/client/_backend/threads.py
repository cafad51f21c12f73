"""Waiting in the caller's thread: the names of `aio`, over blocking sockets.

A client may be used by many threads; each call is made in its caller's, and only heartbeats have one of their own.
"""

from __future__ import annotations

import asyncio
import select
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, Final, Generic, Protocol, TypeVar

from metastored.client.dialects import wire_for
from metastored.client.endpoints import Endpoint, Identity
from metastored.client.wires import Wire
from metastored.errors import AuthenticationError, ConnectError, ConnectionLost, RemoteProtocolError, TimeoutExceeded
from metastored.wire.connection import NEED_DATA
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import Method

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

FIRST_CHUNK: Final = 64 * 1024
CHUNK: Final = 256 * 1024
"""Bytes that are asked for at once: at first so many that memory for them need not be mapped, which takes longer than
to get most answers; then more, as the answer is a long one."""

now = time.monotonic
sleep = time.sleep
Lock = threading.Lock


class Pending(Protocol[T_co]):
    """Something to wait for."""

    def within(self, seconds: float) -> T_co:
        """Its result; TimeoutError when that takes longer."""
        ...


class Turn(Future[Any]):
    """A wait that another thread ends."""

    def within(self, seconds: float) -> Any:
        try:
            return self.result(seconds)
        except TimeoutError:
            if self.cancel():
                raise
            return self.result()


def new_turn() -> Turn:
    return Turn()


def give(turn: Turn, value: Any = None) -> bool:
    """Ends the wait; False when nobody waits any more."""
    try:
        turn.set_result(value)
    except InvalidStateError:
        return False
    return True


class Deadline:
    """The time by which a call is done. Begins to run when it is made."""

    __slots__ = ("_until", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until = now() + seconds

    def wait(self, pending: Pending[T], doing: str) -> T:
        """The result, or TimeoutExceeded; `doing` says what is being waited for."""
        try:
            return pending.within(self.remaining())
        except TimeoutError:
            raise TimeoutExceeded(f"{doing} took longer than {self.seconds:g} s") from None

    def remaining(self) -> float:
        return max(0.0, self._until - now())

    def cancel(self) -> None: ...


class _Later(Generic[T]):
    """Work that is done by who waits for it."""

    __slots__ = ("_work",)

    def __init__(self, work: Callable[[float], T]) -> None:
        self._work = work

    def within(self, seconds: float) -> T:
        return self._work(seconds)


def follow(turn: Turn) -> Pending[Any]:
    """A wait of one's own for the same: giving it up does not end the others'."""
    return _Later(turn.result)


def _silence(opened: socket.socket) -> Callable[[], bool]:
    """A question: has nothing come on this connection, and is it open?"""
    if not hasattr(select, "poll"):  # Windows has select() alone; elsewhere that knows only files below 1024.
        return lambda: not select.select([opened], [], [], 0)[0]
    arrivals = select.poll()
    arrivals.register(opened, select.POLLIN)
    return lambda: not arrivals.poll(0)


class Connection:
    """One connection, one call at a time."""

    def __init__(self, endpoint: Endpoint, identity: Identity, wire: Wire, opened: socket.socket) -> None:
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
        self._socket = opened
        self._is_silent = _silence(opened)

    def negotiate(self) -> Pending[None]:
        """Whatever has to be said before the first call."""

        def work(seconds: float) -> None:
            first = self._wire.begin()
            if first:
                self._exchange(first, seconds)

        return _Later(work)

    def call(self, method: Method, body: bytes) -> Pending[Reply]:
        """The call is sent by who waits for its answer."""

        def work(seconds: float) -> Reply:
            message = self._wire.send(method, body)
            if method.oneway:
                self._socket.sendall(message)
                return Reply(b"\0")
            reply: Reply = self._exchange(message, seconds)
            return reply

        return _Later(work)

    def usable(self) -> bool:
        """Whether it is open: nothing may have come while nobody asked."""
        if self.closed:
            return False
        try:
            return self._is_silent()
        except (OSError, ValueError):  # It was closed in this moment.
            return False

    def abort(self) -> None:
        """Closes at once; whoever waits for an answer in another thread gets ConnectionLost."""
        self.closed = True
        with suppress(OSError):  # It may have been closed by the other end.
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _exchange(self, message: bytes, seconds: float) -> Any:
        until = now() + seconds
        self.received = 0
        try:
            self._socket.settimeout(max(seconds, 0.001))
            self._socket.sendall(message)
            while True:
                data = self._socket.recv(CHUNK if self.received else FIRST_CHUNK)
                if not data:
                    raise ConnectionLost(self._explained("the connection was closed"))
                self.received += len(data)
                if self.received > self._max_reply:
                    raise RemoteProtocolError(
                        f"an answer of more than {self._max_reply} bytes; ask for fewer objects at a time"
                    )
                self._wire.receive_data(data)
                while type(event := self._wire.next_event()) is bytes:
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
        found = self._wire.hint()
        return f"{text}; {found}" if found else text


class Openings:
    """The connections that exist."""

    def __init__(self) -> None:
        self._alive: set[Connection] = set()
        self._lock = Lock()

    def open(
        self, endpoint: Endpoint, identity: Identity, deadline: Deadline, lost: Callable[[Connection], None]
    ) -> Connection:
        """A new connection that is ready for calls. `lost` is never called: a closed one is found when it is used."""
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
                raise ConnectError(f"no connection within {endpoint.connect_timeout:g} s") from None
            if isinstance(error, OSError):
                raise ConnectError(f"no connection: {error.strerror or error}") from error
            raise
        with self._lock:
            self._alive = {each for each in self._alive if not each.closed}
            self._alive.add(connection)
        return connection

    def close(self) -> None:
        """Closes every connection, those in use too."""
        with self._lock:
            alive, self._alive = self._alive, set()
        for connection in alive:
            connection.abort()


class InProcess:
    """Calls of a handler in this process. Handlers are asynchronous: they run in an event loop of their own."""

    def __init__(self, handler: Handler, user: str | None) -> None:
        self._handler = handler
        self._session = Session("in process", user=user)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="metastored-in-process", daemon=True)
        self._thread.start()

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

        return _Later(work)

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


async def _coroutine(handler: Handler, call: Call, session: Session) -> Reply:
    return await handler.handle(call, session)


class Heartbeat:
    """Calls `beat` every so many seconds until it is stopped. What `beat` raises ends it and is kept."""

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

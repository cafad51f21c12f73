"""A server that follows a script byte by byte: a list of acts, one for each request.

It runs in a thread of its own and is closed, with all its connections, when its block ends. What it should answer is
said as bytes, or as the reply of a real handler cut, delayed, spoiled or withheld.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from metastored.wire.connection import Request, ServerConnection
from metastored.wire.message import Handler, Reply, Session

HOST = "127.0.0.1"
CHUNK = 65536
PATIENCE = 30.0

Act = Callable[["Peer", bytes], None]
"""An act: handles the bytes of one request."""


class Peer:
    """One accepted connection."""

    def __init__(self, server: Scripted, connection: socket.socket) -> None:
        self.server = server
        self.socket = connection
        self.wire = ServerConnection()
        self.session = Session()

    def reply(self, data: bytes) -> bytes:
        """The handler's reply to this request, as bytes for the socket."""
        assert self.server.handler is not None
        self.wire.receive_data(data)
        event = self.wire.next_event()
        while not isinstance(event, Request):
            self.wire.receive_data(self.socket.recv(CHUNK))
            event = self.wire.next_event()
        if event.call is None:
            assert event.error is not None
            return self.wire.send_error(event, event.error)
        self.server.called.append(event.call.method.name)
        answer = asyncio.run(_handled(self.server.handler, event, self.session))
        return self.wire.send(event, answer)


async def _handled(handler: Handler, request: Request, session: Session) -> Reply:
    assert request.call is not None
    return await handler.handle(request.call, session)


class Scripted:
    """`acts` are done in their order, one a request, over all connections; then `otherwise`."""

    def __init__(
        self, handler: Handler | None, acts: Sequence[Act], otherwise: Act, port: int = 0, serves: bool = True
    ) -> None:
        self.handler = handler
        self._serves = serves
        self.called: list[str] = []
        """The methods that were called."""
        self.requests: list[bytes] = []
        self.accepted = 0
        self._acts = list(acts)
        self._otherwise = otherwise
        self._listener = socket.create_server((HOST, port))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closing = False
        self._start(self._accept)

    @property
    def uri(self) -> str:
        return f"thrift://{HOST}:{self.port}"

    @property
    def opened(self) -> int:
        """The number of connections that are open."""
        with self._lock:
            return len(self._open)

    def then(self, *acts: Act) -> None:
        """More acts, for the next requests."""
        with self._lock:
            self._acts += acts

    def hang_up(self) -> None:
        """Closes every connection that is open, as a restart does."""
        with self._lock:
            opened, self._open = self._open, set()
        for each in opened:
            # Only its own thread closes a socket: the number of a closed one may be another's when that thread waits.
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with self._lock:
            self._closing = True
        _close(self._listener)
        self.hang_up()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(PATIENCE)
            with self._lock:
                if self._closing:
                    # It came in the moment that the others were hung up.
                    _close(connection)
                    return
                self.accepted += 1
                self._open.add(connection)
            self._start(lambda connection=connection: self._serve(connection))  # type: ignore[misc]

    def _serve(self, connection: socket.socket) -> None:
        peer = Peer(self, connection)
        with suppress(OSError):
            while self._serves and (data := connection.recv(CHUNK)):
                with self._lock:
                    self.requests.append(data)
                    act = self._acts.pop(0) if self._acts else self._otherwise
                act(peer, data)
        with self._lock:
            self._open.discard(connection)
        _close(connection)


def _close(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def answer(peer: Peer, data: bytes) -> None:
    """As a good server does."""
    peer.socket.sendall(peer.reply(data))


def in_pieces(size: int) -> Act:
    """A valid reply, this many bytes at a time."""

    def act(peer: Peer, data: bytes) -> None:
        whole = peer.reply(data)
        for at in range(0, len(whole), size):
            peer.socket.sendall(whole[at : at + size])

    return act


def cut(after: int) -> Act:
    """This many bytes of a valid reply, then the connection is closed. The call has been served."""

    def act(peer: Peer, data: bytes) -> None:
        peer.socket.sendall(peer.reply(data)[:after])
        _close(peer.socket)

    return act


def hang_up(peer: Peer, data: bytes) -> None:
    """The end of the connection before the call is served."""
    _close(peer.socket)


def stall(peer: Peer, data: bytes) -> None:
    """Nothing."""


def say(text: bytes) -> Act:
    """These bytes, for any request."""

    def act(peer: Peer, data: bytes) -> None:
        peer.socket.sendall(text)

    return act


def say_and_hang_up(text: bytes) -> Act:
    def act(peer: Peer, data: bytes) -> None:
        peer.socket.sendall(text)
        _close(peer.socket)

    return act


@contextmanager
def scripted(handler: Handler | None = None, *acts: Act, otherwise: Act = answer, port: int = 0) -> Iterator[Scripted]:
    """A server on a free port, or on this one."""
    server = Scripted(handler, acts, otherwise, port)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def closing_at_once() -> Iterator[Scripted]:
    """A server that accepts each connection and closes it before it reads anything."""
    server = Scripted(None, (), stall, serves=False)
    try:
        yield server
    finally:
        server.close()

"""A client with as little overhead as possible, so that the server is measured.

Requests are encoded once; a reply is read to its known length and not decoded.
"""

from __future__ import annotations

import selectors
import socket
import statistics
import time
from collections.abc import Callable
from typing import Any

from metastored.wire.codec import binary
from metastored.wire.connection import ClientConnection, NeedData
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS

LONG = 1 << 27
"""The bytes of a reply from which on a server may pause for longer within it."""


class Client:
    """One blocking connection."""

    def __init__(self, host: str, port: int) -> None:
        self.socket = socket.create_connection((host, port), timeout=600)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = ClientConnection()
        self._room = bytearray(1 << 18)
        self.replied_at = 0.0

    def call(self, name: str, *args: Any) -> Any:
        """A call whose reply is decoded: for preparation, not for measurement."""
        return self.request(name, *args).value(METHODS[name])

    def request(self, name: str, *args: Any) -> Reply:
        """A call whose reply is read to its end and not decoded; `replied_at` is when the last bytes arrived."""
        method = METHODS[name]
        self.socket.sendall(self._connection.send(method, binary.encode_args(method, args)))
        seen = size = 0
        while True:
            if size == len(self._room):
                self._room += bytes(size)
            got = self.socket.recv_into(memoryview(self._room)[size:])
            self.replied_at = time.perf_counter()
            if not got:
                raise ConnectionError(f"the server closed the connection during {name}")
            size += got
            # Every reply ends with a zero: data with another last byte is not parsed, so a long reply is walked once.
            if not self._room[size - 1]:
                self._connection.receive_data(bytes(memoryview(self._room)[seen:size]))
                seen = size
                reply = self._connection.next_event()
                if not isinstance(reply, NeedData):
                    return reply

    def exchange(self, request: bytes, length: int) -> None:
        """Sends a request and reads exactly this many bytes of reply."""
        self.socket.sendall(request)
        remaining = length
        while remaining:
            got = self.socket.recv_into(self._room, min(remaining, 1 << 18))
            if not got:
                raise ConnectionError("the server closed the connection")
            remaining -= got

    def close(self) -> None:
        self.socket.close()


def request_for(name: str, *args: Any) -> bytes:
    """A call as bytes, always with the same number."""
    method = METHODS[name]
    return ClientConnection().send(method, binary.encode_args(method, args))


def reply_length(host: str, port: int, request: bytes) -> int:
    """The length of the reply to this request: all bytes until the server sends no more."""
    client = Client(host, port)
    client.socket.sendall(request)
    client.socket.settimeout(60)
    total = len(client.socket.recv(1 << 20))
    client.socket.settimeout(1.5)
    try:
        while got := len(client.socket.recv(1 << 20)):
            total += got
            if total > LONG:
                client.socket.settimeout(10)
    except TimeoutError:
        pass
    client.close()
    return total


def median_time(host: str, port: int, request: bytes, times: int) -> float:
    """The median time of one exchange on one connection, after some to warm up."""
    length = reply_length(host, port, request)
    client = Client(host, port)
    taken = []
    for at in range(times + times // 5):
        start = time.perf_counter()
        client.exchange(request, length)
        if at >= times // 5:
            taken.append(time.perf_counter() - start)
    client.close()
    return statistics.median(taken)


def median_after(host: str, port: int, change: Callable[[], bytes], times: int) -> float:
    """The same with a change before each exchange, which is not timed; it returns the next request."""
    length = reply_length(host, port, change())
    client = Client(host, port)
    taken = []
    for _ in range(times):
        request = change()
        start = time.perf_counter()
        client.exchange(request, length)
        taken.append(time.perf_counter() - start)
    client.close()
    return statistics.median(taken)


def rate(host: str, port: int, request: bytes, connections: int, seconds: float) -> float:
    """Exchanges per second over many connections at once, from one thread."""
    length = reply_length(host, port, request)
    selector = selectors.DefaultSelector()
    sockets = []
    remaining: dict[int, int] = {}
    for _ in range(connections):
        client = Client(host, port)
        client.socket.setblocking(False)
        sockets.append(client.socket)
        selector.register(client.socket, selectors.EVENT_READ)
        remaining[client.socket.fileno()] = length
        client.socket.send(request)
    done = 0
    start = time.perf_counter()
    end = start + seconds
    while time.perf_counter() < end:
        for key, _ in selector.select(1.0):
            sock: socket.socket = key.fileobj  # type: ignore[assignment]
            rest = remaining[key.fd] - len(sock.recv(1 << 16))
            if rest == 0:
                done += 1
                sock.send(request)
                rest = length
            remaining[key.fd] = rest
    taken = time.perf_counter() - start
    for sock in sockets:
        sock.close()
    selector.close()
    return done / taken

"""A client that costs as little as possible, so that what is measured is the server.

Requests are encoded once; a reply is read to its known length and not decoded.
"""

from __future__ import annotations

import selectors
import socket
import statistics
import time
from collections.abc import Callable
from typing import Any

from metastored.wire import binary
from metastored.wire.connection import ClientConnection, NeedData
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS


class Client:
    """One blocking connection."""

    def __init__(self, host: str, port: int) -> None:
        self.socket = socket.create_connection((host, port), timeout=600)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = ClientConnection()
        self._room = bytearray(1 << 18)
        self.answered = 0.0

    def call(self, name: str, *args: Any) -> Any:
        """A call whose answer is decoded: for preparing, not for measuring."""
        return self.ask(name, *args).value(METHODS[name])

    def ask(self, name: str, *args: Any) -> Reply:
        """A call whose answer is read to its end and not decoded; `answered` is when its last bytes came."""
        method = METHODS[name]
        self.socket.sendall(self._connection.send(method, binary.encode_args(method, args)))
        seen = size = 0
        while True:
            if size == len(self._room):
                self._room += bytes(size)
            got = self.socket.recv_into(memoryview(self._room)[size:])
            self.answered = time.perf_counter()
            if not got:
                raise ConnectionError(f"the server closed the connection during {name}")
            size += got
            # Every answer ends with a zero: others are not looked at, so that a long one is walked through once.
            if not self._room[size - 1]:
                self._connection.receive_data(bytes(memoryview(self._room)[seen:size]))
                seen = size
                reply = self._connection.next_event()
                if not isinstance(reply, NeedData):
                    return reply

    def exchange(self, request: bytes, length: int) -> None:
        """Sends a request and reads exactly this many bytes of reply."""
        self.socket.sendall(request)
        left = length
        while left:
            got = self.socket.recv_into(self._room, min(left, 1 << 18))
            if not got:
                raise ConnectionError("the server closed the connection")
            left -= got

    def close(self) -> None:
        self.socket.close()


def request_for(name: str, *args: Any) -> bytes:
    """A call as bytes, always with the same number."""
    method = METHODS[name]
    return ClientConnection().send(method, binary.encode_args(method, args))


def reply_length(host: str, port: int, request: bytes) -> int:
    """How long the reply to this request is: everything until the server falls silent."""
    client = Client(host, port)
    client.socket.sendall(request)
    client.socket.settimeout(60)
    total = len(client.socket.recv(1 << 20))
    client.socket.settimeout(1.5)
    try:
        while got := len(client.socket.recv(1 << 20)):
            total += got
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
    """The same when something is changed before each exchange, which is not counted, and says what is asked then."""
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
    left: dict[int, int] = {}
    for _ in range(connections):
        client = Client(host, port)
        client.socket.setblocking(False)
        sockets.append(client.socket)
        selector.register(client.socket, selectors.EVENT_READ)
        left[client.socket.fileno()] = length
        client.socket.send(request)
    done = 0
    start = time.perf_counter()
    end = start + seconds
    while time.perf_counter() < end:
        for key, _ in selector.select(1.0):
            sock: socket.socket = key.fileobj  # type: ignore[assignment]
            rest = left[key.fd] - len(sock.recv(1 << 16))
            if rest == 0:
                done += 1
                sock.send(request)
                rest = length
            left[key.fd] = rest
    taken = time.perf_counter() - start
    for sock in sockets:
        sock.close()
    selector.close()
    return done / taken

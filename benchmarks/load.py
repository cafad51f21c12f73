"""Many connections that repeat encoded requests in a fixed random order, in a process of their own.

A closed loop: each connection sends its next request as soon as it has its last reply. Replies are compared with the
start of an expected one, and the rest of their bytes is discarded in the kernel, so that one thread is enough for long
lists. The time of a call is from its request to the last byte of its reply.
"""

from __future__ import annotations

import gc
import multiprocessing
import random
import selectors
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from benchmarks.client import Client
from metastored.wire.connection import ClientConnection, NeedData
from metastored.wire.message import REPLY
from metastored.wire.methods import METHODS

SEED: Final = 34
ORDER: Final = 2_000
"""After this many calls a connection repeats its order."""
HEADER: Final = 12
"""The bytes of a message beside the name of its method: version and type, the name's length, and a number."""
FIELD: Final = 3
"""The bytes before the value of a field: its type and its number."""
STOP, RESULT = b"\0", b"\0\0"
LAST: Final = 120.0
"""Seconds after the end of a load until the last replies must be there."""


@dataclass(frozen=True)
class Call:
    """A request, the bytes of its reply, and how many of a thousand calls are such requests."""

    kind: str
    method: str
    request: bytes
    length: int
    share: float

    @property
    def prefix(self) -> int:
        """How many bytes of the reply tell a result from an error. A reply without a value has only a STOP."""
        return min(HEADER + len(self.method) + FIELD, self.length)


@dataclass
class Times:
    """The seconds of all calls by kind, how long the load lasted, and how many replies were errors."""

    lasted: float = 0.0
    errors: int = 0
    by_kind: dict[str, list[float]] = field(default_factory=dict)

    def of(self, *kinds: str) -> list[float]:
        """Those of some kinds, or of all, sorted."""
        return sorted(taken for kind in kinds or self.by_kind for taken in self.by_kind.get(kind, ()))


def percentile(ordered: Sequence[float], share: float) -> float:
    """The least value that this share of the values does not exceed."""
    if not ordered:
        raise ValueError("there are no values")
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def load(host: str, port: int, calls: Sequence[Sequence[Call]], warm: float, seconds: float) -> Times:
    """Runs the calls of all connections at once, in a new process. Calls sent while it warms up do not count."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_run, host, port, calls, warm, seconds).result()


def order_of(calls: Sequence[Call], number: int) -> list[Call]:
    """The order of a connection: the same in each run, another for each connection."""
    shares = [call.share for call in calls]
    return random.Random(SEED * 1_000 + number).choices(calls, shares, k=ORDER)


def _run(host: str, port: int, calls: Sequence[Sequence[Call]], warm: float, seconds: float) -> Times:
    gc.disable()  # A collection would be counted as the server's time.
    times = Times()
    loops = [_Loop(host, port, of_one, number) for number, of_one in enumerate(calls)]
    with selectors.DefaultSelector() as selector:
        for loop in loops:
            selector.register(loop.socket, selectors.EVENT_READ, loop)
            loop.send()
        counted = time.perf_counter() + warm
        end = counted + seconds
        # Calls that are not finished at the end count too: they are the longest.
        while selector.get_map():
            for key, _ in selector.select(1.0):
                loop = key.data
                if not loop.receive():
                    continue
                now = time.perf_counter()
                if loop.sent_at >= counted:
                    times.by_kind.setdefault(loop.call.kind, []).append(now - loop.sent_at)
                    times.errors += loop.failed
                if now < end:
                    loop.send()
                else:
                    selector.unregister(loop.socket)
                    loop.socket.close()
            if time.perf_counter() > end + LAST:
                raise TimeoutError(f"{len(selector.get_map())} calls had no reply {LAST:g} s after the end of the load")
    times.lasted = time.perf_counter() - counted
    return times


class _Loop:
    """One connection: its order, and the state of the reply that it reads."""

    def __init__(self, host: str, port: int, calls: Sequence[Call], number: int) -> None:
        self.socket: Final = Client(host, port).socket
        self.socket.setblocking(False)
        self._order: Final = order_of(calls, number)
        self._next = 0
        self._room: Final = bytearray(1 << 20)
        self.call = self._order[0]
        self.sent_at = 0.0
        self.failed = False
        self._remaining = 0
        self._start = b""
        self._parser: ClientConnection | None = None

    def send(self) -> None:
        self.call = self._order[self._next % ORDER]
        self._next += 1
        self._remaining, self._start, self._parser, self.failed = self.call.length, b"", None, False
        self.sent_at = time.perf_counter()
        # A request of some kilobytes fits into the socket's buffer, which is empty.
        if self.socket.send(self.call.request) != len(self.call.request):
            raise ConnectionError("a request was not sent at once")

    def receive(self) -> bool:
        """Reads what has arrived; returns whether the reply is complete."""
        if self._parser is not None:
            return self._receive_error(self.socket.recv(1 << 16))
        if missing := self.call.prefix - len(self._start):
            data = self.socket.recv(missing)
            if not data:
                raise ConnectionError(f"the server closed the connection during {self.call.kind}")
            self._start += data
            self._remaining -= len(data)
            if len(self._start) == self.call.prefix and not self._as_expected():
                return self._receive_error(self._start)
            if self._remaining and len(self._start) == self.call.prefix:
                return False  # The rest is discarded when the selector reports it, which is at once.
        else:
            # MSG_TRUNC discards the bytes of a TCP stream without a copy.
            got = self.socket.recv_into(self._room, min(self._remaining, len(self._room)), socket.MSG_TRUNC)
            if not got:
                raise ConnectionError(f"the server closed the connection during {self.call.kind}")
            self._remaining -= got
        return self._remaining == 0

    def _as_expected(self) -> bool:
        # A result is field 0; errors that a method declares are other fields.
        body = self._start[HEADER + len(self.call.method) :]
        return self._start[3] == REPLY and (body == STOP or body[1:] == RESULT)

    def _receive_error(self, data: bytes) -> bool:
        """An error has another length than a result: it is parsed."""
        if not data:
            raise ConnectionError(f"the server closed the connection during {self.call.kind}")
        if self._parser is None:
            self._parser, self.failed = ClientConnection(), True
            self._parser.send(METHODS[self.call.method], STOP)  # It expects the reply to a call of its own.
        self._parser.receive_data(data)
        return not isinstance(self._parser.next_event(), NeedData)

"""A TCP relay in front of a real server that counts connections and calls, delays nothing and changes no byte."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

HOST = "127.0.0.1"
CHUNK = 65536


_CALL: Final = b"\x80\x01\x00\x01"
"""The head of a call in Thrift's binary protocol, before the length of the method's name."""


class SentCall(NamedTuple):
    """A call as a client sent it."""

    name: str
    body: bytes


class Relay:
    """Listens on a free port. `accepted` counts all connections, `opened` those that are open now."""

    def __init__(self, target: int, records: bool = False) -> None:
        """`records`: the calls of clients are kept, see `calls`."""
        self.accepted = 0
        self._sent: list[tuple[socket.socket, bytearray]] | None = [] if records else None
        self._target = target
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server((HOST, 0), backlog=512)
        self.port: int = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def opened(self) -> int:
        with self._lock:
            return len(self._pairs)

    @property
    def uri(self) -> str:
        return f"thrift://{HOST}:{self.port}"

    def calls(self) -> list[SentCall]:
        """All calls in the order of their first bytes. Clients wait for each reply, so a call begins a chunk."""
        with self._lock:
            sent = [bytes(data) for _, data in self._sent or ()]
        lengths = [int.from_bytes(data[4:8], "big") for data in sent]
        return [
            SentCall(data[8 : 8 + length].decode(), data[8 + length :])
            for data, length in zip(sent, lengths, strict=True)
        ]

    def hang_up(self) -> None:
        """Closes all connections that are open, as a restart of the server does."""
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            for each in pair:
                _close(each)

    def close(self) -> None:
        """Closes everything and waits for the threads."""
        _close(self._listener)
        self.hang_up()
        for thread in self._threads:
            thread.join(30)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection((HOST, self._target))
            except OSError:
                _close(client)
                continue
            pair = (client, server)
            with self._lock:
                self.accepted += 1
                self._pairs.add(pair)
            for source, target in (pair, pair[::-1]):
                thread = threading.Thread(target=self._copy, args=(source, target, pair), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _copy(self, source: socket.socket, target: socket.socket, pair: tuple[socket.socket, socket.socket]) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                if source is pair[0]:
                    self._record(source, data)
                target.sendall(data)
        self._end(pair)

    def _end(self, pair: tuple[socket.socket, socket.socket]) -> None:
        with self._lock:
            self._pairs.discard(pair)
        for each in pair:
            _close(each)

    def _record(self, client: socket.socket, data: bytes) -> None:
        with self._lock:
            if self._sent is None:
                return
            if data.startswith(_CALL):
                self._sent.append((client, bytearray(data)))
                return
            last = next((body for owner, body in reversed(self._sent) if owner is client), None)
            if last is not None:
                last += data


def _close(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


@contextmanager
def relayed(target: int, records: bool = False) -> Iterator[Relay]:
    """A relay to this port of the local host; with `records` it keeps the calls of clients."""
    relay = Relay(target, records)
    try:
        yield relay
    finally:
        relay.close()

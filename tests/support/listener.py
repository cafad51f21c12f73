"""A port that records every byte that somebody sends to it, for tests of what must never be sent."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

REPLY = b"HTTP/1.1 500 Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Listener:
    """A port of 127.0.0.1. It replies with an error of HTTP to the first bytes of each connection."""

    def __init__(self, reply: bytes = REPLY) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.received = b""
        self._reply = reply
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def _serve(self) -> None:
        while True:
            try:
                opened, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._record, args=(opened,), daemon=True).start()

    def _record(self, opened: socket.socket) -> None:
        with opened:
            opened.settimeout(0.5)
            try:
                while data := opened.recv(65536):
                    self.received += data
                    if b"\r\n\r\n" in data:
                        opened.sendall(self._reply)
                        return
            except OSError:
                return

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(10)


@contextmanager
def listening(reply: bytes = REPLY) -> Iterator[Listener]:
    """A listener while the block runs."""
    found = Listener(reply)
    try:
        yield found
    finally:
        found.close()

"""A client that can call any method of any metastore: metastored's own codec over a blocking socket.

It returns decoded structs and raises the error of a reply. It never retries a call; after a lost connection
the next call opens a new one, as a client of an old Hive must do after every internal error.
"""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Any, Self

from metastored.errors import ConnectionLost
from metastored.wire.codec import binary
from metastored.wire.connection import ClientConnection, NeedData
from metastored.wire.methods import METHODS

TIMEOUT = 120.0
CHUNK = 256 * 1024


class Client:
    """One connection, opened at the first call."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._socket: socket.socket | None = None
        self._wire = ClientConnection()

    def call(self, name: str, *args: Any) -> Any:
        """The method's result; missing arguments are null."""
        method = METHODS[name]
        given = (*args, *[None] * (len(method.args) - len(args)))
        connection = self._opened()
        try:
            connection.sendall(self._wire.send(method, binary.encode_args(method, given)))
            if method.oneway:
                return None
            while isinstance(reply := self._wire.next_event(), NeedData):
                data = connection.recv(CHUNK)
                if not data:
                    raise ConnectionLost(f"the server closed the connection during {name}")
                self._wire.receive_data(data)
        except (OSError, ConnectionLost):
            self.close()
            raise
        return reply.value(method)

    def _opened(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=TIMEOUT)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._wire = ClientConnection()
        return self._socket

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

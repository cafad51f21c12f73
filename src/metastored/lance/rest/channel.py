"""Messages between the server and a worker process: a JSON object, and bytes that belong to it.

Neither side trusts the other with code: nothing is pickled. Every length is checked before memory is taken for it.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from typing import Any, Final, NamedTuple

import orjson

__all__ = ["MAX_BYTES", "Channel", "Message"]

HEAD: Final = struct.Struct("<IQ")
"""The lengths of the JSON object and of the bytes."""
MAX_FIELDS: Final = 16 * 1024 * 1024
MAX_BYTES: Final = 1024 * 1024 * 1024
"""The longest body of a message. A worker's memory is bounded, so its replies are shorter."""
CHUNK: Final = 1 << 20


class Message(NamedTuple):
    """One message. `fields` has its kind."""

    fields: dict[str, Any]
    data: bytes = b""

    @property
    def kind(self) -> str:
        return str(self.fields.get("kind"))


class Channel:
    """One end of a connection between two processes. Any thread may send; one at a time receives."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._sending = threading.Lock()

    def send(self, data: bytes = b"", until: float | None = None, /, **fields: Any) -> None:
        """Sends a message. Raises OSError if the other process is gone, and TimeoutError at the time `until`."""
        text = orjson.dumps(fields)
        with self._sending:
            self._wait(until)
            self._socket.sendall(HEAD.pack(len(text), len(data)) + text)
            self._socket.sendall(data)

    def receive(self, until: float | None = None) -> Message:
        """The next message. Raises EOFError at the end, TimeoutError at the time `until`, and ValueError for bytes that
        are not a message."""
        length, size = HEAD.unpack(self._read(HEAD.size, until))
        if length > MAX_FIELDS or size > MAX_BYTES:
            raise ValueError(f"a message has {length} and {size} bytes")
        fields = orjson.loads(self._read(length, until))
        if not isinstance(fields, dict):
            raise ValueError("a message is not an object")
        return Message(fields, bytes(self._read(size, until)))

    def close(self) -> None:
        self._socket.close()

    def _read(self, size: int, until: float | None) -> bytearray:
        data = bytearray()
        while len(data) < size:
            self._wait(until)
            part = self._socket.recv(min(CHUNK, size - len(data)))
            if not part:
                raise EOFError
            data += part
        return data

    def _wait(self, until: float | None) -> None:
        if until is None:
            self._socket.settimeout(None)
            return
        remaining = until - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self._socket.settimeout(remaining)

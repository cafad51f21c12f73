"""The smallest Thrift client: one strict binary call without arguments, unframed, written out by hand.

It checks whether a server of any Hive version is up, without depending on the codec under test or
on a Thrift library. It reads replies of two shapes only, a string and a list of strings, and never interprets
a struct.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator
from typing import BinaryIO

VERSION_1 = 0x80010000
CALL, REPLY = 1, 2
STOP, STRING, LIST = 0, 11, 15
TIMEOUT = 10.0


class UnexpectedReply(Exception):
    """The peer sent another message than the expected reply."""


def call_for_string(host: str, port: int, method: str) -> str:
    """Calls a method such as getVersion, whose result is a string."""
    with _reply(host, port, method, STRING) as reply:
        return _string(reply)


def call_for_strings(host: str, port: int, method: str) -> list[str]:
    """Calls a method such as get_all_databases, whose result is a list of strings."""
    with _reply(host, port, method, LIST) as reply:
        element, count = struct.unpack("!Bi", _exactly(reply, 5))
        if element != STRING:
            raise UnexpectedReply(f"{method}: a list of type {element}, not of strings")
        return [_string(reply) for _ in range(count)]


def is_up(host: str, port: int) -> bool:
    """Whether a metastore listens there and replies to getName."""
    try:
        return bool(call_for_string(host, port, "getName"))
    except (OSError, UnexpectedReply):
        return False


@contextlib.contextmanager
def _reply(host: str, port: int, method: str, expected: int) -> Iterator[BinaryIO]:
    """The reply's bytes, read up to the value of the result."""
    name = method.encode()
    header = struct.pack("!Ii", VERSION_1 | CALL, len(name)) + name + struct.pack("!i", 0)
    with (
        socket.create_connection((host, port), timeout=TIMEOUT) as connection,
        connection.makefile("rb") as reply,
    ):
        connection.sendall(header + bytes([STOP]))
        version, length = struct.unpack("!Ii", _exactly(reply, 8))
        if version != VERSION_1 | REPLY or _exactly(reply, length) != name:
            raise UnexpectedReply(f"{method}: not a reply to it (header {version:#x})")
        _exactly(reply, 4)  # the sequence number
        kind, field = struct.unpack("!Bh", _exactly(reply, 3))
        if (kind, field) != (expected, 0):
            raise UnexpectedReply(f"{method}: field {field} of type {kind}, not a result of type {expected}")
        yield reply


def _string(reply: BinaryIO) -> str:
    (length,) = struct.unpack("!i", _exactly(reply, 4))
    return _exactly(reply, length).decode()


def _exactly(reply: BinaryIO, size: int) -> bytes:
    data = reply.read(size)
    if len(data) != size:
        raise UnexpectedReply(f"the connection ended after {len(data)} of {size} bytes")
    return data

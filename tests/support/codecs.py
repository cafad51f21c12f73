"""metastored's own codecs by the name of the protocol, for tests of all three."""

from __future__ import annotations

from typing import Any

from metastored.wire import binary, compact, tjson
from metastored.wire.binary_protocol import BINARY
from metastored.wire.compact_protocol import COMPACT
from metastored.wire.protocol import WireProtocol
from metastored.wire.tjson_protocol import TJSON
from metastored.wire.tjson_text import loads

PROTOCOLS: dict[str, WireProtocol] = {"binary": BINARY, "compact": COMPACT, "json": TJSON}
_CODECS = {"binary": binary.CODEC, "compact": compact.CODEC, "json": tjson.CODEC}


def encode(value: Any, protocol: str) -> bytes:
    """One struct."""
    parts: list[bytes] = []
    _CODECS[protocol].named(type(value).__name__)[1](value, parts.append)
    return b"".join(parts)


def decode(cls: type, data: bytes, protocol: str) -> Any:
    """One struct that takes up all the data."""
    reader = _CODECS[protocol].named(cls.__name__)[0]
    if protocol == "json":
        try:
            return reader(loads(data))
        finally:
            tjson.CODEC.forget()
    value, end = reader(data, 0)
    assert end == len(data), f"{len(data) - end} bytes remain"
    return value

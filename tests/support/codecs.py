"""metastored's own codecs by the name of the protocol, for tests of all three."""

from __future__ import annotations

from typing import Any

from metastored.wire.codec import binary, compact, tjson
from metastored.wire.codec.binary_protocol import BINARY
from metastored.wire.codec.compact_protocol import COMPACT
from metastored.wire.codec.protocol import WireProtocol
from metastored.wire.codec.tjson_protocol import TJSON
from metastored.wire.codec.tjson_text import loads

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

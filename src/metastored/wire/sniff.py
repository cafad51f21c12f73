"""Detects the protocol of a peer from its first bytes. Pure: bytes in, a name out."""

from __future__ import annotations

from enum import Enum

PEEK = 8
"""How many bytes are enough for the detection."""
_FIRST = {0x80: "binary", 0x82: "compact", 0x5B: "json"}
_VERBS = (b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC", b"TRAC", b"CONN", b"PRI ")


class Kind(Enum):
    UNFRAMED = "unframed"
    FRAMED = "framed"
    SASL = "sasl"
    TLS = "tls"
    HTTP = "http"
    OLD_BINARY = "old binary"
    UNKNOWN = "unknown"


def sniff(data: bytes | bytearray) -> tuple[Kind, str] | None:
    """The kind, and for Thrift the protocol's name; None while there are too few bytes."""
    if not data:
        return None
    first = data[0]
    if first in _FIRST:
        return Kind.UNFRAMED, _FIRST[first]
    if first == 0x16:
        return None if len(data) < 2 else (Kind.TLS if data[1] == 3 else Kind.UNKNOWN, "")
    if len(data) < 4:
        return None
    if bytes(data[:4]) in _VERBS:
        return Kind.HTTP, ""
    if len(data) < 5:
        return None
    if data[4] in _FIRST:
        return Kind.FRAMED, _FIRST[data[4]]
    if data[1:4] == b"\0\0\0" and ((first == 1 and 0 < data[4] <= 20) or first in (3, 4)):
        # The name of a mechanism; or the words of a client that gave up before it began: it had no ticket.
        if len(data) < 6:
            return None
        if 0x41 <= data[5] <= 0x5A:
            return Kind.SASL, ""
    if first == 0 and (chr(data[4]).isalpha() or data[4] == 0x5F):
        return Kind.OLD_BINARY, ""
    return Kind.UNKNOWN, ""

"""Recognises a peer that is not a metastore by its first bytes. Pure: bytes in, a sentence out."""

from __future__ import annotations

from typing import Final

HEAD: Final = 64
"""The number of bytes of the first reply that are needed."""
HIVESERVER2_PORT: Final = 10000
_SASL_STATUSES: Final = frozenset((2, 3, 4))


def hint(head: bytes, port: int) -> str:
    """How to connect instead; an empty string if the bytes do not show it."""
    if head[:5] == b"HTTP/":
        return "it is an HTTP server: connect to http://… or https://…"
    if len(head) >= 3 and head[0] in (0x15, 0x16) and head[1] == 3:
        return "it requires TLS: connect to thrifts://…"
    if len(head) >= 5 and head[0] in _SASL_STATUSES and head[1:3] == b"\0\0":
        text = head[5:].decode("utf-8", "replace").strip()
        other = f"; if this is HiveServer2's port, the metastore's is another, 9083 by default{_by_port(port)}"
        return f"the server requires SASL ({text}): connect with sasl=…{other}"
    if head[:4] == b"SSH-":
        return "it is an SSH server"
    return f"on port {port} HiveServer2 listens by default; the metastore's port is 9083" if _is_hs2(port) else ""


def not_a_metastore(method: str, port: int) -> str:
    """The error for a Thrift server without a method that every metastore has."""
    return (
        f"it is a Thrift server and has no {method}, which every metastore has: this is another service, perhaps "
        f"HiveServer2 (port {HIVESERVER2_PORT}); the metastore's port is 9083 by default{_by_port(port)}"
    )


def _is_hs2(port: int) -> bool:
    return HIVESERVER2_PORT <= port <= HIVESERVER2_PORT + 1


def _by_port(port: int) -> str:
    return f", and {port} is HiveServer2's" if _is_hs2(port) else ""

"""What a peer is that does not answer as a metastore, told from its first bytes. Pure: bytes in, a sentence out."""

from __future__ import annotations

from typing import Final

HEAD: Final = 64
"""How many bytes of the first answer are enough to tell."""
HIVESERVER2_PORT: Final = 10000
_SASL_STATUSES: Final = frozenset((2, 3, 4))


def hint(head: bytes, port: int) -> str:
    """What would work, or nothing when the bytes do not say."""
    if head[:5] == b"HTTP/":
        return "it speaks HTTP: connect to http://… or https://…"
    if len(head) >= 3 and head[0] in (0x15, 0x16) and head[1] == 3:
        return "it wants TLS: connect to thrifts://…"
    if len(head) >= 5 and head[0] in _SASL_STATUSES and head[1:3] == b"\0\0":
        said = head[5:].decode("utf-8", "replace").strip()
        other = f"; if this is HiveServer2's port, the metastore's is another, 9083 by default{_by_port(port)}"
        return f"the server wants SASL ({said}): connect with sasl=…{other}"
    if head[:4] == b"SSH-":
        return "it is an SSH server"
    return f"on port {port} HiveServer2 listens by default; the metastore's port is 9083" if _is_hs2(port) else ""


def not_a_metastore(method: str, port: int) -> str:
    """A server that speaks Thrift and does not know what every metastore knows."""
    return (
        f"it speaks Thrift but has no {method}, which every metastore has: this is another service, perhaps "
        f"HiveServer2 (port {HIVESERVER2_PORT}); the metastore's port is 9083 by default{_by_port(port)}"
    )


def _is_hs2(port: int) -> bool:
    return HIVESERVER2_PORT <= port <= HIVESERVER2_PORT + 1


def _by_port(port: int) -> str:
    return f", and {port} is HiveServer2's" if _is_hs2(port) else ""

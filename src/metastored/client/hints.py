"""Why there is no connection, and what to check; a peer that is not a metastore, by its first bytes. Pure."""

from __future__ import annotations

import os
from typing import Final

HEAD: Final = 64
"""The number of bytes of the first reply that are needed."""
HIVESERVER2_PORT: Final = 10000
_SASL_STATUSES: Final = frozenset((2, 3, 4))
NO_CONNECTION: Final = "no connection"
_QUESTIONS: Final = (
    (("connection refused", NO_CONNECTION), "Is the server running, and is this its address?"),
    (("name or service not known", "nodename nor servname", "name resolution"), "Is the name of the host right?"),
    (("unreachable", "no route to host"), "Is the address right?"),
)


def reason_of(error: OSError) -> str:
    """Why a connection could not be made, for the end of a sentence: `connection refused`."""
    # asyncio's own text repeats the address and does not name the reason.
    text = os.strerror(error.errno) if isinstance(error, ConnectionError) and error.errno else error.strerror
    text = text or str(error) or NO_CONNECTION
    return text[:1].lower() + text[1:]


def unconnected(uri: str, reason: str, more: str = "") -> str:
    """The message of an error: no connection to these addresses, the reason, and what to check."""
    asked = question(reason)
    return f"cannot connect to {uri}: {reason}{more}{f'. {asked}' if asked else ''}"


def question(reason: str) -> str:
    """What to check if a server cannot be reached for this reason; an empty string for other failures."""
    text = reason.lower()
    return next((asked for words, asked in _QUESTIONS if any(word in text for word in words)), "")


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

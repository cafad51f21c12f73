"""A free port of 127.0.0.1."""

from __future__ import annotations

import socket


def free_port() -> int:
    """A port that nobody uses now. Somebody else may take it before it is used, which a test notices at its start."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

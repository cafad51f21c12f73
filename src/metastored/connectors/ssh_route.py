"""`ssh.tunnel.*`: the hops of a tunnel, each with its user, port and key. Pure."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from metastored.errors import ConfigError
from metastored.hive.host_rules import plain_host
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.hosts import SSH_PORT
from metastored.model.remotes.keys import SSH_ROUTE
from metastored.model.remotes.values import read_seconds, split

KEYS: Final = "ssh.tunnel.private.keys"
KNOWN_HOSTS: Final = "ssh.tunnel.known.hosts"
PASSPHRASE: Final = "ssh.tunnel.passphrase"
PORT: Final = "ssh.tunnel.port"
TIMEOUT: Final = "ssh.tunnel.timeout"
DEFAULT_TIMEOUT: Final = 10.0
"""Seconds to open a tunnel, all its hops together."""

_HOP: Final = re.compile(r"(?:(?P<user>[^@\s]+)@)?(?P<host>\[[^\]]+\]|[^:@\s]+)(?::(?P<port>\d{1,5}))?")


class Hop(NamedTuple):
    """One SSH server on the way."""

    user: str | None
    host: str
    port: int
    key: str | None
    """The file with the private key; None for those of the server's own user."""

    def __str__(self) -> str:
        return f"{self.user}@{self.host}:{self.port}" if self.user else f"{self.host}:{self.port}"


class Route(NamedTuple):
    """How a tunnel is opened."""

    hops: tuple[Hop, ...]
    known_hosts: str | None
    """None for the file of the server's own user."""
    timeout: float

    def __str__(self) -> str:
        return " -> ".join(map(str, self.hops))


def read_route(endpoint: Endpoint) -> Route:
    """Raises ConfigError, or InvalidObjectException for a bad timeout."""
    parts = [part.strip() for part in endpoint.get(SSH_ROUTE).split("->")]
    keys = split(endpoint.get(KEYS))
    if len(keys) not in (0, 1, len(parts)):
        raise ConfigError(
            f"'{KEYS}' has {len(keys)} keys and '{SSH_ROUTE}' has {len(parts)} hops: give one key for each hop, in "
            "their order, or one for all"
        )
    hops = tuple(_hop(part, keys[at] if len(keys) > 1 else keys[0] if keys else None, endpoint)
                 for at, part in enumerate(parts))  # fmt: skip
    properties = dict(endpoint.properties)
    timeout = read_seconds(properties, TIMEOUT, DEFAULT_TIMEOUT, f"the tunnel {endpoint.get(SSH_ROUTE)}")
    return Route(hops, endpoint.get(KNOWN_HOSTS) or None, timeout)


def _hop(text: str, key: str | None, endpoint: Endpoint) -> Hop:
    match = _HOP.fullmatch(text)
    if match is None:
        raise ConfigError(f"'{SSH_ROUTE}' has the hop {text!r}; write user@bastion -> user@node, or user@bastion:2222")
    given = match["port"] or endpoint.get(PORT) or str(SSH_PORT)
    if not given.isdecimal() or not 0 < int(given) < 65536:
        raise ConfigError(f"{given!r} in '{SSH_ROUTE}' or '{PORT}' is not a port")
    return Hop(match["user"], plain_host(match["host"]), int(given), key)

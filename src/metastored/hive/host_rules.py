"""Hosts as settings and remotes write them: `*.example.com`, `10.0.0.0/8`, `metastore:9083`. No name is resolved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address

_WITH_PORT: Final = re.compile(r"(?:\[(?P<inner>[^\]]+)\]|(?P<host>[^\[\]:]+))(?::(?P<port>\d{1,5}))?")
_NAME: Final = re.compile(r"[A-Za-z0-9_.*-]+")
_UNUSUAL: Final = re.compile(r"[\x00-\x20\x7f\\]")
"""Characters at which two parsers of addresses may disagree about where the host ends."""


@dataclass(frozen=True, slots=True)
class HostRule:
    """One entry: a name with `*` for any text, or a network; and a port where only that one is meant."""

    text: str
    name: str | None
    network: IPv4Network | IPv6Network | None
    port: int | None = None

    def allows_port(self, port: int | None) -> bool:
        return self.port is None or port == self.port

    def allows_name(self, host: str) -> bool:
        return self.name is not None and fnmatchcase(plain_host(host), self.name)

    def allows_address(self, address: Address) -> bool:
        return self.network is not None and address in self.network


def read_host_rule(entry: str) -> HostRule:
    """Parses one entry. Raises ValueError."""
    text = entry.strip()
    network = _network(text)
    if network is not None:
        return HostRule(text, None, network)
    match = _WITH_PORT.fullmatch(text)
    if match is not None:
        host, port = match["inner"] or match["host"], int(match["port"]) if match["port"] else None
        network = _network(host)
        if network is not None:
            return HostRule(text, None, network, port)
        if match["inner"] is None and _NAME.fullmatch(host) and not re.fullmatch(r"[\d.]+", host):
            return HostRule(text, plain_host(host), None, port)
    raise ValueError(f"{text!r} is none; hosts were expected, such as *.example.com, 10.0.0.0/8 or metastore:9083")


def _network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def plain_host(host: str) -> str:
    """A host as rules are compared with it: in lower case, without brackets and the root's dot."""
    return host.strip("[]").rstrip(".").lower()


def literal_address(host: str) -> Address | None:
    """The address that a host is written as, also one of IPv4 inside IPv6; None for a name."""
    try:
        address = ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def read_address(text: str) -> tuple[str, int | None]:
    """The host and the port of `host`, `host:port` or `scheme://host:port/…`. Raises ValueError.

    A user, an `@` behind the host, and characters that another parser could read differently are refused: the host that
    is checked must be the host that a library connects to.
    """
    value = text.strip()
    parts = urlsplit(value if "//" in value else f"//{value}")
    port = parts.port
    if not parts.hostname or "@" in value or _UNUSUAL.search(value):
        raise ValueError("a host was expected, such as storage.example.com:9000, with or without https:// before it")
    return plain_host(parts.hostname), port or {"http": 80, "https": 443}.get(parts.scheme)

"""The address of a client behind gateways: taken from `X-Forwarded-For` if a trusted proxy sent it.

Anybody can send this header. Therefore it is read only from peers in `trusted_proxies`, and from its end: each proxy
appends the address that it saw, and everything before the last untrusted address may be invented. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

HEADER: Final = b"x-forwarded-for"
MAX_HOPS: Final = 32
"""Addresses that are looked at; more proxies than these stand in front of nobody."""

Network = IPv4Network | IPv6Network


def networks(names: Iterable[str]) -> tuple[Network, ...]:
    return tuple(map(ip_network, names))


def client_address(peer: str, headers: Iterable[tuple[bytes, bytes]], trusted: Sequence[Network]) -> str | None:
    """The address of the client for whom a trusted proxy sent this request; None if the peer is the client."""
    if not trusted or not _within(peer, trusted):
        return None
    sent = b",".join(value for name, value in headers if name == HEADER)
    client = None
    for hop in reversed(sent.decode("latin-1").split(",")[-MAX_HOPS:]):
        address = _address(hop.strip())
        if address is None:
            break
        client = address
        if not _within(address, trusted):
            break
    return client


def _address(text: str) -> str | None:
    """An address without its port, as proxies write them: 10.0.0.1, 10.0.0.1:80, 2001:db8::1, [2001:db8::1]:80."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(ip_address(text))
    except ValueError:
        return None


def _within(address: str, trusted: Sequence[Network]) -> bool:
    try:
        peer = ip_address(address)
    except ValueError:
        return False
    if isinstance(peer, IPv6Address) and peer.ipv4_mapped is not None:
        peer = peer.ipv4_mapped
    return any(peer in each for each in trusted)

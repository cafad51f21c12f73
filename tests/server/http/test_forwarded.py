"""The address of a client behind gateways, from X-Forwarded-For."""

from __future__ import annotations

import pytest

from metastored.server.http.forwarded import client_address, networks

TRUSTED = networks(("10.0.0.0/8", "2001:db8::/32"))


def forwarded(peer: str, *values: str) -> str | None:
    return client_address(peer, [(b"x-forwarded-for", value.encode()) for value in values], TRUSTED)


@pytest.mark.parametrize(
    ("sent", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:4711", "192.0.2.1"),
        ("192.0.2.1, 10.1.1.1", "192.0.2.1"),
        ("203.0.113.9, 192.0.2.1", "192.0.2.1"),
        ("[2001:db9::1]:443", "2001:db9::1"),
        ("2001:db9::1, 2001:db8::7", "2001:db9::1"),
        ("10.0.0.3", "10.0.0.3"),
        ("unknown, 192.0.2.1", "192.0.2.1"),
    ],
)
def test_the_last_address_that_is_no_proxy_is_the_client(sent: str, client: str) -> None:
    assert forwarded("10.0.0.1", sent) == client


def test_several_headers_are_one_list() -> None:
    assert forwarded("10.0.0.1", "203.0.113.9", "192.0.2.1") == "192.0.2.1"


@pytest.mark.parametrize("sent", ["", "unknown", "192.0.2.1, unknown", "1.2.3", "\xff"])
def test_what_is_no_address_leaves_the_proxy_as_the_client(sent: str) -> None:
    assert forwarded("10.0.0.1", sent) is None


@pytest.mark.parametrize("peer", ["192.0.2.1", "::1", "", "unix"])
def test_a_peer_that_is_no_trusted_proxy_is_the_client(peer: str) -> None:
    assert forwarded(peer, "198.51.100.1") is None


def test_a_proxy_with_a_mapped_address_is_the_same_proxy() -> None:
    assert forwarded("::ffff:10.0.0.1", "192.0.2.1") == "192.0.2.1"


def test_without_trusted_proxies_nothing_is_read() -> None:
    assert client_address("10.0.0.1", [(b"x-forwarded-for", b"192.0.2.1")], ()) is None

"""The client's document, section 2: the parts of the client, and what it speaks."""

from __future__ import annotations

import pytest

import metastored
from metastored.errors import DatabaseNotFound
from tests.specs.conftest import Server

pytestmark = pytest.mark.slow


def test_2_1_a_the_client_has_version_capabilities_error_mapping_retries_pool_and_cache(sqlite: Server) -> None:
    with sqlite.client(cache=True) as client:
        assert client.capabilities.version() >= (3, 0)
        assert client.capabilities.supports("tables")
        with pytest.raises(DatabaseNotFound):
            client.database("nothing")
        pool, cache = client.pool_stats(), client.cache_stats()
        assert pool is not None and pool.size >= 1
        assert cache is not None and cache.misses >= 1


def test_2_1_b_binary_and_compact_framed_and_unframed_are_spoken(own: Server) -> None:
    for protocol in ("binary", "compact"):
        for framed in (True, False):
            with metastored.connect(
                own.uri, transport=metastored.TransportSettings(protocol=protocol, framed=framed)
            ) as client:
                assert "default" in client.databases(), (protocol, framed)

"""Connections with TLS 1.2 and 1.3 to real servers, counted: records of TLS itself do not close an idle connection."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metastored import TransportSettings
from metastored.testing import RunningServer
from tests.server.support import certificate
from tests.support.driven import connected, grouped
from tests.support.forks import running_server
from tests.support.relay import relayed
from tests.support.waiting import pause

pytestmark = pytest.mark.slow

VERSIONS = {"TLS 1.2": ssl.TLSVersion.TLSv1_2, "TLS 1.3": ssl.TLSVersion.TLSv1_3}
EVERY = 0.02
"""Seconds between two checks of the idle connections."""
CHECKS = 10
"""Checks of the idle connections that are waited for."""


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, Path]]:
    cert, key = certificate(tmp_path_factory.mktemp("tls"))
    with running_server(tls_certificate=cert, tls_key=key, http_port=0, http_methods="all") as server:
        yield server, cert


# None, one and several; the numbers between them with `make soak`.
@pytest.mark.parametrize("min_idle", [0, 1, *(pytest.param(each, marks=pytest.mark.soak) for each in (2, 3, 4)), 5])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scheme", ["https", "thrifts"])
def test_idle_connections_stay_open_and_are_reused(
    half: str, scheme: str, version: str, min_idle: int, secured: tuple[RunningServer, Path]
) -> None:
    server, cert = secured
    context = ssl.create_default_context(cafile=str(cert))
    context.minimum_version = context.maximum_version = VERSIONS[version]
    port, path = (server.http_port, "/metastore") if scheme == "https" else (server.port, "")
    assert port is not None
    # With the protocol set, no call is made to detect it: session tickets are still unread when the checks begin.
    settings = grouped(protocol="binary", framed=False, tls=context, min_idle=min_idle, look_every=EVERY)
    with relayed(port) as relay:
        uri = f"{scheme}://localhost:{relay.port}{path}"
        with connected(half, uri, **settings, cache=False) as client:
            assert client.pool_stats().opened == min_idle
            for _ in range(3):
                pause(client, EVERY * CHECKS / 3)
                assert "default" in client.databases()
            stats = client.pool_stats()
            # One more than min_idle may be opened while a call uses one of them.
            assert stats.opened <= relay.accepted <= min_idle + 1
            assert (stats.replaced, stats.failed) == (0, 0)


def test_a_connection_that_the_server_has_closed_is_not_used(half: str, secured: tuple[RunningServer, Path]) -> None:
    server, cert = secured
    context = ssl.create_default_context(cafile=str(cert))
    with relayed(server.port) as relay:
        with connected(
            half,
            f"thrifts://localhost:{relay.port}",
            tls=context,
            cache=False,
            transport=TransportSettings(framed=False),
        ) as client:
            assert "default" in client.databases()
            relay.hang_up()
            pause(client, 0.05)
            # A call that must not be sent twice: the connection has to be found closed before.
            assert client.api.open_txns(_one_transaction()).txn_ids
            assert client.api.calls == 2


def _one_transaction() -> Any:
    from metastored.wire.generated.transactions import OpenTxnRequest

    return OpenTxnRequest(num_txns=1, user="ann", hostname="here")

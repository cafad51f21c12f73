"""Servers with remotes: metastored on SQLite and on PostgreSQL, and another metastored as the remote one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from metastored.testing import RunningServer
from tests.support.client import Client
from tests.support.forks import running_server

BOTH = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


@pytest.fixture(params=BOTH)
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    """A new metastored server."""
    with ExitStack() as stack:
        settings = {}
        if request.param == "postgresql":
            settings["database_url"] = stack.enter_context(request.getfixturevalue("postgres").database())
        yield stack.enter_context(running_server(compat="3.1", http_port=0, http_tls="off", **settings))


@pytest.fixture(scope="module")
def far() -> Iterator[RunningServer]:
    """A metastored server that is remote. Tests use databases of their own names in it."""
    with running_server(compat="3.1", audit="on") as server:
        yield server


@pytest.fixture
def connect() -> Iterator[Callable[[RunningServer], Client]]:
    """Clients that are closed at the end."""
    with ExitStack() as stack:

        def connected(server: RunningServer) -> Client:
            client = Client(server.host, server.port)
            stack.callback(client.close)
            return client

        yield connected

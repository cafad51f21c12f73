"""Servers with Iceberg's REST catalog, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from metastored.testing import RunningServer
from tests.iceberg.rest_server import Rest, iceberg_server
from tests.server.http.support import DATABASES, PASSWORD, USER


@pytest.fixture(scope="session", params=DATABASES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server for all tests, on each of its databases. Each test has a namespace of its own."""
    with iceberg_server(tmp_path_factory.mktemp("iceberg"), request.param) as running:
        yield running


@pytest.fixture
def rest(server: RunningServer) -> Rest:
    return Rest(server)


@pytest.fixture
def maja(server: RunningServer) -> Rest:
    """The administrator of a server with users."""
    return Rest(server, USER, PASSWORD)


@pytest.fixture
def bob(server: RunningServer) -> Rest:
    """A user without privileges, of a server with `{"bob": "b"}`."""
    return Rest(server, "bob", "b")


@pytest.fixture
def namespace(rest: Rest, request: pytest.FixtureRequest) -> str:
    """A new namespace, named after the test and its parameters."""
    return rest.namespace("n_" + "".join(c if c.isalnum() else "_" for c in request.node.name.lower())[-80:])

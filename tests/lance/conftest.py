"""Namespaces on metastored, and on the real Hives for the cases that hold on all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from metastored.testing import RunningServer
from tests.support.forks import running_server
from tests.support.lance import Space, new_space


class Place(NamedTuple):
    """Where the cases run: a server, the levels of identifiers, and who keeps the versions."""

    server: str
    kind: str
    managed_by: str


_APACHE = (pytest.mark.apache, pytest.mark.slow)
_PEERS = (pytest.mark.peers, pytest.mark.slow)
# Hive 2.3 has no catalogs, and 3.1.3 ignores conditions.
PLACES: dict[Place, tuple[pytest.MarkDecorator, ...]] = {
    Place("metastored", "hive2", "storage"): (),
    Place("metastored", "hive2", "impl"): (),
    Place("metastored", "hive3", "storage"): (),
    Place("metastored", "hive3", "impl"): (),
    Place("hive_2_3", "hive2", "storage"): _APACHE,
    Place("hive_2_3", "hive2", "impl"): _APACHE,
    Place("hive_3_1", "hive2", "storage"): _APACHE,
    Place("hive_3_1", "hive3", "storage"): _APACHE,
    Place("hive_4_0_1", "hive2", "impl"): _PEERS,
    Place("hive_4_0_1", "hive3", "storage"): _PEERS,
    Place("hive_4_0_1", "hive3", "impl"): _PEERS,
}


@pytest.fixture(scope="session")
def metastored_uri() -> Iterator[str]:
    """A metastored for all tests of Lance."""
    with running_server() as server:
        yield server.uri


@pytest.fixture
def own_server() -> Iterator[RunningServer]:
    """A metastored of the test's own."""
    with running_server() as server:
        yield server


@pytest.fixture(params=[pytest.param(place, marks=marks, id="-".join(place)) for place, marks in PLACES.items()])
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    return found


@pytest.fixture
def anywhere(request: pytest.FixtureRequest, place: Place, tmp_path: Path) -> Iterator[Space]:
    """A namespace on each server, with each kind of identifier and each `managed_by` that the server can serve."""
    if place.server == "metastored":
        uri: str = request.getfixturevalue("metastored_uri")
    else:
        uri = request.getfixturevalue(place.server).uri
    with new_space(uri, place.kind, tmp_path / "root", place.managed_by) as space:
        yield space


@pytest.fixture(params=["storage", "impl"])
def space(request: pytest.FixtureRequest, metastored_uri: str, tmp_path: Path) -> Iterator[Space]:
    """A namespace on metastored, with each `managed_by`."""
    with new_space(metastored_uri, "hive2", tmp_path / "root", request.param) as made:
        yield made


@pytest.fixture
def managed(metastored_uri: str, tmp_path: Path) -> Iterator[Space]:
    """A namespace on metastored that keeps the versions in it."""
    with new_space(metastored_uri, "hive2", tmp_path / "root", "impl") as made:
        yield made

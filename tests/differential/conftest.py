"""metastored in the compatibility mode of each Hive, for the recordings; and both sides alive, for random sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import pytest

from tests.differential.peer import Peer
from tests.differential.record import Played
from tests.support.apache import apache_2_3
from tests.support.client import Client
from tests.support.forks import running_server

Sides = tuple[Peer, Peer]


@contextmanager
def metastored_as(version: str, compat: str, folder: Path) -> Iterator[Peer]:
    """metastored in a compatibility mode. Objects of other tests would be listed, so each comparison has its own."""
    outside = folder / "beside_metastored"
    outside.mkdir()
    with running_server(compat=compat, warehouse=f"file:{folder}/warehouse") as metastored:
        with Client(metastored.host, metastored.port) as client:
            yield Peer(client, version, folder / "warehouse", outside)


@pytest.fixture(scope="module")
def metastored_for(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Played], Peer]]:
    """metastored in the mode of a Hive of the recordings; the topics of that Hive share a server, as they did there."""
    with ExitStack() as servers:

        @cache
        def started(played: Played) -> Peer:
            folder = tmp_path_factory.mktemp("metastored")
            return servers.enter_context(metastored_as(played.version, played.compat, folder))

        yield started


@contextmanager
def new_sides_2_3(folder: Path) -> Iterator[Sides]:
    """A real Hive 2.3, and metastored."""
    beside = folder / "beside_hive"
    beside.mkdir()
    with apache_2_3() as hive, Client(hive.host, hive.port) as client, metastored_as("2.3", "2.3", folder) as peer:
        yield Peer(client, "2.3", hive.warehouse, beside), peer


@pytest.fixture(scope="module")
def sides_2_3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with new_sides_2_3(tmp_path_factory.mktemp("sides")) as sides:
        yield sides

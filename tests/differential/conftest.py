"""Both sides of a comparison: a real Hive, and a metastored in the compatibility mode of that version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from metastored.testing import running_server
from tests.differential.peer import Peer
from tests.support.apache import ApacheMetastore, MissingPeer, apache_2_3, apache_3_1, apache_peer
from tests.support.client import Client

Sides = tuple[Peer, Peer]


@contextmanager
def _sides(hive: ApacheMetastore, version: str, compat: str, folder: Path) -> Iterator[Sides]:
    with (
        running_server(compat=compat, warehouse=f"file:{folder}/warehouse") as metastored,
        Client(hive.host, hive.port) as to_hive,
        Client(metastored.host, metastored.port) as to_metastored,
    ):
        outside = [folder / name for name in ("beside_hive", "beside_metastored")]
        for each in outside:
            each.mkdir()
        yield (
            Peer(to_hive, version, hive.warehouse, outside[0]),
            Peer(to_metastored, version, folder / "warehouse", outside[1]),
        )


@contextmanager
def _or_skip(peer: AbstractContextManager[ApacheMetastore]) -> Iterator[ApacheMetastore]:
    """A server that `make peers` installs; skips with a reason if it is missing."""
    try:
        hive = peer.__enter__()
    except MissingPeer as reason:
        pytest.skip(str(reason))
    try:
        yield hive
    finally:
        peer.__exit__(None, None, None)


# Each comparison has its own servers: objects of other tests would be listed.


@contextmanager
def new_sides_2_3(folder: Path) -> Iterator[Sides]:
    with apache_2_3() as hive, _sides(hive, "2.3", "2.3", folder) as sides:
        yield sides


@pytest.fixture(scope="module")
def sides_2_3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with new_sides_2_3(tmp_path_factory.mktemp("sides")) as sides:
        yield sides


@pytest.fixture(scope="module")
def sides_3_1(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with apache_3_1() as hive, _sides(hive, "3.1", "3.1", tmp_path_factory.mktemp("sides")) as sides:
        yield sides


# Hive's listener for events refuses views that Hive itself creates and drops, and writes with every call: only
# events are compared with a server that has it.


@pytest.fixture
def sides_2_3_with_events(tmp_path: Path) -> Iterator[Sides]:
    with _or_skip(apache_2_3(events=True)) as hive, _sides(hive, "2.3", "2.3", tmp_path) as sides:
        yield sides


@pytest.fixture
def sides_3_1_with_events(tmp_path: Path) -> Iterator[Sides]:
    with _or_skip(apache_3_1(events=True)) as hive, _sides(hive, "3.1", "3.1", tmp_path) as sides:
        yield sides


@pytest.fixture(scope="module")
def sides_4_0_0(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with (
        _or_skip(apache_peer("4.0.0")) as hive,
        _sides(hive, "4.0.0", "4.0", tmp_path_factory.mktemp("sides")) as sides,
    ):
        yield sides


@pytest.fixture(scope="module")
def sides_4_0_1(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with (
        _or_skip(apache_peer("4.0.1")) as hive,
        _sides(hive, "4.0.1", "4.0", tmp_path_factory.mktemp("sides")) as sides,
    ):
        yield sides


@pytest.fixture(scope="module")
def sides_4_1(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with _or_skip(apache_peer("4.1.0")) as hive, _sides(hive, "4.1", "4.2", tmp_path_factory.mktemp("sides")) as sides:
        yield sides

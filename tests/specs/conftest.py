"""The servers that the requirements are tried on, each started once: metastored on SQLite and on PostgreSQL, with HTTPS
and one user, and Apache's metastores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import metastored
from metastored.catalog import CatalogManager
from tests.server.http.support import API, PASSWORD, USER, Browser, any_certificate, fill, user
from tests.support.apache import ApacheMetastore
from tests.support.forks import running_server
from tests.support.postgres import shared_postgres

_numbers = count(1)

OWN = {"sqlite": (), "postgresql": (pytest.mark.postgres,)}
APACHE = {
    "hive_2_3": (pytest.mark.apache, pytest.mark.slow),
    "hive_3_1": (pytest.mark.apache, pytest.mark.slow),
}
PEERS = {"hive_4_0_1": (pytest.mark.peers, pytest.mark.slow)}


def _params(*groups: dict[str, Any]) -> list[Any]:
    return [pytest.param(name, marks=marks) for group in groups for name, marks in group.items()]


class Server(NamedTuple):
    """A metastore: its name here, its address, and its HTTPS port if it has one."""

    name: str
    uri: str
    https: int | None = None

    @property
    def version(self) -> tuple[int, int]:
        return {"hive_2_3": (2, 3), "hive_3_1": (3, 1), "hive_4_0_1": (4, 0)}.get(self.name, (3, 1))

    @property
    def is_own(self) -> bool:
        return self.name in OWN

    def client(self, **options: Any) -> metastored.Client:
        return metastored.connect(self.uri, **options)

    def catalogs(self, **keys: Any) -> CatalogManager:
        """A manager with this server as its catalog `hive`."""
        entry = {"name": "hive", "type": "hive_metastore", "uri": self.uri, **keys}
        return CatalogManager.load(environment={}, list=[entry])

    def nine(self, **options: Any) -> metastored.Client:
        """A client of its HTTPS port, which serves nine methods."""
        uri = f"https://127.0.0.1:{self.https}{API}"
        return metastored.connect(uri, user=USER, password=PASSWORD, tls=any_certificate(), **options)

    def browser(self) -> Browser:
        assert self.https is not None
        return Browser(self.https)


@pytest.fixture(scope="session")
def _own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Starts metastored when it is first needed."""
    started: dict[str, Server] = {}
    with ExitStack() as stack:

        def start(name: str) -> Server:
            if name not in started:
                place: Path | str = tmp_path_factory.mktemp("specs") / "data"
                if name == "postgresql":
                    place = stack.enter_context(shared_postgres().database())
                user("add", USER, data=place, password=PASSWORD)
                settings: dict[str, Any] = {"data" if isinstance(place, Path) else "database_url": place}
                running = stack.enter_context(running_server(http_port=0, **settings))
                fill(running)
                started[name] = Server(name, running.uri, running.http_port)
            return started[name]

        yield start


@pytest.fixture(scope="session", params=_params(OWN))
def own(request: pytest.FixtureRequest, _own: Any) -> Server:
    """metastored, on each of its databases."""
    found: Server = _own(request.param)
    return found


@pytest.fixture(scope="session", params=_params(OWN, APACHE, PEERS))
def server(request: pytest.FixtureRequest, _own: Any) -> Server:
    """metastored, and the metastores of Apache."""
    if request.param in OWN:
        found: Server = _own(request.param)
        return found
    hive: ApacheMetastore = request.getfixturevalue(request.param)
    return Server(request.param, hive.uri)


@pytest.fixture(scope="session")
def sqlite(_own: Any) -> Server:
    """metastored on SQLite alone, for what does not depend on the server."""
    found: Server = _own("sqlite")
    return found


@pytest.fixture(scope="session")
def old(hive_2_3: ApacheMetastore) -> Server:
    """Apache 2.3.10 alone."""
    return Server("hive_2_3", hive_2_3.uri)


@pytest.fixture(scope="session")
def current(hive_3_1: ApacheMetastore) -> Server:
    """Apache 3.1.3 alone."""
    return Server("hive_3_1", hive_3_1.uri)


@pytest.fixture
def db() -> str:
    """The name of a database that no other test uses. It does not exist."""
    return f"specs_{next(_numbers)}"


@pytest.fixture
def client(server: Server, db: str) -> Iterator[metastored.Client]:
    """A client of each server, with the database `db` and nothing in its cache."""
    with server.client() as found:
        found.create_database(db)
        yield found
        found.drop_database(db, if_exists=True, cascade=True)


@pytest.fixture
def catalogs(server: Server, db: str) -> Iterator[CatalogManager]:
    """The catalog `hive` over each server, with the database `db`."""
    with server.catalogs() as found:
        found.create_database(db)
        yield found
        found.drop_database(db, if_exists=True, cascade=True)

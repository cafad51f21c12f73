"""Both clients, synchronous and asynchronous, and the servers of the behaviour tests, each started once a session."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from metastored.client.versions import HiveVersion
from metastored.wire.generated.databases import Database
from tests.support.driven import HALVES, connected
from tests.support.forks import running_server
from tests.support.hive_2_0 import hive_2_0
from tests.support.postgres import shared_postgres


@pytest.fixture(params=HALVES)
def half(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Server(NamedTuple):
    """A metastore under test, and what it is."""

    uri: str
    version: HiveVersion
    is_metastored: bool


# The last release of Hive 2 and of Hive 3, and the newest; the versions between them with `make soak`.
_SOAK = (pytest.mark.peers, pytest.mark.slow, pytest.mark.soak)
SERVERS: dict[str, tuple[pytest.MarkDecorator, ...]] = {
    "metastored-sqlite": (),
    "metastored-postgresql": (pytest.mark.postgres,),
    "hive_2_0": (),
    "hive_2_3": (pytest.mark.apache, pytest.mark.slow),
    "hive_3_0": _SOAK,
    "hive_3_1": (pytest.mark.apache, pytest.mark.slow),
    "hive_4_0_0": _SOAK,
    "hive_4_0_1": _SOAK,
    "hive_4_1_0": (pytest.mark.peers, pytest.mark.slow),
}
# Any other server, by its address: METASTORED_TEST_HMS_4_2_0=thrift://host:9083.
GIVEN = "METASTORED_TEST_HMS_"
SERVERS |= {name: () for name in sorted(os.environ) if name.startswith(GIVEN)}
VERSIONS = {
    "hive_2_3": HiveVersion(2, 3),
    "hive_3_0": HiveVersion(3, 0),
    "hive_3_1": HiveVersion(3, 1),
    "hive_4_0_0": HiveVersion(4, 0, 0),
    "hive_4_0_1": HiveVersion(4, 0, 1),
    "hive_4_1_0": HiveVersion(4, 1, 0),
}


@pytest.fixture(scope="session", params=[pytest.param(name, marks=marks) for name, marks in SERVERS.items()])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    name = request.param
    with ExitStack() as stack:
        if name == "metastored-sqlite":
            running = stack.enter_context(running_server())
            yield Server(running.uri, HiveVersion(3, 1), True)
        elif name == "metastored-postgresql":
            postgres = shared_postgres()
            url = stack.enter_context(postgres.database())
            running = stack.enter_context(running_server(database_url=url))
            yield Server(running.uri, HiveVersion(3, 1), True)
        elif name == "hive_2_0":
            yield Server(stack.enter_context(hive_2_0()), HiveVersion(2, 0), False)
        elif name.startswith(GIVEN):
            numbers = [int(number) for number in name.removeprefix(GIVEN).split("_")]
            # What servers before 4 answer does not tell the last number.
            yield Server(os.environ[name], HiveVersion(*numbers[: 3 if numbers[0] >= 4 else 2]), False)
        else:
            hive = request.getfixturevalue(name)
            yield Server(hive.uri, VERSIONS[name], False)


@pytest.fixture(params=HALVES)
def client(request: pytest.FixtureRequest, server: Server) -> Iterator[Any]:
    with connected(request.param, server.uri, cache=False, user="ann") as found:
        yield found


@pytest.fixture
def db(client: Any, server: Server) -> Iterator[str]:
    """A database of the test's own."""
    name = f"client_{uuid.uuid4().hex[:12]}"
    client.create_database(Database(name=name, description="a test's own", parameters={}))
    yield name
    for table in client.tables(name):
        client.drop_table((name, table))

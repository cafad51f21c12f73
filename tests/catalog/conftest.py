"""The catalogs that a behaviour is tried on, each opened once a session."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from metastored.catalog import DatabaseDefinition
from tests.support.driven import HALVES, managed
from tests.support.forks import running_server
from tests.support.glue import KEYS
from tests.support.postgres import shared_postgres


class Backend(NamedTuple):
    """A catalog under test, and what it can do."""

    name: str
    settings: dict[str, Any]
    partitions: bool = True
    views: bool = True
    renames: bool = True
    statistics: bool = True
    constraints: frozenset[str] = frozenset({"primary key", "foreign key", "unique", "not null", "default", "check"})
    database_comments: bool = True
    """Whether a database's comment can be changed."""
    iceberg: bool = False


BACKENDS: dict[str, tuple[pytest.MarkDecorator, ...]] = {
    "memory": (),
    "hive-metastored": (),
    "hive-postgresql": (pytest.mark.postgres,),
    "hive_2_3": (pytest.mark.apache, pytest.mark.slow),
    "hive_3_1": (pytest.mark.apache, pytest.mark.slow),
    "iceberg-sql": (),
    "iceberg-rest": (pytest.mark.slow,),
    "glue": (pytest.mark.slow,),
}
NONE: frozenset[str] = frozenset()


@pytest.fixture(scope="session", params=[pytest.param(name, marks=marks) for name, marks in BACKENDS.items()])
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    name = request.param
    folder: Path = tmp_path_factory.mktemp(name)
    iceberg: dict[str, Any] = {"partitions": False, "statistics": False, "constraints": NONE, "iceberg": True}
    with ExitStack() as stack:
        if name == "memory":
            yield Backend(name, {"type": "memory"})
        elif name == "hive-metastored":
            server = stack.enter_context(running_server())
            yield Backend(name, {"type": "hive_metastore", "uri": server.uri})
        elif name == "hive-postgresql":
            url = stack.enter_context(shared_postgres().database())
            server = stack.enter_context(running_server(database_url=url))
            yield Backend(name, {"type": "hive_metastore", "uri": server.uri})
        elif name == "hive_2_3":
            uri = request.getfixturevalue(name).uri
            old = frozenset({"primary key", "foreign key"})
            yield Backend(name, {"type": "hive", "uri": uri}, constraints=old, database_comments=False)
        elif name == "hive_3_1":
            yield Backend(name, {"type": "hive", "uri": request.getfixturevalue(name).uri})
        elif name == "iceberg-sql":
            (folder / "warehouse").mkdir()
            uri = f"sqlite:///{folder / 'catalog.db'}"
            settings = {"type": "iceberg", "catalog": "sql", "uri": uri, "warehouse": (folder / "warehouse").as_uri()}
            yield Backend(name, settings, views=False, **iceberg)
        elif name == "iceberg-rest":
            uri = request.getfixturevalue("iceberg_rest").uri
            yield Backend(name, {"type": "iceberg", "uri": uri}, **iceberg)
        else:
            settings = {"type": "glue", "endpoint": request.getfixturevalue("glue"), **KEYS}
            yield Backend(name, settings, renames=False, statistics=False, constraints=NONE)


@pytest.fixture(scope="module", params=HALVES)
def half(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def catalogs(backend: Backend, half: str) -> Iterator[Any]:
    with managed(half, environment={}, list=[{"name": "here", **backend.settings}]) as manager:
        yield manager


@pytest.fixture
def db(catalogs: Any, backend: Backend) -> Iterator[str]:
    """A database of the test's own."""
    name = f"catalog_{uuid.uuid4().hex[:12]}"
    location = "s3://bucket/here" if backend.name == "glue" else None
    catalogs.create_database(name, DatabaseDefinition(comment="a test's own", location=location))
    yield name
    catalogs.use(database="default")
    catalogs.drop_database(name, if_exists=True, cascade=True)

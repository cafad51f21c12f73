"""Every test that takes `metastore` runs twice: on SQLite, and on a real PostgreSQL."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from metastored.hive.generation import ANY, Compat, Generation
from metastored.store.engine.migrate import ensure_schema
from tests.store.conftest import Opener
from tests.store.conftest import opener as opener
from tests.store.conftest import place as place
from tests.support.metastore import Clock, Metastore

Starter = Callable[..., Metastore]


@pytest.fixture
def start(opener: Opener) -> Iterator[Starter]:
    """Starts metastores on the same database, with a clock that they share."""
    started: list[Metastore] = []
    clock = Clock()

    def begin(generation: Compat | Generation = Generation.HIVE_3_1, **settings: Any) -> Metastore:
        database = opener()
        ensure_schema(database)
        started.append(Metastore(database, clock, generation, **settings))
        return started[-1]

    yield begin
    for metastore in started:
        metastore.close()


@pytest.fixture
def metastore(start: Starter) -> Metastore:
    """A metastore of Hive 3.1's generation."""
    return start()


@pytest.fixture
def hive_4(start: Starter) -> Metastore:
    """A metastore of Hive 4.0's generation."""
    return start(Generation.HIVE_4_0)


@pytest.fixture
def any_hive(start: Starter) -> Metastore:
    """A metastore with the default for `compat`."""
    return start(ANY)

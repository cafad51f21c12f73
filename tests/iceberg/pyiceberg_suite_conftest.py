"""Fixtures for pyiceberg's own tests on a REST catalog: `test_pyiceberg_suite.py` copies this file beside them.

They replace those that make pyiceberg's other catalogs. The tests themselves are not changed. Two things are different
in a metastore: a namespace has one level, and `default` always exists.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError
from pyiceberg.typedef import Identifier

DEFAULT = "default"
PREPARED = (DEFAULT, "test_table_snapshot_operations")
"""A table of several snapshots, which pyiceberg's developers make with Spark before their tests."""


OTHERS = frozenset(
    {
        *("hive_catalog", "memory_catalog", "rest_test_catalog", "session_catalog_hive"),
        *("sqlite_catalog_file", "sqlite_catalog_memory"),
    }
)
"""The fixtures of catalogs that are not the one under test; `rest_test_catalog` is for a REST catalog beside it."""
made: Callable[..., None] = RestCatalog.__init__


def made_at_the_endpoint(self: RestCatalog, name: str, **properties: Any) -> None:
    """Replaces the address that the tests name, that of a container of pyiceberg's developers."""
    made(self, name, **{**properties, "uri": os.environ["REST_CATALOG_URI"], "supports_slash_in_identifier": "true"})


RestCatalog.__init__ = made_at_the_endpoint  # type: ignore[method-assign]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what a test does with other catalogs."""
    others = [item for item in items if not OTHERS.isdisjoint(_fixtures(item))]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


def _fixtures(item: pytest.Item) -> set[str]:
    """The names of the fixtures of a test, also of those that its parameters name."""
    assert isinstance(item, pytest.Function)
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return {*item.fixturenames, *(getattr(value, "name", "") for value in values)}


class RestOfMetastore(RestCatalog):
    """A REST catalog in which `default` can be created, as some tests do first: it exists."""

    def create_namespace(self, namespace: str | Identifier, properties: Any = None) -> None:
        try:
            super().create_namespace(namespace, properties or {})
        except NamespaceAlreadyExistsError:
            if namespace not in (DEFAULT, (DEFAULT,)):
                raise


def clear(catalog: RestCatalog) -> None:
    for namespace in catalog.list_namespaces():
        for table in catalog.list_tables(namespace):
            catalog.drop_table(table)
        for view in catalog.list_views(namespace):
            catalog.drop_view(view)
        if namespace != (DEFAULT,):
            catalog.drop_namespace(namespace)


@pytest.fixture
def catalog() -> Iterator[RestCatalog]:
    """An empty catalog."""
    found = RestOfMetastore("test_catalog")
    clear(found)
    yield found
    clear(found)


@pytest.fixture
def catalog_with_warehouse(catalog: RestCatalog) -> RestCatalog:
    return catalog


@pytest.fixture(scope="session")
def session_catalog() -> Catalog:
    """The catalog of the tests of snapshots, with the table that they expect."""
    found = RestCatalog("local")
    rows = pa.table({"number": pa.array([1, 2, 3], pa.int32()), "letter": ["a", "b", "c"]})
    table = found.create_table_if_not_exists(PREPARED, rows.schema)
    for _ in range(5):
        table.append(rows)
    return found


@pytest.fixture
def test_table_identifier(random_table_identifier: Identifier) -> Identifier:
    return random_table_identifier


@pytest.fixture
def another_table_identifier(another_random_table_identifier: Identifier) -> Identifier:
    return another_random_table_identifier


@pytest.fixture
def test_namespace(database_name: str) -> Identifier:
    return (database_name,)

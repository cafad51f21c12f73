"""Databases and catalogs as namespaces: modes, pages, properties, and what a drop takes along."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import lance_namespace as ns
import pytest

import metastored
from metastored.testing import RunningServer
from tests.support.lance import POINTS, Space, opened, stream

pytestmark = pytest.mark.slow


@pytest.fixture
def three(metastored_uri: str, tmp_path: Path) -> Iterator[Any]:
    """A namespace with catalogs."""
    with opened(metastored_uri, "hive3", tmp_path) as space:
        yield space


def create(space: Any, id: list[str], mode: str | None = None, **properties: str) -> Any:
    return space.create_namespace(ns.CreateNamespaceRequest(id=id, mode=mode, properties=properties or None))


def test_a_namespace_that_exists_is_an_error_kept_or_overwritten_by_its_mode(space: Space) -> None:
    space.create("points")
    with pytest.raises(ns.NamespaceAlreadyExistsError):
        create(space.namespace, space.database)
    for word in ("ExistOk", "exist_ok", "EXIST_OK"):
        create(space.namespace, space.database, word)
    assert space.namespace.list_tables(ns.ListTablesRequest(id=space.database)).tables == ["points"]
    create(space.namespace, space.database, "Overwrite", team="red")
    assert space.namespace.list_tables(ns.ListTablesRequest(id=space.database)).tables == []
    properties = space.namespace.describe_namespace(ns.DescribeNamespaceRequest(id=space.database)).properties
    assert properties["team"] == "red"


def test_special_properties_are_fields_of_the_database(space: Space, tmp_path: Path) -> None:
    id = [f"{space.name}_x"]
    location = f"file:{tmp_path}/own"
    given = {
        "database.description": "d",
        "database.location-uri": location,
        "database.owner": "bob",
        "database.owner-type": "ROLE",
        "team": "blue",
    }
    create(space.namespace, id, **given)
    database = space.namespace.client.database(id[0])
    assert (database.description, database.locationUri, database.ownerName, database.ownerType) == (
        "d",
        location,
        "bob",
        2,
    )
    assert database.parameters == {"team": "blue"}
    described = space.namespace.describe_namespace(ns.DescribeNamespaceRequest(id=id)).properties
    assert {key: described[key] for key in given} == given
    with pytest.raises(ns.InvalidInputError, match="owner-type"):
        create(space.namespace, [f"{space.name}_y"], **{"database.owner": "x", "database.owner-type": "KING"})


def test_a_missing_namespace_is_skipped_if_that_is_the_mode(space: Space) -> None:
    with pytest.raises(ns.NamespaceNotFoundError):
        space.namespace.drop_namespace(ns.DropNamespaceRequest(id=["nope"]))
    assert space.namespace.drop_namespace(ns.DropNamespaceRequest(id=["nope"], mode="Skip")).properties == {}


def test_a_table_of_another_format_keeps_a_namespace_from_being_dropped(space: Space) -> None:
    space.namespace.client.create_table(metastored.table((space.name, "plain"), {"a": "int"}))
    with pytest.raises(ns.NamespaceNotEmptyError):
        space.namespace.drop_namespace(ns.DropNamespaceRequest(id=space.database))


def test_a_drop_without_cascade_keeps_the_data_of_deregistered_tables(space: Space) -> None:
    location = space.create("points").location
    space.namespace.deregister_table(ns.DeregisterTableRequest(id=space.id("points")))
    space.namespace.drop_namespace(ns.DropNamespaceRequest(id=space.database))
    assert location is not None and lance.dataset(location).count_rows() == 3


def test_namespaces_are_listed_in_pages(own_server: RunningServer, tmp_path: Path) -> None:
    with opened(own_server.uri, "hive3", tmp_path) as space:
        for number in range(4):
            create(space, ["hive", f"d{number}"])
        found: list[list[str]] = []
        token = None
        for _ in range(3):
            page = space.list_namespaces(ns.ListNamespacesRequest(id=["hive"], limit=2, page_token=token))
            found.append(page.namespaces)
            token = page.page_token
        assert found == [["d0", "d1"], ["d2", "d3"], ["default"]]
        assert token is None
        with pytest.raises(ns.InvalidInputError, match="limit"):
            space.list_namespaces(ns.ListNamespacesRequest(id=["hive"], limit=0))


def test_a_database_has_no_namespaces_in_it(space: Space) -> None:
    assert space.namespace.list_namespaces(ns.ListNamespacesRequest(id=space.database)).namespaces == []
    with pytest.raises(ns.NamespaceNotFoundError):
        space.namespace.list_namespaces(ns.ListNamespacesRequest(id=["nope"]))


def test_the_root_exists_and_is_neither_created_nor_dropped(space: Space) -> None:
    assert space.namespace.describe_namespace(ns.DescribeNamespaceRequest(id=[])).properties == {}
    space.namespace.namespace_exists(ns.NamespaceExistsRequest(id=[]))
    with pytest.raises(ns.NamespaceAlreadyExistsError):
        create(space.namespace, [])
    with pytest.raises(ns.InvalidInputError):
        space.namespace.drop_namespace(ns.DropNamespaceRequest(id=[]))


class TestCatalogs:
    """The first level of a namespace with three levels."""

    def test_a_catalog_is_created_described_and_dropped(self, three: Any, tmp_path: Path) -> None:
        create(three, ["lake"], **{"catalog.description": "all vectors"})
        assert "lake" in three.list_namespaces(ns.ListNamespacesRequest(id=[])).namespaces
        described = three.describe_namespace(ns.DescribeNamespaceRequest(id=["lake"])).properties
        assert described["catalog.description"] == "all vectors"
        assert described["catalog.location-uri"] == f"file:{tmp_path}/lake"
        with pytest.raises(ns.NamespaceAlreadyExistsError):
            create(three, ["lake"])
        three.drop_namespace(ns.DropNamespaceRequest(id=["lake"]))
        with pytest.raises(ns.NamespaceNotFoundError):
            three.describe_namespace(ns.DescribeNamespaceRequest(id=["lake"]))

    def test_tables_of_a_catalog_are_stored_below_its_name(self, three: Any, tmp_path: Path) -> None:
        create(three, ["lake2"])
        create(three, ["lake2", "shop"])
        created = three.create_table(ns.CreateTableRequest(id=["lake2", "shop", "points"]), stream(POINTS))
        assert created.location == f"{tmp_path}/lake2/shop.db/points"
        assert three.list_tables(ns.ListTablesRequest(id=["lake2", "shop"])).tables == ["points"]
        assert "lake2$shop$points" in three.list_all_tables(ns.ListTablesRequest()).tables
        with pytest.raises(ns.NamespaceNotEmptyError):
            three.drop_namespace(ns.DropNamespaceRequest(id=["lake2"]))
        three.drop_namespace(ns.DropNamespaceRequest(id=["lake2"], behavior="cascade"))
        assert not Path(created.location).exists()

    def test_a_commit_in_a_catalog_is_decided_by_the_metastore(self, metastored_uri: str, tmp_path: Path) -> None:
        with opened(metastored_uri, "hive3", tmp_path, "impl") as space:
            create(space, ["lake3"])
            create(space, ["lake3", "shop"])
            id = ["lake3", "shop", "points"]
            for _ in range(3):
                mode = "append" if _ else "create"
                lance.write_dataset(POINTS, namespace_client=space, table_id=id, mode=mode)
            assert space.client.table(tuple(id)).parameters["version"] == "3"

    def test_a_database_needs_its_catalog(self, three: Any) -> None:
        with pytest.raises(ns.NamespaceNotFoundError, match="nope"):
            create(three, ["nope", "shop"])
        with pytest.raises(ns.NamespaceNotFoundError, match="nope"):
            three.list_namespaces(ns.ListNamespacesRequest(id=["nope"]))

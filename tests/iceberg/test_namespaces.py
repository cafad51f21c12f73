"""Namespaces by REST: databases of the metastore, on SQLite and PostgreSQL."""

from __future__ import annotations

import pytest

import metastored
from metastored.structs import Catalog, CreateCatalogRequest
from metastored.testing import RunningServer
from tests.iceberg.rest_server import Rest


def test_the_configuration_names_the_prefix_and_the_endpoints(rest: Rest) -> None:
    found = rest.get("/config").json
    assert found["overrides"] == {"prefix": "hive"} and found["defaults"] == {}
    assert "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}" in found["endpoints"]


def test_the_warehouse_of_a_client_is_the_name_of_a_catalog(rest: Rest) -> None:
    assert rest.get("/config?warehouse=HIVE").json["overrides"] == {"prefix": "hive"}
    refused = rest.get("/config?warehouse=s3://bucket")
    assert refused.status == 404 and "no catalog 's3://bucket'" in refused.message


def test_a_namespace_is_a_database_of_the_metastore(server: RunningServer, rest: Rest) -> None:
    made = rest.post("/namespaces", {"namespace": ["Made"], "properties": {"comment": "hello", "a": "b"}}).json
    assert made["namespace"] == ["made"]
    with metastored.connect(server.uri) as client:
        database = client.database("made")
    assert database.description == "hello" and database.parameters == {"a": "b"}
    assert made["properties"]["location"] == database.locationUri
    assert rest.get("/namespaces/made").json == made
    assert ["made"] in rest.get("/hive/namespaces").json["namespaces"]


def test_a_database_that_was_made_by_thrift_is_a_namespace(server: RunningServer, rest: Rest) -> None:
    with metastored.connect(server.uri) as client:
        client.create_database("by_thrift", if_not_exists=True)
    assert rest.head("/namespaces/by_thrift").status == 204
    assert rest.head("/namespaces/nobody").status == 404


def test_a_namespace_exists_once(rest: Rest, namespace: str) -> None:
    again = rest.post("/namespaces", {"namespace": [namespace]})
    assert (again.status, again.error) == (409, "AlreadyExistsException")


def test_a_namespace_has_one_level(rest: Rest, namespace: str) -> None:
    made = rest.post("/namespaces", {"namespace": [namespace, "inner"]})
    assert made.status == 400 and "has 2 levels" in made.message
    missing = rest.get(f"/namespaces/{namespace}%1Finner")
    assert (missing.status, missing.error) == (404, "NoSuchNamespaceException")
    assert rest.get(f"/namespaces?parent={namespace}").json["namespaces"] == []


def test_properties_are_set_and_removed(rest: Rest, namespace: str) -> None:
    path = f"/namespaces/{namespace}/properties"
    rest.post(path, {"updates": {"a": "1", "b": "2", "comment": "x"}})
    changed = rest.post(path, {"updates": {"a": "3"}, "removals": ["b", "c"]})
    assert changed.json == {"updated": ["a"], "removed": ["b"], "missing": ["c"]}
    properties = rest.get(f"/namespaces/{namespace}").json["properties"]
    assert properties["a"] == "3" and properties["comment"] == "x" and "b" not in properties


@pytest.mark.parametrize("field", ["location", "comment"])
def test_fields_of_a_database_are_set_and_never_removed(rest: Rest, namespace: str, field: str) -> None:
    path = f"/namespaces/{namespace}/properties"
    rest.post(path, {"updates": {"comment": "x"}})
    refused = rest.post(path, {"removals": [field]})
    assert refused.status == 400 and "set another value" in refused.message


def test_a_property_is_not_set_and_removed_at_once(rest: Rest, namespace: str) -> None:
    both = rest.post(f"/namespaces/{namespace}/properties", {"updates": {"a": "1"}, "removals": ["a"]})
    assert (both.status, both.error) == (422, "UnprocessableEntityException")


def test_only_an_empty_namespace_is_dropped(rest: Rest, namespace: str) -> None:
    rest.table(namespace)
    refused = rest.delete(f"/namespaces/{namespace}")
    assert (refused.status, refused.error) == (409, "NamespaceNotEmptyException")
    assert rest.delete(f"/namespaces/{namespace}/tables/t").status == 204
    assert rest.delete(f"/namespaces/{namespace}").status == 204
    assert rest.delete(f"/namespaces/{namespace}").error == "NoSuchNamespaceException"


def test_lists_come_in_pages_where_a_client_wants_them(rest: Rest) -> None:
    names = [rest.namespace(f"page_{letter}") for letter in "abcde"]
    found: list[str] = []
    token: str | None = ""
    while token is not None:
        page = rest.get(f"/namespaces?pageSize=2&pageToken={token}").json
        assert len(page["namespaces"]) <= 2
        found += [each[0] for each in page["namespaces"]]
        token = page["next-page-token"]
    assert [name for name in found if name.startswith("page_")] == names
    assert found == sorted(set(found))


@pytest.mark.parametrize("size", ["0", "-1", "x", "9" * 5000])
def test_a_page_has_a_size_above_zero(rest: Rest, size: str) -> None:
    assert rest.get(f"/namespaces?pageToken=&pageSize={size}").error == "BadRequestException"


def test_a_prefix_is_a_catalog_of_the_metastore(server: RunningServer, rest: Rest) -> None:
    root = f"{server.warehouse}/second"
    with metastored.connect(server.uri) as client:
        client.api.create_catalog(CreateCatalogRequest(Catalog(name="second", locationUri=root)))
    second = Rest(server, prefix="second")
    second.namespace("of_second")
    second.table("of_second")
    assert ["of_second"] in second.get("/namespaces").json["namespaces"]
    assert ["of_second"] not in rest.get("/namespaces").json["namespaces"]
    assert second.load("of_second")["metadata"]["location"].startswith(root)
    assert rest.get("/namespaces/of_second/tables/t").status == 404
    assert Rest(server, prefix="third").get("/namespaces").status == 404

"""Views by REST, and what the metastore then has."""

from __future__ import annotations

from typing import Any

import metastored
from metastored.testing import RunningServer
from tests.iceberg.rest_server import SCHEMA, Rest, stored
from tests.iceberg.test_view_metadata import version


def made(rest: Rest, namespace: str, name: str = "v", **fields: Any) -> Any:
    body = {"name": name, "schema": SCHEMA, "view-version": version(), "properties": {}, **fields}
    reply = rest.post(f"/namespaces/{namespace}/views", body)
    assert reply.status == 200, reply
    return reply.json


def replacing(sql: str) -> list[Any]:
    return [
        {"action": "add-view-version", "view-version": version(sql)},
        {"action": "set-current-view-version", "view-version-id": -1},
    ]


def test_a_view_is_a_view_of_the_metastore_with_its_query(server: RunningServer, rest: Rest, namespace: str) -> None:
    view = made(rest, namespace, properties={"comment": "x"})
    row = stored(server, namespace, "v")
    assert row.tableType == "VIRTUAL_VIEW" and row.viewOriginalText == "SELECT 1"
    parameters = row.parameters or {}
    assert parameters["table_type"] == "ICEBERG-VIEW" and parameters["comment"] == "x"
    assert parameters["metadata_location"] == view["metadata-location"]
    assert rest.get(f"/namespaces/{namespace}/views/v").json == view


def test_views_and_tables_are_listed_apart(server: RunningServer, rest: Rest, namespace: str) -> None:
    made(rest, namespace)
    rest.table(namespace)
    with metastored.connect(server.uri) as client:
        client.sql(f"CREATE VIEW {namespace}.of_hive (one int) AS SELECT 1 AS one")
    views = rest.get(f"/namespaces/{namespace}/views").json["identifiers"]
    tables = rest.get(f"/namespaces/{namespace}/tables").json["identifiers"]
    assert [each["name"] for each in views] == ["v"] and [each["name"] for each in tables] == ["t"]
    assert rest.get(f"/namespaces/{namespace}/tables/v").error == "NoSuchTableException"
    assert rest.get(f"/namespaces/{namespace}/views/t").error == "NoSuchViewException"
    assert rest.head(f"/namespaces/{namespace}/views/of_hive").status == 404


def test_a_view_is_replaced(server: RunningServer, rest: Rest, namespace: str) -> None:
    view = made(rest, namespace)
    uuid = {"type": "assert-view-uuid", "uuid": view["metadata"]["view-uuid"]}
    body = {"requirements": [uuid], "updates": replacing("SELECT 2")}
    replaced = rest.post(f"/namespaces/{namespace}/views/v", body).json
    assert replaced["metadata"]["current-version-id"] == 2
    assert stored(server, namespace, "v").viewExpandedText == "SELECT 2"
    other = rest.post(f"/namespaces/{namespace}/views/v", {**body, "requirements": [{**uuid, "uuid": "x"}]})
    assert (other.status, other.error) == (409, "CommitFailedException")


def test_a_view_is_dropped(rest: Rest, namespace: str) -> None:
    made(rest, namespace)
    assert rest.head(f"/namespaces/{namespace}/views/v").status == 204
    assert rest.delete(f"/namespaces/{namespace}/tables/v").status == 404
    assert rest.delete(f"/namespaces/{namespace}/views/v").status == 204
    assert rest.delete(f"/namespaces/{namespace}/views/v").error == "NoSuchViewException"


def test_a_view_is_renamed(rest: Rest, namespace: str) -> None:
    view = made(rest, namespace)
    rest.table(namespace)
    source, target = {"namespace": [namespace], "name": "v"}, {"namespace": [namespace], "name": "w"}
    assert rest.post("/views/rename", {"source": source, "destination": {**target, "name": "t"}}).status == 409
    assert rest.post("/views/rename", {"source": source, "destination": target}).status == 204
    assert rest.get(f"/namespaces/{namespace}/views/w").json == view


def test_a_view_and_a_table_never_share_a_name(rest: Rest, namespace: str) -> None:
    made(rest, namespace)
    refused = rest.post(f"/namespaces/{namespace}/tables", {"name": "v", "schema": SCHEMA})
    assert (refused.status, refused.error) == (409, "AlreadyExistsException")

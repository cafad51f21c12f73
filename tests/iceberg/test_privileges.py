"""Who may do what by REST: SQL-standard authorization, locations, files, read-only servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.exceptions import ForbiddenError, UnauthorizedError

import metastored
from metastored.testing import RunningServer
from metastored.wire.structs import replace
from tests.iceberg.rest_server import (
    ROWS,
    SCHEMA,
    Rest,
    iceberg_server,
    metadata_files,
    rest_catalog,
    stored,
)
from tests.server.http.support import DATABASES, PASSWORD, USER
from tests.support.grants import granted, table_ref

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=DATABASES)
def guarded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that enforces privileges: maja is an administrator, bob is not."""
    folder = tmp_path_factory.mktemp("guarded")
    settings: dict[str, Any] = {"authorization": "sql", "admin_users": USER, "audit": "on"}
    with iceberg_server(folder, request.param, {"bob": "b"}, **settings) as running:
        yield running


@pytest.fixture
def maja(guarded: RunningServer) -> Rest:
    return Rest(guarded, USER, PASSWORD)


@pytest.fixture
def bob(guarded: RunningServer) -> Rest:
    return Rest(guarded, "bob", "b")


def grant(server: RunningServer, namespace: str, *privileges: str) -> None:
    granted(server, "bob", *privileges, on=table_ref(namespace, "t"))


def properties(**updates: str) -> dict[str, Any]:
    return {"action": "set-properties", "updates": updates}


def test_wrong_credentials_are_refused_in_the_form_of_the_specification(guarded: RunningServer) -> None:
    refused = Rest(guarded, "bob", "wrong").get("/config")
    assert (refused.status, refused.error) == (401, "NotAuthorizedException")
    assert "Basic" in refused.headers["www-authenticate"]
    with pytest.raises(UnauthorizedError):
        rest_catalog(guarded, "bob", "wrong")


def test_a_caller_without_privileges_reads_and_changes_nothing(guarded: RunningServer, maja: Rest, bob: Rest) -> None:
    maja.table(maja.namespace("hidden"))
    path = "/namespaces/hidden/tables/t"
    change = {"identifier": {"namespace": ["hidden"], "name": "t"}, "requirements": [], "updates": [properties(a="b")]}
    replies = {
        "load": bob.get(path),
        "commit": bob.commit("hidden", "t", properties(a="b")),
        "drop": bob.delete(path),
        "purge": bob.delete(f"{path}?purgeRequested=true"),
        "metrics": bob.post(f"{path}/metrics", {"report-type": "scan-report", "snapshot-id": 1}),
        "rename": bob.post("/tables/rename", {"source": change["identifier"],
                                              "destination": {"namespace": ["hidden"], "name": "u"}}),
        "create": bob.post("/namespaces/hidden/tables", {"name": "u", "schema": SCHEMA}),
        "transaction": bob.post("/transactions/commit", {"table-changes": [change]}),
        "drop namespace": bob.delete("/namespaces/hidden"),
        "properties": bob.post("/namespaces/hidden/properties", {"updates": {"a": "b"}}),
    }  # fmt: skip
    assert {name: (each.status, each.error) for name, each in replies.items()} == dict.fromkeys(
        replies, (403, "ForbiddenException")
    )
    assert bob.head(path).status == 403
    assert bob.get("/namespaces/hidden/tables").json in ({"identifiers": [], "next-page-token": None}, None)
    assert len(metadata_files(stored(guarded, "hidden"))) == 1
    assert not Path(guarded.warehouse.removeprefix("file:"), "hidden.db", "u").exists()


def test_rows_are_changed_by_whoever_may_change_rows_and_the_table_by_its_owner(
    guarded: RunningServer, maja: Rest, bob: Rest
) -> None:
    namespace = maja.namespace("granted")
    rest_catalog(guarded, USER, PASSWORD).create_table((namespace, "t"), ROWS.schema).append(ROWS)
    grant(guarded, namespace, "SELECT")
    table = rest_catalog(guarded, "bob", "b").load_table((namespace, "t"))
    assert table.scan().to_arrow().num_rows == 3
    with pytest.raises(ForbiddenError):
        table.append(ROWS)
    grant(guarded, namespace, "INSERT")
    table.append(ROWS)
    with pytest.raises(ForbiddenError):
        table.delete("id = 1")
    grant(guarded, namespace, "DELETE")
    table.refresh().delete("id = 1")
    refused = bob.commit(namespace, "t", properties(a="b"))
    assert (refused.status, refused.error) == (403, "ForbiddenException")
    assert bob.delete(f"/namespaces/{namespace}/tables/t").status == 403
    assert rest_catalog(guarded, USER, PASSWORD).load_table((namespace, "t")).scan().to_arrow().num_rows == 4


def test_a_transaction_needs_the_privileges_of_each_table(guarded: RunningServer, maja: Rest, bob: Rest) -> None:
    namespace = maja.namespace("several")
    maja.table(namespace, "t")
    maja.table(namespace, "other")
    grant(guarded, namespace, "SELECT", "INSERT", "ALL")
    changes = [
        {"identifier": {"namespace": [namespace], "name": name}, "requirements": [], "updates": [properties(a="b")]}
        for name in ("t", "other")
    ]
    assert bob.post("/transactions/commit", {"table-changes": changes}).status == 403
    assert maja.post("/transactions/commit", {"table-changes": changes}).status == 204


def test_a_user_makes_tables_in_a_namespace_of_the_user(guarded: RunningServer, maja: Rest, bob: Rest) -> None:
    bob.table("default", "of_bob")
    assert stored(guarded, "default", "of_bob").owner == "bob"
    assert bob.commit("default", "of_bob", properties(a="b")).status == 200
    assert bob.post("/namespaces", {"namespace": ["not_bobs"]}).status == 403


def test_a_location_outside_of_the_namespace_needs_the_privilege_to_use_it(
    guarded: RunningServer, maja: Rest, bob: Rest, tmp_path: Path
) -> None:
    elsewhere = f"file:{tmp_path}/elsewhere"
    body = {"name": "far", "schema": SCHEMA, "location": elsewhere}
    refused = bob.post("/namespaces/default/tables", body)
    assert refused.status == 403 and "USE_LOCATION" in refused.message
    assert not (tmp_path / "elsewhere").exists()
    bob.table("default", "near")
    for update in (
        {"action": "set-location", "location": elsewhere},
        properties(**{"write.metadata.path": f"{elsewhere}/metadata"}),
    ):
        moved = bob.commit("default", "near", update)
        assert moved.status == 403 and "USE_LOCATION" in moved.message
    assert not (tmp_path / "elsewhere").exists()
    assert maja.post("/namespaces/default/tables", body).status == 200


def test_metadata_outside_of_the_table_is_not_read_for_its_owner(guarded: RunningServer, maja: Rest, bob: Rest) -> None:
    """The owner of a table may set its parameters by Thrift, and so name any file that the server can read."""
    secret = maja.table(maja.namespace("secret"))["metadata-location"]
    bob.table("default", "mine")
    with metastored.connect(guarded.uri, user="bob", cache=False) as client:
        row = client.table(("default", "mine"))
        parameters = {**(row.parameters or {}), "metadata_location": secret}
        client.alter(("default", "mine"), replace(row, parameters=parameters))
    refused = bob.get("/namespaces/default/tables/mine")
    assert refused.status == 403 and "USE_LOCATION" in refused.message
    body = {"name": "registered", "metadata-location": secret}
    assert bob.post("/namespaces/default/register", body).status == 403
    assert maja.get("/namespaces/default/tables/mine").status == 200


def test_a_read_only_server_is_read(tmp_path: Path) -> None:
    warehouse = f"file:{tmp_path}/warehouse"
    with iceberg_server(tmp_path, warehouse=warehouse) as server:
        rest = Rest(server)
        rest.table(rest.namespace("n"))
    with iceberg_server(tmp_path, read_only="on", warehouse=warehouse) as server:
        rest = Rest(server)
        assert rest.get("/namespaces/n/tables").json["identifiers"] == [{"namespace": ["n"], "name": "t"}]
        assert rest.load("n")["metadata"]["current-schema-id"] == 0
        refused = rest.commit("n", "t", properties(a="b"))
        assert (refused.status, refused.error) == (403, "ForbiddenException") and "read-only" in refused.message
        assert rest.post("/namespaces", {"namespace": ["m"]}).status == 403


def test_nothing_is_at_the_path_of_a_server_without_the_setting(tmp_path: Path) -> None:
    with iceberg_server(tmp_path, iceberg="off") as server, pytest.raises(ValueError):
        Rest(server).get("/config")  # The page is a text, not JSON.

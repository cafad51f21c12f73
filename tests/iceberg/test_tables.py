"""Tables by REST: list, create, stage, register, load, drop, rename; and what the metastore then has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.hive.locations import local_path
from metastored.testing import RunningServer
from metastored.wire.structs import replace
from tests.iceberg.rest_server import SCHEMA, Rest, metadata_files, stored


def path_of(location: str) -> Path:
    return Path(local_path(location))


def test_a_table_is_stored_as_icebergs_hive_catalog_stores_it(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    made = rest.table(namespace, properties={"owner": "x", "engine.hive.enabled": "true"})
    table = stored(server, namespace)
    assert table.tableType == "EXTERNAL_TABLE" and table.parameters is not None and table.sd is not None
    expected = {
        "EXTERNAL": "TRUE",
        "table_type": "ICEBERG",
        "metadata_location": made["metadata-location"],
        "uuid": made["metadata"]["table-uuid"],
        "snapshot-count": "0",
        "owner": "x",
        "storage_handler": "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler",
    }
    assert expected.items() <= table.parameters.items()
    assert [(each.name, each.type) for each in table.sd.cols or ()] == [("id", "bigint"), ("name", "string")]
    assert table.sd.location == made["metadata"]["location"]
    assert json.loads(table.parameters["current-schema"])["fields"] == made["metadata"]["schemas"][0]["fields"]
    assert json.loads(path_of(made["metadata-location"]).read_text()) == made["metadata"]


def test_columns_get_new_ids_as_in_icebergs_own_catalogs(rest: Rest, namespace: str) -> None:
    fields = [{**each, "id": each["id"] + 40} for each in SCHEMA["fields"]]
    spec = {"fields": [{"source-id": 41, "transform": "bucket[4]", "name": "b", "field-id": 7}]}
    request: dict[str, Any] = {"schema": {**SCHEMA, "fields": fields}, "partition-spec": spec}
    made = rest.table(namespace, **request)["metadata"]
    assert made["schemas"][0]["fields"] == SCHEMA["fields"]
    assert made["partition-specs"][0]["fields"] == [
        {"source-id": 1, "transform": "bucket[4]", "name": "b", "field-id": 1000}
    ]


@pytest.mark.parametrize("version", ["1", "2", "3"])
def test_a_table_has_the_format_version_that_was_asked_for(rest: Rest, namespace: str, version: str) -> None:
    made = rest.table(namespace, properties={"format-version": version})["metadata"]
    assert made["format-version"] == int(version) and "format-version" not in made["properties"]


def test_only_iceberg_tables_are_listed(server: RunningServer, rest: Rest, namespace: str) -> None:
    rest.table(namespace, "iceberg_one")
    with metastored.connect(server.uri) as client:
        client.sql(f"CREATE TABLE {namespace}.plain (a int)")
        row = stored(server, namespace, "iceberg_one")
        lower = {**(row.parameters or {}), "table_type": "iceberg"}
        client.create_table(replace(row, tableName="other_case", parameters=lower))
    listed = rest.get(f"/namespaces/{namespace}/tables").json["identifiers"]
    assert [each["name"] for each in listed] == ["iceberg_one", "other_case"]
    other = rest.get(f"/namespaces/{namespace}/tables/plain")
    assert (other.status, other.error) == (404, "NoSuchTableException") and "not an Iceberg table" in other.message
    assert rest.head(f"/namespaces/{namespace}/tables/plain").status == 404


def test_a_name_is_taken_by_tables_of_every_kind(server: RunningServer, rest: Rest, namespace: str) -> None:
    with metastored.connect(server.uri) as client:
        client.sql(f"CREATE TABLE {namespace}.plain (a int)")
    refused = rest.post(f"/namespaces/{namespace}/tables", {"name": "plain", "schema": SCHEMA})
    assert (refused.status, refused.error) == (409, "AlreadyExistsException")


def test_a_table_needs_its_namespace(rest: Rest) -> None:
    refused = rest.post("/namespaces/nowhere/tables", {"name": "t", "schema": SCHEMA})
    assert (refused.status, refused.error) == (404, "NoSuchNamespaceException")
    assert rest.get("/namespaces/nowhere/tables").error == "NoSuchNamespaceException"


def test_a_staged_table_is_not_stored_until_it_is_committed(server: RunningServer, rest: Rest, namespace: str) -> None:
    staged = rest.post(f"/namespaces/{namespace}/tables", {"name": "t", "schema": SCHEMA, "stage-create": True}).json
    metadata = staged["metadata"]
    assert "metadata-location" not in staged and rest.head(f"/namespaces/{namespace}/tables/t").status == 404
    assert not path_of(metadata["location"]).exists()
    updates: list[Any] = [
        {"action": "assign-uuid", "uuid": metadata["table-uuid"]},
        {"action": "upgrade-format-version", "format-version": metadata["format-version"]},
        {"action": "add-schema", "schema": metadata["schemas"][0], "last-column-id": 2},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": metadata["partition-specs"][0]},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": metadata["sort-orders"][0]},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": metadata["location"]},
        {"action": "set-properties", "updates": metadata["properties"]},
    ]
    create = [{"type": "assert-create"}]
    made = rest.commit(namespace, "t", *updates, requirements=create)
    assert made.status == 200 and made.json["metadata"]["table-uuid"] == metadata["table-uuid"]
    assert stored(server, namespace).parameters is not None
    again = rest.commit(namespace, "t", *updates, requirements=create)
    assert again.status == 409 and "table already exists" in again.message
    assert len(metadata_files(stored(server, namespace))) == 1
    for at, update in enumerate(updates):
        if update["action"] in ("assign-uuid", "set-current-schema", "set-default-spec", "set-location"):
            part = rest.commit(namespace, "u", *updates[:at], *updates[at + 1 :], requirements=create)
            assert part.status == 400, update


def test_a_table_is_registered_by_its_metadata_file(server: RunningServer, rest: Rest, namespace: str) -> None:
    made = rest.table(namespace)
    rest.delete(f"/namespaces/{namespace}/tables/t")
    body = {"name": "again", "metadata-location": made["metadata-location"]}
    registered = rest.post(f"/namespaces/{namespace}/register", body).json
    assert registered["metadata"] == made["metadata"]
    assert rest.load(namespace, "again") == registered
    assert rest.post(f"/namespaces/{namespace}/register", body).error == "AlreadyExistsException"


def test_a_registered_table_may_replace_another_one(rest: Rest, namespace: str) -> None:
    old, new = rest.table(namespace, "old"), rest.table(namespace, "new")
    body = {"name": "old", "metadata-location": new["metadata-location"], "overwrite": True}
    assert rest.post(f"/namespaces/{namespace}/register", body).status == 200
    assert rest.load(namespace, "old")["metadata"]["table-uuid"] == new["metadata"]["table-uuid"]
    assert path_of(old["metadata-location"]).exists()


def test_a_client_that_has_the_metadata_already_gets_none(rest: Rest, namespace: str) -> None:
    rest.table(namespace)
    path = f"/namespaces/{namespace}/tables/t"
    first = rest.get(path)
    same = rest.get(path, If_None_Match=first.headers["etag"])
    assert (same.status, same.json) == (304, None)
    assert rest.get(path + "?snapshots=refs", If_None_Match=first.headers["etag"]).status == 200
    committed = rest.commit(namespace, "t", {"action": "set-properties", "updates": {"a": "b"}})
    assert committed.headers["etag"] != first.headers["etag"]
    changed = rest.get(path, If_None_Match=first.headers["etag"])
    assert changed.status == 200 and changed.headers["etag"] == committed.headers["etag"]


def test_the_parameter_snapshots_is_all_or_refs(rest: Rest, namespace: str) -> None:
    rest.table(namespace)
    assert rest.get(f"/namespaces/{namespace}/tables/t?snapshots=some").error == "BadRequestException"


def test_a_dropped_table_keeps_its_files_and_a_purged_one_does_not(rest: Rest, namespace: str) -> None:
    kept, purged = rest.table(namespace, "kept"), rest.table(namespace, "purged")
    assert rest.delete(f"/namespaces/{namespace}/tables/kept").status == 204
    assert rest.delete(f"/namespaces/{namespace}/tables/purged?purgeRequested=true").status == 204
    assert path_of(kept["metadata-location"]).exists()
    assert not path_of(purged["metadata"]["location"]).exists()
    gone = rest.delete(f"/namespaces/{namespace}/tables/purged")
    assert (gone.status, gone.error) == (404, "NoSuchTableException")


def test_files_of_a_table_without_garbage_collection_are_never_purged(rest: Rest, namespace: str) -> None:
    made = rest.table(namespace, properties={"gc.enabled": "false"})
    refused = rest.delete(f"/namespaces/{namespace}/tables/t?purgeRequested=true")
    assert refused.status == 400 and "gc.enabled=false" in refused.message
    assert path_of(made["metadata-location"]).exists()
    assert rest.delete(f"/namespaces/{namespace}/tables/t?purgeRequested=maybe").error == "BadRequestException"


def identifier(namespace: str, name: str) -> dict[str, Any]:
    return {"namespace": [namespace], "name": name}


def test_a_table_is_renamed_into_another_namespace_and_keeps_its_files(rest: Rest, namespace: str) -> None:
    made, other = rest.table(namespace), rest.namespace(f"{namespace}_2")
    body = {"source": identifier(namespace, "t"), "destination": identifier(other, "u")}
    assert rest.post("/tables/rename", body).status == 204
    assert rest.load(other, "u") == made
    missing = rest.post("/tables/rename", body)
    assert (missing.status, missing.error) == (404, "NoSuchTableException")


def test_a_table_is_not_renamed_to_a_name_that_is_taken(rest: Rest, namespace: str) -> None:
    rest.table(namespace, "a")
    rest.table(namespace, "b")
    body = {"source": identifier(namespace, "a"), "destination": identifier(namespace, "b")}
    taken = rest.post("/tables/rename", body)
    assert (taken.status, taken.error) == (409, "AlreadyExistsException")
    nowhere = rest.post("/tables/rename", {**body, "destination": identifier("nowhere", "b")})
    assert (nowhere.status, nowhere.error) == (404, "NoSuchNamespaceException")


def test_reports_of_metrics_are_checked(rest: Rest, namespace: str) -> None:
    rest.table(namespace)
    path = f"/namespaces/{namespace}/tables/t/metrics"
    report = {"report-type": "scan-report", "table-name": "t", "snapshot-id": 1, "metrics": {}}
    assert rest.post(path, report).status == 204
    assert rest.post(path, {**report, "report-type": "x"}).error == "BadRequestException"
    assert rest.post(f"/namespaces/{namespace}/tables/u/metrics", report).error == "NoSuchTableException"


def test_metadata_may_be_compressed(server: RunningServer, rest: Rest, namespace: str) -> None:
    made = rest.table(namespace, properties={"write.metadata.compression-codec": "gzip"})
    assert made["metadata-location"].endswith(".gz.metadata.json")
    assert path_of(made["metadata-location"]).read_bytes()[:2] == b"\x1f\x8b"
    assert rest.load(namespace) == made


def test_old_metadata_files_are_removed_where_the_table_says_so(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    rest.table(namespace, properties={
        "write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "2",
    })  # fmt: skip
    for at in range(6):
        assert rest.commit(namespace, "t", {"action": "set-properties", "updates": {"at": str(at)}}).status == 200
    files = metadata_files(stored(server, namespace))
    assert [name[:5] for name in files] == ["00004", "00005", "00006"]

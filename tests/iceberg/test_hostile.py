"""Peers that send what no client sends, and metadata files that somebody else has written."""

from __future__ import annotations

import gzip
import http.client
import json
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.hive.locations import local_path
from metastored.testing import RunningServer
from metastored.wire.structs import replace
from tests.iceberg.rest_server import SCHEMA, Rest, metadata_files, stored

Json = dict[str, Any]


def nested(levels: int) -> Any:
    type: Any = "int"
    for at in range(levels):
        type = {"type": "list", "element-id": 100 + at, "element": type, "element-required": False}
    return {"type": "struct", "fields": [{"id": 1, "name": "a", "type": type, "required": False}]}


BODIES: dict[str, bytes] = {
    "no JSON": b"{",
    "a list": b"[]",
    "a text": b'"x"',
    "nothing": b"",
    "invalid UTF-8": b'{"name": "\xff"}',
    "half a surrogate": b'{"name": "\\ud800"}',
    "not a number": b'{"name": NaN}',
    "deep lists": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a deep type": json.dumps({"name": "t", "schema": nested(200)}).encode(),
    "a name that is a number": b'{"name": 5}',
    "a name that is empty": b'{"name": "  "}',
    "a name with a null": b'{"name": "a\\u0000b"}',
    "a schema that is a text": b'{"name": "t", "schema": "x"}',
    "an id that is huge": json.dumps(
        {"name": "t", "schema": {**SCHEMA, "fields": [{**SCHEMA["fields"][0], "id": 10**30}]}}
    ).encode(),
    "a location that is empty": json.dumps({"name": "t", "schema": SCHEMA, "location": ""}).encode(),
    "a location of an unknown scheme": json.dumps(
        {"name": "t", "schema": SCHEMA, "location": "http://169.254.169.254/latest"}
    ).encode(),
    "a location above the root": json.dumps({"name": "t", "schema": SCHEMA, "location": "file:/../x"}).encode(),
    "an unknown version": json.dumps({"name": "t", "schema": SCHEMA, "properties": {"format-version": "9"}}).encode(),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_body_is_refused_with(server: RunningServer, rest: Rest, namespace: str, case: str) -> None:
    refused = rest.post(f"/namespaces/{namespace}/tables", BODIES[case])
    assert 400 <= refused.status < 500, refused
    assert refused.json["error"]["code"] == refused.status and len(refused.message) < 5000
    assert rest.get(f"/namespaces/{namespace}/tables").json["identifiers"] == []


PROPERTIES: dict[str, str] = {
    "metadata_location": "file:/etc/passwd.metadata.json",
    "previous_metadata_location": "x",
    "table_type": "HIVE",
    "EXTERNAL": "FALSE",
    "storage_handler": "evil.Class",
    "metastored.remote.uris": "thrift://10.0.0.1:9083",
    "uuid": "x",
    "current-schema": "x",
}


@pytest.mark.parametrize("key", PROPERTIES)
def test_a_property_cannot_say_what_the_table_is(server: RunningServer, rest: Rest, namespace: str, key: str) -> None:
    rest.table(namespace)
    before = stored(server, namespace)
    refused = rest.commit(namespace, "t", {"action": "set-properties", "updates": {key: PROPERTIES[key]}})
    assert refused.error == "BadRequestException" and key in refused.message
    assert stored(server, namespace) == before and len(metadata_files(before)) == 1
    body = {"name": "u", "schema": SCHEMA, "properties": {key: PROPERTIES[key]}}
    assert rest.post(f"/namespaces/{namespace}/tables", body).error == "BadRequestException"


UPDATES: dict[str, list[Json]] = {
    "too many updates": [{"action": "remove-statistics", "snapshot-id": 1}] * 10_001,
    "too many schemas": [{"action": "add-schema", "schema": SCHEMA}] * 501,
    "a property that is a list": [{"action": "remove-properties", "removals": [["a"]]}],
    "a schema id that is a list": [{"action": "remove-schemas", "schema-ids": [[7]]}],
    "a spec id that is an object": [{"action": "remove-partition-specs", "spec-ids": [{}]}],
    "a snapshot id that is an object": [{"action": "remove-snapshots", "snapshot-ids": [{}]}],
    "an identifier field that is a list": [
        {"action": "add-schema", "schema": {**SCHEMA, "identifier-field-ids": [[]]}}
    ],
}


@pytest.mark.parametrize("case", UPDATES)
def test_a_commit_is_refused_with(rest: Rest, namespace: str, case: str) -> None:
    rest.table(namespace)
    refused = rest.commit(namespace, "t", *UPDATES[case])
    assert refused.error == "BadRequestException", refused
    assert "entries" in refused.message or "at most" in refused.message or "expected" in refused.message


def test_ten_thousand_snapshots_are_removed_one_by_one(rest: Rest, namespace: str) -> None:
    """As older clients do it. They are removed at once: for each of them all others would be copied."""
    rest.table(namespace)
    updates = [{"action": "remove-snapshots", "snapshot-ids": [at]} for at in range(10_000)]
    assert rest.commit(namespace, "t", *updates).status == 200


def test_a_body_that_is_too_long_is_refused_before_it_is_sent(server: RunningServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.http_port or 0, timeout=30)
    connection.putrequest("POST", "/iceberg/v1/namespaces")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(17 << 20))
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 413 and json.loads(response.read())["error"]["code"] == 413
    connection.close()


@pytest.mark.parametrize("name", ["../../t", "a/b", "a.c"])
def test_a_name_never_leads_out_of_its_namespace(server: RunningServer, rest: Rest, namespace: str, name: str) -> None:
    made = rest.post(f"/namespaces/{namespace}/tables", {"name": name, "schema": SCHEMA})
    if made.status == 200:
        above = rest.get(f"/namespaces/{namespace}").json["properties"]["location"]
        assert made.json["metadata"]["location"].rpartition("/")[0] == above
    else:
        assert made.error == "BadRequestException"


def test_requests_of_web_pages_and_other_types_are_refused(rest: Rest) -> None:
    assert rest.get("/config", Origin="https://evil.example").status == 403
    assert rest.post("/namespaces", b"x", Content_Type="text/plain").status == 415
    assert rest.post("/namespaces", b"x", Content_Encoding="gzip").status == 415


def test_an_unknown_path_and_a_wrong_verb_have_errors_of_the_specification(rest: Rest) -> None:
    assert rest.get("/nothing/here/at/all").error == "NotFoundException"
    wrong = rest.send("PUT", "/namespaces")
    assert wrong.status == 405 and wrong.headers["allow"] == "GET, POST"


def test_no_tokens_are_issued_and_the_refusal_says_what_works(rest: Rest) -> None:
    refused = rest.post(
        "/oauth/tokens", b"grant_type=client_credentials", Content_Type="application/x-www-form-urlencoded"
    )
    assert refused.status == 400 and refused.json["error"] == "unsupported_grant_type"
    assert "issues no tokens" in refused.json["error_description"]


# --- metadata files -------------------------------------------------------------------------------------------------


def point_to(server: RunningServer, namespace: str, name: str, content: bytes) -> str:
    """Lets the table `t` name a file in its directory, as anybody may who writes there and may alter the table."""
    row = stored(server, namespace)
    assert row.sd is not None
    file = f"{row.sd.location}/metadata/{name}"
    Path(local_path(file)).write_bytes(content)
    with metastored.connect(server.uri) as client:
        client.alter((namespace, "t"), replace(row, parameters={**(row.parameters or {}), "metadata_location": file}))
    return file


FILES: dict[str, Any] = {
    "no JSON": lambda good: b"root:x:0:0",
    "a list": lambda good: b"[]",
    "an empty file": lambda good: b"",
    "deep lists": lambda good: b'{"a":' + b"[" * 900 + b"]" * 900 + b"}",
    "an unknown version": lambda good: json.dumps({**good, "format-version": 99}).encode(),
    "no schema": lambda good: json.dumps({**good, "schemas": []}).encode(),
    "a schema that is not a schema": lambda good: json.dumps({**good, "schemas": [{"schema-id": 0}]}).encode(),
    "no location": lambda good: json.dumps({**good, "location": None}).encode(),
    "a bomb": lambda good: gzip.compress(b" " * (65 << 20)),
    "something that is not compressed": lambda good: b"\x1f\x8b" + b"x" * 100,
}


@pytest.mark.parametrize("case", FILES)
def test_a_metadata_file_is_refused_with(server: RunningServer, rest: Rest, namespace: str, case: str) -> None:
    good = rest.table(namespace)["metadata"]
    point_to(server, namespace, "bad.metadata.json", FILES[case](good))
    refused = rest.get(f"/namespaces/{namespace}/tables/t")
    assert refused.error == "BadRequestException"
    assert "root:x" not in refused.message
    assert rest.commit(namespace, "t", {"action": "set-location", "location": "file:/x"}).status == 400
    # The table can be dropped, and others are not affected.
    assert rest.get(f"/namespaces/{namespace}/tables").status == 200
    assert rest.delete(f"/namespaces/{namespace}/tables/t").status == 204


def test_a_file_that_is_not_named_as_metadata_is_not_read(server: RunningServer, rest: Rest, namespace: str) -> None:
    good = rest.table(namespace)["metadata"]
    point_to(server, namespace, "passwd", json.dumps(good).encode())
    refused = rest.get(f"/namespaces/{namespace}/tables/t")
    assert refused.error == "BadRequestException" and "not the name of a metadata file" in refused.message


@pytest.mark.parametrize("linked", ["file", "directory"])
def test_a_symbolic_link_leads_to_no_other_file(
    server: RunningServer, rest: Rest, namespace: str, tmp_path: Path, linked: str
) -> None:
    """Whoever writes to the directory of a table could otherwise have the server read and remove files of others."""
    other = Path(local_path(rest.table(namespace, "other")["metadata-location"]))
    rest.table(namespace)
    row = stored(server, namespace)
    assert row.sd is not None
    folder = Path(local_path(row.sd.location or ""))
    if linked == "file":
        (folder / "metadata" / "link.metadata.json").symlink_to(other)
        file = f"{row.sd.location}/metadata/link.metadata.json"
    else:
        (folder / "linked").symlink_to(other.parent)
        file = f"{row.sd.location}/linked/{other.name}"
    with metastored.connect(server.uri) as client:
        client.alter((namespace, "t"), replace(row, parameters={**(row.parameters or {}), "metadata_location": file}))
    assert rest.get(f"/namespaces/{namespace}/tables/t").error == "ServiceUnavailableException"
    assert other.exists()


def test_a_metadata_file_that_is_gone_is_an_error_of_this_table(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    made = rest.table(namespace)
    rest.table(namespace, "other")
    rest.commit(namespace, "t", {"action": "set-properties", "updates": {"a": "b"}})
    with metastored.connect(server.uri) as client:
        row = stored(server, namespace)
        gone = made["metadata-location"].replace("00000-", "00009-")
        client.alter((namespace, "t"), replace(row, parameters={**(row.parameters or {}), "metadata_location": gone}))
    assert rest.get(f"/namespaces/{namespace}/tables/t").error == "ServiceUnavailableException"
    assert rest.load(namespace, "other")
    assert rest.head(f"/namespaces/{namespace}/tables/t").status == 204


def test_classes_in_metadata_are_texts_to_the_server(server: RunningServer, rest: Rest, namespace: str) -> None:
    """Iceberg's clients load classes that properties name; the server passes them on and loads none."""
    rest.table(namespace, properties={"write.location-provider.impl": "evil.Class", "py-io-impl": "evil.IO"})
    assert rest.commit(namespace, "t", {"action": "set-properties", "updates": {"a": "b"}}).status == 200
    assert rest.load(namespace)["config"] == {}

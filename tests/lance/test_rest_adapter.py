"""The REST adapter over a DirectoryNamespace of Lance's replies as Lance's own RestAdapter does, to Lance's client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance_namespace as models
import pytest
from lance.namespace import DirectoryNamespace, RestAdapter
from lance_namespace.errors import ErrorCode, InvalidInputError

from metastored.errors import ConnectionLost, PermissionDenied, RateLimited
from metastored.lance.rest.operations import OPERATIONS
from metastored.lance.rest.replies import STATUSES, failed
from metastored.lance.rest.requests import HttpRequest, Parsed, parse
from metastored.lance.rest.routes import route
from metastored.lance.rest.serving import serve
from tests.lance.rest_support import client, outcomes, served

T = ["db", "t"]


class Directory(DirectoryNamespace):
    """Lance's own namespace, which takes a dictionary here, unlike its interface."""

    def describe_table_version(self, request: Any) -> Any:
        return super().describe_table_version(request.model_dump(exclude_none=True))


@pytest.fixture
def directory(tmp_path: Path) -> DirectoryNamespace:
    made: Any = Directory
    found: DirectoryNamespace = made(**_settings(tmp_path / "ours"))
    return found


def _settings(root: Path) -> dict[str, str]:
    root.mkdir()
    return {"root": str(root), "manifest_enabled": "true", "dir_listing_enabled": "false"}


@pytest.fixture
def reference(tmp_path: Path) -> Iterator[str]:
    """Lance's own server."""
    with RestAdapter("dir", _settings(tmp_path / "theirs"), port=0) as adapter:
        yield f"http://127.0.0.1:{adapter.port}"


@pytest.mark.slow
def test_every_operation_has_the_result_and_the_error_of_lances_own_server(
    directory: DirectoryNamespace, reference: str
) -> None:
    with served(directory) as uri:
        ours = outcomes(client(uri))
    assert ours == outcomes(client(uri=reference))
    assert ours["neighbours"] == [2, 2]
    assert (ours["drop it again"], ours["not empty"]) == ("TableNotFoundError", "NamespaceNotEmptyError")


def test_the_table_has_the_54_operations_of_the_openapi_document_and_a_method_and_a_model_for_each() -> None:
    assert len(OPERATIONS) == 54
    for operation in OPERATIONS.values():
        assert hasattr(models.LanceNamespace, operation.name)
        fields = {field.alias or name for name, field in getattr(models, operation.request).model_fields.items()}
        assert fields.issuperset(operation.query)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda each: each.name)
def test_each_path_leads_to_its_operation(operation: Any) -> None:
    found = route(operation.path.replace("{id}", "db%24a%2Fb").replace("{index_name}", "i%20x"))
    assert found is not None
    assert found.operation is operation
    assert found.id == ("db$a/b" if "{id}" in operation.path else None)
    assert found.index_name == ("i x" if "{index_name}" in operation.path else None)


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/table/x", "/v1/table//describe", "/v2/table/x/describe", "/v1/table/x/describe/y"]
)
def test_other_paths_have_no_operation(path: str) -> None:
    assert route(path) is None


class Nothing(models.LanceNamespace):
    """Serves no operation."""

    def namespace_id(self) -> str:
        return "nothing"


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_that_a_namespace_does_not_serve_is_406_with_code_0(name: str) -> None:
    found = route(OPERATIONS[name].path.replace("{id}", "db$t").replace("{index_name}", "i"))
    assert found is not None
    reply = serve(Nothing(), HttpRequest(found))
    assert (reply.status, json.loads(reply.body)["code"]) == (406, 0)


def parsed(path: str, query: str = "", body: bytes = b"") -> Parsed:
    found = route(path)
    assert found is not None
    return parse(HttpRequest(found, query, body))


@pytest.mark.parametrize(
    ("path", "query", "names"),
    [
        ("/v1/namespace/$/describe", "", []),
        ("/v1/namespace/%24/describe", "delimiter=%24", []),
        ("/v1/namespace/a$b/describe", "", ["a", "b"]),
        ("/v1/namespace/a.b/describe", "delimiter=.", ["a", "b"]),
        ("/v1/namespace/./describe", "delimiter=.", []),
        ("/v1/namespace/a$b/describe", "delimiter=.", ["a$b"]),
    ],
)
def test_an_id_is_split_at_the_delimiter_and_the_delimiter_alone_is_the_root(
    path: str, query: str, names: list[str]
) -> None:
    assert parsed(path, query).id == names


@pytest.mark.parametrize(
    ("path", "query", "body", "said"),
    [
        ("/v1/table/db$t/describe", "", b"{", "not JSON"),
        ("/v1/table/db$t/describe", "", b"[]", "not a JSON object"),
        ("/v1/table/db$t/describe", "", b'{"id": ["db", "u"]}', "the path has ['db', 't']"),
        ("/v1/table/db$t/drop", "", b'{"id": ["db", "u"]}', "the path has ['db', 't']"),
        ("/v1/table/db$t/describe", "", b'{"version": "two"}', "version"),
        ("/v1/table/db$t/describe", "", b'{"colour": 1}', "no field 'colour'"),
        ("/v1/table/db$t/describe", "check_declared=maybe", b"", "true or false"),
        ("/v1/table/db$t/describe", "branch=b", b"", "no parameter 'branch'"),
        ("/v1/table/db$t/describe", "delimiter=", b"", "delimiter is empty"),
        ("/v1/table/db$t/create", "properties=a", b"rows", "the parameter properties is not JSON"),
        ("/v1/table/db$t/register", "", b"{}", "location"),
        ("/v1/table/db$t/index/i/stats", "", b'{"index_name": "j"}', "the path 'i'"),
        ("/v1/namespace/$/list", "limit=-1", b"", "a number"),
    ],
)
def test_a_request_that_is_no_request_of_the_operation_is_refused_with_the_reason(
    path: str, query: str, body: bytes, said: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parsed(path, query, body)
    assert said in str(refused.value)


def test_fields_come_from_the_query_the_body_and_the_path() -> None:
    call = parsed(
        "/v1/table/db$t/merge_insert", "on=id&on=ds&when_matched_update_all=true&timeout=30s&use_index=false", b"rows"
    )
    request = call.request
    assert (request.id, request.on, request.when_matched_update_all, request.use_index, call.rows) == (
        *(T, ["id", "ds"], True, False),
        b"rows",
    )
    call = parsed("/v1/table/db$t/schema_metadata/update", "branch=b", b'{"id": "x"}')
    assert (call.request.metadata, call.request.branch, call.request.id) == ({"id": "x"}, "b", T)


def test_a_query_for_too_many_rows_is_refused_before_it_runs(directory: DirectoryNamespace) -> None:
    found = route("/v1/table/db$t/query")
    assert found is not None
    reply = serve(directory, HttpRequest(found, "", b'{"k": 100001, "vector": {}}'))
    assert (reply.status, json.loads(reply.body)["code"]) == (400, 13)


def test_each_code_has_a_status() -> None:
    assert set(STATUSES) == set(ErrorCode)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [(PermissionDenied("no"), 403, 15), (RateLimited("later"), 429, 21), (ConnectionLost("gone"), 503, 17)],
)
def test_errors_of_the_metastore_that_a_namespace_lets_through_have_codes(
    error: Exception, status: int, code: int
) -> None:
    reply = failed("describe_table", error)
    assert (reply.status, json.loads(reply.body)["code"]) == (status, code)


def test_an_unexpected_error_is_logged_and_its_text_is_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    reply = failed("describe_table", RuntimeError("secret path"))
    assert (reply.status, json.loads(reply.body)["code"], b"secret" in reply.body) == (500, 18, False)
    assert "secret path" in caplog.text

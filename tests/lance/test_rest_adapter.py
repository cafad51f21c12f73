"""The REST adapter over a DirectoryNamespace of Lance's replies as Lance's own RestAdapter does, to Lance's client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lance_namespace as models
import pyarrow as pa
import pytest
from lance.namespace import DirectoryNamespace, RestAdapter, RestNamespace
from lance_namespace.errors import ErrorCode, InvalidInputError, LanceNamespaceError
from lance_namespace_urllib3_client.models.query_table_request_vector import QueryTableRequestVector

from metastored.errors import ConnectionLost, PermissionDenied, RateLimited
from metastored.lance.rest.operations import OPERATIONS
from metastored.lance.rest.replies import STATUSES, failed
from metastored.lance.rest.requests import HttpRequest, Parsed, parse
from metastored.lance.rest.routes import route
from metastored.lance.rest.serving import serve
from tests.lance.rest_support import ipc, rows, served

T = ["db", "t"]
POINTS = pa.table(
    {"id": [1, 2, 3], "vector": pa.array([[0.0, 1.0], [5.0, 5.0], [9.0, 9.0]], pa.list_(pa.float32(), 2))}
)
NEAR = QueryTableRequestVector(single_vector=[5.0, 4.0])
STEPS: dict[str, Callable[[Any], Any]] = {
    "create namespace": lambda n: (
        n.create_namespace(models.CreateNamespaceRequest(id=["db"], properties={"a": "b"})).properties
    ),
    "create it again": lambda n: n.create_namespace(models.CreateNamespaceRequest(id=["db"])),
    "namespaces": lambda n: n.list_namespaces(models.ListNamespacesRequest(id=[])).namespaces,
    "describe namespace": lambda n: n.describe_namespace(models.DescribeNamespaceRequest(id=["db"])).properties,
    "no namespace": lambda n: n.namespace_exists(models.NamespaceExistsRequest(id=["nope"])),
    "create table": lambda n: n.create_table(models.CreateTableRequest(id=T), ipc(POINTS)).version,
    "create table again": lambda n: n.create_table(models.CreateTableRequest(id=T), ipc(POINTS)),
    "tables": lambda n: n.list_tables(models.ListTablesRequest(id=["db"])).tables,
    "table exists": lambda n: n.table_exists(models.TableExistsRequest(id=T)),
    "no table": lambda n: n.describe_table(models.DescribeTableRequest(id=["db", "nope"])),
    "details": lambda n: n.describe_table(
        models.DescribeTableRequest(id=T, load_detailed_metadata=True)
    ).var_schema.to_dict(),
    "count": lambda n: n.count_table_rows(models.CountTableRowsRequest(id=T, predicate="id > 1")).count,
    "insert": lambda n: n.insert_into_table(models.InsertIntoTableRequest(id=T, mode="append"), ipc(POINTS)).version,
    "merge": lambda n: _merged(n),
    "update": lambda n: (
        n.update_table(models.UpdateTableRequest(id=T, updates=[["id", "id + 10"]], predicate="id = 3")).updated_rows
    ),
    "delete": lambda n: n.delete_from_table(models.DeleteFromTableRequest(id=T, predicate="id = 13")).version,
    "neighbours": lambda n: (
        rows(n.query_table(models.QueryTableRequest(id=T, k=2, vector=NEAR)).data).column("id").to_pylist()
    ),
    "explain": lambda n: (
        "KNN"
        in n.explain_table_query_plan(
            models.ExplainTableQueryPlanRequest(id=T, query=models.QueryTableRequest(k=2, vector=NEAR))
        )
    ),
    "analyze": lambda n: (
        "KNN" in n.analyze_table_query_plan(models.AnalyzeTableQueryPlanRequest(id=T, k=2, vector=NEAR))
    ),
    "create index": lambda n: (
        n.create_table_scalar_index(models.CreateTableIndexRequest(id=T, column="id", index_type="BTREE")) and None
    ),
    "indices": lambda n: [
        each.index_name for each in n.list_table_indices(models.ListTableIndicesRequest(id=T)).indexes
    ],
    "index stats": lambda n: (
        n.describe_table_index_stats(models.DescribeTableIndexStatsRequest(id=T, index_name="id_idx")).index_type
    ),
    "drop index": lambda n: n.drop_table_index(models.DropTableIndexRequest(id=T, index_name="id_idx")) and None,
    "drop no index": lambda n: n.drop_table_index(models.DropTableIndexRequest(id=T, index_name="id_idx")),
    "tag": lambda n: n.create_table_tag(models.CreateTableTagRequest(id=T, tag="first", version=1)) and None,
    "tags": lambda n: list(n.list_table_tags(models.ListTableTagsRequest(id=T)).tags),
    "version of tag": lambda n: n.get_table_tag_version(models.GetTableTagVersionRequest(id=T, tag="first")).version,
    "metadata": lambda n: (
        n.update_table_schema_metadata(models.UpdateTableSchemaMetadataRequest(id=T, metadata={"k": "v"})).metadata
    ),
    "add column": lambda n: (
        n.alter_table_add_columns(
            models.AlterTableAddColumnsRequest(id=T, new_columns=[{"name": "c", "expression": "id + 1"}])
        ).version
    ),
    "drop column": lambda n: (
        n.alter_table_drop_columns(models.AlterTableDropColumnsRequest(id=T, columns=["c"])).version
    ),
    "versions": lambda n: [
        each.version
        for each in n.list_table_versions(models.ListTableVersionsRequest(id=T, descending=True, limit=2)).versions
    ],
    "stats": lambda n: n.get_table_stats(models.GetTableStatsRequest(id=T)).num_rows,
    "not empty": lambda n: n.drop_namespace(models.DropNamespaceRequest(id=["db"])),
    "drop table": lambda n: n.drop_table(models.DropTableRequest(id=T)).id,
    "drop it again": lambda n: n.drop_table(models.DropTableRequest(id=T)),
    "drop namespace": lambda n: n.drop_namespace(models.DropNamespaceRequest(id=["db"])) and None,
}
"""Operations in their order, and what of each result can be compared."""


def _merged(namespace: Any) -> tuple[int, int]:
    request = models.MergeInsertIntoTableRequest(
        id=T, on=["id"], when_matched_update_all=False, when_not_matched_insert_all=True
    )
    more = pa.table({"id": [3, 4], "vector": pa.array([[9.0, 9.0], [7.0, 7.0]], pa.list_(pa.float32(), 2))})
    result = namespace.merge_insert_into_table(request, ipc(more))
    return result.num_inserted_rows, result.num_updated_rows


def outcomes(uri: str) -> dict[str, Any]:
    """What Lance's client gets for each step: a value, or the class of its error."""
    client = RestNamespace(uri=uri)
    found: dict[str, Any] = {}
    for name, step in STEPS.items():
        try:
            value = step(client)
            found[name] = "done" if isinstance(value, (models.TableExistsResponse,)) else value
        except LanceNamespaceError as error:
            found[name] = type(error).__name__
    return found


@pytest.fixture
def directory(tmp_path: Path) -> DirectoryNamespace:
    return DirectoryNamespace(**_settings(tmp_path / "ours"))


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
        ours = outcomes(uri)
    assert ours == outcomes(reference)
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

"""Lance's REST namespace for tests: operations to compare, and metastored's adapter on a plain HTTP server."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import lance_namespace as models
import pyarrow as pa
from lance.namespace import RestNamespace
from lance_namespace import LanceNamespace
from lance_namespace.errors import LanceNamespaceError
from lance_namespace_urllib3_client.models.add_columns_entry import AddColumnsEntry
from lance_namespace_urllib3_client.models.query_table_request_vector import QueryTableRequestVector
from pydantic import BaseModel

from metastored.lance.rest.requests import HttpRequest, Parsed
from metastored.lance.rest.routes import route
from metastored.lance.rest.serving import serve


def client(uri: str, **properties: str) -> Any:
    """Lance's own client, which has no types."""
    made: Any = RestNamespace
    return made(uri=uri, **properties)


@contextmanager
def served(namespace: LanceNamespace, allow: Callable[[Parsed], None] | None = None) -> Iterator[str]:
    """The address of a REST namespace over this namespace."""

    class Requests(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            found = route(path)
            assert found is not None, path
            assert found.operation.verb == self.command
            reply = serve(namespace, HttpRequest(found, query, body), allow)
            self.send_response(reply.status)
            if reply.content_type is not None:
                self.send_header("content-type", reply.content_type)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST = _answer

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ipc(table: pa.Table) -> bytes:
    """An Arrow IPC stream, as create_table and insert_into_table take it."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def rows(data: bytes) -> pa.Table:
    """The rows of a reply to query_table: an Arrow IPC file."""
    return pa.ipc.open_file(data).read_all()


POINTS = pa.table(
    {"id": [1, 2, 3], "vector": pa.array([[0.0, 1.0], [5.0, 5.0], [9.0, 9.0]], pa.list_(pa.float32(), 2))}
)
NEAR = QueryTableRequestVector(single_vector=[5.0, 4.0])
STEPS: dict[str, Callable[[Any, list[str], list[str]], Any]] = {
    "create namespace": lambda n, d, t: (
        n.create_namespace(models.CreateNamespaceRequest(id=d, properties={"a": "b"})).properties
    ),
    "create it again": lambda n, d, t: n.create_namespace(models.CreateNamespaceRequest(id=d)),
    "namespaces": lambda n, d, t: n.list_namespaces(models.ListNamespacesRequest(id=d[:-1])).namespaces,
    "describe namespace": lambda n, d, t: n.describe_namespace(models.DescribeNamespaceRequest(id=d)).properties,
    "no namespace": lambda n, d, t: n.namespace_exists(models.NamespaceExistsRequest(id=["nope"])),
    "create table": lambda n, d, t: n.create_table(models.CreateTableRequest(id=t), ipc(POINTS)).version,
    "create table again": lambda n, d, t: n.create_table(models.CreateTableRequest(id=t), ipc(POINTS)),
    "tables": lambda n, d, t: n.list_tables(models.ListTablesRequest(id=d)).tables,
    "table exists": lambda n, d, t: n.table_exists(models.TableExistsRequest(id=t)),
    "no table": lambda n, d, t: n.describe_table(models.DescribeTableRequest(id=[*d, "nope"])),
    "details": lambda n, d, t: n.describe_table(
        models.DescribeTableRequest(id=t, load_detailed_metadata=True)
    ).var_schema.to_dict(),
    "count": lambda n, d, t: n.count_table_rows(models.CountTableRowsRequest(id=t, predicate="id > 1")).count,
    "insert": lambda n, d, t: (
        n.insert_into_table(models.InsertIntoTableRequest(id=t, mode="append"), ipc(POINTS)).version
    ),
    "merge": lambda n, d, t: _merged(n, t),
    "update": lambda n, d, t: (
        n.update_table(models.UpdateTableRequest(id=t, updates=[["id", "id + 10"]], predicate="id = 3")).updated_rows
    ),
    "delete": lambda n, d, t: n.delete_from_table(models.DeleteFromTableRequest(id=t, predicate="id = 13")).version,
    "neighbours": lambda n, d, t: (
        rows(n.query_table(models.QueryTableRequest(id=t, k=2, vector=NEAR)).data).column("id").to_pylist()
    ),
    "explain": lambda n, d, t: (
        "KNN"
        in n.explain_table_query_plan(
            models.ExplainTableQueryPlanRequest(id=t, query=models.QueryTableRequest(k=2, vector=NEAR))
        )
    ),
    "analyze": lambda n, d, t: (
        "KNN" in n.analyze_table_query_plan(models.AnalyzeTableQueryPlanRequest(id=t, k=2, vector=NEAR))
    ),
    "create index": lambda n, d, t: (
        n.create_table_scalar_index(models.CreateTableIndexRequest(id=t, column="id", index_type="BTREE")) and None
    ),
    "indices": lambda n, d, t: [
        each.index_name for each in n.list_table_indices(models.ListTableIndicesRequest(id=t)).indexes
    ],
    "index stats": lambda n, d, t: (
        n.describe_table_index_stats(models.DescribeTableIndexStatsRequest(id=t, index_name="id_idx")).index_type
    ),
    "drop index": lambda n, d, t: n.drop_table_index(models.DropTableIndexRequest(id=t, index_name="id_idx")) and None,
    "drop no index": lambda n, d, t: n.drop_table_index(models.DropTableIndexRequest(id=t, index_name="id_idx")),
    "tag": lambda n, d, t: n.create_table_tag(models.CreateTableTagRequest(id=t, tag="first", version=1)) and None,
    "tags": lambda n, d, t: list(n.list_table_tags(models.ListTableTagsRequest(id=t)).tags),
    "version of tag": lambda n, d, t: (
        n.get_table_tag_version(models.GetTableTagVersionRequest(id=t, tag="first")).version
    ),
    "metadata": lambda n, d, t: (
        n.update_table_schema_metadata(models.UpdateTableSchemaMetadataRequest(id=t, metadata={"k": "v"})).metadata
    ),
    "add column": lambda n, d, t: (
        n.alter_table_add_columns(
            models.AlterTableAddColumnsRequest(id=t, new_columns=[AddColumnsEntry(name="c", expression="id + 1")])
        ).version
    ),
    "drop column": lambda n, d, t: (
        n.alter_table_drop_columns(models.AlterTableDropColumnsRequest(id=t, columns=["c"])).version
    ),
    "versions": lambda n, d, t: [
        each.version
        for each in n.list_table_versions(models.ListTableVersionsRequest(id=t, descending=True, limit=2)).versions
    ],
    "update tag": lambda n, d, t: (
        n.update_table_tag(models.UpdateTableTagRequest(id=t, tag="first", version=2)) and None
    ),
    "delete tag": lambda n, d, t: n.delete_table_tag(models.DeleteTableTagRequest(id=t, tag="first")) and None,
    "no tag": lambda n, d, t: n.get_table_tag_version(models.GetTableTagVersionRequest(id=t, tag="first")),
    "version": lambda n, d, t: _version(n, t),
    "restore": lambda n, d, t: n.restore_table(models.RestoreTableRequest(id=t, version=1)) and None,
    "count of all": lambda n, d, t: n.count_table_rows(models.CountTableRowsRequest(id=t)).count,
    "not empty": lambda n, d, t: n.drop_namespace(models.DropNamespaceRequest(id=d)),
    "declare": lambda n, d, t: n.declare_table(models.DeclareTableRequest(id=[*d, "draft"])) and None,
    "is declared": lambda n, d, t: (
        n.describe_table(models.DescribeTableRequest(id=[*d, "draft"], check_declared=True)).is_only_declared
    ),
    "with declared": lambda n, d, t: n.list_tables(models.ListTablesRequest(id=d, include_declared=True)).tables,
    "without declared": lambda n, d, t: n.list_tables(models.ListTablesRequest(id=d, include_declared=False)).tables,
    "drop declared": lambda n, d, t: n.drop_table(models.DropTableRequest(id=[*d, "draft"])).id,
    "rename": lambda n, d, t: n.rename_table(models.RenameTableRequest(id=t, new_table_name="u")) and None,
    "rename back": lambda n, d, t: n.rename_table(models.RenameTableRequest(id=[*d, "u"], new_table_name="t")) and None,
    "deregister and register": lambda n, d, t: _registered_again(n, t),
    "stats": lambda n, d, t: n.get_table_stats(models.GetTableStatsRequest(id=t)).num_rows,
    "drop table": lambda n, d, t: n.drop_table(models.DropTableRequest(id=t)).id,
    "drop it again": lambda n, d, t: n.drop_table(models.DropTableRequest(id=t)),
    "drop namespace": lambda n, d, t: n.drop_namespace(models.DropNamespaceRequest(id=d)) and None,
}
"""Operations in their order, and what of each result can be compared."""


def _merged(namespace: Any, t: list[str]) -> tuple[int, int]:
    request = models.MergeInsertIntoTableRequest(
        id=t, on=["id"], when_matched_update_all=False, when_not_matched_insert_all=True
    )
    more = pa.table({"id": [3, 4], "vector": pa.array([[9.0, 9.0], [7.0, 7.0]], pa.list_(pa.float32(), 2))})
    result = namespace.merge_insert_into_table(request, ipc(more))
    return result.num_inserted_rows, result.num_updated_rows


def _version(namespace: Any, t: list[str]) -> int:
    """pylance's client takes and returns dictionaries here, other namespaces models."""
    found = namespace.describe_table_version({"id": t, "version": 1})
    number: int = found["version"]["version"] if isinstance(found, dict) else found.version.version
    return number


def _registered_again(namespace: Any, t: list[str]) -> bool:
    location = namespace.deregister_table(models.DeregisterTableRequest(id=t)).location
    again: bool = namespace.register_table(models.RegisterTableRequest(id=t, location=location)).location == location
    return again


def outcomes(namespace: Any, above: Sequence[str] = ()) -> dict[str, Any]:
    """What a namespace returns for each step, in the database `db` of `above`: a value, or the class of the error."""
    database = [*above, "db"]
    found: dict[str, Any] = {}
    for name, step in STEPS.items():
        try:
            value = step(namespace, database, [*database, "t"])
            found[name] = "done" if isinstance(value, BaseModel) else value
        except LanceNamespaceError as error:
            found[name] = type(error).__name__
    return found

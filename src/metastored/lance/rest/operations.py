"""The operations of Lance's REST namespace: one row for each of the 54 operations of its OpenAPI document.

A row has the method of `LanceNamespace` that serves the operation, its path, the model of its request, the parameters
that are sent in the query, the forms of its body and its reply, and what it changes. Pure: it imports nothing of
Lance's.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple

__all__ = ["OPERATIONS", "Body", "Effect", "Operation", "Result"]


class Effect(Enum):
    """What an operation changes. The privileges that it needs follow from this."""

    READ = "read"
    CATALOG = "catalog"
    """It changes objects of the metastore, by calls of the metastore that need privileges themselves."""
    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    MERGE = "merge"
    CREATE = "create"
    """It creates a table with rows, and may replace an existing table."""
    COMMIT = "commit"
    """It makes a version of what the caller wrote to the storage: any change of rows."""
    ALTER = "alter"
    """It changes the table besides its rows: columns, indices, tags, branches, metadata, versions."""


class Body(Enum):
    """The form of the body of a request."""

    JSON = "json"
    """The request's model; may be empty where no field is required."""
    NONE = "none"
    ROWS = "rows"
    """An Arrow IPC stream; the fields of the request are in the query."""
    METADATA = "metadata"
    """A map, which is the field `metadata` of the request."""


class Result(Enum):
    """The form of the reply."""

    JSON = "json"
    EMPTY = "empty"
    """The status says everything."""
    ROWS = "rows"
    """An Arrow IPC file: the field `data` of the response."""
    COUNT = "count"
    """A number: the field `count` of the response."""
    TEXT = "text"
    """A text, as JSON."""
    METADATA = "metadata"
    """A map: the field `metadata` of the response."""


class Operation(NamedTuple):
    """One operation. `{id}` and `{index_name}` in its path are parts of the request."""

    name: str
    path: str
    request: str
    effect: Effect
    verb: str = "POST"
    query: tuple[str, ...] = ()
    body: Body = Body.JSON
    result: Result = Result.JSON


READ, CATALOG, ALTER = Effect.READ, Effect.CATALOG, Effect.ALTER
PAGE = ("page_token", "limit")
MERGE = (
    *("branch", "on", "when_matched_update_all", "when_matched_update_all_filt", "when_not_matched_insert_all"),
    *("when_not_matched_by_source_delete", "when_not_matched_by_source_delete_filt", "timeout", "use_index"),
)
DETAILS = ("with_table_uri", "load_detailed_metadata", "check_declared")

_NAMESPACES = (
    Operation("create_namespace", "/v1/namespace/{id}/create", "CreateNamespaceRequest", CATALOG),
    Operation("describe_namespace", "/v1/namespace/{id}/describe", "DescribeNamespaceRequest", READ),
    Operation("drop_namespace", "/v1/namespace/{id}/drop", "DropNamespaceRequest", CATALOG),
    Operation("namespace_exists", "/v1/namespace/{id}/exists", "NamespaceExistsRequest", READ, result=Result.EMPTY),
    Operation("list_namespaces", "/v1/namespace/{id}/list", "ListNamespacesRequest", READ, "GET", PAGE, Body.NONE),
    Operation(
        "list_tables",
        "/v1/namespace/{id}/table/list",
        "ListTablesRequest",
        READ,
        "GET",
        (*PAGE, "include_declared"),
        Body.NONE,
    ),
)

_TABLES = (
    Operation("list_all_tables", "/v1/table", "ListTablesRequest", READ, "GET", (*PAGE, "include_declared"), Body.NONE),
    Operation("register_table", "/v1/table/{id}/register", "RegisterTableRequest", CATALOG),
    Operation("describe_table", "/v1/table/{id}/describe", "DescribeTableRequest", READ, query=DETAILS),
    Operation("table_exists", "/v1/table/{id}/exists", "TableExistsRequest", READ, result=Result.EMPTY),
    Operation("drop_table", "/v1/table/{id}/drop", "DropTableRequest", CATALOG, body=Body.NONE),
    Operation("deregister_table", "/v1/table/{id}/deregister", "DeregisterTableRequest", CATALOG),
    Operation("declare_table", "/v1/table/{id}/declare", "DeclareTableRequest", CATALOG),
    Operation(
        *("create_table", "/v1/table/{id}/create", "CreateTableRequest", Effect.CREATE, "POST"),
        *(("mode", "properties", "storage_options"), Body.ROWS),
    ),
    Operation("rename_table", "/v1/table/{id}/rename", "RenameTableRequest", CATALOG),
    Operation("restore_table", "/v1/table/{id}/restore", "RestoreTableRequest", ALTER),
    Operation("get_table_stats", "/v1/table/{id}/stats", "GetTableStatsRequest", READ),
    Operation("batch_commit_tables", "/v1/table/batch-commit", "BatchCommitTablesRequest", ALTER),
)

_ROWS = (
    Operation(
        *("insert_into_table", "/v1/table/{id}/insert", "InsertIntoTableRequest", Effect.INSERT, "POST"),
        *(("branch", "mode"), Body.ROWS),
    ),
    Operation(
        *("merge_insert_into_table", "/v1/table/{id}/merge_insert", "MergeInsertIntoTableRequest", Effect.MERGE),
        *("POST", MERGE, Body.ROWS),
    ),
    Operation("update_table", "/v1/table/{id}/update", "UpdateTableRequest", Effect.UPDATE),
    Operation("delete_from_table", "/v1/table/{id}/delete", "DeleteFromTableRequest", Effect.DELETE),
    Operation("query_table", "/v1/table/{id}/query", "QueryTableRequest", READ, result=Result.ROWS),
    Operation("count_table_rows", "/v1/table/{id}/count_rows", "CountTableRowsRequest", READ, result=Result.COUNT),
    Operation(
        *("explain_table_query_plan", "/v1/table/{id}/explain_plan", "ExplainTableQueryPlanRequest", READ),
        result=Result.TEXT,
    ),
    Operation(
        *("analyze_table_query_plan", "/v1/table/{id}/analyze_plan", "AnalyzeTableQueryPlanRequest", READ),
        result=Result.TEXT,
    ),
)

_COLUMNS = (
    Operation("alter_table_add_columns", "/v1/table/{id}/add_columns", "AlterTableAddColumnsRequest", ALTER),
    Operation("alter_table_alter_columns", "/v1/table/{id}/alter_columns", "AlterTableAlterColumnsRequest", ALTER),
    Operation("alter_table_drop_columns", "/v1/table/{id}/drop_columns", "AlterTableDropColumnsRequest", ALTER),
    Operation(
        "alter_table_backfill_columns", "/v1/table/{id}/backfill_column", "AlterTableBackfillColumnsRequest", ALTER
    ),
    Operation("update_field_metadata", "/v1/table/{id}/update_field_metadata", "UpdateFieldMetadataRequest", ALTER),
    Operation(
        "update_table_schema_metadata",
        "/v1/table/{id}/schema_metadata/update",
        "UpdateTableSchemaMetadataRequest",
        ALTER,
        "POST",
        ("branch",),
        Body.METADATA,
        Result.METADATA,
    ),
)

_VERSIONS = (
    Operation(
        *("list_table_versions", "/v1/table/{id}/version/list", "ListTableVersionsRequest", READ, "POST"),
        *(("branch", *PAGE, "descending"), Body.JSON),
    ),
    Operation("create_table_version", "/v1/table/{id}/version/create", "CreateTableVersionRequest", Effect.COMMIT),
    Operation("describe_table_version", "/v1/table/{id}/version/describe", "DescribeTableVersionRequest", READ),
    Operation("batch_delete_table_versions", "/v1/table/{id}/version/delete", "BatchDeleteTableVersionsRequest", ALTER),
    Operation(
        "batch_create_table_versions", "/v1/table/version/batch-create", "BatchCreateTableVersionsRequest", ALTER
    ),
)

_INDICES = (
    Operation("create_table_index", "/v1/table/{id}/create_index", "CreateTableIndexRequest", ALTER),
    Operation("create_table_scalar_index", "/v1/table/{id}/create_scalar_index", "CreateTableIndexRequest", ALTER),
    Operation("list_table_indices", "/v1/table/{id}/index/list", "ListTableIndicesRequest", READ),
    Operation(
        "describe_table_index_stats",
        "/v1/table/{id}/index/{index_name}/stats",
        "DescribeTableIndexStatsRequest",
        READ,
    ),
    Operation(
        *("drop_table_index", "/v1/table/{id}/index/{index_name}/drop", "DropTableIndexRequest", ALTER, "POST"),
        *(("branch",), Body.NONE),
    ),
)

_TAGS_AND_BRANCHES = (
    Operation("list_table_tags", "/v1/table/{id}/tags/list", "ListTableTagsRequest", READ, "POST", PAGE),
    Operation("get_table_tag_version", "/v1/table/{id}/tags/version", "GetTableTagVersionRequest", READ),
    Operation("create_table_tag", "/v1/table/{id}/tags/create", "CreateTableTagRequest", ALTER),
    Operation("update_table_tag", "/v1/table/{id}/tags/update", "UpdateTableTagRequest", ALTER),
    Operation("delete_table_tag", "/v1/table/{id}/tags/delete", "DeleteTableTagRequest", ALTER),
    Operation("list_table_branches", "/v1/table/{id}/branches/list", "ListTableBranchesRequest", READ, "POST", PAGE),
    Operation("create_table_branch", "/v1/table/{id}/branches/create", "CreateTableBranchRequest", ALTER),
    Operation("delete_table_branch", "/v1/table/{id}/branches/delete", "DeleteTableBranchRequest", ALTER),
)

_VIEWS_AND_TRANSACTIONS = (
    Operation(
        "create_materialized_view", "/v1/materialized_view/{id}/create", "CreateMaterializedViewRequest", CATALOG
    ),
    Operation(
        "refresh_materialized_view", "/v1/materialized_view/{id}/refresh", "RefreshMaterializedViewRequest", ALTER
    ),
    Operation("describe_transaction", "/v1/transaction/{id}/describe", "DescribeTransactionRequest", READ),
    Operation("alter_transaction", "/v1/transaction/{id}/alter", "AlterTransactionRequest", ALTER),
)

OPERATIONS: Final[Mapping[str, Operation]] = {
    each.name: each
    for each in (
        *(*_NAMESPACES, *_TABLES, *_ROWS, *_COLUMNS, *_VERSIONS, *_INDICES),
        *(*_TAGS_AND_BRANCHES, *_VIEWS_AND_TRANSACTIONS),
    )
}
"""All operations, by the names of the methods of `LanceNamespace`."""

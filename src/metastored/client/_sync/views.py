# Made by tools/unasync.py from _async/views.py: DO NOT EDIT.
"""Executes the statements about views and materialized views, as calls of the metastore.

The text of a query is stored. It is checked only as far as it can be without an engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metastored.client.statements.new_tables import fields_of, lower, materialized_table, view_table
from metastored.client.statements.values import Result, database_of, pattern_of, rows_of, table_of
from metastored.client.statements.view_queries import check_named, check_query, source_of, tables_in
from metastored.errors import AlreadyExistsException, InvalidOperationException, NoSuchObjectException, NotSupported
from metastored.hive.names import normalize
from metastored.model import kinds
from metastored.model.names import DatabaseName, TableName
from metastored.statements import definitions as s
from metastored.statements.materialized import (
    AlterMaterializedView,
    CreateMaterializedView,
    DropMaterializedView,
    MaterializedStatement,
    ShowMaterializedViews,
)
from metastored.wire.generated.common import FieldSchema, Table
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from metastored.client._sync.operations import Operations

MATERIALIZED: Final = "MATERIALIZED VIEW"
WORDS: Final = {kinds.MANAGED: "TABLE", kinds.VIEW: "VIEW", kinds.MATERIALIZED_VIEW: MATERIALIZED}
HIVE: Final = "Hive"
SPARK: Final = 'Spark: metastored.spark.sql(spark, "CREATE VIEW …")'
SHOWN: Final = ("mv_name", "rewrite_enabled", "mode")
WINDOW: Final = "rewriting.time.window"
"""How long Hive uses a materialized view after its tables have changed."""


def create_view(client: Operations, current: DatabaseName, statement: s.CreateView) -> None:
    """CREATE VIEW."""
    name = table_of(statement.name, current)
    view = _view(client, current, name, statement)
    if not statement.or_replace:
        client.create_table(view, statement.if_not_exists)
        return
    try:
        client.create_table(view)
    except AlreadyExistsException:
        client.change_table(name, lambda old: _replaced(name, old, view))


def _replaced(name: TableName, old: Table, view: Table) -> Table:
    if not kinds.is_view(old):
        raise InvalidOperationException(f"{name} is a table: CREATE OR REPLACE VIEW replaces only views")
    return replace(view, owner=old.owner, ownerType=old.ownerType, createTime=old.createTime)


def change_query(client: Operations, current: DatabaseName, name: TableName, query: str) -> None:
    """ALTER VIEW … AS: the view with another query, its comment and its properties."""
    old = (client.fresh_table(name)).parameters or {}
    view = _view(client, current, name, s.CreateView(name, query, comment=old.get("comment")))
    kept = {key: value for key, value in old.items() if not key.startswith(("view.", "spark."))}
    view = replace(view, parameters={**kept, **(view.parameters or {})})
    client.change_table(name, lambda old: _replaced(name, old, view))


def drop_of_kind(client: Operations, name: TableName, if_exists: bool, kind: str, purge: bool = False) -> None:
    """Drops a table, a view or a materialized view. Raises InvalidOperationException for one of another kind."""
    try:
        check_kind(name, client.fresh_table(name), kind, "DROP")
        client.drop_table(name, purge=purge)
    except NoSuchObjectException:
        if not if_exists:
            raise
    client.forget(name.database, name.table)


def check_kind(name: TableName, table: Table, kind: str, verb: str) -> None:
    """Raises InvalidOperationException for a table of another kind than a statement is for."""
    actual = table.tableType if kinds.is_any_view(table) else kinds.MANAGED
    if actual != kind:
        word = WORDS[actual or kinds.MANAGED]
        raise InvalidOperationException(f"{name} is a {word.lower()}: use {verb} {word}")


def _view(client: Operations, current: DatabaseName, name: TableName, statement: s.CreateView) -> Table:
    check_query(statement.query)
    columns, selected = _view_columns(client, current, name, statement)
    return view_table(statement, name, columns, selected, current.database, client.user)


def _view_columns(
    client: Operations, current: DatabaseName, name: TableName, statement: s.CreateView | CreateMaterializedView
) -> tuple[tuple[FieldSchema, ...], tuple[str, ...]]:
    """The columns with their types, as written or as the table of a simple query has them; and the query's names."""
    written = statement.columns
    if written and all(each.type is not None for each in written):
        check_named(name, statement.query, written)
        return fields_of(written, str(name)), lower(each.name for each in written)
    source = source_of(statement.query)
    if source is None or len(source[0]) > 3:
        word, runs = ("VIEW", SPARK) if isinstance(statement, s.CreateView) else (MATERIALIZED, HIVE)
        example = ", ".join(f"{each.name} STRING" for each in written) or "id BIGINT, name STRING"
        raise InvalidOperationException(
            f"the columns of {name} are not known without an engine: write them with their types, CREATE {word} "
            f"{name} ({example}) AS …, or run it by {runs}"
        )
    table = client.fresh_table(table_of(source[0], current))
    known = {each.name or "": each for each in (*((table.sd and table.sd.cols) or ()), *(table.partitionKeys or ()))}
    chosen = source[1] if source[1] is not None else tuple((column, column) for column in known)
    missing = [column for column, _ in chosen if normalize(column) not in known]
    if missing:
        raise InvalidOperationException(f"{table_of(source[0], current)} has no column {missing[0]}")
    if written and len(written) != len(chosen):
        raise InvalidOperationException(f"{name} has {len(written)} columns, and its query has {len(chosen)}")
    fields = [replace(known[normalize(column)], name=normalize(alias)) for column, alias in chosen]
    columns = tuple(
        replace(each, name=normalize(written[at].name), comment=written[at].comment) if written else each
        for at, each in enumerate(fields)
    )
    return columns, tuple(each.name or "" for each in fields)


# --- materialized views ---------------------------------------------------------------------------------------


def execute_materialized(client: Operations, current: DatabaseName, statement: MaterializedStatement) -> Result:
    """Executes a statement about materialized views. Raises what the metastore raises."""
    match statement:
        case CreateMaterializedView():
            return _create_materialized(client, current, statement)
        case AlterMaterializedView(name, rewrite):
            target = table_of(name, current)
            client.change_table(target, lambda table: _rewriting(target, table, rewrite))
            client.forget(target.database, target.table)
        case DropMaterializedView(name, if_exists):
            drop_of_kind(client, table_of(name, current), if_exists, kinds.MATERIALIZED_VIEW)
        case ShowMaterializedViews(name, like):
            return _materialized(client, database_of(name, current), pattern_of(like))
    return Result()


def _create_materialized(client: Operations, current: DatabaseName, statement: CreateMaterializedView) -> Result:
    """The view without rows. Queries are not rewritten to it until Hive has built it: they would find nothing."""
    name = table_of(statement.name, current)
    client.capabilities.has_materialized_views(check=True)
    check_query(statement.query)
    columns, _ = _view_columns(client, current, name, statement)
    used = [table_of(parts, current) for parts in tables_in(statement.query)]
    for each in used:
        client.fresh_table(each)  # Raises TableNotFound.
    client.create_table(materialized_table(statement, name, columns, used, client.user), statement.if_not_exists)
    if statement.disabled:
        return Result()
    sentence = (
        f"{name} has no rows, and queries are not rewritten to it: run ALTER MATERIALIZED VIEW {name} REBUILD in Hive, "
        "and then ENABLE REWRITE"
    )
    return rows_of("warning", [sentence])


def _rewriting(name: TableName, table: Table, enabled: bool) -> Table:
    check_kind(name, table, kinds.MATERIALIZED_VIEW, "ALTER")
    metadata = table.creationMetadata
    if enabled and (metadata is None or not metadata.validTxnList):
        # Hive rewrites only to views of ACID tables, and stores the snapshot of a build.
        raise InvalidOperationException(
            f"{name} was never built, or not from ACID tables, and queries that are rewritten to it would have wrong "
            f"results: run ALTER MATERIALIZED VIEW {name} REBUILD in Hive first"
        )
    return replace(table, rewriteEnabled=enabled)


def _materialized(client: Operations, database: DatabaseName, pattern: str) -> Result:
    client.api.get_database(database.field)  # The metastore lists nothing of a missing one.
    names = names_of_kind(client, database, pattern, kinds.MATERIALIZED_VIEW)
    tables = client.tables_by_name(database, names) if names else ()
    return Result(
        SHOWN,
        tuple(
            (each.tableName, "Yes" if each.rewriteEnabled else "No", _mode(each))
            for each in sorted(tables, key=lambda each: each.tableName or "")
        ),
    )


def names_of_kind(client: Operations, database: DatabaseName, pattern: str, kind: str) -> tuple[str, ...]:
    """The sorted names of the tables of a type."""
    try:
        return tuple(sorted(client.api.get_tables_by_type(database.field, pattern, kind)))
    except NotSupported:  # Hive before 2.3.
        names = client.api.get_tables(database.field, pattern)
        tables = client.tables_by_name(database, names)
        return tuple(sorted(each.tableName or "" for each in tables if each.tableType == kind))


def _mode(table: Table) -> str:
    """How the view is brought up to date, in Hive's words."""
    window = (table.parameters or {}).get(WINDOW)
    return f"Manual refresh (Valid for {window})" if window else "Manual refresh"

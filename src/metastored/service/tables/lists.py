"""Lists of tables: by pattern, by type, by a filter, and with some fields of each."""

from __future__ import annotations

from typing import Final

from metastored.errors import InvalidOperationException, MetaException, UnknownDBException
from metastored.filters.hive.tables import (
    BoundField,
    FieldValue,
    Lookup,
    TableField,
    TablePredicate,
    fields_of,
    only_parameter,
    parse_table_filter,
    table_predicate,
)
from metastored.filters.hive.tree import Filter, FilterError
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_CATALOG
from metastored.hive.patterns import compile_pattern, literal_prefix
from metastored.model import kinds
from metastored.model.names import DatabaseName
from metastored.service.core import rows, translation
from metastored.service.core.context import Context, Encoded
from metastored.service.core.name_lists import names_of_tables
from metastored.service.core.serving import method
from metastored.service.tables.get import existing_database
from metastored.store.objects import databases, tables
from metastored.store.objects.tables import SearchableTable
from metastored.wire.generated.common import GetTablesExtRequestFields, Table
from metastored.wire.generated.tables import ExtendedTableInfo, GetTablesExtRequest, TableMeta
from metastored.wire.structs import replace

NO_TYPE: Final = "java.lang.IllegalArgumentException: No enum constant org.apache.hadoop.hive.metastore.TableType."
COMMENT: Final = "comment"


@method
def get_all_tables(ctx: Context, db_name: str | None) -> Encoded:
    return names_of_tables(ctx, ctx.name(db_name))


@method
def get_tables(ctx: Context, db_name: str | None, pattern: str | None) -> Encoded:
    return names_of_tables(ctx, ctx.name(db_name), pattern)


@method
def get_tables_by_type(ctx: Context, db_name: str | None, pattern: str | None, tableType: str | None) -> Encoded:
    if tableType not in kinds.TYPES:
        raise MetaException(f"{NO_TYPE}{tableType or ''}")
    return names_of_tables(ctx, ctx.name(db_name), pattern, tableType)


@method
def get_materialized_views_for_rewriting(ctx: Context, db_name: str | None) -> tuple[str, ...]:
    where = ctx.name(db_name)
    table_rows = tables.rows(ctx.reader(), *where)
    views = (rows.table_of(row, *where) for row in table_rows if row.type == kinds.MATERIALIZED_VIEW)
    return tuple(view.tableName or "" for view in views if view.rewriteEnabled)


@method
def get_all_materialized_view_objects_for_rewriting(ctx: Context) -> tuple[Table, ...]:
    catalog = DEFAULT_CATALOG
    table_rows = tables.of_type(ctx.reader(), catalog, kinds.MATERIALIZED_VIEW)
    views = (rows.table_of(row, ctx.shown(catalog), database) for database, row in table_rows)
    return tuple(view for view in views if view.rewriteEnabled)


# --- with some fields of each ----------------------------------------------------------------------------------


@method
def get_table_meta(
    ctx: Context, db_patterns: str | None, tbl_patterns: str | None, tbl_types: tuple[str, ...] | None
) -> tuple[TableMeta, ...]:
    catalog, database_pattern = ctx.pattern(db_patterns)
    in_database, matches = compile_pattern(database_pattern), compile_pattern(tbl_patterns)
    metas: list[TableMeta] = []
    with ctx.reading() as tx:
        for database in databases.names(tx, catalog):
            if in_database(database):
                metas += (
                    _meta(ctx, catalog, database, meta)
                    for meta in tables.metas(tx, catalog, database, literal_prefix(tbl_patterns))
                    if matches(meta.name) and (not tbl_types or meta.type in tbl_types)
                )
    return tuple(metas)


def _meta(ctx: Context, catalog: str, database: str, meta: tables.TableMeta) -> TableMeta:
    # Few tables have a comment: only tables whose bytes contain the word are decoded, and those whose owner is
    # requested.
    needs_body = COMMENT.encode() in meta.body or ctx.rules.returns_ids
    table = rows.read_body(Table, meta.body) if needs_body else Table()
    shown = TableMeta(database, meta.name, meta.type, (table.parameters or {}).get(COMMENT))
    if not ctx.rules.returns_ids:
        return shown
    return replace(shown, catName=catalog, ownerName=meta.owner, ownerType=table.ownerType)


@method
def get_tables_ext(ctx: Context, req: GetTablesExtRequest) -> tuple[ExtendedTableInfo, ...]:
    """Names and, if requested, the client's access to each table and the capabilities that it lacks."""
    abilities = req.processorCapabilities
    if not abilities or translation.RAW in abilities:
        return ()
    where = ctx.name(req.database, req.catalog)
    matches = compile_pattern(req.tableNamePattern)
    matching = [rows.table_of(row, *where) for row in tables.rows(ctx.reader(), *where) if matches(row.name)]
    limit = req.limit if req.limit is not None and req.limit >= 0 else len(matching)
    return tuple(_extended(ctx, table, abilities, req.requestedFields or 0) for table in matching[:limit])


def _extended(ctx: Context, table: Table, abilities: translation.Abilities, fields: int) -> ExtendedTableInfo:
    info = ExtendedTableInfo(tblName=table.tableName)
    if not ctx.rules.returns_access or not translation.applies(table.catName, abilities):
        return info
    access = translation.access(table, abilities)
    if fields & GetTablesExtRequestFields.ACCESS_TYPE:
        info = replace(info, accessType=access.type)
    if fields & GetTablesExtRequestFields.PROCESSOR_CAPABILITIES:
        info = replace(info, requiredReadCapabilities=access.reads, requiredWriteCapabilities=access.writes)
    return info


# --- by a filter ------------------------------------------------------------------------------------------------


@method
def get_table_names_by_filter(
    ctx: Context, dbname: str | None, filter: str | None, max_tables: int | None
) -> tuple[str, ...]:
    if not dbname or dbname.startswith("@#") or not ctx.pattern(dbname)[1]:
        raise UnknownDBException("DB name is null or empty")
    if filter is None:
        raise InvalidOperationException("null cannot apply null filter")
    where = existing_database(ctx, dbname, None) if ctx.rules.filters_in_a_database else ctx.name(dbname)
    node, dialect = _parsed(ctx, filter)
    holds = table_predicate(node, dialect)
    limit = None if max_tables is None or max_tables < 0 else max_tables
    key = only_parameter(node, dialect)
    if key is not None:
        return _by_value(ctx, where, key, holds)[:limit]
    parameter_names = [bound.parameter for bound in fields_of(node, dialect) if bound.field is TableField.PARAMETER]
    with ctx.reading() as tx:
        parameters = {key: tables.values_of(tx, *where, key) for key in parameter_names}
        candidates = tables.searchable(tx, *where)

    def lookup(table: SearchableTable) -> Lookup:
        return lambda bound: _value(bound, table, parameters)

    return tuple(table.name for table in candidates if holds(lookup(table)))[:limit]


def _parsed(ctx: Context, text: str) -> tuple[Filter, Generation]:
    """A filter and the first dialect that can read it; raises Hive's MetaException if it is invalid in all."""
    refused: FilterError | None = None
    for dialect in ctx.dialects:
        try:
            return parse_table_filter(text, dialect), dialect
        except FilterError as error:
            refused = refused or error
    raise MetaException(str(refused))


def _by_value(ctx: Context, where: DatabaseName, key: str, holds: TablePredicate) -> tuple[str, ...]:
    """The tables whose value of a parameter satisfies a filter, which is evaluated once for each value there is."""

    def lookup(value: str) -> Lookup:
        return lambda _: value

    with ctx.reading() as tx:
        values = [value for value in tables.distinct_values(tx, key) if holds(lookup(value))]
        return tuple(tables.names_by_values(tx, *where, key, values)) if values else ()


def _value(bound: BoundField, table: SearchableTable, parameters: dict[str, dict[int, str]]) -> FieldValue:
    match bound.field:
        case TableField.OWNER:
            return table.owner
        case TableField.LAST_ACCESS:
            return table.last_access
        case TableField.NAME:
            return table.name
        case TableField.TYPE:
            return table.type
        case TableField.PARAMETER:
            return parameters[bound.parameter].get(table.id)

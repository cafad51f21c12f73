"""Builds the values of SHOW and DESCRIBE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metastored.errors import SparkStatementError, StatementError
from metastored.statements import shows as s
from metastored.statements.clauses import Clauses, fields_of
from metastored.statements.refused import refusal

if TYPE_CHECKING:
    from lark import Token, Tree


class ShowsBuilder(Clauses):
    """One method for each rule."""

    def on_show_catalogs(self, tree: Tree[Token], children: list[Any]) -> s.ShowCatalogs:
        return s.ShowCatalogs(**dict(children))

    def on_show_databases(self, tree: Tree[Token], children: list[Any]) -> s.ShowDatabases:
        return s.ShowDatabases(**dict(children))

    def on_show_tables(self, tree: Tree[Token], children: list[Any]) -> s.ShowTables:
        return s.ShowTables(**fields_of(tree, children, 2))

    def on_show_views(self, tree: Tree[Token], children: list[Any]) -> s.ShowViews:
        return s.ShowViews(**fields_of(tree, children, 2))

    def on_show_table_extended(self, tree: Tree[Token], children: list[Any]) -> s.ShowTableExtended:
        named = [each for each in children if isinstance(each, tuple)]
        like = next(each for each in children if isinstance(each, str))
        return s.ShowTableExtended(like, **fields_of(tree, named, 2))

    def on_show_partitions(self, tree: Tree[Token], children: list[Any]) -> s.ShowPartitions:
        return s.ShowPartitions(**fields_of(tree, children, 3))

    def on_show_columns(self, tree: Tree[Token], children: list[Any]) -> s.ShowColumns:
        fields = fields_of(tree, children, 3)
        database = fields.pop("database", None)
        if database is not None:
            if len(fields["name"]) > 1:
                raise StatementError(
                    "the database is named twice: before the table, and after it", tree.meta.line, tree.meta.column
                )
            fields["name"] = (*database, *fields["name"])
        return s.ShowColumns(**fields)

    def on_show_tblproperties(self, tree: Tree[Token], children: list[Any]) -> s.ShowTblproperties:
        key = children[1] if len(children) == 2 else None
        return s.ShowTblproperties(fields_of(tree, children[:1], 3)["name"], key)

    def on_show_create_table(self, tree: Tree[Token], children: list[Any]) -> s.ShowCreateTable:
        return s.ShowCreateTable(**fields_of(tree, children, 3))

    def on_show_create_database(self, tree: Tree[Token], children: list[Any]) -> s.ShowCreateDatabase:
        return s.ShowCreateDatabase(**fields_of(tree, children, 2))

    def on_show_functions(self, tree: Tree[Token], children: list[Any]) -> s.ShowFunctions:
        return s.ShowFunctions(**fields_of(tree, children, 2))

    def on_show_locks(self, tree: Tree[Token], children: list[Any]) -> s.ShowLocks:
        return s.ShowLocks(**fields_of(tree, children, 2))

    def on_show_transactions(self, tree: Tree[Token], children: list[Any]) -> s.ShowTransactions:
        return s.ShowTransactions()

    def on_show_compactions(self, tree: Tree[Token], children: list[Any]) -> s.ShowCompactions:
        return s.ShowCompactions()

    def on_describe_catalog(self, tree: Tree[Token], children: list[str]) -> s.DescribeCatalog:
        return s.DescribeCatalog(children[0])

    def on_describe_database(self, tree: Tree[Token], children: list[Any]) -> s.DescribeDatabase:
        return s.DescribeDatabase(**fields_of(tree, children, 2))

    def on_describe_function(self, tree: Tree[Token], children: list[Any]) -> s.DescribeFunction:
        return s.DescribeFunction(**fields_of(tree, children, 3))

    def on_describe_table(self, tree: Tree[Token], children: list[Any]) -> s.DescribeTable:
        fields = fields_of(tree, children, 3)
        if "column" in fields and len(fields["name"]) == 1:
            # DESCRIBE NAMESPACE n and the like are other statements, and no column of a table of this name.
            refused = refusal(f"DESCRIBE {fields['name'][0]} {fields['column']}")
            if refused is not None:
                kind = SparkStatementError if refused.is_for_spark else StatementError
                raise kind(refused.sentence, tree.meta.line, tree.meta.column)
        if "column" in fields and "detail" in fields:
            raise StatementError(
                f"DESCRIBE {fields['detail']} of a column shows its statistics: use metastored stats "
                f"{'.'.join(fields['name'])}",
                tree.meta.line,
                tree.meta.column,
            )
        return s.DescribeTable(**fields)

    def on_described_column(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "column", children[0]

    def on_where(self, tree: Tree[Token], children: list[Any]) -> tuple[str, str]:
        return "where", str(tree.children[1]).strip()

"""Builds the values of the statements that define and change objects; their parts are in `building_tables.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from metastored.errors import SparkStatementError, StatementError
from metastored.statements.basics import Pairs, Parts
from metastored.statements.building_tables import ColumnWithKeys, Items, TablesBuilder
from metastored.statements.clauses import check_parts, fields_of, token_of
from metastored.statements.definitions import (
    AddColumns,
    AddConstraint,
    AddPartitions,
    AlterCatalog,
    AlterDatabase,
    AlterPartition,
    AlterTable,
    AlterView,
    ChangeColumn,
    Column,
    CommentOn,
    Compact,
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    CreateTableLike,
    CreateView,
    DropCatalog,
    DropColumns,
    DropConstraint,
    DropDatabase,
    DropFunction,
    DropPartitions,
    DropTable,
    DropView,
    ExchangePartition,
    RenameTo,
    SetLocation,
    SetOwner,
    SetProperties,
    SetStorage,
    Storage,
    TruncateTable,
    UnsetProperties,
)

if TYPE_CHECKING:
    from lark import Token, Tree

BY_SPARK = "run it by Spark: metastored.spark.sql(spark, statement)"


class DefinitionsBuilder(TablesBuilder):
    """One method for each rule."""

    # Catalogs and databases

    def on_create_catalog(self, tree: Tree[Token], children: list[Any]) -> CreateCatalog:
        return CreateCatalog(**once(tree, _named(children)))

    def on_alter_catalog(self, tree: Tree[Token], children: list[Any]) -> AlterCatalog:
        return AlterCatalog(children[0], children[1][1])

    def on_drop_catalog(self, tree: Tree[Token], children: list[Any]) -> DropCatalog:
        return DropCatalog(**once(tree, _named(children)))

    def on_create_database(self, tree: Tree[Token], children: list[Any]) -> CreateDatabase:
        once(tree, children)
        return CreateDatabase(**fields_of(tree, children, 2))

    def on_drop_database(self, tree: Tree[Token], children: list[Any]) -> DropDatabase:
        return DropDatabase(**fields_of(tree, children, 2))

    def on_alter_database(self, tree: Tree[Token], children: list[Any]) -> AlterDatabase:
        check_parts(tree, children[0][1], "the name", 2)
        return AlterDatabase(children[0][1], children[1])

    # Tables and views

    def on_create_table(self, tree: Tree[Token], children: list[Any]) -> CreateTable:
        once(tree, children)
        fields = fields_of(tree, children, 3)
        if "query" in fields:
            _leave_to_spark(tree, f"CREATE TABLE AS writes rows, and rows are Spark's: {BY_SPARK}")
        fields |= self._kind(tree, fields)
        items: Items = fields.pop("items", Items((), ()))
        fields |= {"columns": items.columns, "constraints": items.constraints}
        stored, row = fields.pop("stored_as", None), fields.pop("row_format", None)
        if stored is not None or row is not None:
            fields["storage"] = merged(stored, row)
        fields["provider"] = fields.pop("using", None)
        if fields["provider"] is None and "options" in fields:
            refuse(tree, "OPTIONS belong to USING; a table of Hive's has TBLPROPERTIES and SERDEPROPERTIES")
        if fields["provider"] is not None and "storage" in fields:
            refuse(tree, "a table has either USING, for Spark, or STORED AS and ROW FORMAT, for Hive")
        return CreateTable(**fields)

    def on_create_table_like(self, tree: Tree[Token], children: list[Any]) -> CreateTableLike:
        names = [value for field, value in children if field == "name"]
        clauses = [each for each in children if each[0] != "name"]
        fields = once(tree, clauses)
        for name in names:
            check_parts(tree, name, "the name", 3)
        fields |= self._kind(tree, fields)
        fields.pop("is_transactional")
        unknown = fields.keys() - {"if_not_exists", "external", "location", "properties"}
        if unknown:
            refuse(tree, "CREATE TABLE LIKE takes only LOCATION and TBLPROPERTIES: the rest is the other table's")
        return CreateTableLike(names[0], names[1], **fields)

    @staticmethod
    def _kind(tree: Tree[Token], fields: dict[str, Any]) -> dict[str, bool]:
        kind = fields.pop("table_kind", "")
        if kind == "TEMPORARY":
            refuse(tree, "temporary tables are those of an engine's session: create it in Spark or Hive")
        return {"external": kind == "EXTERNAL", "is_transactional": kind == "TRANSACTIONAL"}

    def on_table_kind(self, tree: Tree[Token], children: list[Any]) -> tuple[str, str]:
        return "table_kind", token_of(tree).type

    def on_drop_table(self, tree: Tree[Token], children: list[Any]) -> DropTable:
        return DropTable(**fields_of(tree, children, 3))

    def on_truncate_table(self, tree: Tree[Token], children: list[Any]) -> TruncateTable:
        return TruncateTable(**fields_of(tree, children, 3))

    def on_alter_table(self, tree: Tree[Token], children: list[Any]) -> AlterTable:
        check_parts(tree, children[0][1], "the name", 3)
        return AlterTable(children[0][1], children[1])

    def on_create_view(self, tree: Tree[Token], children: list[Any]) -> CreateView:
        once(tree, children)
        fields = fields_of(tree, children, 3)
        if fields.get("or_replace") and fields.get("if_not_exists"):
            refuse(tree, "CREATE VIEW has either OR REPLACE or IF NOT EXISTS")
        return CreateView(**fields)

    def on_alter_view(self, tree: Tree[Token], children: list[Any]) -> AlterView:
        check_parts(tree, children[0][1], "the name", 3)
        action = children[1]
        return AlterView(children[0][1], action[1] if isinstance(action, tuple) else action)

    def on_drop_view(self, tree: Tree[Token], children: list[Any]) -> DropView:
        return DropView(**fields_of(tree, children, 3))

    def on_view_columns(self, tree: Tree[Token], children: list[Column]) -> tuple[str, tuple[Column, ...]]:
        return "columns", tuple(children)

    def on_view_column(self, tree: Tree[Token], children: list[Any]) -> Column:
        return self.on_partition_column(tree, children)

    def on_as_query(self, tree: Tree[Token], children: list[Any]) -> tuple[str, str]:
        return "query", str(tree.children[1]).strip()

    def on_or_replace(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "or_replace", True

    # Functions, comments, repair

    def on_create_function(self, tree: Tree[Token], children: list[Any]) -> CreateFunction:
        named: dict[str, Any] = dict(each for each in children if isinstance(each, tuple) and each[0] != "resource")
        if named.pop("temporary", False):
            _leave_to_spark(tree, "temporary functions are those of an engine's session: create it in Spark or Hive")
        check_parts(tree, named["name"], "the name", 3)
        text = next(each for each in children if isinstance(each, str))
        resources = tuple(each[1] for each in children if isinstance(each, tuple) and each[0] == "resource")
        return CreateFunction(class_name=text, resources=resources, **named)

    def on_temporary(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "temporary", True

    def on_resource(self, tree: Tree[Token], children: list[str]) -> tuple[str, tuple[str, str]]:
        return "resource", (token_of(tree).type, children[0])

    def on_drop_function(self, tree: Tree[Token], children: list[Any]) -> DropFunction:
        return DropFunction(**fields_of(tree, children, 3))

    def on_comment_on(self, tree: Tree[Token], children: list[Any]) -> CommentOn:
        (kind, name), text = children
        most = {"DATABASE": 2, "TABLE": 3, "COLUMN": 4}[kind]
        check_parts(tree, name, "the name", most)
        if kind == "COLUMN" and len(name) < 2:
            refuse(tree, f"a column is named with its table: COMMENT ON COLUMN table.{name[0]} IS …")
        return CommentOn(kind, name, text)

    def on_commented_column(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Parts]:
        return "COLUMN", children[0][1]

    def on_commented_table(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Parts]:
        return "TABLE", children[0][1]

    def on_commented_database(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Parts]:
        return "DATABASE", children[0][1]

    def on_no_text(self, tree: Tree[Token], children: list[Any]) -> None:
        return None

    def on_msck(self, tree: Tree[Token], children: list[Any]) -> NoReturn:
        _repair(tree, children[0][1])

    def on_recover_partitions(self, tree: Tree[Token], children: list[Any]) -> NoReturn:
        _repair(tree, ("table",))

    # Changes

    def on_rename_to(self, tree: Tree[Token], children: list[Any]) -> RenameTo:
        check_parts(tree, children[0][1], "the name", 3)
        return RenameTo(children[0][1])

    def on_set_properties(self, tree: Tree[Token], children: list[Any]) -> SetProperties:
        return SetProperties(children[0][1])

    def on_set_db_properties(self, tree: Tree[Token], children: list[Any]) -> SetProperties:
        return SetProperties(children[0][1])

    def on_unset_properties(self, tree: Tree[Token], children: list[Any]) -> UnsetProperties:
        fields = dict(children)
        return UnsetProperties(fields["unset"], fields.get("if_exists", False))

    def on_unset_db_properties(self, tree: Tree[Token], children: list[Any]) -> UnsetProperties:
        return self.on_unset_properties(tree, children)

    def on_set_location(self, tree: Tree[Token], children: list[Any]) -> SetLocation:
        return SetLocation(children[0][1])

    def on_set_managed(self, tree: Tree[Token], children: list[Any]) -> SetLocation:
        return SetLocation(children[0][1], True)

    def on_set_owner(self, tree: Tree[Token], children: list[Any]) -> SetOwner:
        return SetOwner(children[0][1])

    def on_set_file_format(self, tree: Tree[Token], children: list[str]) -> SetStorage:
        return SetStorage(Storage(format=children[0]))

    def on_set_serde(self, tree: Tree[Token], children: list[Any]) -> SetStorage:
        storage = children[0]
        return SetStorage(storage if isinstance(storage, Storage) else Storage(properties=storage[1]))

    def on_add_columns(self, tree: Tree[Token], children: list[Any]) -> AddColumns:
        columns = (children[0],) if isinstance(children[0], ColumnWithKeys) else children[0]
        return AddColumns(_plain(tree, columns), children[-1] == ("cascade", True))

    def on_replace_columns(self, tree: Tree[Token], children: list[Any]) -> AddColumns:
        return AddColumns(_plain(tree, children[0]), children[-1] == ("cascade", True), True)

    def on_change_column(self, tree: Tree[Token], children: list[Any]) -> ChangeColumn:
        name, new, *rest = children
        (column,) = _plain(tree, (new,))
        fields = dict(rest)
        return ChangeColumn(
            name, column.name, column.type, column.comment, fields.get("after"), fields.get("cascade", False)
        )

    def on_position(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "after", children[0] if children else ""

    def on_rename_column(self, tree: Tree[Token], children: list[str]) -> ChangeColumn:
        return ChangeColumn(children[0], children[1])

    def on_alter_column(self, tree: Tree[Token], children: list[Any]) -> ChangeColumn:
        name, change = children
        return ChangeColumn(name, comment=change[1]) if isinstance(change, tuple) else ChangeColumn(name, type=change)

    def on_drop_columns(self, tree: Tree[Token], children: list[Any]) -> DropColumns:
        return DropColumns((children[0],) if isinstance(children[0], str) else children[0])

    def on_add_partitions(self, tree: Tree[Token], children: list[Any]) -> AddPartitions:
        exists = children[0] == ("if_not_exists", True)
        return AddPartitions(tuple(children[1:] if exists else children), exists)

    def on_new_partition(self, tree: Tree[Token], children: list[Any]) -> tuple[Pairs, str | None]:
        fields = dict(children)
        return fields["partition"], fields.get("location")

    def on_drop_partitions(self, tree: Tree[Token], children: list[Any]) -> DropPartitions:
        filters = tuple(each for each in children if each not in (("if_exists", True), ("purge", True)))
        return DropPartitions(filters, ("if_exists", True) in children, ("purge", True) in children)

    def on_partition_filter(self, tree: Tree[Token], children: list[Any]) -> tuple[tuple[str, str, str], ...]:
        return tuple(children)

    def on_comparison(self, tree: Tree[Token], children: list[str]) -> tuple[str, str, str]:
        return children[0], children[1], children[2]

    def on_operator(self, tree: Tree[Token], children: list[Any]) -> str:
        return "!=" if token_of(tree).type == "NE" else str(token_of(tree))

    def on_partition_action(self, tree: Tree[Token], children: list[Any]) -> AlterPartition:
        return AlterPartition(children[0][1], children[1])

    def on_exchange_partition(self, tree: Tree[Token], children: list[Any]) -> ExchangePartition:
        check_parts(tree, children[1][1], "the name", 3)
        return ExchangePartition(children[0][1], children[1][1])

    def on_compact(self, tree: Tree[Token], children: list[Any]) -> Compact:
        kind, *clauses = children
        fields = dict(clauses)
        if kind.lower() not in ("major", "minor"):
            refuse(tree, "a compaction is 'major' or 'minor': ALTER TABLE … COMPACT 'major'")
        if "and_wait" in fields:
            refuse(tree, "AND WAIT would wait for a worker: leave it out; SHOW COMPACTIONS shows when it has ended")
        return Compact(kind.lower(), fields.get("properties", ()), fields.get("pool"))

    def on_and_wait(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "and_wait", True

    def on_pool(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "pool", children[0]

    def on_rename_partition(self, tree: Tree[Token], children: list[Any]) -> Pairs:
        pairs: Pairs = children[0][1]
        return pairs

    def on_add_constraint(self, tree: Tree[Token], children: list[Any]) -> AddConstraint:
        return AddConstraint(children[0])

    def on_drop_constraint(self, tree: Tree[Token], children: list[str]) -> DropConstraint:
        return DropConstraint(children[0])

    def on_drop_mode(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "cascade", token_of(tree).type == "CASCADE"

    def on_purge(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "purge", True


def _named(children: list[Any]) -> list[Any]:
    return [("name", each) if isinstance(each, str) else each for each in children]


def once(tree: Tree[Token], clauses: list[tuple[str, Any]]) -> dict[str, Any]:
    """The clauses by name. Raises StatementError for one that is there twice."""
    fields: dict[str, Any] = {}
    for field, value in clauses:
        if field in fields:
            word = "TBLPROPERTIES" if field == "properties" else field.replace("_", " ").upper()
            refuse(tree, f"the clause {word} is there twice")
        fields[field] = value
    return fields


def merged(stored: Storage | None, row: Storage | None) -> Storage:
    """STORED AS and ROW FORMAT together."""
    stored, row = stored or Storage(), row or Storage()
    return replace(stored, serde=row.serde, properties=row.properties)


def _plain(tree: Tree[Token], columns: tuple[ColumnWithKeys, ...]) -> tuple[Column, ...]:
    for each in columns:
        if each.constraints or each.column.not_null or each.column.default is not None:
            refuse(tree, f"the column {each.column.name} has a constraint: ALTER TABLE … ADD CONSTRAINT adds it")
    return tuple(each.column for each in columns)


def _repair(tree: Tree[Token], name: Parts) -> NoReturn:
    shown = ".".join(name)
    _leave_to_spark(
        tree,
        "MSCK lists directories, and statements only call the metastore: "
        f'use metastored.spark.repair(spark, "{shown}", mode="add"), "drop" or "sync"',
    )


def refuse(tree: Tree[Token], problem: str) -> NoReturn:
    """Raises StatementError at the beginning of a rule."""
    raise StatementError(problem, tree.meta.line, tree.meta.column)


def _leave_to_spark(tree: Tree[Token], problem: str) -> NoReturn:
    raise SparkStatementError(problem, tree.meta.line, tree.meta.column)

"""CREATE TABLE … AS SELECT of an ACID table: its query, and the properties of the new table. Pure.

Spark itself would write plain files into the directory of the table. Here the table is created by the metastore, and
the rows of the query are inserted in a transaction. Clauses that such a table cannot have are refused.
"""

from __future__ import annotations

from typing import Final

from sqlglot import TokenType, exp

from metastored.model.acid import TRANSACTIONAL
from metastored.spark.acid.sql.clauses import Cutter
from metastored.spark.acid.sql.values import CreateAs, Sql
from metastored.spark.source import Source, parsed_again

_FORMS: Final = (
    "CREATE TABLE AS of an ACID table can have STORED AS, PARTITIONED BY (columns), CLUSTERED BY, COMMENT and "
    "TBLPROPERTIES before AS"
)


def declares_acid(tree: exp.Expression) -> bool:
    """Whether it is a CREATE TABLE with `'transactional' = 'true'`."""
    return isinstance(tree, exp.Create) and any(
        each.name.lower() == TRANSACTIONAL and each.args["value"].name.lower() == "true"
        for each in tree.find_all(exp.Property)
        if isinstance(each.args.get("value"), exp.Expression)
    )


def create_as(cutter: Cutter, tree: exp.Create) -> CreateAs:
    """The plan of the statement. Raises AcidStatementError for clauses that are not supported."""
    source = cutter.source
    if not isinstance(tree.this, exp.Table) or tree.args.get("replace"):
        raise source.error(_FORMS)
    name = tuple(part.name.lower() for part in tree.this.parts)
    made = CreateAs(name, _query(cutter, source, tree), bool(tree.args.get("exists")))
    format, keys, buckets, comment = made.format, made.keys, made.buckets, made.comment
    properties: list[tuple[str, str]] = []
    for each in tree.args["properties"].expressions:
        match each:
            case exp.FileFormatProperty():
                format = each.this.name.lower()
            case exp.PartitionedByProperty() if isinstance(each.this, exp.Schema):
                keys = tuple(_key(source, column) for column in each.this.expressions)
            case exp.ClusteredByProperty() if not each.args.get("sorted_by"):
                buckets = tuple(column.name.lower() for column in each.expressions), int(each.args["buckets"].name)
            case exp.SchemaCommentProperty():
                comment = each.this.name
            case exp.Property() if type(each) is exp.Property:
                properties.append((each.name, each.args["value"].name))
            case _:
                raise source.error(_FORMS)
    return CreateAs(name, made.query, made.if_not_exists, format, keys, buckets, tuple(properties), comment)


def _key(source: Source, column: exp.Expression) -> str:
    if not isinstance(column, exp.Identifier):
        raise source.error("PARTITIONED BY before AS names columns of the query, without types")
    return column.name.lower()


def _query(cutter: Cutter, source: Source, tree: exp.Create) -> Sql:
    end = len(source.tokens)
    for at in source.top_level(0):
        if source.at(at, TokenType.ALIAS) and at + 1 < end:
            text = source.original(at + 1, end)
            if parsed_again(text) == tree.expression:
                return cutter.edited(at + 1, end)
    raise source.error("the query of CREATE TABLE AS could not be separated: write AS before it")

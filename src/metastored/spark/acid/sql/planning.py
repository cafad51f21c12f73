"""What to do with a statement: `plan` decides it from the text and from which tables are ACID tables. Pure.

A statement that reads or writes no rows of an ACID table is Spark's. One that does is planned, or refused with the
reason; it is never given to Spark as it is, because Spark would read and write the table's directory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from metastored.spark.acid.sql import clauses
from metastored.spark.acid.sql.creating import create_as, declares_acid
from metastored.spark.acid.sql.definitions import definition
from metastored.spark.acid.sql.indirection import (
    Evaluate,
    immediate_text,
    immediates,
    is_script,
    only_literals,
    with_names,
)
from metastored.spark.acid.sql.replacing import Views
from metastored.spark.acid.sql.tables import Found, Lookup, Parts, Reference, all_names, indirect, references
from metastored.spark.acid.sql.values import Passed, Plan, Query
from metastored.spark.source import Source, blanked, flat, parsed

METADATA: Final = (exp.Describe, exp.Drop, exp.Alter, exp.Refresh, exp.Uncache, exp.Use, exp.Set, exp.Comment,
                   exp.Grant, exp.Revoke)  # fmt: skip
"""Statements that read and write no rows."""
_COMMANDS: Final = frozenset({"ALTER", "SHOW", "MSCK REPAIR", "GRANT", "REVOKE", "COMMENT", "USE", "ADD", "LIST"})
"""The same, among those that sqlglot does not parse: their first words."""
_EXPLAIN_MODES: Final = frozenset({"EXTENDED", "CODEGEN", "COST", "FORMATTED", "LOGICAL"})
_REFUSED: Final = {
    exp.TruncateTable: "TRUNCATE TABLE of several tables is not supported",
    exp.LoadData: "LOAD DATA is not supported on an ACID table: read the files with Spark and use INSERT INTO",
    exp.Analyze: "ANALYZE TABLE is not supported on an ACID table: Spark would count the rows of its directory. "
    "Use metastored.spark.statistics.analyze",
    exp.Cache: "CACHE TABLE is not supported on an ACID table: cache the DataFrame of a SELECT",
}
_WITH_ROWS: Final = (exp.Query, exp.Values, exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create,
                     exp.MultitableInserts)  # fmt: skip
"""Statements that read or write rows, and can be planned."""


def plan(text: str, lookup: Lookup, prefix: str = "acid", evaluate: Evaluate = only_literals) -> Plan:
    """The plan of a statement. Views are named by the prefix and a number.

    `evaluate` returns the values of the constants in IDENTIFIER(…) and EXECUTE IMMEDIATE. Raises StatementError, with
    the position, for a statement on an ACID table that cannot be carried out, for one that could be on an ACID table,
    and for a text with open quotes. A statement that names no ACID table is Passed, even if it cannot be parsed: Spark
    reports what is wrong with it.
    """
    source = parsed(with_names(text, lookup, evaluate))
    tree = source.tree
    if (inner := _immediate(source, lookup, prefix, evaluate)) is not None:
        return inner
    if isinstance(tree, exp.Command) and tree.name.upper() == "EXPLAIN":
        return _explained(source, lookup, prefix, evaluate)
    if (defined := definition(source, lookup)) is not None:
        return defined
    if tree is None or isinstance(tree, (exp.Alias, exp.Column)) or _is_unknown_command(tree):
        reason = "this statement is not supported" if source.problem is None else source.problem.problem
        _refuse_names(flat(source.text), lookup, reason)
        return Passed()
    if isinstance(tree, (exp.Command, *METADATA)) or (isinstance(tree, exp.Create) and not tree.expression):
        return Passed()
    _refuse_indirect(source, lookup)
    named = references(source)
    tables = lookup(frozenset(each.parts for each in named))
    if not declares_acid(tree) and (not tables or not _is_planned(tree, tables)):
        return Passed()
    return _with_acid(source, tree, [each for each in named if each.parts in tables], tables, Views(lookup, prefix))


def _is_planned(tree: exp.Expression, tables: Mapping[Parts, Found]) -> bool:
    """Whether a statement is not left to Spark. Of those on Lance tables only queries and changes of rows are not.

    A stored view has no rows: Spark checks its names and columns, which are those of the ACID table.
    """
    if isinstance(tree, exp.Create) and tree.kind == "VIEW" and not _is_temporary(tree):
        return False
    if any(not each.lance for each in tables.values()):
        return True
    return isinstance(tree, _WITH_ROWS) and not (isinstance(tree, exp.Create) and tree.kind != "TABLE")


def _is_temporary(tree: exp.Create) -> bool:
    return tree.find(exp.TemporaryProperty, exp.GlobalProperty, exp.MaterializedProperty) is not None


def _is_unknown_command(tree: exp.Expression) -> bool:
    return isinstance(tree, exp.Command) and tree.name.upper() not in _COMMANDS


def _immediate(source: Source, lookup: Lookup, prefix: str, evaluate: Evaluate) -> Plan | None:
    """The plan of EXECUTE IMMEDIATE; None for another statement. In a script, one on an ACID table is refused."""
    if "immediate" not in source.text.lower():
        return None
    words = flat(source.text)
    for index, immediate in immediates(words):
        within = is_script(words) or index > 0
        text = immediate_text(words, immediate, lookup, only_literals if within else evaluate)
        inner = plan(text, lookup, prefix, evaluate)
        if not isinstance(inner, Passed) and (within or not immediate.bare):
            raise words.error(
                "EXECUTE IMMEDIATE with INTO or USING, or in a script, is not supported on an ACID table: give the "
                "values as args= of metastored.spark.sql",
                words.offset(index),
            )
        if not within:
            _refuse_names(words, lookup, "EXECUTE IMMEDIATE reads an ACID table for its values")
            return inner
    return None


def _refuse_names(source: Source, lookup: Lookup, reason: str) -> None:
    names = list(all_names(source))
    tables = lookup(frozenset(parts for parts, _ in names))
    for parts, position in names:
        if parts in tables and not tables[parts].lance:
            raise source.error(f"{reason} (the statement names the ACID table {tables[parts].table})", position)


def _refuse_indirect(source: Source, lookup: Lookup) -> None:
    names = list(indirect(source))
    if not names:
        return
    tables = lookup(frozenset(parts for parts, _ in names))
    for parts, position in names:
        if parts in tables and not tables[parts].lance:
            raise source.error(f"write the ACID table {tables[parts].table} by its name, as in FROM t", position)


def _with_acid(
    source: Source, tree: exp.Expression, named: list[Reference], tables: Mapping[Parts, Found], views: Views
) -> Plan:
    start = named[0].start if named else 0
    for kind, reason in _REFUSED.items():
        if isinstance(tree, kind):
            raise source.error(reason, start)
    if isinstance(tree, exp.Create) and tree.kind != "TABLE":
        raise source.error(
            f"CREATE {tree.kind} is not supported on an ACID table: metastored.spark.acid.view makes a temporary view "
            "at a snapshot, and CREATE VIEW a stored one",
            start,
        )
    targets = _targets(tree)
    read = [each for each in named if not any(each.node is target for target in targets)]
    views.replace(source, read, tables)
    cutter = clauses.Cutter(source, views.all)
    if isinstance(tree, exp.Create) and declares_acid(tree):
        return create_as(cutter, tree)
    written = {id(each.node): each for each in named if any(each.node is one for one in targets)}
    if not written:
        if not isinstance(tree, _WITH_ROWS):
            raise source.error("this statement is not supported on an ACID table", start)
        return Query(cutter.edited(0, len(source.tokens)), command=not isinstance(tree, (exp.Query, exp.Values)))
    target = next(iter(written.values()))
    for each in written.values():
        if tables[each.parts].view is not None:
            raise source.error(f"{tables[each.parts].name} is a view: write to its table", each.start)
        if tables[each.parts].lance:
            table = tables[each.parts].table
            raise source.error(f"{table} is a Lance table: write it by metastored.spark.lance.write", each.start)
    table = tables[target.parts].table
    match tree:
        case exp.Insert():
            return clauses.insert(cutter, tree, table)
        case exp.Update():
            return clauses.update(cutter, tree, table)
        case exp.Delete():
            return clauses.delete(cutter, tree, table)
        case exp.Merge():
            return clauses.merge(cutter, tree, table)
        case exp.MultitableInserts():
            others = [each for each in targets if id(each) not in written]
            if others:
                raise source.error(
                    "INSERTs into ACID tables and into other tables in one statement are not supported: they are no "
                    "transaction",
                    target.start,
                )
            return clauses.inserts(cutter, tree, [tables[written[id(each)].parts].table for each in targets])
    raise source.error("this statement is not supported on an ACID table", target.start)


def _targets(tree: exp.Expression) -> list[exp.Expression]:
    """The tables that a statement writes."""
    if isinstance(tree, exp.MultitableInserts):
        return [table for each in tree.expressions for table in _targets(each)]
    if isinstance(tree, (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create)):
        return [tree.this.this if isinstance(tree.this, exp.Schema) else tree.this]
    return []


def _explained(source: Source, lookup: Lookup, prefix: str, evaluate: Evaluate) -> Plan:
    """EXPLAIN of a query at a snapshot. sqlglot does not parse EXPLAIN: its words become blanks."""
    index = 1
    while index < len(source.tokens) and source.tokens[index].text.upper() in _EXPLAIN_MODES:
        index += 1
    if index == len(source.tokens):
        return Passed()
    end = source.offset(index)
    inner = plan(blanked(source.text, end), lookup, prefix, evaluate)
    if isinstance(inner, Passed):
        return inner
    if not isinstance(inner, Query) or inner.command:
        raise source.error("EXPLAIN is supported for queries on ACID tables only", end)
    words = source.text[source.offset(0) : end]
    return Query(type(inner.sql)(words + inner.sql.text, inner.sql.views), command=False)

"""What to do with a statement: `plan` decides it from the text and from which tables are ACID tables. Pure.

A statement that reads or writes no rows of an ACID table is Spark's. One that does is planned, or refused with the
reason; it is never given to Spark as it is, because Spark would read and write the table's directory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from metastored.model.acid import TRANSACTIONAL
from metastored.spark.acid_sql import clauses
from metastored.spark.acid_sql.tables import Found, Lookup, Parts, Reference, all_names, indirect, references
from metastored.spark.acid_sql.values import Passed, Plan, Query, View
from metastored.spark.source import Edit, Source, blanked, parsed

METADATA: Final = (exp.Describe, exp.Drop, exp.Alter, exp.Refresh, exp.Uncache, exp.Use, exp.Set, exp.Comment,
                   exp.Grant, exp.Revoke)  # fmt: skip
"""Statements that read and write no rows."""
_COMMANDS: Final = frozenset({"ALTER", "SHOW", "MSCK REPAIR", "GRANT", "REVOKE", "COMMENT", "USE", "ADD", "LIST"})
"""The same, among those that sqlglot does not parse: their first words."""
_EXPLAIN_MODES: Final = frozenset({"EXTENDED", "CODEGEN", "COST", "FORMATTED", "LOGICAL"})
_REFUSED: Final = {
    exp.TruncateTable: "TRUNCATE TABLE is not supported on an ACID table: use DELETE FROM",
    exp.LoadData: "LOAD DATA is not supported on an ACID table: read the files with Spark and use INSERT INTO",
    exp.Analyze: "ANALYZE TABLE is not supported on an ACID table: Spark would count the rows of its directory",
    exp.Cache: "CACHE TABLE is not supported on an ACID table: cache the DataFrame of a SELECT",
}
_WITH_ROWS: Final = (exp.Query, exp.Values, exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create,
                     exp.MultitableInserts)  # fmt: skip
"""Statements that read or write rows, and can be planned."""
_VIEW: Final = "a view on an ACID table is not supported: metastored.spark.acid.view makes a temporary one"


def plan(text: str, lookup: Lookup, prefix: str = "acid") -> Plan:
    """The plan of a statement. Views are named by the prefix and a number.

    Raises StatementError, with the position, for a statement on an ACID table that cannot be carried out, and for a
    text with open quotes. A statement that names no ACID table is Passed, even if it cannot be parsed: Spark reports
    what is wrong with it.
    """
    source = parsed(text)
    tree = source.tree
    if isinstance(tree, exp.Command) and tree.name.upper() == "EXPLAIN":
        return _explained(source, lookup, prefix)
    if tree is None or isinstance(tree, (exp.Alias, exp.Column)) or _is_unknown_command(tree):
        reason = "this statement is not supported" if source.problem is None else source.problem.problem
        _refuse_names(source, lookup, reason)
        return Passed()
    if isinstance(tree, exp.Command) and (compact := clauses.compact(source, lookup)) is not None:
        return compact
    if isinstance(tree, (exp.Command, *METADATA)) or (isinstance(tree, exp.Create) and not tree.expression):
        return Passed()
    _refuse_indirect(source, lookup)
    named = references(source)
    found = lookup(frozenset(each.parts for each in named))
    if not found or not _is_planned(tree, found):
        return _without_acid(source, tree)
    return _with_acid(source, tree, [each for each in named if each.parts in found], found, prefix)


def _is_planned(tree: exp.Expression, found: Mapping[Parts, Found]) -> bool:
    """Whether a statement is not left to Spark. Of those on Lance tables only queries and changes of rows are not."""
    if any(not each.lance for each in found.values()):
        return True
    return isinstance(tree, _WITH_ROWS) and not (isinstance(tree, exp.Create) and tree.kind != "TABLE")


def _is_unknown_command(tree: exp.Expression) -> bool:
    return isinstance(tree, exp.Command) and tree.name.upper() not in _COMMANDS


def _refuse_names(source: Source, lookup: Lookup, reason: str) -> None:
    names = list(all_names(source))
    found = lookup(frozenset(parts for parts, _ in names))
    for parts, position in names:
        if parts in found and not found[parts].lance:
            raise source.error(f"{reason} (the statement names the ACID table {found[parts].table})", position)


def _refuse_indirect(source: Source, lookup: Lookup) -> None:
    names = list(indirect(source))
    if not names:
        return
    found = lookup(frozenset(parts for parts, _ in names))
    for parts, position in names:
        if parts in found and not found[parts].lance:
            raise source.error(f"write the ACID table {found[parts].table} by its name, as in FROM t", position)


def _without_acid(source: Source, tree: exp.Expression) -> Passed:
    if isinstance(tree, exp.Create) and tree.kind == "TABLE" and tree.expression and _declares_acid(tree):
        raise source.error(
            "CREATE TABLE AS makes no ACID table: Spark would write plain files. Create the table, then INSERT INTO it"
        )
    return Passed()


def _declares_acid(tree: exp.Create) -> bool:
    return any(
        each.name.lower() == TRANSACTIONAL and each.args["value"].name.lower() == "true"
        for each in tree.find_all(exp.Property)
        if isinstance(each.args.get("value"), exp.Expression)
    )


def _with_acid(
    source: Source, tree: exp.Expression, named: list[Reference], found: Mapping[Parts, Found], prefix: str
) -> Plan:
    first = named[0]
    for kind, reason in _REFUSED.items():
        if isinstance(tree, kind):
            raise source.error(reason, first.start)
    if isinstance(tree, exp.Create):
        if tree.kind != "TABLE":
            raise source.error(_VIEW, first.start)
        _without_acid(source, tree)
    for each in named:
        if found[each.parts].view:
            raise source.error(
                f"the view {'.'.join(each.parts)} reads the ACID table {found[each.parts].table}: "
                "Spark would read its directory. Select from the table itself",
                each.start,
            )
    targets = _targets(tree)
    read = [each for each in named if not any(each.node is target for target in targets)]
    views = _views(read, found, prefix)
    _replace(source, read, found, views)
    cutter = clauses.Cutter(source, list(views.values()))
    target = next((each for each in named if any(each.node is one for one in targets)), None)
    if target is None:
        command = not isinstance(tree, (exp.Query, exp.Values))
        if not isinstance(tree, _WITH_ROWS):
            raise source.error("this statement is not supported on an ACID table", first.start)
        return Query(cutter.edited(0, len(source.tokens)), command)
    table = found[target.parts].table
    if found[target.parts].lance:
        raise source.error(f"{table} is a Lance table: write it by metastored.spark.lance.write", target.start)
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
            raise source.error("several INSERTs into ACID tables in one statement are not supported", target.start)
    raise source.error("this statement is not supported on an ACID table", target.start)


def _targets(tree: exp.Expression) -> list[exp.Expression]:
    """The tables that a statement writes."""
    if isinstance(tree, exp.MultitableInserts):
        return [table for each in tree.expressions for table in _targets(each)]
    if isinstance(tree, (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create)):
        return [tree.this.this if isinstance(tree.this, exp.Schema) else tree.this]
    return []


def _views(read: list[Reference], found: Mapping[Parts, Found], prefix: str) -> dict[str, View]:
    """One view for each table, by the table's name."""
    tables = dict.fromkeys((found[each.parts].table, found[each.parts].lance) for each in read)
    return {str(table): View(f"{prefix}_{number}", table, lance) for number, (table, lance) in enumerate(tables)}


def _replace(source: Source, read: list[Reference], found: Mapping[Parts, Found], views: Mapping[str, View]) -> None:
    """Puts the views in the place of the tables. They have the tables' names as aliases if they have no others."""
    for each in read:
        if each.node.args.get("version") is not None:
            kind = "a Lance table" if found[each.parts].lance else "an ACID table"
            raise source.error(f"{kind} has no versions in SQL: a statement reads the newest snapshot", each.start)
        name = views[str(found[each.parts].table)].name
        if isinstance(each.node.parent, exp.Insert) and each.node.arg_key == "source":
            text = name  # INSERT INTO … TABLE t
        elif each.node.args.get("sample") is not None:
            text = f"({name} AS {each.simple})"  # Spark has the sample before an alias.
        elif each.node.args.get("alias") is not None:
            text = name
        else:
            text = f"{name} AS {each.simple}"
        source.edits.append(Edit(each.start, each.end, text))
    _unqualify(source, read, found)


def _unqualify(source: Source, tables: list[Reference], found: Mapping[Parts, Found]) -> None:
    """Shortens the columns `db.t.c` of tables without an alias to `t.c`: their databases are not known to Spark."""
    full = {
        (found[each.parts].table.database, found[each.parts].table.table)
        for each in tables
        if each.node.args.get("alias") is None
    }
    assert source.tree is not None
    for column in source.tree.find_all(exp.Column):
        names = [part.name.lower() for part in column.parts]
        for at in (0, 1):
            if tuple(names[at : at + 2]) in full and names[:at] in ([], ["spark_catalog"]) and len(names) > at + 2:
                start, stop = column.parts[0].meta["start"], column.parts[at + 1].meta["start"]
                edit = Edit(start, stop, "")
                if edit not in source.edits:
                    source.edits.append(edit)


def _explained(source: Source, lookup: Lookup, prefix: str) -> Plan:
    """EXPLAIN of a query at a snapshot. sqlglot does not parse EXPLAIN: its words become blanks."""
    index = 1
    while index < len(source.tokens) and source.tokens[index].text.upper() in _EXPLAIN_MODES:
        index += 1
    if index == len(source.tokens):
        return Passed()
    end = source.offset(index)
    inner = plan(blanked(source.text, end), lookup, prefix)
    if isinstance(inner, Passed):
        return inner
    if not isinstance(inner, Query) or inner.command:
        raise source.error("EXPLAIN is supported for queries on ACID tables only", end)
    words = source.text[source.offset(0) : end]
    return Query(type(inner.sql)(words + inner.sql.text, inner.sql.views), command=False)

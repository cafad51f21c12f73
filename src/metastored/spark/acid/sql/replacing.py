"""Temporary views in the place of ACID tables, in the text of a statement. Pure.

A table at a version (`VERSION AS OF 7`) has a view of its own. A stored view becomes a temporary one, whose query is
treated in the same way: its names are those of the database in which it was created, whatever the current one is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import TokenType, exp

from metastored.model.names import TableName
from metastored.spark.acid.sql.tables import Definition, Found, Lookup, Parts, Reference, indirect, references
from metastored.spark.acid.sql.values import Sql, Stored, View
from metastored.spark.source import Edit, Source, parsed

DEEPEST: Final = 100
"""The number of views that can be nested, as in Spark."""


class Views:
    """The temporary views of one statement, named by a prefix and a number."""

    def __init__(self, lookup: Lookup, prefix: str) -> None:
        self.all: list[View] = []
        self._lookup = lookup
        self._prefix = prefix
        self._names: dict[tuple[TableName, int | None], View] = {}

    def replace(self, source: Source, read: Sequence[Reference], tables: Mapping[Parts, Found]) -> None:
        """Puts views in the place of tables. They have the tables' names as aliases if they have no others."""
        for each in read:
            version, end = _version(source, each, tables[each.parts])
            name = self._view(source, each, tables[each.parts], version, 0).name
            source.edits.append(Edit(each.start, end, _reference(each, name)))
        _unqualify(source, read, tables)

    def _view(self, source: Source, each: Reference, table: Found, version: int | None, depth: int) -> View:
        key = table.name, version
        if key not in self._names:
            stored = None if table.view is None else self._stored(source, each, table.view, depth)
            name = f"{self._prefix}_{len(self.all)}"
            view = View(name, table.name, table.lance, version, stored)
            self._names[key] = view
            self.all.append(view)
        return self._names[key]

    def _stored(self, source: Source, each: Reference, view: Definition, depth: int) -> Stored:
        """The query of a stored view. An error has the position of the view's name in the statement."""
        inner = parsed(view.text)
        if inner.tree is None or any(indirect(inner)) or depth > DEEPEST:
            raise source.error(
                f"the query of the view {view.name} cannot be read, and it names an ACID table: select from the table",
                each.start,
            )
        named = references(inner)
        full = {ref.parts: _within(view, ref.parts) for ref in named}
        tables = self._lookup(frozenset(full.values()))
        acid = [ref for ref in named if full[ref.parts] in tables]
        for ref in named:
            if ref in acid:
                version, end = _version(inner, ref, tables[full[ref.parts]])
                name = self._view(source, each, tables[full[ref.parts]], version, depth + 1).name
                inner.edits.append(Edit(ref.start, end, _reference(ref, name)))
            elif len(ref.parts) == 1:
                prefix = "".join(f"`{part.replace('`', '``')}`." for part in (view.catalog, view.database))
                inner.edits.append(Edit(ref.start, ref.start, prefix))
        _unqualify(inner, acid, {ref.parts: tables[full[ref.parts]] for ref in acid})
        text = inner.cut(0, len(inner.tokens))
        return Stored(Sql(text, self.named(text)), view.columns, view.outputs)

    def named(self, text: str) -> tuple[View, ...]:
        """The views that a text names."""
        return tuple(view for view in self.all if view.name in text)


def _within(view: Definition, parts: Parts) -> Parts:
    """A name in the query of a view, in all its parts: no temporary view of the session has it."""
    return (*(view.catalog, view.database)[: 3 - len(parts)], *parts) if len(parts) < 3 else parts


def _reference(each: Reference, name: str) -> str:
    if isinstance(each.node.parent, exp.Insert) and each.node.arg_key == "source":
        return name  # INSERT INTO … TABLE t
    if each.node.args.get("sample") is not None:
        return f"({name} AS {each.simple})"  # Spark has the sample before an alias.
    return name if each.node.args.get("alias") is not None else f"{name} AS {each.simple}"


def _version(source: Source, each: Reference, table: Found) -> tuple[int | None, int]:
    """The write id of `VERSION AS OF`, and the end of the reference with it."""
    node = each.node.args.get("version")
    if node is None:
        return None, each.end
    if table.lance:
        raise source.error("a Lance table has no versions in SQL: a statement reads the newest one", each.start)
    if table.view is not None:
        raise source.error("a view has no versions: write VERSION AS OF after the tables of its query", each.start)
    if node.name.upper() != "VERSION":
        raise source.error(
            "TIMESTAMP AS OF is not supported on an ACID table: the metastore does not store when a write id was "
            "committed. Write VERSION AS OF and a write id",
            each.start,
        )
    value = node.expression
    if not isinstance(value, exp.Literal) or not value.name.isdigit():
        raise source.error("VERSION AS OF has a write id of the table, as a number", each.start)
    last = next(at for at, token in enumerate(source.tokens) if token.start >= each.end)
    last = next(at for at in range(last, len(source.tokens)) if source.tokens[at].text == value.name)
    if not source.at(last, TokenType.NUMBER, TokenType.STRING):
        raise source.error("the position of the version is unknown", each.start)
    return int(value.name), source.tokens[last].end + 1


def _unqualify(source: Source, tables: Sequence[Reference], known: Mapping[Parts, Found]) -> None:
    """Shortens the columns `db.t.c` of tables without an alias to `t.c`: their databases are not known to Spark."""
    full = {
        (known[each.parts].name.database, known[each.parts].name.table)
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

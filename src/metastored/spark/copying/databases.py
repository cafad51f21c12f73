"""Copies a whole database: its tables, then its views in the order of their dependencies.

In the texts of views, names of the source database are replaced by those of the target, by their positions. Names of
other databases stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from metastored.client._sync.client import Client
from metastored.errors import MissingExtra, StatementError
from metastored.hive.quoting import backquoted
from metastored.model.kinds import is_any_view, is_materialized_view
from metastored.model.names import DatabaseName, TableName
from metastored.spark.copying.results import CopyResult, DatabaseCopyResult
from metastored.wire.generated.common import Table
from metastored.wire.structs import replace

_NAMESPACE = "view.catalogAndNamespace.part."


def copy_all(
    client: Client,
    source: DatabaseName,
    target: DatabaseName,
    copy_table: Callable[[TableName, TableName], CopyResult],
) -> DatabaseCopyResult:
    """Copies every table by `copy_table`, and all views. The target database is created if it does not exist.

    Materialized views are skipped: their rows are made by the engine that made them.
    """
    client.create_database(str(target), if_not_exists=True)
    objects = list(client.table_objects(str(source)))
    views = {str(each.tableName): each for each in objects if is_any_view(each)}
    tables = sorted(str(each.tableName) for each in objects if not is_any_view(each))
    copied = tuple(copy_table(source.table(name), target.table(name)) for name in tables)
    written = [
        name
        for name in in_order({name: each for name, each in views.items() if not is_materialized_view(each)}, source)
        if _put_view(client, views[name], source, target)
    ]
    return DatabaseCopyResult(source, target, copied, tuple(written))


def in_order(views: Mapping[str, Table], database: DatabaseName) -> list[str]:
    """The names of views so that each comes after those that it reads."""
    needs = {name: sorted(_read_by(view, database) & set(views)) for name, view in views.items()}
    names: list[str] = []

    def add(name: str, above: frozenset[str]) -> None:
        if name in names or name in above:
            return
        for each in needs[name]:
            add(each, above | {name})
        names.append(name)

    for name in sorted(views):
        add(name, frozenset())
    return names


def _read_by(view: Table, database: DatabaseName) -> set[str]:
    """The tables and views of a database that a view reads."""
    return {parts[-1] for parts, _, _ in _references(_text(view)) if len(parts) == 1 or parts[-2] == database.database}


def renamed(text: str, old: str, new: str) -> str:
    """The text of a view with the name of a database replaced."""
    for parts, start, end in reversed(_references(text)):
        if len(parts) > 1 and parts[-2] == old.lower():
            text = f"{text[:start]}`{new}`.{backquoted(parts[-1])}{text[end:]}"
    return text


def _references(text: str) -> list[tuple[tuple[str, ...], int, int]]:
    try:
        from metastored.spark.acid.sql.tables import references
        from metastored.spark.source import parsed
    except ImportError:
        raise MissingExtra("a copy of views", "spark") from None
    source = parsed(text)
    if source.tree is None:
        raise source.problem or StatementError("the text of a view cannot be parsed", 1, 1)
    return sorted(((each.parts, each.start, each.end) for each in references(source)), key=lambda each: each[1])


def _text(view: Table) -> str:
    return view.viewExpandedText or view.viewOriginalText or ""


def _put_view(client: Client, view: Table, source: DatabaseName, target: DatabaseName) -> bool:
    """Creates or changes a view. Returns False if it is there already."""
    old, new = source.database, target.database
    parameters = {
        key: new if key.startswith(_NAMESPACE) and value == old else value
        for key, value in (view.parameters or {}).items()
        if key != "transient_lastDdlTime"
    }
    made = replace(
        view,
        dbName=new,
        catName=target.catalog_field,
        viewOriginalText=renamed(view.viewOriginalText, old, new) if view.viewOriginalText else None,
        viewExpandedText=renamed(view.viewExpandedText, old, new) if view.viewExpandedText else None,
        parameters=parameters,
        privileges=None,
        id=None,
        colStats=None,
    )
    name = target.table(str(view.tableName))
    if not client.table_exists(name):
        client.create_table(made)
        return True
    there = client.fresh_table(name)
    same = (there.viewExpandedText, there.viewOriginalText) == (made.viewExpandedText, made.viewOriginalText)
    if not same:
        client.alter(name, made)
    return not same

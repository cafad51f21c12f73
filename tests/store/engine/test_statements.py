"""Statements: their notation, and that both databases accept every statement of the package."""

import importlib
import pkgutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, product
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest

import metastored.store
from metastored.store.engine import copying, schema
from metastored.store.engine.creating import creation, table_names
from metastored.store.engine.migrate import creation_statements
from metastored.store.engine.pipeline import _Prepared
from metastored.store.engine.statements import (
    POSTGRESQL,
    SQLITE,
    Statement,
    assigned,
    column_list,
    insert_into,
)
from metastored.store.objects import column_statistics, constraints, events, partitions
from metastored.store.transactions import resources

# --- the notation ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sqlite", "postgresql", "numbered", "names"),
    [
        (
            "SELECT a FROM t WHERE b = :b AND c < :c_1",
            "SELECT a FROM t WHERE b = :b AND c < :c_1",
            "SELECT a FROM t WHERE b = %(b)s AND c < %(c_1)s",
            "SELECT a FROM t WHERE b = $1 AND c < $2",
            ("b", "c_1"),
        ),
        (
            "SELECT :a, :b, :a",
            "SELECT :a, :b, :a",
            "SELECT %(a)s, %(b)s, %(a)s",
            "SELECT $1, $2, $1",
            ("a", "b"),
        ),
        (
            "SELECT a FROM t WHERE b IN :b AND c NOT IN :c",
            "SELECT a FROM t WHERE b IN (SELECT value FROM json_each(:b))"
            " AND c NOT IN (SELECT value FROM json_each(:c))",
            "SELECT a FROM t WHERE b = ANY(%(b)s) AND c <> ALL(%(c)s)",
            "SELECT a FROM t WHERE b = ANY($1) AND c <> ALL($2)",
            ("b", "c"),
        ),
        (
            "SELECT a FROM t WHERE b IN ('x', 'y') AND c IN (SELECT d FROM u)",
            "SELECT a FROM t WHERE b IN ('x', 'y') AND c IN (SELECT d FROM u)",
            "SELECT a FROM t WHERE b IN ('x', 'y') AND c IN (SELECT d FROM u)",
            "SELECT a FROM t WHERE b IN ('x', 'y') AND c IN (SELECT d FROM u)",
            (),
        ),
        (
            "SELECT a FROM t ORDER BY a LIMIT :limit FOR UPDATE SKIP LOCKED",
            "SELECT a FROM t ORDER BY a LIMIT :limit",
            "SELECT a FROM t ORDER BY a LIMIT %(limit)s FOR UPDATE SKIP LOCKED",
            "SELECT a FROM t ORDER BY a LIMIT $1 FOR UPDATE SKIP LOCKED",
            ("limit",),
        ),
        (
            "SELECT a FROM t FOR SHARE",
            "SELECT a FROM t",
            "SELECT a FROM t FOR SHARE",
            "SELECT a FROM t FOR SHARE",
            (),
        ),
        (
            "SELECT a % 2 FROM t WHERE b LIKE '%x'",
            "SELECT a % 2 FROM t WHERE b LIKE '%x'",
            "SELECT a %% 2 FROM t WHERE b LIKE '%%x'",
            "SELECT a % 2 FROM t WHERE b LIKE '%x'",
            (),
        ),
        (
            """SELECT ':a  IN :b', 'it''s :c FOR UPDATE', "x :d", a::text""",
            """SELECT ':a  IN :b', 'it''s :c FOR UPDATE', "x :d", a::text""",
            """SELECT ':a  IN :b', 'it''s :c FOR UPDATE', "x :d", a::text""",
            """SELECT ':a  IN :b', 'it''s :c FOR UPDATE', "x :d", a::text""",
            (),
        ),
        (
            """
            SELECT a
            FROM t
            """,
            "SELECT a FROM t",
            "SELECT a FROM t",
            "SELECT a FROM t",
            (),
        ),
    ],
    ids=["names", "twice", "lists", "other lists", "row locks", "shared locks", "percent", "quoted", "lines"],
)
def test_a_statement_is_written_for_each_driver(
    text: str, sqlite: str, postgresql: str, numbered: str, names: tuple[str, ...]
) -> None:
    statement = Statement(text)
    assert statement.sqlite == sqlite
    assert statement.postgresql.decode() == postgresql
    assert statement.numbered == (numbered.encode(), names)


def test_parameters_with_positions_have_no_names() -> None:
    statement = Statement("UPDATE t SET a = :a WHERE b IN :b", positions=("a", "b"))
    assert statement.sqlite == "UPDATE t SET a = ? WHERE b IN (SELECT value FROM json_each(?))"
    assert statement.postgresql == b"UPDATE t SET a = %s WHERE b = ANY(%s)"


@pytest.mark.parametrize("positions", [("b", "a"), ("a",), ("a", "b", "c"), ()])
def test_positions_that_are_not_those_of_the_text_are_refused(positions: tuple[str, ...]) -> None:
    statement = Statement("UPDATE t SET a = :a WHERE b = :b", positions=positions)
    with pytest.raises(ValueError, match=r"has the parameters \('a', 'b'\) in this order"):
        _ = statement.sqlite
    with pytest.raises(ValueError, match=r"has the parameters \('a', 'b'\) in this order"):
        _ = statement.postgresql


def test_a_function_returns_the_text_where_the_databases_differ() -> None:
    statement = Statement(lambda dialect: f"SELECT '{dialect}', :a")
    assert statement.sqlite == "SELECT 'sqlite', :a"
    assert statement.postgresql == b"SELECT 'postgresql', %(a)s"
    assert statement.numbered == (b"SELECT 'postgresql', $1", ("a",))


def test_parts_of_a_text_follow_from_the_names_of_columns() -> None:
    assert column_list("a", "end") == 'a, "end"'
    assert column_list("a", "end", of="t") == 't.a, t."end"'
    assert insert_into("t", "a", "end") == 'INSERT INTO t (a, "end") VALUES (:a, :end)'
    assert assigned("a", "end") == 'a = :a, "end" = :end'


# --- every statement of the package ---------------------------------------------------------------------------------

_BOTH = (False, True)
_WHERE = "v1 = :f0 AND v2 IN :f1"


def _subsets(items: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return (chosen for number in range(len(items) + 1) for chosen in combinations(items, number))


_FIELDS = tuple(map(frozenset, _subsets(("cat", "db", "tables", "types", "not_types", "until", "and_nameless"))))
_FILTERS = tuple(_subsets(tuple(sorted(constraints._FILTERS))))

_BUILDERS: dict[Callable[..., Any], list[tuple[Any, ...]]] = {
    copying._all: [(table,) for table in schema.metadata.sorted_tables],
    column_statistics._read: list(product(_BOTH, _BOTH)),
    column_statistics._write: [(each,) for each in _BOTH],
    column_statistics._delete: list(product(_BOTH, _BOTH, _BOTH)),
    constraints._foreign_keys: [(filters,) for filters in _FILTERS],
    events._since: [(fields,) for fields in _FIELDS],
    events._ids_since: [(fields,) for fields in _FIELDS],
    events._count: [(fields,) for fields in _FIELDS],
    partitions._matching: [
        (columns, _WHERE, ordered) for columns in ("name", partitions._COLUMNS) for ordered in _BOTH
    ],
    partitions._count_matching: [(_WHERE,)],
    partitions._sizes: list(product((None, _WHERE), _BOTH)),
}
"""The functions that make statements when they are called, with all of their arguments."""

_OF_ONE_DATABASE = {
    "diagnosis._INTEGRITY": SQLITE,
    "diagnosis._REFERENCES": SQLITE,
    "engine.postgresql._TIME": POSTGRESQL,
}


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(metastored.store.__path__, "metastored.store."):
        if ".migrations" not in found.name:
            yield importlib.import_module(found.name)


def _inside(name: str, value: object) -> Iterator[tuple[str, Statement]]:
    if isinstance(value, Statement):
        yield name, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _inside(f"{name}[{key!r}]", item)
    elif isinstance(value, (tuple, list)):
        for number, item in enumerate(value):
            yield from _inside(f"{name}[{number}]", item)
    elif isinstance(value, partitions._Shared):
        yield from _inside(name, vars(value))


def _statements(dialect: str) -> dict[str, Statement]:
    """All statements of the package for a database, by the names of their variables."""
    found: dict[str, Statement] = {}
    for module in _modules():
        prefix = module.__name__.removeprefix("metastored.store.")
        for name, value in vars(module).items():
            found |= _inside(f"{prefix}.{name}", value)
    for function, calls in _BUILDERS.items():
        for args in calls:
            found |= _inside(f"{function.__qualname__}{args}", function(*args))
    return {name: each for name, each in found.items() if _OF_ONE_DATABASE.get(name, dialect) == dialect}


def test_every_function_that_makes_statements_is_in_the_list_of_this_test() -> None:
    makers = {
        f"{module.__name__}.{name}"
        for module in _modules()
        for name, value in vars(module).items()
        if "Statement" in str(getattr(value, "__annotations__", {}).get("return"))
    }
    known = {f"{function.__module__}.{function.__qualname__}" for function in _BUILDERS}
    # Results of the first are constants; the second returns a statement that it got.
    others = {"metastored.store.warehouse.occupied._containing", "metastored.store.engine.libpq._with_values"}
    assert makers == known | others


def _sqlite_accepts(connection: sqlite3.Connection, statement: Statement) -> None:
    names = statement.numbered.names
    positions = statement._positions
    connection.execute(
        f"EXPLAIN {statement.sqlite}", dict.fromkeys(names) if positions is None else [None] * len(names)
    )


def test_sqlite_accepts_every_statement() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for text in creation_statements(SQLITE):
        connection.execute(text)
    statements = _statements(SQLITE)
    assert len(statements) > 600
    for name, statement in statements.items():
        try:
            _sqlite_accepts(connection, statement)
        except sqlite3.Error as error:
            pytest.fail(f"{name}: {error}: {statement.sqlite}")
    with pytest.raises(sqlite3.OperationalError, match="no such column: nmae"):
        _sqlite_accepts(connection, Statement("SELECT nmae FROM tables"))
    connection.close()


def _postgresql_accepts(connection: "psycopg.Connection[Any]", statement: Statement) -> None:
    # As the pipeline of the event loop prepares it, and without: it sends no types of parameters.
    for text in {statement.numbered.text, statement.of_one.numbered.text, _Prepared(b"", statement).text}:
        connection.execute(b"PREPARE this AS " + text)
        connection.execute(b"DEALLOCATE this")


@pytest.mark.postgres
@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_postgresql_accepts_every_statement(place: tuple[str, Path | None]) -> None:
    statements = _statements(POSTGRESQL)
    assert len(statements) > 600
    with psycopg.connect(place[0], autocommit=True) as connection:
        for name, statement in statements.items():
            try:
                _postgresql_accepts(connection, statement)
            except psycopg.Error as error:
                pytest.fail(f"{name}: {error}: {statement.numbered.text.decode()}")
        with pytest.raises(psycopg.errors.UndefinedColumn, match="nmae"):
            _postgresql_accepts(connection, Statement("SELECT nmae FROM tables"))


# --- tables ---------------------------------------------------------------------------------------------------------


def test_the_names_of_tables_are_those_of_the_schema_in_an_order_in_which_they_can_be_made() -> None:
    assert list(table_names()) == [table.name for table in schema.metadata.sorted_tables]


@pytest.mark.parametrize("dialect", [SQLITE, POSTGRESQL])
def test_a_table_is_created_by_one_statement(dialect: str) -> None:
    created = [text for text in creation(dialect) if text.startswith("CREATE TABLE")]
    assert len(created) == len(schema.metadata.tables)
    assert not any(";" in text or "--" in text for text in creation(dialect))


def test_a_rename_updates_every_table_that_names_tables_or_partitions() -> None:
    naming = {
        name: table for name, table in schema.metadata.tables.items() if {"cat", "db", "tbl"} <= {*table.c.keys()}
    }
    naming.pop("events")  # The log of what happened, which does not change.
    assert set(resources._NAMING) == naming.keys()
    assert set(resources._WITH_PARTITIONS) == {name for name, table in naming.items() if "part" in table.c}

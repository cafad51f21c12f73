"""Statements by libpq's own calls give what psycopg's cursors give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.store.engine import libpq
from metastored.store.engine.libpq import Executor, Unsendable, encoded
from metastored.store.engine.statements import Statement
from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.postgres

COLUMNS = "number bigint, name text, body bytea, flag boolean, small integer"
INSERT = Statement("INSERT INTO t VALUES (:number, :name, :body, :flag, :small)")
ALL = Statement("SELECT * FROM t ORDER BY number")
NAMED = Statement("SELECT number FROM t WHERE name = ANY(:names) ORDER BY number")
NUMBERED = Statement("SELECT name FROM t WHERE number = ANY(:numbers) ORDER BY number")

text = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=20)
hostile = st.sampled_from(
    ["", "NULL", "null", '"', "\\", '\\"', "{", "}", ",", "a,b", " ", "'; DROP TABLE t; --", "$1", "%s"]
)
names = text | hostile


@pytest.fixture(scope="module")
def connection(postgres: PostgresServer) -> Iterator[psycopg.Connection[Any]]:
    with postgres.database() as url, psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection:
        connection.execute(f"CREATE TABLE t ({COLUMNS})".encode())
        yield connection


@pytest.fixture
def executor(connection: psycopg.Connection[Any]) -> Executor:
    connection.execute("DEALLOCATE ALL")
    connection.execute("TRUNCATE t")
    return Executor(connection)


def prepared(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
    assert row is not None
    return int(row[0])


@given(
    st.integers(-(2**63), 2**63 - 1) | st.none(),
    names | st.none(),
    st.binary(max_size=20) | st.none(),
    st.booleans() | st.none(),
    st.integers(-(2**31), 2**31 - 1) | st.none(),
)
def test_values_come_back_as_they_were_sent(
    connection: psycopg.Connection[Any],
    number: int | None,
    name: str | None,
    body: bytes | None,
    flag: bool | None,
    small: int | None,
) -> None:
    executor = Executor(connection, prepares=False)
    connection.execute("TRUNCATE t")
    row = {"number": number, "name": name, "body": body, "flag": flag, "small": small}
    assert executor.changes(INSERT, row) == 1
    assert (
        executor.rows(ALL, {}) == connection.execute("SELECT * FROM t", binary=True).fetchall() == [tuple(row.values())]
    )


@given(st.lists(names, max_size=6, unique=True), st.lists(names, max_size=6))
def test_a_list_finds_exactly_its_members(
    connection: psycopg.Connection[Any], stored: list[str], wanted: list[str]
) -> None:
    executor = Executor(connection, prepares=False)
    connection.execute("TRUNCATE t")
    for number, name in enumerate(stored):
        executor.changes(INSERT, {"number": number, "name": name, "body": None, "flag": None, "small": None})
    assert executor.rows(NAMED, {"names": wanted}) == [(at,) for at, name in enumerate(stored) if name in wanted]
    numbers = [at for at, name in enumerate(stored) if name in wanted]
    assert executor.rows(NUMBERED, {"numbers": numbers}) == [(stored[at],) for at in numbers]


@pytest.mark.parametrize("value", ["a\0b", ["a\0b"], [1, "a"], [None], [b"x"], [True], 1.5, bytearray(b"x")], ids=repr)
def test_a_value_that_cannot_be_sent_exactly_is_left_to_psycopg(value: object) -> None:
    with pytest.raises(Unsendable):
        encoded([value])


def test_psycopg_refuses_a_nul_and_takes_other_types(executor: Executor, connection: psycopg.Connection[Any]) -> None:
    row = {"number": 1, "name": "a\0b", "body": None, "flag": None, "small": None}
    with pytest.raises(psycopg.DataError, match="NUL"):
        executor.changes(INSERT, row)
    assert executor.changes(INSERT, {**row, "name": "a", "body": bytearray(b"x")}) == 1
    assert executor.rows(ALL, {}) == [(1, "a", b"x", None, None)]


def test_a_row_may_be_a_tuple(executor: Executor) -> None:
    order = ("number", "name", "body", "flag", "small")
    insert = Statement("INSERT INTO t VALUES (:number, :name, :body, :flag, :small)", positions=order)
    assert executor.changes(insert, (1, "a", b"\0", True, 2)) == 1
    assert executor.rows(ALL, {}) == [(1, "a", b"\0", True, 2)]


def test_an_error_is_psycopgs_and_the_connection_can_be_used_on(executor: Executor) -> None:
    for statement, kind in (
        ("SELECT nothing FROM t", psycopg.errors.UndefinedColumn),
        ("SELECT 1 / 0", psycopg.errors.DivisionByZero),
    ):
        with pytest.raises(kind):
            executor.rows(Statement(statement), {})
    with pytest.raises(psycopg.errors.SyntaxError):
        executor.simple(b"BEGIN; NONSENSE")
    executor.simple(b"ROLLBACK")
    assert executor.rows(ALL, {}) == []


def test_a_statement_is_prepared_when_it_is_used_again(executor: Executor, connection: psycopg.Connection[Any]) -> None:
    executor.rows(ALL, {})
    assert prepared(connection) == 0
    executor.rows(ALL, {})
    executor.rows(ALL, {})
    assert prepared(connection) == 1
    reader = Executor(connection, prepares=False)
    for _ in range(3):
        reader.rows(NAMED, {"names": []})
    assert prepared(connection) == 1


def test_a_number_has_the_type_that_psycopg_gives_it(executor: Executor, connection: psycopg.Connection[Any]) -> None:
    begin = Statement("SELECT substr('abcdef', :size + 1), :size * 2")
    for size in (1, 2, 2, 0):
        psycopgs = connection.execute("SELECT substr('abcdef', %(size)s + 1), %(size)s * 2", {"size": size})
        assert executor.rows(begin, {"size": size}) == psycopgs.fetchall()
    double = Statement("SELECT CAST(:number AS bigint) * 2")
    for number in (1, 2, 3_000_000_000, 1, 3_000_000_000, 4):
        assert executor.rows(double, {"number": number}) == [(number * 2,)]
    with pytest.raises(psycopg.errors.NumericValueOutOfRange):
        executor.rows(double, {"number": 2**70})


def test_statements_that_are_used_once_leave_nothing_in_memory(
    executor: Executor, connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libpq, "MOST_PREPARED", 10)
    for number in range(25):
        assert executor.rows(Statement(f"SELECT {number}"), {}) == [(number,)]
    assert (len(executor._prepared) <= 10, prepared(connection)) == (True, 0)
    for number in range(50):
        once = Statement(f"SELECT {number}")
        twice = Statement(f"SELECT {number}, 1")
        assert executor.rows(once, {}) == [(number,)]
        assert executor.rows(twice, {}) == executor.rows(twice, {}) == [(number, 1)]
        assert len(executor._prepared) <= 10
        assert prepared(connection) <= 10


def test_a_table_that_is_changed_meanwhile_is_read_by_a_new_plan(
    executor: Executor, connection: psycopg.Connection[Any]
) -> None:
    connection.execute("CREATE TABLE changing (a integer)")
    connection.execute("INSERT INTO changing VALUES (1)")
    statement = Statement("SELECT * FROM changing")
    assert [executor.rows(statement, {}) for _ in range(3)] == [[(1,)]] * 3
    # psycopg's own cursor would discard all prepared statements.
    executor.simple(b"ALTER TABLE changing ADD COLUMN b integer")
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        executor.rows(statement, {})
    assert executor.rows(statement, {}) == [(1, None)]


def test_behind_a_pool_of_connections_nothing_is_prepared_after_the_first_error(
    executor: Executor, connection: psycopg.Connection[Any]
) -> None:
    assert [executor.rows(ALL, {}) for _ in range(3)] == [[], [], []]
    executor.simple(b"DEALLOCATE ALL")  # As on another connection of the pool.
    with pytest.raises(psycopg.errors.InvalidSqlStatementName):
        executor.rows(ALL, {})
    assert [executor.rows(ALL, {}) for _ in range(3)] == [[], [], []]
    assert prepared(connection) == 0


LISTED = Statement("SELECT number FROM t WHERE name IN :names AND number NOT IN :numbers ORDER BY number")


@given(st.lists(names, max_size=3), st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3))
def test_a_list_of_one_selects_what_an_array_selects(
    connection: psycopg.Connection[Any], names: list[str], numbers: list[int]
) -> None:
    """Lists that all have one item are compared as values."""
    connection.execute("DEALLOCATE ALL")
    connection.execute("TRUNCATE t")
    executor = Executor(connection)
    stored = [*enumerate(names), *((number, name) for number, name in zip(numbers, names, strict=False))]
    for number, name in stored:
        executor.changes(INSERT, {"number": number, "name": name, "body": None, "flag": None, "small": None})
    expected = sorted(number for number, name in stored if name in names[:1] and number not in numbers[:1])
    for chosen in (names[:1], names[:1] * 2):
        rows = executor.rows(LISTED, {"names": chosen, "numbers": numbers[:1]})
        assert [number for (number,) in rows] == expected


def test_the_text_for_lists_of_one_has_no_array() -> None:
    assert LISTED.lists == ("names", "numbers")
    assert b"ANY" not in LISTED.of_one.numbered.text and b"ALL" not in LISTED.of_one.numbered.text
    assert LISTED.of_one.numbered.names == LISTED.numbered.names
    assert ALL.lists == ()

"""A database that is given to the next test is as the first test got it."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.support.postgres import PostgresServer


def fill(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE parents (id SERIAL PRIMARY KEY, name TEXT)")
        connection.execute("CREATE TABLE children (parent INT REFERENCES parents)")
        connection.execute("INSERT INTO parents (name) VALUES ('first')")


def seen(url: str) -> list[Any]:
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO parents (name) VALUES ('next')")
        return [connection.execute(f"SELECT * FROM {each}".encode()).fetchall() for each in ("parents", "children")]


BOTH = [[(1, "first"), (2, "next")], []]


def test_rows_and_sequences_are_those_of_the_first_test(postgres: PostgresServer) -> None:
    with postgres.database(fill) as url, psycopg.connect(url) as forgotten:
        assert seen(url) == BOTH
        forgotten.execute("UPDATE parents SET name = 'changed'")
        forgotten.execute("INSERT INTO children VALUES (1)")
        forgotten.commit()
        forgotten.execute("INSERT INTO children VALUES (1)")
    with postgres.database(fill) as again:
        assert (again, seen(again)) == (url, BOTH)


@pytest.mark.parametrize("change", ["DROP TABLE children", "ALTER TABLE children ADD COLUMN x INT", "CREATE SCHEMA s"])
def test_a_database_whose_tables_were_changed_is_not_given_to_another_test(
    postgres: PostgresServer, change: str
) -> None:
    with postgres.database(fill) as url, psycopg.connect(url) as connection:
        connection.execute(change.encode())
    with postgres.database(fill) as another:
        assert another != url and seen(another) == BOTH


def test_two_that_are_used_at_the_same_time_are_different(postgres: PostgresServer) -> None:
    with postgres.database(fill) as one, postgres.database(fill) as other:
        assert one != other and seen(one) == seen(other) == BOTH

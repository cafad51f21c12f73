"""Names of databases and tables."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.errors import InvalidInputException
from metastored.model.names import DatabaseName, TableName, database_name, table_name


def test_a_table_is_named_by_its_database_and_perhaps_its_catalog() -> None:
    assert table_name("db.t") == TableName("", "db", "t")
    assert table_name("cat.db.t") == TableName("cat", "db", "t")


def test_names_that_contain_dots_are_given_as_parts() -> None:
    assert table_name(("db", "a.b")) == TableName("", "db", "a.b")
    assert table_name(["cat", "d.b", "t"]) == TableName("cat", "d.b", "t")


def test_a_name_that_was_parsed_is_left_as_it_is() -> None:
    name = TableName("cat", "db", "t")
    assert table_name(name) is name
    assert database_name(name.database_name) == DatabaseName("cat", "db")


@pytest.mark.parametrize("wrong", ["t", "a..b", "a.b.c.d", "", ("a",), ("a", ""), 7, None, ("a", 1)])
def test_an_invalid_table_name_is_refused_with_the_forms_that_work(wrong: Any) -> None:
    with pytest.raises(InvalidInputException, match=r"does not name a table: write database\.table"):
        table_name(wrong)


@pytest.mark.parametrize("wrong", ["", "a.", 7, None, ("a", "b", "c")])
def test_an_invalid_database_name_is_refused_with_the_forms_that_work(wrong: Any) -> None:
    with pytest.raises(InvalidInputException, match=r"does not name a database: write database or catalog\.database"):
        database_name(wrong)


def test_older_calls_carry_the_catalog_inside_of_the_database() -> None:
    assert table_name("db.t").database_field == "db"
    assert table_name("cat.db.t").database_field == "@cat#db"
    assert database_name("cat.db").field == "@cat#db"
    assert database_name("db").field == "db"


def test_requests_carry_no_catalog_where_none_was_named() -> None:
    assert table_name("db.t").catalog_field is None
    assert database_name("cat.db").catalog_field == "cat"


def test_the_default_catalog_is_omitted_where_a_name_is_printed() -> None:
    assert [str(table_name(name)) for name in ("db.t", "hive.db.t", "cat.db.t")] == ["db.t", "db.t", "cat.db.t"]
    assert [str(database_name(name)) for name in ("db", "hive.db", "cat.db")] == ["db", "db", "cat.db"]


def test_a_database_names_its_tables() -> None:
    assert DatabaseName("cat", "db").table("t") == TableName("cat", "db", "t")

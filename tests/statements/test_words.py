"""A text is recognised as metastored's by its first words, and as complete by its last sign."""

from __future__ import annotations

import pytest

from metastored.statements.shows import ShowDatabases
from metastored.statements.words import is_complete, is_own, split_statements
from tests.statements.test_parsing import STATEMENTS

ENGINES = ("SHOW DATABASES", "SHOW SCHEMAS", "SHOW TABLES", "SHOW PARTITIONS", "DESC", "USE")


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_statement_that_every_engine_has_is_not_metastoreds_own_and_every_other_is(text: str) -> None:
    is_of_engines = text.startswith(ENGINES) and "CONNECTOR" not in text
    assert is_own(f"/* x */ -- y\n {text.lower()};") is not is_of_engines
    assert STATEMENTS["SHOW DATABASES"] == ShowDatabases()


@pytest.mark.parametrize(
    "text", ["", "SELECT 1", "create", "'create' remote table t", "create remotes", "show create table remote"]
)
def test_other_texts_are_not_metastoreds_own(text: str) -> None:
    assert not is_own(text)


@pytest.mark.parametrize("text", ["", "  ", "USE d;", "USE d; -- the end", "SHOW TABLES ';';", "USE `;`;\n"])
def test_a_text_that_ends_with_a_semicolon_is_complete(text: str) -> None:
    assert is_complete(text)


@pytest.mark.parametrize("text", ["USE d", "SHOW TABLES ';", "USE d -- ;", "USE d /* ;", "USE `;", "USE d; USE e"])
def test_a_text_without_a_semicolon_at_its_end_is_not_complete(text: str) -> None:
    assert not is_complete(text)


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", ()),
        (" ;; -- nothing;\n ; ", ()),
        ("SELECT 1", ("SELECT 1",)),
        ("SELECT 1;\nSELECT 2;", ("SELECT 1", "SELECT 2")),
        ("SELECT ';', \";\", `;` ; SELECT 2", ("SELECT ';', \";\", `;`", "SELECT 2")),
        ("SELECT 1 -- a;b\n; /* c;d */ SELECT 2", ("SELECT 1 -- a;b", "/* c;d */ SELECT 2")),
        ("SELECT 'not closed; SELECT 2", ("SELECT 'not closed; SELECT 2",)),
    ],
)
def test_statements_are_separated_outside_of_quotes_and_comments(text: str, statements: tuple[str, ...]) -> None:
    assert split_statements(text) == statements

"""Statements that metastored does not execute get a sentence that says what to use; misspelt words, what was meant."""

from __future__ import annotations

import pytest

from metastored.errors import SparkStatementError, StatementError
from metastored.statements.parsing import parse_beside_spark, parse_script
from metastored.statements.refused import CHANGES, REFUSED
from metastored.statements.words import is_own
from tests.statements.foreign import OTHERS, ROWS


def error_of(text: str) -> StatementError:
    with pytest.raises(StatementError) as caught:
        parse_script(text)
    return caught.value


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_each_refused_statement_has_a_sentence(words: tuple[str, ...]) -> None:
    error = error_of(f"{' '.join(words).lower()} something 'secret'")
    assert "is not expected" not in error.problem
    assert "secret" not in str(error)
    assert len(error.problem.split()) >= 3


@pytest.mark.parametrize("text", ROWS)
def test_each_statement_about_rows_is_left_to_spark(text: str) -> None:
    for each in (text, f"-- why\n{text.swapcase()};", f"SHOW TABLES; {text}"):
        with pytest.raises(SparkStatementError, match=r"Spark|metastored\.spark"):
            parse_script(each)
    assert parse_beside_spark(f"SHOW TABLES; {text}; SHOW VIEWS")[1] == text


@pytest.mark.parametrize("text", OTHERS)
def test_each_other_statement_is_named_with_what_to_use(text: str) -> None:
    named, used = OTHERS[text]
    for each in (text, f"/* why */ {text} ;", f"SHOW TABLES;\n{text}"):
        error = error_of(each)
        assert named.lower() in error.problem.lower() and used in error.problem, error.problem
        assert "is not expected" not in error.problem and "\n" not in error.problem


def test_no_change_of_a_table_is_refused_that_is_taken() -> None:
    for words in CHANGES:
        with pytest.raises(StatementError):
            parse_script(f"ALTER TABLE t {' '.join(words)}")


def test_a_statement_about_rows_names_the_line_that_runs_it() -> None:
    assert str(error_of("select 1")) == (
        "line 1, column 1: SELECT reads or writes rows, and rows are Spark's: run it by Spark, "
        'metastored.spark.sql(spark, "select 1")'
    )
    assert error_of("INSERT INTO t VALUES ('hush')").problem.endswith('metastored.spark.sql(spark, "INSERT INTO …")')


def test_the_position_is_that_of_the_statement() -> None:
    error = error_of("SHOW TABLES;\n  SELECT a FROM b;\nSHOW VIEWS")
    assert (error.line, error.column) == (2, 3)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("SHWO TABLES", "SHOW"),
        ("CREATE TABEL t (a INT)", "TABLE"),
        ("DESCIRBE t", "DESCRIBE"),
        ("SHOW DATABSES", "DATABASES"),
        ("ALTER TABLE t SET TBLPROPERTEIS ('a' = 'b')", "TBLPROPERTIES"),
        ("DROP TABLE t PRUGE", "PURGE"),
    ],
)
def test_a_misspelt_word_is_answered_with_what_was_meant(text: str, meant: str) -> None:
    assert f"(did you mean {meant}?)" in str(error_of(text))


def test_no_word_is_guessed_where_none_is_near() -> None:
    assert "did you mean" not in str(error_of("FROBNICATE ALL"))


def test_what_spark_does_not_execute_is_left_to_metastored() -> None:
    for text in (
        "GRANT x TO USER y",
        "show locks",
        "SHOW TRANSACTIONS",
        "SHOW COMPACTIONS",
        "SHOW CURRENT ROLES",
        "SHOW MATERIALIZED VIEWS",
        "ALTER TABLE `a.b`.c EXCHANGE PARTITION (x = 1) WITH TABLE t",
    ):
        assert is_own(text)
    for text in ("SHOW TABLES", "CREATE TABLE t (a INT)", "SET x = y", "DROP DATABASE d"):
        assert not is_own(text)

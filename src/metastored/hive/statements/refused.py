"""Statements of Hive and Spark that metastored does not execute: a sentence for each that says what to use. Pure.

A statement is recognised by its first words. Texts in quotes are never repeated: one may be a secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from metastored.hive.statements.words import first_words

ROWS: Final = "{word} reads or writes rows, and rows are Spark's"
SPARK: Final = "that is done in a session of Spark or Hive"
SETTING: Final = f"{SPARK}; the only SET of the metastore is SET ROLE"
TEMPORARY_VIEW: Final = "temporary views are those of an engine's session: create it in Spark"
RUN_BY_SPARK: Final = frozenset({ROWS, SPARK, SETTING, TEMPORARY_VIEW})
"""Those of statements that a session of Spark executes."""
REFUSED: Final[dict[tuple[str, ...], str]] = {
    **{
        (word,): ROWS
        for word in (
            *("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "FROM", "VALUES", "TABLE", "LOAD", "EXPORT"),
            *("IMPORT", "COPY", "ANALYZE", "EXPLAIN", "CALL", "MAP", "REDUCE", "OPTIMIZE", "VACUUM", "REPLACE"),
        )
    },
    ("SHOW", "CONF"): "settings are those of the server's configuration file, or of a session of Spark or Hive",
    ("SHOW", "CREATE", "DATABASE"): "use DESCRIBE DATABASE EXTENDED",
    ("SHOW", "CREATE", "SCHEMA"): "use DESCRIBE DATABASE EXTENDED",
    ("SHOW", "INDEX"): "indexes were removed from Hive 3; materialized views replace them",
    ("SHOW", "INDEXES"): "indexes were removed from Hive 3; materialized views replace them",
    ("CREATE", "INDEX"): "indexes were removed from Hive 3; materialized views replace them",
    ("DROP", "INDEX"): "indexes were removed from Hive 3; materialized views replace them",
    ("ALTER", "INDEX"): "indexes were removed from Hive 3; materialized views replace them",
    ("SHOW", "PROCESSLIST"): "queries are those of an engine: SHOW LOCKS and SHOW TRANSACTIONS show what they hold",
    ("CREATE", "TEMPORARY", "VIEW"): TEMPORARY_VIEW,
    ("CREATE", "MACRO"): "macros are those of a session of Hive: create it there",
    ("CREATE", "TEMPORARY", "MACRO"): "macros are those of a session of Hive: create it there",
    ("DROP", "TEMPORARY"): "temporary objects are those of an engine's session: drop it there",
    ("CREATE", "SCHEDULED"): "scheduled queries are run by Hive: create it there",
    ("ALTER", "SCHEDULED"): "scheduled queries are run by Hive: alter it there",
    ("CREATE", "RESOURCE"): "resource plans are for Hive's workload manager: create it in Hive",
    ("LOCK",): "use client.lock, or metastored.spark.sql, which locks the tables of each statement",
    ("UNLOCK",): "a lock ends with the program that holds it; metastored locks lists them",
    ("ABORT",): "use metastored transactions --abort ID",
    ("START",): "transactions are those of a client: client.transaction(), or metastored.spark.sql",
    ("COMMIT",): "transactions are those of a client: client.transaction(), or metastored.spark.sql",
    ("ROLLBACK",): "transactions are those of a client: client.transaction(), or metastored.spark.sql",
    ("KILL",): "queries are those of an engine: end it there",
    ("REPL",): "use metastored import and metastored export",
    ("RELOAD",): SPARK,
    ("ADD",): SPARK,
    ("LIST",): SPARK,
    ("SET",): SETTING,
    ("RESET",): SPARK,
    ("CACHE",): SPARK,
    ("UNCACHE",): SPARK,
    ("CLEAR",): SPARK,
    ("REFRESH",): SPARK,
    ("DECLARE",): SPARK,
    ("EXECUTE",): SPARK,
    ("PREPARE",): SPARK,
}
"""The first words of statements, and what to use."""
SHOWN: Final = 120
"""Characters of a statement that is printed again."""
NEAR: Final = 0.74


class Refusal(NamedTuple):
    """Why a statement is not executed here."""

    sentence: str
    is_for_spark: bool
    """Whether a session of Spark executes it."""


def refusal(statement: str) -> Refusal | None:
    """Why a statement is not executed here; None for one that is unknown, or only misspelt."""
    words = first_words(statement, 3)
    for count in (3, 2, 1):
        found = REFUSED.get(words[:count]) if len(words) >= count else None
        if found is not None:
            text = found.format(word=words[0])
            sentence = f"{text}: run it by Spark, {by_spark(statement)}" if found is ROWS else text
            return Refusal(sentence, found in RUN_BY_SPARK)
    return None


def by_spark(statement: str) -> str:
    """The line of Python that runs a statement; with `…` where the statement is long or has texts in it."""
    line = " ".join(statement.split())
    plain = len(line) <= SHOWN and not set(line) & set("'\"`\\") and line.isprintable()
    return f'metastored.spark.sql(spark, "{line if plain else words_of(line)}")'


def words_of(line: str) -> str:
    """The first words of a statement."""
    return f"{' '.join(first_words(line, 2))} …"


def meant(word: str, expected: Sequence[str]) -> str | None:
    """The keyword that a misspelt word was meant to be."""
    near = get_close_matches(word.upper(), [each for each in expected if each.isupper()], 1, NEAR)
    return near[0] if near and near[0] != word.upper() else None

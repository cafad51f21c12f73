"""Statements of Hive and Spark that metastored does not execute: a sentence for each that says what to use. Pure.

A statement is recognised by its first words. Texts in quotes are never repeated: one may be a secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from metastored.statements.words import first_words, words_of_change

ROWS: Final = "{word} reads or writes rows, and rows are Spark's"
SPARK: Final = "it belongs to a session of Spark or Hive: run it there"
SETTING: Final = "it is a setting of a session of Spark or Hive: set it there; the metastore has SET ROLE only"
TEMPORARY: Final = "temporary objects belong to an engine's session: use Spark or Hive"
INDEXES: Final = "indexes were removed from Hive 3; use materialized views"
SCHEDULED: Final = "scheduled queries are run by Hive: use Hive"
WORKLOADS: Final = "resource plans are for Hive's workload manager: use Hive"
TRANSACTIONS: Final = "transactions are those of a client: use client.transaction(), or metastored.spark.sql"
MACROS: Final = "macros belong to a session of Hive: create it there"
CURSORS: Final = "cursors and variables belong to a script of Spark: run it by Spark"
PROCEDURES: Final = "procedures are those of a catalog of Spark's: run it by Spark"
PIPELINES: Final = "datasets of pipelines are made by Spark's pipelines: use metastored pipeline"
RUN_BY_SPARK: Final = frozenset({ROWS, SPARK, SETTING, TEMPORARY, CURSORS, PROCEDURES})
"""Those of statements that a session of Spark executes."""
REFUSED: Final[dict[tuple[str, ...], str]] = {
    **{
        (word,): ROWS
        for word in (
            *("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "FROM", "VALUES", "TABLE", "LOAD", "EXPORT"),
            *("IMPORT", "COPY", "ANALYZE", "EXPLAIN", "CALL", "MAP", "REDUCE", "OPTIMIZE", "VACUUM", "REPLACE"),
        )
    },
    **{
        (word,): SPARK
        for word in (
            *("RELOAD", "ADD", "LIST", "RESET", "CACHE", "UNCACHE", "CLEAR", "REFRESH", "PREPARE", "DFS", "COMPILE"),
            *("REPAIR", "BEGIN"),
        )
    },
    **{(word,): CURSORS for word in ("DECLARE", "EXECUTE", "OPEN", "FETCH", "CLOSE")},
    **{(verb, "INDEX"): INDEXES for verb in ("SHOW", "CREATE", "DROP", "ALTER")},
    **{(verb, "SCHEDULED"): SCHEDULED for verb in ("CREATE", "DROP", "ALTER")},
    **{(verb, "RESOURCE"): WORKLOADS for verb in ("SHOW", "CREATE", "DROP", "ALTER")},
    **{(verb, word): WORKLOADS for verb in ("CREATE", "DROP", "ALTER") for word in ("POOL", "TRIGGER", "MAPPING")},
    **{(verb, word, "MAPPING"): WORKLOADS for verb in ("CREATE", "DROP", "ALTER")
       for word in ("USER", "GROUP", "APPLICATION")},
    **{(verb, "MACRO"): MACROS for verb in ("CREATE", "DROP")},
    **{(verb, "TEMPORARY", "MACRO"): MACROS for verb in ("CREATE", "DROP")},
    **{(verb, "DATACONNECTOR"): f"use {verb} CONNECTOR" for verb in ("CREATE", "ALTER", "DROP", "DESCRIBE", "DESC")},
    **{(verb, "PROCEDURE"): PROCEDURES for verb in ("CREATE", "DROP", "DESCRIBE", "DESC")},
    **{(word,): TRANSACTIONS for word in ("START", "COMMIT", "ROLLBACK")},
    ("SET",): SETTING,
    ("ENABLE", "WORKLOAD"): WORKLOADS,
    ("REPLACE", "RESOURCE"): WORKLOADS,
    ("REPLACE", "ACTIVE"): WORKLOADS,
    ("DISABLE", "WORKLOAD"): WORKLOADS,
    ("SHOW", "CONF"): "settings are those of the configuration file of a server, or of a session: look there",
    ("SHOW", "CURRENT", "NAMESPACE"): "the prompt shows the current database: use USE to change it",
    ("SHOW", "CURRENT", "SCHEMA"): "the prompt shows the current database: use USE to change it",
    ("SHOW", "CURRENT", "DATABASE"): "the prompt shows the current database: use USE to change it",
    ("SHOW", "DATACONNECTORS"): "use SHOW CONNECTORS",
    ("SHOW", "EXTENDED", "TABLES"): "use SHOW TABLE EXTENDED LIKE '*'",
    ("SHOW", "SORTED", "COLUMNS"): "use SHOW COLUMNS",
    ("SHOW", "INDEXES"): INDEXES,
    ("SHOW", "FORMATTED"): INDEXES,
    ("SHOW", "PROCEDURES"): PROCEDURES,
    ("SHOW", "COLLATIONS"): "collations are Spark's: run it by Spark",
    **{("SHOW", kind, "FUNCTIONS"): "use SHOW FUNCTIONS, which lists those of a database; others are an engine's own"
       for kind in ("USER", "SYSTEM", "ALL")},
    ("SHOW", "NAMESPACES"): "use SHOW DATABASES",
    **{(verb, "NAMESPACE"): f"use {verb} DATABASE" for verb in ("CREATE", "ALTER", "DROP", "DESCRIBE", "DESC")},
    ("COMMENT", "ON", "NAMESPACE"): "use COMMENT ON DATABASE",
    ("USE", "NAMESPACE"): "use USE with the name of a database alone",
    ("USE", "DATABASE"): "use USE with the name of a database alone",
    ("USE", "SCHEMA"): "use USE with the name of a database alone",
    ("DESCRIBE", "QUERY"): ROWS,
    ("DESC", "QUERY"): ROWS,
    ("DESCRIBE", "SELECT"): ROWS,
    ("DESC", "SELECT"): ROWS,
    ("SHOW", "PROCESSLIST"): "queries are those of an engine: use SHOW LOCKS and SHOW TRANSACTIONS for what they hold",
    ("CREATE", "TEMPORARY", "VIEW"): TEMPORARY,
    ("CREATE", "GLOBAL"): TEMPORARY,
    ("DROP", "TEMPORARY"): TEMPORARY,
    ("CREATE", "FLOW"): PIPELINES,
    ("CREATE", "STREAMING"): PIPELINES,
    ("LOCK",): "use client.lock, or metastored.spark.sql, which locks the tables of each statement",
    ("UNLOCK",): "a lock ends with the program that holds it: use metastored locks to see who that is",
    ("ABORT", "COMPACTIONS"): "compactions are those of their workers: use metastored compact list",
    ("ABORT",): "use metastored transactions --abort ID",
    ("KILL",): "queries are those of an engine: end it there",
    ("REPL",): "use metastored import and metastored export",
    ("PURGE",): "files are those of the warehouse: use DROP TABLE … PURGE",
    ("MSCK",): "it lists directories: use metastored.spark.repair",
}  # fmt: skip
"""The first words of statements, and what to use."""
LAYOUT: Final = "buckets and skewed values belong to the files: make another table, and write its rows by Spark"
ICEBERG: Final = "that is a change of an Iceberg table: run it by Spark with a catalog for Iceberg"
CHANGES: Final[dict[tuple[str, ...], str]] = {
    ("TOUCH",): "events are written by changes: use ALTER TABLE … SET TBLPROPERTIES",
    ("ARCHIVE",): "Hadoop archives are files: run it in Hive",
    ("UNARCHIVE",): "Hadoop archives are files: run it in Hive",
    ("CONCATENATE",): "it merges files: use metastored.spark.sql with INSERT OVERWRITE",
    ("SKEWED",): LAYOUT,
    ("CLUSTERED",): LAYOUT,
    ("INTO",): LAYOUT,
    ("NOT",): LAYOUT,
    ("SET", "SKEWED"): LAYOUT,
    ("CLUSTER",): LAYOUT,
    ("UPDATE", "STATISTICS"): "use metastored.spark.statistics.analyze, which counts, or client.set_statistics",
    ("UPDATE", "COLUMNS"): "columns of a serde are Hive's: run it in Hive",
    ("PARTITION", "COLUMN"): "the types of partition keys belong to the names of partitions: make another table",
    ("SET", "DEFAULT"): "the name of the default partition belongs to a session of Hive: set it there",
    ("SET", "PARTITION"): ICEBERG,
    ("EXECUTE",): ICEBERG,
    ("CONVERT",): ICEBERG,
    ("CREATE",): ICEBERG,
    ("DROP", "BRANCH"): ICEBERG,
    ("DROP", "TAG"): ICEBERG,
    ("REPLACE", "BRANCH"): ICEBERG,
    ("REPLACE", "TAG"): ICEBERG,
    ("RENAME", "BRANCH"): ICEBERG,
    ("WRITE",): ICEBERG,
    ("ADD", "PARTITION", "FIELD"): ICEBERG,
    ("UNSET", "SERDEPROPERTIES"): "use ALTER TABLE … SET SERDE with the properties that stay",
    ("DEFAULT", "COLLATION"): "collations are Spark's: run it by Spark",
    ("ENABLE",): "protections of tables were removed from Hive 2: use GRANT and REVOKE",
    ("DISABLE",): "protections of tables were removed from Hive 2: use GRANT and REVOKE",
}
"""The words behind ALTER TABLE, the name of a table and a partition of it, and what to use."""
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
    if words[:3] == ("CREATE", "OR", "REPLACE"):  # It is said where the object is: behind these words.
        words = ("CREATE", *first_words(statement, 5)[3:])
    change = words_of_change(statement)
    for table, written in ((CHANGES, change), (REFUSED, words)):
        for count in (3, 2, 1):
            text = table.get(written[:count]) if len(written) >= count else None
            if text is not None:
                named = ("ALTER TABLE …", *written[:count]) if written is change else written[:count]
                return _refused(statement, text, named)
    return None


def _refused(statement: str, text: str, words: Sequence[str]) -> Refusal:
    if text is ROWS:
        return Refusal(f"{text.format(word=words[0])}: run it by Spark, {by_spark(statement)}", True)
    return Refusal(f"{' '.join(words)} is not executed here; {text}", text in RUN_BY_SPARK)


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

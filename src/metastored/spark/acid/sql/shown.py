"""ACID tables that Spark itself sees as views, because the metastore shows them so (`acid_views`).

Spark then reads their rows right, by any statement and any method, and refuses to write them. Its definitions of them,
such as DROP TABLE, would be refused too: they are executed by the metastore's own statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, Final

from metastored.errors import StatementError
from metastored.hive.quoting import backquoted
from metastored.model.names import TableName
from metastored.spark.acid.sql.indirection import Evaluate, immediates
from metastored.spark.acid.sql.tables import Found, Lookup, Parts, all_names
from metastored.spark.acid.sql.written import written_by, written_tables
from metastored.spark.source import flat

SEEN: Final = "_metastored_seen"
"""The attribute of a session with an ACID table that it has seen as a view: it sees all of them so."""
_CHANGES: Final = ("ALTER", "DROP", "COMMENT", "MSCK")
"""The first words of statements that change the definition of a table."""


class Recording:
    """A lookup that remembers which ACID tables were found."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self.acid: set[TableName] = set()

    def __call__(self, names: Set[Parts]) -> Mapping[Parts, Found]:
        tables = self._lookup(names)
        self.acid |= {each.table for each in tables.values() if not each.lance}
        return tables


def sees_views(spark: Any, acid: Iterable[TableName]) -> bool:
    """Whether Spark sees these ACID tables as views now. Without one, whether it sees one so that it has seen before.

    Spark is asked each time: another server, with other settings, may answer at the same address.
    """
    tables = sorted(acid) or [seen for seen in [getattr(spark, SEEN, None)] if seen is not None]
    if not tables or any(_type_of(spark, each) != "VIEW" for each in tables):
        return False
    setattr(spark, SEEN, tables[0])
    return True


def written_by_reader(spark: Any, text: str, recording: Recording, evaluate: Evaluate) -> frozenset[Parts] | None:
    """The tables that a statement writes, if it only reads ACID tables and Spark sees these as views; else None.

    Such a statement is Spark's as it is written. One whose target cannot be evaluated is not among them.
    """
    if not sees_views(spark, recording.acid):
        return None
    try:
        written = written_by(text, evaluate)
    except StatementError:
        words = flat(text)
        return None if any(immediates(words)) or any(written_tables(words)) else frozenset()
    return None if any(not each.lance for each in recording(written).values()) else written


def defines_view(spark: Any, text: str, lookup: Lookup) -> bool:
    """Whether a statement changes the definition of an ACID table that Spark sees as a view."""
    source = flat(text)
    if not source.tokens or source.tokens[0].text.upper() not in _CHANGES:
        return False
    recording = Recording(lookup)
    recording(frozenset(parts for parts, _ in all_names(source)))
    return bool(recording.acid) and sees_views(spark, recording.acid)


def _type_of(spark: Any, table: TableName) -> str | None:
    """The type of a table in Spark's catalog; None where Spark does not find it."""
    from pyspark.errors import PySparkException

    try:
        type_of_table: str = spark.catalog.getTable(f"{backquoted(table.database)}.{backquoted(table.table)}").tableType
    except PySparkException:
        return None
    return type_of_table

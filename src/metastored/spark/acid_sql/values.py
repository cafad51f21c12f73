"""Plans of statements, as values: what `planning` returns and `execution` carries out. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from metastored.model.names import TableName


class View(NamedTuple):
    """A temporary view by which a text refers to an ACID table at the statement's snapshot, or to a Lance table."""

    name: str
    table: TableName
    lance: bool = False


class Unqualified(NamedTuple):
    """A column without a qualifier in a part of a MERGE: the target and the source may have it."""

    offset: int
    """The position in the text."""
    name: str


@dataclass(frozen=True, slots=True)
class Sql:
    """A part of a statement, for Spark.

    The names of ACID tables are replaced by those of views. The rows of the target are named `target` where they have
    to be named, and those of the source of a MERGE `source`.
    """

    text: str
    views: tuple[View, ...] = ()
    columns: tuple[Unqualified, ...] = ()
    """The columns without a qualifier, in parts of a MERGE."""


@dataclass(frozen=True, slots=True)
class Passed:
    """Spark executes the statement untouched: it reads and writes no rows of ACID tables."""


@dataclass(frozen=True, slots=True)
class Query:
    """Spark executes the text at a snapshot: a query, or a command that writes the rows of a query to other tables."""

    sql: Sql
    command: bool
    """Whether Spark executes it at once, as it does with INSERT and CREATE TABLE AS."""


@dataclass(frozen=True, slots=True)
class Insert:
    """INSERT INTO or INSERT OVERWRITE."""

    table: TableName
    query: Sql
    overwrite: bool = False
    columns: tuple[str, ...] | None = None
    """The columns that are listed after the table; None for all columns."""
    by_name: bool = False
    partition: tuple[tuple[str, str | None], ...] = ()
    """The PARTITION clause: each column with its value as an SQL expression, or None for a dynamic one."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """`column = expression` of a SET clause, or a column of an INSERT clause with its value."""

    column: str
    expression: Sql


@dataclass(frozen=True, slots=True)
class Update:
    """UPDATE … SET … WHERE."""

    table: TableName
    assignments: tuple[Assignment, ...]
    condition: Sql | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """DELETE FROM … WHERE."""

    table: TableName
    condition: Sql | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """A WHEN clause of a MERGE."""

    action: str
    """`update`, `delete` or `insert`."""
    condition: Sql | None = None
    assignments: tuple[Assignment, ...] | None = None
    """None for `UPDATE SET *` and `INSERT *`; empty for DELETE."""
    values: tuple[Sql, ...] | None = None
    """The values of `INSERT VALUES (…)`, as Hive writes it: for all columns of the table, in their order."""


@dataclass(frozen=True, slots=True)
class Merge:
    """MERGE INTO … USING … ON …, and its WHEN clauses by kind, in the order of the statement."""

    table: TableName
    source: Sql
    """A query of the rows of the source."""
    condition: Sql
    matched: tuple[Clause, ...] = ()
    not_matched: tuple[Clause, ...] = ()
    not_matched_by_source: tuple[Clause, ...] = ()


@dataclass(frozen=True, slots=True)
class Compact:
    """ALTER TABLE … COMPACT, a statement of Hive."""

    table: TableName
    kind: str
    """`minor` or `major`."""
    partition: tuple[tuple[str, str], ...] = ()
    """The PARTITION clause: each column with its value."""


Plan = Passed | Query | Insert | Update | Delete | Merge | Compact

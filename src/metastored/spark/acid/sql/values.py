"""Plans of statements, as values: what `planning` returns and `execution` carries out. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from metastored.model.names import TableName

Partition = tuple[tuple[str, str], ...]
"""A PARTITION clause with values: each column with its value as an SQL expression."""


class View(NamedTuple):
    """A temporary view by which a text refers to an ACID table at the statement's snapshot, or to a Lance table."""

    name: str
    table: TableName
    lance: bool = False
    version: int | None = None
    """The last write id that is visible, in time travel."""
    stored: Stored | None = None
    """The query of a stored view, which the temporary one has the rows of."""


class Stored(NamedTuple):
    """A stored view: its query, and how the columns of the query become those of the view."""

    query: Sql
    columns: tuple[str, ...]
    outputs: tuple[str, ...] = ()
    """The columns of the query, by name; empty for all of them, by position."""


class Default(NamedTuple):
    """A word DEFAULT in the text of a VALUES query, and the number of its column."""

    offset: int
    number: int


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
    defaults: tuple[Default, ...] = ()
    """The words DEFAULT in the VALUES of the query."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """`column = expression` of a SET clause, or a column of an INSERT clause with its value."""

    column: str
    expression: Sql | None
    """None for DEFAULT."""


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
    values: tuple[Sql | None, ...] | None = None
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
    partition: Partition = ()


@dataclass(frozen=True, slots=True)
class Inserts:
    """FROM … INSERT … INSERT …: several INSERTs of one statement, in one transaction."""

    inserts: tuple[Insert, ...]


@dataclass(frozen=True, slots=True)
class Truncate:
    """TRUNCATE TABLE, of all partitions or of those that have the values."""

    table: TableName
    partition: Partition = ()


@dataclass(frozen=True, slots=True)
class DropPartitions:
    """ALTER TABLE … DROP PARTITION."""

    table: TableName
    partitions: tuple[Partition, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenamePartition:
    """ALTER TABLE … PARTITION … RENAME TO PARTITION …."""

    table: TableName
    partition: Partition
    to: Partition


@dataclass(frozen=True, slots=True)
class RenameTable:
    """ALTER TABLE … RENAME TO …."""

    table: TableName
    to: tuple[str, ...]
    """The new name, with its database if the statement has it."""


@dataclass(frozen=True, slots=True)
class CreateAs:
    """CREATE TABLE … AS SELECT of an ACID table."""

    name: tuple[str, ...]
    query: Sql
    if_not_exists: bool = False
    format: str = "orc"
    keys: tuple[str, ...] = ()
    """The columns of the query that are partition keys."""
    buckets: tuple[tuple[str, ...], int] | None = None
    properties: tuple[tuple[str, str], ...] = ()
    comment: str | None = None


Definitions = Compact | Truncate | DropPartitions | RenamePartition | RenameTable
"""Statements on a table as a whole, which have no query."""
Plan = Passed | Query | Insert | Inserts | Update | Delete | Merge | CreateAs | Definitions

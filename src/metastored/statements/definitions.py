"""The statements that define catalogs, databases, tables, views, partitions and functions, as values.

A value has what was written. Types are texts, in which blanks are as Hive writes them; names are as written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from metastored.statements.basics import Pairs, Parts, Principal


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table or a view; `type` is None where only its name was written."""

    name: str
    type: str | None = None
    comment: str | None = None
    not_null: bool = False
    default: str | None = None
    """An expression, as text."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK of a table."""

    kind: str
    columns: tuple[str, ...] = ()
    name: str | None = None
    references: Parts = ()
    referenced: tuple[str, ...] = ()
    condition: str | None = None
    states: tuple[str, ...] = ()
    """ENABLE, VALIDATE, RELY and their opposites."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """CLUSTERED BY … SORTED BY … INTO … BUCKETS; a column that is sorted downwards begins with `-`."""

    columns: tuple[str, ...]
    number: int
    sorted_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Storage:
    """STORED AS, STORED BY and ROW FORMAT."""

    format: str | None = None
    input: str | None = None
    output: str | None = None
    handler: str | None = None
    serde: str | None = None
    properties: Pairs = ()
    """Of the serde."""


@dataclass(frozen=True, slots=True)
class CreateCatalog:
    """CREATE CATALOG."""

    name: str
    if_not_exists: bool = False
    location: str | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class AlterCatalog:
    """ALTER CATALOG … SET LOCATION."""

    name: str
    location: str


@dataclass(frozen=True, slots=True)
class DropCatalog:
    """DROP CATALOG."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateDatabase:
    """CREATE DATABASE."""

    name: Parts
    if_not_exists: bool = False
    comment: str | None = None
    location: str | None = None
    managed_location: str | None = None
    properties: Pairs = ()


@dataclass(frozen=True, slots=True)
class DropDatabase:
    """DROP DATABASE."""

    name: Parts
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class CreateTable:
    """CREATE TABLE; `provider` is the word after USING."""

    name: Parts
    columns: tuple[Column, ...] = ()
    if_not_exists: bool = False
    external: bool = False
    is_transactional: bool = False
    comment: str | None = None
    partitioned_by: tuple[Column, ...] = ()
    buckets: Buckets | None = None
    storage: Storage | None = None
    location: str | None = None
    properties: Pairs = ()
    provider: str | None = None
    options: Pairs = ()
    constraints: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateTableLike:
    """CREATE TABLE … LIKE."""

    name: Parts
    like: Parts
    if_not_exists: bool = False
    external: bool = False
    location: str | None = None
    properties: Pairs = ()


@dataclass(frozen=True, slots=True)
class DropTable:
    """DROP TABLE."""

    name: Parts
    if_exists: bool = False
    purge: bool = False


@dataclass(frozen=True, slots=True)
class TruncateTable:
    """TRUNCATE TABLE, or one partition of it."""

    name: Parts
    partition: Pairs = ()


@dataclass(frozen=True, slots=True)
class CreateView:
    """CREATE VIEW."""

    name: Parts
    query: str
    columns: tuple[Column, ...] = ()
    if_not_exists: bool = False
    or_replace: bool = False
    comment: str | None = None
    properties: Pairs = ()


@dataclass(frozen=True, slots=True)
class DropView:
    """DROP VIEW."""

    name: Parts
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateFunction:
    """CREATE FUNCTION; resources are pairs of a type and an address."""

    name: Parts
    class_name: str
    if_not_exists: bool = False
    resources: Pairs = ()


@dataclass(frozen=True, slots=True)
class DropFunction:
    """DROP FUNCTION."""

    name: Parts
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CommentOn:
    """COMMENT ON; `kind` is DATABASE, TABLE or COLUMN. No text removes the comment."""

    kind: str
    name: Parts
    text: str | None


# --- changes --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RenameTo:
    """RENAME TO."""

    name: Parts


@dataclass(frozen=True, slots=True)
class SetProperties:
    """SET TBLPROPERTIES or DBPROPERTIES."""

    properties: Pairs


@dataclass(frozen=True, slots=True)
class UnsetProperties:
    """UNSET TBLPROPERTIES or DBPROPERTIES."""

    keys: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class SetLocation:
    """SET LOCATION of a database, a table or a partition; `managed` is SET MANAGEDLOCATION of a database."""

    location: str
    managed: bool = False


@dataclass(frozen=True, slots=True)
class SetOwner:
    """SET OWNER."""

    principal: Principal


@dataclass(frozen=True, slots=True)
class SetStorage:
    """SET SERDE, SERDEPROPERTIES or FILEFORMAT."""

    storage: Storage


@dataclass(frozen=True, slots=True)
class AddColumns:
    """ADD COLUMNS; with `replace`, REPLACE COLUMNS. `cascade` changes the partitions too."""

    columns: tuple[Column, ...]
    cascade: bool = False
    replace: bool = False


@dataclass(frozen=True, slots=True)
class ChangeColumn:
    """CHANGE COLUMN, RENAME COLUMN, ALTER COLUMN: what is None stays. `after` is a column; empty for FIRST."""

    name: str
    new_name: str | None = None
    type: str | None = None
    comment: str | None = None
    after: str | None = None
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class DropColumns:
    """DROP COLUMN."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """ADD PARTITION: values and a location or None, for each."""

    partitions: tuple[tuple[Pairs, str | None], ...]
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropPartitions:
    """DROP PARTITION: for each, comparisons of keys with values: `("ds", "<", "2024-01-01")`."""

    filters: tuple[tuple[tuple[str, str, str], ...], ...]
    if_exists: bool = False
    purge: bool = False


@dataclass(frozen=True, slots=True)
class Compact:
    """COMPACT: `kind` is major or minor."""

    kind: str
    properties: Pairs = ()
    pool: str | None = None


@dataclass(frozen=True, slots=True)
class AlterPartition:
    """PARTITION (…) with a change: SetLocation, SetStorage, Compact, or the values to which it is renamed."""

    partition: Pairs
    change: SetLocation | SetStorage | Compact | Pairs


@dataclass(frozen=True, slots=True)
class ExchangePartition:
    """EXCHANGE PARTITION: partitions of the table `source` become those of the altered one."""

    partition: Pairs
    source: Parts


@dataclass(frozen=True, slots=True)
class AddConstraint:
    """ADD CONSTRAINT."""

    constraint: Constraint


@dataclass(frozen=True, slots=True)
class DropConstraint:
    """DROP CONSTRAINT."""

    name: str


Action: TypeAlias = (
    RenameTo
    | SetProperties
    | UnsetProperties
    | SetLocation
    | SetOwner
    | SetStorage
    | AddColumns
    | ChangeColumn
    | DropColumns
    | AddPartitions
    | DropPartitions
    | AlterPartition
    | ExchangePartition
    | Compact
    | AddConstraint
    | DropConstraint
)


@dataclass(frozen=True, slots=True)
class AlterDatabase:
    """ALTER DATABASE."""

    name: Parts
    action: SetProperties | UnsetProperties | SetOwner | SetLocation


@dataclass(frozen=True, slots=True)
class AlterTable:
    """ALTER TABLE."""

    name: Parts
    action: Action


@dataclass(frozen=True, slots=True)
class AlterView:
    """ALTER VIEW; a text is the new query."""

    name: Parts
    action: RenameTo | SetProperties | UnsetProperties | str


DefinitionStatement: TypeAlias = (
    CreateCatalog
    | AlterCatalog
    | DropCatalog
    | CreateDatabase
    | AlterDatabase
    | DropDatabase
    | CreateTable
    | CreateTableLike
    | AlterTable
    | DropTable
    | TruncateTable
    | CreateView
    | AlterView
    | DropView
    | CreateFunction
    | DropFunction
    | CommentOn
)

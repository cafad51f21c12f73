"""The statements that show what the metastore has, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from metastored.statements.basics import Pairs, Parts


@dataclass(frozen=True, slots=True)
class ShowCatalogs:
    """SHOW CATALOGS."""

    like: str | None = None


@dataclass(frozen=True, slots=True)
class ShowDatabases:
    """SHOW DATABASES."""

    like: str | None = None


@dataclass(frozen=True, slots=True)
class ShowTables:
    """SHOW TABLES."""

    database: Parts | None = None
    like: str | None = None


@dataclass(frozen=True, slots=True)
class ShowViews:
    """SHOW VIEWS."""

    database: Parts | None = None
    like: str | None = None


@dataclass(frozen=True, slots=True)
class ShowTableExtended:
    """SHOW TABLE EXTENDED; with `partition`, of one partition of one table."""

    like: str
    database: Parts | None = None
    partition: Pairs = ()


@dataclass(frozen=True, slots=True)
class ShowPartitions:
    """SHOW PARTITIONS; `partition` has values of some of the keys, `where` is a condition over the keys."""

    name: Parts
    partition: Pairs = ()
    where: str | None = None


@dataclass(frozen=True, slots=True)
class ShowColumns:
    """SHOW COLUMNS."""

    name: Parts
    like: str | None = None


@dataclass(frozen=True, slots=True)
class ShowTblproperties:
    """SHOW TBLPROPERTIES; all of them, or one."""

    name: Parts
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ShowCreateTable:
    """SHOW CREATE TABLE, of a table or a view."""

    name: Parts


@dataclass(frozen=True, slots=True)
class ShowCreateDatabase:
    """SHOW CREATE DATABASE."""

    name: Parts


@dataclass(frozen=True, slots=True)
class ShowFunctions:
    """SHOW FUNCTIONS."""

    database: Parts | None = None
    like: str | None = None


@dataclass(frozen=True, slots=True)
class ShowLocks:
    """SHOW LOCKS, of all tables or of one."""

    name: Parts | None = None


@dataclass(frozen=True, slots=True)
class ShowTransactions:
    """SHOW TRANSACTIONS."""


@dataclass(frozen=True, slots=True)
class ShowCompactions:
    """SHOW COMPACTIONS."""


@dataclass(frozen=True, slots=True)
class DescribeCatalog:
    """DESCRIBE CATALOG."""

    name: str


@dataclass(frozen=True, slots=True)
class DescribeDatabase:
    """DESCRIBE DATABASE."""

    name: Parts
    extended: bool = False


@dataclass(frozen=True, slots=True)
class DescribeFunction:
    """DESCRIBE FUNCTION."""

    name: Parts
    extended: bool = False


@dataclass(frozen=True, slots=True)
class DescribeTable:
    """DESCRIBE of a table or view, of a partition, or of a column; `detail` is EXTENDED, FORMATTED or None."""

    name: Parts
    detail: str | None = None
    partition: Pairs = ()
    column: str | None = None


ShowStatement: TypeAlias = (
    ShowCatalogs
    | ShowDatabases
    | ShowTables
    | ShowViews
    | ShowTableExtended
    | ShowPartitions
    | ShowColumns
    | ShowTblproperties
    | ShowCreateTable
    | ShowCreateDatabase
    | ShowFunctions
    | ShowLocks
    | ShowTransactions
    | ShowCompactions
    | DescribeCatalog
    | DescribeDatabase
    | DescribeFunction
    | DescribeTable
)

"""The catalog that a program uses: several under one roof, each of them Hive's, Iceberg's, Glue's or in memory.

manager.py has the manager, provider.py (in `_async` and `_sync`) what a catalog of one's own has to be able to do,
status.py what they tell and are told, settings.py how they are configured.
"""

from __future__ import annotations

from skep.catalog._async.manager import AsyncCatalogManager
from skep.catalog._async.provider import AsyncCatalogProvider
from skep.catalog._sync.manager import CatalogManager
from skep.catalog._sync.provider import CatalogProvider
from skep.catalog.settings import CatalogSettings, load
from skep.catalog.status import (
    Buckets,
    ColumnStatistics,
    ColumnStatus,
    Constraint,
    ConstraintKind,
    DatabaseChanges,
    DatabaseDefinition,
    DatabaseStatus,
    PartitionDefinition,
    PartitionStatus,
    SortColumn,
    TableChanges,
    TableDefinition,
    TableKind,
    TableStatistics,
    TableStatus,
    ViewDefinition,
    columns_of_arrow,
    columns_of_spark,
)

__all__ = [
    "AsyncCatalogManager",
    "AsyncCatalogProvider",
    "Buckets",
    "CatalogManager",
    "CatalogProvider",
    "CatalogSettings",
    "ColumnStatistics",
    "ColumnStatus",
    "Constraint",
    "ConstraintKind",
    "DatabaseChanges",
    "DatabaseDefinition",
    "DatabaseStatus",
    "PartitionDefinition",
    "PartitionStatus",
    "SortColumn",
    "TableChanges",
    "TableDefinition",
    "TableKind",
    "TableStatistics",
    "TableStatus",
    "ViewDefinition",
    "columns_of_arrow",
    "columns_of_spark",
    "load",
]

"""The catalog that a program uses: several under one roof, each of them Hive's, Iceberg's, Glue's or in memory.

manager.py has the manager, provider.py (in `_async` and `_sync`) what a catalog of one's own has to be able to do,
status.py what they tell and are told, settings.py how they are configured.
"""

from __future__ import annotations

from metastored.catalog._async.manager import AsyncCatalogManager
from metastored.catalog._async.provider import AsyncCatalogProvider
from metastored.catalog._sync.manager import CatalogManager
from metastored.catalog._sync.provider import CatalogProvider
from metastored.catalog.settings import CatalogSettings, load
from metastored.catalog.status import (
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

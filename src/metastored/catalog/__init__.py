"""Catalogs for programs: Hive metastores, Iceberg catalogs, AWS Glue and in-memory catalogs behind one interface.

`_async` and `_sync` have the manager (manager.py) and the interface of a provider (provider.py), status.py the data
classes of the interface, settings.py the configuration.
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

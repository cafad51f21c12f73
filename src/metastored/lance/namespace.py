"""The two namespaces: databases and tables, with catalogs above them or without."""

from __future__ import annotations

from typing import ClassVar

from metastored.lance.columns import ColumnOperations
from metastored.lance.identifiers import Levels
from metastored.lance.indices import IndexOperations
from metastored.lance.namespaces import NamespaceOperations
from metastored.lance.queries import QueryOperations
from metastored.lance.rows import RowOperations
from metastored.lance.tables import TableOperations
from metastored.lance.tags import TagOperations
from metastored.lance.versions import VersionOperations


class _Namespace(
    NamespaceOperations,
    TableOperations,
    VersionOperations,
    RowOperations,
    QueryOperations,
    TagOperations,
    IndexOperations,
    ColumnOperations,
):
    """All operations that a metastore can serve; the others raise UnsupportedOperationError."""


class Hive2Namespace(_Namespace):
    """Database → table, for any metastore. The databases are those of the default catalog."""

    levels: ClassVar[Levels] = Levels(catalogs=False)


class Hive3Namespace(_Namespace):
    """Catalog → database → table, for metastores with catalogs: Hive since 3.0, and metastored."""

    levels: ClassVar[Levels] = Levels(catalogs=True)

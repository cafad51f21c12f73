"""A Lance table of a metastore for a Spark program: namespace, location and dataset. Never imports pyspark.

The namespace is that of the session's own metastore, unless the caller passes one. Executors get a location and a
version, never the metastore.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from metastored.errors import ConfigError, MissingExtra
from metastored.model.names import Name, table_name
from metastored.spark.lance.commits import lance_module
from metastored.spark.session_metastore import PRINCIPAL, SASL, TLS, URIS, hadoop_setting, metastore_of

if TYPE_CHECKING:
    from lance import LanceDataset
    from lance_namespace import LanceNamespace

__all__ = ["LanceTable", "find", "make", "namespace_of", "record", "table_id", "using"]


class LanceTable(NamedTuple):
    """A table that exists in the metastore."""

    namespace: LanceNamespace
    id: tuple[str, ...]
    location: str
    storage_options: Mapping[str, str]
    managed: bool
    """Whether the metastore keeps its versions."""
    has_data: bool

    def dataset(self, version: int | None = None) -> LanceDataset:
        """The newest version, or this one."""
        opened: LanceDataset = lance_module().dataset(
            namespace_client=self.namespace,
            table_id=list(self.id),
            version=version,
            storage_options=dict(self.storage_options) or None,
        )
        return opened


def table_id(name: Name) -> tuple[str, ...]:
    """The id of `db.t` or `catalog.db.t` in a namespace."""
    parsed = table_name(name)
    return tuple(part for part in parsed if part)


def namespace_of(spark: Any, id: tuple[str, ...]) -> LanceNamespace:
    """The namespace of the session's metastore in which this is the id of a table. Raises ConfigError."""
    try:
        import lance_namespace  # noqa: F401
    except ImportError:
        raise MissingExtra("Lance from Spark", "lance") from None
    from metastored.lance import Hive2Namespace, Hive3Namespace

    uris = metastore_of(spark)
    if uris is None:
        raise ConfigError(f"this Spark session has no '{URIS}': give namespace=metastored.lance.Hive2Namespace(uri=…)")
    properties: dict[str, Any] = {}
    if _is_on(spark, SASL):
        # The process that commits is started by the driver's, so it has the same ticket cache.
        properties["kerberos.principal"] = hadoop_setting(spark, PRINCIPAL) or "hive/_HOST"
    uri = uris.replace("thrift://", "thrifts://") if _is_on(spark, TLS) else uris
    # A remote session does not tell its user; the metastore then sees none.
    ugi = spark.sparkContext.sparkUser() if hasattr(spark, "_jsparkSession") else ""
    return (Hive2Namespace if len(id) == 2 else Hive3Namespace)(uri=uri, ugi=ugi, **properties)


@contextmanager
def using(spark: Any, id: tuple[str, ...], namespace: LanceNamespace | None) -> Iterator[LanceNamespace]:
    """The caller's namespace, or that of the session's metastore, which is closed at the end."""
    if namespace is not None:
        yield namespace
        return
    own: Any = namespace_of(spark, id)
    try:
        yield own
    finally:
        own.close()


def _is_on(spark: Any, name: str) -> bool:
    return (hadoop_setting(spark, name) or "").lower() == "true"


def find(namespace: LanceNamespace, id: tuple[str, ...]) -> LanceTable | None:
    """The table of this id; None if it does not exist. Raises the errors of `lance_namespace`."""
    from lance_namespace import DescribeTableRequest
    from lance_namespace.errors import TableNotFoundError

    try:
        described = namespace.describe_table(DescribeTableRequest(id=list(id), check_declared=True))
    except TableNotFoundError:
        return None
    return _table(namespace, id, described, not described.is_only_declared)


def make(namespace: LanceNamespace, id: tuple[str, ...], properties: Mapping[str, str]) -> LanceTable:
    """Declares a table. Raises TableAlreadyExistsError and NamespaceNotFoundError."""
    from lance_namespace import DeclareTableRequest

    declared = namespace.declare_table(DeclareTableRequest(id=list(id), properties=dict(properties) or None))
    return _table(namespace, id, declared, False)


def record(table: LanceTable, dataset: LanceDataset) -> None:
    """Stores the columns and the version of a table in the metastore, so that other tools can describe it."""
    from metastored.lance.datasets import Datasets

    if isinstance(table.namespace, Datasets):
        table.namespace.recorded(*table.namespace.table(table.id), dataset)


def _table(namespace: LanceNamespace, id: tuple[str, ...], response: Any, has_data: bool) -> LanceTable:
    return LanceTable(
        namespace,
        id,
        response.location,
        dict(response.storage_options or {}),
        bool(response.managed_versioning),
        has_data,
    )

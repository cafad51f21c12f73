"""What the parts of Spark's external catalog share: the client, the settings, and errors with Spark's names."""

from __future__ import annotations

import getpass
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from metastored.client._sync.client import Client
from metastored.errors import ApplicationError, MetastoreError, NoSuchObjectException, SparkCatalogError
from metastored.hive.names import normalize
from metastored.model.names import TableName, database_name
from metastored.model.spark.properties import THRESHOLD
from metastored.wire.generated.common import Table
from metastored.wire.generated.databases import Database

LOG: Final = logging.getLogger("metastored.spark.external_catalog")
SPARK_VERSION: Final = "4.3.0"
"""The version of Spark whose rules are followed; written into tables that have no version."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What Spark reads from its configuration."""

    warehouse: str | None = None
    """`spark.sql.warehouse.dir`: where databases without a location are created; None: where the server says."""
    debug: bool = False
    """`spark.sql.debug`: tables are returned as they are stored."""
    threshold: int = THRESHOLD
    """`spark.sql.sources.schemaStringLengthThreshold`."""
    version: str = SPARK_VERSION
    """Written into tables that name no version of Spark."""
    user: str | None = None
    """Who owns new tables and databases; None: the user of the client, else that of the process."""
    partition_pruning_in_set_threshold: int = 1000
    """`spark.sql.hive.metastorePartitionPruningInSetThreshold`."""
    advanced_partition_predicate_pushdown: bool = True
    """`spark.sql.hive.advancedPartitionPredicatePushdown.enabled`."""
    partition_pruning_fallback_on_exception: bool = False
    """`spark.sql.hive.metastorePartitionPruningFallbackOnException`."""
    time_zone: str = "UTC"
    """`spark.sql.session.timeZone`."""


class Connected:
    """A catalog that calls a metastore. The client connects at its first call."""

    def __init__(self, client: Client | Callable[[], Client], settings: Settings | None = None) -> None:
        self._open = client
        self._client = client if isinstance(client, Client) else None
        self.settings: Final = settings or Settings()

    @property
    def client(self) -> Client:
        """The client of the metastore."""
        if self._client is None:
            assert not isinstance(self._open, Client)
            self._client = self._open()
        return self._client

    @property
    def _user(self) -> str:
        return self.settings.user or self.client.user or getpass.getuser()

    def _database(self, db: str) -> Database:
        """A database as it is now. Raises SparkCatalogError."""
        self.client.forget(db)
        try:
            return self.client.api.get_database(database_name(db).field)
        except NoSuchObjectException as error:
            raise no_such_database(db) from error

    def _require_database(self, db: str) -> None:
        self._database(db)

    def _table(self, db: str, table: str) -> Table:
        """A table's struct as it is now. Raises SparkCatalogError."""
        try:
            return self.client.fresh_table(named(db, table))
        except NoSuchObjectException as error:
            raise no_such_table(db, table) from error

    def _require_table(self, db: str, table: str) -> None:
        self._table(db, table)


def named(db: str, table: str) -> TableName:
    return database_name(db).table(normalize(table))


@contextmanager
def client_errors() -> Iterator[None]:
    """Raises errors of the metastore as Spark does. Errors of the network stay what they are, to be retried."""
    try:
        yield
    except (MetastoreError, ApplicationError) as error:
        raise SparkCatalogError("_LEGACY_ERROR_TEMP_3065", f"{type(error).__name__}: {error}") from error


def no_such_database(db: str) -> SparkCatalogError:
    return SparkCatalogError("SCHEMA_NOT_FOUND", f"the database {db!r} does not exist")


def no_such_table(db: str, table: str) -> SparkCatalogError:
    return SparkCatalogError("TABLE_OR_VIEW_NOT_FOUND", f"the table or view {db}.{table} does not exist")

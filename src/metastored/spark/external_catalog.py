"""Spark's HiveExternalCatalog without Spark: tables in a Hive metastore, read and written exactly as Spark does.

    catalog = ExternalCatalog(metastored.connect("thrift://host:9083"))
    catalog.get_table("shop", "orders").schema

Every method has the name of Spark's in Python's way, and its arguments. It never imports pyspark and never touches
the data of a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Self

from metastored.client._sync.client import Client, connect
from metastored.errors import ConfigError
from metastored.hive.locations import LocationError, canonical
from metastored.spark.alterations import Alterations
from metastored.spark.connection import Settings
from metastored.spark.databases import Databases
from metastored.spark.functions import Functions
from metastored.spark.partitions import Partitions

HADOOP: Final = "spark.hadoop."
URIS: Final = "hive.metastore.uris"


class ExternalCatalog(Databases, Alterations, Partitions, Functions):
    """The tables of a metastore as Spark sees them."""

    @classmethod
    def from_conf(cls, conf: Mapping[str, str]) -> Self:
        """A catalog by Spark's configuration: `spark.hadoop.hive.metastore.uris`, `spark.sql.warehouse.dir` and others.

        The client connects at its first use. Raises ConfigError for a value that cannot be used.
        """
        settings = settings_of(conf)
        uris = conf.get(HADOOP + URIS) or conf.get(URIS)
        if not uris:
            raise ConfigError(f"{HADOOP}{URIS} is missing: name the metastore, such as thrift://host:9083")

        def opened() -> Client:
            return connect(uris, user=settings.user, cache=False)

        return cls(opened, settings)

    def close(self) -> None:
        """Closes the connections of the client, if it was used."""
        if self._client is not None:
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def settings_of(conf: Mapping[str, str]) -> Settings:
    """The settings that Spark would read from its configuration. Raises ConfigError."""
    warehouse = conf.get("spark.sql.warehouse.dir") or conf.get(HADOOP + "hive.metastore.warehouse.dir")
    default = Settings()
    try:
        return Settings(
            warehouse=canonical(warehouse) if warehouse else None,
            debug=_flag(conf, "spark.sql.debug", default.debug),
            threshold=_number(
                conf,
                "spark.sql.hive.tablePropertyLengthThreshold",
                _number(conf, "spark.sql.sources.schemaStringLengthThreshold", default.threshold),
            ),
            user=conf.get(HADOOP + "hadoop.user.name") or None,
            partition_pruning_in_set_threshold=_number(
                conf,
                "spark.sql.hive.metastorePartitionPruningInSetThreshold",
                default.partition_pruning_in_set_threshold,
            ),
            advanced_partition_predicate_pushdown=_flag(
                conf,
                "spark.sql.hive.advancedPartitionPredicatePushdown.enabled",
                default.advanced_partition_predicate_pushdown,
            ),
            partition_pruning_fallback_on_exception=_flag(
                conf,
                "spark.sql.hive.metastorePartitionPruningFallbackOnException",
                default.partition_pruning_fallback_on_exception,
            ),
            time_zone=conf.get("spark.sql.session.timeZone") or default.time_zone,
        )
    except LocationError as error:
        raise ConfigError(f"spark.sql.warehouse.dir: {error}") from error


def _flag(conf: Mapping[str, str], key: str, default: bool) -> bool:
    text = str(conf.get(key, default)).strip().lower()
    if text not in ("true", "false"):
        raise ConfigError(f"{key} is {text!r}; it must be true or false")
    return text == "true"


def _number(conf: Mapping[str, str], key: str, default: int) -> int:
    text = str(conf.get(key, default)).strip()
    if not text.isdigit() or int(text) == 0:
        raise ConfigError(f"{key} is {text!r}; it must be a number above 0")
    return int(text)

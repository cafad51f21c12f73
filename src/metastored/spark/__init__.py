"""metastored and Spark. Importing this package does not import pyspark, and its parts only when they are used.

metastored.spark.ExternalCatalog(metastored.connect(uri))   Spark's external catalog, without Spark
spark = metastored.spark.session("thrift://host:9083")      a session whose catalog is the metastore
metastored.spark.conf("thrift://host:9083")                 the settings of such a session
metastored.spark.sql(spark, "CREATE REMOTE TABLE …")        metastored's statements, and everything that Spark has
metastored.spark.lance.write(df, "db.t"), .read(spark, "db.t")   Lance tables
metastored.spark.copy_table(spark, "remote_db.t", "db.t")   copies of tables, also to other formats
metastored.spark.copy_database(spark, "remote_db", "db")    copies of databases
metastored.spark.acid.read(spark, "db.t")                   transactional tables: read, snapshot, insert, update, …
metastored.spark.statistics.analyze(spark, "db.t")          statistics of columns and partitions, for Hive and Spark
metastored.spark.repair(spark, "db.t", mode="sync")         partitions of the storage, in the metastore
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metastored.spark import acid, lance, statistics
    from metastored.spark.copying import copy_database, copy_table
    from metastored.spark.external_catalog import ExternalCatalog
    from metastored.spark.partition_repair import repair
    from metastored.spark.sessions import conf, session
    from metastored.spark.statements import sql

__all__ = [
    "ExternalCatalog",
    "acid",
    "conf",
    "copy_database",
    "copy_table",
    "lance",
    "repair",
    "session",
    "sql",
    "statistics",
]

_HOMES = {
    "ExternalCatalog": "metastored.spark.external_catalog",
    "conf": "metastored.spark.sessions",
    "copy_database": "metastored.spark.copying",
    "copy_table": "metastored.spark.copying",
    "repair": "metastored.spark.partition_repair",
    "session": "metastored.spark.sessions",
    "sql": "metastored.spark.statements",
}
"""Where a name is. Python on Spark's executors imports this package at the start of a task, and needs none of them."""


def __getattr__(name: str) -> Any:
    if name in ("acid", "lance", "statistics"):
        return import_module(f"metastored.spark.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

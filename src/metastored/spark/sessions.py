"""Spark sessions whose catalog is a metastore. pyspark is imported when a session is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from metastored.client._sync.client import Client, connect
from metastored.client.sasl import kerberos
from metastored.errors import ConfigError, MissingExtra
from metastored.spark.acid_sql.guard import guarded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

URIS: Final = "hive.metastore.uris"
WAREHOUSE: Final = "spark.sql.warehouse.dir"
TLS: Final = "hive.metastore.use.SSL"
APP_NAME: Final = "metastored"


def conf(uri: str, warehouse: str | None = None) -> dict[str, str]:
    """The settings by which Spark uses this metastore: its address, and the directory of new databases.

    Without `warehouse` the directory is that of the metastore's database `default`; that calls the server. Raises
    ConfigError for an address that Spark's Hive client cannot use.
    """
    schemes = {each.strip().partition("://")[0] for each in uri.split(",")}
    if not schemes <= {"thrift", "thrifts"} or len(schemes) != 1:
        raise ConfigError(
            f"{uri!r} is no address for Spark's Hive client: write thrift://host:9083 (thrifts:// for TLS)"
        )
    if warehouse is None:
        with connect(uri) as client:
            warehouse = client.database("default").locationUri
    found = {
        "spark.sql.catalogImplementation": "hive",
        f"spark.hadoop.{URIS}": uri.replace("thrifts://", "thrift://"),
    }
    if schemes == {"thrifts"}:
        found[f"spark.hadoop.{TLS}"] = "true"
    if warehouse:
        found[WAREHOUSE] = warehouse
    return found


def session(uri: str, *, warehouse: str | None = None, options: Mapping[str, str] | None = None) -> SparkSession:
    """The Spark session of this process with this metastore as its catalog; `options` are further settings of Spark.

    Plain `spark.sql` and `spark.table` on ACID tables raise AcidTableError: Spark would read the files of their
    directories. `metastored.spark.sql` and `metastored.spark.acid` read and write them.
    Raises ConfigError where there is a session with another metastore already: Spark would go on with that one.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("a Spark session", "spark") from None

    settings = {"spark.app.name": APP_NAME, **conf(uri, warehouse), **(options or {})}
    active = SparkSession.getActiveSession()
    if active is not None and (used := metastore_of(active)) != settings[f"spark.hadoop.{URIS}"]:
        other = f"the metastore at {used}" if used else "a catalog of its own"
        raise ConfigError(
            f"there is a Spark session with {other}: stop it first, for Spark has one catalog in a process"
        )
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    return guarded(spark, lambda: session_client(spark))


def metastore_of(spark: Any) -> str | None:
    """The addresses of the metastore that a session uses; None where it does not say."""
    return hadoop_setting(spark, URIS)


def hadoop_setting(spark: Any, name: str) -> str | None:
    """A setting of Hadoop or Hive as a session has it: from hive-site.xml too, which a remote session does not show."""
    found: str | None = spark.conf.get(f"spark.hadoop.{name}", None)
    if found is None and hasattr(spark, "_jsparkSession"):
        found = spark._jsparkSession.sessionState().newHadoopConf().get(name)
    return found or None


def session_client(spark: Any) -> Client:
    """A client of the session's metastore, as the session itself connects to it."""
    uris = metastore_of(spark)
    if uris is None:
        raise ConfigError(f"this Spark session has no '{URIS}': give client=metastored.connect(…)")
    if _is_on(spark, TLS):
        uris = uris.replace("thrift://", "thrifts://")
    sasl = None
    if _is_on(spark, "hive.metastore.sasl.enabled"):
        sasl = kerberos(hadoop_setting(spark, "hive.metastore.kerberos.principal") or "hive/_HOST")
    context = getattr(spark, "sparkContext", None) if hasattr(spark, "_jsparkSession") else None
    return connect(uris, user=None if context is None else context.sparkUser(), sasl=sasl, cache=False)


def _is_on(spark: Any, name: str) -> bool:
    return (hadoop_setting(spark, name) or "").lower() == "true"

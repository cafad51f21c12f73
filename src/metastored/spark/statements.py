"""Statements from PySpark: metastored's own are executed at the metastore, all others by Spark."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

from metastored.client._sync.client import Client, connect
from metastored.client.sasl import kerberos
from metastored.client.statements import Result
from metastored.errors import ConfigError
from metastored.hive.statements.words import is_own
from metastored.spark.sessions import (
    PRINCIPAL,
    SASL,
    TLS,
    TRUSTSTORE,
    TRUSTSTORE_PASSWORD,
    URIS,
    hadoop_setting,
    metastore_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def sql(spark: SparkSession, statement: str, *, client: Client | None = None) -> DataFrame:
    """Executes a statement of metastored's or of Spark's. Returns its result as a DataFrame.

    Metastored's own statements, such as CREATE REMOTE TABLE, have Spark's current database, and go to the metastore of
    the session under Spark's user, or to `client`. A session of Spark Connect needs `client`: its metastore and its
    user are those of another process. Raises StatementError where such a statement cannot be parsed, and ConfigError.
    """
    if not is_own(statement):
        return spark.sql(statement)
    if client is None and not _is_local(spark):
        raise ConfigError(
            "this is a session of Spark Connect, whose metastore and user are known to its server only: give "
            "client=metastored.connect('thrift://host:9083', user=…)"
        )
    database = spark.catalog.currentDatabase()
    if client is not None:
        result = client.sql(statement, database=database)
    else:
        with _connected(spark) as found:
            result = found.sql(statement, database=database)
    _forget_tables(spark)
    return _frame(spark, result)


def _is_local(spark: Any) -> bool:
    """Whether the session is in this process, and not in a server of Spark Connect."""
    return hasattr(spark, "_jsparkSession")


def _connected(spark: Any) -> Client:
    """A client of the session's metastore, as the session itself connects to it."""
    uris = metastore_of(spark)
    if uris is None:
        raise ConfigError(f"this Spark session has no '{URIS}': give client=metastored.connect(…)")
    tls = sasl = None
    if _is_on(spark, TLS):
        uris, tls = uris.replace("thrift://", "thrifts://"), _trusted(spark)
    if _is_on(spark, SASL):
        sasl = kerberos(hadoop_setting(spark, PRINCIPAL) or "hive/_HOST")
    return connect(uris, user=spark.sparkContext.sparkUser(), sasl=sasl, tls=tls, cache=False)


def _trusted(spark: Any) -> ssl.SSLContext:
    """The certificates of the session's Java key store. Only the JVM can read it."""
    jvm, settings = spark.sparkContext._jvm, spark._jsparkSession.sessionState().newHadoopConf()
    settings.setIfUnset(TRUSTSTORE_PASSWORD, "")
    file = jvm.java.io.File(hadoop_setting(spark, TRUSTSTORE) or "")
    # Hadoop reads the password, which may be in a credential provider, as the array of characters that Java takes.
    store = jvm.java.security.KeyStore.getInstance(file, settings.getPassword(TRUSTSTORE_PASSWORD))
    names, certificates = store.aliases(), b""
    while names.hasMoreElements():
        if (found := store.getCertificate(names.nextElement())) is not None:
            certificates += bytes(found.getEncoded())
    return ssl.create_default_context(cadata=certificates)


def _is_on(spark: Any, name: str) -> bool:
    return (hadoop_setting(spark, name) or "").lower() == "true"


def _forget_tables(spark: Any) -> None:
    """Spark caches the files and columns of tables by name: an altered remote is another table."""
    if _is_local(spark):
        spark._jsparkSession.sessionState().catalog().invalidateAllCachedTables()


def _frame(spark: Any, result: Result) -> DataFrame:
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([StructField(name, StringType()) for name in result.columns])
    frame: DataFrame = spark.createDataFrame([tuple(row) for row in result.rows], schema)
    return frame

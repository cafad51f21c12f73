"""The metastore of a Spark session: its address and login, read from the session, and a client of it.

Nothing here makes a session or imports pyspark.
"""

from __future__ import annotations

import ssl
from typing import Any, Final

from metastored.client._sync.client import Client, connect
from metastored.client.sasl import kerberos
from metastored.errors import ConfigError

URIS: Final = "hive.metastore.uris"
TLS: Final = "hive.metastore.use.SSL"
TRUSTSTORE: Final = "hive.metastore.truststore.path"
TRUSTSTORE_PASSWORD: Final = "hive.metastore.truststore.password"
SASL: Final = "hive.metastore.sasl.enabled"
PRINCIPAL: Final = "hive.metastore.kerberos.principal"


def metastore_of(spark: Any) -> str | None:
    """The addresses of the metastore that a session uses; None where it does not say."""
    return hadoop_setting(spark, URIS)


def is_local(spark: Any) -> bool:
    """Whether the session is in this process, and not in a server of Spark Connect."""
    return hasattr(spark, "_jsparkSession")


def forget_tables(spark: Any) -> None:
    """Spark caches the files and columns of tables by name: an altered remote is another table."""
    if is_local(spark):
        spark._jsparkSession.sessionState().catalog().invalidateAllCachedTables()


def hadoop_setting(spark: Any, name: str) -> str | None:
    """A setting of Hadoop or Hive as a session has it: from hive-site.xml too, which Spark Connect does not show."""
    value: str | None = spark.conf.get(f"spark.hadoop.{name}", None)
    if value is None and is_local(spark):
        value = spark._jsparkSession.sessionState().newHadoopConf().get(name)
    return value or None


def session_client(spark: Any) -> Client:
    """A client of the session's metastore, as the session itself connects to it."""
    if not is_local(spark):
        raise ConfigError(
            "this is a session of Spark Connect, whose metastore and user are known to its server only: give "
            "client=metastored.connect('thrift://host:9083', user=…)"
        )
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
        if (certificate := store.getCertificate(names.nextElement())) is not None:
            certificates += bytes(certificate.getEncoded())
    return ssl.create_default_context(cadata=certificates)


def _is_on(spark: Any, name: str) -> bool:
    return (hadoop_setting(spark, name) or "").lower() == "true"

"""Spark sessions whose catalog is a metastore. pyspark is imported when a session is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from metastored.client._sync.client import Client, connect
from metastored.client.sasl import kerberos
from metastored.errors import ConfigError, MissingExtra
from metastored.spark.interpreter import interpreter_set
from metastored.spark.session_metastore import (
    PRINCIPAL,
    SASL,
    TLS,
    TRUSTSTORE,
    TRUSTSTORE_PASSWORD,
    URIS,
    metastore_of,
    session_client,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAREHOUSE: Final = "spark.sql.warehouse.dir"
APP_NAME: Final = "metastored"


def conf(
    uri: str,
    warehouse: str | None = None,
    *,
    principal: str | None = None,
    truststore: str | None = None,
    truststore_password: str | None = None,
    client: Client | None = None,
) -> dict[str, str]:
    """The settings by which Spark uses this metastore: its address, how to log in, the directory of new databases.

    `principal` is the Kerberos principal of the metastore, `hive/_HOST@REALM`; Spark logs in with its own ticket or
    keytab. An address with `thrifts://` needs `truststore`, a Java key store with the certificate of the metastore.
    Without `warehouse` the directory is that of the metastore's database `default`, which is read by `client`, or by a
    client of its own. Raises ConfigError for an address that Spark's Hive client cannot use.
    """
    schemes = {each.strip().partition("://")[0] for each in uri.split(",")}
    if not schemes <= {"thrift", "thrifts"} or len(schemes) != 1:
        hint = "; Spark's Hive client does not speak HTTP" if schemes & {"http", "https"} else ""
        raise ConfigError(
            f"{uri!r} is not an address for Spark's Hive client: write thrift://host:9083 (thrifts:// for TLS){hint}"
        )
    uses_tls = schemes == {"thrifts"}
    if uses_tls and truststore is None:
        raise ConfigError(
            "Spark's Hive client checks the certificate of a metastore with a Java key store: give truststore=, and "
            "truststore_password= if it has one (keytool -importcert makes one)"
        )
    if truststore is not None and not uses_tls:
        raise ConfigError(f"truststore is given, and {uri!r} is an address without TLS: write thrifts://host:9083")
    if warehouse is None:
        warehouse = _warehouse(uri, principal, uses_tls, client)
    settings = {
        "spark.sql.catalogImplementation": "hive",
        f"spark.hadoop.{URIS}": uri.replace("thrifts://", "thrift://"),
    }
    if truststore is not None:
        settings |= {f"spark.hadoop.{TLS}": "true", f"spark.hadoop.{TRUSTSTORE}": truststore}
        settings[f"spark.hadoop.{TRUSTSTORE_PASSWORD}"] = truststore_password or ""
    if principal is not None:
        settings |= {f"spark.hadoop.{SASL}": "true", f"spark.hadoop.{PRINCIPAL}": principal}
    if warehouse:
        settings[WAREHOUSE] = warehouse
    return settings


def _warehouse(uri: str, principal: str | None, uses_tls: bool, client: Client | None) -> str | None:
    if client is not None:
        return client.database("default").locationUri
    if uses_tls:
        raise ConfigError(
            "the directory of new databases cannot be read from the metastore, because Python does not read Java's key "
            "stores: give warehouse=, or client=metastored.connect('thrifts://…', tls=…)"
        )
    with connect(uri, sasl=None if principal is None else kerberos(principal)) as own:
        return own.database("default").locationUri


def session(
    uri: str, *, warehouse: str | None = None, options: Mapping[str, str] | None = None, **login: Any
) -> SparkSession:
    """The Spark session of this process with this metastore as its catalog; `options` are further settings of Spark.

    `login` are the further arguments of `conf`. Spark's workers run the interpreter of this process, unless
    PYSPARK_PYTHON or `spark.pyspark.python` names another. Plain `spark.sql` and `spark.table` on ACID tables raise
    AcidTableError: Spark would read the files of their directories. `metastored.spark.sql` and `metastored.spark.acid`
    read and write them. Raises ConfigError where there is a session with another metastore already: Spark would go on
    with that one.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("a Spark session", "spark") from None
    from metastored.spark.acid.sql.guard import guarded

    settings = {"spark.app.name": APP_NAME, **conf(uri, warehouse, **login), **(options or {})}
    active = SparkSession.getActiveSession()
    if active is not None and (used := metastore_of(active)) != settings[f"spark.hadoop.{URIS}"]:
        other = f"the metastore at {used}" if used else "a catalog of its own"
        raise ConfigError(
            f"there is a Spark session with {other}: stop it first, for Spark has one catalog in a process"
        )
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    with interpreter_set(settings):
        spark = builder.getOrCreate()
    return guarded(spark, lambda: session_client(spark))

"""metastored and Spark. Importing this package does not import pyspark.

metastored.spark.ExternalCatalog(metastored.connect(uri))   Spark's external catalog, without Spark
spark = metastored.spark.session("thrift://host:9083")      a session whose catalog is the metastore
metastored.spark.conf("thrift://host:9083")                 the settings of such a session
metastored.spark.sql(spark, "CREATE REMOTE TABLE …")        metastored's statements, and everything that Spark has
metastored.spark.acid.read(spark, "db.t")                   transactional tables: read, snapshot, insert, update, …
"""

from __future__ import annotations

from metastored.spark import acid
from metastored.spark.external_catalog import ExternalCatalog
from metastored.spark.sessions import conf, session
from metastored.spark.statements import sql

__all__ = ["ExternalCatalog", "acid", "conf", "session", "sql"]

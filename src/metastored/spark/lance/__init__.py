"""Lance tables of a metastore from Spark. Importing this package imports neither pyspark nor lance.

metastored.spark.lance.write(df, "db.t", mode="append")                        fragments by the executors, one commit
metastored.spark.lance.read(spark, "db.t", columns=["id"], filter="id > 10")   a DataFrame, read fragment by fragment
"""

from __future__ import annotations

from metastored.spark.lance.reading import read
from metastored.spark.lance.writing import write

__all__ = ["read", "write"]

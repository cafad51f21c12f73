"""Transactional tables of Hive on Spark: read and written at snapshots, in transactions. Needs no jar.

acid.read(spark, "db.t", where="ds = '2024-01-01'")       the rows as they are now
with acid.snapshot(spark) as s: s.read("db.t")            many tables at one moment

Importing this package does not import pyspark.
"""

from __future__ import annotations

from metastored.spark.acid.reading import Snapshot, read, snapshot, view

__all__ = ["Snapshot", "read", "snapshot", "view"]

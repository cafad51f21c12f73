"""Rows for Lance from Spark, as a part of scripts that run in a process with Spark."""

from __future__ import annotations

from typing import Final

ROWS: Final = """
from pyspark.sql import functions as F

DIMENSIONS = 128

def rows(spark, count, partitions):
    '''Rows whose values follow from their ids: decimals, timestamps, lists, maps, nulls, and a vector.'''
    id = F.col("id")
    return spark.range(0, count, 1, partitions).select(
        "id",
        F.when(id % 10 != 0, (id * F.lit("1.25").cast("decimal(6,2)")).cast("decimal(20,4)")).alias("price"),
        F.timestamp_micros(1_600_000_000_000_000 + id * 1_000_001).alias("at"),
        F.date_add(F.lit("2020-01-01").cast("date"), (id % 1000).cast("int")).alias("day"),
        F.concat(F.lit("name-"), id).alias("name"),
        F.array(F.lit("all"), F.concat(F.lit("tag-"), id % 7)).alias("tags"),
        F.create_map(F.lit("odd"), id % 2, F.lit("id"), id).alias("counts"),
        F.array((id % 100).cast("decimal(10,2)"), F.lit(None)).alias("prices"),
        F.transform(
            F.sequence(F.lit(0), F.lit(DIMENSIONS - 1)), lambda at: F.sin(id + at * F.lit(0.37)).cast("float")
        ).alias("vector"),
    )
"""
"""`rows(spark, count, partitions)`, and `DIMENSIONS`, the length of the vectors."""

"""Statistics of tables, partitions and columns, computed on Spark and stored for Hive and for Spark.

statistics.analyze(spark, "db.t")                                        all columns, changed partitions
statistics.analyze(spark, "db.t", columns=["id"], partitions="ds >= '2024-01-01'")
statistics.analyze(spark, "db.t", histograms=True)

Importing this package imports neither pyspark nor numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metastored.spark.statistics.analyzing import AnalyzeResult, analyze

__all__ = ["AnalyzeResult", "analyze"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("metastored.spark.statistics.analyzing"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Statistics of tables, partitions and columns, computed on Spark and stored for Hive and for Spark.

statistics.analyze(spark, "db.t")                                        all columns, changed partitions
statistics.analyze(spark, "db.t", columns=["id"], partitions="ds >= '2024-01-01'")
statistics.analyze(spark, "db.t", histograms=True)

Importing this package imports neither pyspark nor numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from metastored.errors import MissingExtra

if TYPE_CHECKING:
    from metastored.spark.statistics.analyzing import AnalyzeResult, analyze

__all__ = ["AnalyzeResult", "analyze"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        try:
            analyzing = import_module("metastored.spark.statistics.analyzing")
        except ModuleNotFoundError as error:
            raise MissingExtra(f"statistics on Spark (the module {error.name})", "spark") from None
        return getattr(analyzing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

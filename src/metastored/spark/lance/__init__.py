"""Lance tables of a metastore from Spark. Importing this package imports neither pyspark nor lance.

metastored.spark.lance.write(df, "db.t", mode="append")                        fragments by the executors, one commit
metastored.spark.lance.read(spark, "db.t", columns=["id"], filter="id > 10")   a DataFrame, read fragment by fragment
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metastored.spark.lance.reading import read
    from metastored.spark.lance.writing import write

__all__ = ["read", "write"]

_HOMES = {"read": "metastored.spark.lance.reading", "write": "metastored.spark.lance.writing"}
"""Where a name is. Python on Spark's executors needs neither."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

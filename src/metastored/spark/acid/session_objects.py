"""Other Python objects for a Spark session: DataFrames refer to the object by which they were made.

A read is held open as long as its object is referenced. No session is started or stopped here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def another_object(spark: SparkSession) -> SparkSession:
    """Another object for the same session. A copy of a session of Spark Connect would be the same object.

    Rows become a DataFrame by the given object: PySpark makes the object that does it the active session, and would
    refer to the other one from then on.
    """
    kind: Any = type(spark)
    other: SparkSession = object.__new__(_without_end(kind))
    other.__dict__.update(vars(spark), createDataFrame=spark.createDataFrame)
    return other


@lru_cache(maxsize=8)
def _without_end(kind: type[Any]) -> type[Any]:
    """The class of a session, whose objects do not close the connection of Spark Connect when they are deleted."""
    return type(kind.__name__, (kind,), {"__del__": lambda self: None}) if hasattr(kind, "__del__") else kind

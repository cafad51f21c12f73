"""Registers the data source with Spark sessions, once with each."""

from __future__ import annotations

from typing import Any, Final
from weakref import WeakSet

from metastored.errors import MissingExtra, NotSupported

__all__ = ["register"]

_REGISTERED: Final[WeakSet[Any]] = WeakSet()
"""Sessions that have the data source: Spark warns when it is registered again."""


def register(spark: Any) -> None:
    """Makes the data source known to a session. Raises NotSupported before Spark 4."""
    if spark in _REGISTERED:
        return
    try:
        from metastored.spark.lance.source import signed_source
    except ImportError as error:
        if error.name == "pyspark.sql.datasource" or "datasource" in str(error):
            raise NotSupported("Lance from Spark needs Spark 4, which has data sources in Python") from None
        raise MissingExtra("Lance from Spark", "spark") from None
    spark.dataSource.register(signed_source())
    _REGISTERED.add(spark)

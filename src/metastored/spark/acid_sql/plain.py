"""Spark's own `sql`, also in a session that refuses plain statements on ACID tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

UNGUARDED: Final = "_unguarded"
"""The attribute of the class of a guarded session with Spark's own class."""


def plain_sql(spark: Any, statement: str) -> DataFrame:
    """Executes a statement with Spark alone."""
    found: DataFrame = getattr(type(spark), UNGUARDED, type(spark)).sql(spark, statement)
    return found

"""Spark's own `sql`, also in a session that refuses plain statements on ACID tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from metastored.errors import NotSupported
from metastored.spark.session_metastore import is_local
from metastored.spark.source import flat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from metastored.spark.acid.sql.parameters import Args

UNGUARDED: Final = "_unguarded"
"""The attribute of the class of a guarded session with Spark's own class."""
_VARIABLE: Final = "${"


def plain_sql(spark: Any, statement: str, args: Args = None) -> DataFrame:
    """Executes a statement with Spark alone."""
    execute = getattr(type(spark), UNGUARDED, type(spark)).sql
    if not args:
        frame: DataFrame = execute(spark, statement)
        return frame
    values = dict(args) if isinstance(args, Mapping) else list(args)
    bound: DataFrame = execute(spark, statement, values)
    return bound


def as_parsed(spark: Any, statement: str) -> str:
    """The statement as Spark's parser gets it: with the values of `${variables}`, which could be names of tables.

    Raises NotSupported with Spark Connect, where the values are not known here.
    """
    if _VARIABLE not in statement or spark.conf.get("spark.sql.variable.substitute", "true") != "true":
        return statement
    if is_local(spark):
        return str(spark._jvm.org.apache.spark.sql.internal.VariableSubstitution().substitute(statement))
    if any(token.text in ("$", "${") or token.text.startswith("$") for token in flat(statement).tokens):
        raise NotSupported("${variables} are not supported with Spark Connect, and could be ACID tables: use args=")
    return statement

"""DataFrames of a few rows that Python has, as a part of their plan: reading them starts no Spark job.

PySpark makes an RDD of rows, also of none, and runs a job whenever they are read. Only numbers and texts are written
into a plan here; nothing is read from tables or files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from metastored.spark.session_metastore import is_local

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

MOST_VALUES: Final = 2_000
"""More are left to PySpark: each of them is parsed."""
_PLAIN_TEXT: Final = re.compile(r"[A-Za-z0-9_ .:,/+-]*", re.ASCII)
_SUFFIXES: Final = {"int": "", "bigint": "L"}


def local_rows(spark: SparkSession, rows: Sequence[Sequence[int | str | None]], schema: StructType) -> DataFrame:
    """A DataFrame of these rows, whose columns are integers and texts; without rows, of any types."""
    columns = len(schema.fields)
    kinds = [field.dataType.simpleString() for field in schema.fields]
    if not is_local(spark) or len(rows) * columns > MOST_VALUES:
        return _by_pyspark(spark, rows, schema)
    if rows and not (columns and all(kind in (*_SUFFIXES, "string") for kind in kinds)):
        return _by_pyspark(spark, rows, schema)
    from pyspark.sql import DataFrame

    session: Any = spark
    java = session._jvm.java.util.ArrayList()
    if rows:
        listed = ", ".join(
            f"({', '.join(_value(each, kind) for each, kind in zip(row, kinds, strict=True))})" for row in rows
        )
        names = ", ".join(f"c{at}" for at in range(columns))
        java = session._jsparkSession.sql(f"SELECT * FROM VALUES {listed} AS t({names})").collectAsList()
    # With the names of the schema, and with columns that can be null.
    return DataFrame(session._jsparkSession.createDataFrame(java, _java(session, schema)), session)


def _by_pyspark(spark: SparkSession, rows: Sequence[Sequence[Any]], schema: StructType) -> DataFrame:
    return spark.createDataFrame([tuple(row) for row in rows], schema)


def _java(session: Any, schema: StructType) -> Any:
    return session._jsparkSession.parseDataType(schema.json())


def _value(value: int | str | None, kind: str) -> str:
    if isinstance(value, int):
        return f"{value}{_SUFFIXES[kind]}"
    return f"CAST(NULL AS {kind})" if value is None else text_literal(value)


def text_literal(text: str | None) -> str:
    """A text in SQL. A setting decides what a backslash in quotes means: such texts are written by their bytes."""
    if text is None:
        return "NULL"
    return f"'{text}'" if _PLAIN_TEXT.fullmatch(text) else f"CAST(X'{text.encode().hex()}' AS STRING)"

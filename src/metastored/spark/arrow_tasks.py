"""Functions over Arrow batches as tasks of Spark. PySpark's own `mapInArrow` needs pandas, which it does not use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def map_in_arrow(
    frame: DataFrame, work: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: str
) -> DataFrame:
    """The batches that a function returns for the batches of each partition of a DataFrame."""
    typed: Any = frame
    if not hasattr(typed, "_jdf"):  # Spark Connect, whose client has its own way.
        return frame.mapInArrow(work, schema)
    from pyspark.sql import DataFrame
    from pyspark.sql.types import _parse_datatype_string
    from pyspark.sql.udf import UserDefinedFunction
    from pyspark.util import PythonEvalType

    type = _parse_datatype_string(schema)
    function = UserDefinedFunction(work, type, evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    column: Any = function(*(frame[name] for name in frame.columns))
    return DataFrame(typed._jdf.mapInArrow(column._jc, False, None), frame.sparkSession)

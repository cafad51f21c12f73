"""A clear error where Python cannot hold a date or a time that Spark has read, in guarded sessions.

Python's dates begin with the year 1, and PySpark converts a time by way of the local time zone, which fails in the
first and the last days that Python has. The error of Python names neither a column nor what would work. Rows are not
changed here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from metastored.errors import InvalidInputException

_EXPLAINED: Final = "_metastored_explained"


def explain_dates(spark: Any, is_guarded: Callable[[Any], bool]) -> None:
    """Changes `collect` of the DataFrames of Spark, once in a process. Those of Spark Connect convert otherwise."""
    if not hasattr(spark, "_jsparkSession"):
        return
    kind: Any = type(spark.range(0))
    plain = kind.collect
    if hasattr(plain, _EXPLAINED):
        return

    @wraps(plain)
    def collect(self: Any) -> Any:
        try:
            return plain(self)
        except ValueError as error:
            if "is out of range" not in str(error) or not is_guarded(self.sparkSession):
                raise
            raise InvalidInputException(_explained(self, error)) from error

    setattr(collect, _EXPLAINED, True)
    kind.collect = collect


def _explained(frame: Any, error: ValueError) -> str:
    names = [field.name for field in frame.schema if _has_moments(field.dataType)]
    return (
        f"Python cannot hold a date or time in {', '.join(names)} ({error}): it has the years 1 to 9999. Select the "
        f"column as text: cast({names[0] if names else 'column'} as string)"
    )


def _has_moments(type: Any) -> bool:
    return any(word in type.simpleString() for word in ("date", "timestamp"))

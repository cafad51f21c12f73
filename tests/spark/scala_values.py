"""Values of Scala and Java as plain values, in a process of Spark's, and those of Python in the same form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metastored.errors import Error
from metastored.model.spark.values import ColumnStat


def option(value: Any) -> Any:
    return value.get() if value.isDefined() else None


def split(text: str) -> list[str]:
    return text.split("\n") if text else []


def pairs(map: Any) -> dict[str, str]:
    return dict(each.split(" -> ", 1) for each in split(map.mkString("\n")))


def sizes(stats: Any) -> list[int | None] | None:
    if stats is None:
        return None
    rows = option(stats.rowCount())
    return [int(str(stats.sizeInBytes())), None if rows is None else int(str(rows))]


def columns_of(stats: Any) -> dict[str, Any] | None:
    """The statistics of columns, by name."""
    if stats is None:
        return None
    found = stats.colStats()
    return {name: column(found.apply(name)) for name in split(found.keySet().mkString("\n"))}


def column(stat: Any) -> dict[str, Any]:
    numbers = {"distinct_count": stat.distinctCount(), "null_count": stat.nullCount()}
    numbers |= {"avg_len": stat.avgLen(), "max_len": stat.maxLen()}
    histogram = option(stat.histogram())
    return {
        **{name: None if option(each) is None else int(str(option(each))) for name, each in numbers.items()},
        "min": option(stat.min()),
        "max": option(stat.max()),
        "version": stat.version(),
        "histogram": None
        if histogram is None
        else [histogram.height(), [[each.lo(), each.hi(), each.ndv()] for each in histogram.bins()]],
    }


def plain(stat: ColumnStat) -> dict[str, Any]:
    histogram = stat.histogram
    return {
        **{name: getattr(stat, name) for name in ("distinct_count", "null_count", "avg_len", "max_len", "min", "max")},
        "version": stat.version,
        "histogram": None
        if histogram is None
        else [histogram.height, [[each.lo, each.hi, each.ndv] for each in histogram.bins]],
    }


def outcome(call: Callable[[str], Any], name: str) -> Any:
    """The result, or the name of the error."""
    try:
        return call(name)
    except Error as error:
        return {"error": getattr(error, "condition", type(error).__name__)}


def java_outcome(call: Callable[[str], Any], name: str) -> Any:
    """The result, or the condition of Spark's error, or the class of Java's."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        return call(name)
    except Py4JJavaError as error:
        java = error.java_exception
        kind = java.getClass().getName()
        return {"error": java.getCondition() if "spark" in kind else kind.split(".")[-1]}
    except PySparkException as error:
        return {"error": error.getCondition() or str(error).splitlines()[0]}

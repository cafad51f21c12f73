"""Spark's statistics of a table, its columns and its partitions as parameters. Pure.

They are written in version 2; a version 1 that is read keeps the texts of its bounds.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from metastored.errors import ConversionError, SparkCatalogError
from metastored.model.spark.histograms import histogram_from_text, histogram_to_text
from metastored.model.spark.properties import STATISTICS_PREFIX, read_large_property, split_large_property
from metastored.model.spark.values import CatalogStatistics, ColumnStat

LOG: Final = logging.getLogger("metastored.spark.external_catalog")
TOTAL_SIZE: Final = "spark.sql.statistics.totalSize"
NUM_ROWS: Final = "spark.sql.statistics.numRows"
COLUMN_PREFIX: Final = "spark.sql.statistics.colStats."
VERSION: Final = 2
_VERSION_KEY: Final = "version"
_NUMBERS: Final = {
    "distinctCount": "distinct_count", "nullCount": "null_count", "avgLen": "avg_len", "maxLen": "max_len",
}  # fmt: skip


def column_stat_key_prop_name(column_name: str, stat_key: str) -> str:
    """Spark's columnStatKeyPropName: the parameter of one statistic of a column."""
    return f"{COLUMN_PREFIX}{column_name}.{stat_key}"


def stats_to_properties(stats: CatalogStatistics) -> dict[str, str]:
    """Spark's statsToProperties."""
    properties = {TOTAL_SIZE: str(stats.size_in_bytes)}
    if stats.row_count is not None:
        properties[NUM_ROWS] = str(stats.row_count)
    for name, stat in stats.col_stats.items():
        properties |= {f"{COLUMN_PREFIX}{key}": value for key, value in column_stat_to_map(name, stat).items()}
    return properties


def stats_from_properties(properties: Mapping[str, str], table: str) -> CatalogStatistics | None:
    """Spark's statsFromProperties; None if there are none. A column whose statistics are broken is left out.

    Raises SparkCatalogError if there are statistics but no size.
    """
    keys = [key for key in properties if key.startswith(STATISTICS_PREFIX)]
    if not keys:
        return None
    texts = {key: properties[key] for key in keys}
    of_columns = {
        key.removeprefix(COLUMN_PREFIX): value for key, value in texts.items() if key.startswith(COLUMN_PREFIX)
    }
    columns = {}
    for key in of_columns:
        if key.endswith(_VERSION_KEY):
            name = key[: -len(_VERSION_KEY) - 1]
            stat = column_stat_from_map(table, name, of_columns)
            if stat is not None:
                columns[name] = stat
    if TOTAL_SIZE not in texts:
        raise SparkCatalogError(
            "NoSuchElementException", f"key not found: {TOTAL_SIZE}, though the table {table} has statistics"
        )
    try:
        rows = texts.get(NUM_ROWS)
        return CatalogStatistics(int(texts[TOTAL_SIZE]), None if rows is None else int(rows), columns)
    except ValueError as error:
        raise SparkCatalogError("NumberFormatException", f"the statistics of {table} are broken: {error}") from error


def column_stat_to_map(column_name: str, stat: ColumnStat) -> dict[str, str]:
    """Spark's CatalogColumnStat.toMap: statistics by `<column>.<key>`."""
    texts = {_VERSION_KEY: str(VERSION)}
    texts |= {key: str(getattr(stat, name)) for key, name in _NUMBERS.items() if getattr(stat, name) is not None}
    texts |= {key: value for key, value in (("min", stat.min), ("max", stat.max)) if value is not None}
    properties = {f"{column_name}.{key}": value for key, value in texts.items()}
    if stat.histogram is not None:
        properties |= split_large_property(f"{column_name}.histogram", histogram_to_text(stat.histogram))
    return properties


def column_stat_from_map(table: str, column_name: str, texts: Mapping[str, str]) -> ColumnStat | None:
    """Spark's CatalogColumnStat.fromMap; None and a warning if a value is broken."""
    try:
        numbers = {
            name: _long(texts[f"{column_name}.{key}"])
            for key, name in _NUMBERS.items()
            if f"{column_name}.{key}" in texts
        }
        histogram = read_large_property(texts, f"{column_name}.histogram")
        return ColumnStat(
            **numbers,
            min=texts.get(f"{column_name}.min"),
            max=texts.get(f"{column_name}.max"),
            histogram=None if histogram is None else histogram_from_text(histogram),
            version=int(texts[f"{column_name}.{_VERSION_KEY}"]),
        )
    except (ValueError, KeyError, ConversionError, SparkCatalogError) as error:
        LOG.warning("Failed to parse column statistics for column %s in table %s: %s", column_name, table, error)
        return None


def _long(text: str) -> int:
    number = int(text)
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"{text} is not a 64-bit integer")
    return number

"""Column statistics of an Iceberg table: nulls and bounds from its manifests, distinct values from its statistics file.

Numbers, dates and timestamps have statistics. Text and binary columns have none, since Hive's statistics of them are
lengths, and a table with row-level deletes has none, since manifests count rows that were deleted. It never reads data
files, and no more than MAX_MANIFESTS manifests of MAX_BYTES.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal as PythonDecimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from metastored.connectors.iceberg.types import to_hive
from metastored.hive.types.decimals import decimal_parts
from metastored.model.iceberg.avro import Broken
from metastored.model.iceberg.manifests import File, entries, manifests
from metastored.wire.generated.common import (
    ColumnStatisticsData,
    ColumnStatisticsObj,
    Date,
    DateColumnStatsData,
    Decimal,
    DecimalColumnStatsData,
    DoubleColumnStatsData,
    LongColumnStatsData,
)

if TYPE_CHECKING:
    from pyiceberg.table import Table as IcebergTable
    from pyiceberg.types import NestedField

log = logging.getLogger("metastored.connectors")

MAX_MANIFESTS: Final = 200
"""A planner does not wait for more: a table with more manifests has no statistics."""
MAX_BYTES: Final = 64 * 1024 * 1024
"""Of all manifests together, for the same reason, and for the memory of the server."""
UNKNOWN_DISTINCTS: Final = 0
"""The number of distinct values where no statistics file has it. Hive's planner reads 0 as unknown."""
_SKETCH: Final = "apache-datasketches-theta-v1"
_EPOCH: Final = date(1970, 1, 1)


class _Summary(NamedTuple):
    """One column over all data files; the bounds are None where every value is null."""

    nulls: int
    low: Any
    high: Any


def column_statistics(table: IcebergTable, columns: Sequence[str]) -> tuple[ColumnStatisticsObj, ...]:
    """The statistics of these columns in the current snapshot, of those whose statistics are complete."""
    snapshot = table.metadata.current_snapshot()
    requested = {name.lower() for name in columns}
    fields = [each for each in table.schema().fields if each.name.lower() in requested and _kind_of(each) is not None]
    if snapshot is None or not fields:
        return ()
    try:
        files = _data_files(table, snapshot)
    except Broken as reason:  # A planner does without statistics; the query itself says what is wrong.
        log.warning("%s has no statistics: a manifest cannot be read: %s", ".".join(table.name()), reason)
        return ()
    if files is None:
        return ()
    distincts = _distincts(table, snapshot.snapshot_id)
    statistics = []
    for field in fields:
        summary = _summary(field, files)
        if summary is not None:
            statistics.append(_shown(field, summary, distincts.get(field.field_id, UNKNOWN_DISTINCTS)))
    return tuple(statistics)


def _data_files(table: IcebergTable, snapshot: Any) -> list[File] | None:
    """The data files of a snapshot; None where their numbers would not be those of its rows. Raises Broken."""
    if not snapshot.manifest_list:
        return None  # Version 1 may list its manifests in the metadata.

    def read(location: str) -> bytes:
        with table.io.new_input(location).open() as opened:
            content: bytes = opened.read()
            return content

    # Not by pyiceberg: its compiled decoder checks no lengths, and bounds would show memory of the server.
    listed = manifests(read(snapshot.manifest_list))
    if len(listed) > MAX_MANIFESTS or any(each.deletes for each in listed):
        return None
    files: list[File] = []
    left = MAX_BYTES
    for each in listed:
        data = read(each.path)
        left -= len(data)
        if left < 0:
            return None
        files += (entry.file for entry in entries(data, each))
    return files


def _summary(field: NestedField, files: Sequence[File]) -> _Summary | None:
    """None where a file does not have all numbers of the column, or bounds that are not of its type."""
    from pyiceberg.conversions import from_bytes

    nulls, lows, highs = 0, [], []
    for file in files:
        number = (file.null_value_counts or {}).get(field.field_id)
        low, high = ((bounds or {}).get(field.field_id) for bounds in (file.lower_bounds, file.upper_bounds))
        if number is None or (number < file.record_count and (low is None or high is None)):
            return None
        nulls += number
        if number < file.record_count:
            try:
                lows.append(from_bytes(field.field_type, low))  # type: ignore[arg-type]
                highs.append(from_bytes(field.field_type, high))  # type: ignore[arg-type]
            except (struct.error, ValueError, OverflowError):
                return None
    return _Summary(nulls, min(lows, default=None), max(highs, default=None))


def _distincts(table: IcebergTable, snapshot_id: int) -> Mapping[int, int]:
    """The numbers of distinct values by the columns' ids, of a statistics file that was made for this snapshot."""
    distincts: dict[int, int] = {}
    for file in table.metadata.statistics:
        if file.snapshot_id != snapshot_id:
            continue
        for blob in file.blob_metadata:
            number = (blob.properties or {}).get("ndv", "")
            if blob.type == _SKETCH and len(blob.fields) == 1 and number.isdecimal():
                distincts[blob.fields[0]] = int(number)
    return distincts


def _shown(field: NestedField, summary: _Summary, distincts: int) -> ColumnStatisticsObj:
    kind = _kind_of(field)
    assert kind is not None
    low, high = (None if value is None else kind.bound(value) for value in (summary.low, summary.high))
    data = kind.struct(lowValue=low, highValue=high, numNulls=summary.nulls, numDVs=distincts)
    type = str(to_hive(field.field_type))
    return ColumnStatisticsObj(field.name.lower(), type, ColumnStatisticsData(**{kind.field: data}))


class _Kind(NamedTuple):
    field: str
    struct: Callable[..., Any]
    bound: Callable[[Any], Any]


def _days(value: Any) -> Date:
    return Date(value if isinstance(value, int) else (value - _EPOCH).days)


def _decimal(value: PythonDecimal) -> Decimal:
    return Decimal(*decimal_parts(value))


def _seconds(value: int) -> int:
    """Hive's statistics of timestamps are seconds, in whole numbers before Hive 4."""
    return value // 1_000_000


_KINDS: Final = {
    "int": _Kind("longStats", LongColumnStatsData, int),
    "long": _Kind("longStats", LongColumnStatsData, int),
    "float": _Kind("doubleStats", DoubleColumnStatsData, float),
    "double": _Kind("doubleStats", DoubleColumnStatsData, float),
    "date": _Kind("dateStats", DateColumnStatsData, _days),
    "timestamp": _Kind("longStats", LongColumnStatsData, _seconds),
    "decimal": _Kind("decimalStats", DecimalColumnStatsData, _decimal),
}


def _kind_of(field: NestedField) -> _Kind | None:
    return _KINDS.get(str(field.field_type).partition("(")[0])

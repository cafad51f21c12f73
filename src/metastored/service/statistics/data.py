"""One column's statistics as a row of the database. Pure functions.

A row's body is the struct of its kind without bit vector and histogram, and without STOP. `model/column_statistics.py`
has the statistics themselves.
"""

from __future__ import annotations

from metastored.model.column_statistics import KINDS, Column, fields_of, shown, whole
from metastored.service.core import rows
from metastored.store.engine.stored import BODY_FORMAT
from metastored.store.objects.column_statistics import NewStatistics, StatisticsRow
from metastored.wire.codec import binary
from metastored.wire.structs import replace

_SKETCHES = ("bitVectors", "histogram")


def row_of(owner: int, column: Column, engine: str, analyzed: int) -> NewStatistics:
    """The row to write; the only function that makes a body and the numbers beside it."""
    data, kind = column.data, column.kind
    low, high = getattr(data, "lowValue", None), getattr(data, "highValue", None)
    is_integer = kind in ("long", "date", "timestamp")
    double = kind == "double"
    fields = fields_of(data)
    absent = dict.fromkeys(name for name in _SKETCHES if name in fields)
    return NewStatistics(
        owner=owner,
        column_name=column.name,
        engine=engine,
        type=column.type,
        kind=kind,
        last_analyzed=analyzed,
        low=whole(low) if is_integer else None,
        high=whole(high) if is_integer else None,
        double_low=low if double else None,
        double_high=high if double else None,
        nulls=data.numNulls,
        distincts=getattr(data, "numDVs", None),
        average_length=getattr(data, "avgColLen", None),
        max_length=getattr(data, "maxColLen", None),
        trues=getattr(data, "numTrues", None),
        falses=getattr(data, "numFalses", None),
        body=rows.body_of(replace(data, **absent)),
        # Hive stores no bit vector where there is no number of distinct values.
        bit_vector=data.bitVectors if "numDVs" in fields else None,
        histogram=getattr(data, "histogram", None),
    )


def column_of_row(row: StatisticsRow) -> Column:
    """The statistics of a row, with its sketches if they were read."""
    _check(row)
    data = rows.read_body(KINDS[row.kind].struct, row.body)
    if row.bit_vector is not None:
        data = replace(data, bitVectors=row.bit_vector)
    if row.histogram is not None:
        data = replace(data, histogram=row.histogram)
    return Column(row.column_name, row.type, row.kind, data)


def _check(row: StatisticsRow) -> None:
    if row.fmt != BODY_FORMAT:
        rows.check_format(row.fmt, f"column {row.column_name} of the statistics of {row.owner}")


def spliced(row: StatisticsRow, *, timestamps: bool) -> bytes:
    """The ColumnStatisticsObj of a row without sketches, in Thrift binary."""
    if row.kind == "timestamp" and not timestamps:
        return binary.encode(shown(column_of_row(row), timestamps=False))
    _check(row)
    return rows.statistics_struct(row.column_name, row.type, KINDS[row.kind].number, row.body)

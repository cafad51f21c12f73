"""Conditions on Hive's six columns, for whoever reads ACID files with Spark's ORC reader. Pure.

ORC recognises a file whose root has Hive's six columns. A reader that asks for fewer gets an exception or wrong columns
from Spark, so conditions that are always true name all six, and one field of `row` that no file has. They use coalesce:
ORC would evaluate a plain condition on `bucket` on the user's column of that name, and lose rows.
"""

from __future__ import annotations

from typing import Final

from metastored.hive.transactions.snapshots import ValidWriteIdList

PIN: Final = "__metastored_pin"
"""A field of `row` that no file has: it keeps the column in the query, and costs nothing."""
NAMES_THE_IDS: Final = (
    "(CAST(coalesce(`operation`, 0) | coalesce(`bucket`, 0) AS BIGINT) | coalesce(`originalTransaction`, 0L)"
    " | coalesce(`rowId`, 0L) | coalesce(`currentTransaction`, 0L)) >= 0L"
)
"""True for every row; it needs all columns but `row`."""
NAMES_ALL: Final = f"{NAMES_THE_IDS} AND (coalesce(`rowId`, 0L) >= 0L OR `row`.`{PIN}` IS NULL)"
"""True for every row; it needs all six columns."""


def is_visible(write_ids: ValidWriteIdList) -> str:
    """Whether the write id of a row is visible."""
    current = "coalesce(`currentTransaction`, 0L)"
    hidden = ", ".join(f"{each}L" for each in sorted({*write_ids.open, *write_ids.aborted}))
    return f"{current} <= {write_ids.high_watermark}L" + (f" AND {current} NOT IN ({hidden})" if hidden else "")

"""The limit of how many partitions one call may request (metastore.limit.partition.request). Off unless it is set.

Hive checks it in the calls that return complete partitions, each generation in its own way; names and counts are
never limited.
"""

from __future__ import annotations

from collections.abc import Callable

from metastored.errors import MetaException
from metastored.hive.generation import Generation
from metastored.service.core.context import Context


def check_limit(ctx: Context, table: str | None, most: int, count: Callable[[], int]) -> None:
    """Raises an error if a call for up to `most` partitions (all if negative) exceeds the limit.

    `count` returns how many there are.
    """
    limit = ctx.service.partition_limit
    if limit < 0:
        return
    if ctx.generation >= Generation.HIVE_4_0:
        if 0 <= most <= limit:
            return
        requested = count()
    else:
        # A number above the limit is refused, even where there are fewer partitions.
        requested = count() if most < 0 else most
    if requested > limit:
        prefix = "" if ctx.generation >= Generation.HIVE_3_1 else "hive."
        raise MetaException(
            f"Number of partitions scanned (={requested}) on table '{table}' exceeds limit (={limit})."
            f" This is controlled on the metastore server by {prefix}metastore.limit.partition.request."
        )


def check_limit_since_4(ctx: Context, table: str | None, most: int, count: Callable[[], int]) -> None:
    """As `check_limit`, in calls that Hive limits since 4.0 only."""
    if ctx.generation >= Generation.HIVE_4_0:
        check_limit(ctx, table, most, count)

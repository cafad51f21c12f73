"""Basic statistics that the server gathers itself: number of files and bytes, by listing directories.

The parameters' names are in `hive/statistics/basic.py`; this module only decides when to list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from metastored.errors import MetaException
from metastored.hive.statistics.basic import DO_NOT_UPDATE_STATS, has_fast_stats, set_fast_stats
from metastored.model import kinds
from metastored.service.core.context import Context
from metastored.service.core.directories import EMPTY_PATH, NULL_PATH
from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.common import Table

ERASURE_CODED: Final = "numFilesErasureCoded"
"""The number of files that HDFS stores with erasure coding; metastored cannot see it."""


def gathered_on_create(ctx: Context, table: Table, env: Mapping[str, str], *, directory_is_new: bool) -> dict[str, str]:
    """Parameters of a new table: only an unpartitioned one over existing files gets statistics."""
    parameters = dict(table.parameters or {})
    # A table's own parameter can forbid it; the parameter is removed.
    forbidden = parameters.pop(DO_NOT_UPDATE_STATS, "").lower() == "true"
    if ctx.rules.counts_on_create:
        forbidden = forbidden or env.get(DO_NOT_UPDATE_STATS, "").lower() == "true"
    else:
        forbidden = forbidden or has_fast_stats(parameters)
    if forbidden or kinds.is_view(table) or table.partitionKeys or directory_is_new:
        return parameters
    return _listed(ctx, table, parameters, env)


def gathered_on_alter(ctx: Context, before: Table, table: Table, env: Mapping[str, str]) -> dict[str, str]:
    """Parameters of an altered table: listed again unless the caller forbids it or it is partitioned."""
    parameters = dict(table.parameters or {})
    if env.get(DO_NOT_UPDATE_STATS, "").lower() == "true" or kinds.is_view(table) or before.partitionKeys:
        return parameters
    location = table.sd.location if table.sd is not None else None
    if not location:
        raise MetaException(NULL_PATH if location is None else EMPTY_PATH)
    return _listed(ctx, table, parameters, env)


def _listed(ctx: Context, table: Table, parameters: dict[str, str], env: Mapping[str, str]) -> dict[str, str]:
    location = table.sd.location if table.sd is not None else None
    return parameters if not location else _with_files(ctx, parameters, location, env)


def _with_files(ctx: Context, parameters: dict[str, str], location: str, env: Mapping[str, str]) -> dict[str, str]:
    counted = located(ctx.warehouse, location)
    if counted is None:
        return parameters
    if ctx.rules.counts_erasure_coded:
        parameters = {**parameters, ERASURE_CODED: "0"}
    return set_fast_stats(parameters, *counted, env)


def located(warehouse: Warehouse, location: str | None) -> tuple[int, int] | None:
    """(files, bytes) below a location; None where metastored does not access directories."""
    if not location or not warehouse.looks_at(location):
        return None
    return warehouse.statistics(location)


def gathered_for_partition(
    ctx: Context, parameters: Mapping[str, str], location: str | None, env: Mapping[str, str], *, force: bool
) -> dict[str, str]:
    """Parameters of a partition, listed when it has none yet (or always, after a change)."""
    result = dict(parameters)
    if not force and has_fast_stats(result):
        return result
    if not location:
        raise MetaException(NULL_PATH)
    return _with_files(ctx, result, location, env)

"""Partitions found by a part of their values or by a filter, and the values that partitions have."""

from __future__ import annotations

from typing import NamedTuple

from metastored.errors import MetaException
from metastored.hive.filters.parser import parse_filter
from metastored.hive.filters.tree import Filter, FilterError, check, predicate
from metastored.hive.names import DEFAULT_PARTITION, partition_values, unescape
from metastored.model.names import DatabaseName
from metastored.service.core.context import Context, Encoded
from metastored.service.core.java_text import java_text
from metastored.service.core.partition_lists import listed, splicer, structs
from metastored.service.core.serving import method
from metastored.service.partitions.get import Partitioned, Values, limit_of, listed_for, partitioned, partitioned_or
from metastored.service.partitions.limit import check_limit, check_limit_since_4
from metastored.service.partitions.privileges import by_partition
from metastored.store.engine.schema import VALUE_COLUMNS
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import partitions
from metastored.store.objects.partition_filters import translate
from metastored.store.objects.partitions import Where
from metastored.wire.generated.partitions import (
    GetPartitionNamesPsRequest,
    GetPartitionNamesPsResponse,
    GetPartitionsByFilterRequest,
    GetPartitionsPsWithAuthRequest,
    PartitionValuesRequest,
    PartitionValuesResponse,
    PartitionValuesRow,
)

# --- by a part of their values --------------------------------------------------------------------------------------


class Partial(NamedTuple):
    """Values that are given: a condition on the columns, and the few that lie behind the last column."""

    where: Where
    rest: dict[int, str]

    def matches(self, values: list[str]) -> bool:
        return all(values[at] == value for at, value in self.rest.items())


def partial(ctx: Context, of: Partitioned, values: Values | None) -> Partial:
    """An empty value stands for any."""
    if not values:
        raise MetaException("Invalid partition key & values; keys [], values []")
    if len(values) > len(of.keys):
        shown = java_text(values) if ctx.rules.names_catalogs else str(len(values))
        raise MetaException(f"Incorrect number of partition values. numPartKeys={len(of.keys)}, part_val={shown}")
    given = {at: value for at, value in enumerate(values) if value}
    known = [at for at in given if at < len(VALUE_COLUMNS)]
    # The default partition's value may be stored as the empty text that the client gave.
    texts = [
        f"({VALUE_COLUMNS[at]} = :p{at} OR {VALUE_COLUMNS[at]} = '')"
        if given[at] == DEFAULT_PARTITION
        else f"{VALUE_COLUMNS[at]} = :p{at}"
        for at in known
    ]
    where = Where(" AND ".join(texts) or "1 = 1", {f"p{at}": given[at] for at in known})
    return Partial(where, {at: value for at, value in given.items() if at >= len(VALUE_COLUMNS)})


@method
def get_partitions_ps(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: Values | None, max_parts: int | None
) -> Encoded:
    return _listed(ctx, ctx.name(db_name), tbl_name, part_vals, max_parts, wrapped=False)


@method
def get_partitions_ps_with_auth(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: Values | None,
    max_parts: int | None,
    user_name: str | None,
    group_names: tuple[str, ...] | None,
) -> Encoded:
    where, caller = ctx.name(db_name), _Caller(user_name, group_names)
    return _listed(ctx, where, tbl_name, part_vals, max_parts, wrapped=False, caller=caller)


@method
def get_partitions_ps_with_auth_req(ctx: Context, req: GetPartitionsPsWithAuthRequest) -> Encoded:
    where, caller = ctx.name(req.dbName, req.catName), _Caller(req.userName, req.groupNames)
    if req.partNames:
        with ctx.reading() as tx:
            of = partitioned(ctx, tx, where, req.tblName)
            found = partitions.find_many(tx, of.row.id, list(dict.fromkeys(req.partNames)))
            if caller.sees_grants(of):
                return listed_for(ctx, tx, where, of.row, found, *caller, wrapped=True)
            return structs(splicer(ctx, tx, where, of.row), found, wrapped=True)
    if not req.partVals:
        of = partitioned(ctx, ctx.reader(), where, req.tblName)
        limit = limit_of(req.maxParts)
        check_limit_since_4(ctx, req.tblName, limit, lambda: partitions.count(ctx.reader(), of.row.id))
        if caller.sees_grants(of):
            with ctx.reading() as tx:
                each = partitions.each(tx, of.row.id, limit)
                return listed_for(ctx, tx, where, of.row, each, *caller, wrapped=True)
        return listed(ctx, where, of.row, None, limit, wrapped=True)
    return _listed(ctx, where, req.tblName, req.partVals, req.maxParts, wrapped=True, caller=caller)


class _Caller(NamedTuple):
    """For whom partitions are listed."""

    user: str | None
    groups: tuple[str, ...] | None

    def sees_grants(self, of: Partitioned) -> bool:
        """These calls tell what a user may who is named with their groups."""
        return self.user is not None and self.groups is not None and by_partition(of.row)


def _listed(
    ctx: Context,
    where: DatabaseName,
    tbl_name: str | None,
    values: Values | None,
    max_parts: int | None,
    *,
    wrapped: bool,
    caller: _Caller | None = None,
) -> Encoded:
    of = partitioned(ctx, ctx.reader(), where, tbl_name)
    limit = limit_of(max_parts)
    if caller is not None and not caller.sees_grants(of):
        caller = None
    if not values and ctx.rules.lists_by_no_values and caller is None:
        check_limit_since_4(ctx, tbl_name, limit, lambda: partitions.count(ctx.reader(), of.row.id))
        return listed(ctx, of.where, of.row, None, limit, wrapped=wrapped)
    wanted = partial(ctx, of, values)
    check_limit_since_4(ctx, tbl_name, limit, lambda: len(matching(ctx.reader(), of, wanted)))
    if not wanted.rest and caller is None:
        return listed(ctx, of.where, of.row, wanted.where, limit, wrapped=wrapped)
    with ctx.reading() as tx:
        found = matching(tx, of, wanted)
        found = found if limit < 0 else found[:limit]
        if caller is not None:
            return listed_for(ctx, tx, of.where, of.row, found, *caller, wrapped=wrapped)
        return structs(splicer(ctx, tx, of.where, of.row), found, wrapped=wrapped)


def matching(tx: Transaction, of: Partitioned, wanted: Partial) -> list[Row]:
    each = partitions.each_matching(tx, of.row.id, wanted.where)
    if not wanted.rest:
        return list(each)
    return [row for row in each if wanted.matches(partition_values(row[1], of.names))]


@method
def get_partition_names_ps(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: Values | None, max_parts: int | None
) -> tuple[str, ...]:
    return _names(ctx, ctx.name(db_name), tbl_name, part_vals, max_parts)


@method
def get_partition_names_ps_req(ctx: Context, req: GetPartitionNamesPsRequest) -> GetPartitionNamesPsResponse:
    where = ctx.name(req.dbName, req.catName)
    return GetPartitionNamesPsResponse(_names(ctx, where, req.tblName, req.partValues, req.maxParts))


def _names(
    ctx: Context, where: DatabaseName, tbl_name: str | None, values: Values | None, max_parts: int | None
) -> tuple[str, ...]:
    tx = ctx.reader()
    of = partitioned(ctx, tx, where, tbl_name)
    wanted = partial(ctx, of, values)
    limit = limit_of(max_parts)
    found = partitions.names_matching(tx, of.row.id, wanted.where, -1 if wanted.rest else limit)
    if wanted.rest:
        found = [name for name in found if wanted.matches(partition_values(name, of.names))]
    return tuple(found if limit < 0 else found[:limit])


# --- by a filter ----------------------------------------------------------------------------------------------------


def parsed(ctx: Context, of: Partitioned, text: str | None) -> Filter:
    """The filter, or the MetaException that Hive gives for it."""
    try:
        node = parse_filter(text or "", ctx.generation)
        check(node, of.typed, ctx.generation)
    except FilterError as error:
        raise MetaException(str(error)) from None
    return node


def filtered(ctx: Context, tx: Transaction, of: Partitioned, text: str | None, limit: int = -1) -> list[Row]:
    """The rows that a filter lets through, in the order of their names."""
    return satisfying(ctx, tx, of, parsed(ctx, of, text), limit)


def satisfying(ctx: Context, tx: Transaction, of: Partitioned, node: Filter, limit: int = -1) -> list[Row]:
    """The same for a filter that was parsed and checked."""
    where = translate(node, of.typed, ctx.generation, tx)
    if where is not None:
        return list(partitions.each_matching(tx, of.row.id, where, limit))
    found = _evaluated(ctx, tx, of, node)
    return found if limit < 0 else found[:limit]


def _evaluated(ctx: Context, tx: Transaction, of: Partitioned, node: Filter) -> list[Row]:
    """What SQL cannot say is decided here, on the values in the names."""
    holds = predicate(node, of.typed, ctx.generation)
    return [row for row in partitions.each(tx, of.row.id) if holds(partition_values(row[1], of.names))]


@method
def get_partitions_by_filter(
    ctx: Context, db_name: str | None, tbl_name: str | None, filter: str | None, max_parts: int | None
) -> Encoded:
    return _by_filter(ctx, ctx.name(db_name), tbl_name, filter, max_parts)


@method
def get_partitions_by_filter_req(ctx: Context, req: GetPartitionsByFilterRequest) -> Encoded:
    return _by_filter(ctx, ctx.name(req.dbName, req.catName), req.tblName, req.filter, req.maxParts)


def _by_filter(
    ctx: Context, where: DatabaseName, tbl_name: str | None, text: str | None, max_parts: int | None
) -> Encoded:
    if ctx.rules.specifies_filtered_tables:
        of = partitioned_or(ctx, where, tbl_name, ctx.unspecified_table(where, tbl_name or ""))
    else:
        of = partitioned(ctx, ctx.reader(), where, tbl_name)
    node = parsed(ctx, of, text)
    limit = limit_of(max_parts)
    check_limit(ctx, tbl_name, limit, lambda: _number(ctx, of, node))
    condition = translate(node, of.typed, ctx.generation, ctx.reader())
    if condition is not None:
        return listed(ctx, of.where, of.row, condition, limit)
    with ctx.reading() as tx:
        found = _evaluated(ctx, tx, of, node)
        return structs(splicer(ctx, tx, of.where, of.row), found if limit < 0 else found[:limit])


@method
def get_num_partitions_by_filter(ctx: Context, db_name: str | None, tbl_name: str | None, filter: str | None) -> int:
    where = ctx.name(db_name)
    of = partitioned_or(ctx, where, tbl_name, ctx.unspecified_table(where, tbl_name or ""))
    return _number(ctx, of, parsed(ctx, of, filter))


def _number(ctx: Context, of: Partitioned, node: Filter) -> int:
    """How many partitions a filter lets through."""
    tx = ctx.reader()
    condition = translate(node, of.typed, ctx.generation, tx)
    if condition is None:
        return len(_evaluated(ctx, tx, of, node))
    return partitions.count_matching(tx, of.row.id, condition)


# --- their values ---------------------------------------------------------------------------------------------------


@method
def get_partition_values(ctx: Context, request: PartitionValuesRequest) -> PartitionValuesResponse:
    """The values of some keys, as they stand in names; behind a filter, unescaped and of all keys. Both are Hive's."""
    where = ctx.name(request.dbName, request.catName)
    gone = MetaException(f"Error retrieving partition values: {ctx.full_name(where, request.tblName or '')} is missing")
    of = partitioned_or(ctx, where, request.tblName, gone)
    if not request.partitionKeys:
        raise MetaException("get_partition_values needs the keys whose values are wanted")
    most = request.maxParts if request.maxParts is not None and request.maxParts > 0 else -1
    with ctx.reading() as tx:
        if request.filter:
            names = [row[1] for row in filtered(ctx, tx, of, request.filter, most)]
            if request.ascending is False:
                names.reverse()
            return _rows([tuple(map(unescape, fragments(name))) for name in names])
        names = partitions.names(tx, of.row.id)
    unknown = [key.name for key in request.partitionKeys if key.name not in of.names]
    if unknown:
        raise MetaException(f"Specified key <{unknown[0]}> is not a partitioning key for the table")
    wanted = [of.names.index(key.name or "") for key in request.partitionKeys]
    found = [tuple(all_of[at] for at in wanted) for all_of in map(fragments, names)]
    if request.applyDistinct is not False:
        found = list(dict.fromkeys(found))
    return _rows(found if most < 0 else found[:most])


def fragments(name: str) -> list[str]:
    """The values in a partition's name, still escaped."""
    return [segment.partition("=")[2] for segment in name.split("/")]


def _rows(found: list[Values]) -> PartitionValuesResponse:
    return PartitionValuesResponse(tuple(map(PartitionValuesRow, found)))

"""Partitions by a part of their values or by a filter, and the values that partitions have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from metastored.errors import MetaException
from metastored.filters.hive.parser import parse_filter
from metastored.filters.hive.tree import Filter, FilterError, check, predicate
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_PARTITION, partition_values, unescape
from metastored.model.names import DatabaseName
from metastored.service.core.context import Context, Encoded
from metastored.service.core.java_text import java_text
from metastored.service.core.name_lists import selected_names_of_partitions
from metastored.service.core.partition_lists import in_turn, listed, named, splicer, structs
from metastored.service.core.serving import method
from metastored.service.partitions.get import (
    Partitioned,
    Values,
    check_names,
    limit_of,
    listed_for,
    partitioned,
    partitioned_or,
)
from metastored.service.partitions.limit import check_limit, check_limit_since_4
from metastored.service.partitions.privileges import by_partition
from metastored.store.engine.stored import VALUE_COLUMNS
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import partitions
from metastored.store.objects.partition_filters import translate
from metastored.store.objects.partitions import Where
from metastored.wire.generated.partitions import (
    GetPartitionNamesPsRequest,
    GetPartitionsByFilterRequest,
    GetPartitionsPsWithAuthRequest,
    PartitionValuesRequest,
    PartitionValuesResponse,
    PartitionValuesRow,
)

# --- by a part of their values --------------------------------------------------------------------------------------


class Partial(NamedTuple):
    """A condition on the columns of the values, and the few values beyond the last column."""

    where: Where
    rest: dict[int, str]

    def matches(self, values: list[str]) -> bool:
        return all(values[at] == value for at, value in self.rest.items())


def partial(ctx: Context, parent: Partitioned, values: Values | None) -> Partial:
    """A condition for some values of a partition; an empty value matches any."""
    if not values:
        raise MetaException("Invalid partition key & values; keys [], values []")
    if len(values) > len(parent.keys):
        shown = java_text(values) if ctx.rules.names_catalogs else str(len(values))
        raise MetaException(f"Incorrect number of partition values. numPartKeys={len(parent.keys)}, part_val={shown}")
    by_position = {at: value for at, value in enumerate(values) if value}
    known = [at for at in by_position if at < len(VALUE_COLUMNS)]
    # The default partition's value may be stored as the empty text that the client gave.
    texts = [
        f"({VALUE_COLUMNS[at]} = :p{at} OR {VALUE_COLUMNS[at]} = '')"
        if by_position[at] == DEFAULT_PARTITION
        else f"{VALUE_COLUMNS[at]} = :p{at}"
        for at in known
    ]
    where = Where(" AND ".join(texts) or "1 = 1", {f"p{at}": by_position[at] for at in known})
    return Partial(where, {at: value for at, value in by_position.items() if at >= len(VALUE_COLUMNS)})


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
            parent = partitioned(ctx, tx, where, req.tblName)
            partition_rows = named(ctx, tx, parent.row.id, req.partNames)
            if caller.sees_grants(parent):
                return listed_for(ctx, tx, where, parent.row, partition_rows, *caller, wrapped=True)
            return structs(splicer(ctx, tx, where, parent.row), partition_rows, wrapped=True)
    if not req.partVals:
        check_names(ctx, where, req.tblName)
        parent = partitioned(ctx, ctx.reader(), where, req.tblName)
        limit = limit_of(req.maxParts)
        check_limit_since_4(ctx, req.tblName, limit, lambda: partitions.count(ctx.reader(), parent.row.id))
        if caller.sees_grants(parent):
            with ctx.reading() as tx:
                each = partitions.each(tx, parent.row.id, limit)
                return listed_for(ctx, tx, where, parent.row, each, *caller, wrapped=True)
        return listed(ctx, where, parent.row, None, limit, wrapped=True)
    return _listed(ctx, where, req.tblName, req.partVals, req.maxParts, wrapped=True, caller=caller)


class _Caller(NamedTuple):
    """The user for whom partitions are listed."""

    user: str | None
    groups: tuple[str, ...] | None

    def sees_grants(self, parent: Partitioned) -> bool:
        """Whether replies contain the user's privileges: only if the call names user and groups."""
        return self.user is not None and self.groups is not None and by_partition(parent.row)


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
    check_names(ctx, where, tbl_name)
    parent = partitioned(ctx, ctx.reader(), where, tbl_name)
    limit = limit_of(max_parts)
    if caller is not None and not caller.sees_grants(parent):
        caller = None
    if not values and ctx.rules.lists_all_without_values and caller is None:
        check_limit_since_4(ctx, tbl_name, limit, lambda: partitions.count(ctx.reader(), parent.row.id))
        return listed(ctx, parent.where, parent.row, None, limit, wrapped=wrapped)
    condition = partial(ctx, parent, values)
    check_limit_since_4(ctx, tbl_name, limit, lambda: len(matching(ctx, ctx.reader(), parent, condition)))
    if not condition.rest and caller is None:
        return listed(ctx, parent.where, parent.row, condition.where, limit, wrapped=wrapped)
    with ctx.reading() as tx:
        partition_rows = matching(ctx, tx, parent, condition)
        partition_rows = partition_rows if limit < 0 else partition_rows[:limit]
        if caller is not None:
            return listed_for(ctx, tx, parent.where, parent.row, partition_rows, *caller, wrapped=wrapped)
        return structs(splicer(ctx, tx, parent.where, parent.row), partition_rows, wrapped=wrapped)


def matching(ctx: Context, tx: Transaction, parent: Partitioned, condition: Partial) -> list[Row]:
    each = in_turn(ctx, partitions.each_matching(tx, parent.row.id, condition.where))
    if not condition.rest:
        return list(each)
    return [row for row in each if condition.matches(partition_values(row[1], parent.names))]


@method
def get_partition_names_ps(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: Values | None, max_parts: int | None
) -> Encoded:
    return _names(ctx, ctx.name(db_name), tbl_name, part_vals, max_parts)


@method
def get_partition_names_ps_req(ctx: Context, req: GetPartitionNamesPsRequest) -> Encoded:
    where = ctx.name(req.dbName, req.catName)
    return _names(ctx, where, req.tblName, req.partValues, req.maxParts, wrapped=True)


def _names(
    ctx: Context,
    where: DatabaseName,
    tbl_name: str | None,
    values: Values | None,
    max_parts: int | None,
    *,
    wrapped: bool = False,
) -> Encoded:
    check_names(ctx, where, tbl_name)
    parent = partitioned(ctx, ctx.reader(), where, tbl_name)
    condition = partial(ctx, parent, values)
    limit = limit_of(max_parts)

    def read(tx: Transaction) -> list[str]:
        names = partitions.names_matching(tx, parent.row.id, condition.where, -1 if condition.rest else limit)
        if condition.rest:
            names = [name for name in names if condition.matches(partition_values(name, parent.names))]
        return names if limit < 0 else names[:limit]

    return selected_names_of_partitions(ctx, parent.row, values or (), limit, read, wrapped=wrapped)


# --- by a filter ----------------------------------------------------------------------------------------------------


class Condition(NamedTuple):
    """A filter, with the generation in whose language it is written: it is evaluated by its rules."""

    node: Filter
    dialect: Generation


def parsed(ctx: Context, parent: Partitioned, text: str | None) -> Condition:
    """Parses a filter in the first dialect that can read it; raises Hive's MetaException if it is invalid in all."""
    refused: FilterError | None = None
    for dialect in ctx.dialects:
        try:
            node = parse_filter(text or "", dialect)
            check(node, parent.typed, dialect)
        except FilterError as error:
            refused = refused or error
        else:
            return Condition(node, dialect)
    raise MetaException(str(refused))


def filtered(ctx: Context, tx: Transaction, parent: Partitioned, text: str | None, limit: int = -1) -> list[Row]:
    """The rows that match a filter, in the order of their names."""
    return list(each_satisfying(ctx, tx, parent, parsed(ctx, parent, text), limit))


def each_satisfying(
    ctx: Context, tx: Transaction, parent: Partitioned, wanted: Condition, limit: int = -1, *, ordered: bool = True
) -> Iterator[Row]:
    """As `filtered`, one by one, for a filter that was parsed and checked; all of them may also be read unsorted."""
    where = translate(wanted.node, parent.typed, wanted.dialect, tx)
    if where is not None:
        return in_turn(ctx, partitions.each_matching(tx, parent.row.id, where, limit, ordered=ordered))
    partition_rows = _evaluated(ctx, tx, parent, wanted)
    return iter(partition_rows if limit < 0 else partition_rows[:limit])


def _evaluated(ctx: Context, tx: Transaction, parent: Partitioned, wanted: Condition) -> list[Row]:
    """Conditions that SQL cannot express are evaluated here, on the values in the names."""
    holds = predicate(wanted.node, parent.typed, wanted.dialect)
    all_rows = in_turn(ctx, partitions.each(tx, parent.row.id))
    return [row for row in all_rows if holds(partition_values(row[1], parent.names))]


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
    check_names(ctx, where, tbl_name)
    if ctx.rules.specifies_filtered_tables:
        parent = partitioned_or(ctx, where, tbl_name, ctx.unspecified_table(where, tbl_name or ""))
    else:
        parent = partitioned(ctx, ctx.reader(), where, tbl_name)
    wanted = parsed(ctx, parent, text)
    limit = limit_of(max_parts)
    check_limit(ctx, tbl_name, limit, lambda: number_of(ctx, parent, wanted))
    condition = translate(wanted.node, parent.typed, wanted.dialect, ctx.reader())
    if condition is not None:
        return listed(ctx, parent.where, parent.row, condition, limit)
    with ctx.reading() as tx:
        partition_rows = _evaluated(ctx, tx, parent, wanted)
        return structs(
            splicer(ctx, tx, parent.where, parent.row), partition_rows if limit < 0 else partition_rows[:limit]
        )


@method
def get_num_partitions_by_filter(ctx: Context, db_name: str | None, tbl_name: str | None, filter: str | None) -> int:
    where = ctx.name(db_name)
    parent = partitioned_or(ctx, where, tbl_name, ctx.unspecified_table(where, tbl_name or ""))
    return number_of(ctx, parent, parsed(ctx, parent, filter))


def number_of(ctx: Context, parent: Partitioned, wanted: Condition) -> int:
    """How many partitions match a filter."""
    tx = ctx.reader()
    condition = translate(wanted.node, parent.typed, wanted.dialect, tx)
    if condition is None:
        return len(_evaluated(ctx, tx, parent, wanted))
    return partitions.count_matching(tx, parent.row.id, condition)


# --- their values ---------------------------------------------------------------------------------------------------


@method
def get_partition_values(ctx: Context, request: PartitionValuesRequest) -> PartitionValuesResponse:
    """The values of some keys, as they are in names; with a filter, unescaped and of all keys.

    Both are Hive's behaviour.
    """
    where = ctx.name(request.dbName, request.catName)
    gone = MetaException(f"Error retrieving partition values: {ctx.full_name(where, request.tblName or '')} is missing")
    parent = partitioned_or(ctx, where, request.tblName, gone)
    if not request.partitionKeys:
        raise MetaException("get_partition_values needs the keys whose values are wanted")
    most = request.maxParts if request.maxParts is not None and request.maxParts > 0 else -1
    with ctx.reading() as tx:
        if request.filter:
            names = [row[1] for row in filtered(ctx, tx, parent, request.filter, most)]
            if request.ascending is False:
                names.reverse()
            return _rows([tuple(map(unescape, fragments(name))) for name in names])
        names = partitions.names(tx, parent.row.id)
    unknown = [key.name for key in request.partitionKeys if key.name not in parent.names]
    if unknown:
        raise MetaException(f"Specified key <{unknown[0]}> is not a partitioning key for the table")
    positions = [parent.names.index(key.name or "") for key in request.partitionKeys]
    distinct = [tuple(all_of[at] for at in positions) for all_of in map(fragments, names)]
    if request.applyDistinct is not False:
        distinct = list(dict.fromkeys(distinct))
    return _rows(distinct if most < 0 else distinct[:most])


def fragments(name: str) -> list[str]:
    """The values in a partition's name, still escaped."""
    return [segment.partition("=")[2] for segment in name.split("/")]


def _rows(rows_of_values: list[Values]) -> PartitionValuesResponse:
    return PartitionValuesResponse(tuple(map(PartitionValuesRow, rows_of_values)))

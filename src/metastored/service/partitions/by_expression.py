"""Partitions found by an expression that the client serialized: Hive's own way to prune and to drop partitions."""

from __future__ import annotations

from typing import NamedTuple

from metastored.errors import MetaException
from metastored.hive.filters.expressions import as_filter, pruner, read_expression, repaired_names
from metastored.hive.filters.kryo import Apply, Column, Constant, MalformedExpression, UnreadableExpression
from metastored.hive.filters.kryo_5 import CLASS_BY_NAME, NAMED_ROOT
from metastored.hive.filters.tree import FilterKeyError, NotComparable, check
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_PARTITION, partition_values, unescape
from metastored.service.core import rows
from metastored.service.core.context import Context, Encoded
from metastored.service.core.partition_lists import splicer
from metastored.service.core.serving import method
from metastored.service.partitions.get import Partitioned, partitioned
from metastored.service.partitions.limit import check_limit
from metastored.service.partitions.search import satisfying
from metastored.service.partitions.specs import specs
from metastored.service.statistics.get import find_table
from metastored.service.tables.get import table_name
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import partitions
from metastored.wire.generated.partitions import PartitionsByExprRequest, PartitionsSpecByExprResult


class Chosen(NamedTuple):
    """The rows that an expression lets through, in the order of their names.

    `unknown` says why some may be among them that do not satisfy it.
    """

    rows: list[Row]
    unknown: str | None = None


def chosen(ctx: Context, tx: Transaction, of: Partitioned, data: bytes | None, default: str | None) -> Chosen:
    """The partitions for an expression. One that is not understood lets all of them through."""
    try:
        found = read_expression(data or b"", ctx.generation)
        if not isinstance(found, Column | Constant | Apply):
            try:
                check(found, of.typed, ctx.generation)
            except NotComparable:
                names = repaired_names(data or b"") if ctx.generation >= Generation.HIVE_4_0 else frozenset()
                if not names:
                    raise
                return Chosen([row for row in partitions.each(tx, of.row.id) if unescape(row[1]) in names])
            return Chosen(satisfying(ctx, tx, of, found))
        node = as_filter(found, of.typed, ctx.generation)
        if node is not None:
            return Chosen(satisfying(ctx, tx, of, node))
        verdict = pruner(found, of.typed, ctx.generation, default or DEFAULT_PARTITION)
    except FilterKeyError as error:
        raise MetaException(str(error)) from None
    except UnreadableExpression as error:
        if isinstance(error, MalformedExpression) and not _may_be_of_hive_4(ctx, data):
            raise MetaException(str(error)) from None
        return Chosen(list(partitions.each(tx, of.row.id)), str(error))
    kept: list[Row] = []
    unknown = None
    for row in partitions.each(tx, of.row.id):
        verdict_of_row = verdict(partition_values(row[1], of.names))
        if verdict_of_row is not False:
            kept.append(row)
        if verdict_of_row is None:
            unknown = f"whether the partition {row[1]} satisfies the expression cannot be told from its values"
    return Chosen(kept, unknown)


def _may_be_of_hive_4(ctx: Context, data: bytes | None) -> bool:
    """Hive 4 also reads trees of its own Kryo that do not say what their root is: those look like garbage here."""
    given = data or b""
    return (
        ctx.generation >= Generation.HIVE_4_0 and given.startswith(CLASS_BY_NAME) and not given.startswith(NAMED_ROOT)
    )


def _table(ctx: Context, tx: Transaction, req: PartitionsByExprRequest) -> Partitioned:
    """The table, or that it is missing: since 4.0 in the words of the statistics' calls."""
    where = ctx.name(req.dbName, req.catName)
    if ctx.generation < Generation.HIVE_4_0:
        return partitioned(ctx, tx, where, req.tblName)
    return Partitioned(where, find_table(ctx, tx, where, table_name(req.tblName)))


def _asked(
    ctx: Context, tx: Transaction, req: PartitionsByExprRequest, *, whole: bool = True
) -> tuple[Partitioned, Chosen]:
    """`maxParts` limits the answer; zero is, in this call, no limit. `whole` says that it has more than names."""
    of = _table(ctx, tx, req)
    found = chosen(ctx, tx, of, req.expr, req.defaultPartitionName)
    if whole:
        # Before 4.0 Hive looks at how many there are, whatever number is asked for.
        most = req.maxParts if ctx.generation >= Generation.HIVE_4_0 and req.maxParts is not None else -1
        check_limit(ctx, req.tblName, most, lambda: len(found.rows))
    if req.maxParts is not None and req.maxParts > 0:
        found = found._replace(rows=found.rows[: req.maxParts])
    return of, found


@method
def get_partitions_by_expr(ctx: Context, req: PartitionsByExprRequest) -> Encoded:
    with ctx.reading() as tx:
        of, found = _asked(ctx, tx, req)
        structs = map(splicer(ctx, tx, of.where, of.row).struct, found.rows)
        return Encoded(rows.flagged_list(structs, len(found.rows), found.unknown is not None))


@method
def get_partitions_spec_by_expr(ctx: Context, req: PartitionsByExprRequest) -> PartitionsSpecByExprResult:
    with ctx.reading() as tx:
        of, found = _asked(ctx, tx, req)
        splice = splicer(ctx, tx, of.where, of.row)
        parts = [splice.partition(row) for row in found.rows]
        return PartitionsSpecByExprResult(specs(ctx, of, parts), found.unknown is not None)


@method
def get_partition_names_req(ctx: Context, req: PartitionsByExprRequest) -> tuple[str, ...]:
    """Without an expression, the names of all partitions."""
    if req.order:
        raise MetaException("get_partition_names_req answers in the order of the names: leave `order` out")
    with ctx.reading() as tx:
        if req.expr:
            return tuple(row[1] for row in _asked(ctx, tx, req, whole=False)[1].rows)
        of = _table(ctx, tx, req)
        limit = -1 if req.maxParts is None or req.maxParts < 0 else req.maxParts
        return tuple(partitions.names(tx, of.row.id, limit))

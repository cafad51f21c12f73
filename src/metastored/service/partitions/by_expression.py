"""Partitions by an expression that the client serialized: Hive's own way to prune and to drop partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from metastored.errors import MetaException
from metastored.filters.hive.expressions import as_filter, pruner, read_expression, repaired_names
from metastored.filters.hive.kryo import Apply, Column, Constant, MalformedExpression, UnreadableExpression
from metastored.filters.hive.kryo_5 import CLASS_BY_NAME, NAMED_ROOT
from metastored.filters.hive.tree import FilterKeyError, NotComparable, check
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_PARTITION, partition_values, unescape
from metastored.service.core import rows
from metastored.service.core.context import Context, Encoded
from metastored.service.core.name_lists import names_of_partitions
from metastored.service.core.partition_lists import in_turn, splicer
from metastored.service.core.serving import method
from metastored.service.partitions.get import Partitioned, limit_of, partitioned
from metastored.service.partitions.limit import check_limit
from metastored.service.partitions.search import Condition, each_satisfying
from metastored.service.partitions.specs import specs
from metastored.service.statistics.get import find_table
from metastored.service.tables.get import required_table_name
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import partitions
from metastored.wire.generated.partitions import PartitionsByExprRequest, PartitionsSpecByExprResult


class Chosen(NamedTuple):
    """The rows that satisfy an expression, in the order of their names.

    `unknown` is the reason why some of them may not satisfy it; None if all do.
    """

    rows: list[Row]
    unknown: str | None = None


def chosen(ctx: Context, tx: Transaction, parent: Partitioned, data: bytes | None, default: str | None) -> Chosen:
    """The partitions for an expression. An expression that cannot be evaluated selects all of them.

    It is read in the first dialect that can read it; raises MetaException if it is invalid in all.
    """
    refused: MetaException | None = None
    for dialect in ctx.dialects:
        try:
            return _chosen(ctx, tx, parent, data or b"", default or DEFAULT_PARTITION, dialect)
        except MetaException as error:
            refused = refused or error
    assert refused is not None
    raise refused


def _chosen(
    ctx: Context, tx: Transaction, parent: Partitioned, data: bytes, default: str, dialect: Generation
) -> Chosen:
    def all_rows() -> Iterator[Row]:
        return in_turn(ctx, partitions.each(tx, parent.row.id))

    def satisfying(condition: Condition) -> Chosen:
        return Chosen(list(each_satisfying(ctx, tx, parent, condition)))

    try:
        expression = read_expression(data, dialect)
        if not isinstance(expression, Column | Constant | Apply):
            try:
                check(expression, parent.typed, dialect)
            except NotComparable:
                names = repaired_names(data) if dialect >= Generation.HIVE_4_0 else frozenset()
                if not names:
                    raise
                return Chosen([row for row in all_rows() if unescape(row[1]) in names])
            return satisfying(Condition(expression, dialect))
        node = as_filter(expression, parent.typed, dialect)
        if node is not None:
            return satisfying(Condition(node, dialect))
        verdict = pruner(expression, parent.typed, dialect, default)
    except FilterKeyError as error:
        raise MetaException(str(error)) from None
    except UnreadableExpression as error:
        if isinstance(error, MalformedExpression) and not _may_be_of_hive_4(data, dialect):
            raise MetaException(str(error)) from None
        return Chosen(list(all_rows()), str(error))
    kept: list[Row] = []
    unknown = None
    for row in all_rows():
        verdict_of_row = verdict(partition_values(row[1], parent.names))
        if verdict_of_row is not False:
            kept.append(row)
        if verdict_of_row is None:
            unknown = f"whether the partition {row[1]} satisfies the expression cannot be decided from its values"
    return Chosen(kept, unknown)


def _may_be_of_hive_4(data: bytes, dialect: Generation) -> bool:
    """Hive 4 also reads trees of its own Kryo without the class of their root: they cannot be recognised here."""
    return dialect >= Generation.HIVE_4_0 and data.startswith(CLASS_BY_NAME) and not data.startswith(NAMED_ROOT)


def _table(ctx: Context, tx: Transaction, req: PartitionsByExprRequest) -> Partitioned:
    """Returns the table.

    Raises NoSuchObjectException if it does not exist, since 4.0 with the text of the statistics calls.
    """
    where = ctx.name(req.dbName, req.catName)
    if ctx.generation < Generation.HIVE_4_0:
        return partitioned(ctx, tx, where, req.tblName)
    return Partitioned(where, find_table(ctx, tx, where, required_table_name(req.tblName)))


def _selected(
    ctx: Context, tx: Transaction, req: PartitionsByExprRequest, *, complete: bool = True
) -> tuple[Partitioned, Chosen]:
    """The partitions that a request selects.

    `maxParts` limits them; zero is, in this call, no limit. The limit per call applies to `complete` partitions only.
    """
    parent = _table(ctx, tx, req)
    selected = chosen(ctx, tx, parent, req.expr, req.defaultPartitionName)
    if complete:
        # Before 4.0 Hive checks how many there are, whatever number is requested.
        most = req.maxParts if ctx.generation >= Generation.HIVE_4_0 and req.maxParts is not None else -1
        check_limit(ctx, req.tblName, most, lambda: len(selected.rows))
    if req.maxParts is not None and req.maxParts > 0:
        selected = selected._replace(rows=selected.rows[: req.maxParts])
    return parent, selected


@method
def get_partitions_by_expr(ctx: Context, req: PartitionsByExprRequest) -> Encoded:
    with ctx.reading() as tx:
        parent, selected = _selected(ctx, tx, req)
        structs = map(splicer(ctx, tx, parent.where, parent.row).struct, selected.rows)
        return Encoded(rows.flagged_list(structs, len(selected.rows), selected.unknown is not None))


@method
def get_partitions_spec_by_expr(ctx: Context, req: PartitionsByExprRequest) -> PartitionsSpecByExprResult:
    with ctx.reading() as tx:
        parent, selected = _selected(ctx, tx, req)
        splice = splicer(ctx, tx, parent.where, parent.row)
        parts = [splice.partition(row) for row in selected.rows]
        return PartitionsSpecByExprResult(specs(ctx, parent, parts), selected.unknown is not None)


@method
def get_partition_names_req(ctx: Context, req: PartitionsByExprRequest) -> Encoded | tuple[str, ...]:
    """Without an expression, the names of all partitions."""
    if req.order:
        raise MetaException("get_partition_names_req replies in the order of the names: leave `order` out")
    if not req.expr:
        return names_of_partitions(ctx, _table(ctx, ctx.reader(), req).row, limit_of(req.maxParts))
    with ctx.reading() as tx:
        return tuple(row[1] for row in _selected(ctx, tx, req, complete=False)[1].rows)

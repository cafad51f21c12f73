"""Partitions: getting and listing them. Adding, changing and dropping have files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from skep.errors import MetaException, NoSuchObjectException
from skep.hive import names as hive_names
from skep.hive.filter_parser import parse_filter
from skep.hive.filters import Filter, FilterError, check, predicate
from skep.hive.generation import Generation
from skep.hive.names import PartitionNameError, make_part_name, partition_values
from skep.metastore import rows
from skep.metastore.context import Context, DatabaseName, Encoded
from skep.metastore.java_text import java_text
from skep.metastore.listing import listed, listed_names, splicer
from skep.metastore.tables import find_table, table_name
from skep.store import partitions
from skep.store.partition_filters import translate
from skep.store.partitions import Where
from skep.store.schema import VALUE_COLUMNS
from skep.store.tables import TableRow
from skep.store.transaction import Row, Transaction
from skep.wire.generated.common import FieldSchema, Table


class Partitioned:
    """A table whose partitions a call is about: its row and its keys."""

    __slots__ = ("keys", "names", "row", "table", "where")

    def __init__(self, ctx: Context, tx: Transaction, db_name: str | None, tbl_name: str | None) -> None:
        self.where: DatabaseName = ctx.name(db_name)
        self.row: TableRow = find_table(ctx, tx, self.where, table_name(tbl_name))
        self.table: Table = rows.table_of(self.row, *self.where)
        self.keys: tuple[FieldSchema, ...] = self.table.partitionKeys or ()
        self.names: tuple[str, ...] = tuple(key.name or "" for key in self.keys)

    def part_name(self, values: tuple[str, ...] | None) -> str:
        if values is None:
            raise MetaException("The partition values cannot be null.")
        try:
            return make_part_name(self.names, values)
        except PartitionNameError as error:
            raise MetaException(str(error)) from None

    @property
    def typed(self) -> tuple[tuple[str, str], ...]:
        return tuple((key.name or "", key.type or "") for key in self.keys)


def no_partition(values: tuple[str, ...] | list[str]) -> NoSuchObjectException:
    return NoSuchObjectException(f"partition values={java_text(tuple(values))}")


# --- one partition ------------------------------------------------------------------------------------------------


def get_partition(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None
) -> Encoded:
    tx = ctx.reader()
    of = Partitioned(ctx, tx, db_name, tbl_name)
    return _one(tx, of, of.part_name(part_vals), part_vals or ())


def get_partition_with_auth(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: tuple[str, ...] | None,
    user_name: str | None,
    group_names: tuple[str, ...] | None,
) -> Encoded:
    return get_partition(ctx, db_name, tbl_name, part_vals)


def get_partition_by_name(ctx: Context, db_name: str | None, tbl_name: str | None, part_name: str | None) -> Encoded:
    tx = ctx.reader()
    of = Partitioned(ctx, tx, db_name, tbl_name)
    try:
        values = partition_values(part_name or "", of.names)
    except PartitionNameError as error:
        raise NoSuchObjectException(str(error)) from None
    return _one(tx, of, of.part_name(tuple(values)), values)


def _one(tx: Transaction, of: Partitioned, name: str, values: tuple[str, ...] | list[str]) -> Encoded:
    row = partitions.find(tx, of.row.id, name)
    if row is None:
        raise no_partition(values)
    splice = splicer(tx, of.where, of.row)
    return Encoded(b"".join((b"\x0c\x00\x00", *splice.parts(row), b"\x00")))


# --- lists --------------------------------------------------------------------------------------------------------


def limit_of(max_parts: int | None) -> int:
    """Negative is all."""
    return -1 if max_parts is None or max_parts < 0 else max_parts


def get_partitions(ctx: Context, db_name: str | None, tbl_name: str | None, max_parts: int | None) -> Encoded:
    where = ctx.name(db_name)
    row = find_table(ctx, ctx.reader(), where, table_name(tbl_name))
    return listed(ctx, where, row, None, limit_of(max_parts))


def get_partitions_with_auth(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    max_parts: int | None,
    user_name: str | None,
    group_names: tuple[str, ...] | None,
) -> Encoded:
    return get_partitions(ctx, db_name, tbl_name, max_parts)


def get_partition_names(ctx: Context, db_name: str | None, tbl_name: str | None, max_parts: int | None) -> Encoded:
    row = find_table(ctx, ctx.reader(), ctx.name(db_name), table_name(tbl_name))
    limit = limit_of(max_parts)
    if limit == 0 and ctx.generation < Generation.HIVE_3_1:
        limit = -1  # 2.3 lists all names when asked for none.
    return listed_names(ctx, row, limit)


def get_partitions_by_names(
    ctx: Context, db_name: str | None, tbl_name: str | None, names: tuple[str, ...] | None
) -> Encoded:
    where = ctx.name(db_name)
    with ctx.reading() as tx:
        row = find_table(ctx, tx, where, table_name(tbl_name))
        found = partitions.find_many(tx, row.id, list(dict.fromkeys(names or ())))
        splice = splicer(tx, where, row)
    return _structs(splice, found)


# --- by a part of their values --------------------------------------------------------------------------------------


class _Partial(NamedTuple):
    """Values that are given: a condition on the columns, and the few that lie behind the last column."""

    where: Where
    rest: dict[int, str]

    def matches(self, values: list[str]) -> bool:
        return all(values[at] == value for at, value in self.rest.items())


def _partial(ctx: Context, of: Partitioned, values: tuple[str, ...] | None) -> _Partial:
    """An empty value stands for any."""
    if not values:
        raise MetaException("Invalid partition key & values; keys [], values []")
    if len(values) > len(of.keys):
        shown = str(len(values)) if ctx.generation < Generation.HIVE_3_1 else java_text(values)
        raise MetaException(f"Incorrect number of partition values. numPartKeys={len(of.keys)}, part_val={shown}")
    given = {at: value for at, value in enumerate(values) if value}
    known = [at for at in given if at < len(VALUE_COLUMNS)]
    sql = " AND ".join(f"{VALUE_COLUMNS[at]} = :p{at}" for at in known) or "1 = 1"
    where = Where(sql, {f"p{at}": given[at] for at in known})
    return _Partial(where, {at: value for at, value in given.items() if at >= len(VALUE_COLUMNS)})


def get_partitions_ps(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: tuple[str, ...] | None,
    max_parts: int | None,
) -> Encoded:
    of = Partitioned(ctx, ctx.reader(), db_name, tbl_name)
    wanted = _partial(ctx, of, part_vals)
    limit = limit_of(max_parts)
    if not wanted.rest:
        return listed(ctx, of.where, of.row, wanted.where, limit)
    with ctx.reading() as tx:
        each = partitions.each_matching(tx, of.row.id, wanted.where)
        found = [row for row in each if wanted.matches(partition_values(row[1], of.names))]
        splice = splicer(tx, of.where, of.row)
    return _structs(splice, found if limit < 0 else found[:limit])


def get_partitions_ps_with_auth(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: tuple[str, ...] | None,
    max_parts: int | None,
    user_name: str | None,
    group_names: tuple[str, ...] | None,
) -> Encoded:
    return get_partitions_ps(ctx, db_name, tbl_name, part_vals, max_parts)


def get_partition_names_ps(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: tuple[str, ...] | None,
    max_parts: int | None,
) -> tuple[str, ...]:
    tx = ctx.reader()
    of = Partitioned(ctx, tx, db_name, tbl_name)
    wanted = _partial(ctx, of, part_vals)
    limit = limit_of(max_parts)
    found = partitions.names_matching(tx, of.row.id, wanted.where, -1 if wanted.rest else limit)
    if wanted.rest:
        found = [name for name in found if wanted.matches(partition_values(name, of.names))]
    return tuple(found if limit < 0 else found[:limit])


def _structs(splice: rows.Splicer, found: Sequence[Row]) -> Encoded:
    return Encoded(rows.list_reply(map(splice.struct, found), len(found)))


# --- by a filter ----------------------------------------------------------------------------------------------------


def parsed(ctx: Context, of: Partitioned, text: str | None) -> Filter:
    """The filter, or the MetaException that Hive gives for it."""
    try:
        node = parse_filter(text or "", ctx.generation)
        check(node, of.typed, ctx.generation)
    except FilterError as error:
        raise MetaException(str(error)) from None
    return node


def get_partitions_by_filter(
    ctx: Context, db_name: str | None, tbl_name: str | None, filter: str | None, max_parts: int | None
) -> Encoded:
    of = Partitioned(ctx, ctx.reader(), db_name, tbl_name)
    node = parsed(ctx, of, filter)
    limit = limit_of(max_parts)
    where = translate(node, of.typed, ctx.generation, ctx.reader())
    if where is not None:
        return listed(ctx, of.where, of.row, where, limit)
    with ctx.reading() as tx:
        found = _evaluated(ctx, tx, of, node)
        splice = splicer(tx, of.where, of.row)
    return _structs(splice, found if limit < 0 else found[:limit])


def get_num_partitions_by_filter(ctx: Context, db_name: str | None, tbl_name: str | None, filter: str | None) -> int:
    tx = ctx.reader()
    of = Partitioned(ctx, tx, db_name, tbl_name)
    node = parsed(ctx, of, filter)
    where = translate(node, of.typed, ctx.generation, tx)
    return len(_evaluated(ctx, tx, of, node)) if where is None else partitions.count_matching(tx, of.row.id, where)


def _evaluated(ctx: Context, tx: Transaction, of: Partitioned, node: Filter) -> list[Row]:
    """What SQL cannot say is decided here, on the values in the names."""
    holds = predicate(node, of.typed, ctx.generation)
    return [row for row in partitions.each(tx, of.row.id) if holds(partition_values(row[1], of.names))]


# --- names ----------------------------------------------------------------------------------------------------------


def partition_name_has_valid_characters(
    ctx: Context, part_vals: tuple[str, ...] | None, throw_exception: bool | None
) -> bool:
    """No pattern of allowed characters is configured by default, so every name is valid."""
    return True


def partition_name_to_vals(ctx: Context, part_name: str | None) -> tuple[str, ...]:
    return tuple(hive_names.partition_name_to_vals(part_name or ""))


def partition_name_to_spec(ctx: Context, part_name: str | None) -> dict[str, str]:
    return hive_names.partition_name_to_spec(part_name or "")

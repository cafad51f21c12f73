"""Partitions: one of them, all of them, their names. Other operations have modules of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from metastored.errors import InvalidObjectException, MetaException, MetastoreError, NoSuchObjectException
from metastored.hive import names as hive_names
from metastored.hive.names import DEFAULT_PARTITION, PartitionNameError, make_part_name, partition_values
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.context import Context, Encoded
from metastored.service.core.java_text import java_text
from metastored.service.core.name_lists import names_of_partitions
from metastored.service.core.partition_lists import in_turn, listed, named, splicer, structs
from metastored.service.core.serving import method
from metastored.service.partitions.limit import check_limit, check_limit_since_4
from metastored.service.partitions.privileges import by_partition, with_privileges
from metastored.service.tables.get import find_table, required_table_name
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import partitions, tables
from metastored.store.objects.partitions import PartitionRow
from metastored.store.objects.tables import TableRow
from metastored.wire.codec import binary
from metastored.wire.generated.common import FieldSchema, Table
from metastored.wire.generated.partitions import (
    GetPartitionRequest,
    GetPartitionsByNamesRequest,
    PartitionsRequest,
)
from metastored.wire.structs import replace

Values = tuple[str, ...]


class Partitioned:
    """A table whose partitions a call is about: its row and its keys."""

    __slots__ = ("keys", "names", "row", "table", "where")

    def __init__(self, where: DatabaseName, row: TableRow) -> None:
        self.where = where
        self.row = row
        self.table: Table = rows.table_of(row, *where)
        self.keys: tuple[FieldSchema, ...] = self.table.partitionKeys or ()
        self.names: tuple[str, ...] = tuple(key.name or "" for key in self.keys)

    def part_name(self, values: Values | None) -> str:
        if values is None:
            raise MetaException("The partition values must not be null or empty.")
        try:
            return make_part_name(self.names, values)
        except PartitionNameError as error:
            raise MetaException(str(error)) from None

    @property
    def typed(self) -> tuple[tuple[str, str], ...]:
        return tuple((key.name or "", key.type or "") for key in self.keys)

    @property
    def location(self) -> str | None:
        return self.table.sd.location if self.table.sd is not None else None


def partitioned(ctx: Context, tx: Transaction, where: DatabaseName, name: str | None) -> Partitioned:
    """Returns the table; raises NoSuchObjectException if it does not exist."""
    return Partitioned(where, find_table(ctx, tx, where, name))


def partitioned_or(ctx: Context, where: DatabaseName, name: str | None, missing: Exception) -> Partitioned:
    """As `partitioned`, for calls with an error of their own for a missing table."""
    row = tables.find(ctx.reader(), *where, required_table_name(name))
    if row is None:
        raise missing
    return Partitioned(where, row)


def values_in(parent: Partitioned, name: str | None, malformed: type[MetastoreError]) -> Values:
    """The values in a partition's name; `malformed` is the error for a name that does not match the table's keys."""
    if not name:
        raise MetaException(f"Partition name is invalid. {'null' if name is None else name}")
    try:
        return tuple(partition_values(name, parent.names))
    except PartitionNameError as error:
        raise malformed(str(error)) from None


def no_partition(values: Values | list[str]) -> NoSuchObjectException:
    return NoSuchObjectException(f"partition values={java_text(tuple(values))}")


# --- one ----------------------------------------------------------------------------------------------------------


@method
def get_partition(ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: Values | None) -> Encoded:
    return Encoded(rows.table_reply(_one(ctx, ctx.name(db_name), tbl_name, part_vals)))


@method
def get_partition_with_auth(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: Values | None,
    user_name: str | None,
    group_names: tuple[str, ...] | None,
) -> Encoded:
    tx = ctx.reader()
    parent = partitioned(ctx, tx, ctx.name(db_name), tbl_name)
    row, struct = _row_and_struct(ctx, tx, parent, part_vals)
    if by_partition(parent.row):
        (struct,) = with_privileges(tx, parent.row, [(row, struct)], user_name, group_names)
    return Encoded(rows.table_reply(struct))


@method
def get_partition_req(ctx: Context, req: GetPartitionRequest) -> Encoded:
    return Encoded(rows.wrapped_reply(_one(ctx, ctx.name(req.dbName, req.catName), req.tblName, req.partVals)))


@method
def get_partition_by_name(ctx: Context, db_name: str | None, tbl_name: str | None, part_name: str | None) -> Encoded:
    where = ctx.name(db_name)
    missing = ctx.no_table(where, tbl_name or "")
    if ctx.rules.names_missing_tables:
        missing = NoSuchObjectException(f"{where.database}.{tbl_name} table not found")
    parent = partitioned_or(ctx, where, tbl_name, missing)
    values = values_in(parent, part_name, NoSuchObjectException)
    return Encoded(rows.table_reply(_row_and_struct(ctx, ctx.reader(), parent, values)[1]))


def _one(ctx: Context, where: DatabaseName, tbl_name: str | None, values: Values | None) -> bytes:
    if ctx.rules.names_missing_tables:
        parent = partitioned_or(ctx, where, tbl_name, _missing(ctx, where, tbl_name))
    else:
        parent = partitioned(ctx, ctx.reader(), where, tbl_name)
    return _row_and_struct(ctx, ctx.reader(), parent, values)[1]


def _missing(ctx: Context, where: DatabaseName, name: str | None) -> NoSuchObjectException:
    return NoSuchObjectException(f"Unable to get partition because {ctx.full_name(where, name or '')} does not exist")


def _row_and_struct(
    ctx: Context, tx: Transaction, parent: Partitioned, values: Values | None
) -> tuple[PartitionRow, bytes]:
    """A partition's row, and the struct to return."""
    row = partitions.find(tx, parent.row.id, parent.part_name(values))
    if row is None:
        raise no_partition(values or ())
    splice = splicer(ctx, tx, parent.where, parent.row)
    if "" in (values or ()) or DEFAULT_PARTITION in (values or ()):
        # There are two ways to write the default partition: the reply has the caller's.
        return row, binary.encode(replace(splice.partition(row), values=values))
    return row, splice.struct(row)


# --- lists --------------------------------------------------------------------------------------------------------


def check_names(ctx: Context, where: DatabaseName, table: str | None) -> None:
    """Raises an error for an empty name in a call that lists partitions, where the generation refuses it."""
    if ctx.rules.refuses_empty_names and (not where.database or table == ""):
        raise NoSuchObjectException(f"{'tblName' if where.database else 'dbName'} is not valid")


def limit_of(max_parts: int | None) -> int:
    """Negative is all."""
    return -1 if max_parts is None or max_parts < 0 else max_parts


@method
def get_partitions(ctx: Context, db_name: str | None, tbl_name: str | None, max_parts: int | None) -> Encoded:
    where = ctx.name(db_name)
    row = _counted_or_forgiven(ctx, where, tbl_name)
    if row is None:
        return Encoded(rows.list_reply((), 0))
    check_limit(ctx, tbl_name, limit_of(max_parts), _counted(ctx, row))
    return listed(ctx, where, row, None, limit_of(max_parts))


def _counted(ctx: Context, row: TableRow) -> Callable[[], int]:
    return lambda: partitions.count(ctx.reader(), row.id)


@method
def get_partitions_with_auth(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    max_parts: int | None,
    user_name: str | None,
    group_names: tuple[str, ...] | None,
) -> Encoded:
    where = ctx.name(db_name)
    check_names(ctx, where, tbl_name)
    row = tables.find(ctx.reader(), *where, required_table_name(tbl_name))
    if row is None and (ctx.rules.lists_missing_table_as_empty or ctx.service.partition_limit >= 0):
        # With a limit Hive counts the partitions first.
        raise ctx.no_table(where, tbl_name or "")
    if row is None:
        # Before, only this form treats a missing table as one without partitions.
        return Encoded(rows.list_reply((), 0))
    check_limit(ctx, tbl_name, limit_of(max_parts), _counted(ctx, row))
    for_whom = user_name is not None and group_names is not None
    if (for_whom or not ctx.rules.grants_for_user_and_groups) and by_partition(row):
        with ctx.reading() as tx:
            partition_rows = partitions.each(tx, row.id, limit_of(max_parts))
            return listed_for(ctx, tx, where, row, partition_rows, user_name, group_names)
    return listed(ctx, where, row, None, limit_of(max_parts))


def listed_for(
    ctx: Context,
    tx: Transaction,
    where: DatabaseName,
    row: TableRow,
    partition_rows: Iterable[Row],
    user: str | None,
    groups: tuple[str, ...] | None,
    *,
    wrapped: bool = False,
) -> Encoded:
    """Partitions of a table with grants by partition, each with the privileges of a user on it."""
    splice = splicer(ctx, tx, where, row)
    described = ((part, splice.struct(part)) for part in in_turn(ctx, iter(partition_rows)))
    shown = with_privileges(tx, row, described, user, groups)
    return Encoded((rows.wrapped_list if wrapped else rows.list_reply)(shown, len(shown)))


@method
def get_partitions_req(ctx: Context, req: PartitionsRequest) -> Encoded:
    where = ctx.name(req.dbName, req.catName)
    row = _counted_or_forgiven(ctx, where, req.tblName)
    if row is None:
        return Encoded(rows.wrapped_list((), 0))
    check_limit(ctx, req.tblName, limit_of(req.maxParts), _counted(ctx, row))
    return listed(ctx, where, row, None, limit_of(req.maxParts), wrapped=True)


def _counted_or_forgiven(ctx: Context, where: DatabaseName, name: str | None) -> TableRow | None:
    """As `_forgiven`. With a limit Hive counts the partitions first, and a missing table has none to count."""
    row = _forgiven(ctx, where, name)
    if row is None and ctx.service.partition_limit >= 0:
        raise ctx.unspecified_table(where, name or "")
    return row


def _forgiven(ctx: Context, where: DatabaseName, name: str | None) -> TableRow | None:
    """Returns the table; None where the generation treats a missing one as one without partitions."""
    check_names(ctx, where, name)
    if ctx.rules.lists_missing_table_as_empty:
        return tables.find(ctx.reader(), *where, required_table_name(name))
    return find_table(ctx, ctx.reader(), where, name)


@method
def get_partition_names(
    ctx: Context, db_name: str | None, tbl_name: str | None, max_parts: int | None
) -> Encoded | tuple[str, ...]:
    where = ctx.name(db_name)
    try:
        check_names(ctx, where, tbl_name)
    except NoSuchObjectException as error:
        # Of the calls that list partitions, only this one does not declare a NoSuchObjectException.
        raise MetaException(f"NoSuchObjectException(message:{error})") from None
    row = _forgiven(ctx, where, tbl_name)
    return () if row is None else _names(ctx, row, max_parts)


@method
def fetch_partition_names_req(ctx: Context, partitionReq: PartitionsRequest) -> Encoded | tuple[str, ...]:
    row = _forgiven(ctx, ctx.name(partitionReq.dbName, partitionReq.catName), partitionReq.tblName)
    return () if row is None else _names(ctx, row, partitionReq.maxParts)


def _names(ctx: Context, row: TableRow, max_parts: int | None) -> Encoded:
    limit = limit_of(max_parts)
    return names_of_partitions(ctx, row, -1 if limit == 0 and not ctx.rules.names_max_0_is_none else limit)


@method
def get_partitions_by_names(
    ctx: Context, db_name: str | None, tbl_name: str | None, names: tuple[str, ...] | None
) -> Encoded:
    where = ctx.name(db_name)
    with ctx.reading() as tx:
        row, partition_rows = _by_names(ctx, tx, where, tbl_name, names)
        return structs(splicer(ctx, tx, where, row), partition_rows)


@method
def get_partitions_by_names_req(ctx: Context, req: GetPartitionsByNamesRequest) -> Encoded:
    where = ctx.name(req.db_name)
    with ctx.reading() as tx:
        row, partition_rows = _by_names(ctx, tx, where, req.tbl_name, req.names)
        return structs(splicer(ctx, tx, where, row, req.processorCapabilities), partition_rows, wrapped=True)


def _by_names(
    ctx: Context, tx: Transaction, where: DatabaseName, tbl_name: str | None, names: tuple[str, ...] | None
) -> tuple[TableRow, Sequence[Row]]:
    check_names(ctx, where, tbl_name)
    row = tables.find(tx, *where, required_table_name(tbl_name))
    if names is None:
        raise MetaException("The names of the partitions must not be null.")
    if row is None and ctx.rules.names_missing_tables:
        raise InvalidObjectException(f"{ctx.full_name(where, tbl_name or '')} table not found")
    if row is None:
        raise ctx.no_table(where, tbl_name or "")
    check_limit_since_4(ctx, tbl_name, -1, lambda: len(names or ()))
    return row, named(ctx, tx, row.id, names)


# --- names ----------------------------------------------------------------------------------------------------------


@method
def partition_name_has_valid_characters(ctx: Context, part_vals: Values | None, throw_exception: bool | None) -> bool:
    """By default no pattern of allowed characters is configured, so every name is valid."""
    return True


@method
def partition_name_to_vals(ctx: Context, part_name: str | None) -> Values:
    return tuple(hive_names.partition_name_to_vals(part_name or ""))


@method
def partition_name_to_spec(ctx: Context, part_name: str | None) -> dict[str, str]:
    return hive_names.partition_name_to_spec(part_name or "")

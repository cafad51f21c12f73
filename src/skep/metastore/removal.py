"""Removing a table with its partitions and, where Hive would, its data. Used by the drops of tables and databases."""

from __future__ import annotations

from typing import Final

from skep.errors import MetaException
from skep.hive.locations import is_under
from skep.metastore import normal, rows
from skep.metastore.changes import record
from skep.metastore.context import Context, DatabaseName
from skep.metastore.directories import plan_removal
from skep.metastore.documents import Kind
from skep.store import partitions, tables
from skep.store.resources import table_dropped
from skep.store.tables import TableRow
from skep.store.transaction import Transaction
from skep.store.write_ids import TableName
from skep.wire import binary
from skep.wire.generated.common import Table
from skep.wire.generated.indexes import Index

INDEXES: Final = Kind("index", Index)
"""The indexes of Hive 2.3; the parent is the table that one is of."""


def remove_with_indexes(
    ctx: Context, tx: Transaction, where: DatabaseName, name: str, *, delete_data: bool
) -> list[int]:
    """Removes a table that a caller named, and the tables of its indexes."""
    row = tables.find(tx, *where, name)
    planned: list[int] = []
    if row is not None:
        if row.type == "INDEX_TABLE":
            raise MetaException(f"The table {name} is an index table. Please do drop index instead.")
        for index in INDEXES.below(tx, str(row.id)):
            own = index.value.indexTableName or ""
            if tables.find(tx, *where, own) is not None:
                planned += remove_table(ctx, tx, where, own, delete_data=True)
    return planned + remove_table(ctx, tx, where, name, delete_data=delete_data)


def remove_table(ctx: Context, tx: Transaction, where: DatabaseName, name: str, *, delete_data: bool) -> list[int]:
    """Removes the table that `name` is; the jobs that remove its directories come back."""
    row = tables.find(tx, *where, name)
    if row is None:
        raise ctx.no_table(where, name)
    tables.lock(tx, row.id)
    table = rows.table_of(row, *where)
    owned = delete_data and normal.owns_data(table, ctx.rules)
    planned = [plan_removal(ctx, tx, uri) for uri in _data_of(tx, row, table)] if owned else []
    tables.delete(tx, row.id)
    table_dropped(tx, TableName(*where, name))
    record(ctx, tx, "DROP_TABLE", where, name, [("table", binary.encode(table))])
    return planned


def _data_of(tx: Transaction, row: TableRow, table: Table) -> list[str]:
    """The directories that go with a table: its own, and those of partitions that lie elsewhere."""
    if table.sd is None or not table.sd.location:
        return []
    root = table.sd.location
    return [root, *(uri for uri in partitions.own_locations(tx, row.id, root) if not is_under(uri, root))]

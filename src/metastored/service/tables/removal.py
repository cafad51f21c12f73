"""Removing a table with its partitions and, where Hive does, its data. Used to drop tables and databases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from metastored.errors import MetaException
from metastored.hive.locations import is_under
from metastored.model import kinds
from metastored.model.names import DatabaseName
from metastored.model.remotes.values import is_remote
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.conflicts import locked, no_pending_job
from metastored.service.core.context import Context
from metastored.service.core.documents import Kind
from metastored.service.core.removing import deletes_data, plan_removal, purges
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import partitions, remotes, tables
from metastored.store.objects.tables import TableRow
from metastored.store.transactions.resources import table_dropped
from metastored.wire.codec import binary
from metastored.wire.generated.common import AsyncOperationResp, EnvironmentContext, Table
from metastored.wire.generated.indexes import Index

DONE: Final = AsyncOperationResp(finished=True)
"""The reply to a drop: it is complete when the reply is sent. Older clients expect no value and ignore it."""
INDEXES: Final = Kind("index", Index)
"""The indexes of Hive 2.3; the parent is the indexed table."""


def remove_with_indexes(
    ctx: Context,
    tx: Transaction,
    where: DatabaseName,
    name: str,
    *,
    delete_data: bool,
    env: EnvironmentContext | None = None,
) -> list[int]:
    """Removes a table that a caller named, and the tables of its indexes."""
    row = tables.find(tx, *where, name)
    if row is None:
        raise ctx.no_table(where, name)
    if row.type == kinds.INDEX:
        raise MetaException(f"The table {name} is an index table. Please do drop index instead.")
    own = [index.value.indexTableName or "" for index in INDEXES.below(tx, str(row.id))]
    indexes = [existing for each in own if (existing := tables.find(tx, *where, each)) is not None]
    chosen = lock_all(tx, [row, *indexes])
    planned: list[int] = []
    for index in chosen[1:]:
        planned += remove_table(ctx, tx, where, index, delete_data=True, planned=planned)
    return planned + remove_table(ctx, tx, where, chosen[0], delete_data=delete_data, planned=planned, env=env)


def lock_all(tx: Transaction, table_rows: Sequence[TableRow]) -> list[TableRow]:
    """Locks tables in the order of their names, all before the first event is recorded; returns their current rows."""
    current = {row.id: locked(tx, row) for row in sorted(table_rows, key=lambda row: row.name)}
    return [current[row.id] for row in table_rows]


def remove_table(
    ctx: Context,
    tx: Transaction,
    where: DatabaseName,
    row: TableRow,
    *,
    delete_data: bool,
    planned: Sequence[int],
    env: EnvironmentContext | None = None,
) -> list[int]:
    """Removes a table that is locked; returns the jobs that remove its directories.

    `planned` are the jobs of tables that the same transaction has removed before.
    """
    name = row.name
    table = rows.table_of(row, *where)
    owned = delete_data and deletes_data(ctx, table)
    directories = _data_of(tx, row, table) if owned else []
    no_pending_job(tx, directories, own=planned)
    purge = purges(table, env)
    jobs = [plan_removal(ctx, tx, uri, purge=purge) for uri in directories]
    tables.delete(tx, row.id)
    if is_remote(table.parameters):
        remotes.changed(tx)
    table_dropped(tx, where.table(name))
    record(ctx, tx, "DROP_TABLE", where, name, [("table", binary.encode(table))])
    return jobs


def own_directory(ctx: Context, where: DatabaseName, row: TableRow) -> str | None:
    """The directory that is removed with a table, according to its own row."""
    table = rows.table_of(row, *where)
    return table.sd.location if table.sd is not None and deletes_data(ctx, table) else None


def _data_of(tx: Transaction, row: TableRow, table: Table) -> list[str]:
    """The directories that are removed with a table: its own, and those of partitions in other directories."""
    if table.sd is None or not table.sd.location:
        return []
    root = table.sd.location
    return [root, *(uri for uri in partitions.own_locations(tx, row.id, root) if not is_under(uri, root))]

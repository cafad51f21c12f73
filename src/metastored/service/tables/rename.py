"""Renaming a table: whether its directory moves, to which location, and the rollback if that fails.

The new location is computed once, before the transaction of `alter.py`, which restarts the call if the table
or a database has changed since. It writes the new name and a job for the directory; the directory moves after the
commit. When the move fails, the rename is rolled back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from metastored.errors import InvalidOperationException, MetaException
from metastored.hive.locations import join, parent, same_location
from metastored.hive.locations import name as last_name
from metastored.hive.names import DEFAULT_CATALOG, directory_name
from metastored.model import kinds
from metastored.model.names import DatabaseName
from metastored.model.origins import is_iceberg
from metastored.service.core import rows, translation
from metastored.service.core.changes import record
from metastored.service.core.compat import Rules
from metastored.service.core.conflicts import no_pending_job
from metastored.service.core.context import Context
from metastored.service.core.directories import move_or_roll_back, plan_move
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases, partitions, tables
from metastored.store.objects.databases import DatabaseRow
from metastored.store.objects.tables import TableRow
from metastored.store.transactions.resources import table_renamed
from metastored.wire.codec import binary
from metastored.wire.generated.common import Table
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace


def keeps_location(rules: Rules, before: Table, after: Table) -> bool:
    """Whether a rename leaves the location to the server: not for views, external tables, or a new location."""
    if _is_translated(rules, before, after):
        return True
    source = before.sd.location if before.sd is not None else None
    location = after.sd.location if after.sd is not None else None
    unchanged = not location or (source is not None and same_location(location, source))
    return not kinds.is_view(before) and not kinds.is_external(before) and unchanged


def keeps_files(rules: Rules, before: Table, after: Table) -> bool:
    """Whether a rename changes no file: it moves the data or, in Hive 4, leaves an external table's in place."""
    if rules.moves_translated and kinds.is_external(before) and not is_iceberg(after):
        return True
    return keeps_location(rules, before, after)


def _is_translated(rules: Rules, before: Table, after: Table) -> bool:
    return rules.moves_translated and translation.follows_renames(before) and translation.follows_renames(after)


class DatabaseRows(NamedTuple):
    """The rows of the old and the new database; None where there is none."""

    source: DatabaseRow | None
    target: DatabaseRow | None


def find_databases(tx: Transaction, where: DatabaseName, target: DatabaseName, *, locked: bool = False) -> DatabaseRows:
    """The databases of a rename, which stays in one catalog; with `locked`, nobody can drop them."""
    by_name = databases.find_many(tx, where.catalog, {where.database, target.database}, locked=locked)
    return DatabaseRows(by_name.get(where.database), by_name.get(target.database))


class Plan(NamedTuple):
    """The effect of a rename on the table's location. Valid while the table and its databases are unchanged."""

    database_rows: DatabaseRows
    keeps_location: bool
    """Whether the server chooses the location; then it stays or becomes `destination`."""
    destination: str | None


def planned(
    ctx: Context, where: DatabaseName, target: DatabaseName, before: Table, after: Table, database_rows: DatabaseRows
) -> Plan:
    """Computes, once for each call, the new location of a renamed table."""
    source = before.sd.location if before.sd is not None else None
    if not source or not keeps_location(ctx.rules, before, after):
        return Plan(database_rows, False, None)
    return Plan(database_rows, True, _destination(ctx, source, before, after, where, target, database_rows))


class Move(NamedTuple):
    """A directory that moves with its table's new name."""

    source: str
    target: str
    job: int
    before: Table
    after: Table
    row: TableRow
    database: DatabaseName
    """The table's present database."""


def rename(
    ctx: Context,
    tx: Transaction,
    row: TableRow,
    before: Table,
    after: Table,
    where: DatabaseName,
    target: DatabaseName,
    plan: Plan,
) -> tuple[Table, Move | None]:
    """Renames everything that refers to the table, and moves the directory of a managed table at its default location.

    The caller holds the locks under which the plan is still valid, and writes the new name with the rest of the row.
    """
    if plan.database_rows.target is None:
        raise InvalidOperationException(
            f"Unable to change partition or table. Database {where.database} does not exist"
            f" Check metastore logs for detailed stack.{target.database}"
        )
    table_renamed(tx, where.table(row.name), target.table(after.tableName or ""))
    if not plan.keeps_location:
        return after, None
    assert before.sd is not None and before.sd.location and after.sd is not None
    source, destination = before.sd.location, plan.destination
    if destination is None:
        # The table has a location of its own: it stays there, like an external one.
        return replace(after, sd=replace(after.sd, location=source)), None
    after = replace(after, sd=replace(after.sd, location=destination))
    partitions.relocate(tx, row.id, source, destination)
    no_pending_job(tx, [source, destination])
    job = plan_move(ctx, tx, source, destination)
    return after, Move(source, destination, job, before, after, row, target)


def _destination(
    ctx: Context,
    source: str,
    before: Table,
    after: Table,
    where: DatabaseName,
    target: DatabaseName,
    database_rows: DatabaseRows,
) -> str | None:
    """The new directory of a renamed table; None if its location is not the default one below its database."""
    if database_rows.source is None or database_rows.target is None:
        return None
    old, new = (
        rows.database_of(database_rows.source, where.catalog),
        rows.database_of(database_rows.target, target.catalog),
    )
    if _is_translated(ctx.rules, before, after):
        root = translation.external_directory(new, ctx.warehouse.root)
    else:
        old_root, above = _home(ctx, old), parent(source)
        if not old_root or above is None or not same_location(above, old_root):
            return None
        name = before.tableName or ""
        if last_name(source).lower() not in (name, directory_name(name)):
            return None
        root = _home(ctx, new)
    if not root:
        raise MetaException(f"database {target.database} has no location to move the table to")
    return join(root, directory_name(after.tableName or ""))


def _home(ctx: Context, database: Database) -> str | None:
    """The directory that contains the managed tables of a database."""
    if ctx.rules.separates_managed_location:
        return translation.managed_directory(database, ctx.warehouse.root)
    return database.locationUri


def check_free(ctx: Context, target: DatabaseName, after: Table, plan: Plan) -> None:
    """Raises an error if the target directory exists, before anything is written."""
    destination = plan.destination
    if destination is None or not ctx.warehouse.exists(destination):
        return
    with ctx.reading() as tx:
        if tables.find(tx, *target, after.tableName or "") is not None:
            return  # The transaction reports that the name is taken.
        no_pending_job(tx, [destination])
    # Check again: a job that removes the directory may have finished before its row was looked up.
    if ctx.warehouse.exists(destination):
        raise _occupied(ctx, target, destination)


def check_location(
    ctx: Context, target: DatabaseName, before: Table, after: Table, database_rows: Callable[[], DatabaseRows]
) -> None:
    """From Hive 4 on, a managed table may be moved only to a directory of managed tables.

    A translated table whose directory follows its name needs a database to move to.
    """
    if not ctx.rules.translates_managed or target.catalog != DEFAULT_CATALOG:
        return
    locations = [table.sd.location if table.sd is not None else None for table in (before, after)]
    if None in locations:
        return
    moved = locations[0] != locations[1]
    renamed = (target.database, after.tableName) != (before.dbName, before.tableName)
    follows = renamed and translation.follows_renames(before) and translation.follows_renames(after)
    if not moved and not follows:
        return
    row = database_rows().target
    if row is None:
        raise MetaException(f"Database {target.database} for table {after.tableName} could not be found")
    if moved:
        translation.check_location(after, rows.database_of(row, target.catalog), ctx.warehouse.root)


def _occupied(ctx: Context, target: DatabaseName, destination: str) -> InvalidOperationException:
    new = ctx.full_name(target, last_name(destination))
    return InvalidOperationException(f"New location for this table {new} already exists : {destination}")


def move_directory(ctx: Context, target: DatabaseName, move: Move) -> None:
    """Moves the directory of a renamed table; rolls the rename back if that fails."""
    old = f"{move.before.dbName}.{move.before.tableName}"
    move_or_roll_back(
        ctx,
        move.job,
        move.source,
        move.target,
        occupied=lambda: _occupied(ctx, target, move.target),
        failed=lambda error: InvalidOperationException(
            f"Alter Table operation for {old} failed to move data due to: '{error}'"
        ),
        take_back=lambda tx: _roll_back(ctx, tx, move),
    )


def _roll_back(ctx: Context, tx: Transaction, move: Move) -> None:
    """Rolls a rename back.

    Old name and location, with an event of its own, because readers of the log saw the first.
    """
    tables.lock(tx, move.row.id)
    row = tables.find_by_id(tx, move.row.id)
    if row is None or row.name != last_name(move.target):
        # Another call dropped or renamed it in the meantime: that change stays.
        return
    now = rows.table_of(row, *move.database)
    back = DatabaseName(move.database.catalog, move.before.dbName or "")
    if rows.table_columns(move.after).body == row.body:
        restored = move.before
    else:
        # Other changes in the meantime stay; only the name and the location are rolled back.
        sd = replace(now.sd, location=move.source) if now.sd is not None else None
        restored = replace(now, dbName=back.database, tableName=move.row.name, sd=sd)
    if tables.find(tx, *back, move.row.name) is None:
        table_renamed(tx, move.database.table(row.name), back.table(move.row.name))
        tables.rename(tx, row.id, move.row.db_id, move.row.name)
    else:
        # Another table has its old name: it keeps the new one, with the location of its files.
        back = move.database
        restored = replace(restored, dbName=now.dbName, tableName=now.tableName)
    tables.update(tx, row.id, **rows.table_columns(restored)._asdict())
    partitions.relocate(tx, row.id, move.target, move.source)
    objects = [("before", binary.encode(now)), ("after", binary.encode(restored))]
    record(ctx, tx, "ALTER_TABLE", back, restored.tableName, objects)

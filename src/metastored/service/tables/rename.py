"""Renaming a table: whether its directory follows, where to, and the way back if it cannot.

Where the directory goes is worked out once, before the transaction of `alter.py`, which restarts the call if the table
or a database has changed since. It writes the new name and a job for the directory; the directory moves after the
commit. When the move fails, the rename is rolled back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from metastored.errors import InvalidOperationException, MetaException
from metastored.hive.locations import join, parent, same_location
from metastored.hive.locations import name as last_name
from metastored.hive.names import DEFAULT_CATALOG
from metastored.model import kinds
from metastored.model.names import DatabaseName
from metastored.model.origins import is_iceberg
from metastored.service.core import rows, translation
from metastored.service.core.changes import record
from metastored.service.core.compat import Rules
from metastored.service.core.conflicts import no_pending_job
from metastored.service.core.context import Context
from metastored.service.core.directories import move_or_take_back, plan_move
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases, partitions, tables
from metastored.store.objects.databases import DatabaseRow
from metastored.store.objects.tables import TableRow
from metastored.store.transactions.resources import table_renamed
from metastored.wire import binary
from metastored.wire.generated.common import Table
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace


def keeps_place(rules: Rules, before: Table, wanted: Table) -> bool:
    """Whether a rename leaves the location to the server: not for views, external tables, or a new location."""
    if _is_translated(rules, before, wanted):
        return True
    source = before.sd.location if before.sd is not None else None
    given = wanted.sd.location if wanted.sd is not None else None
    unchanged = not given or (source is not None and same_location(given, source))
    return not kinds.is_view(before) and not kinds.is_external(before) and unchanged


def keeps_files(rules: Rules, before: Table, wanted: Table) -> bool:
    """Whether a rename changes no file: it takes the data along or, in Hive 4, leaves an external table's alone."""
    if rules.moves_translated and kinds.is_external(before) and not is_iceberg(wanted):
        return True
    return keeps_place(rules, before, wanted)


def _is_translated(rules: Rules, before: Table, wanted: Table) -> bool:
    return rules.moves_translated and translation.follows_renames(before) and translation.follows_renames(wanted)


class Homes(NamedTuple):
    """The rows of the databases that a table leaves and enters; None where there is none."""

    source: DatabaseRow | None
    target: DatabaseRow | None


def find_homes(tx: Transaction, where: DatabaseName, target: DatabaseName, *, locked: bool = False) -> Homes:
    """The databases of a rename, which stays in one catalog; with `locked`, nobody can drop them."""
    found = databases.find_many(tx, where.catalog, {where.database, target.database}, locked=locked)
    return Homes(found.get(where.database), found.get(target.database))


class Plan(NamedTuple):
    """What a rename does to the table's location. It holds while the table and its databases are unchanged."""

    homes: Homes
    keeps_place: bool
    """Whether the server decides where the table is; then it stays where it is or moves to `destination`."""
    destination: str | None


def planned(
    ctx: Context, where: DatabaseName, target: DatabaseName, before: Table, wanted: Table, homes: Homes
) -> Plan:
    """Works out, once for the whole call, where a renamed table's directory goes."""
    source = before.sd.location if before.sd is not None else None
    if not source or not keeps_place(ctx.rules, before, wanted):
        return Plan(homes, False, None)
    return Plan(homes, True, _destination(ctx, source, before, wanted, where, target, homes))


class Move(NamedTuple):
    """A directory that follows its table's new name."""

    source: str
    target: str
    job: int
    before: Table
    after: Table
    row: TableRow
    home: DatabaseName
    """Where the table is now."""


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
    """What names the table follows it, and so does the directory of a managed table that lies where Hive put it.

    The caller holds the locks under which the plan is still true, and writes the new name with the rest of the row.
    """
    if plan.homes.target is None:
        raise InvalidOperationException(
            f"Unable to change partition or table. Database {where.database} does not exist"
            f" Check metastore logs for detailed stack.{target.database}"
        )
    table_renamed(tx, where.table(row.name), target.table(after.tableName or ""))
    if not plan.keeps_place:
        return after, None
    assert before.sd is not None and before.sd.location and after.sd is not None
    source, destination = before.sd.location, plan.destination
    if destination is None:
        # The table was created somewhere else on purpose: it stays there, like an external one.
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
    wanted: Table,
    where: DatabaseName,
    target: DatabaseName,
    homes: Homes,
) -> str | None:
    """Where a renamed table's directory goes; None if it does not lie where Hive put it, below its database."""
    if homes.source is None or homes.target is None:
        return None
    old, new = rows.database_of(homes.source, where.catalog), rows.database_of(homes.target, target.catalog)
    if _is_translated(ctx.rules, before, wanted):
        root = translation.external_home(new, ctx.warehouse.root)
    else:
        old_root, above = _home(ctx, old), parent(source)
        if not old_root or above is None or not same_location(above, old_root):
            return None
        if last_name(source).lower() != (before.tableName or ""):
            return None
        root = _home(ctx, new)
    if not root:
        raise MetaException(f"database {target.database} has no location to move the table to")
    return join(root, wanted.tableName or "")


def _home(ctx: Context, database: Database) -> str | None:
    """Below which directory the managed tables of a database lie."""
    if ctx.rules.has_two_homes:
        return translation.managed_home(database, ctx.warehouse.root)
    return database.locationUri


def check_free(ctx: Context, target: DatabaseName, wanted: Table, plan: Plan) -> None:
    """Refuses a rename to where a directory is, before anything is written."""
    destination = plan.destination
    if destination is None or not ctx.warehouse.exists(destination):
        return
    with ctx.reading() as tx:
        if tables.find(tx, *target, wanted.tableName or "") is not None:
            return  # The transaction says that the name is taken.
        no_pending_job(tx, [destination])
    # Again: a job that was to remove the directory may have ended before its row was looked for.
    if ctx.warehouse.exists(destination):
        raise _occupied(ctx, target, destination)


def check_place(ctx: Context, target: DatabaseName, before: Table, wanted: Table, homes: Callable[[], Homes]) -> None:
    """From Hive 4 on, a managed table may be moved only to where managed tables may be.

    A translated table that follows its name needs a database to follow it to.
    """
    if not ctx.rules.translates_managed or target.catalog != DEFAULT_CATALOG:
        return
    places = [table.sd.location if table.sd is not None else None for table in (before, wanted)]
    if None in places:
        return
    moved = places[0] != places[1]
    renamed = (target.database, wanted.tableName) != (before.dbName, before.tableName)
    follows = renamed and translation.follows_renames(before) and translation.follows_renames(wanted)
    if not moved and not follows:
        return
    row = homes().target
    if row is None:
        raise MetaException(f"Database {target.database} for table {wanted.tableName} could not be found")
    if moved:
        translation.check_place(wanted, rows.database_of(row, target.catalog), ctx.warehouse.root)


def _occupied(ctx: Context, target: DatabaseName, destination: str) -> InvalidOperationException:
    new = ctx.full_name(target, last_name(destination))
    return InvalidOperationException(f"New location for this table {new} already exists : {destination}")


def move_directory(ctx: Context, target: DatabaseName, move: Move) -> None:
    """Moves the directory of a renamed table, or takes the rename back."""
    old = f"{move.before.dbName}.{move.before.tableName}"
    move_or_take_back(
        ctx,
        move.job,
        move.source,
        move.target,
        occupied=lambda: _occupied(ctx, target, move.target),
        failed=lambda error: InvalidOperationException(
            f"Alter Table operation for {old} failed to move data due to: '{error}'"
        ),
        take_back=lambda tx: _take_back(ctx, tx, move),
    )


def _take_back(ctx: Context, tx: Transaction, move: Move) -> None:
    """Gives the table its old name and place again, with an event of its own: readers of the log saw the first."""
    tables.lock(tx, move.row.id)
    row = tables.find_by_id(tx, move.row.id)
    if row is None or row.name != last_name(move.target):
        # Somebody dropped or renamed it before we could: what they did stands.
        return
    now = rows.table_of(row, *move.home)
    back = DatabaseName(move.home.catalog, move.before.dbName or "")
    if rows.table_columns(move.after).body == row.body:
        restored = move.before
    else:
        # What others changed of it in the meantime stays; only the name and the place are ours to put back.
        sd = replace(now.sd, location=move.source) if now.sd is not None else None
        restored = replace(now, dbName=back.database, tableName=move.row.name, sd=sd)
    if tables.find(tx, *back, move.row.name) is None:
        table_renamed(tx, move.home.table(row.name), back.table(move.row.name))
        tables.rename(tx, row.id, move.row.db_id, move.row.name)
    else:
        # Its old name was given away: it keeps the new one, and lies where its files are.
        back = move.home
        restored = replace(restored, dbName=now.dbName, tableName=now.tableName)
    tables.update(tx, row.id, **rows.table_columns(restored)._asdict())
    partitions.relocate(tx, row.id, move.target, move.source)
    objects = [("before", binary.encode(now)), ("after", binary.encode(restored))]
    record(ctx, tx, "ALTER_TABLE", back, restored.tableName, objects)

"""Optimistic concurrency control: a call re-checks under the lock what it read before.

A call reads, works on directories, and then writes in one transaction. In that transaction it takes the lock and reads
again. It raises ConcurrentChange if its table was dropped, renamed or moved in between, or if a pending job changes the
directories that it needs. Nothing has been written in that case, and `local.py` restarts the call. Nothing here waits.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from metastored.hive.location_rules import LocationIndex, location_key_or_none
from metastored.service.core import rows
from metastored.store.engine.database import Database
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases, tables
from metastored.store.objects.databases import DatabaseRow
from metastored.store.objects.tables import TableRow
from metastored.store.warehouse import jobs

MANY: Final = 16
"""Rows from which on comparing the version of the database takes less time than reading them again."""
ATTEMPTS: Final = 50
"""How many attempts a call has before it fails. Each restart means that another call has succeeded."""


class ConcurrentChange(Exception):
    """Another call changed the same objects.

    `jobs` have to be finished before the next attempt. `needed` are the jobs among them without which the call cannot
    succeed, because they change a directory that it uses.
    """

    def __init__(self, what: str, jobs: Sequence[int] = (), needed: Collection[int] = ()) -> None:
        super().__init__(f"{what} was changed by others again and again while it was being changed; try again")
        self.jobs: Final = tuple(jobs)
        self.needed: Final = frozenset(needed)


def locked(tx: Transaction, row: TableRow) -> TableRow:
    """Locks a table that was looked up by its name, and returns its current row."""
    current = tables.find_locked(tx, row.id)
    if current is None or (current.db_id, current.name) != (row.db_id, row.name):
        raise ConcurrentChange(f"table {row.name}")
    return current


def locked_at_location(tx: Transaction, row: TableRow) -> TableRow:
    """As `locked`, for a call that depends on the table's location and partition keys."""
    current = locked(tx, row)
    if current.body != row.body:
        before, now = rows.table_of(row, None, ""), rows.table_of(current, None, "")
        locations = [table.sd.location if table.sd is not None else None for table in (before, now)]
        if locations[0] != locations[1] or before.partitionKeys != now.partitionKeys:
            raise ConcurrentChange(f"table {row.name}")
    return current


def version_for(database: Database, number: int) -> int | None:
    """The version of the database before a call reads `number` rows of it; None for a few.

    A call that reads many rows, works on directories and then writes reads them again in its transaction, unless
    `is_unchanged`.
    """
    return database.version() if number >= MANY else None


def is_unchanged(database: Database, version: int | None) -> bool:
    """Whether nothing was committed since `version_for`. Called in the transaction, when it has its locks."""
    return version is not None and version == database.version()


def locked_database(tx: Transaction, catalog: str, row: DatabaseRow) -> DatabaseRow:
    """Locks a database that was looked up by its name, and returns its current row."""
    current = databases.find(tx, catalog, row.name) if databases.lock(tx, row.id, exclusive=True) else None
    if current is None or current.id != row.id:
        raise ConcurrentChange(f"database {row.name}")
    return current


def no_pending_job(tx: Transaction, locations: Collection[str | None], own: Collection[int] = ()) -> None:
    """Raises ConcurrentChange if a pending job moves or removes one of these directories, or one above or below.

    A job that failed counts only for its own directory. `own` are the jobs that this transaction has added.
    """
    pending = [job for job in jobs.all(tx) if job.id not in own]
    if not pending:
        return
    known = LocationIndex((end, job) for job in pending for end in job.ends)
    here = {key for each in locations if each and (key := location_key_or_none(each)) is not None}
    needed = {job.id: job for each in here for job in known.at(each)}
    waiting = {job.id: job for each in here for job in known.around(each) if not job.is_failed}
    blocking = needed | waiting
    if blocking:
        raise ConcurrentChange(blocking[min(blocking)].source, sorted(blocking), needed)

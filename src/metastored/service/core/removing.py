"""Transactions that remove directories: whether each directory may be removed is checked before the commit.

A removal is refused for the warehouse's root and directories that contain it, for a database's directory while the
database has other objects, for directories that contain a database's directory, and for paths through a symbolic link.
Metadata and data stay then; without `deleteData` the drop succeeds. The file system is read outside of the transaction.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, TypeVar

from metastored.errors import MetaException, StoreError
from metastored.hive.location_rules import above, location_key, plain_path
from metastored.model import kinds
from metastored.service.core import rows, translation
from metastored.service.core.conflicts import ATTEMPTS, ConcurrentChange
from metastored.service.core.context import Context
from metastored.service.core.directories import finish
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases
from metastored.store.warehouse import jobs
from metastored.wire.generated.common import EnvironmentContext, Table

Result = TypeVar("Result")

SKIPS_TRASH: Final = ("auto.purge", "skip.trash")
"""The parameter of tables whose data bypasses the trash, and its name since Hive 4."""
IF_PURGE: Final = "ifPurge"


class _Unchecked(Exception):
    """The transaction plans to remove directories that have not been checked."""

    def __init__(self, uris: Collection[str]) -> None:
        super().__init__(", ".join(uris))
        self.uris: Final = uris


def removing(
    ctx: Context, change: Callable[[Transaction], tuple[Result, Sequence[int]]], expected: Iterable[str | None] = ()
) -> Result:
    """Runs a transaction that returns a result and the jobs it added; runs these jobs; returns the result.

    `expected` are the directories that it will probably remove. Others are detected by running it once and rolling
    back.
    """
    checked: set[str] = set()
    unchecked: Collection[str] = [uri for uri in expected if uri]

    def guarded(tx: Transaction) -> tuple[Result, Sequence[int]]:
        ctx.removals.clear()
        result, planned = change(tx)
        missing = [uri for uri in ctx.removals if uri not in checked]
        if missing:
            raise _Unchecked(missing)
        check_databases(ctx, tx, ctx.removals)
        return result, planned

    for _ in range(ATTEMPTS):
        _check(ctx, unchecked)
        checked.update(unchecked)
        try:
            result, planned = ctx.database.run(guarded)
        except _Unchecked as error:
            unchecked = error.uris
            continue
        finish(ctx, planned)
        return result
    raise ConcurrentChange("a directory")


def plan_removal(ctx: Context, tx: Transaction, uri: str, below: str | None = None, *, purge: bool) -> int:
    """Adds a job that removes a directory when the transaction of `removing` has committed; returns the job's id.

    With `below`, directories above it that become empty are removed too, up to that one. The directory is moved to the
    trash, if there is one, unless `purge`.
    """
    return plan_removals(ctx, tx, [uri], below, purge=purge)[0]


def plan_removals(
    ctx: Context, tx: Transaction, uris: Sequence[str], below: str | None = None, *, purge: bool
) -> list[int]:
    """As `plan_removal`, for many directories that have the same one above them."""
    ctx.removals.extend(filter(ctx.warehouse.looks_at, uris))
    kind: jobs.JobKind = "trash" if ctx.warehouse.trash_days and not purge else "remove"
    return jobs.add_many(tx, kind, uris, below, created=ctx.now())


def deletes_data(ctx: Context, table: Table) -> bool:
    """Whether dropping the table, or a partition of it, deletes its data.

    A managed table that Hive 4's rules made external owns its data, whoever drops it; of other external tables the
    caller's Hive decides, because before 4.0 `external.table.purge` means nothing.
    """
    known = ctx.accepted if translation.is_translated(table) else ctx.rules
    return kinds.owns_data(table, known.purges_external)


def purges(table: Table, env: EnvironmentContext | None = None) -> bool:
    """Whether the data of a table is removed permanently even if there is a trash."""
    purge_option = ((env.properties if env is not None else None) or {}).get(IF_PURGE, "")
    return "true" in (purge_option.lower(), *((table.parameters or {}).get(key, "").lower() for key in SKIPS_TRASH))


def _check(ctx: Context, uris: Collection[str]) -> None:
    try:
        ctx.warehouse.check_all_removable(uris)
    except StoreError as error:
        raise MetaException(f"{error}. Without deleteData only the metadata is dropped") from None


def check_databases(ctx: Context, tx: Transaction, uris: Collection[str]) -> None:
    """Raises an error for the directory of a database that has objects, and any directory that contains one.

    `uris` are locations that this server looks at. Objects that this transaction drops do not count.
    """
    mentioned = databases.mentioning(tx, _common([_path(uri) for uri in uris])) if uris else []
    # Mostly there are none. To compare the locations of a thousand partitions takes milliseconds.
    removed = {location_key(uri): uri for uri in reversed(list(uris))} if mentioned else {}
    for row in mentioned:
        database = rows.database_of(row, None)
        for location in (database.locationUri, database.managedLocationUri):
            if not location or not ctx.warehouse.looks_at(location):
                continue
            here = location_key(location)
            containing = [removed[outer] for outer in above(here) if outer in removed]
            if here in removed and not databases.is_empty(tx, row.id):
                containing.append(removed[here])
            if containing:
                raise MetaException(
                    f"{containing[0]} is not removed: the database {row.name} with its directory {location} is there."
                    " Without deleteData only the metadata is dropped"
                )


def contains_databases(ctx: Context, tx: Transaction, uri: str) -> bool:
    """Whether the directory of a database is below this one."""
    if not ctx.warehouse.looks_at(uri):
        return False
    outer = location_key(uri)
    for row in databases.mentioning(tx, _common([outer.path])):
        database = rows.database_of(row, None)
        for location in (database.locationUri, database.managedLocationUri):
            if location and ctx.warehouse.looks_at(location) and outer in above(location_key(location)):
                return True
    return False


def _path(uri: str) -> str:
    return plain_path(uri) or location_key(uri).path


def _common(paths: Collection[str]) -> str:
    """A path that is a prefix of all of these, as texts."""
    return os.path.commonpath([min(paths) or "/", max(paths) or "/"])

"""Transactions that remove directories: which directories may go, checked before the transaction commits.

A removal is refused for the warehouse's root and what contains it, for a database's directory while other objects are
in the database, for what contains a database's directory, and for what is reached through a symbolic link. Metadata
and data stay then; without `deleteData` the drop succeeds. Directories are looked at outside of the transaction.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, TypeVar

from metastored.errors import MetaException, StoreError
from metastored.hive.location_rules import Place, Places, above, place
from metastored.service.core import rows
from metastored.service.core.conflicts import ATTEMPTS, ConcurrentChange
from metastored.service.core.context import Context
from metastored.service.core.directories import finish
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases
from metastored.store.warehouse import jobs
from metastored.wire.generated.common import EnvironmentContext, Table

Result = TypeVar("Result")

AUTO_PURGE: Final = "auto.purge"
IF_PURGE: Final = "ifPurge"


class _Unchecked(Exception):
    """The transaction plans to remove directories that nobody has looked at."""

    def __init__(self, uris: Collection[str]) -> None:
        super().__init__(", ".join(uris))
        self.uris: Final = uris


def removing(
    ctx: Context, change: Callable[[Transaction], tuple[Result, Sequence[int]]], expected: Iterable[str | None] = ()
) -> Result:
    """Runs a transaction that returns a result and the jobs it planned; does these jobs; returns the result.

    `expected` are the directories that it will probably remove. Others are found by running it once in vain.
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
        for uri in unchecked:
            _check(ctx, uri)
        checked.update(unchecked)
        try:
            result, planned = ctx.database.run(guarded)
        except _Unchecked as found:
            unchecked = found.uris
            continue
        finish(ctx, planned)
        return result
    raise ConcurrentChange("a directory")


def plan_removal(ctx: Context, tx: Transaction, uri: str, below: str | None = None, *, purge: bool) -> int:
    """A directory that goes when the transaction of `removing` has committed; the id of the job.

    With `below`, directories above it that this leaves empty go too, up to that one. The directory goes to the trash,
    if there is one, unless `purge`.
    """
    if ctx.warehouse.looks_at(uri):
        ctx.removals.append(uri)
    kind: jobs.JobKind = "trash" if ctx.warehouse.trash_days and not purge else "remove"
    return jobs.add(tx, kind=kind, source=uri, target=below, created=ctx.now())


def purges(table: Table, env: EnvironmentContext | None = None) -> bool:
    """Whether the data of a table is removed for good, though there is a trash."""
    asked = ((env.properties if env is not None else None) or {}).get(IF_PURGE, "")
    return "true" in (asked.lower(), (table.parameters or {}).get(AUTO_PURGE, "").lower())


def _check(ctx: Context, uri: str) -> None:
    try:
        ctx.warehouse.check_removable(uri)
    except StoreError as error:
        raise MetaException(f"{error}. Without deleteData only the metadata is dropped") from None


def check_databases(ctx: Context, tx: Transaction, removals: Collection[str]) -> None:
    """Refuses to remove the directory of a database that has objects, and any directory that contains one.

    What this transaction drops is gone already.
    """
    uris = [uri for uri in removals if ctx.warehouse.looks_at(uri)]
    if not uris:
        return
    removed = Places((uri, uri) for uri in uris)
    for row in databases.mentioning(tx, _common([place(uri) for uri in uris])):
        database = rows.database_of(row, None)
        for home in (database.locationUri, database.managedLocationUri):
            if not home or not ctx.warehouse.looks_at(home):
                continue
            here = place(home)
            containing = [uri for outer in above(here) for uri in removed.at(outer)]
            if not databases.is_empty(tx, row.id):
                containing += removed.at(here)
            if containing:
                raise MetaException(
                    f"{containing[0]} is not removed: the database {row.name} with its directory {home} is there."
                    " Without deleteData only the metadata is dropped"
                )


def _common(places: Sequence[Place]) -> str:
    """A path that all of these begin with."""
    return os.path.commonpath([each.path or "/" for each in places])

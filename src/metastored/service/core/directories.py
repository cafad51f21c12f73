"""Directories around a transaction: created before it, moved and removed after it, never inside it.

The work to do after a commit is a row of `warehouse_jobs` that the commit writes: if a server dies in between, the row
stays, and any server finishes the job (`store/warehouse/jobs.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from types import TracebackType
from typing import Final, Self

from metastored.errors import MetaException, MetastoreError, StoreError
from metastored.hive.locations import LocationError, parent
from metastored.service.core.context import Context
from metastored.store.engine.transaction import Transaction
from metastored.store.warehouse import jobs
from metastored.store.warehouse.directories import NotADirectory, Warehouse
from metastored.store.warehouse.trash_roots import record_trash_root

log = logging.getLogger("metastored.service")


EMPTY_PATH: Final = "java.lang.IllegalArgumentException: Can not create a Path from an empty string"
NULL_PATH: Final = "java.lang.IllegalArgumentException: Can not create a Path from a null string"


def stored_location(ctx: Context, uri: str) -> str:
    """A location that a client sent, as Hive stores it: absolute, without doubled or trailing slashes.

    Every location of a request is normalised here before it is stored or opened; see `hive/location_rules.py`.
    """
    if not uri:
        raise MetaException(EMPTY_PATH)
    try:
        return ctx.warehouse.qualified(uri)
    except LocationError as error:
        raise MetaException(str(error)) from None


class NewDirectory:
    """Creates directories for objects that are about to be created, and removes them again if that fails.

    Other calls may create the same objects at the same time, or drop the objects that contain them. A call that fails
    removes no directory that a successful call uses, and leaves no directory of its own. `owned` returns the
    directories of the objects that exist now, including those that contain them; it is called again after directories
    were removed.
    """

    def __init__(self, warehouse: Warehouse, owned: Callable[[], Collection[str | None]] | None = None) -> None:
        self._warehouse: Final = warehouse
        self._owned: Final = owned
        self._wanted: list[str] = []
        self._made: list[str] = []
        self._kept = False

    def make(self, uri: str | None) -> bool:
        """Returns True when the directory did not exist before."""
        if not uri:
            return False
        self._wanted.append(uri)
        made = self._make(uri)
        self._made += made
        return bool(made)

    def _make(self, uri: str) -> list[str]:
        """Creates a directory; returns the directories that did not exist before, outermost first."""
        try:
            number = self._warehouse.make(uri)
        except NotADirectory:
            raise MetaException(f"{uri} is not a directory or unable to create one") from None
        except StoreError as error:
            raise MetaException(f"{uri} is not a directory or unable to create one: {error}") from error
        made: list[str] = []
        directory: str | None = uri
        while directory is not None and len(made) < number:
            made.insert(0, directory)
            directory = parent(directory)
        return made

    def keep(self) -> None:
        """Keeps the directories, as the objects exist now; recreates any that another call has removed meanwhile."""
        self._kept = True
        again = [each for uri in self._wanted for each in self._make(uri)]
        if again and self._owned is not None:
            self._roll_back(again)  # Unless the objects were dropped in between.

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._kept and self._made:
            self._roll_back(self._made)

    def _roll_back(self, made: list[str]) -> None:
        owned = self._owned or tuple
        theirs = set(owned())
        for uri in reversed(made):
            try:
                if uri not in theirs:
                    self._warehouse.remove_empty(uri)
            except StoreError as failure:
                log.warning("the new directory %s could not be removed again: %s", uri, failure)
        for uri in set(made) & set(owned()):
            self._make(uri)


def clear(ctx: Context, uri: str, *, purge: bool) -> None:
    """Empties a directory at once. Its content is moved to the trash, if there is one, unless `purge`."""
    try:
        if ctx.warehouse.trash_days and not purge and ctx.warehouse.looks_at(uri):
            record_trash_root(ctx.database, ctx.warehouse.trash_of(uri))
        ctx.warehouse.clear(uri, to_trash=not purge)
    except StoreError as error:
        raise MetaException(f"{uri} could not be emptied: {error}") from error


def plan_move(ctx: Context, tx: Transaction, source: str, target: str) -> int:
    """Adds a job that moves a directory when this transaction has committed."""
    return jobs.add(tx, kind="move", source=source, target=target, created=ctx.now())


def finish(ctx: Context, planned: Iterable[int]) -> None:
    """Runs the jobs of the committed transaction. A job that fails stays pending and is retried later."""
    job_ids = list(planned)
    if job_ids:
        ctx.warehouse.finish_jobs(ctx.database, job_ids, now=ctx.now())


def move_or_roll_back(
    ctx: Context,
    job: int,
    source: str,
    target: str,
    *,
    occupied: Callable[[], MetastoreError],
    failed: Callable[[StoreError], MetastoreError],
    take_back: Callable[[Transaction], None],
) -> None:
    """Moves a directory as a committed transaction planned it; if that fails, its change is rolled back.

    The caller has checked that the target did not exist. An empty directory that exists there now was created by a call
    that requested the same name and failed; it is replaced. The job is claimed, because another server may try to
    finish it as the remains of a crash.
    """
    failure: MetastoreError | None = None
    with jobs.claimed(ctx.database, job) as planned:
        if planned is None:
            return
        try:
            if not ctx.warehouse.is_empty(target):
                failure = occupied()
            elif ctx.warehouse.exists(source):
                ctx.warehouse.move(source, target)
        except StoreError as error:
            failure = failed(error)

        def settle(tx: Transaction) -> None:
            if failure is not None:
                take_back(tx)
            jobs.done(tx, job)

        ctx.database.run(settle)
    if failure is not None:
        raise failure

"""Directories around a transaction: made before it, moved and removed after it, never inside it.

What must happen after a commit is a row of `warehouse_jobs` written in that commit: a server that dies in between
leaves the row, and any server finishes it (`store/warehouse/jobs.py`).
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
from metastored.store.warehouse.trash import remember

log = logging.getLogger("metastored.service")


EMPTY_PATH: Final = "java.lang.IllegalArgumentException: Can not create a Path from an empty string"
NULL_PATH: Final = "java.lang.IllegalArgumentException: Can not create a Path from a null string"


def placed(ctx: Context, uri: str) -> str:
    """A location that a client gave, as Hive stores it: absolute, without doubled or trailing slashes.

    Every location of a request comes here before it is stored or opened; `location_rules.py` has the rules.
    """
    if not uri:
        raise MetaException(EMPTY_PATH)
    try:
        return ctx.warehouse.qualified(uri)
    except LocationError as error:
        raise MetaException(str(error)) from None


class NewDirectory:
    """Makes directories for objects that are about to be created, and takes them back if that fails.

    Others may create the same objects at the same time, or drop what these are in: whoever fails takes nothing away
    from who succeeds, and leaves nothing behind. `owned` tells which directories belong to objects that exist by now,
    these and those that they are in; it is asked again after directories were taken back.
    """

    def __init__(self, warehouse: Warehouse, owned: Callable[[], Collection[str | None]] | None = None) -> None:
        self._warehouse: Final = warehouse
        self._owned: Final = owned
        self._wanted: list[str] = []
        self._made: list[str] = []
        self._kept = False

    def make(self, uri: str | None) -> bool:
        """True when the directory was not there before."""
        if not uri:
            return False
        self._wanted.append(uri)
        made = self._make(uri)
        self._made += made
        return bool(made)

    def _make(self, uri: str) -> list[str]:
        """What was not there before: those above it first, and it last."""
        try:
            number = self._warehouse.make(uri)
        except NotADirectory:
            raise MetaException(f"{uri} is not a directory or unable to create one") from None
        except StoreError as error:
            raise MetaException(f"{uri} is not a directory or unable to create one: {error}") from error
        made: list[str] = []
        place: str | None = uri
        while place is not None and len(made) < number:
            made.insert(0, place)
            place = parent(place)
        return made

    def keep(self) -> None:
        """The objects exist now, and so shall their directories, even if another call took one back meanwhile."""
        self._kept = True
        again = [each for uri in self._wanted for each in self._make(uri)]
        if again and self._owned is not None:
            self._take_back(again)  # Unless they were dropped in this moment.

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._kept and self._made:
            self._take_back(self._made)

    def _take_back(self, made: list[str]) -> None:
        owned = self._owned or tuple
        theirs = set(owned())
        for uri in reversed(made):
            try:
                if uri not in theirs:
                    self._warehouse.remove_empty(uri)
            except StoreError as failure:
                log.warning("the new directory %s could not be taken back: %s", uri, failure)
        for uri in set(made) & set(owned()):
            self._make(uri)


def clear(ctx: Context, uri: str, *, purge: bool) -> None:
    """Empties a directory at once. What was in it goes to the trash, if there is one, unless `purge`."""
    try:
        if ctx.warehouse.trash_days and not purge and ctx.warehouse.looks_at(uri):
            remember(ctx.database, ctx.warehouse.trash_of(uri))
        ctx.warehouse.clear(uri, to_trash=not purge)
    except StoreError as error:
        raise MetaException(f"{uri} could not be emptied: {error}") from error


def plan_move(ctx: Context, tx: Transaction, source: str, target: str) -> int:
    """A directory that moves when this transaction has committed."""
    return jobs.add(tx, kind="move", source=source, target=target, created=ctx.now())


def finish(ctx: Context, planned: Iterable[int]) -> None:
    """Does what the committed transaction planned. What fails stays planned and is tried again later."""
    wanted = list(planned)
    if wanted:
        ctx.warehouse.finish_jobs(ctx.database, wanted, now=ctx.now())


def move_or_take_back(
    ctx: Context,
    job: int,
    source: str,
    target: str,
    *,
    occupied: Callable[[], MetastoreError],
    failed: Callable[[StoreError], MetastoreError],
    take_back: Callable[[Transaction], None],
) -> None:
    """Moves a directory as a committed transaction planned it. If that cannot be done, its change is taken back.

    The caller has seen that nothing was there. An empty directory that is there by now is that of a call which wanted
    the same name and lost, and gives way. The job is claimed: another server may be finishing what it takes for the
    remains of a crash.
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

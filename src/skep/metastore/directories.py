"""Directories around a transaction: made before it, moved and removed after it, never inside it.

What must happen after a commit is a row of `warehouse_jobs` written in that commit: a server that dies in between
leaves the row, and any server finishes it (design decision 6).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Final, Self

from skep.errors import MetaException, MetastoreError, StoreError
from skep.hive.locations import LocationError, parse_location
from skep.metastore.context import Context
from skep.store import jobs
from skep.store.transaction import Transaction
from skep.store.warehouse import NotADirectory, Warehouse

log = logging.getLogger("skep.metastore")


EMPTY_PATH: Final = "java.lang.IllegalArgumentException: Can not create a Path from an empty string"
NULL_PATH: Final = "java.lang.IllegalArgumentException: Can not create a Path from a null string"


def placed(ctx: Context, uri: str) -> str:
    """A location that a client gave, as Hive stores it: absolute, without doubled or trailing slashes."""
    if not uri:
        raise MetaException(EMPTY_PATH)
    try:
        found = ctx.warehouse.qualified(uri)
    except LocationError as error:
        raise MetaException(str(error)) from None
    if parse_location(found).scheme == "":
        raise MetaException(f"Relative path in absolute URI: {uri}; a location begins with a scheme or with a slash")
    return found


class Making:
    """Makes directories for objects that are about to be created, and takes them back if that fails."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse: Final = warehouse
        self._made: list[str] = []
        self._kept = False

    def make(self, uri: str | None) -> bool:
        """True when the directory was not there before."""
        if not uri:
            return False
        try:
            made = self._warehouse.make(uri)
        except NotADirectory:
            raise MetaException(f"{uri} is not a directory or unable to create one") from None
        except StoreError as error:
            raise MetaException(f"{uri} is not a directory or unable to create one: {error}") from error
        if made:
            self._made.append(uri)
        return made

    def keep(self) -> None:
        """The objects exist now, and so shall their directories."""
        self._kept = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._kept:
            return
        for uri in reversed(self._made):
            try:
                if self._warehouse.is_empty(uri):
                    self._warehouse.remove(uri)
            except StoreError as failure:
                log.warning("the new directory %s could not be taken back: %s", uri, failure)


def clear(ctx: Context, uri: str) -> None:
    """Empties a directory at once."""
    try:
        ctx.warehouse.clear(uri)
    except StoreError as error:
        raise MetaException(f"{uri} could not be emptied: {error}") from error


def plan_removal(ctx: Context, tx: Transaction, uri: str, below: str | None = None) -> int:
    """A directory that goes when this transaction has committed; give the id to `finish`.

    With `below`, directories above it that this leaves empty go too, up to that one.
    """
    return jobs.add(tx, kind="remove", source=uri, target=below, created=ctx.now())


def plan_move(ctx: Context, tx: Transaction, source: str, target: str) -> int:
    """A directory that moves when this transaction has committed."""
    return jobs.add(tx, kind="move", source=source, target=target, created=ctx.now())


def finish(ctx: Context, planned: Iterable[int]) -> None:
    """Does what the committed transaction planned. What fails stays planned and is tried again later."""
    wanted = list(planned)
    if wanted:
        ctx.warehouse.finish_jobs(ctx.database, wanted)


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

    The job is claimed: another server may be finishing what it takes for the remains of a crash.
    """
    failure: MetastoreError | None = None
    with jobs.claimed(ctx.database, job) as planned:
        if planned is None:
            return
        try:
            if ctx.warehouse.exists(target):
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

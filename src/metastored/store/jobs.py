"""The rows of what is still to be done to the warehouse's directories. Nothing here touches a directory.

A job is committed together with the change of metadata that it belongs to, and done after that: by the server that
wrote it or, should that crash, by any other (`Warehouse.finish_jobs`). Whoever does one claims it first. A job that
removes a directory may name in `target` the root up to which emptied directories go too.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal, NamedTuple

import sqlalchemy as sa

from metastored.store import schema
from metastored.store.database import Database
from metastored.store.statements import Statement, bound, in_list
from metastored.store.transaction import Transaction

JobKind = Literal["move", "remove"]

CLAIMED_TOGETHER: Final = 64
"""Jobs whose ids are this close share a claim: a claim may cost a connection."""


class JobRow(NamedTuple):
    """A directory to be moved from source to target, or to be removed.

    The target of a removal, if it has one, is a directory above: those in between go too when this leaves them empty.
    """

    id: int
    kind: JobKind
    source: str
    target: str | None
    created: int
    attempts: int
    error: str | None


_j = schema.warehouse_jobs.c
_COLUMNS = sa.select(_j.id, _j.kind, _j.source, _j.target, _j.created, _j.attempts, _j.error)
_THIS = _j.id == sa.bindparam("id")

_FIND = Statement(_COLUMNS.where(_THIS))
_ALL = Statement(_COLUMNS.order_by(_j.id))
_INSERT = Statement(
    sa.insert(schema.warehouse_jobs)
    .values(**bound("kind", "source", "target", "created"), attempts=sa.literal_column("0"))
    .returning(_j.id)
)
_DONE = Statement(sa.delete(schema.warehouse_jobs).where(_THIS))
_ALL_DONE = Statement(sa.delete(schema.warehouse_jobs).where(in_list(_j.id, "ids")))
_FAILED = Statement(
    sa.update(schema.warehouse_jobs)
    .values(attempts=_j.attempts + sa.literal_column("1"), **bound("error"))
    .where(_THIS)
)


def add(tx: Transaction, kind: JobKind, source: str, target: str | None = None, *, created: int) -> int:
    """Note a directory to be moved or removed; the id of the job."""
    return tx.insert(_INSERT, kind=kind, source=source, target=target, created=created)


def find(tx: Transaction, id: int) -> JobRow | None:
    row = tx.one(_FIND, id=id)
    return None if row is None else JobRow._make(row)


def group_of(id: int) -> int:
    """Jobs of one group are claimed together."""
    return id // CLAIMED_TOGETHER


@contextmanager
def claimed_group(database: Database, group: int) -> Iterator[None]:
    """Be the only one to do the jobs of a group. Never within a transaction; read a job again under the claim."""
    with database.claim(f"warehouse jobs {group}"):
        yield


@contextmanager
def claimed(database: Database, id: int) -> Iterator[JobRow | None]:
    """Be the only one to do a job; None if another server has done it."""
    with claimed_group(database, group_of(id)):
        yield find(database.reader(), id)


def all(tx: Transaction) -> list[JobRow]:
    """Every job that is not done, oldest first."""
    return list(map(JobRow._make, tx.all(_ALL)))


def done(tx: Transaction, id: int) -> None:
    """Forget a job."""
    tx.run(_DONE, id=id)


def all_done(tx: Transaction, ids: Sequence[int]) -> None:
    """Forget many jobs."""
    tx.run(_ALL_DONE, ids=tx.list(ids))


def failed(tx: Transaction, id: int, error: str) -> None:
    """Note why a job could not be done; it stays."""
    tx.run(_FAILED, id=id, error=error)

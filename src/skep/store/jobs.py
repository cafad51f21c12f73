"""The rows of what is still to be done to the warehouse's directories. Nothing here touches a directory.

A job is committed together with the change of metadata that it belongs to. `Warehouse.finish_jobs` does it
after that. A job that removes a directory may name in `target` the root up to which emptied directories go too.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import sqlalchemy as sa

from skep.store import schema
from skep.store.statements import Statement, bound, in_list
from skep.store.transaction import Transaction

JobKind = Literal["move", "remove"]


class JobRow(NamedTuple):
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

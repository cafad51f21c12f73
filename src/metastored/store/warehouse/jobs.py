"""The rows of jobs: pending moves and removals of the warehouse's directories. Nothing here touches a directory.

A job is committed together with the change of metadata that it belongs to, and run after that: by the server that wrote
it or, if that crashes, by any other (`Warehouse.finish_jobs`). A server claims a job before it runs it. A job that
removes a directory may name in `target` the root up to which emptied directories are removed too.

A job is pending until its first attempt ends. One that failed has a time of its next attempt: until then it blocks only
its own path, not those above or below it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Final, Literal, NamedTuple

from metastored.store.engine.database import Database
from metastored.store.engine.statements import SQLITE, Statement, column_list
from metastored.store.engine.transaction import Transaction

JobKind = Literal["move", "remove", "trash"]
"""`trash` removes a directory by moving it to the trash."""

FIRST_PAUSE: Final = 60
"""Seconds before a job that failed is attempted again; doubled by each further attempt."""

LONGEST_PAUSE: Final = 3600
"""Seconds between two attempts at most."""

CLAIMED_TOGETHER: Final = 64
"""Jobs whose ids are this close share a claim: a claim may cost a connection."""

GROUPS_AT_ONCE: Final = 16
"""Groups of jobs that are claimed, run and deleted together: others wait for them."""


class JobRow(NamedTuple):
    """A directory to be moved from source to target, or to be removed.

    The target of a removal, if it has one, is a directory above: directories in between that become empty are removed
    too.
    """

    id: int
    kind: JobKind
    source: str
    target: str | None
    created: int
    attempts: int
    error: str | None
    next_attempt: int
    """Seconds since the epoch; 0 for a job that has not failed."""

    @property
    def is_failed(self) -> bool:
        return self.next_attempt > 0

    @property
    def ends(self) -> tuple[str, ...]:
        """The directories that it changes."""
        if self.kind == "move" and self.target is not None:
            return (self.source, self.target)
        return (self.source,)


_COLUMNS = column_list(*JobRow._fields)

_FIND = Statement(f"SELECT {_COLUMNS} FROM warehouse_jobs WHERE id = :id")
_FIND_MANY = Statement(f"SELECT {_COLUMNS} FROM warehouse_jobs WHERE id IN :ids ORDER BY id")
_ALL = Statement(f"SELECT {_COLUMNS} FROM warehouse_jobs ORDER BY id")
_DUE = Statement(f"SELECT {_COLUMNS} FROM warehouse_jobs WHERE next_attempt <= :now ORDER BY id")
_FAILED_JOBS = Statement(f"SELECT {_COLUMNS} FROM warehouse_jobs WHERE next_attempt > 0 ORDER BY id")
_COUNT_FAILED = Statement("SELECT count(*) FROM warehouse_jobs WHERE next_attempt > 0")
_INSERT = Statement(
    """
    INSERT INTO warehouse_jobs (kind, source, target, created, attempts, next_attempt)
    VALUES (:kind, :source, :target, :created, 0, 0) RETURNING id
    """
)


def _insert_many(dialect: str) -> str:
    sources = "json_each(:sources)" if dialect == SQLITE else "unnest(CAST(:sources AS TEXT[])) AS source (value)"
    return f"""
        INSERT INTO warehouse_jobs (kind, source, target, created, attempts, next_attempt)
        SELECT :kind, value, :target, :created, 0, 0 FROM {sources} WHERE true RETURNING id
    """


_INSERT_MANY = Statement(_insert_many)
_DONE = Statement("DELETE FROM warehouse_jobs WHERE id = :id")
_ALL_DONE = Statement("DELETE FROM warehouse_jobs WHERE id IN :ids")
_FAILED = Statement(
    "UPDATE warehouse_jobs SET attempts = attempts + 1, error = :error, next_attempt = :next_attempt WHERE id = :id"
)
_RESUME = Statement("UPDATE warehouse_jobs SET next_attempt = 0 WHERE id = :id")


def add(tx: Transaction, kind: JobKind, source: str, target: str | None = None, *, created: int) -> int:
    """Adds a job that moves or removes a directory; returns its id."""
    return tx.insert(_INSERT, kind=kind, source=source, target=target, created=created)


def add_many(
    tx: Transaction, kind: JobKind, sources: Sequence[str], target: str | None = None, *, created: int
) -> list[int]:
    """Adds jobs that differ only in their source, in one statement; returns their ids in ascending order."""
    if len(sources) < 2 or any("\0" in source for source in sources):
        return [add(tx, kind, source, target, created=created) for source in sources]
    rows = tx.all(_INSERT_MANY, kind=kind, sources=tx.list(sources), target=target, created=created)
    return sorted(id for (id,) in rows)


def find(tx: Transaction, id: int) -> JobRow | None:
    row = tx.one(_FIND, id=id)
    return None if row is None else JobRow._make(row)


def find_many(tx: Transaction, ids: Sequence[int]) -> list[JobRow]:
    """The jobs with these ids that are not done, oldest first."""
    return list(map(JobRow._make, tx.all(_FIND_MANY, ids=tx.list(ids))))


def group_of(id: int) -> int:
    """Jobs of one group are claimed together."""
    return id // CLAIMED_TOGETHER


def batches(ids: Sequence[int]) -> Iterator[list[int]]:
    """Ids in ascending order, divided into those that are claimed at once."""
    groups = [list(members) for _, members in groupby(ids, key=group_of)]
    for start in range(0, len(groups), GROUPS_AT_ONCE):
        yield [id for members in groups[start : start + GROUPS_AT_ONCE] for id in members]


@contextmanager
def claimed_together(database: Database, ids: Sequence[int]) -> Iterator[None]:
    """Claims the groups of these jobs exclusively. Never within a transaction; read a job again under the claim."""
    with database.claim(*(f"warehouse jobs {group}" for group in sorted(set(map(group_of, ids))))):
        yield


@contextmanager
def claimed(database: Database, id: int) -> Iterator[JobRow | None]:
    """Claims a job exclusively; None if another server has done it."""
    with claimed_together(database, [id]):
        yield find(database.reader(), id)


def all(tx: Transaction) -> list[JobRow]:
    """Every job that is not done, failed or not, oldest first."""
    return list(map(JobRow._make, tx.all(_ALL)))


def done(tx: Transaction, id: int) -> None:
    """Deletes a job."""
    tx.run(_DONE, id=id)


def all_done(tx: Transaction, ids: Sequence[int]) -> None:
    """Deletes many jobs."""
    tx.run(_ALL_DONE, ids=tx.list(ids))


def due(tx: Transaction, now: int) -> list[JobRow]:
    """Every pending job, and every failed one whose next attempt is due; oldest first."""
    return list(map(JobRow._make, tx.all(_DUE, now=now)))


def all_failed(tx: Transaction) -> list[JobRow]:
    """Every job that failed, oldest first."""
    return list(map(JobRow._make, tx.all(_FAILED_JOBS)))


def count_failed(tx: Transaction) -> int:
    """How many jobs have failed."""
    row = tx.one(_COUNT_FAILED)
    assert row is not None  # an aggregate always has a row
    number: int = row[0]
    return number


def failed(tx: Transaction, id: int, error: str, now: int) -> None:
    """Stores the error of a job, and the time of the next attempt."""
    job = find(tx, id)
    if job is not None:
        tx.run(_FAILED, id=id, error=error, next_attempt=max(now, 1) + pause(job.attempts + 1))


def resume(tx: Transaction, id: int) -> None:
    """Make a failed job pending again."""
    tx.run(_RESUME, id=id)


def pause(attempts: int) -> int:
    """Seconds to wait after this many failed attempts."""
    return min(LONGEST_PAUSE, FIRST_PAUSE << min(attempts - 1, 16))

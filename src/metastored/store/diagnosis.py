"""The problems of a database, as `metastored doctor` lists them. It only reads.

It checks the schema, the file of SQLite, and the jobs that failed. A finding has the reason and a remedy.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from metastored.errors import StoreError
from metastored.store.engine.creating import table_names
from metastored.store.engine.database import Database
from metastored.store.engine.migrate import HEAD, check_schema, revision
from metastored.store.engine.statements import SQLITE, Statement
from metastored.store.warehouse import jobs

OVERDUE: Final = 600
"""Seconds after which a job that was never attempted means that no server does jobs."""

_INTEGRITY = Statement("PRAGMA quick_check")
_REFERENCES = Statement("PRAGMA foreign_key_check")

_ADVICE: Final = (
    ("permission denied", "give the server's user write permission on this directory and on all below it"),
    ("operation not permitted", "give the server's user write permission on this directory and on all below it"),
    ("symbolic link", "remove the link, and the files behind it if they are not needed"),
    ("is the root", "empty the directory by hand if that was meant, then delete the job"),
    ("the warehouse", "remove the directory by hand, then delete the job"),
    ("is in it now", "drop the object that is there with its data, or delete the job to keep the files"),
    ("exists already", "move the target directory away"),
    ("location_schemes", "add the scheme to location_schemes, or set directories to local, then restart the server"),
    ("driver", "install the driver, or set directories to local, then restart the server"),
    ("did not respond", "see to it that the server reaches the file system, or raise directory_timeout"),
)


class Finding(NamedTuple):
    """One problem."""

    kind: str
    """`database`, `schema`, `job`."""
    reason: str
    advice: str
    job: int | None = None
    action: str | None = None
    path: str | None = None
    target: str | None = None
    attempts: int | None = None
    next_attempt: int | None = None
    """Seconds since the epoch."""


def examine(database: Database, now: float) -> list[Finding]:
    """Every problem, the database's first. Jobs are listed only if the schema is the newest."""
    try:
        version = revision(database)
        if version is None:
            return [Finding("schema", "the database is empty", "start metastored serve on it once")]
        check_schema(database)
    except StoreError as error:
        return [Finding("schema", str(error), f"start the newest metastored, which migrates to {HEAD}")]
    return [*_damage(database), *_missing(database), *_jobs(database, now)]


def _damage(database: Database) -> list[Finding]:
    """The problems that SQLite reports of its file; PostgreSQL checks its own pages when it reads them."""
    if database.dialect != SQLITE:
        return []
    tx = database.reader()
    wrong = [str(row[0]) for row in tx.all(_INTEGRITY) if row[0] != "ok"]
    wrong += [f"a row of {row[0]} refers to a row of {row[2]} that does not exist" for row in tx.all(_REFERENCES)]
    return [Finding("database", reason, "restore the database from a backup") for reason in wrong]


def _missing(database: Database) -> list[Finding]:
    findings = []
    for name in sorted(table_names()):
        try:
            database.reader().all(Statement(f"SELECT 1 FROM {name} LIMIT 1"))
        except StoreError as error:
            findings.append(Finding("database", f"table {name} cannot be read: {error}", "restore it from a backup"))
    return findings


def _jobs(database: Database, now: float) -> list[Finding]:
    findings = []
    for job in jobs.all(database.reader()):
        if job.is_failed:
            findings.append(_finding(job, job.error or "it failed", _advice(job.error or "")))
        elif job.created + OVERDUE < now:
            reason = f"it was not attempted for {int(now - job.created)} seconds"
            findings.append(_finding(job, reason, "start a server on this database: it finishes pending jobs"))
    return findings


def _finding(job: jobs.JobRow, reason: str, advice: str) -> Finding:
    action, target = ("move", job.target) if job.kind == "move" else ("remove", None)
    return Finding("job", reason, advice, job.id, action, job.source, target, job.attempts, job.next_attempt or None)


def _advice(error: str) -> str:
    for words, advice in _ADVICE:
        if words in error.lower():
            return advice
    return "do it by hand: a job whose directory is gone is done"

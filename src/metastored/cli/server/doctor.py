"""`metastored doctor`: checks an installation and lists problems with remedies. Problems are exit code 1.

It may run while servers use the database. It changes nothing, except with `--delete-job`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from metastored.cli.colours import painted
from metastored.cli.errors import FOUND, explained
from metastored.cli.options import Login, Output, Store, address_of, options
from metastored.cli.output import dumped
from metastored.errors import ConfigError
from metastored.model.counting import counted

if TYPE_CHECKING:
    from metastored.cli.server.checks import Check
    from metastored.store.diagnosis import Finding
    from metastored.store.engine.database import Database

DeleteJob = Annotated[
    int | None,
    typer.Option(metavar="JOB", help="Delete a job without running it; its directory does not change."),
]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="URI",
        help="The address of the running server [default: METASTORED_URI, or the host and port of the configuration; "
        "then it is no problem if none is running]",
    ),
]


@explained
@options(store=Store.read, login=Login.read)
def doctor(
    store: Store, login: Login, output: Output = "text", delete_job: DeleteJob = None, uri: Address = None
) -> None:
    """Check an installation, and name a remedy for each problem.

    Checks configuration, versions, database, warehouse, clocks, the running server and its remotes. A problem may be a
    directory that could not be moved or removed.
    """
    from metastored.store.engine.opening import open_database

    settings = store.settings
    # A schema that is too old is a finding, so it is not checked here.
    database = open_database(settings.database_url, settings.data, threads=1, create=False)
    try:
        if delete_job is not None:
            _delete(database, delete_job)
        checks = list(_checks(store, login, database, uri))
    finally:
        database.close()
    findings = [finding for check in checks for finding in check.findings]
    if output == "json":
        value = {
            "findings": [finding._asdict() for finding in findings],
            "notes": [note for check in checks for note in check.notes],
            "checks": {check.area: check.detail for check in checks},
        }
        typer.echo(dumped(value))
    else:
        for check in checks:
            _print(check)
        typer.echo(f"{counted(len(findings), 'problem')} found" if findings else "nothing is wrong")
    if findings:
        raise typer.Exit(FOUND)


def _checks(store: Store, login: Login, database: Database, uri: str | None) -> Iterator[Check]:
    import os

    from metastored.cli.server import checks
    from metastored.config import URI_VARIABLE
    from metastored.store.diagnosis import examine
    from metastored.store.engine.migrate import HEAD

    settings = store.settings
    yield checks.check_configuration(settings)
    yield checks.check_http(settings)
    yield checks.check_versions(database)
    findings = tuple(examine(database, time.time()))
    yield checks.Check("database", f"{store}, schema {HEAD}", findings)
    # The other checks need a database that can be read.
    if any(finding.kind != "job" for finding in findings):
        return
    yield checks.check_warehouse(settings, database)
    yield checks.check_clocks(database)
    named = uri or os.environ.get(URI_VARIABLE)
    yield from checks.check_server(named or address_of(settings), login, database, must_answer=named is not None)


def _print(check: Check) -> None:
    state = painted("PROBLEM", "red", sys.stdout) if check.findings else painted("ok     ", "green", sys.stdout)
    typer.echo(f"{state} {check.area}: {check.detail}")
    for note in check.notes:
        typer.echo(f"  {painted('note', 'yellow', sys.stdout)}: {note}")
    for finding in check.findings:
        typer.echo(_described(finding))


def _delete(database: Database, id: int) -> None:
    from metastored.store.warehouse import jobs

    with jobs.claimed(database, id) as job:
        if job is None:
            raise ConfigError(f"there is no job {id}; metastored doctor lists the existing jobs")
        database.run(lambda tx: jobs.done(tx, id))


def _described(finding: Finding) -> str:
    if finding.kind != "job":
        return f"{finding.kind}: {finding.reason}\n  what would help: {finding.advice}"
    to = f" to {finding.target}" if finding.target else ""
    lines = [f"job {finding.job}: {finding.action} {finding.path}{to}", f"  reason: {finding.reason}"]
    if finding.attempts:
        again = datetime.fromtimestamp(finding.next_attempt or 0, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        lines.append(f"  attempts: {finding.attempts}, the next at {again}")
    lines.append(f"  what would help: {finding.advice}")
    lines.append(f"  to give it up: metastored doctor --delete-job {finding.job}")
    return "\n".join(lines)

"""`metastored doctor`: checks a database and lists problems with remedies. The exit code is 1 if there are problems.

It may run while servers use the database. It changes nothing, except with `--delete-job`.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from metastored.cli.errors import explained
from metastored.config import load
from metastored.errors import ConfigError

if TYPE_CHECKING:
    from metastored.store.diagnosis import Finding
    from metastored.store.engine.database import Database

FOUND: Final = 1
"""The exit code when there are problems."""

Data = Annotated[str | None, typer.Option(metavar="DIRECTORY", help="The directory of the embedded database.")]
Url = Annotated[str | None, typer.Option(metavar="URL", help="The URL of a PostgreSQL database.")]
Config = Annotated[Path | None, typer.Option(metavar="FILE", help="The configuration file of the server.")]
Output = Annotated[Literal["text", "json"], typer.Option(help="The format of the output.")]
DeleteJob = Annotated[
    int | None,
    typer.Option(metavar="JOB", help="Delete a job without running it; its directory does not change."),
]


@explained
def doctor(
    output: Output = "text",
    delete_job: DeleteJob = None,
    data: Data = None,
    database_url: Url = None,
    config: Config = None,
) -> None:
    """Check the database, and list directories that could not be moved or removed, with the reasons."""
    from metastored.store.diagnosis import examine
    from metastored.store.engine.opening import open_database

    flags = {name: value for name, value in (("data", data), ("database_url", database_url)) if value is not None}
    settings = load(config, flags=flags)
    # A schema that is too old is a finding, so it is not checked here.
    database = open_database(settings.database_url, settings.data, threads=1, create=False)
    try:
        if delete_job is not None:
            _delete(database, delete_job)
        findings = examine(database, time.time())
    finally:
        database.close()
    if output == "json":
        typer.echo(json.dumps({"findings": [finding._asdict() for finding in findings]}, indent=2))
    else:
        for finding in findings:
            typer.echo(_described(finding))
        typer.echo(f"{len(findings)} found" if findings else "nothing is wrong")
    if findings:
        raise typer.Exit(FOUND)


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

"""`metastored migrate`: upgrades the schema of a database to that of this version. It never downgrades."""

from __future__ import annotations

from typing import Annotated

import typer

from metastored.cli.errors import FOUND, explained
from metastored.cli.options import Output, Store, options
from metastored.cli.output import print_object

DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing; list the migrations that would run.")]


@explained
@options(store=Store.read)
def migrate(store: Store, dry_run: DryRun = False, output: Output = "text") -> None:
    """Upgrade the schema of a database, in one transaction. metastored serve does the same when it starts.

    With --dry-run the exit code is 1 if there is something to do. Back up the database first, and stop servers of the
    older version: they cannot use the new schema.
    """
    from metastored.store.engine.migrate import HEAD, ensure_schema, pending, revision
    from metastored.store.engine.opening import open_database

    settings = store.settings
    # Only `serve`, `user add` and imports create databases.
    database = open_database(settings.database_url, settings.data, threads=1, create=False)
    try:
        before = revision(database)
        steps = pending(database)
        if steps and not dry_run:
            ensure_schema(database)
    finally:
        database.close()
    value = {
        "database": str(store),
        "before": before,
        "after": before if dry_run else HEAD,
        "newest": HEAD,
        "migrations": [step._asdict() for step in steps],
    }
    lines = [f"{step.revision}: {step.description}" for step in steps]
    if not steps:
        lines = [f"{store} has the newest schema, {HEAD}"]
    elif dry_run:
        lines.append(f"{store} has the schema {before or '(none)'} and would be upgraded to {HEAD}")
    else:
        lines.append(f"{store} was upgraded from {before or '(none)'} to {HEAD}")
    print_object(value, "\n".join(lines), output)
    if steps and dry_run:
        raise typer.Exit(FOUND)

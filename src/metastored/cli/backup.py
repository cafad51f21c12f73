"""`metastored backup` and `metastored restore`: write the embedded database to a file, and restore it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metastored.cli.errors import explained
from metastored.config import load
from metastored.errors import ConfigError

To = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")]
From = Annotated[Path, typer.Argument(metavar="FILE", help="A file written by metastored backup.")]
Data = Annotated[str | None, typer.Option(metavar="DIRECTORY", help="The directory of the embedded database.")]
Config = Annotated[Path | None, typer.Option(metavar="FILE", help="The configuration file of the server.")]


@explained
def backup(file: To, data: Data = None, config: Config = None) -> None:
    """Back up the embedded database to a file, while servers use it.

    The file contains a consistent snapshot with every change that was acknowledged before the command started. Files
    of the warehouse are not included. For PostgreSQL, use pg_dump.
    """
    folder = _folder(data, config, "pg_dump --format=custom --file=FILE URL")
    from metastored.store.engine.backup import back_up

    done = back_up(folder, file)
    typer.echo(f"{folder} was written to {file} ({done.size:,} bytes, schema {done.revision})")


@explained
def restore(file: From, data: Data = None, config: Config = None) -> None:
    """Restore a database from a backup, into a data folder without a database.

    No server may use the folder. For PostgreSQL, use pg_restore.
    """
    folder = _folder(data, config, "pg_restore --dbname=URL FILE")
    from metastored.store.engine.backup import restore

    done = restore(file, folder)
    later = "; metastored serve upgrades the schema" if done.is_old else ""
    typer.echo(f"{file} was restored to {folder} ({done.size:,} bytes, schema {done.revision}{later})")


def _folder(data: str | None, config: Path | None, instead: str) -> Path:
    settings = load(config, flags={} if data is None else {"data": data})
    if settings.database_url is not None:
        raise ConfigError(
            f"the settings name a PostgreSQL database, which has its own tools for this: {instead}. For an embedded "
            "database, name its folder with --data"
        )
    return settings.data

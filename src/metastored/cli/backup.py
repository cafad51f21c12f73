"""`metastored backup` and `metastored restore`: the embedded database to a file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metastored.cli.errors import explained
from metastored.config import load
from metastored.errors import ConfigError

To = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")]
From = Annotated[Path, typer.Argument(metavar="FILE", help="The file that metastored backup wrote.")]
Data = Annotated[str | None, typer.Option(metavar="DIRECTORY", help="The directory of the embedded database.")]
Config = Annotated[Path | None, typer.Option(metavar="FILE", help="The server's file with settings.")]


@explained
def backup(file: To, data: Data = None, config: Config = None) -> None:
    """Write the embedded database to a file, while servers use it.

    The file holds one consistent state: all that was acknowledged before the command began is in it. For PostgreSQL,
    use pg_dump. The warehouse's files are not part of it.
    """
    folder = _folder(data, config, "pg_dump --format=custom --file=FILE URL")
    from metastored.store.engine.backup import back_up

    done = back_up(folder, file)
    typer.echo(f"{folder} was written to {file} ({done.size:,} bytes, schema {done.revision})")


@explained
def restore(file: From, data: Data = None, config: Config = None) -> None:
    """Make a database from a backup, in a data folder that has none.

    No server may use that folder. For PostgreSQL, use pg_restore.
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

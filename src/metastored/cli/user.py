"""`metastored user`: users with passwords. It writes to the database directly; servers need no restart.

Only `add` creates a database, and prints that it did: users can be added before the first start of the server.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metastored.cli.errors import explained
from metastored.config import load
from metastored.errors import ConfigError, Error

if TYPE_CHECKING:
    from metastored.store.engine.database import Database
    from metastored.store.engine.transaction import Transaction

user = typer.Typer(name="user", help="Manage users with passwords.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user name.")]
Data = Annotated[str | None, typer.Option(metavar="DIRECTORY", help="The directory of the embedded database.")]
Url = Annotated[str | None, typer.Option(metavar="URL", help="The URL of a PostgreSQL database.")]
Config = Annotated[Path | None, typer.Option(metavar="FILE", help="The configuration file of the server.")]
Stdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input instead of a prompt.")
]


@user.command()
@explained
def add(
    name: Name, password_stdin: Stdin = False, data: Data = None, database_url: Url = None, config: Config = None
) -> None:
    """Add a user."""
    from metastored.server.auth.passwords import checked_name, checked_password, hashed
    from metastored.store.security import users

    checked_name(name)
    secret = hashed(checked_password(_password(password_stdin)))
    with _database(data, database_url, config, create=True) as database:

        def write(tx: Transaction) -> None:
            if users.find(tx, name) is not None:
                raise ConfigError(f"there is a user {name!r} already; metastored user passwd changes the password")
            users.insert(tx, name, secret, int(time.time()))

        database.run(write)


@user.command()
@explained
def passwd(
    name: Name, password_stdin: Stdin = False, data: Data = None, database_url: Url = None, config: Config = None
) -> None:
    """Change a user's password."""
    from metastored.server.auth.passwords import checked_password, hashed
    from metastored.store.security import users

    secret = hashed(checked_password(_password(password_stdin)))
    with _database(data, database_url, config) as database:
        if not database.run(lambda tx: users.update(tx, name, secret, int(time.time()))):
            raise _nobody(name)


@user.command()
@explained
def remove(name: Name, data: Data = None, database_url: Url = None, config: Config = None) -> None:
    """Remove a user. Objects that the user owns are kept."""
    from metastored.store.security import users

    with _database(data, database_url, config) as database:
        if not database.run(lambda tx: users.delete(tx, name)):
            raise _nobody(name)


@user.command(name="list")
@explained
def every(data: Data = None, database_url: Url = None, config: Config = None) -> None:
    """List the users, one on each line."""
    from metastored.store.security import users

    with _database(data, database_url, config) as database:
        for row in users.every(database.reader()):
            typer.echo(row.name)


def _nobody(name: str) -> Error:
    return ConfigError(f"there is no user {name!r}; metastored user list prints all users")


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    password: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    return password


@contextmanager
def _database(data: str | None, url: str | None, config: Path | None, *, create: bool = False) -> Iterator[Database]:
    from metastored.store.engine.migrate import ensure_schema, revision
    from metastored.store.engine.opening import open_database, open_existing

    flags = {name: value for name, value in (("data", data), ("database_url", url)) if value is not None}
    settings = load(config, flags=flags)
    if not create:
        database = open_existing(settings.database_url, settings.data, threads=1)
    else:
        database = open_database(settings.database_url, settings.data, threads=1)
    try:
        if create:
            is_new = revision(database) is None
            ensure_schema(database)
            if is_new:
                where = f"in {settings.data}" if settings.database_url is None else "in PostgreSQL"
                typer.echo(f"metastored: a new database was created {where}", err=True)
        yield database
    finally:
        database.close()

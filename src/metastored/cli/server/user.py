"""`metastored user`: users with passwords. It writes to the database directly; servers need no restart.

Only `add` creates a database, and prints that it did: users can be added before the first start of the server.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from metastored.cli.errors import explained
from metastored.cli.help import command_group
from metastored.cli.options import Output, Store, first_line, options
from metastored.cli.output import print_object
from metastored.errors import ConfigError, Error

if TYPE_CHECKING:
    from metastored.store.engine.database import Database
    from metastored.store.engine.transaction import Transaction

user = command_group("user", "Manage users with passwords.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user name.")]
Stdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input instead of a prompt.")
]


@user.command()
@explained
@options(store=Store.read)
def add(store: Store, name: Name, password_stdin: Stdin = False) -> None:
    """Add a user."""
    from metastored.server.auth.passwords import checked_name, checked_password, hashed
    from metastored.store.security import users

    checked_name(name)
    secret = hashed(checked_password(_password(password_stdin)))
    with _database(store, create=True) as database:

        def write(tx: Transaction) -> None:
            if users.find(tx, name) is not None:
                raise ConfigError(f"there is a user {name!r} already; metastored user passwd changes the password")
            users.insert(tx, name, secret, int(time.time()))

        database.run(write)
    typer.echo(f"added the user {name}")


@user.command()
@explained
@options(store=Store.read)
def passwd(store: Store, name: Name, password_stdin: Stdin = False) -> None:
    """Change a user's password."""
    from metastored.server.auth.passwords import checked_password, hashed
    from metastored.store.security import users

    secret = hashed(checked_password(_password(password_stdin)))
    with _database(store) as database:
        if not database.run(lambda tx: users.update(tx, name, secret, int(time.time()))):
            raise _nobody(name)
    typer.echo(f"changed the password of {name}")


@user.command()
@explained
@options(store=Store.read)
def remove(store: Store, name: Name) -> None:
    """Remove a user. Objects that the user owns are kept."""
    from metastored.store.security import users

    with _database(store) as database:
        if not database.run(lambda tx: users.delete(tx, name)):
            raise _nobody(name)
    typer.echo(f"removed the user {name}")


@user.command(name="list")
@explained
@options(store=Store.read)
def every(store: Store, output: Output = "text") -> None:
    """List the users, one on each line."""
    from metastored.store.security import users

    with _database(store) as database:
        names = [row.name for row in users.every(database.reader())]
    if names or output == "json":
        print_object({"users": names}, "\n".join(names), output)


def _nobody(name: str) -> Error:
    return ConfigError(f"there is no user {name!r}; metastored user list prints all users")


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return first_line()
    password: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    return password


@contextmanager
def _database(store: Store, *, create: bool = False) -> Iterator[Database]:
    from metastored.store.engine.migrate import ensure_schema, revision
    from metastored.store.engine.opening import open_database, open_existing

    settings = store.settings
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

"""All commands of the command line. A command imports what it needs only when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from metastored import __version__
from metastored.cli.backup import backup, restore
from metastored.cli.compact import compact
from metastored.cli.doctor import doctor
from metastored.cli.pipeline import pipeline
from metastored.cli.relocate import relocate
from metastored.cli.remotes import remotes
from metastored.cli.serve import Grouped, serve
from metastored.cli.sql import sql
from metastored.cli.transfer import exports, imports
from metastored.cli.user import user

app = typer.Typer(
    name="metastored",
    help="A Hive Metastore that you pip install.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"metastored {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A Hive Metastore that you pip install."""


app.command(name="serve", cls=Grouped)(serve)
app.command(name="doctor")(doctor)
app.command(name="backup")(backup)
app.command(name="restore")(restore)
app.command(name="relocate")(relocate)
app.command(name="sql")(sql)
app.add_typer(user)
app.add_typer(remotes)
app.add_typer(compact)
app.add_typer(pipeline)
app.add_typer(imports)
app.add_typer(exports)

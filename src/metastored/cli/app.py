"""All commands of the command line, and how one is run. A command imports what it needs only when it runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Final

import typer
from typer.main import get_command

from metastored import __version__
from metastored.cli.backup import backup, restore
from metastored.cli.bench import bench
from metastored.cli.compact import compact
from metastored.cli.completion import VARIABLE, completion, register_shells
from metastored.cli.doctor import doctor
from metastored.cli.errors import EXIT_CODE, complain, interrupted
from metastored.cli.events import events
from metastored.cli.locks import locks, transactions
from metastored.cli.ls import ls
from metastored.cli.migrate import migrate
from metastored.cli.partitions import partitions, stats
from metastored.cli.pipeline import pipeline
from metastored.cli.relocate import relocate
from metastored.cli.remotes import remotes
from metastored.cli.serve import Grouped, serve
from metastored.cli.show import show
from metastored.cli.sql import sql
from metastored.cli.transfer import exports, imports
from metastored.cli.user import user

NAME: Final = "metastored"

# ClickException, the base of errors in arguments: typer exports only its subclass, and may have a click of its own.
ArgumentError: Final[type[Exception]] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name=NAME,
    help="A Hive Metastore that you pip install.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"{NAME} {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A Hive Metastore that you pip install."""


app.command(name="serve", cls=Grouped)(serve)
app.command(name="ls")(ls)
app.command(name="show")(show)
app.command(name="partitions")(partitions)
app.command(name="stats")(stats)
app.command(name="sql")(sql)
app.command(name="events")(events)
app.command(name="locks")(locks)
app.command(name="transactions")(transactions)
app.add_typer(compact)
app.add_typer(pipeline)
app.add_typer(remotes)
app.command(name="doctor")(doctor)
app.command(name="bench")(bench)
app.command(name="migrate")(migrate)
app.command(name="backup")(backup)
app.command(name="restore")(restore)
app.command(name="relocate")(relocate)
app.add_typer(imports)
app.add_typer(exports)
app.add_typer(user)
app.command(name="completion")(completion)


def run(words: Sequence[str]) -> int:
    """Runs one command. Returns the exit code; an error in the arguments is one line on standard error."""
    if VARIABLE in os.environ:
        register_shells()
    try:
        code = get_command(app).main(list(words), prog_name=NAME, standalone_mode=False)
    except typer.Abort:  # Ctrl-C or the end of the input, at the prompt for a password.
        interrupted()
    except ArgumentError as error:
        _explain(error)
        return EXIT_CODE
    return code if isinstance(code, int) else 0


def _explain(error: Exception) -> None:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(context.get_help() if context is not None else str(error), err=True)
        return
    message = " ".join(str(error.format_message()).split()).replace("Value error, ", "")  # type: ignore[attr-defined]
    command = NAME if context is None else context.command_path
    complain(f"{message.rstrip('.')} (see {command} --help)")

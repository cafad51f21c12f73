"""All commands of the command line, and how one is run. A command imports what it needs only when it runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Final

import typer
from typer.main import get_command

from metastored import __version__
from metastored.cli.completion import VARIABLE, completion, register_shells
from metastored.cli.database.backup import backup, restore
from metastored.cli.database.migrate import migrate
from metastored.cli.database.relocate import relocate
from metastored.cli.errors import EXIT_CODE, complain, interrupted
from metastored.cli.help import DATABASE, OTHERS, RUN, SHELL, SPARK, USE, Commands
from metastored.cli.metastore.bench import bench
from metastored.cli.metastore.events import events
from metastored.cli.metastore.grants import grants
from metastored.cli.metastore.locks import locks, transactions
from metastored.cli.metastore.ls import ls
from metastored.cli.metastore.partitions import partitions, stats
from metastored.cli.metastore.show import show
from metastored.cli.others.remotes import remotes
from metastored.cli.others.transfer import exports, imports
from metastored.cli.rows.compact import compact
from metastored.cli.rows.pipeline import pipeline
from metastored.cli.server.doctor import doctor
from metastored.cli.server.serve import Grouped, serve
from metastored.cli.server.user import user
from metastored.cli.sql.sql import sql

NAME: Final = "metastored"

# ClickException, the base of errors in arguments: typer exports only its subclass, and may have a click of its own.
ArgumentError: Final[type[Exception]] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name=NAME,
    cls=Commands,
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


app.command(name="serve", cls=Grouped, rich_help_panel=RUN)(serve)
app.command(name="doctor", rich_help_panel=RUN)(doctor)
app.command(name="ls", rich_help_panel=USE)(ls)
app.command(name="show", rich_help_panel=USE)(show)
app.command(name="partitions", rich_help_panel=USE)(partitions)
app.command(name="stats", rich_help_panel=USE)(stats)
app.command(name="sql", rich_help_panel=USE)(sql)
app.command(name="grants", rich_help_panel=USE)(grants)
app.command(name="events", rich_help_panel=USE)(events)
app.command(name="locks", rich_help_panel=USE)(locks)
app.command(name="transactions", rich_help_panel=USE)(transactions)
app.command(name="bench", rich_help_panel=USE)(bench)
app.command(name="backup", rich_help_panel=DATABASE)(backup)
app.command(name="restore", rich_help_panel=DATABASE)(restore)
app.command(name="migrate", rich_help_panel=DATABASE)(migrate)
app.command(name="relocate", rich_help_panel=DATABASE)(relocate)
app.command(name="completion", rich_help_panel=SHELL)(completion)
app.add_typer(user, rich_help_panel=RUN)
app.add_typer(remotes, rich_help_panel=OTHERS)
app.add_typer(imports, rich_help_panel=OTHERS)
app.add_typer(exports, rich_help_panel=OTHERS)
app.add_typer(pipeline, rich_help_panel=SPARK)
app.add_typer(compact, rich_help_panel=SPARK)


@cache
def _commands() -> Any:
    """The commands with their options, which typer reads from the signatures of functions: once in a process."""
    return get_command(app)


def run(words: Sequence[str]) -> int:
    """Runs one command. Returns the exit code; an error in the arguments is one line on standard error."""
    if VARIABLE in os.environ:
        register_shells()
    try:
        code = _commands().main(list(words), prog_name=NAME, standalone_mode=False)
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

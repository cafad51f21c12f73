"""`metastored sql`: executes metastored's statements at a running server, from a flag, a file or a prompt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metastored.cli.errors import explained
from metastored.cli.options import Output, Server, options
from metastored.cli.output import print_result
from metastored.cli.results import done_text
from metastored.errors import ConfigError

if TYPE_CHECKING:
    from metastored.client._sync.statements import Statements

File = Annotated[Path | None, typer.Argument(metavar="FILE", help="A file with statements; - is standard input.")]
Execute = Annotated[
    list[str] | None, typer.Option("--execute", "-e", metavar="STATEMENT", help="Execute this; may be repeated.")
]
Database = Annotated[str, typer.Option(metavar="NAME", help="The current database at first.")]


@explained
@options(server=Server.read)
def sql(
    server: Server,
    file: File = None,
    execute: Execute = None,
    database: Database = "default",
    output: Output = "text",
) -> None:
    """Execute statements, such as CREATE REMOTE DATABASE.

    Without -e and FILE there is a prompt.
    """
    from metastored.cli.shell import interactive
    from metastored.client._sync.statements import Statements

    if execute and file is not None:
        raise ConfigError("-e and a file are two things: give one of them")
    with server.connect() as client:
        statements = Statements(client, database)
        for text in execute or ():
            _run(statements, text, output)
        if file is not None:
            _run(statements, sys.stdin.read() if str(file) == "-" else file.read_text("utf-8"), output)
        elif not execute:
            if sys.stdin.isatty():
                interactive(client, statements, output)
            else:
                _run(statements, sys.stdin.read(), output)


def _run(statements: Statements, text: str, output: str) -> None:
    """Executes all statements of a text, and prints their results. If one cannot be parsed, none is executed."""
    from metastored.hive.statements.parsing import parse_script

    for statement in parse_script(text):
        result = statements.execute(statement)
        if result.columns or output == "json":
            print_result(result, output)
        else:
            typer.echo(done_text(statement))

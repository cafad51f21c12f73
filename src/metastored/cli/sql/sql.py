"""`metastored sql`: executes metastored's statements at a running server, from a flag, a file or a prompt."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from metastored.cli.errors import EXIT_CODE, complain, explained
from metastored.cli.options import Server, options
from metastored.cli.output import print_result
from metastored.cli.spark_options import Spark
from metastored.errors import ConfigError, Error

if TYPE_CHECKING:
    from metastored.cli.sql.executor import Executor

LIMIT = 100
"""Rows of a result of Spark's, unless --limit says otherwise."""

File = Annotated[Path | None, typer.Argument(metavar="FILE", help="A file with statements; - is standard input.")]
Script = Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE", help="The same as FILE.")]
Execute = Annotated[
    list[str] | None, typer.Option("--execute", "-e", metavar="STATEMENT", help="Execute this; may be repeated.")
]
Database = Annotated[str, typer.Option(metavar="NAME", help="The current database at first.")]
Format = Annotated[Literal["text", "json", "csv"], typer.Option("--output", help="The format of the output.")]
Stop = Annotated[
    bool,
    typer.Option(
        "--stop-on-error/--no-stop-on-error",
        help="End at the first error; otherwise the statements behind it are executed too, and the exit code is 2.",
    ),
]

WithSpark = Annotated[
    bool,
    typer.Option("--spark", help="Execute statements about rows, such as SELECT and INSERT, by a Spark of its own."),
]
Limit = Annotated[
    int | None,
    typer.Option(metavar="ROWS", min=0, help=f"Rows of a result of Spark's; 0 for all. [default: {LIMIT}]"),
]


@explained
@options(server=Server.read, settings=Spark.read)
def sql(
    server: Server,
    settings: Spark,
    file: File = None,
    script: Script = None,
    execute: Execute = None,
    database: Database = "default",
    output: Format = "text",
    stop_on_error: Stop = True,
    spark: WithSpark = False,
    limit: Limit = None,
) -> None:
    """Execute statements, such as CREATE TABLE, GRANT and SHOW TABLES.

    Without -e and FILE there is a prompt, with history and completion; help lists the statements there.
    """
    from metastored.cli.sql.executor import Executor
    from metastored.cli.sql.shell import interactive
    from metastored.client._sync.statements import Statements

    if file is not None and script is not None:
        raise ConfigError("a file was given twice: as an argument and with -f")
    file = file if file is not None else script
    if execute and file is not None:
        raise ConfigError("-e and a file are two things: give one of them")
    if not spark and (settings.settings or limit is not None):
        raise ConfigError("--master, --conf and --limit are for Spark: add --spark")
    with ExitStack() as stack:
        client = stack.enter_context(server.connect())
        rows = None
        if spark:
            from metastored.cli.sql.spark_rows import SparkRows

            rows = SparkRows(server, settings, client, LIMIT if limit is None else limit)
        executor = Executor(Statements(client, database), rows)
        stack.callback(executor.close)
        texts = list(execute or ())
        if file is not None:
            texts = [sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")]
        elif not texts:
            if sys.stdin.isatty():
                return interactive(client, executor, output)
            texts = [sys.stdin.read()]
        if not stop_on_error:
            return _run_all(executor, texts, output)
        for text in texts:
            _run(executor, text, output)
        return None


def _run(executor: Executor, text: str, output: str) -> None:
    """Executes all statements of a text, and prints their results. If one cannot be parsed, none is executed."""
    for statement in executor.parsed(text):
        result, done = executor.execute(statement)
        if result.columns or output != "text":
            print_result(result, output)
        else:
            typer.echo(done)


def _run_all(executor: Executor, texts: list[str], output: str) -> None:
    """Executes each statement by itself. An error is a line on standard error with the number of the statement."""
    from metastored.statements.words import split_statements

    failed, number = 0, 0
    for text in texts:
        for statement in split_statements(text):
            number += 1
            try:
                _run(executor, statement, output)
            except Error as error:
                failed += 1
                complain(f"statement {number}: {error}")
    if failed:
        raise SystemExit(EXIT_CODE)

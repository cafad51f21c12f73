"""`metastored pipeline`: run, draw and list pipelines. A file is checked completely before anything runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metastored.cli.errors import complain, explained
from metastored.cli.help import command_group
from metastored.cli.options import Login, Output, address, options
from metastored.cli.output import print_object, print_rows
from metastored.cli.stopping import cleaning_up
from metastored.errors import ConfigError, Error, NoSuchObjectException

if TYPE_CHECKING:
    from metastored.client._sync.client import Client
    from metastored.pipeline.model import Pipeline
    from metastored.pipeline.stores import Runs

pipeline = command_group("pipeline", "Pipelines: steps on tables, in a file.")

File = Annotated[Path, typer.Argument(metavar="FILE.yml", help="The file of the pipeline.")]
OptionalUri = Annotated[
    str | None,
    typer.Option(
        "--uri",
        metavar="URI",
        help="The metastore, if the file names none [default: the variable METASTORED_URI, or the host and port of the "
        "configuration]",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan and what would change; run nothing.")]
Parameter = Annotated[
    list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="A parameter; may be repeated.")
]
Parameters = Annotated[Path | None, typer.Option("--params", metavar="FILE", help="A YAML file with parameters.")]
State = Annotated[
    Path | None,
    typer.Option("--state", metavar="DIRECTORY", help="Record runs here: for metastores other than metastored."),
]
Restart = Annotated[bool, typer.Option("--restart", help="Begin with the first step, also after an interrupted run.")]
Svg = Annotated[bool, typer.Option("--svg", help="Print a drawing as SVG.")]


@pipeline.command()
@explained
@options(login=Login.read)
def run(
    login: Login,
    file: File,
    uri: OptionalUri = None,
    dry_run: DryRun = False,
    param: Parameter = None,
    params: Parameters = None,
    state: State = None,
    restart: Restart = False,
    output: Output = "text",
) -> None:
    """Run the steps of a pipeline. A run that was interrupted or failed goes on with the steps that are not done."""
    from metastored.cli.progress import progress_display
    from metastored.pipeline.checks import check_tables
    from metastored.pipeline.parameters import redacted, secrets_of, with_secrets
    from metastored.pipeline.planning import prepared, texts_of
    from metastored.pipeline.records import remaining
    from metastored.pipeline.report import plan_rows, report_json, report_rows
    from metastored.pipeline.running import begun, failure, held
    from metastored.pipeline.running import run as run_pipeline
    from metastored.pipeline.secrets import secret_lookup
    from metastored.pipeline.steps import Context

    given = _given(param, params)
    prepared_pipeline, values = prepared(file.read_text("utf-8"), str(file), given)
    folder = file.absolute().parent
    lookup = secret_lookup(folder)
    secrets = secrets_of(texts_of(prepared_pipeline, values), lookup)
    where = with_secrets(_address(prepared_pipeline, uri), lookup)
    with ExitStack() as stack:
        stack.enter_context(cleaning_up())
        stack.enter_context(_hiding(secrets))
        client = stack.enter_context(login.connect(where))
        runs = _runs(client, state)
        check = None if dry_run else stack.enter_context(held(client, prepared_pipeline, values, complain))
        record = begun(runs, prepared_pipeline, values, restart, time.time())
        todo = remaining(prepared_pipeline.steps, record)
        check_tables(str(file), [step for step, done in todo if done is None], lambda name: _exists(client, name))
        if check is None:
            changes = _changes(client, [step for step, done in todo if done is None])
            print_rows(*plan_rows(todo, changes), output)
            return
        settings = {name: with_secrets(value, lookup) for name, value in prepared_pipeline.spark.items()}
        if secrets:
            # Spark logs the texts of failed statements, which may contain a secret; the error is printed without it.
            settings["spark.log.level"] = "OFF"
        principal = login.kerberos_principal
        with progress_display("step", "part") as shown:
            context = Context(
                client,
                lambda: _session(where, settings, principal),
                folder,
                {name: with_secrets(value, lookup) for name, value in values.items()},
                lambda text: shown.line(redacted(text, secrets)),
                lambda: _settings(where, settings, principal, client),
            )
            try:
                record = run_pipeline(prepared_pipeline, record, runs, context, shown, lookup, secrets, check)
            finally:
                context.close()
    if output == "json":
        print_object(report_json(prepared_pipeline.steps, record), "", output)
    else:
        print_rows(*report_rows(prepared_pipeline.steps, record), output)
    if record.state == "failed":
        raise failure(record, _continuation(file, uri, given, state, login))


@pipeline.command()
@explained
def show(
    file: File, param: Parameter = None, params: Parameters = None, svg: Svg = False, output: Output = "text"
) -> None:
    """Draw the steps of a pipeline, with the tables of each.

    The steps are in their order; the tables are those that a step reads and writes.
    """
    from metastored.pipeline import drawing
    from metastored.pipeline.graph import ordered
    from metastored.pipeline.planning import prepared
    from metastored.pipeline.reading import read
    from metastored.pipeline.report import steps_rows

    text, given = file.read_text("utf-8"), _given(param, params)
    # Without values for all parameters the drawing has their names.
    has_all = all(value is not None for value in {**read(text, str(file)).parameters, **given}.values())
    steps = prepared(text, str(file), given)[0].steps if has_all else ordered(read(text, str(file)).steps)
    if output == "json":
        print_rows(*steps_rows(steps), output)
    else:
        typer.echo(drawing.as_svg(steps) if svg else drawing.as_text(steps))


@pipeline.command(name="runs")
@explained
@options(login=Login.read)
def past(login: Login, uri: OptionalUri = None, state: State = None, output: Output = "text") -> None:
    """List the runs that are recorded, with their figures."""
    from metastored.pipeline.report import runs_rows
    from metastored.pipeline.stores import DirectoryRuns, MetastoreRuns

    if state is not None:
        records = DirectoryRuns(state).all()
    else:
        with login.connect(address(uri, None)) as client:
            records = MetastoreRuns(client).all()
    print_rows(*runs_rows(records), output)


# --- what they share ---------------------------------------------------------------------------------------


def _given(param: list[str] | None, params: Path | None) -> dict[str, str]:
    """The parameters of the file and of the flags; flags win."""
    from metastored.pipeline.nodes import Mapping as YamlMapping
    from metastored.pipeline.nodes import Scalar, parse

    values: dict[str, str] = {}
    if params is not None:
        node = parse(params.read_text("utf-8"), str(params))
        if not isinstance(node, YamlMapping):
            raise ConfigError(f"{params} has to be a mapping of parameters to values")
        for name, value in node.entries.items():
            if not isinstance(value, Scalar) or value.kind == "nothing":
                raise ConfigError(f"{params}:{node.key_lines[name]}: the parameter {name!r} has no single value")
            values[name] = value.text
    for each in param or ():
        name, equals, text = each.partition("=")
        if not equals:
            raise ConfigError(f"--param {each} has no value: write NAME=VALUE")
        values[name] = text
    return values


@contextmanager
def _hiding(secrets: frozenset[str]) -> Iterator[None]:
    """Errors that contain a secret are raised without it."""
    from metastored.pipeline.parameters import redacted

    try:
        yield
    except Error as error:
        if (text := redacted(str(error), secrets)) != str(error):
            raise Error(text) from None
        raise


def _address(pipeline: Pipeline, uri: str | None) -> str:
    if pipeline.metastore is not None and uri is not None and pipeline.metastore != uri:
        raise ConfigError(f"the file names the metastore {pipeline.metastore}, and --uri another one: give one of them")
    return pipeline.metastore or address(uri, None)


def _runs(client: Client, state: Path | None) -> Runs:
    from metastored.pipeline.stores import DirectoryRuns, MetastoreRuns

    return MetastoreRuns(client) if state is None else DirectoryRuns(state)


def _exists(client: Client, name: str) -> bool:
    try:
        if name.endswith(".*"):
            client.database(name.removesuffix(".*"))
            return True
        return client.table_exists(name)
    except NoSuchObjectException:
        return False


def _changes(client: Client, steps: list[Any]) -> dict[str, str]:
    """What steps would change, as far as the metastore and the listings of directories say it."""
    from metastored.pipeline.changes import change_of

    return {step.name: change_of(client, step) for step in steps}


def _session(uri: str, settings: Mapping[str, str], principal: str | None) -> Any:
    from metastored.spark.sessions import session

    return session(uri, options=settings, principal=principal)


def _settings(uri: str, settings: Mapping[str, str], principal: str | None, client: Client) -> dict[str, str]:
    """The settings of the session above, for a Spark in another process."""
    from metastored.spark.sessions import conf

    return {**conf(uri, principal=principal, client=client), **settings}


def _continuation(
    file: Path,
    uri: str | None,
    given: Mapping[str, str],
    state: Path | None,
    login: Login,
) -> list[str]:
    """The command that goes on with this run."""
    words = ["metastored", "pipeline", "run", str(file)]
    for flag, value in (
        ("--uri", uri),
        ("--state", state),
        ("--user", login.user),
        ("--kerberos", login.kerberos_principal),
    ):
        if value is not None:
            words += [flag, str(value)]
    for name, value in given.items():
        words += ["--param", f"{name}={value}"]
    return [*words, *(["--password-stdin"] if login.password is not None else [])]

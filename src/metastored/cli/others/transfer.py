"""`metastored import` and `metastored export`: copy metadata from one metastore into another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from metastored.cli.errors import FOUND, INTERRUPTED, explained
from metastored.cli.help import command_group
from metastored.cli.options import Config, Login, Output, options
from metastored.cli.output import JSON, dumped
from metastored.config import load
from metastored.errors import ConfigError

if TYPE_CHECKING:
    from metastored.transfer.ends import Mode
    from metastored.transfer.report import Tally
    from metastored.transfer.running import Source

imports = command_group("import", "Copy the metadata of another metastore.")
exports = command_group("export", "Copy the metadata into another metastore.")

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="[NAME=]ADDRESS...",
        help="The metastores to copy from, such as thrift://host:9083. NAME= copies into the catalog of that name.",
    ),
]
Address = Annotated[
    str, typer.Argument(metavar="ADDRESS", help="The metastore to copy to, such as thrift://host:9083.")
]
Into = Annotated[
    str,
    typer.Option(
        metavar="TARGET", help="The target: a data folder, a postgresql:// URL, or the address of a running metastore."
    ),
]
From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="SOURCE",
        help="The source: a data folder, a postgresql:// URL, or the address of a metastore.",
    ),
]
Cats = Annotated[str | None, typer.Option(metavar="PATTERN", help="Only catalogs that match, such as hive|s*.")]
Databases = Annotated[str | None, typer.Option(metavar="PATTERN", help="Only databases that match.")]
Tables = Annotated[str | None, typer.Option(metavar="PATTERN", help="Only tables and views that match.")]
Without = Annotated[
    list[str] | None,
    typer.Option(metavar="KIND", help="Leave out statistics, constraints, functions or privileges; may be repeated."),
]
Drop = Annotated[
    bool, typer.Option("--drop", help="Drop objects that the source does not have. Data is never deleted.")
]
Verify = Annotated[bool, typer.Option("--verify", help="Write nothing; compare all fields and print differences.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Write nothing; print what would be written, with a line for each table. Needs no database."
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="With --dry-run: print a line for each partition.")]
JournalFile = Annotated[Path | None, typer.Option(metavar="FILE", help="The file that records progress, for resuming.")]
Warehouse = Annotated[
    str | None, typer.Option(metavar="URI", help="The warehouse of a new data folder, as for metastored serve.")
]
Federation = Annotated[
    Path,
    typer.Argument(metavar="FEDERATION.yml", help="Its file of metastores: waggle-dance-federation.yml."),
]
WaggleDanceServer = Annotated[
    Path | None,
    typer.Option("--server-config", metavar="SERVER.yml", help="Waggle Dance's server file, for database-resolution."),
]
Running = Annotated[
    str | None, typer.Option(metavar="URI", help="Execute the statements at this server: thrift://host:9083.")
]


class Copy(NamedTuple):
    """What is copied, and how."""

    catalogs: str | None
    databases: str | None
    tables: str | None
    without: frozenset[str]
    drop: bool
    mode: Mode
    verbose: bool
    journal: Path | None

    @staticmethod
    def read(
        catalogs: Cats = None,
        databases: Databases = None,
        tables: Tables = None,
        without: Without = None,
        drop: Drop = False,
        verify: Verify = False,
        dry_run: DryRun = False,
        verbose: Verbose = False,
        journal: JournalFile = None,
    ) -> Copy:
        """Raises ConfigError for flags that exclude each other."""
        from metastored.transfer.ends import Mode

        if verify and dry_run:
            raise ConfigError("--verify and --dry-run cannot be combined: choose one")
        mode = Mode.VERIFY if verify else Mode.DRY_RUN if dry_run else Mode.COPY
        return Copy(catalogs, databases, tables, frozenset(without or ()), drop, mode, verbose, journal)


@imports.callback()
def _imports() -> None:
    """Copy the metadata of another metastore."""


@exports.callback()
def _exports() -> None:
    """Copy the metadata into another metastore."""


@imports.command(name="metastore")
@explained
@options(copy=Copy.read, login=Login.read)
def import_metastore(
    sources: Sources,
    into: Into,
    copy: Copy,
    login: Login,
    warehouse: Warehouse = None,
    config: Config = None,
    output: Output = "text",
) -> None:
    """Copy metadata from a Hive metastore, 2.3 to 4.x.

    Copies databases, tables, partitions, statistics, privileges and more. Existing objects are compared, and altered if
    they differ. An interrupted import can be resumed. Data is not copied.
    """
    from metastored.transfer.running import sources_of

    _run(sources_of(sources), into, copy, login, warehouse, config, output)


@imports.command(name="waggle-dance")
@explained
@options(login=Login.read)
def import_waggle_dance(
    federation: Federation,
    login: Login,
    server: WaggleDanceServer = None,
    into: Running = None,
    output: Output = "text",
) -> None:
    """Turn the configuration of Waggle Dance into remote catalogs. Without --into, print the statements."""
    from metastored.cli.others.waggle_dance import read_yaml
    from metastored.client._sync.statements import Statements
    from metastored.remotes.waggle_dance import convert
    from metastored.statements.printing import printed

    converted = convert(read_yaml(federation), None if server is None else read_yaml(server))
    for note in converted.notes:
        typer.echo(f"note: {note}", err=True)
    if into is not None:
        with login.connect(into) as client:
            statements = Statements(client)
            for statement in converted.statements:
                statements.execute(statement)
                if output != JSON:
                    typer.echo(f"created remote catalog {statement.name[0]}")
    elif output != JSON:
        for statement in converted.statements:
            typer.echo(f"{printed(statement)};\n")
    if output == JSON:
        texts = [printed(statement) for statement in converted.statements]
        typer.echo(dumped({"statements": texts, "notes": list(converted.notes), "executed": into is not None}))


@exports.command(name="metastore")
@explained
@options(copy=Copy.read, login=Login.read)
def export_metastore(
    address: Address,
    source: From,
    copy: Copy,
    login: Login,
    config: Config = None,
    output: Output = "text",
) -> None:
    """Copy metadata into any metastore.

    Copies databases, tables, partitions, statistics, privileges and more. The target sets its own creation times, and
    may create missing directories. Data is not copied.
    """
    from metastored.transfer.places import is_address
    from metastored.transfer.running import Source

    if not is_address(address):
        raise ConfigError(f"{address!r} is not the address of a metastore; write thrift://host:9083")
    _run([Source(source)], address, copy, login, None, config, output)


def _run(
    sources: list[Source],
    target: str,
    copy: Copy,
    login: Login,
    warehouse: str | None,
    config: Path | None,
    output: str,
) -> None:
    """Copies or compares, and prints a summary: text on standard error, with the progress; JSON on standard output."""
    from metastored.cli.progress import progress_display
    from metastored.transfer.ends import Mode
    from metastored.transfer.places import Access
    from metastored.transfer.running import run
    from metastored.transfer.selection import Selection

    flags = {"warehouse": warehouse} if warehouse is not None else {}
    if "://" not in target:
        flags["data"] = target  # The warehouse of a new data folder is in it.
    settings = load(config, flags=flags)
    selection = Selection(copy.catalogs, copy.databases, copy.tables, copy.without)
    bad = False
    with progress_display() as display:
        for source in sources:
            try:
                tally = run(
                    source,
                    target,
                    Access(*login, settings.warehouse_root),
                    selection=selection,
                    mode=copy.mode,
                    drop=copy.drop,
                    journal=copy.journal,
                    display=display,
                    verbose=copy.verbose,
                )
            except KeyboardInterrupt:
                display.line("interrupted: run the same command again to resume")
                raise typer.Exit(INTERRUPTED) from None
            if output == JSON:
                typer.echo(dumped(_counts(source, tally, copy.mode)))
            else:
                for line in _summary(tally, copy.mode):
                    display.line(line)
            bad = bad or bool(tally.failures) or (copy.mode is Mode.VERIFY and tally.total > 0)
    raise typer.Exit(FOUND if bad else 0)


def _counts(source: Source, tally: Tally, mode: Mode) -> dict[str, Any]:
    """The summary as an object: one on each line, if there are several sources."""
    from metastored.transfer.report import Action

    counts: dict[str, dict[str, int]] = {action.value: {} for action in Action}
    for (kind, action), number in sorted(tally.changes.items(), key=str):
        counts[action.value][kind] = number
    return {
        "source": source.address,
        "mode": mode.name.lower(),
        "compared": {kind: number for kind, number in tally.compared.items() if number},
        **counts,
        "refused": tally.failures,
        "notes": tally.notes,
    }


def _summary(tally: Tally, mode: Mode) -> list[str]:
    """A summary of the comparison and of the changes, in a few lines."""
    from metastored.model.counting import counted
    from metastored.transfer.ends import Mode
    from metastored.transfer.report import Action

    words = {
        Mode.COPY: {Action.ADD: "added", Action.ALTER: "altered", Action.DROP: "dropped"},
        Mode.DRY_RUN: {Action.ADD: "would be added", Action.ALTER: "would be altered", Action.DROP: "would be dropped"},
        Mode.VERIFY: {Action.ADD: "missing", Action.ALTER: "different", Action.DROP: "in the target only"},
    }[mode]
    seen = ", ".join(counted(count, kind) for kind, count in tally.compared.items() if count)
    lines = [f"compared: {seen or 'nothing'}"]
    lines += [f"{word}: {tally.summary(action)}" for action, word in words.items() if tally.summary(action)]
    if not tally.total and not tally.failures:
        lines.append("both are equal")
    lines += [f"note: {text}" for text in tally.notes]
    if tally.failures:
        lines.append(f"refused: {len(tally.failures)}; correct the causes, listed above, and run the command again")
    return lines

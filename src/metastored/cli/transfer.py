"""`metastored import` and `metastored export`: copy metadata from one metastore into another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from metastored.cli.errors import explained
from metastored.config import load
from metastored.errors import ConfigError

if TYPE_CHECKING:
    from metastored.transfer.ends import Mode
    from metastored.transfer.report import Tally
    from metastored.transfer.running import Source

imports = typer.Typer(name="import", help="Copy the metadata of another metastore.", no_args_is_help=True)
exports = typer.Typer(name="export", help="Copy the metadata into another metastore.", no_args_is_help=True)

DIFFERS: Final = 1
"""The exit code if a verification found differences, or if an object was refused."""
INTERRUPTED: Final = 130
"""The exit code after Ctrl-C, as shells have it."""

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
User = Annotated[str | None, typer.Option(metavar="NAME", help="The user name for the metastore.")]
Stdin = Annotated[bool, typer.Option("--password-stdin", help="Read that user's password from standard input.")]
Principal = Annotated[
    str | None,
    typer.Option("--kerberos", metavar="PRINCIPAL", help="Use Kerberos; the server's principal, as hive/_HOST@REALM."),
]
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
Config = Annotated[Path | None, typer.Option(metavar="FILE", help="The configuration file of the server.")]


@imports.callback()
def _imports() -> None:
    """Copy the metadata of another metastore."""


@exports.callback()
def _exports() -> None:
    """Copy the metadata into another metastore."""


@imports.command(name="metastore")
@explained
def import_metastore(
    sources: Sources,
    into: Into,
    catalogs: Cats = None,
    databases: Databases = None,
    tables: Tables = None,
    without: Without = None,
    drop: Drop = False,
    verify: Verify = False,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    journal: JournalFile = None,
    user: User = None,
    password_stdin: Stdin = False,
    kerberos: Principal = None,
    warehouse: Warehouse = None,
    config: Config = None,
) -> None:
    """Copy metadata (databases, tables, partitions, statistics, …) from a Hive metastore, 2.3 to 4.x.

    Existing objects are compared, and altered if they differ. An interrupted import can be resumed. Data is not
    copied.
    """
    from metastored.transfer.running import sources_of

    _run(
        sources_of(sources),
        into,
        (catalogs, databases, tables, without),
        _mode(verify, dry_run),
        drop,
        journal,
        verbose,
        (user, password_stdin, kerberos, warehouse, config),
    )


@imports.command(name="waggle-dance")
@explained
def import_waggle_dance(
    federation: Federation,
    server: WaggleDanceServer = None,
    into: Running = None,
    user: User = None,
    password_stdin: Stdin = False,
    kerberos: Principal = None,
) -> None:
    """Turn the configuration of Waggle Dance into remote catalogs. Without --into, print the statements."""
    from metastored.cli.connecting import connected
    from metastored.cli.waggle_dance import read_yaml
    from metastored.client._sync.statements import Statements
    from metastored.hive.statements.printing import printed
    from metastored.remotes.waggle_dance import convert

    found = convert(read_yaml(federation), None if server is None else read_yaml(server))
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    if into is None:
        for statement in found.statements:
            typer.echo(f"{printed(statement)};\n")
        return
    with connected(into, user, password_stdin, kerberos) as client:
        statements = Statements(client)
        for statement in found.statements:
            statements.execute(statement)
            typer.echo(f"created remote catalog {statement.name[0]}")


@exports.command(name="metastore")
@explained
def export_metastore(
    address: Address,
    source: From,
    catalogs: Cats = None,
    databases: Databases = None,
    tables: Tables = None,
    without: Without = None,
    drop: Drop = False,
    verify: Verify = False,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    journal: JournalFile = None,
    user: User = None,
    password_stdin: Stdin = False,
    kerberos: Principal = None,
    config: Config = None,
) -> None:
    """Copy metadata (databases, tables, partitions, statistics, …) into any metastore.

    The target sets its own creation times, and may create missing directories. Data is not copied.
    """
    from metastored.transfer.places import is_address
    from metastored.transfer.running import Source

    if not is_address(address):
        raise ConfigError(f"{address!r} is not the address of a metastore; write thrift://host:9083")
    _run(
        [Source(source)],
        address,
        (catalogs, databases, tables, without),
        _mode(verify, dry_run),
        drop,
        journal,
        verbose,
        (user, password_stdin, kerberos, None, config),
    )


def _mode(verify: bool, dry_run: bool) -> Mode:
    from metastored.transfer.ends import Mode

    if verify and dry_run:
        raise ConfigError("--verify and --dry-run cannot be combined: choose one")
    return Mode.VERIFY if verify else Mode.DRY_RUN if dry_run else Mode.COPY


def _run(
    sources: list[Source],
    target: str,
    chosen: tuple[str | None, str | None, str | None, list[str] | None],
    mode: Mode,
    drop: bool,
    journal: Path | None,
    verbose: bool,
    access: tuple[str | None, bool, str | None, str | None, Path | None],
) -> None:
    from metastored.cli.progress import progress_display
    from metastored.transfer.places import Access
    from metastored.transfer.running import run
    from metastored.transfer.selection import Selection

    catalogs, databases, tables, without = chosen
    user, password_stdin, kerberos, warehouse, config = access
    flags = {"warehouse": warehouse} if warehouse is not None else {}
    if "://" not in target:
        flags["data"] = target  # The warehouse of a new data folder is in it.
    settings = load(config, flags=flags)
    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
    selection = Selection(catalogs, databases, tables, frozenset(without or ()))
    bad = False
    with progress_display() as display:
        for source in sources:
            try:
                tally = run(
                    source,
                    target,
                    Access(user, password, kerberos, settings.warehouse_root),
                    selection=selection,
                    mode=mode,
                    drop=drop,
                    journal=journal,
                    display=display,
                    verbose=verbose,
                )
            except KeyboardInterrupt:
                display.line("interrupted: run the same command again to resume")
                raise typer.Exit(INTERRUPTED) from None
            for line in _summary(tally, mode):
                display.line(line)
            bad = bad or bool(tally.failures) or (_is_verification(mode) and tally.total > 0)
    raise typer.Exit(DIFFERS if bad else 0)


def _is_verification(mode: Mode) -> bool:
    from metastored.transfer.ends import Mode

    return mode is Mode.VERIFY


def _summary(tally: Tally, mode: Mode) -> list[str]:
    """A summary of the comparison and of the changes, in a few lines."""
    from metastored.transfer.ends import Mode
    from metastored.transfer.report import Action, plural

    words = {
        Mode.COPY: {Action.ADD: "added", Action.ALTER: "altered", Action.DROP: "dropped"},
        Mode.DRY_RUN: {Action.ADD: "would be added", Action.ALTER: "would be altered", Action.DROP: "would be dropped"},
        Mode.VERIFY: {Action.ADD: "missing", Action.ALTER: "different", Action.DROP: "in the target only"},
    }[mode]
    seen = ", ".join(f"{count:,} {plural(kind, count)}" for kind, count in tally.compared.items() if count)
    lines = [f"compared: {seen or 'nothing'}"]
    lines += [f"{word}: {tally.summary(action)}" for action, word in words.items() if tally.summary(action)]
    if not tally.total and not tally.failures:
        lines.append("both are equal")
    lines += [f"note: {text}" for text in tally.notes]
    if tally.failures:
        lines.append(f"refused: {len(tally.failures)}; correct the causes, listed above, and run the command again")
    return lines

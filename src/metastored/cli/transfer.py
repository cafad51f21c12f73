"""`metastored import` and `metastored export`: the metadata of one metastore into another."""

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
"""The exit code when a verification found differences, or when something was refused."""
INTERRUPTED: Final = 130
"""The exit code after Ctrl-C, as shells have it."""

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="[NAME=]ADDRESS...",
        help="The metastores to copy from, as thrift://host:9083. With a NAME, it becomes the catalog of that name.",
    ),
]
Address = Annotated[str, typer.Argument(metavar="ADDRESS", help="The metastore to copy to, as thrift://host:9083.")]
Into = Annotated[
    str,
    typer.Option(
        metavar="PLACE", help="Where to: a data folder, a postgresql:// URL, or the address of a running metastore."
    ),
]
From = Annotated[
    str,
    typer.Option(
        "--from", metavar="PLACE", help="From where: a data folder, a postgresql:// URL, or a metastore's address."
    ),
]
Cats = Annotated[str | None, typer.Option(metavar="PATTERN", help="Only these catalogs: hive|s* and the like.")]
Databases = Annotated[str | None, typer.Option(metavar="PATTERN", help="Only these databases.")]
Tables = Annotated[str | None, typer.Option(metavar="PATTERN", help="Only these tables and views.")]
Without = Annotated[
    list[str] | None,
    typer.Option(metavar="KIND", help="Leave out statistics, constraints, functions or privileges; may be repeated."),
]
Drop = Annotated[bool, typer.Option("--drop", help="Drop what the source no longer has. Data is never deleted.")]
Verify = Annotated[bool, typer.Option("--verify", help="Write nothing; compare field by field and tell what differs.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Write nothing; tell what would be written, with a line for each table. Needs no database."
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="With --dry-run: a line for each partition.")]
JournalFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Where to note how far it is.")]
User = Annotated[str | None, typer.Option(metavar="NAME", help="Who to be at the metastore.")]
Stdin = Annotated[bool, typer.Option("--password-stdin", help="Read that user's password from standard input.")]
Principal = Annotated[
    str | None, typer.Option("--kerberos", metavar="PRINCIPAL", help="Use Kerberos; the server's, as hive/_HOST@REALM.")
]
Warehouse = Annotated[
    str | None, typer.Option(metavar="URI", help="The warehouse of a new data folder, as of metastored serve.")
]
Config = Annotated[Path | None, typer.Option(metavar="FILE", help="The server's file with settings.")]


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
    """Copy databases, tables, partitions and all that is theirs from a Hive metastore, 2.3 to 4.x.

    What is there already is compared and altered where it differs; an interrupted import goes on where it was. The data
    stays where it is.
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
    """Copy databases, tables, partitions and all that is theirs into any metastore.

    Times of creation are the target's own, and it may make directories that are missing. The data stays where it is.
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
        raise ConfigError("--verify and --dry-run are two things: choose one")
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
    from metastored.cli.progress import shown
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
    with shown() as display:
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
                display.line("interrupted: the same command goes on where this one stopped")
                raise typer.Exit(INTERRUPTED) from None
            for line in _summary(tally, mode):
                display.line(line)
            bad = bad or bool(tally.failures) or (_is_verification(mode) and tally.total > 0)
    raise typer.Exit(DIFFERS if bad else 0)


def _is_verification(mode: Mode) -> bool:
    from metastored.transfer.ends import Mode

    return mode is Mode.VERIFY


def _summary(tally: Tally, mode: Mode) -> list[str]:
    """What was found and done, in a few lines."""
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
        lines.append(f"refused: {len(tally.failures)}; see the lines above, and run it again when they are mended")
    return lines

"""`metastored remotes`: the remotes of a running server, and whether they answer."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from metastored.cli.colours import painted
from metastored.cli.errors import FOUND, explained
from metastored.cli.help import command_group
from metastored.cli.options import Output, Server, options
from metastored.cli.output import dumped, print_result
from metastored.errors import ConfigError
from metastored.hive.locations import is_local, local_path
from metastored.model.counting import counted
from metastored.model.remotes.values import Access

if TYPE_CHECKING:
    from metastored.client._sync.client import Client

remotes = command_group("remotes", "Remote databases and tables of a server.")

Names = Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="Only these remotes, named as in the list.")]


class Tested(NamedTuple):
    """What came of one call to a remote."""

    kind: str
    name: str
    ok: bool
    milliseconds: float
    detail: str
    """What was read, or the error."""
    storage: str | None = None
    """Where the data of a read-only remote is: of its table, database, or first database."""
    storage_writable: bool | None = None
    """Whether this process may write there; None where that is not known, because the storage is not local."""

    @property
    def warning(self) -> str | None:
        """What is open although the remote is read-only."""
        if not self.storage_writable:
            return None
        return f"it is read-only, but this process may write to {self.storage}: an engine deletes files by itself"


@remotes.command(name="list")
@explained
@options(server=Server.read)
def every(server: Server, output: Output = "text") -> None:
    """List the remotes. This calls none of them."""
    with server.connect() as client:
        result = client.sql("SHOW REMOTES")
    print_result(result, output)


@remotes.command()
@explained
@options(server=Server.read)
def test(server: Server, names: Names = None, output: Output = "text") -> None:
    """Read something from each remote through the server. The exit code is 1 if one does not answer.

    For a read-only remote with local files it says whether this process may write to them. JSON has an object on each
    line.
    """
    with server.connect() as client:
        defined = client.sql("SHOW REMOTES").dicts()
        known = {row["name"] for row in defined}
        missing = [name for name in names or () if name.lower() not in known]
        if missing:
            listed = ", ".join(sorted(name or "" for name in known)) or "none"
            raise ConfigError(f"there is no remote {missing[0]!r}; there are: {listed}")
        wanted = {name.lower() for name in names} if names else known
        tested = [tested_remote(client, row) for row in defined if row["name"] in wanted]
    for each in tested:
        if output == "json":
            typer.echo(dumped(each._asdict()))
        else:
            state = painted("ok    ", "green", sys.stdout) if each.ok else painted("FAILED", "red", sys.stdout)
            typer.echo(f"{state} {each.kind} {each.name}: {each.detail}")
            if each.warning is not None:
                typer.echo(f"       {painted('warning', 'yellow', sys.stdout)}: {each.warning}")
    if output == "text" and not tested:
        typer.echo("there are no remotes")
    if not all(each.ok for each in tested):
        raise typer.Exit(FOUND)


def tested_remote(client: Client, row: dict[str, str | None]) -> Tested:
    """Reads something from a remote; `row` is its row in SHOW REMOTES."""
    from metastored.errors import Error

    kind, name = row["kind"] or "", row["name"] or ""
    started = monotonic()
    try:
        if kind == "table":
            table = client.fresh_table(name)
            detail = counted(len((table.sd and table.sd.cols) or ()), "column")
        elif kind == "database":
            detail = counted(len(client.tables(name)), "table")
        else:
            shown = row["remote"] or ""
            pattern = f"@{name}#*" if shown == f"{name}.*" else shown
            databases = client.api.get_databases(pattern)
            detail = counted(len(databases), "database")
        ok = True
    except Error as error:
        ok, detail = False, str(error)
    milliseconds = round((monotonic() - started) * 1000, 1)
    if not ok:
        return Tested(kind, name, ok, milliseconds, detail)
    tested = Tested(kind, name, ok, milliseconds, f"{detail} in {milliseconds:g} ms")
    if row["access"] == Access.WRITE:
        return tested
    if kind == "table":
        storage = table.sd.location if table.sd is not None else None
    else:
        first = name if kind == "database" else next(iter(databases), None)
        storage = client.api.get_database(first).locationUri if first is not None else None
    return tested._replace(storage=storage, storage_writable=may_write(storage))


def may_write(location: str | None) -> bool | None:
    """Whether this process may write to a location; None where that is not known."""
    if not location or not is_local(location):
        return None
    path = Path(local_path(location))
    # A directory that does not exist yet is made in the nearest one above that does.
    existing = next((each for each in (path, *path.parents) if each.exists()), None)
    return existing is not None and os.access(existing, os.W_OK)

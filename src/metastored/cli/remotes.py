"""`metastored remotes`: the remotes of a running server, and whether they answer."""

from __future__ import annotations

import json
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

import typer

from metastored.cli.connecting import Principal, Stdin, Uri, User, connected
from metastored.cli.errors import explained
from metastored.errors import ConfigError

if TYPE_CHECKING:
    from metastored.client._sync.client import Client

remotes = typer.Typer(name="remotes", help="Remote databases and tables of a server.", no_args_is_help=True)

FAILED: Final = 1
"""The exit code if a remote does not answer."""

Output = Annotated[Literal["text", "json"], typer.Option(help="The format of the output.")]
Names = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these remotes, named as in the list.")
]


class Tested(NamedTuple):
    """What came of one call to a remote."""

    kind: str
    name: str
    ok: bool
    milliseconds: float
    detail: str
    """What was read, or the error."""


@remotes.command(name="list")
@explained
def every(
    uri: Uri = "thrift://localhost:9083",
    output: Output = "text",
    user: User = None,
    password_stdin: Stdin = False,
    kerberos: Principal = None,
) -> None:
    """List the remotes. This calls none of them."""
    from metastored.cli.results import as_json, as_text

    with connected(uri, user, password_stdin, kerberos) as client:
        result = client.sql("SHOW REMOTES")
    typer.echo(as_json(result) if output == "json" else as_text(result))


@remotes.command()
@explained
def test(
    names: Names = None,
    uri: Uri = "thrift://localhost:9083",
    output: Output = "text",
    user: User = None,
    password_stdin: Stdin = False,
    kerberos: Principal = None,
) -> None:
    """Read something from each remote through the server. The exit code is 1 if one does not answer."""
    with connected(uri, user, password_stdin, kerberos) as client:
        found = client.sql("SHOW REMOTES").dicts()
        known = {row["name"] for row in found}
        missing = [name for name in names or () if name.lower() not in known]
        if missing:
            listed = ", ".join(sorted(name or "" for name in known)) or "none"
            raise ConfigError(f"there is no remote {missing[0]!r}; there are: {listed}")
        wanted = {name.lower() for name in names} if names else known
        tested = [_test(client, row) for row in found if row["name"] in wanted]
    for each in tested:
        if output == "json":
            typer.echo(json.dumps(each._asdict(), ensure_ascii=False))
        else:
            typer.echo(f"{'ok' if each.ok else 'FAILED':6} {each.kind} {each.name}: {each.detail}")
    if output == "text" and not tested:
        typer.echo("there are no remotes")
    if not all(each.ok for each in tested):
        raise typer.Exit(FAILED)


def _test(client: Client, row: dict[str, str | None]) -> Tested:
    from metastored.errors import Error

    kind, name = row["kind"] or "", row["name"] or ""
    started = monotonic()
    try:
        if kind == "table":
            table = client.fresh_table(name)
            detail = f"{len((table.sd and table.sd.cols) or ())} columns"
        elif kind == "database":
            detail = f"{len(client.tables(name))} tables"
        else:
            shown = row["remote"] or ""
            pattern = f"@{name}#*" if shown == f"{name}.*" else shown
            detail = f"{len(client.api.get_databases(pattern))} databases"
        ok = True
    except Error as error:
        ok, detail = False, str(error)
    milliseconds = round((monotonic() - started) * 1000, 1)
    return Tested(kind, name, ok, milliseconds, f"{detail} in {milliseconds:g} ms" if ok else detail)

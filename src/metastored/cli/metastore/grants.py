"""`metastored grants`: who may do what on an object, and by which grant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from metastored.cli.errors import complain, explained
from metastored.cli.options import Output, Server, options
from metastored.cli.output import print_rows

if TYPE_CHECKING:
    from metastored.client._sync.access import Right
    from metastored.statements.rights import Target

Object = Annotated[
    str | None,
    typer.Argument(metavar="DB[.TABLE]", help="A database, or a table; catalog.db.table too. Without it: the server."),
]
User = Annotated[str | None, typer.Option("--principal", metavar="NAME", help="Only this user, role or group.")]


@explained
@options(server=Server.read)
def grants(server: Server, object: Object = None, principal: User = None, output: Output = "text") -> None:
    """List who may do what on a database, a table or the server, and why.

    A row names the grant or the ownership, the roles through which somebody has it, and who granted it. Grants on the
    database and on the server count for a table. They are enforced by servers with `authorization: sql`. What you may
    not read is a line on standard error.
    """
    from metastored.client._sync.access import COLUMNS, access
    from metastored.model.names import DatabaseName

    with server.connect() as client:
        rights = access(client, _target(object), DatabaseName("", "default"))
    for note in rights.notes:
        complain(note)
    rows: list[Right] = [each for each in rights.rights if principal in (None, each.principal)]
    print_rows(COLUMNS, rows, output)


def _target(name: str | None) -> Target:
    from metastored.model.names import database_name, table_name
    from metastored.statements.rights import DATABASE, TABLE, Target

    if name is None:
        return Target()
    if "." not in name:
        return Target(DATABASE, (database_name(name).database,))
    return Target(TABLE, tuple(part for part in table_name(name) if part))

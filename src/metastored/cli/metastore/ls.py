"""`metastored ls`: the databases of a metastore, and the tables of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from metastored.cli.errors import explained
from metastored.cli.options import Output, Server, options
from metastored.cli.output import print_rows

if TYPE_CHECKING:
    from metastored.client._sync.client import Client
    from metastored.model.names import DatabaseName

Where = Annotated[
    str | None,
    typer.Argument(
        metavar="CATALOG[.DB]",
        help="A catalog, a database, or both. A name without a dot is a catalog if there is one of that name.",
    ),
]


@explained
@options(server=Server.read)
def ls(server: Server, where: Where = None, output: Output = "text") -> None:
    """List databases, or the tables of a database.

    Without a name: the databases of all catalogs. Metastores before Hive 3 have one catalog, named hive.
    """
    from metastored.errors import ObjectNotFound
    from metastored.model.names import database_name

    with server.connect() as client:
        known = catalogs(client)
        if where is None:
            _list_databases(client, known, output)
        elif where.lower() in known:
            _list_databases(client, (where.lower(),), output)
        else:
            name = database_name(where)
            if name.catalog and name.catalog.lower() not in known:
                raise ObjectNotFound("catalog", name.catalog)
            _list_tables(client, name, output)


def catalogs(client: Client) -> tuple[str, ...]:
    """The names of the catalogs; the default one for a metastore without catalogs."""
    from metastored.errors import NotSupported
    from metastored.hive.names import DEFAULT_CATALOG

    try:
        return tuple(client.api.get_catalogs().names or ()) or (DEFAULT_CATALOG,)
    except NotSupported:
        return (DEFAULT_CATALOG,)


def _list_databases(client: Client, names: tuple[str, ...], output: str) -> None:
    from metastored.hive.names import DEFAULT_CATALOG
    from metastored.model.names import DatabaseName

    rows = [
        (catalog, database)
        for catalog in names
        # The default catalog is not named: metastores before Hive 3 would take it for a part of the pattern.
        for database in client.databases(
            DatabaseName("" if catalog == DEFAULT_CATALOG else catalog, "*").field,
        )
    ]
    print_rows(("catalog", "database"), rows, output)


def _list_tables(client: Client, name: DatabaseName, output: str) -> None:
    database = client.database(str(name) if name.catalog else name.database)
    metas = client.api.get_table_meta(name.field, "*", ())
    # The name is a pattern in that call.
    exact = (database.name or name.database).lower()
    rows = sorted(
        (each.tableName or "", each.tableType, (each.comments or "").strip() or None)
        for each in metas
        if (each.dbName or "").lower() == exact
    )
    print_rows(("table", "type", "comment"), rows, output)

"""Refuses writes to the tables of read-only remotes before a file is written or deleted.

Spark changes the files of a table first and calls the metastore last, which can only refuse what has happened already.
The metastore says in the parameters of a database or a table that it is a remote, and whether it may be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from metastored.client._sync.client import Client
from metastored.errors import InvalidOperationException, MetastoreError, NoSuchObjectException
from metastored.model.names import TableName
from metastored.model.remotes.keys import ACCESS, is_remote
from metastored.model.remotes.values import Access


def refuse_read_only(client: Client, names: Iterable[TableName]) -> None:
    """Raises InvalidOperationException if one of the tables belongs to a read-only remote, also if it does not exist.

    A server that cannot say what a database or a table is refuses the write itself, or has no such object.
    """
    by_database: dict[str, list[TableName]] = {}
    for name in sorted(set(names)):
        by_database.setdefault(name.database, []).append(name)
    for database, tables in by_database.items():
        try:
            described: Mapping[str, str] = client.database(database).parameters or {}
        except NoSuchObjectException:
            continue  # Spark says so; or it is not a database at all, as in parquet.`/path`.
        if _is_read_only(described):
            raise _refused(tables[0], f"the remote database {database}")
        try:
            structs = client.tables_by_name(database, tuple(each.table for each in tables))
        except MetastoreError:
            continue
        for table in structs:
            if _is_read_only(table.parameters or {}):
                name = TableName("", database, (table.tableName or "").lower())
                raise _refused(name, f"the remote table {name}")


def _is_read_only(parameters: Mapping[str, str]) -> bool:
    return is_remote(parameters) and parameters.get(ACCESS, "").strip().lower() != Access.WRITE


def _refused(table: TableName, remote: str) -> InvalidOperationException:
    return InvalidOperationException(
        f"{table} was not written: {remote} is read-only ({ACCESS}), and Spark would change files before the metastore "
        "could refuse it; write the table in its own metastore"
    )

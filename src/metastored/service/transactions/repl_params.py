"""Properties that a commit may set: the state of a replica, and one property of the client's own."""

from __future__ import annotations

from typing import Final

from metastored.errors import MetaException
from metastored.hive.names import CatalogNameError, normalize, read_database
from metastored.service.core import rows
from metastored.service.core.conflicts import locked, locked_database
from metastored.service.core.internal import internal_error
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases, partitions, tables
from metastored.store.objects.tables import TableRow
from metastored.wire.generated.transactions import CommitTxnKeyValue, CommitTxnRequest, ReplLastIdInfo
from metastored.wire.structs import replace

LAST_REPLICATED: Final = "repl.last.id"
KEY_PREFIX: Final = "_meta"
"""The prefix of the key of a client's own property."""


def apply(tx: Transaction, rqst: CommitTxnRequest) -> None:
    """Writes the properties of a request to commit."""
    if rqst.replLastIdInfo is not None:
        _note_last(tx, rqst.replLastIdInfo)
    if rqst.keyValue is not None:
        _set_own(tx, rqst.keyValue)


def _note_last(tx: Transaction, info: ReplLastIdInfo) -> None:
    try:
        catalog, database_name = read_database(info.database, info.catalog)
    except CatalogNameError as error:
        raise MetaException(str(error)) from None
    name, last = database_name or "", str(info.lastReplId or 0)
    row = databases.find(tx, catalog, name)
    if row is None:
        raise MetaException(f"DB with name {name} does not exist in catalog {catalog}")
    row = locked_database(tx, catalog, row)
    database = rows.database_of(row, catalog)
    parameters = {**(database.parameters or {}), LAST_REPLICATED: last}
    databases.update(tx, row.id, rows.database_body(replace(database, parameters=parameters)))
    if info.table is None:
        return
    table = normalize(info.table)
    table_row = tables.find(tx, catalog, name, table)
    if table_row is None:
        raise MetaException(f"Table with name {table} does not exist in db {catalog}.{name}")
    table_row = locked(tx, table_row)
    _set_parameter(tx, table_row, LAST_REPLICATED, last)
    for part in partitions.find_many(tx, table_row.id, info.partitionList or ()):
        own = rows.partition_own(part.body)
        changed = replace(own, parameters={**(own.parameters or {}), LAST_REPLICATED: last})
        partitions.update(
            tx,
            part.id,
            shape=part.shape,
            base=part.base,
            suffix=part.suffix,
            write_id=part.write_id,
            body=rows.partition_body(changed),
        )


def _set_own(tx: Transaction, key_value: CommitTxnKeyValue) -> None:
    """A property that must exist already, so that of two clients that began together only one succeeds."""
    key = key_value.key or ""
    row = tables.find_by_id(tx, key_value.tableId or 0) if key.startswith(KEY_PREFIX) else None
    if row is None:
        raise internal_error("commit_txn")
    row = locked(tx, row)
    if key not in (rows.table_of(row, "", "").parameters or {}):
        raise internal_error("commit_txn")
    _set_parameter(tx, row, key, key_value.value or "")


def _set_parameter(tx: Transaction, row: TableRow, key: str, value: str) -> None:
    table = rows.table_of(row, "", "")
    changed = replace(table, parameters={**(table.parameters or {}), key: value}, writeId=row.write_id)
    tables.update(tx, row.id, **rows.table_columns(changed)._asdict())

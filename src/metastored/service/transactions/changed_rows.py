"""How many rows transactions changed in the tables of materialized views: it shows whether a view is stale."""

from __future__ import annotations

from collections.abc import Callable

from metastored.model.names import DatabaseName
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import tables
from metastored.wire.codec import binary
from metastored.wire.generated.common import CreationMetadata
from metastored.wire.generated.statistics import UpdateTransactionalStatsRequest
from metastored.wire.structs import replace


@method
def update_transaction_statistics(ctx: Context, req: UpdateTransactionalStatsRequest) -> None:
    """Counts the rows that a transaction changed in a table, for each materialized view that reads it."""

    def change(tx: Transaction) -> None:
        names = tables.full_name(tx, req.tableId or 0)
        if names is None:
            return
        catalog, database, name = names
        counted = _counted(req, DatabaseName(catalog, database), name)
        for view_id, body in tables.creation_metadatas(tx):
            metadata = binary.decode(CreationMetadata, body)
            changed = counted(metadata)
            if changed != metadata:
                tables.set_creation_metadata(tx, view_id, binary.encode(changed))

    ctx.database.run(change)


def _counted(
    req: UpdateTransactionalStatsRequest, where: DatabaseName, name: str
) -> Callable[[CreationMetadata], CreationMetadata]:
    def count(metadata: CreationMetadata) -> CreationMetadata:
        sources = tuple(
            replace(
                one,
                insertedCount=(one.insertedCount or 0) + (req.insertCount or 0),
                updatedCount=(one.updatedCount or 0) + (req.updatedCount or 0),
                deletedCount=(one.deletedCount or 0) + (req.deletedCount or 0),
            )
            if one.table is not None
            and (one.table.catName or where.catalog, one.table.dbName, one.table.tableName) == (*where, name)
            else one
            for one in metadata.sourceTables or ()
        )
        return replace(metadata, sourceTables=sources or None)

    return count

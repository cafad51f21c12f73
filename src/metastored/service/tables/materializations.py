"""Whether a materialized view is up to date with its tables."""

from __future__ import annotations

import json
from typing import Any

from metastored.errors import MetaException
from metastored.hive.generation import Generation
from metastored.hive.transactions.snapshots import SnapshotSyntaxError, ValidWriteIdList, parse_write_id_lists
from metastored.hive.transactions.written_snapshots import WrittenTxnList
from metastored.model.names import TableName
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.service.transactions.write_ids import full_name, reading_snapshots, valid_write_ids
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions import compactions, components
from metastored.wire.generated.common import CreationMetadata
from metastored.wire.generated.views import Materialization


@method
def get_materialization_invalidation_info(
    ctx: Context, creation_metadata: CreationMetadata, validTxnList: str | None
) -> Materialization | None:
    """Whether rows of the view's tables were updated or deleted since its last build, and whether those were compacted.

    None, which clients get as a missing result, where only a full rebuild can tell.
    """
    tables = sorted(creation_metadata.tablesUsed or ())
    then = _filled_from(creation_metadata.validTxnList)
    if not tables or then is None:
        return None
    with reading_snapshots(), ctx.reading() as tx:
        now = WrittenTxnList(validTxnList or "")
        modified = compacted = False
        for name in tables:
            table, seen = full_name(ctx, name), then.get(name)
            if seen is None:
                return None
            if ctx.generation >= Generation.HIVE_4_0:
                current = valid_write_ids(ctx, tx, now, table)
                if current.min_open != seen.min_open:
                    return None
            writers = components.changed_by(
                tx, table, seen.high_watermark, seen.open + seen.aborted, now.high_watermark
            )
            modified = modified or any(now.is_valid(txn) for txn in writers)
            compacted = compacted or _compacted(tx, table, seen)
    return Materialization(sourceTablesUpdateDeleteModified=modified, sourceTablesCompacted=compacted)


def _filled_from(text: str | None) -> dict[str, ValidWriteIdList] | None:
    """The snapshots of the tables at the view's last build. From 4.0 on they are inside JSON, or Iceberg's instead."""
    written: Any = text or ""
    if written.startswith("{"):
        try:
            snapshot = json.loads(written)
        except ValueError as error:
            raise MetaException(f"the snapshot of the materialized view cannot be read: {error}") from None
        if snapshot.get("tableSnapshots"):
            return None
        written = snapshot.get("validTxnList") or ""
    if not written:
        return None
    try:
        return parse_write_id_lists(written)[1]
    except SnapshotSyntaxError as error:
        raise MetaException(f"the snapshot of the materialized view cannot be read: {error}") from None


def _compacted(tx: Transaction, table: TableName, seen: ValidWriteIdList) -> bool:
    for row in compactions.of_table(tx, table):
        if row.state in compactions.QUEUED:
            return True
        highest = row.highest_write_id
        if highest is not None and not seen.is_valid(highest):
            return True
    return False

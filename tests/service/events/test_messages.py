"""Messages of events, parsed by Hive 3.1.3's own classes, which serialize the same message again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from metastored.hive.generation import Generation
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.opening import open_database
from metastored.wire.generated.common import FieldSchema, SQLPrimaryKey, Table
from metastored.wire.generated.constraints import AddPrimaryKeyRequest, DropConstraintRequest
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function
from metastored.wire.generated.notifications import (
    FireEventRequest,
    FireEventRequestData,
    InsertEventRequestData,
    NotificationEvent,
    NotificationEventRequest,
)
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.transactions import (
    AbortTxnRequest,
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    OpenTxnRequest,
)
from metastored.wire.structs import replace
from tests.support.apache import run_with_hive_3_1
from tests.support.metastore import Clock, Metastore
from tests.support.objects import storage, table


def _work(metastore: Metastore) -> None:
    """A little of everything that leaves an event."""
    call = metastore.call
    call("create_database", Database(name="d", description='quotes " and \\ and é'))
    call("alter_database", "d", Database(name="d", parameters={"a": "b"}))
    call("create_table", table("d", "t", "a int, b string"))
    call("create_table", table("d", "p", keys="ds string, h int"))
    parts = [Partition((str(n), "x"), "d", "p", sd=storage(), parameters={"k": "v"}) for n in range(3)]
    call("add_partitions", (*parts[:2], replace(parts[2], sd=storage("z int"))))
    call("alter_partition", "d", "p", replace(call("get_partition", "d", "p", ("0", "x")), parameters={"k": "w"}))
    held: Table = call("get_table", "d", "t")
    assert held.sd is not None
    wider = replace(held.sd, cols=(*(held.sd.cols or ()), FieldSchema("c", "map<string,int>", "new")))
    call("alter_table", "d", "t", replace(held, sd=wider))
    data = FireEventRequestData(insertData=InsertEventRequestData(filesAdded=("file:/x/1",)))
    call("fire_listener_event", FireEventRequest(True, data, "d", "t"))
    call("fire_listener_event", FireEventRequest(True, data, "d", "p", ("1", "x")))
    call("drop_partition", "d", "p", ("1", "x"), True)
    call("create_function", Function(functionName="f", dbName="d", className="x.Y", ownerType=1, functionType=1))
    call("drop_function", "d", "f")
    call("add_primary_key", AddPrimaryKeyRequest((SQLPrimaryKey("d", "t", "a", 1, "pk", catName="hive"),)))
    call("drop_constraint", DropConstraintRequest("d", "t", "pk"))
    first, second = call("open_txns", OpenTxnRequest(num_txns=2, user="u", hostname="h")).txn_ids
    call("allocate_table_write_ids", AllocateTableWriteIdsRequest(dbName="d", tableName="t", txnIds=(first, second)))
    call("commit_txn", CommitTxnRequest(txnid=first))
    call("abort_txn", AbortTxnRequest(txnid=second))
    call("drop_table", "d", "t", True)
    call("drop_database", "d", True, True)


def _parsed(value: Any) -> Any:
    """A message with the objects in its texts, so that the order of their fields does not matter."""
    if isinstance(value, str) and value.startswith("{"):
        return _parsed(json.loads(value))
    if isinstance(value, dict):
        # Hive 3.1 has no write id in a table.
        return {key: _parsed(inner) for key, inner in value.items() if key != "19"}
    return [_parsed(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.apache
def test_hive_reads_every_message_and_would_write_the_same(tmp_path: Path) -> None:
    database = open_database(None, tmp_path)
    ensure_schema(database)
    metastore = Metastore(database, Clock(), Generation.HIVE_3_1)
    try:
        _work(metastore)
        request = NotificationEventRequest(lastEvent=0)
        result: tuple[NotificationEvent, ...] = metastore.call("get_next_notification", request).events
    finally:
        metastore.close()
        database.close()
    given = "".join(f"{event.eventType} {event.message}\n" for event in result)
    made = run_with_hive_3_1("EventMessages", given).splitlines()
    assert len(made) == len(result) == 21
    for event, text in zip(result, made, strict=True):
        assert _parsed(event.message) == _parsed(text), event.eventType

"""The event log: the events that clients read, in the form of each Hive, and those that clients report themselves."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from metastored.errors import ApplicationError, NoSuchObjectException
from metastored.hive.generation import Generation
from metastored.service.core import rows
from metastored.service.core.changes import EVENT_FORMAT, pack
from metastored.service.events import notifications
from metastored.service.events.messages import BY_TYPE
from metastored.service.events.parts import Parts
from metastored.service.retention import clean
from metastored.store.objects.events import EventRow
from metastored.wire.codec import binary, tjson
from metastored.wire.codec.tjson import CODEC
from metastored.wire.generated.catalogs import Catalog, CreateCatalogRequest, DropCatalogRequest
from metastored.wire.generated.common import (
    ColumnStatistics,
    ColumnStatisticsData,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    FieldSchema,
    LongColumnStatsData,
    SQLPrimaryKey,
    StorageDescriptor,
    Table,
    WriteEventInfo,
)
from metastored.wire.generated.constraints import AddPrimaryKeyRequest, DropConstraintRequest
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function
from metastored.wire.generated.notifications import (
    FireEventRequest,
    FireEventRequestData,
    GetAllWriteEventInfoRequest,
    InsertEventRequestData,
    NotificationEvent,
    NotificationEventRequest,
    NotificationEventsCountRequest,
    WriteNotificationLogBatchRequest,
    WriteNotificationLogRequest,
)
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.transactions import AllocateTableWriteIdsRequest, CommitTxnRequest, OpenTxnRequest
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.objects import DB, make_table, table

DAY = 86400


def _filled(metastore: Metastore) -> None:
    """Database d, tables t and p (partitioned by ds and h), one partition."""
    metastore.call("create_database", Database(name="d"))
    metastore.call("create_table", table("d", "t"))
    metastore.call("create_table", table("d", "p", keys="ds string, h int"))
    metastore.call("add_partition", _partition(metastore, "1", "2"))


def _partition(metastore: Metastore, *values: str) -> Partition:
    of: Table = metastore.call("get_table", "d", "p")
    sd = replace(of.sd, location=None) if of.sd is not None else None
    return Partition(values=values, dbName="d", tableName="p", sd=sd, parameters={"k": "v"})


def _events(metastore: Metastore, **request: Any) -> list[NotificationEvent]:
    result = metastore.call("get_next_notification", NotificationEventRequest(**({"lastEvent": 0} | request)))
    return list(result.events)


def _message(event: NotificationEvent) -> dict[str, Any]:
    text = event.message or ""
    if event.messageFormat == "gzip(json-2.0)":
        text = gzip.decompress(b64decode(text)).decode()
    message: dict[str, Any] = json.loads(text)
    return message


def _last(metastore: Metastore, type: str) -> dict[str, Any]:
    return _message([event for event in _events(metastore) if event.eventType == type][-1])


def _object(cls: type, text: str) -> Any:
    """The content of a text in TJSON."""
    return CODEC.named(cls.__name__)[0](orjson.loads(text))


def test_before_the_first_change_there_is_no_event(metastore: Metastore) -> None:
    assert metastore.call("get_current_notificationEventId").eventId == 0
    assert _events(metastore) == []


def test_events_come_in_the_order_of_the_changes_with_ids_without_gaps(metastore: Metastore) -> None:
    _filled(metastore)
    result = _events(metastore)
    assert [event.eventType for event in result] == ["CREATE_DATABASE", "CREATE_TABLE", "CREATE_TABLE", "ADD_PARTITION"]
    assert [event.eventId for event in result] == [1, 2, 3, 4]
    assert [(event.catName, event.dbName, event.tableName) for event in result] == [
        ("hive", "d", None),
        ("hive", "d", "t"),
        ("hive", "d", "p"),
        ("hive", "d", "p"),
    ]
    assert metastore.call("get_current_notificationEventId").eventId == 4
    assert {event.eventTime for event in result} == {int(metastore.clock.now)}


def test_a_reader_gets_the_events_after_the_last_one_it_saw_up_to_its_limit(metastore: Metastore) -> None:
    _filled(metastore)
    assert [event.eventId for event in _events(metastore, lastEvent=1, maxEvents=2)] == [2, 3]
    assert [event.eventId for event in _events(metastore, lastEvent=3, maxEvents=-1)] == [4]
    assert _events(metastore, lastEvent=99) == []


@pytest.mark.parametrize(
    ("request_", "ids"),
    [
        ({"catName": "HIVE"}, [1, 2, 3, 4, 5]),
        ({"catName": "other"}, []),
        ({"dbName": "D"}, [1, 2, 3, 4]),
        ({"dbName": "d", "tableNames": ("T", "nope")}, [2]),
        ({"eventTypeSkipList": ("CREATE_TABLE", "CREATE_DATABASE")}, [4]),
        ({"eventTypeList": ("ADD_PARTITION", "CREATE_DATABASE")}, [1, 4, 5]),
        ({"eventTypeList": ("CREATE_DATABASE",), "dbName": "e"}, [5]),
        ({"eventTypeSkipList": (), "eventTypeList": (), "tableNames": ()}, [1, 2, 3, 4, 5]),
    ],
)
def test_events_can_be_chosen(metastore: Metastore, request_: dict[str, Any], ids: list[int]) -> None:
    _filled(metastore)
    metastore.call("create_database", Database(name="e"))
    assert [event.eventId for event in _events(metastore, **request_)] == ids


def test_a_long_reply_ends_early_and_the_next_call_continues_there(
    metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "MAX_BYTES", 1)
    monkeypatch.setattr(notifications, "PAGE", 2)
    _filled(metastore)
    seen: list[int] = []
    while result := _events(metastore, lastEvent=seen[-1] if seen else 0):
        seen += [event.eventId or 0 for event in result]
    assert seen == [1, 2, 3, 4]


def test_many_events_are_read_by_pages(metastore: Metastore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "PAGE", 2)
    _filled(metastore)
    assert [event.eventId for event in _events(metastore)] == [1, 2, 3, 4]
    assert [event.eventId for event in _events(metastore, maxEvents=3)] == [1, 2, 3]


def test_a_large_reply_is_streamed_in_chunks_with_the_same_bytes(
    metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    _filled(metastore)
    at_once = _events(metastore)
    monkeypatch.setattr(rows, "CHUNK", 2000)
    assert _events(metastore) == at_once
    assert [event.eventId for event in at_once] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("request_", "count"),
    [
        ({"dbName": "d"}, 5),
        ({"dbName": "*"}, 6),
        ({"dbName": "D", "fromEventId": 2}, 3),
        ({"dbName": "d", "toEventId": 2}, 2),
        ({"dbName": "d", "limit": 3}, 3),
        ({"dbName": "d", "tableNames": ("P",)}, 2),
        ({"dbName": "d", "catName": "other"}, 1),
    ],
)
def test_events_are_counted_with_those_of_transactions(
    metastore: Metastore, request_: dict[str, Any], count: int
) -> None:
    _filled(metastore)
    metastore.call("create_database", Database(name="e"))
    metastore.call("open_txns", OpenTxnRequest(num_txns=1, user="u", hostname="h"))
    request = NotificationEventsCountRequest(**({"fromEventId": 0} | request_))
    assert metastore.call("get_notification_events_count", request).eventsCount == count


# --- messages -------------------------------------------------------------------------------------------------------


def test_old_clients_get_plain_messages_and_new_clients_compressed_messages(start: Starter) -> None:
    old, new = start(Generation.HIVE_2_3), start(Generation.HIVE_4_0)
    old.call("create_database", Database(name="d"))
    (plain,), (packed,) = _events(old), _events(new)
    assert plain.messageFormat == "json-0.2"
    assert packed.messageFormat == "gzip(json-2.0)"
    assert _message(plain) == _message(packed)


def test_a_table_is_in_its_message_as_tjson(metastore: Metastore) -> None:
    _filled(metastore)
    message = _last(metastore, "CREATE_TABLE")
    assert (message["server"], message["servicePrincipal"]) == ("", "")
    assert (message["db"], message["table"], message["tableType"]) == ("d", "p", "MANAGED_TABLE")
    assert (message["timestamp"], message["files"]) == (int(metastore.clock.now), [])
    held = _object(Table, message["tableObjJson"])
    assert (held.tableName, [key.name for key in held.partitionKeys]) == ("p", ["ds", "h"])


def test_the_event_of_a_changed_table_has_it_before_and_after(hive_4: Metastore) -> None:
    hive_4.call("create_database", Database(name="d"))
    hive_4.call("create_table", table("d", "t", tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"}))
    before: Table = hive_4.call("get_table", "d", "t")
    hive_4.call("alter_table", "d", "t", replace(before, tableName="u"))
    event = _events(hive_4)[-1]
    message = _message(event)
    # Who looks for the new name finds how it came about.
    assert (event.eventType, event.tableName, message["table"]) == ("ALTER_TABLE", "u", "t")
    assert _object(Table, message["tableObjBeforeJson"]).tableName == "t"
    assert _object(Table, message["tableObjAfterJson"]).tableName == "u"
    assert message["isTruncateOp"] == "false"
    assert "writeId" in message


def test_a_truncation_is_marked_in_its_event(metastore: Metastore) -> None:
    _filled(metastore)
    metastore.call("truncate_table", "d", "t", None)
    metastore.call("truncate_table", "d", "p", None)
    assert _last(metastore, "ALTER_TABLE")["isTruncateOp"] == "true"
    assert _last(metastore, "ALTER_PARTITION")["isTruncateOp"] == "true"


def test_the_event_of_new_partitions_has_them_complete(metastore: Metastore) -> None:
    _filled(metastore)
    metastore.call("add_partitions", tuple(_partition(metastore, str(n), "x") for n in range(3)))
    message = _last(metastore, "ADD_PARTITION")
    assert message["partitions"] == [{"ds": str(n), "h": "x"} for n in range(3)]
    assert [each["partitionName"] for each in message["partitionFiles"]] == [f"ds={n}/h=x" for n in range(3)]
    reported = [_object(Partition, text) for text in message["partitionListJson"]]
    assert [part.sd.location for part in reported] == [f"file:/nowhere/d.db/p/ds={n}/h=x" for n in range(3)]
    assert {(part.catName, part.dbName, part.tableName, part.sd.cols[0].name) for part in reported} == {
        ("hive", "d", "p", "a")
    }


ODD = 'a "quoted" \\ value/with % and é'


@pytest.mark.parametrize("comment", ["plain", ODD, "no text: \udcff"])
def test_the_event_of_a_new_partition_has_it_as_get_partition_returns_it(metastore: Metastore, comment: str) -> None:
    _filled(metastore)
    wide = tuple(FieldSchema(f"column_{number}", "string", comment) for number in range(50))
    given = _partition(metastore)
    assert given.sd is not None
    made = replace(given, sd=replace(given.sd, cols=wide), parameters={"k": comment})
    parts = [replace(made, values=(f"{ODD} {number}", "1")) for number in range(2)]
    metastore.call("add_partitions", tuple(parts))
    reported = [_object(Partition, text) for text in _last(metastore, "ADD_PARTITION")["partitionListJson"]]
    result = [metastore.call("get_partition", "d", "p", part.values) for part in parts]
    assert reported == [_object(Partition, tjson.text(part)) for part in result]


def test_partitions_without_a_location_have_none_in_their_event() -> None:
    sd = StorageDescriptor(cols=(FieldSchema("a", "int"),), compressed=False)
    parts = [Partition(values=("1",), parameters={"k": "v"}), Partition(values=("2",), sd=StorageDescriptor())]
    body = pack([("sd", binary.encode(sd)), ("partitions", b"".join(map(binary.encode, parts)))])
    row = EventRow(1, 0, "ADD_PARTITION", "hive", "d", "t", EVENT_FORMAT, body)
    reported = [
        _object(Partition, orjson.loads(bytes(text)))
        for _, text in Parts(row, Generation.HIVE_3_1).partitions(Table(tableName="t", dbName="d"))
    ]
    assert [(part.values, part.sd) for part in reported] == [(("1",), sd), (("2",), sd)]


def test_changed_and_dropped_partitions_have_events(metastore: Metastore) -> None:
    _filled(metastore)
    part: Partition = metastore.call("get_partition", "d", "p", ("1", "2"))
    metastore.call("alter_partition", "d", "p", replace(part, parameters={"k": "w"}))
    metastore.call("drop_partition", "d", "p", ("1", "2"), True)
    changed = _last(metastore, "ALTER_PARTITION")
    assert changed["keyValues"] == {"ds": "1", "h": "2"}
    assert _object(Partition, changed["partitionObjBeforeJson"]).parameters["k"] == "v"
    assert _object(Partition, changed["partitionObjAfterJson"]).parameters["k"] == "w"
    dropped = _last(metastore, "DROP_PARTITION")
    assert dropped["partitions"] == [{"ds": "1", "h": "2"}]
    assert _object(Table, dropped["tableObjJson"]).tableName == "p"


def test_databases_functions_and_catalogs_have_events(hive_4: Metastore) -> None:
    hive_4.call("create_database", Database(name="d"))
    hive_4.call("alter_database", "d", Database(name="d", parameters={"a": "b"}))
    hive_4.call("create_function", Function(functionName="f", dbName="d", className="x.Y", ownerType=1, functionType=1))
    hive_4.call("drop_function", "d", "f")
    hive_4.call("drop_database", "d", True, True)
    hive_4.call("create_catalog", CreateCatalogRequest(Catalog(name="c", locationUri="file:/nowhere/c")))
    hive_4.call("drop_catalog", DropCatalogRequest("c"))
    assert _object(Database, _last(hive_4, "CREATE_DATABASE")["dbJson"]).name == "d"
    assert _object(Database, _last(hive_4, "ALTER_DATABASE")["dbObjAfterJson"]).parameters == {"a": "b"}
    assert _object(Function, _last(hive_4, "CREATE_FUNCTION")["functionObjJson"]).className == "x.Y"
    assert _last(hive_4, "DROP_FUNCTION")["functionName"] == "f"
    assert _object(Database, _last(hive_4, "DROP_DATABASE")["dbJson"]).name == "d"
    assert _last(hive_4, "CREATE_CATALOG")["catalog"] == "c"
    assert _last(hive_4, "DROP_CATALOG")["catalog"] == "c"


def test_events_of_transactions_have_their_numbers(hive_4: Metastore) -> None:
    hive_4.call("create_database", Database(name="d"))
    opened = hive_4.call("open_txns", OpenTxnRequest(num_txns=2, user="u", hostname="h")).txn_ids
    request = AllocateTableWriteIdsRequest(dbName="d", tableName="t", txnIds=opened)
    hive_4.call("allocate_table_write_ids", request)
    hive_4.call("commit_txn", CommitTxnRequest(txnid=opened[0]))
    reported = _last(hive_4, "OPEN_TXN")
    assert (reported["txnIds"], reported["fromTxnId"], reported["toTxnId"]) == (None, opened[0], opened[1])
    reported = _last(hive_4, "ALLOC_WRITE_ID_EVENT")
    assert (reported["dbName"], reported["tableName"]) == ("d", "t")
    assert (reported["txnIdList"], reported["writeIdList"]) == (list(opened), [1, 2])
    reported = _last(hive_4, "COMMIT_TXN")
    assert (reported["txnid"], reported["databases"], reported["writeIds"]) == (opened[0], ["d"], [1])


def test_constraints_and_statistics_have_events(hive_4: Metastore) -> None:
    make_table(hive_4, keys=("ds",))
    key = SQLPrimaryKey(DB, "t", "a", 1, "pk", catName="hive")
    hive_4.call("add_primary_key", AddPrimaryKeyRequest((key,)))
    hive_4.call("drop_constraint", DropConstraintRequest(DB, "t", "pk"))
    (reported,) = _last(hive_4, "ADD_PRIMARYKEY")["primaryKeyListJson"]
    assert _object(SQLPrimaryKey, reported).column_name == "a"
    dropped = _last(hive_4, "DROP_CONSTRAINT")
    assert (dropped["dbName"], dropped["tableName"], dropped["constraintName"]) == (DB, "t", "pk")
    column = ColumnStatisticsObj("a", "int", ColumnStatisticsData(longStats=LongColumnStatsData(numNulls=1, numDVs=2)))
    stats = ColumnStatistics(ColumnStatisticsDesc(True, DB, "t", catName="hive"), (column,), engine="hive")
    hive_4.call("update_table_column_statistics", stats)
    hive_4.call("delete_table_column_statistics", DB, "t", "a", "hive")
    updated = _last(hive_4, "UPDATE_TBL_COL_STAT_EVENT")
    assert _object(ColumnStatistics, updated["colStatsJson"]).statsObj[0].colName == "a"
    assert _object(Table, updated["tableObjJson"]).parameters == updated["parameters"]
    deleted = _last(hive_4, "DELETE_TBL_COL_STAT_EVENT")
    assert (deleted["database"], deleted["colName"]) == (DB, "a")


def test_every_event_that_a_method_leaves_has_a_message() -> None:
    """Hive's log has no events of schemas and connectors, and a transaction's writes are no events."""
    silent = ("ISCHEMA", "SCHEMA_VERSION", "DATACONNECTOR", "ACID_WRITE", "ALTER_PARTITIONS")
    reported = {event for method in METHODS.values() for event in method.event.split()}
    assert {event for event in reported - BY_TYPE.keys() if not any(word in event for word in silent)} == set()


# --- events that clients report -------------------------------------------------------------------------------------


def _fire(data: FireEventRequestData, **other: Any) -> FireEventRequest:
    return FireEventRequest(successful=True, data=data, dbName="d", **other)


def test_an_insert_is_reported_with_its_files(metastore: Metastore) -> None:
    _filled(metastore)
    data = InsertEventRequestData(filesAdded=("file:/x/1", "file:/x/2"), filesAddedChecksum=("c1", "c2"))
    fired = metastore.call("fire_listener_event", _fire(FireEventRequestData(insertData=data), tableName="T"))
    assert fired.eventIds == (5,)
    message = _last(metastore, "INSERT")
    assert (message["db"], message["table"], message["replace"]) == ("d", "t", "true")
    assert message["files"] == ["file:/x/1###", "file:/x/2###"]
    assert message["ptnObjJson"] is None


def test_clients_of_2_3_name_files_with_their_checksums(start: Starter) -> None:
    old = start(Generation.HIVE_2_3)
    _filled(old)
    data = InsertEventRequestData(replace=False, filesAdded=("file:/x/1",), filesAddedChecksum=("c1",))
    request = _fire(FireEventRequestData(insertData=data), tableName="p", partitionVals=("1", "2"))
    old.call("fire_listener_event", request)
    message = _last(old, "INSERT")
    assert (message["files"], message["replace"]) == (["file:/x/1#c1"], "false")
    assert message["partKeyVals"] == {"ds": "1", "h": "2"}


def test_inserts_into_several_partitions_are_reported_at_once(hive_4: Metastore) -> None:
    _filled(hive_4)
    hive_4.call("add_partition", _partition(hive_4, "3", "4"))
    datas = tuple(InsertEventRequestData(filesAdded=("f",), partitionVal=values) for values in (("1", "2"), ("3", "4")))
    fired = hive_4.call("fire_listener_event", _fire(FireEventRequestData(insertDatas=datas), tableName="p"))
    assert fired.eventIds == (6, 7)
    assert _object(Partition, _last(hive_4, "INSERT")["ptnObjJson"]).values == ("3", "4")


def test_a_reload_is_reported(hive_4: Metastore) -> None:
    _filled(hive_4)
    fired = hive_4.call("fire_listener_event", _fire(FireEventRequestData(refreshEvent=True), tableName="t"))
    assert fired.eventIds == (5,)
    assert _last(hive_4, "RELOAD")["refreshEvent"] == "true"


@pytest.mark.parametrize(
    ("data", "other"),
    [
        (FireEventRequestData(), {"tableName": "t"}),
        (FireEventRequestData(insertData=InsertEventRequestData(filesAdded=("f",))), {"tableName": "nope"}),
        (
            FireEventRequestData(insertData=InsertEventRequestData(filesAdded=("f",))),
            {"tableName": "p", "partitionVals": ("9", "9")},
        ),
        (FireEventRequestData(insertDatas=(InsertEventRequestData(filesAdded=("f",)),)), {"tableName": "p"}),
        (
            FireEventRequestData(insertData=InsertEventRequestData(filesAdded=("f",), filesAddedChecksum=("a", "b"))),
            {"tableName": "t"},
        ),
    ],
)
def test_a_report_that_makes_no_sense_leaves_no_event(
    hive_4: Metastore, data: FireEventRequestData, other: dict[str, Any]
) -> None:
    _filled(hive_4)
    with pytest.raises(ApplicationError, match="Internal error processing fire_listener_event"):
        hive_4.call("fire_listener_event", _fire(data, **other))
    assert hive_4.call("get_current_notificationEventId").eventId == 4


# --- what transactions write ----------------------------------------------------------------------------------------


def _write(txn: int, file: str, values: tuple[str, ...] | None = None, name: str = "p") -> WriteNotificationLogRequest:
    info = InsertEventRequestData(filesAdded=(file,), subDirectoryList=("delta",))
    return WriteNotificationLogRequest(txnId=txn, writeId=7, db="D", table=name, fileInfo=info, partitionVals=values)


def _written(metastore: Metastore, txn: int, **names: str) -> tuple[WriteEventInfo, ...]:
    result: tuple[WriteEventInfo, ...] = metastore.call(
        "get_all_write_event_info", GetAllWriteEventInfoRequest(txnId=txn, **names)
    )
    return result


def test_the_write_log_is_read_by_the_transaction(hive_4: Metastore) -> None:
    _filled(hive_4)
    hive_4.call("add_write_notification_log", _write(3, "file:/1", ("1", "2")))
    hive_4.call("add_write_notification_log", _write(3, "file:/2", ("1", "2")))
    hive_4.call("add_write_notification_log", _write(3, "file:/2", ("1", "2")))  # retried
    hive_4.call("add_write_notification_log", _write(3, "file:/3", name="t"))
    first, second = _written(hive_4, 3)
    assert (first.table, first.partition, first.writeId) == ("p", "ds=1/h=2", 7)
    assert first.files == "file:/2###delta]file:/1###delta"
    assert _object(Partition, first.partitionObj or "").values == ("1", "2")
    assert (second.table, second.partition, second.partitionObj) == ("t", "", None)
    assert _object(Table, second.tableObj or "").tableName == "t"
    assert _written(hive_4, 3, dbName="*", tableName="t") == (second,)
    assert _written(hive_4, 3, dbName="nope") == ()
    assert _written(hive_4, 4) == ()
    assert hive_4.call("get_current_notificationEventId").eventId == 4


def test_writes_of_a_batch_skip_partitions_that_are_gone(hive_4: Metastore) -> None:
    _filled(hive_4)
    requests = (_write(3, "a", ("1", "2")), _write(3, "b", ("9", "9")))
    batch = WriteNotificationLogBatchRequest(catalog="hive", db="d", table="p", requestList=requests)
    hive_4.call("add_write_notification_log_in_batch", batch)
    assert [info.partition for info in _written(hive_4, 3)] == ["ds=1/h=2"]
    plain = WriteNotificationLogBatchRequest(catalog="hive", db="d", table="t", requestList=(_write(4, "c", name="t"),))
    hive_4.call("add_write_notification_log_in_batch", plain)
    assert [info.table for info in _written(hive_4, 4)] == ["t"]


# --- retention ------------------------------------------------------------------------------------------------------


def _ids(metastore: Metastore) -> list[int | None]:
    return [event.eventId for event in _events(metastore)]


def test_old_events_are_deleted_and_ids_continue(hive_4: Metastore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metastored.store.objects.events.EXPIRY_BATCH", 2)
    _filled(hive_4)
    hive_4.call("add_write_notification_log", _write(3, "file:/3", name="t"))
    hive_4.clock.forward(DAY / 2)
    hive_4.call("create_database", Database(name="e"))
    clean(hive_4.service, DAY)
    assert _ids(hive_4) == [1, 2, 3, 4, 5]
    hive_4.clock.forward(DAY / 2 + 1)
    clean(hive_4.service, DAY)
    assert _ids(hive_4) == [5]
    assert _written(hive_4, 3) == ()
    hive_4.clock.forward(DAY)
    clean(hive_4.service, DAY)
    assert _ids(hive_4) == []
    hive_4.call("create_database", Database(name="f"))
    assert _ids(hive_4) == [6]


def test_a_failed_change_leaves_no_event(metastore: Metastore) -> None:
    failing: list[Callable[[], Any]] = [
        lambda: metastore.call("drop_table", "d", "nope", True),
        lambda: metastore.call("drop_function", "d", "nope"),
    ]
    _filled(metastore)
    for each in failing:
        with pytest.raises(NoSuchObjectException):
            each()
    assert metastore.call("get_current_notificationEventId").eventId == 4

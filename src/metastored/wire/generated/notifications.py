"""The metastore API, notifications. Made by tools/generate.py from api/notifications.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['CurrentNotificationEventId', 'FireEventRequest', 'FireEventRequestData', 'FireEventResponse', 'GetAllWriteEventInfoRequest', 'InsertEventRequestData', 'NotificationEvent', 'NotificationEventRequest', 'NotificationEventResponse', 'NotificationEventsCountRequest', 'NotificationEventsCountResponse', 'WriteNotificationLogBatchRequest', 'WriteNotificationLogBatchResponse', 'WriteNotificationLogRequest', 'WriteNotificationLogResponse']


if TYPE_CHECKING:

    class CurrentNotificationEventId(NamedTuple):
        eventId: int | None = None

    class FireEventRequest(NamedTuple):
        successful: bool | None = None
        data: FireEventRequestData | None = None
        dbName: str | None = None
        tableName: str | None = None
        partitionVals: tuple[str, ...] | None = None
        catName: str | None = None
        tblParams: dict[str, str] | None = None
        batchPartitionValsForRefresh: tuple[tuple[str, ...], ...] | None = None

    class FireEventRequestData(NamedTuple):
        insertData: InsertEventRequestData | None = None
        insertDatas: tuple[InsertEventRequestData, ...] | None = None
        refreshEvent: bool | None = None

    class FireEventResponse(NamedTuple):
        eventIds: tuple[int, ...] | None = None

    class GetAllWriteEventInfoRequest(NamedTuple):
        txnId: int | None = None
        dbName: str | None = None
        tableName: str | None = None

    class InsertEventRequestData(NamedTuple):
        replace: bool | None = None
        filesAdded: tuple[str, ...] | None = None
        filesAddedChecksum: tuple[str, ...] | None = None
        subDirectoryList: tuple[str, ...] | None = None
        partitionVal: tuple[str, ...] | None = None

    class NotificationEvent(NamedTuple):
        eventId: int | None = None
        eventTime: int | None = None
        eventType: str | None = None
        dbName: str | None = None
        tableName: str | None = None
        message: str | None = None
        messageFormat: str | None = None
        catName: str | None = None

    class NotificationEventRequest(NamedTuple):
        lastEvent: int | None = None
        maxEvents: int | None = None
        eventTypeSkipList: tuple[str, ...] | None = None
        catName: str | None = None
        dbName: str | None = None
        tableNames: tuple[str, ...] | None = None
        eventTypeList: tuple[str, ...] | None = None

    class NotificationEventResponse(NamedTuple):
        events: tuple[NotificationEvent, ...] | None = None

    class NotificationEventsCountRequest(NamedTuple):
        fromEventId: int | None = None
        dbName: str | None = None
        catName: str | None = None
        toEventId: int | None = None
        limit: int | None = None
        tableNames: tuple[str, ...] | None = None

    class NotificationEventsCountResponse(NamedTuple):
        eventsCount: int | None = None

    class WriteNotificationLogBatchRequest(NamedTuple):
        catalog: str | None = None
        db: str | None = None
        table: str | None = None
        requestList: tuple[WriteNotificationLogRequest, ...] | None = None

    class WriteNotificationLogBatchResponse(NamedTuple):
        pass

    class WriteNotificationLogRequest(NamedTuple):
        txnId: int | None = None
        writeId: int | None = None
        db: str | None = None
        table: str | None = None
        fileInfo: InsertEventRequestData | None = None
        partitionVals: tuple[str, ...] | None = None

    class WriteNotificationLogResponse(NamedTuple):
        pass

else:
    from metastored.wire.structs import Struct, at, new

    class CurrentNotificationEventId(Struct):
        __slots__ = ()
        SPEC = ('1 i64 eventId required',)

        def __new__(cls, eventId=None):
            return new(cls, (eventId,))

        eventId = at[0]

    class FireEventRequest(Struct):
        __slots__ = ()
        SPEC = ('1 bool successful required', '2 FireEventRequestData data required', '3 string dbName @db', '4 string tableName @table', '5 list<string> partitionVals @part_values', '6 string catName @cat in=3.1+', '7 map<string,string> tblParams in=4.0.0+', '8 list<list<string>> batchPartitionValsForRefresh in=4.2+',)

        def __new__(cls, successful=None, data=None, dbName=None, tableName=None, partitionVals=None, catName=None, tblParams=None, batchPartitionValsForRefresh=None):
            return new(cls, (successful, data, dbName, tableName, partitionVals, catName, tblParams, batchPartitionValsForRefresh,))

        successful = at[0]
        data = at[1]
        dbName = at[2]
        tableName = at[3]
        partitionVals = at[4]
        catName = at[5]
        tblParams = at[6]
        batchPartitionValsForRefresh = at[7]

    class FireEventRequestData(Struct):
        __slots__ = ()
        SPEC = ('1 InsertEventRequestData insertData', '2 list<InsertEventRequestData> insertDatas in=4.0.0+', '3 bool refreshEvent in=4.0.0+',)
        UNION = True

        def __new__(cls, insertData=None, insertDatas=None, refreshEvent=None):
            return new(cls, (insertData, insertDatas, refreshEvent,))

        insertData = at[0]
        insertDatas = at[1]
        refreshEvent = at[2]

    class FireEventResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<i64> eventIds in=4.0.0+',)

        def __new__(cls, eventIds=None):
            return new(cls, (eventIds,))

        eventIds = at[0]

    class GetAllWriteEventInfoRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 txnId required @txn_id in=4.0.0+', '2 string dbName @db in=4.0.0+', '3 string tableName @table in=4.0.0+',)

        def __new__(cls, txnId=None, dbName=None, tableName=None):
            return new(cls, (txnId, dbName, tableName,))

        txnId = at[0]
        dbName = at[1]
        tableName = at[2]

    class InsertEventRequestData(Struct):
        __slots__ = ()
        SPEC = ('1 bool replace in=3.1+', '2 list<string> filesAdded required @location in=3.1+', '3 list<string> filesAddedChecksum in=3.1+', '4 list<string> subDirectoryList @relative_location in=4.0.0+', '5 list<string> partitionVal @part_values in=4.0.0+',)
        WAS_WHEN = '1 list<string>'
        WAS = ('1 list<string> filesAdded required @location', '2 list<string> filesAddedChecksum',)

        def __new__(cls, replace=None, filesAdded=None, filesAddedChecksum=None, subDirectoryList=None, partitionVal=None):
            return new(cls, (replace, filesAdded, filesAddedChecksum, subDirectoryList, partitionVal,))

        replace = at[0]
        filesAdded = at[1]
        filesAddedChecksum = at[2]
        subDirectoryList = at[3]
        partitionVal = at[4]

    class NotificationEvent(Struct):
        __slots__ = ()
        SPEC = ('1 i64 eventId required', '2 i32 eventTime required', '3 string eventType required', '4 string dbName @db', '5 string tableName @table', '6 string message required', '7 string messageFormat', '8 string catName @cat in=3.1+',)

        def __new__(cls, eventId=None, eventTime=None, eventType=None, dbName=None, tableName=None, message=None, messageFormat=None, catName=None):
            return new(cls, (eventId, eventTime, eventType, dbName, tableName, message, messageFormat, catName,))

        eventId = at[0]
        eventTime = at[1]
        eventType = at[2]
        dbName = at[3]
        tableName = at[4]
        message = at[5]
        messageFormat = at[6]
        catName = at[7]

    class NotificationEventRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 lastEvent required', '2 i32 maxEvents', '3 list<string> eventTypeSkipList in=4.0.0+', '4 string catName @cat in=4.0.0+', '5 string dbName @db in=4.0.0+', '6 list<string> tableNames @table in=4.0.0+', '7 list<string> eventTypeList in=4.1+',)

        def __new__(cls, lastEvent=None, maxEvents=None, eventTypeSkipList=None, catName=None, dbName=None, tableNames=None, eventTypeList=None):
            return new(cls, (lastEvent, maxEvents, eventTypeSkipList, catName, dbName, tableNames, eventTypeList,))

        lastEvent = at[0]
        maxEvents = at[1]
        eventTypeSkipList = at[2]
        catName = at[3]
        dbName = at[4]
        tableNames = at[5]
        eventTypeList = at[6]

    class NotificationEventResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<NotificationEvent> events required',)

        def __new__(cls, events=None):
            return new(cls, (events,))

        events = at[0]

    class NotificationEventsCountRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 fromEventId required in=3.1+', '2 string dbName required @db in=3.1+', '3 string catName @cat in=3.1+', '4 i64 toEventId in=4.0.0+', '5 i64 limit in=4.0.0+', '6 list<string> tableNames @table in=4.0.0+',)

        def __new__(cls, fromEventId=None, dbName=None, catName=None, toEventId=None, limit=None, tableNames=None):
            return new(cls, (fromEventId, dbName, catName, toEventId, limit, tableNames,))

        fromEventId = at[0]
        dbName = at[1]
        catName = at[2]
        toEventId = at[3]
        limit = at[4]
        tableNames = at[5]

    class NotificationEventsCountResponse(Struct):
        __slots__ = ()
        SPEC = ('1 i64 eventsCount required in=3.1+',)

        def __new__(cls, eventsCount=None):
            return new(cls, (eventsCount,))

        eventsCount = at[0]

    class WriteNotificationLogBatchRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catalog required @cat in=4.0.0+', '2 string db required @db in=4.0.0+', '3 string table required @table in=4.0.0+', '4 list<WriteNotificationLogRequest> requestList required in=4.0.0+',)

        def __new__(cls, catalog=None, db=None, table=None, requestList=None):
            return new(cls, (catalog, db, table, requestList,))

        catalog = at[0]
        db = at[1]
        table = at[2]
        requestList = at[3]

    class WriteNotificationLogBatchResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WriteNotificationLogRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 txnId required @txn_id in=4.0.0+', '2 i64 writeId required in=4.0.0+', '3 string db required @db in=4.0.0+', '4 string table required @table in=4.0.0+', '5 InsertEventRequestData fileInfo required in=4.0.0+', '6 list<string> partitionVals @part_values in=4.0.0+',)

        def __new__(cls, txnId=None, writeId=None, db=None, table=None, fileInfo=None, partitionVals=None):
            return new(cls, (txnId, writeId, db, table, fileInfo, partitionVals,))

        txnId = at[0]
        writeId = at[1]
        db = at[2]
        table = at[3]
        fileInfo = at[4]
        partitionVals = at[5]

    class WriteNotificationLogResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


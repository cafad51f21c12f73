"""The metastore API, compaction. Made by tools/generate.py from api/compaction.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AbortCompactResponse', 'AbortCompactionRequest', 'AbortCompactionResponseElement', 'CompactionMetricsDataRequest', 'CompactionMetricsDataResponse', 'CompactionMetricsDataStruct', 'CompactionMetricsMetricType', 'CompactionRequest', 'CompactionResponse', 'FindNextCompactRequest', 'GetLatestCommittedCompactionInfoRequest', 'GetLatestCommittedCompactionInfoResponse', 'OptionalCompactionInfoStruct', 'ShowCompactRequest', 'ShowCompactResponse', 'ShowCompactResponseElement']


class CompactionMetricsMetricType:
    NUM_OBSOLETE_DELTAS = 0
    NUM_DELTAS = 1
    NUM_SMALL_DELTAS = 2
    NAMES: ClassVar[dict[int, str]] = {0: 'NUM_OBSOLETE_DELTAS', 1: 'NUM_DELTAS', 2: 'NUM_SMALL_DELTAS'}


if TYPE_CHECKING:
    from metastored.wire.generated.common import CompactionInfoStruct

    class AbortCompactResponse(NamedTuple):
        abortedcompacts: dict[int, AbortCompactionResponseElement] | None = None

    class AbortCompactionRequest(NamedTuple):
        compactionIds: tuple[int, ...] | None = None
        type: str | None = None
        poolName: str | None = None

    class AbortCompactionResponseElement(NamedTuple):
        compactionId: int | None = None
        status: str | None = None
        message: str | None = None

    class CompactionMetricsDataRequest(NamedTuple):
        dbName: str | None = None
        tblName: str | None = None
        partitionName: str | None = None
        type: int | None = None

    class CompactionMetricsDataResponse(NamedTuple):
        data: CompactionMetricsDataStruct | None = None

    class CompactionMetricsDataStruct(NamedTuple):
        dbname: str | None = None
        tblname: str | None = None
        partitionname: str | None = None
        type: int | None = None
        metricvalue: int | None = None
        version: int | None = None
        threshold: int | None = None

    class CompactionRequest(NamedTuple):
        dbname: str | None = None
        tablename: str | None = None
        partitionname: str | None = None
        type: int | None = None
        runas: str | None = None
        properties: dict[str, str] | None = None
        initiatorId: str | None = None
        initiatorVersion: str | None = None
        poolName: str | None = None
        numberOfBuckets: int | None = None
        orderByClause: str | None = None

    class CompactionResponse(NamedTuple):
        id: int | None = None
        state: str | None = None
        accepted: bool | None = None
        errormessage: str | None = None

    class FindNextCompactRequest(NamedTuple):
        workerId: str | None = None
        workerVersion: str | None = None
        poolName: str | None = None

    class GetLatestCommittedCompactionInfoRequest(NamedTuple):
        dbname: str | None = None
        tablename: str | None = None
        partitionnames: tuple[str, ...] | None = None
        lastCompactionId: int | None = None

    class GetLatestCommittedCompactionInfoResponse(NamedTuple):
        compactions: tuple[CompactionInfoStruct, ...] | None = None

    class OptionalCompactionInfoStruct(NamedTuple):
        ci: CompactionInfoStruct | None = None

    class ShowCompactRequest(NamedTuple):
        id: int | None = None
        poolName: str | None = None
        dbName: str | None = None
        tbName: str | None = None
        partName: str | None = None
        type: int | None = None
        state: str | None = None
        limit: int | None = None
        order: str | None = None

    class ShowCompactResponse(NamedTuple):
        compacts: tuple[ShowCompactResponseElement, ...] | None = None

    class ShowCompactResponseElement(NamedTuple):
        dbname: str | None = None
        tablename: str | None = None
        partitionname: str | None = None
        type: int | None = None
        state: str | None = None
        workerid: str | None = None
        start: int | None = None
        runAs: str | None = None
        hightestTxnId: int | None = None
        metaInfo: str | None = None
        endTime: int | None = None
        hadoopJobId: str | None = None
        id: int | None = None
        errorMessage: str | None = None
        enqueueTime: int | None = None
        workerVersion: str | None = None
        initiatorId: str | None = None
        initiatorVersion: str | None = None
        cleanerStart: int | None = None
        poolName: str | None = None
        nextTxnId: int | None = None
        txnId: int | None = None
        commitTime: int | None = None
        hightestWriteId: int | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class AbortCompactResponse(Struct):
        __slots__ = ()
        SPEC = ('1 map<i64,AbortCompactionResponseElement> abortedcompacts required in=4.0.0+',)

        def __new__(cls, abortedcompacts=None):
            return new(cls, (abortedcompacts,))

        abortedcompacts = at[0]

    class AbortCompactionRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<i64> compactionIds required in=4.0.0+', '2 string type in=4.0.0+', '3 string poolName @name in=4.0.0+',)

        def __new__(cls, compactionIds=None, type=None, poolName=None):
            return new(cls, (compactionIds, type, poolName,))

        compactionIds = at[0]
        type = at[1]
        poolName = at[2]

    class AbortCompactionResponseElement(Struct):
        __slots__ = ()
        SPEC = ('1 i64 compactionId required in=4.0.0+', '2 string status in=4.0.0+', '3 string message in=4.0.0+',)

        def __new__(cls, compactionId=None, status=None, message=None):
            return new(cls, (compactionId, status, message,))

        compactionId = at[0]
        status = at[1]
        message = at[2]

    class CompactionMetricsDataRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db in=4.0.0+', '2 string tblName required @table in=4.0.0+', '3 string partitionName @part_name in=4.0.0+', '4 CompactionMetricsMetricType type required in=4.0.0+',)

        def __new__(cls, dbName=None, tblName=None, partitionName=None, type=None):
            return new(cls, (dbName, tblName, partitionName, type,))

        dbName = at[0]
        tblName = at[1]
        partitionName = at[2]
        type = at[3]

    class CompactionMetricsDataResponse(Struct):
        __slots__ = ()
        SPEC = ('1 CompactionMetricsDataStruct data in=4.0.0+',)

        def __new__(cls, data=None):
            return new(cls, (data,))

        data = at[0]

    class CompactionMetricsDataStruct(Struct):
        __slots__ = ()
        SPEC = ('1 string dbname required @db in=4.0.0+', '2 string tblname required @table in=4.0.0+', '3 string partitionname @part_name in=4.0.0+', '4 CompactionMetricsMetricType type required in=4.0.0+', '5 i32 metricvalue required in=4.0.0+', '6 i32 version required in=4.0.0+', '7 i32 threshold required in=4.0.0+',)

        def __new__(cls, dbname=None, tblname=None, partitionname=None, type=None, metricvalue=None, version=None, threshold=None):
            return new(cls, (dbname, tblname, partitionname, type, metricvalue, version, threshold,))

        dbname = at[0]
        tblname = at[1]
        partitionname = at[2]
        type = at[3]
        metricvalue = at[4]
        version = at[5]
        threshold = at[6]

    class CompactionRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbname required @db', '2 string tablename required @table', '3 string partitionname @part_name', '4 CompactionType type required', '5 string runas @user', '6 map<string,string> properties', '7 string initiatorId in=4.0.0+', '8 string initiatorVersion in=4.0.0+', '9 string poolName @name in=4.0.0+', '10 i32 numberOfBuckets in=4.0.0+', '11 string orderByClause in=4.0.0+',)

        def __new__(cls, dbname=None, tablename=None, partitionname=None, type=None, runas=None, properties=None, initiatorId=None, initiatorVersion=None, poolName=None, numberOfBuckets=None, orderByClause=None):
            return new(cls, (dbname, tablename, partitionname, type, runas, properties, initiatorId, initiatorVersion, poolName, numberOfBuckets, orderByClause,))

        dbname = at[0]
        tablename = at[1]
        partitionname = at[2]
        type = at[3]
        runas = at[4]
        properties = at[5]
        initiatorId = at[6]
        initiatorVersion = at[7]
        poolName = at[8]
        numberOfBuckets = at[9]
        orderByClause = at[10]

    class CompactionResponse(Struct):
        __slots__ = ()
        SPEC = ('1 i64 id required', '2 string state required', '3 bool accepted required', '4 string errormessage in=4.0.0+',)

        def __new__(cls, id=None, state=None, accepted=None, errormessage=None):
            return new(cls, (id, state, accepted, errormessage,))

        id = at[0]
        state = at[1]
        accepted = at[2]
        errormessage = at[3]

    class FindNextCompactRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string workerId in=4.0.0+', '2 string workerVersion in=4.0.0+', '3 string poolName @name in=4.0.0+',)

        def __new__(cls, workerId=None, workerVersion=None, poolName=None):
            return new(cls, (workerId, workerVersion, poolName,))

        workerId = at[0]
        workerVersion = at[1]
        poolName = at[2]

    class GetLatestCommittedCompactionInfoRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbname required @db in=4.0.0+', '2 string tablename required @table in=4.0.0+', '3 list<string> partitionnames @part_name in=4.0.0+', '4 i64 lastCompactionId in=4.0.0+',)

        def __new__(cls, dbname=None, tablename=None, partitionnames=None, lastCompactionId=None):
            return new(cls, (dbname, tablename, partitionnames, lastCompactionId,))

        dbname = at[0]
        tablename = at[1]
        partitionnames = at[2]
        lastCompactionId = at[3]

    class GetLatestCommittedCompactionInfoResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<CompactionInfoStruct> compactions required in=4.0.0+',)

        def __new__(cls, compactions=None):
            return new(cls, (compactions,))

        compactions = at[0]

    class OptionalCompactionInfoStruct(Struct):
        __slots__ = ()
        SPEC = ('1 CompactionInfoStruct ci in=4.0.0+',)

        def __new__(cls, ci=None):
            return new(cls, (ci,))

        ci = at[0]

    class ShowCompactRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 id in=4.0.0+', '2 string poolName @name in=4.0.0+', '3 string dbName @db in=4.0.0+', '4 string tbName @table in=4.0.0+', '5 string partName @part_name in=4.0.0+', '6 CompactionType type in=4.0.0+', '7 string state in=4.0.0+', '8 i64 limit in=4.0.0+', '9 string order in=4.0.0+',)

        def __new__(cls, id=None, poolName=None, dbName=None, tbName=None, partName=None, type=None, state=None, limit=None, order=None):
            return new(cls, (id, poolName, dbName, tbName, partName, type, state, limit, order,))

        id = at[0]
        poolName = at[1]
        dbName = at[2]
        tbName = at[3]
        partName = at[4]
        type = at[5]
        state = at[6]
        limit = at[7]
        order = at[8]

    class ShowCompactResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<ShowCompactResponseElement> compacts required',)

        def __new__(cls, compacts=None):
            return new(cls, (compacts,))

        compacts = at[0]

    class ShowCompactResponseElement(Struct):
        __slots__ = ()
        SPEC = ('1 string dbname required @db', '2 string tablename required @table', '3 string partitionname @part_name', '4 CompactionType type required', '5 string state required', '6 string workerid', '7 i64 start', '8 string runAs @user', '9 i64 hightestTxnId @txn_id', '10 string metaInfo', '11 i64 endTime', '12 string hadoopJobId default=None', '13 i64 id', '14 string errorMessage in=4.0.0+', '15 i64 enqueueTime in=4.0.0+', '16 string workerVersion in=4.0.0+', '17 string initiatorId in=4.0.0+', '18 string initiatorVersion in=4.0.0+', '19 i64 cleanerStart in=4.0.0+', '20 string poolName @name in=4.0.0+', '21 i64 nextTxnId @txn_id in=4.0.0+', '22 i64 txnId @txn_id in=4.0.0+', '23 i64 commitTime in=4.0.0+', '24 i64 hightestWriteId in=4.0.0+',)

        def __new__(cls, dbname=None, tablename=None, partitionname=None, type=None, state=None, workerid=None, start=None, runAs=None, hightestTxnId=None, metaInfo=None, endTime=None, hadoopJobId=None, id=None, errorMessage=None, enqueueTime=None, workerVersion=None, initiatorId=None, initiatorVersion=None, cleanerStart=None, poolName=None, nextTxnId=None, txnId=None, commitTime=None, hightestWriteId=None):
            return new(cls, (dbname, tablename, partitionname, type, state, workerid, start, runAs, hightestTxnId, metaInfo, endTime, hadoopJobId, id, errorMessage, enqueueTime, workerVersion, initiatorId, initiatorVersion, cleanerStart, poolName, nextTxnId, txnId, commitTime, hightestWriteId,))

        dbname = at[0]
        tablename = at[1]
        partitionname = at[2]
        type = at[3]
        state = at[4]
        workerid = at[5]
        start = at[6]
        runAs = at[7]
        hightestTxnId = at[8]
        metaInfo = at[9]
        endTime = at[10]
        hadoopJobId = at[11]
        id = at[12]
        errorMessage = at[13]
        enqueueTime = at[14]
        workerVersion = at[15]
        initiatorId = at[16]
        initiatorVersion = at[17]
        cleanerStart = at[18]
        poolName = at[19]
        nextTxnId = at[20]
        txnId = at[21]
        commitTime = at[22]
        hightestWriteId = at[23]

"""The metastore API, transactions. Made by tools/generate.py from api/transactions.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AbortTxnRequest', 'AbortTxnsRequest', 'AddDynamicPartitions', 'AllocateTableWriteIdsRequest', 'AllocateTableWriteIdsResponse', 'CommitTxnKeyValue', 'CommitTxnRequest', 'GetOpenTxnsInfoResponse', 'GetOpenTxnsRequest', 'GetOpenTxnsResponse', 'GetValidWriteIdsRequest', 'GetValidWriteIdsResponse', 'HeartbeatTxnRangeRequest', 'HeartbeatTxnRangeResponse', 'MaxAllocatedTableWriteIdRequest', 'MaxAllocatedTableWriteIdResponse', 'OpenTxnRequest', 'OpenTxnsResponse', 'ReplLastIdInfo', 'ReplTblWriteIdStateRequest', 'ReplayedTxnsForPolicyResult', 'SeedTableWriteIdsRequest', 'SeedTxnIdRequest', 'TableValidWriteIds', 'TxnInfo', 'TxnState', 'TxnToWriteId', 'TxnType']


class TxnState:
    COMMITTED = 1
    ABORTED = 2
    OPEN = 3
    NAMES: ClassVar[dict[int, str]] = {1: 'COMMITTED', 2: 'ABORTED', 3: 'OPEN'}


class TxnType:
    DEFAULT = 0
    REPL_CREATED = 1
    READ_ONLY = 2
    COMPACTION = 3
    MATER_VIEW_REBUILD = 4
    SOFT_DELETE = 5
    REBALANCE_COMPACTION = 6
    NAMES: ClassVar[dict[int, str]] = {0: 'DEFAULT', 1: 'REPL_CREATED', 2: 'READ_ONLY', 3: 'COMPACTION', 4: 'MATER_VIEW_REBUILD', 5: 'SOFT_DELETE', 6: 'REBALANCE_COMPACTION'}


if TYPE_CHECKING:
    from metastored.wire.generated.common import WriteEventInfo

    class AbortTxnRequest(NamedTuple):
        txnid: int | None = None
        replPolicy: str | None = None
        txn_type: int | None = None
        errorCode: int | None = None

    class AbortTxnsRequest(NamedTuple):
        txn_ids: tuple[int, ...] | None = None
        errorCode: int | None = None

    class AddDynamicPartitions(NamedTuple):
        txnid: int | None = None
        writeid: int | None = None
        dbname: str | None = None
        tablename: str | None = None
        partitionnames: tuple[str, ...] | None = None
        operationType: int | None = None

    class AllocateTableWriteIdsRequest(NamedTuple):
        dbName: str | None = None
        tableName: str | None = None
        txnIds: tuple[int, ...] | None = None
        replPolicy: str | None = None
        srcTxnToWriteIdList: tuple[TxnToWriteId, ...] | None = None
        reallocate: bool | None = None

    class AllocateTableWriteIdsResponse(NamedTuple):
        txnToWriteIds: tuple[TxnToWriteId, ...] | None = None

    class CommitTxnKeyValue(NamedTuple):
        tableId: int | None = None
        key: str | None = None
        value: str | None = None

    class CommitTxnRequest(NamedTuple):
        txnid: int | None = None
        replPolicy: str | None = None
        writeEventInfos: tuple[WriteEventInfo, ...] | None = None
        replLastIdInfo: ReplLastIdInfo | None = None
        keyValue: CommitTxnKeyValue | None = None
        exclWriteEnabled: bool | None = None
        txn_type: int | None = None

    class GetOpenTxnsInfoResponse(NamedTuple):
        txn_high_water_mark: int | None = None
        open_txns: tuple[TxnInfo, ...] | None = None

    class GetOpenTxnsRequest(NamedTuple):
        excludeTxnTypes: tuple[int, ...] | None = None

    class GetOpenTxnsResponse(NamedTuple):
        txn_high_water_mark: int | None = None
        open_txns: frozenset[int] | tuple[int, ...] | None = None
        min_open_txn: int | None = None
        abortedBits: bytes | None = None

    class GetValidWriteIdsRequest(NamedTuple):
        fullTableNames: tuple[str, ...] | None = None
        validTxnList: str | None = None
        writeId: int | None = None

    class GetValidWriteIdsResponse(NamedTuple):
        tblValidWriteIds: tuple[TableValidWriteIds, ...] | None = None

    class HeartbeatTxnRangeRequest(NamedTuple):
        min: int | None = None
        max: int | None = None

    class HeartbeatTxnRangeResponse(NamedTuple):
        aborted: frozenset[int] | None = None
        nosuch: frozenset[int] | None = None

    class MaxAllocatedTableWriteIdRequest(NamedTuple):
        dbName: str | None = None
        tableName: str | None = None

    class MaxAllocatedTableWriteIdResponse(NamedTuple):
        maxWriteId: int | None = None

    class OpenTxnRequest(NamedTuple):
        num_txns: int | None = None
        user: str | None = None
        hostname: str | None = None
        agentInfo: str | None = None
        replPolicy: str | None = None
        replSrcTxnIds: tuple[int, ...] | None = None
        txn_type: int | None = None

    class OpenTxnsResponse(NamedTuple):
        txn_ids: tuple[int, ...] | None = None

    class ReplLastIdInfo(NamedTuple):
        database: str | None = None
        lastReplId: int | None = None
        table: str | None = None
        catalog: str | None = None
        partitionList: tuple[str, ...] | None = None

    class ReplTblWriteIdStateRequest(NamedTuple):
        validWriteIdlist: str | None = None
        user: str | None = None
        hostName: str | None = None
        dbName: str | None = None
        tableName: str | None = None
        partNames: tuple[str, ...] | None = None

    class ReplayedTxnsForPolicyResult(NamedTuple):
        replTxnMapEntry: dict[str, str] | None = None

    class SeedTableWriteIdsRequest(NamedTuple):
        dbName: str | None = None
        tableName: str | None = None
        seedWriteId: int | None = None

    class SeedTxnIdRequest(NamedTuple):
        seedTxnId: int | None = None

    class TableValidWriteIds(NamedTuple):
        fullTableName: str | None = None
        writeIdHighWaterMark: int | None = None
        invalidWriteIds: tuple[int, ...] | None = None
        minOpenWriteId: int | None = None
        abortedBits: bytes | None = None
        validTxnList: str | None = None

    class TxnInfo(NamedTuple):
        id: int | None = None
        state: int | None = None
        user: str | None = None
        hostname: str | None = None
        agentInfo: str | None = None
        heartbeatCount: int | None = None
        metaInfo: str | None = None
        startedTime: int | None = None
        lastHeartbeatTime: int | None = None

    class TxnToWriteId(NamedTuple):
        txnId: int | None = None
        writeId: int | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class AbortTxnRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 txnid required @txn_id', '2 string replPolicy in=3.1+', '3 TxnType txn_type in=4.0.0+', '4 i64 errorCode in=4.0.0+',)

        def __new__(cls, txnid=None, replPolicy=None, txn_type=None, errorCode=None):
            return new(cls, (txnid, replPolicy, txn_type, errorCode,))

        txnid = at[0]
        replPolicy = at[1]
        txn_type = at[2]
        errorCode = at[3]

    class AbortTxnsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<i64> txn_ids required @txn_id', '2 i64 errorCode in=4.0.0+',)

        def __new__(cls, txn_ids=None, errorCode=None):
            return new(cls, (txn_ids, errorCode,))

        txn_ids = at[0]
        errorCode = at[1]

    class AddDynamicPartitions(Struct):
        __slots__ = ()
        SPEC = ('1 i64 txnid required @txn_id', '2 i64 writeid required in=3.1+', '3 string dbname required @db in=3.1+', '4 string tablename required @table in=3.1+', '5 list<string> partitionnames required @part_name in=3.1+', '6 DataOperationType operationType default=5 in=3.1+',)
        WAS_WHEN = '2 string'
        WAS = ('1 i64 txnid required @txn_id', '2 string dbname required @db', '3 string tablename required @table', '4 list<string> partitionnames required @part_name', '5 DataOperationType operationType default=5',)

        def __new__(cls, txnid=None, writeid=None, dbname=None, tablename=None, partitionnames=None, operationType=None):
            return new(cls, (txnid, writeid, dbname, tablename, partitionnames, operationType,))

        txnid = at[0]
        writeid = at[1]
        dbname = at[2]
        tablename = at[3]
        partitionnames = at[4]
        operationType = at[5]

    class AllocateTableWriteIdsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db in=3.1+', '2 string tableName required @table in=3.1+', '3 list<i64> txnIds @txn_id in=3.1+', '4 string replPolicy in=3.1+', '5 list<TxnToWriteId> srcTxnToWriteIdList in=3.1+', '6 bool reallocate default=false in=4.0.0+',)

        def __new__(cls, dbName=None, tableName=None, txnIds=None, replPolicy=None, srcTxnToWriteIdList=None, reallocate=None):
            return new(cls, (dbName, tableName, txnIds, replPolicy, srcTxnToWriteIdList, reallocate,))

        dbName = at[0]
        tableName = at[1]
        txnIds = at[2]
        replPolicy = at[3]
        srcTxnToWriteIdList = at[4]
        reallocate = at[5]

    class AllocateTableWriteIdsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<TxnToWriteId> txnToWriteIds required in=3.1+',)

        def __new__(cls, txnToWriteIds=None):
            return new(cls, (txnToWriteIds,))

        txnToWriteIds = at[0]

    class CommitTxnKeyValue(Struct):
        __slots__ = ()
        SPEC = ('1 i64 tableId required @table_id in=4.0.0+', '2 string key required in=4.0.0+', '3 string value required in=4.0.0+',)

        def __new__(cls, tableId=None, key=None, value=None):
            return new(cls, (tableId, key, value,))

        tableId = at[0]
        key = at[1]
        value = at[2]

    class CommitTxnRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 txnid required @txn_id', '2 string replPolicy in=3.1+', '3 list<WriteEventInfo> writeEventInfos in=4.0.0+', '4 ReplLastIdInfo replLastIdInfo in=4.0.0+', '5 CommitTxnKeyValue keyValue in=4.0.0+', '6 bool exclWriteEnabled in=4.0.0+', '7 TxnType txn_type in=4.0.0+',)

        def __new__(cls, txnid=None, replPolicy=None, writeEventInfos=None, replLastIdInfo=None, keyValue=None, exclWriteEnabled=None, txn_type=None):
            return new(cls, (txnid, replPolicy, writeEventInfos, replLastIdInfo, keyValue, exclWriteEnabled, txn_type,))

        txnid = at[0]
        replPolicy = at[1]
        writeEventInfos = at[2]
        replLastIdInfo = at[3]
        keyValue = at[4]
        exclWriteEnabled = at[5]
        txn_type = at[6]

    class GetOpenTxnsInfoResponse(Struct):
        __slots__ = ()
        SPEC = ('1 i64 txn_high_water_mark required @txn_id', '2 list<TxnInfo> open_txns required',)

        def __new__(cls, txn_high_water_mark=None, open_txns=None):
            return new(cls, (txn_high_water_mark, open_txns,))

        txn_high_water_mark = at[0]
        open_txns = at[1]

    class GetOpenTxnsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<TxnType> excludeTxnTypes in=4.0.0+',)

        def __new__(cls, excludeTxnTypes=None):
            return new(cls, (excludeTxnTypes,))

        excludeTxnTypes = at[0]

    class GetOpenTxnsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 i64 txn_high_water_mark required @txn_id', '2 set<i64> open_txns required @txn_id in=2.3', '2 list<i64> open_txns required @txn_id in=3.1+', '3 i64 min_open_txn @txn_id', '4 binary abortedBits required in=3.1+',)

        def __new__(cls, txn_high_water_mark=None, open_txns=None, min_open_txn=None, abortedBits=None):
            return new(cls, (txn_high_water_mark, open_txns, min_open_txn, abortedBits,))

        txn_high_water_mark = at[0]
        open_txns = at[1]
        min_open_txn = at[2]
        abortedBits = at[3]

    class GetValidWriteIdsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<string> fullTableNames required @full_name in=3.1+', '2 string validTxnList in=3.1+', '3 i64 writeId in=4.0.0+',)

        def __new__(cls, fullTableNames=None, validTxnList=None, writeId=None):
            return new(cls, (fullTableNames, validTxnList, writeId,))

        fullTableNames = at[0]
        validTxnList = at[1]
        writeId = at[2]

    class GetValidWriteIdsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<TableValidWriteIds> tblValidWriteIds required in=3.1+',)

        def __new__(cls, tblValidWriteIds=None):
            return new(cls, (tblValidWriteIds,))

        tblValidWriteIds = at[0]

    class HeartbeatTxnRangeRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 min required @txn_id', '2 i64 max required @txn_id',)

        def __new__(cls, min=None, max=None):
            return new(cls, (min, max,))

        min = at[0]
        max = at[1]

    class HeartbeatTxnRangeResponse(Struct):
        __slots__ = ()
        SPEC = ('1 set<i64> aborted required @txn_id', '2 set<i64> nosuch required @txn_id',)

        def __new__(cls, aborted=None, nosuch=None):
            return new(cls, (aborted, nosuch,))

        aborted = at[0]
        nosuch = at[1]

    class MaxAllocatedTableWriteIdRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db in=4.0.0+', '2 string tableName required @table in=4.0.0+',)

        def __new__(cls, dbName=None, tableName=None):
            return new(cls, (dbName, tableName,))

        dbName = at[0]
        tableName = at[1]

    class MaxAllocatedTableWriteIdResponse(Struct):
        __slots__ = ()
        SPEC = ('1 i64 maxWriteId required in=4.0.0+',)

        def __new__(cls, maxWriteId=None):
            return new(cls, (maxWriteId,))

        maxWriteId = at[0]

    class OpenTxnRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i32 num_txns required', '2 string user required @user', '3 string hostname required', '4 string agentInfo default=Unknown', '5 string replPolicy in=3.1+', '6 list<i64> replSrcTxnIds in=3.1+', '7 TxnType txn_type default=0 in=4.0.0+',)

        def __new__(cls, num_txns=None, user=None, hostname=None, agentInfo=None, replPolicy=None, replSrcTxnIds=None, txn_type=None):
            return new(cls, (num_txns, user, hostname, agentInfo, replPolicy, replSrcTxnIds, txn_type,))

        num_txns = at[0]
        user = at[1]
        hostname = at[2]
        agentInfo = at[3]
        replPolicy = at[4]
        replSrcTxnIds = at[5]
        txn_type = at[6]

    class OpenTxnsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<i64> txn_ids required @txn_id',)

        def __new__(cls, txn_ids=None):
            return new(cls, (txn_ids,))

        txn_ids = at[0]

    class ReplLastIdInfo(Struct):
        __slots__ = ()
        SPEC = ('1 string database required @db in=4.0.0+', '2 i64 lastReplId required in=4.0.0+', '3 string table @table in=4.0.0+', '4 string catalog @cat in=4.0.0+', '5 list<string> partitionList @part_name in=4.0.0+',)

        def __new__(cls, database=None, lastReplId=None, table=None, catalog=None, partitionList=None):
            return new(cls, (database, lastReplId, table, catalog, partitionList,))

        database = at[0]
        lastReplId = at[1]
        table = at[2]
        catalog = at[3]
        partitionList = at[4]

    class ReplTblWriteIdStateRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string validWriteIdlist required in=3.1+', '2 string user required @user in=3.1+', '3 string hostName required in=3.1+', '4 string dbName required @db in=3.1+', '5 string tableName required @table in=3.1+', '6 list<string> partNames @part_name in=3.1+',)

        def __new__(cls, validWriteIdlist=None, user=None, hostName=None, dbName=None, tableName=None, partNames=None):
            return new(cls, (validWriteIdlist, user, hostName, dbName, tableName, partNames,))

        validWriteIdlist = at[0]
        user = at[1]
        hostName = at[2]
        dbName = at[3]
        tableName = at[4]
        partNames = at[5]

    class ReplayedTxnsForPolicyResult(Struct):
        __slots__ = ()
        SPEC = ('1 map<string,string> replTxnMapEntry in=4.2+',)

        def __new__(cls, replTxnMapEntry=None):
            return new(cls, (replTxnMapEntry,))

        replTxnMapEntry = at[0]

    class SeedTableWriteIdsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db in=4.0.0+', '2 string tableName required @table in=4.0.0+', '3 i64 seedWriteId required in=4.0.0+',)

        def __new__(cls, dbName=None, tableName=None, seedWriteId=None):
            return new(cls, (dbName, tableName, seedWriteId,))

        dbName = at[0]
        tableName = at[1]
        seedWriteId = at[2]

    class SeedTxnIdRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 seedTxnId required @txn_id in=4.0.0+',)

        def __new__(cls, seedTxnId=None):
            return new(cls, (seedTxnId,))

        seedTxnId = at[0]

    class TableValidWriteIds(Struct):
        __slots__ = ()
        SPEC = ('1 string fullTableName required @full_name in=3.1+', '2 i64 writeIdHighWaterMark required in=3.1+', '3 list<i64> invalidWriteIds required in=3.1+', '4 i64 minOpenWriteId in=3.1+', '5 binary abortedBits required in=3.1+', '1000 string validTxnList in=3.1+',)

        def __new__(cls, fullTableName=None, writeIdHighWaterMark=None, invalidWriteIds=None, minOpenWriteId=None, abortedBits=None, validTxnList=None):
            return new(cls, (fullTableName, writeIdHighWaterMark, invalidWriteIds, minOpenWriteId, abortedBits, validTxnList,))

        fullTableName = at[0]
        writeIdHighWaterMark = at[1]
        invalidWriteIds = at[2]
        minOpenWriteId = at[3]
        abortedBits = at[4]
        validTxnList = at[5]

    class TxnInfo(Struct):
        __slots__ = ()
        SPEC = ('1 i64 id required @txn_id', '2 TxnState state required', '3 string user required @user', '4 string hostname required', '5 string agentInfo default=Unknown', '6 i32 heartbeatCount default=0', '7 string metaInfo', '8 i64 startedTime', '9 i64 lastHeartbeatTime',)

        def __new__(cls, id=None, state=None, user=None, hostname=None, agentInfo=None, heartbeatCount=None, metaInfo=None, startedTime=None, lastHeartbeatTime=None):
            return new(cls, (id, state, user, hostname, agentInfo, heartbeatCount, metaInfo, startedTime, lastHeartbeatTime,))

        id = at[0]
        state = at[1]
        user = at[2]
        hostname = at[3]
        agentInfo = at[4]
        heartbeatCount = at[5]
        metaInfo = at[6]
        startedTime = at[7]
        lastHeartbeatTime = at[8]

    class TxnToWriteId(Struct):
        __slots__ = ()
        SPEC = ('1 i64 txnId required @txn_id in=3.1+', '2 i64 writeId required in=3.1+',)

        def __new__(cls, txnId=None, writeId=None):
            return new(cls, (txnId, writeId,))

        txnId = at[0]
        writeId = at[1]

"""The metastore API, common. Made by tools/generate.py from api/common.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AsyncOperationResp', 'BasicTxnInfo', 'BinaryColumnStatsData', 'BooleanColumnStatsData', 'ColumnStatistics', 'ColumnStatisticsData', 'ColumnStatisticsDesc', 'ColumnStatisticsObj', 'CompactionInfoStruct', 'CompactionType', 'CreationMetadata', 'DataOperationType', 'Date', 'DateColumnStatsData', 'Decimal', 'DecimalColumnStatsData', 'DoubleColumnStatsData', 'EnvironmentContext', 'EventRequestType', 'FieldSchema', 'FileMetadata', 'GetProjectionsSpec', 'GetTablesExtRequestFields', 'LongColumnStatsData', 'ObjectDictionary', 'Order', 'PrincipalPrivilegeSet', 'PrincipalType', 'PrivilegeGrantInfo', 'SQLCheckConstraint', 'SQLDefaultConstraint', 'SQLForeignKey', 'SQLNotNullConstraint', 'SQLPrimaryKey', 'SQLUniqueConstraint', 'Schema', 'SerDeInfo', 'SerdeType', 'SkewedInfo', 'SourceTable', 'StorageDescriptor', 'StringColumnStatsData', 'Table', 'Timestamp', 'TimestampColumnStatsData', 'Version', 'WMPoolSchedulingPolicy', 'WriteEventInfo']


class CompactionType:
    MINOR = 1
    MAJOR = 2
    REBALANCE = 3
    ABORT_TXN_CLEANUP = 4
    SMART_OPTIMIZE = 5
    DEFERRED_CLEANUP = 6
    NAMES: ClassVar[dict[int, str]] = {1: 'MINOR', 2: 'MAJOR', 3: 'REBALANCE', 4: 'ABORT_TXN_CLEANUP', 5: 'SMART_OPTIMIZE', 6: 'DEFERRED_CLEANUP'}


class DataOperationType:
    SELECT = 1
    INSERT = 2
    UPDATE = 3
    DELETE = 4
    UNSET = 5
    NO_TXN = 6
    NAMES: ClassVar[dict[int, str]] = {1: 'SELECT', 2: 'INSERT', 3: 'UPDATE', 4: 'DELETE', 5: 'UNSET', 6: 'NO_TXN'}


class EventRequestType:
    INSERT = 1
    UPDATE = 2
    DELETE = 3
    NAMES: ClassVar[dict[int, str]] = {1: 'INSERT', 2: 'UPDATE', 3: 'DELETE'}


class GetTablesExtRequestFields:
    ACCESS_TYPE = 1
    PROCESSOR_CAPABILITIES = 2
    ALL = 2147483647
    NAMES: ClassVar[dict[int, str]] = {1: 'ACCESS_TYPE', 2: 'PROCESSOR_CAPABILITIES', 2147483647: 'ALL'}


class PrincipalType:
    USER = 1
    ROLE = 2
    GROUP = 3
    NAMES: ClassVar[dict[int, str]] = {1: 'USER', 2: 'ROLE', 3: 'GROUP'}


class SerdeType:
    HIVE = 1
    SCHEMA_REGISTRY = 2
    NAMES: ClassVar[dict[int, str]] = {1: 'HIVE', 2: 'SCHEMA_REGISTRY'}


class WMPoolSchedulingPolicy:
    FAIR = 1
    FIFO = 2
    NAMES: ClassVar[dict[int, str]] = {1: 'FAIR', 2: 'FIFO'}


if TYPE_CHECKING:

    class AsyncOperationResp(NamedTuple):
        id: str | None = None
        message: str | None = None
        finished: bool | None = None

    class BasicTxnInfo(NamedTuple):
        isnull: bool | None = None
        time: int | None = None
        txnid: int | None = None
        dbname: str | None = None
        tablename: str | None = None
        partitionname: str | None = None

    class BinaryColumnStatsData(NamedTuple):
        maxColLen: int | None = None
        avgColLen: float | None = None
        numNulls: int | None = None
        bitVectors: bytes | None = None

    class BooleanColumnStatsData(NamedTuple):
        numTrues: int | None = None
        numFalses: int | None = None
        numNulls: int | None = None
        bitVectors: bytes | None = None

    class ColumnStatistics(NamedTuple):
        statsDesc: ColumnStatisticsDesc | None = None
        statsObj: tuple[ColumnStatisticsObj, ...] | None = None
        isStatsCompliant: bool | None = None
        engine: str | None = None

    class ColumnStatisticsData(NamedTuple):
        booleanStats: BooleanColumnStatsData | None = None
        longStats: LongColumnStatsData | None = None
        doubleStats: DoubleColumnStatsData | None = None
        stringStats: StringColumnStatsData | None = None
        binaryStats: BinaryColumnStatsData | None = None
        decimalStats: DecimalColumnStatsData | None = None
        dateStats: DateColumnStatsData | None = None
        timestampStats: TimestampColumnStatsData | None = None

    class ColumnStatisticsDesc(NamedTuple):
        isTblLevel: bool | None = None
        dbName: str | None = None
        tableName: str | None = None
        partName: str | None = None
        lastAnalyzed: int | None = None
        catName: str | None = None

    class ColumnStatisticsObj(NamedTuple):
        colName: str | None = None
        colType: str | None = None
        statsData: ColumnStatisticsData | None = None

    class CompactionInfoStruct(NamedTuple):
        id: int | None = None
        dbname: str | None = None
        tablename: str | None = None
        partitionname: str | None = None
        type: int | None = None
        runas: str | None = None
        properties: str | None = None
        toomanyaborts: bool | None = None
        state: str | None = None
        workerId: str | None = None
        start: int | None = None
        highestWriteId: int | None = None
        errorMessage: str | None = None
        hasoldabort: bool | None = None
        enqueueTime: int | None = None
        retryRetention: int | None = None
        poolname: str | None = None
        numberOfBuckets: int | None = None
        orderByClause: str | None = None

    class CreationMetadata(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tblName: str | None = None
        tablesUsed: frozenset[str] | None = None
        validTxnList: str | None = None
        materializationTime: int | None = None
        sourceTables: tuple[SourceTable, ...] | None = None

    class Date(NamedTuple):
        daysSinceEpoch: int | None = None

    class DateColumnStatsData(NamedTuple):
        lowValue: Date | None = None
        highValue: Date | None = None
        numNulls: int | None = None
        numDVs: int | None = None
        bitVectors: bytes | None = None
        histogram: bytes | None = None

    class Decimal(NamedTuple):
        unscaled: bytes | None = None
        scale: int | None = None

    class DecimalColumnStatsData(NamedTuple):
        lowValue: Decimal | None = None
        highValue: Decimal | None = None
        numNulls: int | None = None
        numDVs: int | None = None
        bitVectors: bytes | None = None
        histogram: bytes | None = None

    class DoubleColumnStatsData(NamedTuple):
        lowValue: float | None = None
        highValue: float | None = None
        numNulls: int | None = None
        numDVs: int | None = None
        bitVectors: bytes | None = None
        histogram: bytes | None = None

    class EnvironmentContext(NamedTuple):
        properties: dict[str, str] | None = None

    class FieldSchema(NamedTuple):
        name: str | None = None
        type: str | None = None
        comment: str | None = None

    class FileMetadata(NamedTuple):
        type: int | None = None
        version: int | None = None
        data: tuple[bytes, ...] | None = None

    class GetProjectionsSpec(NamedTuple):
        fieldList: tuple[str, ...] | None = None
        includeParamKeyPattern: str | None = None
        excludeParamKeyPattern: str | None = None

    class LongColumnStatsData(NamedTuple):
        lowValue: int | None = None
        highValue: int | None = None
        numNulls: int | None = None
        numDVs: int | None = None
        bitVectors: bytes | None = None
        histogram: bytes | None = None

    class ObjectDictionary(NamedTuple):
        values: dict[str, tuple[bytes, ...]] | None = None

    class Order(NamedTuple):
        col: str | None = None
        order: int | None = None

    class PrincipalPrivilegeSet(NamedTuple):
        userPrivileges: dict[str, tuple[PrivilegeGrantInfo, ...]] | None = None
        groupPrivileges: dict[str, tuple[PrivilegeGrantInfo, ...]] | None = None
        rolePrivileges: dict[str, tuple[PrivilegeGrantInfo, ...]] | None = None

    class PrivilegeGrantInfo(NamedTuple):
        privilege: str | None = None
        createTime: int | None = None
        grantor: str | None = None
        grantorType: int | None = None
        grantOption: bool | None = None

    class SQLCheckConstraint(NamedTuple):
        catName: str | None = None
        table_db: str | None = None
        table_name: str | None = None
        column_name: str | None = None
        check_expression: str | None = None
        dc_name: str | None = None
        enable_cstr: bool | None = None
        validate_cstr: bool | None = None
        rely_cstr: bool | None = None

    class SQLDefaultConstraint(NamedTuple):
        catName: str | None = None
        table_db: str | None = None
        table_name: str | None = None
        column_name: str | None = None
        default_value: str | None = None
        dc_name: str | None = None
        enable_cstr: bool | None = None
        validate_cstr: bool | None = None
        rely_cstr: bool | None = None

    class SQLForeignKey(NamedTuple):
        pktable_db: str | None = None
        pktable_name: str | None = None
        pkcolumn_name: str | None = None
        fktable_db: str | None = None
        fktable_name: str | None = None
        fkcolumn_name: str | None = None
        key_seq: int | None = None
        update_rule: int | None = None
        delete_rule: int | None = None
        fk_name: str | None = None
        pk_name: str | None = None
        enable_cstr: bool | None = None
        validate_cstr: bool | None = None
        rely_cstr: bool | None = None
        catName: str | None = None

    class SQLNotNullConstraint(NamedTuple):
        catName: str | None = None
        table_db: str | None = None
        table_name: str | None = None
        column_name: str | None = None
        nn_name: str | None = None
        enable_cstr: bool | None = None
        validate_cstr: bool | None = None
        rely_cstr: bool | None = None

    class SQLPrimaryKey(NamedTuple):
        table_db: str | None = None
        table_name: str | None = None
        column_name: str | None = None
        key_seq: int | None = None
        pk_name: str | None = None
        enable_cstr: bool | None = None
        validate_cstr: bool | None = None
        rely_cstr: bool | None = None
        catName: str | None = None

    class SQLUniqueConstraint(NamedTuple):
        catName: str | None = None
        table_db: str | None = None
        table_name: str | None = None
        column_name: str | None = None
        key_seq: int | None = None
        uk_name: str | None = None
        enable_cstr: bool | None = None
        validate_cstr: bool | None = None
        rely_cstr: bool | None = None

    class Schema(NamedTuple):
        fieldSchemas: tuple[FieldSchema, ...] | None = None
        properties: dict[str, str] | None = None

    class SerDeInfo(NamedTuple):
        name: str | None = None
        serializationLib: str | None = None
        parameters: dict[str, str] | None = None
        description: str | None = None
        serializerClass: str | None = None
        deserializerClass: str | None = None
        serdeType: int | None = None

    class SkewedInfo(NamedTuple):
        skewedColNames: tuple[str, ...] | None = None
        skewedColValues: tuple[tuple[str, ...], ...] | None = None
        skewedColValueLocationMaps: dict[tuple[str, ...], str] | None = None

    class SourceTable(NamedTuple):
        table: Table | None = None
        insertedCount: int | None = None
        updatedCount: int | None = None
        deletedCount: int | None = None

    class StorageDescriptor(NamedTuple):
        cols: tuple[FieldSchema, ...] | None = None
        location: str | None = None
        inputFormat: str | None = None
        outputFormat: str | None = None
        compressed: bool | None = None
        numBuckets: int | None = None
        serdeInfo: SerDeInfo | None = None
        bucketCols: tuple[str, ...] | None = None
        sortCols: tuple[Order, ...] | None = None
        parameters: dict[str, str] | None = None
        skewedInfo: SkewedInfo | None = None
        storedAsSubDirectories: bool | None = None

    class StringColumnStatsData(NamedTuple):
        maxColLen: int | None = None
        avgColLen: float | None = None
        numNulls: int | None = None
        numDVs: int | None = None
        bitVectors: bytes | None = None

    class Table(NamedTuple):
        tableName: str | None = None
        dbName: str | None = None
        owner: str | None = None
        createTime: int | None = None
        lastAccessTime: int | None = None
        retention: int | None = None
        sd: StorageDescriptor | None = None
        partitionKeys: tuple[FieldSchema, ...] | None = None
        parameters: dict[str, str] | None = None
        viewOriginalText: str | None = None
        viewExpandedText: str | None = None
        tableType: str | None = None
        privileges: PrincipalPrivilegeSet | None = None
        temporary: bool | None = None
        rewriteEnabled: bool | None = None
        catName: str | None = None
        creationMetadata: CreationMetadata | None = None
        ownerType: int | None = None
        writeId: int | None = None
        isStatsCompliant: bool | None = None
        colStats: ColumnStatistics | None = None
        accessType: int | None = None
        requiredReadCapabilities: tuple[str, ...] | None = None
        requiredWriteCapabilities: tuple[str, ...] | None = None
        id: int | None = None
        fileMetadata: FileMetadata | None = None
        dictionary: ObjectDictionary | None = None
        txnId: int | None = None

    class Timestamp(NamedTuple):
        secondsSinceEpoch: int | None = None

    class TimestampColumnStatsData(NamedTuple):
        lowValue: Timestamp | None = None
        highValue: Timestamp | None = None
        numNulls: int | None = None
        numDVs: int | None = None
        bitVectors: bytes | None = None
        histogram: bytes | None = None

    class Version(NamedTuple):
        version: str | None = None
        comments: str | None = None

    class WriteEventInfo(NamedTuple):
        writeId: int | None = None
        database: str | None = None
        table: str | None = None
        files: str | None = None
        partition: str | None = None
        tableObj: str | None = None
        partitionObj: str | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class AsyncOperationResp(Struct):
        __slots__ = ()
        SPEC = ('1 string id required in=next+', '2 string message in=next+', '3 bool finished in=next+',)

        def __new__(cls, id=None, message=None, finished=None):
            return new(cls, (id, message, finished,))

        id = at[0]
        message = at[1]
        finished = at[2]

    class BasicTxnInfo(Struct):
        __slots__ = ()
        SPEC = ('1 bool isnull required in=3.1+', '2 i64 time in=3.1+', '3 i64 txnid @txn_id in=3.1+', '4 string dbname @db in=3.1+', '5 string tablename @table in=3.1+', '6 string partitionname @part_name in=3.1+',)

        def __new__(cls, isnull=None, time=None, txnid=None, dbname=None, tablename=None, partitionname=None):
            return new(cls, (isnull, time, txnid, dbname, tablename, partitionname,))

        isnull = at[0]
        time = at[1]
        txnid = at[2]
        dbname = at[3]
        tablename = at[4]
        partitionname = at[5]

    class BinaryColumnStatsData(Struct):
        __slots__ = ()
        SPEC = ('1 i64 maxColLen required', '2 double avgColLen required', '3 i64 numNulls required', '4 binary bitVectors',)

        def __new__(cls, maxColLen=None, avgColLen=None, numNulls=None, bitVectors=None):
            return new(cls, (maxColLen, avgColLen, numNulls, bitVectors,))

        maxColLen = at[0]
        avgColLen = at[1]
        numNulls = at[2]
        bitVectors = at[3]

    class BooleanColumnStatsData(Struct):
        __slots__ = ()
        SPEC = ('1 i64 numTrues required', '2 i64 numFalses required', '3 i64 numNulls required', '4 binary bitVectors',)

        def __new__(cls, numTrues=None, numFalses=None, numNulls=None, bitVectors=None):
            return new(cls, (numTrues, numFalses, numNulls, bitVectors,))

        numTrues = at[0]
        numFalses = at[1]
        numNulls = at[2]
        bitVectors = at[3]

    class ColumnStatistics(Struct):
        __slots__ = ()
        SPEC = ('1 ColumnStatisticsDesc statsDesc required', '2 list<ColumnStatisticsObj> statsObj required', '3 bool isStatsCompliant in=4.0.0+', '4 string engine default=hive in=4.0.0+',)

        def __new__(cls, statsDesc=None, statsObj=None, isStatsCompliant=None, engine=None):
            return new(cls, (statsDesc, statsObj, isStatsCompliant, engine,))

        statsDesc = at[0]
        statsObj = at[1]
        isStatsCompliant = at[2]
        engine = at[3]

    class ColumnStatisticsData(Struct):
        __slots__ = ()
        SPEC = ('1 BooleanColumnStatsData booleanStats', '2 LongColumnStatsData longStats', '3 DoubleColumnStatsData doubleStats', '4 StringColumnStatsData stringStats', '5 BinaryColumnStatsData binaryStats', '6 DecimalColumnStatsData decimalStats', '7 DateColumnStatsData dateStats', '8 TimestampColumnStatsData timestampStats in=4.0.0+',)
        UNION = True

        def __new__(cls, booleanStats=None, longStats=None, doubleStats=None, stringStats=None, binaryStats=None, decimalStats=None, dateStats=None, timestampStats=None):
            return new(cls, (booleanStats, longStats, doubleStats, stringStats, binaryStats, decimalStats, dateStats, timestampStats,))

        booleanStats = at[0]
        longStats = at[1]
        doubleStats = at[2]
        stringStats = at[3]
        binaryStats = at[4]
        decimalStats = at[5]
        dateStats = at[6]
        timestampStats = at[7]

    class ColumnStatisticsDesc(Struct):
        __slots__ = ()
        SPEC = ('1 bool isTblLevel required', '2 string dbName required @db', '3 string tableName required @table', '4 string partName @part_name', '5 i64 lastAnalyzed', '6 string catName @cat',)

        def __new__(cls, isTblLevel=None, dbName=None, tableName=None, partName=None, lastAnalyzed=None, catName=None):
            return new(cls, (isTblLevel, dbName, tableName, partName, lastAnalyzed, catName,))

        isTblLevel = at[0]
        dbName = at[1]
        tableName = at[2]
        partName = at[3]
        lastAnalyzed = at[4]
        catName = at[5]

    class ColumnStatisticsObj(Struct):
        __slots__ = ()
        SPEC = ('1 string colName required', '2 string colType required', '3 ColumnStatisticsData statsData required',)

        def __new__(cls, colName=None, colType=None, statsData=None):
            return new(cls, (colName, colType, statsData,))

        colName = at[0]
        colType = at[1]
        statsData = at[2]

    class CompactionInfoStruct(Struct):
        __slots__ = ()
        SPEC = ('1 i64 id required in=4.0.0+', '2 string dbname required @db in=4.0.0+', '3 string tablename required @table in=4.0.0+', '4 string partitionname @part_name in=4.0.0+', '5 CompactionType type required in=4.0.0+', '6 string runas @user in=4.0.0+', '7 string properties in=4.0.0+', '8 bool toomanyaborts in=4.0.0+', '9 string state in=4.0.0+', '10 string workerId in=4.0.0+', '11 i64 start in=4.0.0+', '12 i64 highestWriteId in=4.0.0+', '13 string errorMessage in=4.0.0+', '14 bool hasoldabort in=4.0.0+', '15 i64 enqueueTime in=4.0.0+', '16 i64 retryRetention in=4.0.0+', '17 string poolname @name in=4.0.0+', '18 i32 numberOfBuckets in=4.0.0+', '19 string orderByClause in=4.0.0+',)

        def __new__(cls, id=None, dbname=None, tablename=None, partitionname=None, type=None, runas=None, properties=None, toomanyaborts=None, state=None, workerId=None, start=None, highestWriteId=None, errorMessage=None, hasoldabort=None, enqueueTime=None, retryRetention=None, poolname=None, numberOfBuckets=None, orderByClause=None):
            return new(cls, (id, dbname, tablename, partitionname, type, runas, properties, toomanyaborts, state, workerId, start, highestWriteId, errorMessage, hasoldabort, enqueueTime, retryRetention, poolname, numberOfBuckets, orderByClause,))

        id = at[0]
        dbname = at[1]
        tablename = at[2]
        partitionname = at[3]
        type = at[4]
        runas = at[5]
        properties = at[6]
        toomanyaborts = at[7]
        state = at[8]
        workerId = at[9]
        start = at[10]
        highestWriteId = at[11]
        errorMessage = at[12]
        hasoldabort = at[13]
        enqueueTime = at[14]
        retryRetention = at[15]
        poolname = at[16]
        numberOfBuckets = at[17]
        orderByClause = at[18]

    class CreationMetadata(Struct):
        __slots__ = ()
        SPEC = ('1 string catName required @cat in=3.1+', '2 string dbName required @db in=3.1+', '3 string tblName required @table in=3.1+', '4 set<string> tablesUsed required @full_name in=3.1+', '5 string validTxnList in=3.1+', '6 i64 materializationTime in=3.1+', '7 list<SourceTable> sourceTables in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tblName=None, tablesUsed=None, validTxnList=None, materializationTime=None, sourceTables=None):
            return new(cls, (catName, dbName, tblName, tablesUsed, validTxnList, materializationTime, sourceTables,))

        catName = at[0]
        dbName = at[1]
        tblName = at[2]
        tablesUsed = at[3]
        validTxnList = at[4]
        materializationTime = at[5]
        sourceTables = at[6]

    class Date(Struct):
        __slots__ = ()
        SPEC = ('1 i64 daysSinceEpoch required',)

        def __new__(cls, daysSinceEpoch=None):
            return new(cls, (daysSinceEpoch,))

        daysSinceEpoch = at[0]

    class DateColumnStatsData(Struct):
        __slots__ = ()
        SPEC = ('1 Date lowValue', '2 Date highValue', '3 i64 numNulls required', '4 i64 numDVs required', '5 binary bitVectors', '6 binary histogram in=4.0.0+',)

        def __new__(cls, lowValue=None, highValue=None, numNulls=None, numDVs=None, bitVectors=None, histogram=None):
            return new(cls, (lowValue, highValue, numNulls, numDVs, bitVectors, histogram,))

        lowValue = at[0]
        highValue = at[1]
        numNulls = at[2]
        numDVs = at[3]
        bitVectors = at[4]
        histogram = at[5]

    class Decimal(Struct):
        __slots__ = ()
        SPEC = ('1 binary unscaled required', '3 i16 scale required',)

        def __new__(cls, unscaled=None, scale=None):
            return new(cls, (unscaled, scale,))

        unscaled = at[0]
        scale = at[1]

    class DecimalColumnStatsData(Struct):
        __slots__ = ()
        SPEC = ('1 Decimal lowValue', '2 Decimal highValue', '3 i64 numNulls required', '4 i64 numDVs required', '5 binary bitVectors', '6 binary histogram in=4.0.0+',)

        def __new__(cls, lowValue=None, highValue=None, numNulls=None, numDVs=None, bitVectors=None, histogram=None):
            return new(cls, (lowValue, highValue, numNulls, numDVs, bitVectors, histogram,))

        lowValue = at[0]
        highValue = at[1]
        numNulls = at[2]
        numDVs = at[3]
        bitVectors = at[4]
        histogram = at[5]

    class DoubleColumnStatsData(Struct):
        __slots__ = ()
        SPEC = ('1 double lowValue', '2 double highValue', '3 i64 numNulls required', '4 i64 numDVs required', '5 binary bitVectors', '6 binary histogram in=4.0.0+',)

        def __new__(cls, lowValue=None, highValue=None, numNulls=None, numDVs=None, bitVectors=None, histogram=None):
            return new(cls, (lowValue, highValue, numNulls, numDVs, bitVectors, histogram,))

        lowValue = at[0]
        highValue = at[1]
        numNulls = at[2]
        numDVs = at[3]
        bitVectors = at[4]
        histogram = at[5]

    class EnvironmentContext(Struct):
        __slots__ = ()
        SPEC = ('1 map<string,string> properties',)

        def __new__(cls, properties=None):
            return new(cls, (properties,))

        properties = at[0]

    class FieldSchema(Struct):
        __slots__ = ()
        SPEC = ('1 string name', '2 string type', '3 string comment',)

        def __new__(cls, name=None, type=None, comment=None):
            return new(cls, (name, type, comment,))

        name = at[0]
        type = at[1]
        comment = at[2]

    class FileMetadata(Struct):
        __slots__ = ()
        SPEC = ('1 byte type default=1 in=4.0.0+', '2 byte version default=1 in=4.0.0+', '3 list<binary> data in=4.0.0+',)

        def __new__(cls, type=None, version=None, data=None):
            return new(cls, (type, version, data,))

        type = at[0]
        version = at[1]
        data = at[2]

    class GetProjectionsSpec(Struct):
        __slots__ = ()
        SPEC = ('1 list<string> fieldList in=4.0.0+', '2 string includeParamKeyPattern in=4.0.0+', '3 string excludeParamKeyPattern in=4.0.0+',)

        def __new__(cls, fieldList=None, includeParamKeyPattern=None, excludeParamKeyPattern=None):
            return new(cls, (fieldList, includeParamKeyPattern, excludeParamKeyPattern,))

        fieldList = at[0]
        includeParamKeyPattern = at[1]
        excludeParamKeyPattern = at[2]

    class LongColumnStatsData(Struct):
        __slots__ = ()
        SPEC = ('1 i64 lowValue', '2 i64 highValue', '3 i64 numNulls required', '4 i64 numDVs required', '5 binary bitVectors', '6 binary histogram in=4.0.0+',)

        def __new__(cls, lowValue=None, highValue=None, numNulls=None, numDVs=None, bitVectors=None, histogram=None):
            return new(cls, (lowValue, highValue, numNulls, numDVs, bitVectors, histogram,))

        lowValue = at[0]
        highValue = at[1]
        numNulls = at[2]
        numDVs = at[3]
        bitVectors = at[4]
        histogram = at[5]

    class ObjectDictionary(Struct):
        __slots__ = ()
        SPEC = ('1 map<string,list<binary>> values required in=4.0.0+',)

        def __new__(cls, values=None):
            return new(cls, (values,))

        values = at[0]

    class Order(Struct):
        __slots__ = ()
        SPEC = ('1 string col', '2 i32 order',)

        def __new__(cls, col=None, order=None):
            return new(cls, (col, order,))

        col = at[0]
        order = at[1]

    class PrincipalPrivilegeSet(Struct):
        __slots__ = ()
        SPEC = ('1 map<string,list<PrivilegeGrantInfo>> userPrivileges @user', '2 map<string,list<PrivilegeGrantInfo>> groupPrivileges @user', '3 map<string,list<PrivilegeGrantInfo>> rolePrivileges @user',)

        def __new__(cls, userPrivileges=None, groupPrivileges=None, rolePrivileges=None):
            return new(cls, (userPrivileges, groupPrivileges, rolePrivileges,))

        userPrivileges = at[0]
        groupPrivileges = at[1]
        rolePrivileges = at[2]

    class PrivilegeGrantInfo(Struct):
        __slots__ = ()
        SPEC = ('1 string privilege', '2 i32 createTime', '3 string grantor @user', '4 PrincipalType grantorType', '5 bool grantOption',)

        def __new__(cls, privilege=None, createTime=None, grantor=None, grantorType=None, grantOption=None):
            return new(cls, (privilege, createTime, grantor, grantorType, grantOption,))

        privilege = at[0]
        createTime = at[1]
        grantor = at[2]
        grantorType = at[3]
        grantOption = at[4]

    class SQLCheckConstraint(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=3.1+', '2 string table_db @db in=3.1+', '3 string table_name @table in=3.1+', '4 string column_name in=3.1+', '5 string check_expression in=3.1+', '6 string dc_name @name in=3.1+', '7 bool enable_cstr in=3.1+', '8 bool validate_cstr in=3.1+', '9 bool rely_cstr in=3.1+',)

        def __new__(cls, catName=None, table_db=None, table_name=None, column_name=None, check_expression=None, dc_name=None, enable_cstr=None, validate_cstr=None, rely_cstr=None):
            return new(cls, (catName, table_db, table_name, column_name, check_expression, dc_name, enable_cstr, validate_cstr, rely_cstr,))

        catName = at[0]
        table_db = at[1]
        table_name = at[2]
        column_name = at[3]
        check_expression = at[4]
        dc_name = at[5]
        enable_cstr = at[6]
        validate_cstr = at[7]
        rely_cstr = at[8]

    class SQLDefaultConstraint(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=3.1+', '2 string table_db @db in=3.1+', '3 string table_name @table in=3.1+', '4 string column_name in=3.1+', '5 string default_value in=3.1+', '6 string dc_name @name in=3.1+', '7 bool enable_cstr in=3.1+', '8 bool validate_cstr in=3.1+', '9 bool rely_cstr in=3.1+',)

        def __new__(cls, catName=None, table_db=None, table_name=None, column_name=None, default_value=None, dc_name=None, enable_cstr=None, validate_cstr=None, rely_cstr=None):
            return new(cls, (catName, table_db, table_name, column_name, default_value, dc_name, enable_cstr, validate_cstr, rely_cstr,))

        catName = at[0]
        table_db = at[1]
        table_name = at[2]
        column_name = at[3]
        default_value = at[4]
        dc_name = at[5]
        enable_cstr = at[6]
        validate_cstr = at[7]
        rely_cstr = at[8]

    class SQLForeignKey(Struct):
        __slots__ = ()
        SPEC = ('1 string pktable_db @db', '2 string pktable_name @table', '3 string pkcolumn_name', '4 string fktable_db @db', '5 string fktable_name @table', '6 string fkcolumn_name', '7 i32 key_seq', '8 i32 update_rule', '9 i32 delete_rule', '10 string fk_name @name', '11 string pk_name @name', '12 bool enable_cstr', '13 bool validate_cstr', '14 bool rely_cstr', '15 string catName @cat in=3.1+',)

        def __new__(cls, pktable_db=None, pktable_name=None, pkcolumn_name=None, fktable_db=None, fktable_name=None, fkcolumn_name=None, key_seq=None, update_rule=None, delete_rule=None, fk_name=None, pk_name=None, enable_cstr=None, validate_cstr=None, rely_cstr=None, catName=None):
            return new(cls, (pktable_db, pktable_name, pkcolumn_name, fktable_db, fktable_name, fkcolumn_name, key_seq, update_rule, delete_rule, fk_name, pk_name, enable_cstr, validate_cstr, rely_cstr, catName,))

        pktable_db = at[0]
        pktable_name = at[1]
        pkcolumn_name = at[2]
        fktable_db = at[3]
        fktable_name = at[4]
        fkcolumn_name = at[5]
        key_seq = at[6]
        update_rule = at[7]
        delete_rule = at[8]
        fk_name = at[9]
        pk_name = at[10]
        enable_cstr = at[11]
        validate_cstr = at[12]
        rely_cstr = at[13]
        catName = at[14]

    class SQLNotNullConstraint(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=3.1+', '2 string table_db @db in=3.1+', '3 string table_name @table in=3.1+', '4 string column_name in=3.1+', '5 string nn_name @name in=3.1+', '6 bool enable_cstr in=3.1+', '7 bool validate_cstr in=3.1+', '8 bool rely_cstr in=3.1+',)

        def __new__(cls, catName=None, table_db=None, table_name=None, column_name=None, nn_name=None, enable_cstr=None, validate_cstr=None, rely_cstr=None):
            return new(cls, (catName, table_db, table_name, column_name, nn_name, enable_cstr, validate_cstr, rely_cstr,))

        catName = at[0]
        table_db = at[1]
        table_name = at[2]
        column_name = at[3]
        nn_name = at[4]
        enable_cstr = at[5]
        validate_cstr = at[6]
        rely_cstr = at[7]

    class SQLPrimaryKey(Struct):
        __slots__ = ()
        SPEC = ('1 string table_db @db', '2 string table_name @table', '3 string column_name', '4 i32 key_seq', '5 string pk_name @name', '6 bool enable_cstr', '7 bool validate_cstr', '8 bool rely_cstr', '9 string catName @cat in=3.1+',)

        def __new__(cls, table_db=None, table_name=None, column_name=None, key_seq=None, pk_name=None, enable_cstr=None, validate_cstr=None, rely_cstr=None, catName=None):
            return new(cls, (table_db, table_name, column_name, key_seq, pk_name, enable_cstr, validate_cstr, rely_cstr, catName,))

        table_db = at[0]
        table_name = at[1]
        column_name = at[2]
        key_seq = at[3]
        pk_name = at[4]
        enable_cstr = at[5]
        validate_cstr = at[6]
        rely_cstr = at[7]
        catName = at[8]

    class SQLUniqueConstraint(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=3.1+', '2 string table_db @db in=3.1+', '3 string table_name @table in=3.1+', '4 string column_name in=3.1+', '5 i32 key_seq in=3.1+', '6 string uk_name @name in=3.1+', '7 bool enable_cstr in=3.1+', '8 bool validate_cstr in=3.1+', '9 bool rely_cstr in=3.1+',)

        def __new__(cls, catName=None, table_db=None, table_name=None, column_name=None, key_seq=None, uk_name=None, enable_cstr=None, validate_cstr=None, rely_cstr=None):
            return new(cls, (catName, table_db, table_name, column_name, key_seq, uk_name, enable_cstr, validate_cstr, rely_cstr,))

        catName = at[0]
        table_db = at[1]
        table_name = at[2]
        column_name = at[3]
        key_seq = at[4]
        uk_name = at[5]
        enable_cstr = at[6]
        validate_cstr = at[7]
        rely_cstr = at[8]

    class Schema(Struct):
        __slots__ = ()
        SPEC = ('1 list<FieldSchema> fieldSchemas', '2 map<string,string> properties',)

        def __new__(cls, fieldSchemas=None, properties=None):
            return new(cls, (fieldSchemas, properties,))

        fieldSchemas = at[0]
        properties = at[1]

    class SerDeInfo(Struct):
        __slots__ = ()
        SPEC = ('1 string name', '2 string serializationLib', '3 map<string,string> parameters', '4 string description in=3.1+', '5 string serializerClass in=3.1+', '6 string deserializerClass in=3.1+', '7 SerdeType serdeType in=3.1+',)

        def __new__(cls, name=None, serializationLib=None, parameters=None, description=None, serializerClass=None, deserializerClass=None, serdeType=None):
            return new(cls, (name, serializationLib, parameters, description, serializerClass, deserializerClass, serdeType,))

        name = at[0]
        serializationLib = at[1]
        parameters = at[2]
        description = at[3]
        serializerClass = at[4]
        deserializerClass = at[5]
        serdeType = at[6]

    class SkewedInfo(Struct):
        __slots__ = ()
        SPEC = ('1 list<string> skewedColNames', '2 list<list<string>> skewedColValues', '3 map<list<string>,string> skewedColValueLocationMaps',)

        def __new__(cls, skewedColNames=None, skewedColValues=None, skewedColValueLocationMaps=None):
            return new(cls, (skewedColNames, skewedColValues, skewedColValueLocationMaps,))

        skewedColNames = at[0]
        skewedColValues = at[1]
        skewedColValueLocationMaps = at[2]

    class SourceTable(Struct):
        __slots__ = ()
        SPEC = ('1 Table table required in=4.0.0+', '2 i64 insertedCount required in=4.0.0+', '3 i64 updatedCount required in=4.0.0+', '4 i64 deletedCount required in=4.0.0+',)

        def __new__(cls, table=None, insertedCount=None, updatedCount=None, deletedCount=None):
            return new(cls, (table, insertedCount, updatedCount, deletedCount,))

        table = at[0]
        insertedCount = at[1]
        updatedCount = at[2]
        deletedCount = at[3]

    class StorageDescriptor(Struct):
        __slots__ = ()
        SPEC = ('1 list<FieldSchema> cols', '2 string location @location', '3 string inputFormat', '4 string outputFormat', '5 bool compressed', '6 i32 numBuckets', '7 SerDeInfo serdeInfo', '8 list<string> bucketCols', '9 list<Order> sortCols', '10 map<string,string> parameters', '11 SkewedInfo skewedInfo', '12 bool storedAsSubDirectories',)

        def __new__(cls, cols=None, location=None, inputFormat=None, outputFormat=None, compressed=None, numBuckets=None, serdeInfo=None, bucketCols=None, sortCols=None, parameters=None, skewedInfo=None, storedAsSubDirectories=None):
            return new(cls, (cols, location, inputFormat, outputFormat, compressed, numBuckets, serdeInfo, bucketCols, sortCols, parameters, skewedInfo, storedAsSubDirectories,))

        cols = at[0]
        location = at[1]
        inputFormat = at[2]
        outputFormat = at[3]
        compressed = at[4]
        numBuckets = at[5]
        serdeInfo = at[6]
        bucketCols = at[7]
        sortCols = at[8]
        parameters = at[9]
        skewedInfo = at[10]
        storedAsSubDirectories = at[11]

    class StringColumnStatsData(Struct):
        __slots__ = ()
        SPEC = ('1 i64 maxColLen required', '2 double avgColLen required', '3 i64 numNulls required', '4 i64 numDVs required', '5 binary bitVectors',)

        def __new__(cls, maxColLen=None, avgColLen=None, numNulls=None, numDVs=None, bitVectors=None):
            return new(cls, (maxColLen, avgColLen, numNulls, numDVs, bitVectors,))

        maxColLen = at[0]
        avgColLen = at[1]
        numNulls = at[2]
        numDVs = at[3]
        bitVectors = at[4]

    class Table(Struct):
        __slots__ = ()
        SPEC = ('1 string tableName @table', '2 string dbName @db', '3 string owner @user', '4 i32 createTime', '5 i32 lastAccessTime', '6 i32 retention', '7 StorageDescriptor sd', '8 list<FieldSchema> partitionKeys', '9 map<string,string> parameters', '10 string viewOriginalText @view_text', '11 string viewExpandedText @view_text', '12 string tableType @table_type', '13 PrincipalPrivilegeSet privileges', '14 bool temporary default=false', '15 bool rewriteEnabled', '16 string catName @cat in=2.3', '16 CreationMetadata creationMetadata in=3.1+', '17 string catName @cat in=3.1+', '18 PrincipalType ownerType default=1 in=3.1+', '19 i64 writeId default=-1 in=4.0.0+', '20 bool isStatsCompliant in=4.0.0+', '21 ColumnStatistics colStats in=4.0.0+', '22 byte accessType in=4.0.0+', '23 list<string> requiredReadCapabilities in=4.0.0+', '24 list<string> requiredWriteCapabilities in=4.0.0+', '25 i64 id in=4.0.0+', '26 FileMetadata fileMetadata in=4.0.0+', '27 ObjectDictionary dictionary in=4.0.0+', '28 i64 txnId @txn_id in=4.0.0+',)

        def __new__(cls, tableName=None, dbName=None, owner=None, createTime=None, lastAccessTime=None, retention=None, sd=None, partitionKeys=None, parameters=None, viewOriginalText=None, viewExpandedText=None, tableType=None, privileges=None, temporary=None, rewriteEnabled=None, catName=None, creationMetadata=None, ownerType=None, writeId=None, isStatsCompliant=None, colStats=None, accessType=None, requiredReadCapabilities=None, requiredWriteCapabilities=None, id=None, fileMetadata=None, dictionary=None, txnId=None):
            return new(cls, (tableName, dbName, owner, createTime, lastAccessTime, retention, sd, partitionKeys, parameters, viewOriginalText, viewExpandedText, tableType, privileges, temporary, rewriteEnabled, catName, creationMetadata, ownerType, writeId, isStatsCompliant, colStats, accessType, requiredReadCapabilities, requiredWriteCapabilities, id, fileMetadata, dictionary, txnId,))

        tableName = at[0]
        dbName = at[1]
        owner = at[2]
        createTime = at[3]
        lastAccessTime = at[4]
        retention = at[5]
        sd = at[6]
        partitionKeys = at[7]
        parameters = at[8]
        viewOriginalText = at[9]
        viewExpandedText = at[10]
        tableType = at[11]
        privileges = at[12]
        temporary = at[13]
        rewriteEnabled = at[14]
        catName = at[15]
        creationMetadata = at[16]
        ownerType = at[17]
        writeId = at[18]
        isStatsCompliant = at[19]
        colStats = at[20]
        accessType = at[21]
        requiredReadCapabilities = at[22]
        requiredWriteCapabilities = at[23]
        id = at[24]
        fileMetadata = at[25]
        dictionary = at[26]
        txnId = at[27]

    class Timestamp(Struct):
        __slots__ = ()
        SPEC = ('1 i64 secondsSinceEpoch required in=4.0.0+',)

        def __new__(cls, secondsSinceEpoch=None):
            return new(cls, (secondsSinceEpoch,))

        secondsSinceEpoch = at[0]

    class TimestampColumnStatsData(Struct):
        __slots__ = ()
        SPEC = ('1 Timestamp lowValue in=4.0.0+', '2 Timestamp highValue in=4.0.0+', '3 i64 numNulls required in=4.0.0+', '4 i64 numDVs required in=4.0.0+', '5 binary bitVectors in=4.0.0+', '6 binary histogram in=4.0.0+',)

        def __new__(cls, lowValue=None, highValue=None, numNulls=None, numDVs=None, bitVectors=None, histogram=None):
            return new(cls, (lowValue, highValue, numNulls, numDVs, bitVectors, histogram,))

        lowValue = at[0]
        highValue = at[1]
        numNulls = at[2]
        numDVs = at[3]
        bitVectors = at[4]
        histogram = at[5]

    class Version(Struct):
        __slots__ = ()
        SPEC = ('1 string version', '2 string comments',)

        def __new__(cls, version=None, comments=None):
            return new(cls, (version, comments,))

        version = at[0]
        comments = at[1]

    class WriteEventInfo(Struct):
        __slots__ = ()
        SPEC = ('1 i64 writeId required in=4.0.0+', '2 string database required @db in=4.0.0+', '3 string table required @table in=4.0.0+', '4 string files required in=4.0.0+', '5 string partition @part_name in=4.0.0+', '6 string tableObj in=4.0.0+', '7 string partitionObj in=4.0.0+',)

        def __new__(cls, writeId=None, database=None, table=None, files=None, partition=None, tableObj=None, partitionObj=None):
            return new(cls, (writeId, database, table, files, partition, tableObj, partitionObj,))

        writeId = at[0]
        database = at[1]
        table = at[2]
        files = at[3]
        partition = at[4]
        tableObj = at[5]
        partitionObj = at[6]

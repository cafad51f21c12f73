"""The metastore API, partitions. Made by tools/generate.py from api/partitions.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AddPartitionsRequest', 'AddPartitionsResult', 'AlterPartitionsRequest', 'AlterPartitionsResponse', 'AppendPartitionsRequest', 'DropPartitionRequest', 'DropPartitionsExpr', 'DropPartitionsRequest', 'DropPartitionsResult', 'GetPartitionNamesPsRequest', 'GetPartitionNamesPsResponse', 'GetPartitionRequest', 'GetPartitionResponse', 'GetPartitionsByFilterRequest', 'GetPartitionsByNamesRequest', 'GetPartitionsByNamesResult', 'GetPartitionsFilterSpec', 'GetPartitionsPsWithAuthRequest', 'GetPartitionsPsWithAuthResponse', 'GetPartitionsRequest', 'GetPartitionsResponse', 'Partition', 'PartitionEventType', 'PartitionFilterMode', 'PartitionListComposingSpec', 'PartitionSpec', 'PartitionSpecWithSharedSD', 'PartitionValuesRequest', 'PartitionValuesResponse', 'PartitionValuesRow', 'PartitionWithoutSD', 'PartitionsByExprRequest', 'PartitionsByExprResult', 'PartitionsRequest', 'PartitionsResponse', 'PartitionsSpecByExprResult', 'RenamePartitionRequest', 'RenamePartitionResponse', 'RequestPartsSpec']


class PartitionEventType:
    LOAD_DONE = 1
    NAMES: ClassVar[dict[int, str]] = {1: 'LOAD_DONE'}


class PartitionFilterMode:
    BY_NAMES = 0
    BY_VALUES = 1
    BY_EXPR = 2
    NAMES: ClassVar[dict[int, str]] = {0: 'BY_NAMES', 1: 'BY_VALUES', 2: 'BY_EXPR'}


if TYPE_CHECKING:
    from metastored.wire.generated.common import ColumnStatistics, EnvironmentContext, FieldSchema, FileMetadata, GetProjectionsSpec, ObjectDictionary, PrincipalPrivilegeSet, StorageDescriptor

    class AddPartitionsRequest(NamedTuple):
        dbName: str | None = None
        tblName: str | None = None
        parts: tuple[Partition, ...] | None = None
        ifNotExists: bool | None = None
        needResult: bool | None = None
        catName: str | None = None
        validWriteIdList: str | None = None
        skipColumnSchemaForPartition: bool | None = None
        partitionColSchema: tuple[FieldSchema, ...] | None = None
        environmentContext: EnvironmentContext | None = None

    class AddPartitionsResult(NamedTuple):
        partitions: tuple[Partition, ...] | None = None
        isStatsCompliant: bool | None = None
        partitionColSchema: tuple[FieldSchema, ...] | None = None

    class AlterPartitionsRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tableName: str | None = None
        partitions: tuple[Partition, ...] | None = None
        environmentContext: EnvironmentContext | None = None
        writeId: int | None = None
        validWriteIdList: str | None = None
        skipColumnSchemaForPartition: bool | None = None
        partitionColSchema: tuple[FieldSchema, ...] | None = None

    class AlterPartitionsResponse(NamedTuple):
        pass

    class AppendPartitionsRequest(NamedTuple):
        catalogName: str | None = None
        dbName: str | None = None
        tableName: str | None = None
        name: str | None = None
        partVals: tuple[str, ...] | None = None
        environmentContext: EnvironmentContext | None = None

    class DropPartitionRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tblName: str | None = None
        partName: str | None = None
        partVals: tuple[str, ...] | None = None
        deleteData: bool | None = None
        environmentContext: EnvironmentContext | None = None

    class DropPartitionsExpr(NamedTuple):
        expr: bytes | None = None
        partArchiveLevel: int | None = None

    class DropPartitionsRequest(NamedTuple):
        dbName: str | None = None
        tblName: str | None = None
        parts: RequestPartsSpec | None = None
        deleteData: bool | None = None
        ifExists: bool | None = None
        ignoreProtection: bool | None = None
        environmentContext: EnvironmentContext | None = None
        needResult: bool | None = None
        catName: str | None = None
        skipColumnSchemaForPartition: bool | None = None

    class DropPartitionsResult(NamedTuple):
        partitions: tuple[Partition, ...] | None = None

    class GetPartitionNamesPsRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tblName: str | None = None
        partValues: tuple[str, ...] | None = None
        maxParts: int | None = None
        validWriteIdList: str | None = None
        id: int | None = None

    class GetPartitionNamesPsResponse(NamedTuple):
        names: tuple[str, ...] | None = None

    class GetPartitionRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tblName: str | None = None
        partVals: tuple[str, ...] | None = None
        validWriteIdList: str | None = None
        id: int | None = None

    class GetPartitionResponse(NamedTuple):
        partition: Partition | None = None

    class GetPartitionsByFilterRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tblName: str | None = None
        filter: str | None = None
        maxParts: int | None = None
        skipColumnSchemaForPartition: bool | None = None
        includeParamKeyPattern: str | None = None
        excludeParamKeyPattern: str | None = None

    class GetPartitionsByNamesRequest(NamedTuple):
        db_name: str | None = None
        tbl_name: str | None = None
        names: tuple[str, ...] | None = None
        get_col_stats: bool | None = None
        processorCapabilities: tuple[str, ...] | None = None
        processorIdentifier: str | None = None
        engine: str | None = None
        validWriteIdList: str | None = None
        getFileMetadata: bool | None = None
        id: int | None = None
        skipColumnSchemaForPartition: bool | None = None
        includeParamKeyPattern: str | None = None
        excludeParamKeyPattern: str | None = None

    class GetPartitionsByNamesResult(NamedTuple):
        partitions: tuple[Partition, ...] | None = None
        dictionary: ObjectDictionary | None = None

    class GetPartitionsFilterSpec(NamedTuple):
        filterMode: int | None = None
        filters: tuple[str, ...] | None = None

    class GetPartitionsPsWithAuthRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tblName: str | None = None
        partVals: tuple[str, ...] | None = None
        maxParts: int | None = None
        userName: str | None = None
        groupNames: tuple[str, ...] | None = None
        validWriteIdList: str | None = None
        id: int | None = None
        skipColumnSchemaForPartition: bool | None = None
        includeParamKeyPattern: str | None = None
        excludeParamKeyPattern: str | None = None
        partNames: tuple[str, ...] | None = None

    class GetPartitionsPsWithAuthResponse(NamedTuple):
        partitions: tuple[Partition, ...] | None = None

    class GetPartitionsRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tblName: str | None = None
        withAuth: bool | None = None
        user: str | None = None
        groupNames: tuple[str, ...] | None = None
        projectionSpec: GetProjectionsSpec | None = None
        filterSpec: GetPartitionsFilterSpec | None = None
        processorCapabilities: tuple[str, ...] | None = None
        processorIdentifier: str | None = None
        validWriteIdList: str | None = None

    class GetPartitionsResponse(NamedTuple):
        partitionSpec: tuple[PartitionSpec, ...] | None = None

    class Partition(NamedTuple):
        values: tuple[str, ...] | None = None
        dbName: str | None = None
        tableName: str | None = None
        createTime: int | None = None
        lastAccessTime: int | None = None
        sd: StorageDescriptor | None = None
        parameters: dict[str, str] | None = None
        privileges: PrincipalPrivilegeSet | None = None
        catName: str | None = None
        writeId: int | None = None
        isStatsCompliant: bool | None = None
        colStats: ColumnStatistics | None = None
        fileMetadata: FileMetadata | None = None

    class PartitionListComposingSpec(NamedTuple):
        partitions: tuple[Partition, ...] | None = None

    class PartitionSpec(NamedTuple):
        dbName: str | None = None
        tableName: str | None = None
        rootPath: str | None = None
        sharedSDPartitionSpec: PartitionSpecWithSharedSD | None = None
        partitionList: PartitionListComposingSpec | None = None
        catName: str | None = None
        writeId: int | None = None
        isStatsCompliant: bool | None = None

    class PartitionSpecWithSharedSD(NamedTuple):
        partitions: tuple[PartitionWithoutSD, ...] | None = None
        sd: StorageDescriptor | None = None

    class PartitionValuesRequest(NamedTuple):
        dbName: str | None = None
        tblName: str | None = None
        partitionKeys: tuple[FieldSchema, ...] | None = None
        applyDistinct: bool | None = None
        filter: str | None = None
        partitionOrder: tuple[FieldSchema, ...] | None = None
        ascending: bool | None = None
        maxParts: int | None = None
        catName: str | None = None
        validWriteIdList: str | None = None

    class PartitionValuesResponse(NamedTuple):
        partitionValues: tuple[PartitionValuesRow, ...] | None = None

    class PartitionValuesRow(NamedTuple):
        row: tuple[str, ...] | None = None

    class PartitionWithoutSD(NamedTuple):
        values: tuple[str, ...] | None = None
        createTime: int | None = None
        lastAccessTime: int | None = None
        relativePath: str | None = None
        parameters: dict[str, str] | None = None
        privileges: PrincipalPrivilegeSet | None = None

    class PartitionsByExprRequest(NamedTuple):
        dbName: str | None = None
        tblName: str | None = None
        expr: bytes | None = None
        defaultPartitionName: str | None = None
        maxParts: int | None = None
        catName: str | None = None
        order: str | None = None
        validWriteIdList: str | None = None
        id: int | None = None
        skipColumnSchemaForPartition: bool | None = None
        includeParamKeyPattern: str | None = None
        excludeParamKeyPattern: str | None = None

    class PartitionsByExprResult(NamedTuple):
        partitions: tuple[Partition, ...] | None = None
        hasUnknownPartitions: bool | None = None

    class PartitionsRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tblName: str | None = None
        maxParts: int | None = None
        validWriteIdList: str | None = None
        id: int | None = None
        skipColumnSchemaForPartition: bool | None = None
        includeParamKeyPattern: str | None = None
        excludeParamKeyPattern: str | None = None

    class PartitionsResponse(NamedTuple):
        partitions: tuple[Partition, ...] | None = None

    class PartitionsSpecByExprResult(NamedTuple):
        partitionsSpec: tuple[PartitionSpec, ...] | None = None
        hasUnknownPartitions: bool | None = None

    class RenamePartitionRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tableName: str | None = None
        partVals: tuple[str, ...] | None = None
        newPart: Partition | None = None
        validWriteIdList: str | None = None
        txnId: int | None = None
        clonePart: bool | None = None

    class RenamePartitionResponse(NamedTuple):
        pass

    class RequestPartsSpec(NamedTuple):
        names: tuple[str, ...] | None = None
        exprs: tuple[DropPartitionsExpr, ...] | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class AddPartitionsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db', '2 string tblName required @table', '3 list<Partition> parts required', '4 bool ifNotExists required', '5 bool needResult default=true', '6 string catName @cat', '7 string validWriteIdList in=4.0.0+', '8 bool skipColumnSchemaForPartition in=4.0.0+', '9 list<FieldSchema> partitionColSchema in=4.0.0+', '10 EnvironmentContext environmentContext in=4.0.1+',)

        def __new__(cls, dbName=None, tblName=None, parts=None, ifNotExists=None, needResult=None, catName=None, validWriteIdList=None, skipColumnSchemaForPartition=None, partitionColSchema=None, environmentContext=None):
            return new(cls, (dbName, tblName, parts, ifNotExists, needResult, catName, validWriteIdList, skipColumnSchemaForPartition, partitionColSchema, environmentContext,))

        dbName = at[0]
        tblName = at[1]
        parts = at[2]
        ifNotExists = at[3]
        needResult = at[4]
        catName = at[5]
        validWriteIdList = at[6]
        skipColumnSchemaForPartition = at[7]
        partitionColSchema = at[8]
        environmentContext = at[9]

    class AddPartitionsResult(Struct):
        __slots__ = ()
        SPEC = ('1 list<Partition> partitions', '2 bool isStatsCompliant in=4.0.0+', '3 list<FieldSchema> partitionColSchema in=4.0.0+',)

        def __new__(cls, partitions=None, isStatsCompliant=None, partitionColSchema=None):
            return new(cls, (partitions, isStatsCompliant, partitionColSchema,))

        partitions = at[0]
        isStatsCompliant = at[1]
        partitionColSchema = at[2]

    class AlterPartitionsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string tableName required @table in=4.0.0+', '4 list<Partition> partitions required in=4.0.0+', '5 EnvironmentContext environmentContext in=4.0.0+', '6 i64 writeId default=-1 in=4.0.0+', '7 string validWriteIdList in=4.0.0+', '8 bool skipColumnSchemaForPartition in=4.0.0+', '9 list<FieldSchema> partitionColSchema in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tableName=None, partitions=None, environmentContext=None, writeId=None, validWriteIdList=None, skipColumnSchemaForPartition=None, partitionColSchema=None):
            return new(cls, (catName, dbName, tableName, partitions, environmentContext, writeId, validWriteIdList, skipColumnSchemaForPartition, partitionColSchema,))

        catName = at[0]
        dbName = at[1]
        tableName = at[2]
        partitions = at[3]
        environmentContext = at[4]
        writeId = at[5]
        validWriteIdList = at[6]
        skipColumnSchemaForPartition = at[7]
        partitionColSchema = at[8]

    class AlterPartitionsResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class AppendPartitionsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catalogName @cat in=4.0.1+', '2 string dbName required @db in=4.0.1+', '3 string tableName required @table in=4.0.1+', '4 string name @part_name in=4.0.1+', '5 list<string> partVals @part_values in=4.0.1+', '6 EnvironmentContext environmentContext in=4.0.1+',)

        def __new__(cls, catalogName=None, dbName=None, tableName=None, name=None, partVals=None, environmentContext=None):
            return new(cls, (catalogName, dbName, tableName, name, partVals, environmentContext,))

        catalogName = at[0]
        dbName = at[1]
        tableName = at[2]
        name = at[3]
        partVals = at[4]
        environmentContext = at[5]

    class DropPartitionRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.1+', '2 string dbName required @db in=4.0.1+', '3 string tblName required @table in=4.0.1+', '4 string partName @part_name in=4.0.1+', '5 list<string> partVals @part_values in=4.0.1+', '6 bool deleteData in=4.0.1+', '7 EnvironmentContext environmentContext in=4.0.1+',)

        def __new__(cls, catName=None, dbName=None, tblName=None, partName=None, partVals=None, deleteData=None, environmentContext=None):
            return new(cls, (catName, dbName, tblName, partName, partVals, deleteData, environmentContext,))

        catName = at[0]
        dbName = at[1]
        tblName = at[2]
        partName = at[3]
        partVals = at[4]
        deleteData = at[5]
        environmentContext = at[6]

    class DropPartitionsExpr(Struct):
        __slots__ = ()
        SPEC = ('1 binary expr required', '2 i32 partArchiveLevel',)

        def __new__(cls, expr=None, partArchiveLevel=None):
            return new(cls, (expr, partArchiveLevel,))

        expr = at[0]
        partArchiveLevel = at[1]

    class DropPartitionsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db', '2 string tblName required @table', '3 RequestPartsSpec parts required', '4 bool deleteData', '5 bool ifExists default=true', '6 bool ignoreProtection', '7 EnvironmentContext environmentContext', '8 bool needResult default=true', '9 string catName @cat', '10 bool skipColumnSchemaForPartition in=4.0.0+',)

        def __new__(cls, dbName=None, tblName=None, parts=None, deleteData=None, ifExists=None, ignoreProtection=None, environmentContext=None, needResult=None, catName=None, skipColumnSchemaForPartition=None):
            return new(cls, (dbName, tblName, parts, deleteData, ifExists, ignoreProtection, environmentContext, needResult, catName, skipColumnSchemaForPartition,))

        dbName = at[0]
        tblName = at[1]
        parts = at[2]
        deleteData = at[3]
        ifExists = at[4]
        ignoreProtection = at[5]
        environmentContext = at[6]
        needResult = at[7]
        catName = at[8]
        skipColumnSchemaForPartition = at[9]

    class DropPartitionsResult(Struct):
        __slots__ = ()
        SPEC = ('1 list<Partition> partitions',)

        def __new__(cls, partitions=None):
            return new(cls, (partitions,))

        partitions = at[0]

    class GetPartitionNamesPsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string tblName required @table in=4.0.0+', '4 list<string> partValues @part_values in=4.0.0+', '5 i16 maxParts default=-1 in=4.0.0+', '6 string validWriteIdList in=4.0.0+', '7 i64 id default=-1 in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tblName=None, partValues=None, maxParts=None, validWriteIdList=None, id=None):
            return new(cls, (catName, dbName, tblName, partValues, maxParts, validWriteIdList, id,))

        catName = at[0]
        dbName = at[1]
        tblName = at[2]
        partValues = at[3]
        maxParts = at[4]
        validWriteIdList = at[5]
        id = at[6]

    class GetPartitionNamesPsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<string> names required @part_name in=4.0.0+',)

        def __new__(cls, names=None):
            return new(cls, (names,))

        names = at[0]

    class GetPartitionRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string tblName required @table in=4.0.0+', '4 list<string> partVals required @part_values in=4.0.0+', '5 string validWriteIdList in=4.0.0+', '6 i64 id default=-1 in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tblName=None, partVals=None, validWriteIdList=None, id=None):
            return new(cls, (catName, dbName, tblName, partVals, validWriteIdList, id,))

        catName = at[0]
        dbName = at[1]
        tblName = at[2]
        partVals = at[3]
        validWriteIdList = at[4]
        id = at[5]

    class GetPartitionResponse(Struct):
        __slots__ = ()
        SPEC = ('1 Partition partition required in=4.0.0+',)

        def __new__(cls, partition=None):
            return new(cls, (partition,))

        partition = at[0]

    class GetPartitionsByFilterRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName @db in=4.0.0+', '3 string tblName @table in=4.0.0+', '4 string filter in=4.0.0+', '5 i16 maxParts default=-1 in=4.0.0+', '6 bool skipColumnSchemaForPartition in=4.0.0+', '7 string includeParamKeyPattern in=4.0.0+', '8 string excludeParamKeyPattern in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tblName=None, filter=None, maxParts=None, skipColumnSchemaForPartition=None, includeParamKeyPattern=None, excludeParamKeyPattern=None):
            return new(cls, (catName, dbName, tblName, filter, maxParts, skipColumnSchemaForPartition, includeParamKeyPattern, excludeParamKeyPattern,))

        catName = at[0]
        dbName = at[1]
        tblName = at[2]
        filter = at[3]
        maxParts = at[4]
        skipColumnSchemaForPartition = at[5]
        includeParamKeyPattern = at[6]
        excludeParamKeyPattern = at[7]

    class GetPartitionsByNamesRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string db_name required @db in=4.0.0+', '2 string tbl_name required @table in=4.0.0+', '3 list<string> names @part_name in=4.0.0+', '4 bool get_col_stats in=4.0.0+', '5 list<string> processorCapabilities in=4.0.0+', '6 string processorIdentifier in=4.0.0+', '7 string engine default=hive in=4.0.0+', '8 string validWriteIdList in=4.0.0+', '9 bool getFileMetadata in=4.0.0+', '10 i64 id default=-1 in=4.0.0+', '11 bool skipColumnSchemaForPartition in=4.0.0+', '12 string includeParamKeyPattern in=4.0.0+', '13 string excludeParamKeyPattern in=4.0.0+',)

        def __new__(cls, db_name=None, tbl_name=None, names=None, get_col_stats=None, processorCapabilities=None, processorIdentifier=None, engine=None, validWriteIdList=None, getFileMetadata=None, id=None, skipColumnSchemaForPartition=None, includeParamKeyPattern=None, excludeParamKeyPattern=None):
            return new(cls, (db_name, tbl_name, names, get_col_stats, processorCapabilities, processorIdentifier, engine, validWriteIdList, getFileMetadata, id, skipColumnSchemaForPartition, includeParamKeyPattern, excludeParamKeyPattern,))

        db_name = at[0]
        tbl_name = at[1]
        names = at[2]
        get_col_stats = at[3]
        processorCapabilities = at[4]
        processorIdentifier = at[5]
        engine = at[6]
        validWriteIdList = at[7]
        getFileMetadata = at[8]
        id = at[9]
        skipColumnSchemaForPartition = at[10]
        includeParamKeyPattern = at[11]
        excludeParamKeyPattern = at[12]

    class GetPartitionsByNamesResult(Struct):
        __slots__ = ()
        SPEC = ('1 list<Partition> partitions required in=4.0.0+', '2 ObjectDictionary dictionary in=4.0.0+',)

        def __new__(cls, partitions=None, dictionary=None):
            return new(cls, (partitions, dictionary,))

        partitions = at[0]
        dictionary = at[1]

    class GetPartitionsFilterSpec(Struct):
        __slots__ = ()
        SPEC = ('7 PartitionFilterMode filterMode in=4.0.0+', '8 list<string> filters in=4.0.0+',)

        def __new__(cls, filterMode=None, filters=None):
            return new(cls, (filterMode, filters,))

        filterMode = at[0]
        filters = at[1]

    class GetPartitionsPsWithAuthRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string tblName required @table in=4.0.0+', '4 list<string> partVals @part_values in=4.0.0+', '5 i16 maxParts default=-1 in=4.0.0+', '6 string userName @user in=4.0.0+', '7 list<string> groupNames @user in=4.0.0+', '8 string validWriteIdList in=4.0.0+', '9 i64 id default=-1 in=4.0.0+', '10 bool skipColumnSchemaForPartition in=4.0.0+', '11 string includeParamKeyPattern in=4.0.0+', '12 string excludeParamKeyPattern in=4.0.0+', '13 list<string> partNames @part_name in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tblName=None, partVals=None, maxParts=None, userName=None, groupNames=None, validWriteIdList=None, id=None, skipColumnSchemaForPartition=None, includeParamKeyPattern=None, excludeParamKeyPattern=None, partNames=None):
            return new(cls, (catName, dbName, tblName, partVals, maxParts, userName, groupNames, validWriteIdList, id, skipColumnSchemaForPartition, includeParamKeyPattern, excludeParamKeyPattern, partNames,))

        catName = at[0]
        dbName = at[1]
        tblName = at[2]
        partVals = at[3]
        maxParts = at[4]
        userName = at[5]
        groupNames = at[6]
        validWriteIdList = at[7]
        id = at[8]
        skipColumnSchemaForPartition = at[9]
        includeParamKeyPattern = at[10]
        excludeParamKeyPattern = at[11]
        partNames = at[12]

    class GetPartitionsPsWithAuthResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<Partition> partitions required in=4.0.0+',)

        def __new__(cls, partitions=None):
            return new(cls, (partitions,))

        partitions = at[0]

    class GetPartitionsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName @db in=4.0.0+', '3 string tblName @table in=4.0.0+', '4 bool withAuth in=4.0.0+', '5 string user @user in=4.0.0+', '6 list<string> groupNames @user in=4.0.0+', '7 GetProjectionsSpec projectionSpec in=4.0.0+', '8 GetPartitionsFilterSpec filterSpec in=4.0.0+', '9 list<string> processorCapabilities in=4.0.0+', '10 string processorIdentifier in=4.0.0+', '11 string validWriteIdList in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tblName=None, withAuth=None, user=None, groupNames=None, projectionSpec=None, filterSpec=None, processorCapabilities=None, processorIdentifier=None, validWriteIdList=None):
            return new(cls, (catName, dbName, tblName, withAuth, user, groupNames, projectionSpec, filterSpec, processorCapabilities, processorIdentifier, validWriteIdList,))

        catName = at[0]
        dbName = at[1]
        tblName = at[2]
        withAuth = at[3]
        user = at[4]
        groupNames = at[5]
        projectionSpec = at[6]
        filterSpec = at[7]
        processorCapabilities = at[8]
        processorIdentifier = at[9]
        validWriteIdList = at[10]

    class GetPartitionsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<PartitionSpec> partitionSpec in=4.0.0+',)

        def __new__(cls, partitionSpec=None):
            return new(cls, (partitionSpec,))

        partitionSpec = at[0]

    class Partition(Struct):
        __slots__ = ()
        SPEC = ('1 list<string> values @part_values', '2 string dbName @db', '3 string tableName @table', '4 i32 createTime', '5 i32 lastAccessTime', '6 StorageDescriptor sd', '7 map<string,string> parameters', '8 PrincipalPrivilegeSet privileges', '9 string catName @cat', '10 i64 writeId default=-1 in=4.0.0+', '11 bool isStatsCompliant in=4.0.0+', '12 ColumnStatistics colStats in=4.0.0+', '13 FileMetadata fileMetadata in=4.0.0+',)

        def __new__(cls, values=None, dbName=None, tableName=None, createTime=None, lastAccessTime=None, sd=None, parameters=None, privileges=None, catName=None, writeId=None, isStatsCompliant=None, colStats=None, fileMetadata=None):
            return new(cls, (values, dbName, tableName, createTime, lastAccessTime, sd, parameters, privileges, catName, writeId, isStatsCompliant, colStats, fileMetadata,))

        values = at[0]
        dbName = at[1]
        tableName = at[2]
        createTime = at[3]
        lastAccessTime = at[4]
        sd = at[5]
        parameters = at[6]
        privileges = at[7]
        catName = at[8]
        writeId = at[9]
        isStatsCompliant = at[10]
        colStats = at[11]
        fileMetadata = at[12]

    class PartitionListComposingSpec(Struct):
        __slots__ = ()
        SPEC = ('1 list<Partition> partitions',)

        def __new__(cls, partitions=None):
            return new(cls, (partitions,))

        partitions = at[0]

    class PartitionSpec(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName @db', '2 string tableName @table', '3 string rootPath @location', '4 PartitionSpecWithSharedSD sharedSDPartitionSpec', '5 PartitionListComposingSpec partitionList', '6 string catName @cat', '7 i64 writeId default=-1 in=4.0.0+', '8 bool isStatsCompliant in=4.0.0+',)

        def __new__(cls, dbName=None, tableName=None, rootPath=None, sharedSDPartitionSpec=None, partitionList=None, catName=None, writeId=None, isStatsCompliant=None):
            return new(cls, (dbName, tableName, rootPath, sharedSDPartitionSpec, partitionList, catName, writeId, isStatsCompliant,))

        dbName = at[0]
        tableName = at[1]
        rootPath = at[2]
        sharedSDPartitionSpec = at[3]
        partitionList = at[4]
        catName = at[5]
        writeId = at[6]
        isStatsCompliant = at[7]

    class PartitionSpecWithSharedSD(Struct):
        __slots__ = ()
        SPEC = ('1 list<PartitionWithoutSD> partitions', '2 StorageDescriptor sd',)

        def __new__(cls, partitions=None, sd=None):
            return new(cls, (partitions, sd,))

        partitions = at[0]
        sd = at[1]

    class PartitionValuesRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db', '2 string tblName required @table', '3 list<FieldSchema> partitionKeys required', '4 bool applyDistinct default=true', '5 string filter', '6 list<FieldSchema> partitionOrder', '7 bool ascending default=true', '8 i64 maxParts default=-1', '9 string catName @cat', '10 string validWriteIdList in=4.0.0+',)

        def __new__(cls, dbName=None, tblName=None, partitionKeys=None, applyDistinct=None, filter=None, partitionOrder=None, ascending=None, maxParts=None, catName=None, validWriteIdList=None):
            return new(cls, (dbName, tblName, partitionKeys, applyDistinct, filter, partitionOrder, ascending, maxParts, catName, validWriteIdList,))

        dbName = at[0]
        tblName = at[1]
        partitionKeys = at[2]
        applyDistinct = at[3]
        filter = at[4]
        partitionOrder = at[5]
        ascending = at[6]
        maxParts = at[7]
        catName = at[8]
        validWriteIdList = at[9]

    class PartitionValuesResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<PartitionValuesRow> partitionValues required',)

        def __new__(cls, partitionValues=None):
            return new(cls, (partitionValues,))

        partitionValues = at[0]

    class PartitionValuesRow(Struct):
        __slots__ = ()
        SPEC = ('1 list<string> row required @part_values',)

        def __new__(cls, row=None):
            return new(cls, (row,))

        row = at[0]

    class PartitionWithoutSD(Struct):
        __slots__ = ()
        SPEC = ('1 list<string> values @part_values', '2 i32 createTime', '3 i32 lastAccessTime', '4 string relativePath @relative_location', '5 map<string,string> parameters', '6 PrincipalPrivilegeSet privileges',)

        def __new__(cls, values=None, createTime=None, lastAccessTime=None, relativePath=None, parameters=None, privileges=None):
            return new(cls, (values, createTime, lastAccessTime, relativePath, parameters, privileges,))

        values = at[0]
        createTime = at[1]
        lastAccessTime = at[2]
        relativePath = at[3]
        parameters = at[4]
        privileges = at[5]

    class PartitionsByExprRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db', '2 string tblName required @table', '3 binary expr required', '4 string defaultPartitionName', '5 i16 maxParts default=-1', '6 string catName @cat', '7 string order in=4.0.0+', '8 string validWriteIdList in=4.0.0+', '9 i64 id default=-1 in=4.0.0+', '10 bool skipColumnSchemaForPartition in=4.0.0+', '11 string includeParamKeyPattern in=4.0.0+', '12 string excludeParamKeyPattern in=4.0.0+',)

        def __new__(cls, dbName=None, tblName=None, expr=None, defaultPartitionName=None, maxParts=None, catName=None, order=None, validWriteIdList=None, id=None, skipColumnSchemaForPartition=None, includeParamKeyPattern=None, excludeParamKeyPattern=None):
            return new(cls, (dbName, tblName, expr, defaultPartitionName, maxParts, catName, order, validWriteIdList, id, skipColumnSchemaForPartition, includeParamKeyPattern, excludeParamKeyPattern,))

        dbName = at[0]
        tblName = at[1]
        expr = at[2]
        defaultPartitionName = at[3]
        maxParts = at[4]
        catName = at[5]
        order = at[6]
        validWriteIdList = at[7]
        id = at[8]
        skipColumnSchemaForPartition = at[9]
        includeParamKeyPattern = at[10]
        excludeParamKeyPattern = at[11]

    class PartitionsByExprResult(Struct):
        __slots__ = ()
        SPEC = ('1 list<Partition> partitions required', '2 bool hasUnknownPartitions required',)

        def __new__(cls, partitions=None, hasUnknownPartitions=None):
            return new(cls, (partitions, hasUnknownPartitions,))

        partitions = at[0]
        hasUnknownPartitions = at[1]

    class PartitionsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string tblName required @table in=4.0.0+', '4 i16 maxParts default=-1 in=4.0.0+', '5 string validWriteIdList in=4.0.0+', '6 i64 id default=-1 in=4.0.0+', '7 bool skipColumnSchemaForPartition in=4.0.0+', '8 string includeParamKeyPattern in=4.0.0+', '9 string excludeParamKeyPattern in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tblName=None, maxParts=None, validWriteIdList=None, id=None, skipColumnSchemaForPartition=None, includeParamKeyPattern=None, excludeParamKeyPattern=None):
            return new(cls, (catName, dbName, tblName, maxParts, validWriteIdList, id, skipColumnSchemaForPartition, includeParamKeyPattern, excludeParamKeyPattern,))

        catName = at[0]
        dbName = at[1]
        tblName = at[2]
        maxParts = at[3]
        validWriteIdList = at[4]
        id = at[5]
        skipColumnSchemaForPartition = at[6]
        includeParamKeyPattern = at[7]
        excludeParamKeyPattern = at[8]

    class PartitionsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<Partition> partitions required in=4.0.0+',)

        def __new__(cls, partitions=None):
            return new(cls, (partitions,))

        partitions = at[0]

    class PartitionsSpecByExprResult(Struct):
        __slots__ = ()
        SPEC = ('1 list<PartitionSpec> partitionsSpec required in=4.0.0+', '2 bool hasUnknownPartitions required in=4.0.0+',)

        def __new__(cls, partitionsSpec=None, hasUnknownPartitions=None):
            return new(cls, (partitionsSpec, hasUnknownPartitions,))

        partitionsSpec = at[0]
        hasUnknownPartitions = at[1]

    class RenamePartitionRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string tableName required @table in=4.0.0+', '4 list<string> partVals required @part_values in=4.0.0+', '5 Partition newPart required in=4.0.0+', '6 string validWriteIdList in=4.0.0+', '7 i64 txnId @txn_id in=4.0.0+', '8 bool clonePart in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tableName=None, partVals=None, newPart=None, validWriteIdList=None, txnId=None, clonePart=None):
            return new(cls, (catName, dbName, tableName, partVals, newPart, validWriteIdList, txnId, clonePart,))

        catName = at[0]
        dbName = at[1]
        tableName = at[2]
        partVals = at[3]
        newPart = at[4]
        validWriteIdList = at[5]
        txnId = at[6]
        clonePart = at[7]

    class RenamePartitionResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class RequestPartsSpec(Struct):
        __slots__ = ()
        SPEC = ('1 list<string> names @part_name', '2 list<DropPartitionsExpr> exprs',)
        UNION = True

        def __new__(cls, names=None, exprs=None):
            return new(cls, (names, exprs,))

        names = at[0]
        exprs = at[1]

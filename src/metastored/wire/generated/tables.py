"""The metastore API, tables. Made by tools/generate.py from api/tables.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AlterTableRequest', 'AlterTableResponse', 'ClientCapabilities', 'ClientCapability', 'CreateTableRequest', 'DropTableRequest', 'ExtendedTableInfo', 'GetFieldsRequest', 'GetFieldsResponse', 'GetSchemaRequest', 'GetSchemaResponse', 'GetTableRequest', 'GetTableResult', 'GetTablesExtRequest', 'GetTablesRequest', 'GetTablesResult', 'TableMeta', 'TableParamsUpdate', 'TruncateTableRequest', 'TruncateTableResponse']


class ClientCapability:
    TEST_CAPABILITY = 1
    INSERT_ONLY_TABLES = 2
    NAMES: ClassVar[dict[int, str]] = {1: 'TEST_CAPABILITY', 2: 'INSERT_ONLY_TABLES'}


if TYPE_CHECKING:
    from metastored.wire.generated.common import EnvironmentContext, FieldSchema, GetProjectionsSpec, SQLCheckConstraint, SQLDefaultConstraint, SQLForeignKey, SQLNotNullConstraint, SQLPrimaryKey, SQLUniqueConstraint, Table

    class AlterTableRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tableName: str | None = None
        table: Table | None = None
        environmentContext: EnvironmentContext | None = None
        writeId: int | None = None
        validWriteIdList: str | None = None
        processorCapabilities: tuple[str, ...] | None = None
        processorIdentifier: str | None = None
        expectedParameterKey: str | None = None
        expectedParameterValue: str | None = None

    class AlterTableResponse(NamedTuple):
        pass

    class ClientCapabilities(NamedTuple):
        values: tuple[int, ...] | None = None

    class CreateTableRequest(NamedTuple):
        table: Table | None = None
        envContext: EnvironmentContext | None = None
        primaryKeys: tuple[SQLPrimaryKey, ...] | None = None
        foreignKeys: tuple[SQLForeignKey, ...] | None = None
        uniqueConstraints: tuple[SQLUniqueConstraint, ...] | None = None
        notNullConstraints: tuple[SQLNotNullConstraint, ...] | None = None
        defaultConstraints: tuple[SQLDefaultConstraint, ...] | None = None
        checkConstraints: tuple[SQLCheckConstraint, ...] | None = None
        processorCapabilities: tuple[str, ...] | None = None
        processorIdentifier: str | None = None

    class DropTableRequest(NamedTuple):
        catalogName: str | None = None
        dbName: str | None = None
        tableName: str | None = None
        deleteData: bool | None = None
        envContext: EnvironmentContext | None = None
        dropPartitions: bool | None = None
        id: str | None = None
        asyncDrop: bool | None = None
        cancel: bool | None = None

    class ExtendedTableInfo(NamedTuple):
        tblName: str | None = None
        accessType: int | None = None
        requiredReadCapabilities: tuple[str, ...] | None = None
        requiredWriteCapabilities: tuple[str, ...] | None = None

    class GetFieldsRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tblName: str | None = None
        envContext: EnvironmentContext | None = None
        validWriteIdList: str | None = None
        id: int | None = None

    class GetFieldsResponse(NamedTuple):
        fields: tuple[FieldSchema, ...] | None = None

    class GetSchemaRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tblName: str | None = None
        envContext: EnvironmentContext | None = None
        validWriteIdList: str | None = None
        id: int | None = None

    class GetSchemaResponse(NamedTuple):
        fields: tuple[FieldSchema, ...] | None = None

    class GetTableRequest(NamedTuple):
        dbName: str | None = None
        tblName: str | None = None
        capabilities: ClientCapabilities | None = None
        catName: str | None = None
        validWriteIdList: str | None = None
        getColumnStats: bool | None = None
        processorCapabilities: tuple[str, ...] | None = None
        processorIdentifier: str | None = None
        engine: str | None = None
        id: int | None = None

    class GetTableResult(NamedTuple):
        table: Table | None = None
        isStatsCompliant: bool | None = None

    class GetTablesExtRequest(NamedTuple):
        catalog: str | None = None
        database: str | None = None
        tableNamePattern: str | None = None
        requestedFields: int | None = None
        limit: int | None = None
        processorCapabilities: tuple[str, ...] | None = None
        processorIdentifier: str | None = None

    class GetTablesRequest(NamedTuple):
        dbName: str | None = None
        tblNames: tuple[str, ...] | None = None
        capabilities: ClientCapabilities | None = None
        catName: str | None = None
        processorCapabilities: tuple[str, ...] | None = None
        processorIdentifier: str | None = None
        projectionSpec: GetProjectionsSpec | None = None
        tablesPattern: str | None = None

    class GetTablesResult(NamedTuple):
        tables: tuple[Table, ...] | None = None

    class TableMeta(NamedTuple):
        dbName: str | None = None
        tableName: str | None = None
        tableType: str | None = None
        comments: str | None = None
        catName: str | None = None
        ownerName: str | None = None
        ownerType: int | None = None

    class TableParamsUpdate(NamedTuple):
        cat_name: str | None = None
        db_name: str | None = None
        table_name: str | None = None
        params: dict[str, str] | None = None
        expected_param_key: str | None = None
        expected_param_value: str | None = None
        table: Table | None = None

    class TruncateTableRequest(NamedTuple):
        dbName: str | None = None
        tableName: str | None = None
        partNames: tuple[str, ...] | None = None
        writeId: int | None = None
        validWriteIdList: str | None = None
        environmentContext: EnvironmentContext | None = None

    class TruncateTableResponse(NamedTuple):
        pass

else:
    from metastored.wire.structs import Struct, at, new

    class AlterTableRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string tableName required @table in=4.0.0+', '4 Table table required in=4.0.0+', '5 EnvironmentContext environmentContext in=4.0.0+', '6 i64 writeId default=-1 in=4.0.0+', '7 string validWriteIdList in=4.0.0+', '8 list<string> processorCapabilities in=4.0.0+', '9 string processorIdentifier in=4.0.0+', '10 string expectedParameterKey in=4.0.0+', '11 string expectedParameterValue in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tableName=None, table=None, environmentContext=None, writeId=None, validWriteIdList=None, processorCapabilities=None, processorIdentifier=None, expectedParameterKey=None, expectedParameterValue=None):
            return new(cls, (catName, dbName, tableName, table, environmentContext, writeId, validWriteIdList, processorCapabilities, processorIdentifier, expectedParameterKey, expectedParameterValue,))

        catName = at[0]
        dbName = at[1]
        tableName = at[2]
        table = at[3]
        environmentContext = at[4]
        writeId = at[5]
        validWriteIdList = at[6]
        processorCapabilities = at[7]
        processorIdentifier = at[8]
        expectedParameterKey = at[9]
        expectedParameterValue = at[10]

    class AlterTableResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class ClientCapabilities(Struct):
        __slots__ = ()
        SPEC = ('1 list<ClientCapability> values required',)

        def __new__(cls, values=None):
            return new(cls, (values,))

        values = at[0]

    class CreateTableRequest(Struct):
        __slots__ = ()
        SPEC = ('1 Table table required in=4.0.0+', '2 EnvironmentContext envContext in=4.0.0+', '3 list<SQLPrimaryKey> primaryKeys in=4.0.0+', '4 list<SQLForeignKey> foreignKeys in=4.0.0+', '5 list<SQLUniqueConstraint> uniqueConstraints in=4.0.0+', '6 list<SQLNotNullConstraint> notNullConstraints in=4.0.0+', '7 list<SQLDefaultConstraint> defaultConstraints in=4.0.0+', '8 list<SQLCheckConstraint> checkConstraints in=4.0.0+', '9 list<string> processorCapabilities in=4.0.0+', '10 string processorIdentifier in=4.0.0+',)

        def __new__(cls, table=None, envContext=None, primaryKeys=None, foreignKeys=None, uniqueConstraints=None, notNullConstraints=None, defaultConstraints=None, checkConstraints=None, processorCapabilities=None, processorIdentifier=None):
            return new(cls, (table, envContext, primaryKeys, foreignKeys, uniqueConstraints, notNullConstraints, defaultConstraints, checkConstraints, processorCapabilities, processorIdentifier,))

        table = at[0]
        envContext = at[1]
        primaryKeys = at[2]
        foreignKeys = at[3]
        uniqueConstraints = at[4]
        notNullConstraints = at[5]
        defaultConstraints = at[6]
        checkConstraints = at[7]
        processorCapabilities = at[8]
        processorIdentifier = at[9]

    class DropTableRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catalogName @cat in=4.0.1+', '2 string dbName required @db in=4.0.1+', '3 string tableName required @table in=4.0.1+', '4 bool deleteData in=4.0.1+', '5 EnvironmentContext envContext in=4.0.1+', '6 bool dropPartitions in=4.0.1+', '7 string id in=next+', '8 bool asyncDrop in=next+', '9 bool cancel in=next+',)

        def __new__(cls, catalogName=None, dbName=None, tableName=None, deleteData=None, envContext=None, dropPartitions=None, id=None, asyncDrop=None, cancel=None):
            return new(cls, (catalogName, dbName, tableName, deleteData, envContext, dropPartitions, id, asyncDrop, cancel,))

        catalogName = at[0]
        dbName = at[1]
        tableName = at[2]
        deleteData = at[3]
        envContext = at[4]
        dropPartitions = at[5]
        id = at[6]
        asyncDrop = at[7]
        cancel = at[8]

    class ExtendedTableInfo(Struct):
        __slots__ = ()
        SPEC = ('1 string tblName required @table in=4.0.0+', '2 i32 accessType in=4.0.0+', '3 list<string> requiredReadCapabilities in=4.0.0+', '4 list<string> requiredWriteCapabilities in=4.0.0+',)

        def __new__(cls, tblName=None, accessType=None, requiredReadCapabilities=None, requiredWriteCapabilities=None):
            return new(cls, (tblName, accessType, requiredReadCapabilities, requiredWriteCapabilities,))

        tblName = at[0]
        accessType = at[1]
        requiredReadCapabilities = at[2]
        requiredWriteCapabilities = at[3]

    class GetFieldsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string tblName required @table in=4.0.0+', '4 EnvironmentContext envContext in=4.0.0+', '5 string validWriteIdList in=4.0.0+', '6 i64 id default=-1 in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tblName=None, envContext=None, validWriteIdList=None, id=None):
            return new(cls, (catName, dbName, tblName, envContext, validWriteIdList, id,))

        catName = at[0]
        dbName = at[1]
        tblName = at[2]
        envContext = at[3]
        validWriteIdList = at[4]
        id = at[5]

    class GetFieldsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<FieldSchema> fields required in=4.0.0+',)

        def __new__(cls, fields=None):
            return new(cls, (fields,))

        fields = at[0]

    class GetSchemaRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string tblName required @table in=4.0.0+', '4 EnvironmentContext envContext in=4.0.0+', '5 string validWriteIdList in=4.0.0+', '6 i64 id default=-1 in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, tblName=None, envContext=None, validWriteIdList=None, id=None):
            return new(cls, (catName, dbName, tblName, envContext, validWriteIdList, id,))

        catName = at[0]
        dbName = at[1]
        tblName = at[2]
        envContext = at[3]
        validWriteIdList = at[4]
        id = at[5]

    class GetSchemaResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<FieldSchema> fields required in=4.0.0+',)

        def __new__(cls, fields=None):
            return new(cls, (fields,))

        fields = at[0]

    class GetTableRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db', '2 string tblName required @table', '3 ClientCapabilities capabilities', '4 string catName @cat in=3.1+', '6 string validWriteIdList in=4.0.0+', '7 bool getColumnStats in=4.0.0+', '8 list<string> processorCapabilities in=4.0.0+', '9 string processorIdentifier in=4.0.0+', '10 string engine default=hive in=4.0.0+', '11 i64 id default=-1 in=4.0.0+',)

        def __new__(cls, dbName=None, tblName=None, capabilities=None, catName=None, validWriteIdList=None, getColumnStats=None, processorCapabilities=None, processorIdentifier=None, engine=None, id=None):
            return new(cls, (dbName, tblName, capabilities, catName, validWriteIdList, getColumnStats, processorCapabilities, processorIdentifier, engine, id,))

        dbName = at[0]
        tblName = at[1]
        capabilities = at[2]
        catName = at[3]
        validWriteIdList = at[4]
        getColumnStats = at[5]
        processorCapabilities = at[6]
        processorIdentifier = at[7]
        engine = at[8]
        id = at[9]

    class GetTableResult(Struct):
        __slots__ = ()
        SPEC = ('1 Table table required', '2 bool isStatsCompliant in=4.0.0+',)

        def __new__(cls, table=None, isStatsCompliant=None):
            return new(cls, (table, isStatsCompliant,))

        table = at[0]
        isStatsCompliant = at[1]

    class GetTablesExtRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catalog required @cat in=4.0.0+', '2 string database required @db in=4.0.0+', '3 string tableNamePattern required @pattern in=4.0.0+', '4 i32 requestedFields required in=4.0.0+', '5 i32 limit in=4.0.0+', '6 list<string> processorCapabilities in=4.0.0+', '7 string processorIdentifier in=4.0.0+',)

        def __new__(cls, catalog=None, database=None, tableNamePattern=None, requestedFields=None, limit=None, processorCapabilities=None, processorIdentifier=None):
            return new(cls, (catalog, database, tableNamePattern, requestedFields, limit, processorCapabilities, processorIdentifier,))

        catalog = at[0]
        database = at[1]
        tableNamePattern = at[2]
        requestedFields = at[3]
        limit = at[4]
        processorCapabilities = at[5]
        processorIdentifier = at[6]

    class GetTablesRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db', '2 list<string> tblNames @table', '3 ClientCapabilities capabilities', '4 string catName @cat in=3.1+', '5 list<string> processorCapabilities in=4.0.0+', '6 string processorIdentifier in=4.0.0+', '7 GetProjectionsSpec projectionSpec in=4.0.0+', '8 string tablesPattern @pattern in=4.0.0+',)

        def __new__(cls, dbName=None, tblNames=None, capabilities=None, catName=None, processorCapabilities=None, processorIdentifier=None, projectionSpec=None, tablesPattern=None):
            return new(cls, (dbName, tblNames, capabilities, catName, processorCapabilities, processorIdentifier, projectionSpec, tablesPattern,))

        dbName = at[0]
        tblNames = at[1]
        capabilities = at[2]
        catName = at[3]
        processorCapabilities = at[4]
        processorIdentifier = at[5]
        projectionSpec = at[6]
        tablesPattern = at[7]

    class GetTablesResult(Struct):
        __slots__ = ()
        SPEC = ('1 list<Table> tables required',)

        def __new__(cls, tables=None):
            return new(cls, (tables,))

        tables = at[0]

    class TableMeta(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db', '2 string tableName required @table', '3 string tableType required @table_type', '4 string comments', '5 string catName @cat in=3.1+', '6 string ownerName @user in=4.0.0+', '7 PrincipalType ownerType in=4.0.0+',)

        def __new__(cls, dbName=None, tableName=None, tableType=None, comments=None, catName=None, ownerName=None, ownerType=None):
            return new(cls, (dbName, tableName, tableType, comments, catName, ownerName, ownerType,))

        dbName = at[0]
        tableName = at[1]
        tableType = at[2]
        comments = at[3]
        catName = at[4]
        ownerName = at[5]
        ownerType = at[6]

    class TableParamsUpdate(Struct):
        __slots__ = ()
        SPEC = ('1 string cat_name @cat in=next+', '2 string db_name required @db in=next+', '3 string table_name required @table in=next+', '4 map<string,string> params required in=next+', '5 string expected_param_key in=next+', '6 string expected_param_value in=next+', '1000 Table table in=next+',)

        def __new__(cls, cat_name=None, db_name=None, table_name=None, params=None, expected_param_key=None, expected_param_value=None, table=None):
            return new(cls, (cat_name, db_name, table_name, params, expected_param_key, expected_param_value, table,))

        cat_name = at[0]
        db_name = at[1]
        table_name = at[2]
        params = at[3]
        expected_param_key = at[4]
        expected_param_value = at[5]
        table = at[6]

    class TruncateTableRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db in=4.0.0+', '2 string tableName required @table in=4.0.0+', '3 list<string> partNames @part_name in=4.0.0+', '4 i64 writeId default=-1 in=4.0.0+', '5 string validWriteIdList in=4.0.0+', '6 EnvironmentContext environmentContext in=4.0.0+',)

        def __new__(cls, dbName=None, tableName=None, partNames=None, writeId=None, validWriteIdList=None, environmentContext=None):
            return new(cls, (dbName, tableName, partNames, writeId, validWriteIdList, environmentContext,))

        dbName = at[0]
        tableName = at[1]
        partNames = at[2]
        writeId = at[3]
        validWriteIdList = at[4]
        environmentContext = at[5]

    class TruncateTableResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


"""The metastore API, databases. Made by tools/generate.py from api/databases.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AlterDatabaseRequest', 'CreateDatabaseRequest', 'Database', 'DatabaseType', 'DropDatabaseRequest', 'GetDatabaseObjectsRequest', 'GetDatabaseObjectsResponse', 'GetDatabaseRequest']


class DatabaseType:
    NATIVE = 1
    REMOTE = 2
    NAMES: ClassVar[dict[int, str]] = {1: 'NATIVE', 2: 'REMOTE'}


if TYPE_CHECKING:
    from metastored.wire.generated.common import PrincipalPrivilegeSet

    class AlterDatabaseRequest(NamedTuple):
        oldDbName: str | None = None
        newDb: Database | None = None

    class CreateDatabaseRequest(NamedTuple):
        databaseName: str | None = None
        description: str | None = None
        locationUri: str | None = None
        parameters: dict[str, str] | None = None
        privileges: PrincipalPrivilegeSet | None = None
        ownerName: str | None = None
        ownerType: int | None = None
        catalogName: str | None = None
        createTime: int | None = None
        managedLocationUri: str | None = None
        type: str | int | None = None
        dataConnectorName: str | None = None
        remote_dbname: str | None = None

    class Database(NamedTuple):
        name: str | None = None
        description: str | None = None
        locationUri: str | None = None
        parameters: dict[str, str] | None = None
        privileges: PrincipalPrivilegeSet | None = None
        ownerName: str | None = None
        ownerType: int | None = None
        catalogName: str | None = None
        createTime: int | None = None
        managedLocationUri: str | None = None
        type: int | None = None
        connector_name: str | None = None
        remote_dbname: str | None = None

    class DropDatabaseRequest(NamedTuple):
        name: str | None = None
        catalogName: str | None = None
        ignoreUnknownDb: bool | None = None
        deleteData: bool | None = None
        cascade: bool | None = None
        softDelete: bool | None = None
        txnId: int | None = None
        deleteManagedDir: bool | None = None
        id: str | None = None
        asyncDrop: bool | None = None
        cancel: bool | None = None

    class GetDatabaseObjectsRequest(NamedTuple):
        catalogName: str | None = None
        pattern: str | None = None

    class GetDatabaseObjectsResponse(NamedTuple):
        databases: tuple[Database, ...] | None = None

    class GetDatabaseRequest(NamedTuple):
        name: str | None = None
        catalogName: str | None = None
        processorCapabilities: tuple[str, ...] | None = None
        processorIdentifier: str | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class AlterDatabaseRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string oldDbName required @db in=4.0.1+', '2 Database newDb required in=4.0.1+',)

        def __new__(cls, oldDbName=None, newDb=None):
            return new(cls, (oldDbName, newDb,))

        oldDbName = at[0]
        newDb = at[1]

    class CreateDatabaseRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string databaseName required @db in=4.0.0+', '2 string description in=4.0.0+', '3 string locationUri @location in=4.0.0+', '4 map<string,string> parameters in=4.0.0+', '5 PrincipalPrivilegeSet privileges in=4.0.0+', '6 string ownerName @user in=4.0.0+', '7 PrincipalType ownerType in=4.0.0+', '8 string catalogName @cat in=4.0.0+', '9 i32 createTime in=4.0.0+', '10 string managedLocationUri @location in=4.0.0+', '11 string type in=4.0.0', '11 DatabaseType type in=4.0.1+', '12 string dataConnectorName @connector in=4.0.0+', '13 string remote_dbname in=4.0.1+',)

        def __new__(cls, databaseName=None, description=None, locationUri=None, parameters=None, privileges=None, ownerName=None, ownerType=None, catalogName=None, createTime=None, managedLocationUri=None, type=None, dataConnectorName=None, remote_dbname=None):
            return new(cls, (databaseName, description, locationUri, parameters, privileges, ownerName, ownerType, catalogName, createTime, managedLocationUri, type, dataConnectorName, remote_dbname,))

        databaseName = at[0]
        description = at[1]
        locationUri = at[2]
        parameters = at[3]
        privileges = at[4]
        ownerName = at[5]
        ownerType = at[6]
        catalogName = at[7]
        createTime = at[8]
        managedLocationUri = at[9]
        type = at[10]
        dataConnectorName = at[11]
        remote_dbname = at[12]

    class Database(Struct):
        __slots__ = ()
        SPEC = ('1 string name @db', '2 string description', '3 string locationUri @location', '4 map<string,string> parameters', '5 PrincipalPrivilegeSet privileges', '6 string ownerName @user', '7 PrincipalType ownerType', '8 string catalogName @cat', '9 i32 createTime in=4.0.0+', '10 string managedLocationUri @location in=4.0.0+', '11 DatabaseType type in=4.0.0+', '12 string connector_name @connector in=4.0.0+', '13 string remote_dbname in=4.0.0+',)

        def __new__(cls, name=None, description=None, locationUri=None, parameters=None, privileges=None, ownerName=None, ownerType=None, catalogName=None, createTime=None, managedLocationUri=None, type=None, connector_name=None, remote_dbname=None):
            return new(cls, (name, description, locationUri, parameters, privileges, ownerName, ownerType, catalogName, createTime, managedLocationUri, type, connector_name, remote_dbname,))

        name = at[0]
        description = at[1]
        locationUri = at[2]
        parameters = at[3]
        privileges = at[4]
        ownerName = at[5]
        ownerType = at[6]
        catalogName = at[7]
        createTime = at[8]
        managedLocationUri = at[9]
        type = at[10]
        connector_name = at[11]
        remote_dbname = at[12]

    class DropDatabaseRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string name required @db in=4.0.0+', '2 string catalogName @cat in=4.0.0+', '3 bool ignoreUnknownDb required in=4.0.0+', '4 bool deleteData required in=4.0.0+', '5 bool cascade required in=4.0.0+', '6 bool softDelete default=false in=4.0.0+', '7 i64 txnId default=0 @txn_id in=4.0.0+', '8 bool deleteManagedDir default=true in=4.0.0+', '9 string id in=next+', '10 bool asyncDrop in=next+', '11 bool cancel in=next+',)

        def __new__(cls, name=None, catalogName=None, ignoreUnknownDb=None, deleteData=None, cascade=None, softDelete=None, txnId=None, deleteManagedDir=None, id=None, asyncDrop=None, cancel=None):
            return new(cls, (name, catalogName, ignoreUnknownDb, deleteData, cascade, softDelete, txnId, deleteManagedDir, id, asyncDrop, cancel,))

        name = at[0]
        catalogName = at[1]
        ignoreUnknownDb = at[2]
        deleteData = at[3]
        cascade = at[4]
        softDelete = at[5]
        txnId = at[6]
        deleteManagedDir = at[7]
        id = at[8]
        asyncDrop = at[9]
        cancel = at[10]

    class GetDatabaseObjectsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catalogName @cat in=4.1+', '2 string pattern @pattern in=4.1+',)

        def __new__(cls, catalogName=None, pattern=None):
            return new(cls, (catalogName, pattern,))

        catalogName = at[0]
        pattern = at[1]

    class GetDatabaseObjectsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<Database> databases required in=4.1+',)

        def __new__(cls, databases=None):
            return new(cls, (databases,))

        databases = at[0]

    class GetDatabaseRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string name @db in=4.0.0+', '2 string catalogName @cat in=4.0.0+', '3 list<string> processorCapabilities in=4.0.0+', '4 string processorIdentifier in=4.0.0+',)

        def __new__(cls, name=None, catalogName=None, processorCapabilities=None, processorIdentifier=None):
            return new(cls, (name, catalogName, processorCapabilities, processorIdentifier,))

        name = at[0]
        catalogName = at[1]
        processorCapabilities = at[2]
        processorIdentifier = at[3]

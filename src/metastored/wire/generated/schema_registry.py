"""The metastore API, schema registry. Made by tools/generate.py from api/schema_registry.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AlterISchemaRequest', 'FindSchemasByColsResp', 'FindSchemasByColsRqst', 'GetSerdeRequest', 'ISchema', 'ISchemaName', 'MapSchemaVersionToSerdeRequest', 'SchemaCompatibility', 'SchemaType', 'SchemaValidation', 'SchemaVersion', 'SchemaVersionDescriptor', 'SchemaVersionState', 'SetSchemaVersionStateRequest']


class SchemaCompatibility:
    NONE = 1
    BACKWARD = 2
    FORWARD = 3
    BOTH = 4
    NAMES: ClassVar[dict[int, str]] = {1: 'NONE', 2: 'BACKWARD', 3: 'FORWARD', 4: 'BOTH'}


class SchemaType:
    HIVE = 1
    AVRO = 2
    NAMES: ClassVar[dict[int, str]] = {1: 'HIVE', 2: 'AVRO'}


class SchemaValidation:
    LATEST = 1
    ALL = 2
    NAMES: ClassVar[dict[int, str]] = {1: 'LATEST', 2: 'ALL'}


class SchemaVersionState:
    INITIATED = 1
    START_REVIEW = 2
    CHANGES_REQUIRED = 3
    REVIEWED = 4
    ENABLED = 5
    DISABLED = 6
    ARCHIVED = 7
    DELETED = 8
    NAMES: ClassVar[dict[int, str]] = {1: 'INITIATED', 2: 'START_REVIEW', 3: 'CHANGES_REQUIRED', 4: 'REVIEWED', 5: 'ENABLED', 6: 'DISABLED', 7: 'ARCHIVED', 8: 'DELETED'}


if TYPE_CHECKING:
    from metastored.wire.generated.common import FieldSchema, SerDeInfo

    class AlterISchemaRequest(NamedTuple):
        name: ISchemaName | None = None
        newSchema: ISchema | None = None

    class FindSchemasByColsResp(NamedTuple):
        schemaVersions: tuple[SchemaVersionDescriptor, ...] | None = None

    class FindSchemasByColsRqst(NamedTuple):
        colName: str | None = None
        colNamespace: str | None = None
        type: str | None = None

    class GetSerdeRequest(NamedTuple):
        serdeName: str | None = None

    class ISchema(NamedTuple):
        schemaType: int | None = None
        name: str | None = None
        catName: str | None = None
        dbName: str | None = None
        compatibility: int | None = None
        validationLevel: int | None = None
        canEvolve: bool | None = None
        schemaGroup: str | None = None
        description: str | None = None

    class ISchemaName(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        schemaName: str | None = None

    class MapSchemaVersionToSerdeRequest(NamedTuple):
        schemaVersion: SchemaVersionDescriptor | None = None
        serdeName: str | None = None

    class SchemaVersion(NamedTuple):
        schema: ISchemaName | None = None
        version: int | None = None
        createdAt: int | None = None
        cols: tuple[FieldSchema, ...] | None = None
        state: int | None = None
        description: str | None = None
        schemaText: str | None = None
        fingerprint: str | None = None
        name: str | None = None
        serDe: SerDeInfo | None = None

    class SchemaVersionDescriptor(NamedTuple):
        schema: ISchemaName | None = None
        version: int | None = None

    class SetSchemaVersionStateRequest(NamedTuple):
        schemaVersion: SchemaVersionDescriptor | None = None
        state: int | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class AlterISchemaRequest(Struct):
        __slots__ = ()
        SPEC = ('1 ISchemaName name in=3.1+', '3 ISchema newSchema in=3.1+',)

        def __new__(cls, name=None, newSchema=None):
            return new(cls, (name, newSchema,))

        name = at[0]
        newSchema = at[1]

    class FindSchemasByColsResp(Struct):
        __slots__ = ()
        SPEC = ('1 list<SchemaVersionDescriptor> schemaVersions in=3.1+',)

        def __new__(cls, schemaVersions=None):
            return new(cls, (schemaVersions,))

        schemaVersions = at[0]

    class FindSchemasByColsRqst(Struct):
        __slots__ = ()
        SPEC = ('1 string colName in=3.1+', '2 string colNamespace in=3.1+', '3 string type in=3.1+',)

        def __new__(cls, colName=None, colNamespace=None, type=None):
            return new(cls, (colName, colNamespace, type,))

        colName = at[0]
        colNamespace = at[1]
        type = at[2]

    class GetSerdeRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string serdeName @name in=3.1+',)

        def __new__(cls, serdeName=None):
            return new(cls, (serdeName,))

        serdeName = at[0]

    class ISchema(Struct):
        __slots__ = ()
        SPEC = ('1 SchemaType schemaType in=3.1+', '2 string name @name in=3.1+', '3 string catName @cat in=3.1+', '4 string dbName @db in=3.1+', '5 SchemaCompatibility compatibility in=3.1+', '6 SchemaValidation validationLevel in=3.1+', '7 bool canEvolve in=3.1+', '8 string schemaGroup in=3.1+', '9 string description in=3.1+',)

        def __new__(cls, schemaType=None, name=None, catName=None, dbName=None, compatibility=None, validationLevel=None, canEvolve=None, schemaGroup=None, description=None):
            return new(cls, (schemaType, name, catName, dbName, compatibility, validationLevel, canEvolve, schemaGroup, description,))

        schemaType = at[0]
        name = at[1]
        catName = at[2]
        dbName = at[3]
        compatibility = at[4]
        validationLevel = at[5]
        canEvolve = at[6]
        schemaGroup = at[7]
        description = at[8]

    class ISchemaName(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=3.1+', '2 string dbName @db in=3.1+', '3 string schemaName @name in=3.1+',)

        def __new__(cls, catName=None, dbName=None, schemaName=None):
            return new(cls, (catName, dbName, schemaName,))

        catName = at[0]
        dbName = at[1]
        schemaName = at[2]

    class MapSchemaVersionToSerdeRequest(Struct):
        __slots__ = ()
        SPEC = ('1 SchemaVersionDescriptor schemaVersion in=3.1+', '2 string serdeName @name in=3.1+',)

        def __new__(cls, schemaVersion=None, serdeName=None):
            return new(cls, (schemaVersion, serdeName,))

        schemaVersion = at[0]
        serdeName = at[1]

    class SchemaVersion(Struct):
        __slots__ = ()
        SPEC = ('1 ISchemaName schema in=3.1+', '2 i32 version in=3.1+', '3 i64 createdAt in=3.1+', '4 list<FieldSchema> cols in=3.1+', '5 SchemaVersionState state in=3.1+', '6 string description in=3.1+', '7 string schemaText in=3.1+', '8 string fingerprint in=3.1+', '9 string name @name in=3.1+', '10 SerDeInfo serDe in=3.1+',)

        def __new__(cls, schema=None, version=None, createdAt=None, cols=None, state=None, description=None, schemaText=None, fingerprint=None, name=None, serDe=None):
            return new(cls, (schema, version, createdAt, cols, state, description, schemaText, fingerprint, name, serDe,))

        schema = at[0]
        version = at[1]
        createdAt = at[2]
        cols = at[3]
        state = at[4]
        description = at[5]
        schemaText = at[6]
        fingerprint = at[7]
        name = at[8]
        serDe = at[9]

    class SchemaVersionDescriptor(Struct):
        __slots__ = ()
        SPEC = ('1 ISchemaName schema in=3.1+', '2 i32 version in=3.1+',)

        def __new__(cls, schema=None, version=None):
            return new(cls, (schema, version,))

        schema = at[0]
        version = at[1]

    class SetSchemaVersionStateRequest(Struct):
        __slots__ = ()
        SPEC = ('1 SchemaVersionDescriptor schemaVersion in=3.1+', '2 SchemaVersionState state in=3.1+',)

        def __new__(cls, schemaVersion=None, state=None):
            return new(cls, (schemaVersion, state,))

        schemaVersion = at[0]
        state = at[1]

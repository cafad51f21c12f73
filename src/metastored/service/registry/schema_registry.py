"""The schema registry of Hive 3: schemas of a database, their versions, and named SerDes. All of them are documents.

A version's parent is its schema, its number the version. Both are deleted with their database. Hive's event log has no
events of schemas, and neither has metastored's.
"""

from __future__ import annotations

from typing import Final

from metastored.errors import (
    AlreadyExistsException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.hive.names import DEFAULT_CATALOG, normalize
from metastored.model.names import DatabaseName
from metastored.service.core.context import Context
from metastored.service.core.documents import Document, Kind
from metastored.service.core.java_text import java_text
from metastored.service.core.serving import method
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import databases
from metastored.wire.generated.common import SerDeInfo
from metastored.wire.generated.schema_registry import (
    AlterISchemaRequest,
    FindSchemasByColsResp,
    FindSchemasByColsRqst,
    GetSerdeRequest,
    ISchema,
    ISchemaName,
    MapSchemaVersionToSerdeRequest,
    SchemaVersion,
    SchemaVersionDescriptor,
    SetSchemaVersionStateRequest,
)
from metastored.wire.structs import replace

SCHEMAS: Final = Kind("schema", ISchema)
VERSIONS: Final = Kind("schema_version", SchemaVersion)
SERDES: Final = Kind("serde", SerDeInfo)


def _where(ctx: Context, catalog: str | None, database: str | None) -> DatabaseName:
    return ctx.name(database, DEFAULT_CATALOG if catalog is None else catalog)


def _find(ctx: Context, tx: Transaction, name: ISchemaName | None) -> Document[ISchema] | None:
    if name is None:
        raise MetaException("a schema's name is missing")
    database = databases.find(tx, *_where(ctx, name.catName, name.dbName))
    return None if database is None else SCHEMAS.find(tx, normalize(name.schemaName or ""), str(database.id))


# --- schemas --------------------------------------------------------------------------------------------------------


@method
def create_ischema(ctx: Context, schema: ISchema) -> None:
    where = _where(ctx, schema.catName, schema.dbName)
    name = normalize(schema.name or "")
    if not name:
        raise MetaException("create_ischema needs a schema with a name")
    stored: ISchema = replace(
        schema, name=name, catName=where.catalog, dbName=where.database, canEvolve=bool(schema.canEvolve)
    )
    taken = AlreadyExistsException(f"Schema with name {schema.dbName}.{schema.name} already exists")

    def create(tx: Transaction) -> None:
        database = databases.find(tx, *where)
        if database is None:
            raise NoSuchObjectException(f"There is no database {where.catalog}.{where.database}")
        databases.lock(tx, database.id)
        if SCHEMAS.find(tx, name, str(database.id)) is not None:
            raise taken
        SCHEMAS.insert(tx, name, stored, parent=str(database.id), db_id=database.id)

    try:
        ctx.database.run(create)
    except ConstraintViolated:
        raise taken from None


@method
def alter_ischema(ctx: Context, rqst: AlterISchemaRequest) -> None:
    new = rqst.newSchema
    if new is None:
        raise MetaException("alter_ischema needs a schema")
    changed: ISchema = new

    def alter(tx: Transaction) -> None:
        schema = _find(ctx, tx, rqst.name)
        if schema is None:
            raise NoSuchObjectException(f"Could not find schema {java_text(rqst.name)}")
        before = schema.value
        after = replace(
            before,
            compatibility=changed.compatibility if changed.compatibility is not None else before.compatibility,
            validationLevel=changed.validationLevel if changed.validationLevel is not None else before.validationLevel,
            canEvolve=bool(changed.canEvolve),
            schemaGroup=changed.schemaGroup if changed.schemaGroup is not None else before.schemaGroup,
            description=changed.description if changed.description is not None else before.description,
        )
        SCHEMAS.update(tx, schema, after)

    ctx.database.run(alter)


@method
def get_ischema(ctx: Context, name: ISchemaName) -> ISchema:
    with ctx.reading() as tx:
        schema = _find(ctx, tx, name)
    if schema is None:
        raise NoSuchObjectException(f"No schema named {java_text(name)} exists")
    return schema.value


@method
def drop_ischema(ctx: Context, name: ISchemaName) -> None:
    def drop(tx: Transaction) -> None:
        schema = _find(ctx, tx, name)
        if schema is None:
            raise NoSuchObjectException(f"Schema {java_text(name)} does not exist")
        if VERSIONS.newest(tx, str(schema.id), 1):
            raise InvalidOperationException(
                f"Schema {java_text(name)} cannot be dropped, it has at least one valid version"
            )
        SCHEMAS.delete(tx, schema)

    ctx.database.run(drop)


# --- versions -------------------------------------------------------------------------------------------------------


@method
def add_schema_version(ctx: Context, schemaVersion: SchemaVersion) -> None:
    name, version = schemaVersion.schema, schemaVersion.version or 0
    taken = AlreadyExistsException(f"Schema name {java_text(name)} version {version} already exists")

    def add(tx: Transaction) -> None:
        schema = _find(ctx, tx, name)
        if schema is None:
            raise NoSuchObjectException(f"No schema named {java_text(name)}")
        if VERSIONS.find(tx, str(version), str(schema.id)) is not None:
            raise taken
        held = schema.value
        stored = replace(
            schemaVersion,
            schema=ISchemaName(catName=held.catName, dbName=held.dbName, schemaName=held.name),
            version=version,
            createdAt=schemaVersion.createdAt or 0,
            cols=schemaVersion.cols or (),
        )
        VERSIONS.insert(tx, str(version), stored, parent=str(schema.id), at=version, db_id=int(schema.parent))

    try:
        ctx.database.run(add)
    except ConstraintViolated:
        raise taken from None


def _version(ctx: Context, tx: Transaction, named: SchemaVersionDescriptor | None) -> Document[SchemaVersion] | None:
    if named is None:
        raise MetaException("a schema version is missing")
    schema = _find(ctx, tx, named.schema)
    return None if schema is None else VERSIONS.find(tx, str(named.version or 0), str(schema.id))


def _versions(ctx: Context, name: ISchemaName, limit: int = -1) -> list[SchemaVersion]:
    """All versions, the latest first; raises an error if there is none."""
    with ctx.reading() as tx:
        schema = _find(ctx, tx, name)
        versions = VERSIONS.newest(tx, str(schema.id), limit) if schema is not None else []
    if not versions:
        # The missing blank is Hive's.
        raise NoSuchObjectException(f"No versions of schema {java_text(name)}exist")
    return [each.value for each in versions]


@method
def get_schema_version(ctx: Context, schemaVersion: SchemaVersionDescriptor) -> SchemaVersion:
    with ctx.reading() as tx:
        version = _version(ctx, tx, schemaVersion)
    if version is None:
        raise NoSuchObjectException(f"No schema version {java_text(schemaVersion)}exists")
    return version.value


@method
def get_schema_latest_version(ctx: Context, schemaName: ISchemaName) -> SchemaVersion:
    return _versions(ctx, schemaName, 1)[0]


@method
def get_schema_all_versions(ctx: Context, schemaName: ISchemaName) -> tuple[SchemaVersion, ...]:
    return tuple(_versions(ctx, schemaName))


@method
def drop_schema_version(ctx: Context, schemaVersion: SchemaVersionDescriptor) -> None:
    def drop(tx: Transaction) -> None:
        VERSIONS.delete(tx, _existing(ctx, tx, schemaVersion))

    ctx.database.run(drop)


def _existing(ctx: Context, tx: Transaction, named: SchemaVersionDescriptor | None) -> Document[SchemaVersion]:
    version = _version(ctx, tx, named)
    if version is None:
        raise NoSuchObjectException(f"No schema version {java_text(named)}")
    return version


@method
def get_schemas_by_cols(ctx: Context, rqst: FindSchemasByColsRqst) -> FindSchemasByColsResp:
    """The versions that have a column of this name, comment (Hive's namespace) and type; an absent one matches any."""
    if rqst.colName is None and rqst.colNamespace is None:
        raise MetaException("You must specify column name or column namespace, else your query may be too large")
    name = normalize(rqst.colName) if rqst.colName is not None else None
    type = normalize(rqst.type) if rqst.type is not None else None
    versions = [
        SchemaVersionDescriptor(schema=each.value.schema, version=each.value.version)
        for each in VERSIONS.all(ctx.reader())
        if any(
            (name is None or column.name == name)
            and (rqst.colNamespace is None or column.comment == rqst.colNamespace)
            and (type is None or column.type == type)
            for column in each.value.cols or ()
        )
    ]
    return FindSchemasByColsResp(schemaVersions=tuple(versions))


@method
def map_schema_version_to_serde(ctx: Context, rqst: MapSchemaVersionToSerdeRequest) -> None:
    def change(tx: Transaction) -> None:
        version = _existing(ctx, tx, rqst.schemaVersion)
        serde = _serde(tx, rqst.serdeName)
        VERSIONS.update(tx, version, replace(version.value, serDe=serde))

    ctx.database.run(change)


@method
def set_schema_version_state(ctx: Context, rqst: SetSchemaVersionStateRequest) -> None:
    def change(tx: Transaction) -> None:
        version = _existing(ctx, tx, rqst.schemaVersion)
        if rqst.state is not None:
            VERSIONS.update(tx, version, replace(version.value, state=rqst.state))

    ctx.database.run(change)


# --- SerDes ---------------------------------------------------------------------------------------------------------


def _serde(tx: Transaction, name: str | None) -> SerDeInfo:
    serde = SERDES.find(tx, name or "")
    if serde is None:
        raise NoSuchObjectException(f"No SerDe named {name}")
    return serde.value


@method
def add_serde(ctx: Context, serde: SerDeInfo) -> None:
    if serde.name is None:
        raise MetaException("add_serde needs a SerDe with a name")
    name = serde.name
    stored: SerDeInfo = replace(serde, parameters=serde.parameters or {})
    taken = AlreadyExistsException(f"Serde with name {name} already exists")

    def add(tx: Transaction) -> None:
        if SERDES.find(tx, name) is not None:
            raise taken
        SERDES.insert(tx, name, stored)

    try:
        ctx.database.run(add)
    except ConstraintViolated:
        raise taken from None


@method
def get_serde(ctx: Context, rqst: GetSerdeRequest) -> SerDeInfo:
    return _serde(ctx.reader(), rqst.serdeName)

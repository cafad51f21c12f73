"""Stored procedures and packages of HPL/SQL: texts by name in a database. They are documents, and are deleted with it.

The server never runs them. Adding one that exists replaces it, and dropping one that does not exist is not an error.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from metastored.errors import MetaException, NoSuchObjectException
from metastored.hive.names import normalize
from metastored.model.names import DatabaseName
from metastored.service.core.context import Context
from metastored.service.core.documents import Kind
from metastored.service.core.serving import method
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases
from metastored.store.objects.databases import DatabaseRow
from metastored.wire.generated.procedures import (
    AddPackageRequest,
    DropPackageRequest,
    GetPackageRequest,
    ListPackageRequest,
    ListStoredProcedureRequest,
    Package,
    StoredProcedure,
    StoredProcedureRequest,
)
from metastored.wire.structs import replace

PROCEDURES: Final = Kind("procedure", StoredProcedure)
PACKAGES: Final = Kind("package", Package)
T = TypeVar("T", bound=tuple[Any, ...])


def _put(ctx: Context, kind: Kind[T], where: DatabaseName, name: str | None, value: T) -> None:
    if name is None:
        raise MetaException(f"a {kind.name} needs a name")
    key: str = name

    def put(tx: Transaction) -> None:
        database = _database(tx, where)
        if database is None:
            raise NoSuchObjectException(f"There is no database {where.catalog}.{where.database}")
        databases.lock(tx, database.id)
        known = kind.find(tx, key, str(database.id))
        if known is None:
            kind.insert(tx, key, value, parent=str(database.id), db_id=database.id)
        else:
            kind.update(tx, known, value)

    ctx.database.run(put)


def _get(ctx: Context, kind: Kind[T], where: DatabaseName, name: str | None) -> T | None:
    with ctx.reading() as tx:
        database = _database(tx, where)
        document = kind.find(tx, name or "", str(database.id)) if database is not None else None
    return document.value if document is not None else None


def _drop(ctx: Context, kind: Kind[T], where: DatabaseName, name: str | None) -> None:
    def drop(tx: Transaction) -> None:
        database = _database(tx, where)
        document = kind.find(tx, name or "", str(database.id)) if database is not None else None
        if document is not None:
            kind.delete(tx, document)

    ctx.database.run(drop)


def _names(ctx: Context, kind: Kind[T], catalog: str | None, database: str | None) -> tuple[str, ...]:
    """The documents of a database, or of all databases of a catalog."""
    cat, name = ctx.pattern(database, catalog)
    with ctx.reading() as tx:
        if name is None:
            owners = databases.rows(tx, cat)
        else:
            owner = _database(tx, DatabaseName(cat, normalize(name)))
            owners = [owner] if owner is not None else []
        return tuple(document.key for owner in owners for document in kind.below(tx, str(owner.id)))


def _database(tx: Transaction, where: DatabaseName) -> DatabaseRow | None:
    return databases.find(tx, *where)


# --- procedures -----------------------------------------------------------------------------------------------------


@method
def create_stored_procedure(ctx: Context, proc: StoredProcedure) -> None:
    where = ctx.name(proc.dbName, proc.catName)
    _put(ctx, PROCEDURES, where, proc.name, replace(proc, dbName=where.database, catName=where.catalog))


@method
def get_stored_procedure(ctx: Context, request: StoredProcedureRequest) -> StoredProcedure:
    procedure = _get(ctx, PROCEDURES, ctx.name(request.dbName, request.catName), request.procName)
    if procedure is None:
        raise NoSuchObjectException(f"HPL/SQL StoredProcedure {request.dbName}.{request.procName} does not exist")
    return procedure


@method
def drop_stored_procedure(ctx: Context, request: StoredProcedureRequest) -> None:
    _drop(ctx, PROCEDURES, ctx.name(request.dbName, request.catName), request.procName)


@method
def get_all_stored_procedures(ctx: Context, request: ListStoredProcedureRequest) -> tuple[str, ...]:
    return _names(ctx, PROCEDURES, request.catName, request.dbName)


# --- packages -------------------------------------------------------------------------------------------------------


@method
def add_package(ctx: Context, request: AddPackageRequest) -> None:
    where = ctx.name(request.dbName, request.catName)
    package = Package(
        catName=where.catalog,
        dbName=where.database,
        packageName=request.packageName,
        ownerName=request.ownerName,
        header=request.header,
        body=request.body,
    )
    try:
        _put(ctx, PACKAGES, where, request.packageName, package)
    except NoSuchObjectException as error:
        # The method declares only this exception.
        raise MetaException(error.message) from None


@method
def find_package(ctx: Context, request: GetPackageRequest) -> Package:
    procedure = _get(ctx, PACKAGES, ctx.name(request.dbName, request.catName), request.packageName)
    if procedure is None:
        raise NoSuchObjectException(f"HPL/SQL package {request.dbName}.{request.packageName} does not exist")
    return procedure


@method
def drop_package(ctx: Context, request: DropPackageRequest) -> None:
    _drop(ctx, PACKAGES, ctx.name(request.dbName, request.catName), request.packageName)


@method
def get_all_packages(ctx: Context, request: ListPackageRequest) -> tuple[str, ...]:
    return _names(ctx, PACKAGES, request.catName, request.dbName)

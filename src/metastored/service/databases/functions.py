"""User-defined functions."""

from __future__ import annotations

from typing import Final

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    MetaException,
    MetastoreError,
    NoSuchObjectException,
)
from metastored.hive.names import DEFAULT_CATALOG, is_valid_function_name, normalize
from metastored.hive.patterns import compile_pattern
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.context import Context
from metastored.service.core.internal import internal_error
from metastored.service.core.serving import method
from metastored.service.remotes.databases import refuse_in_remote
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import databases, functions
from metastored.wire.codec import binary
from metastored.wire.generated.functions import (
    Function,
    GetAllFunctionsResponse,
    GetFunctionsRequest,
    GetFunctionsResponse,
)
from metastored.wire.structs import replace

NO_CLASS: Final = "Function class name cannot be null"


def _name(name: str | None) -> str:
    if name is None:
        raise MetaException("a function name is missing: the request names none")
    return normalize(name)


@method
def get_function(ctx: Context, dbName: str | None, funcName: str | None) -> Function:
    where, name = ctx.name(dbName), _name(funcName)
    row = functions.find(ctx.reader(), *where, name)
    if row is None:
        raise NoSuchObjectException(f"Function {where.database}.{name} does not exist")
    return rows.function_of(row, ctx.shown(where.catalog), where.database)


@method
def get_functions(ctx: Context, dbName: str | None, pattern: str | None) -> tuple[str, ...]:
    matches = compile_pattern(pattern)
    return tuple(name for name in functions.names(ctx.reader(), *ctx.name(dbName)) if matches(name))


@method
def get_functions_req(ctx: Context, request: GetFunctionsRequest) -> GetFunctionsResponse:
    where = ctx.name(request.dbName, request.catalogName)
    matches = compile_pattern(request.pattern)
    names = [name for name in functions.names(ctx.reader(), *where) if matches(name)]
    if request.returnNames is not False:
        return GetFunctionsResponse(function_names=tuple(names))
    requested_names = set(names)
    items = [item for item in functions.rows(ctx.reader(), where.catalog) if item.db == where.database]
    catalog = ctx.shown(where.catalog)
    return GetFunctionsResponse(
        functions=tuple(rows.function_of(item, catalog, item.db) for item in items if item.name in requested_names)
    )


@method
def get_all_functions(ctx: Context) -> GetAllFunctionsResponse:
    items = functions.rows(ctx.reader(), DEFAULT_CATALOG)
    catalog = ctx.shown(DEFAULT_CATALOG)
    return GetAllFunctionsResponse(functions=tuple(rows.function_of(item, catalog, item.db) for item in items))


@method
def create_function(ctx: Context, func: Function | None) -> None:
    if func is None or func.functionName is None:
        raise MetaException("create_function needs a function with a name")
    if not is_valid_function_name(func.functionName):
        raise InvalidObjectException(f"{func.functionName} is not a valid object name")
    if func.className is None:
        raise InvalidObjectException(NO_CLASS)
    where = ctx.name_for_new(func.dbName, func.catName, NoSuchObjectException)
    _check_types(func)
    name = normalize(func.functionName)
    stored = _stored(func, ctx.now())
    taken = AlreadyExistsException(f"Function {func.functionName} already exists")

    def create(tx: Transaction) -> None:
        row = databases.find(tx, *where)
        if row is None:
            raise ctx.no_database(where)
        databases.lock(tx, row.id)
        refuse_in_remote(tx, row, where, f"function {func.functionName}")
        if functions.find(tx, *where, name) is not None:
            raise taken
        functions.insert(tx, row.id, name, rows.function_body(stored))
        _record(ctx, tx, "CREATE_FUNCTION", where, replace(stored, functionName=name, dbName=where.database))

    try:
        ctx.database.run(create)
    except ConstraintViolated:
        raise taken from None


def _check_types(function: Function) -> None:
    for kind, value in (("owner type", function.ownerType), ("type", function.functionType)):
        if value is None:
            raise MetaException(f"Function {kind} cannot be null.")


def _stored(function: Function, created: int) -> Function:
    return replace(
        function,
        createTime=created,
        resourceUris=function.resourceUris or (),
    )


def _record(ctx: Context, tx: Transaction, type: str, where: DatabaseName, function: Function) -> None:
    record(ctx, tx, type, where, None, [("function", binary.encode(replace(function, catName=where.catalog)))])


def _refused(ctx: Context, why: str) -> MetastoreError:
    """Hive does not declare the exception here; only later versions wrap it in a declared one."""
    if ctx.rules.explains_functions:
        return MetaException(f"InvalidObjectException(message:{why})")
    return InvalidObjectException(why)


@method
def alter_function(ctx: Context, dbName: str | None, funcName: str | None, newFunc: Function | None) -> None:
    where, name = ctx.name(dbName), _name(funcName)
    if newFunc is None:
        raise MetaException("alter_function needs the new function")
    if newFunc.functionName is None:
        raise MetaException("Function name cannot be null.")
    requested: Function = newFunc
    if not is_valid_function_name(requested.functionName or ""):
        raise _refused(ctx, f"{requested.functionName} is not a valid object name")
    if requested.className is None:
        raise _refused(ctx, NO_CLASS)
    _check_types(requested)
    if requested.dbName is None:
        raise MetaException("Database name cannot be null.")
    target = DatabaseName(where.catalog, normalize(requested.dbName))

    def alter(tx: Transaction) -> None:
        row = functions.find(tx, *where, name)
        if row is None:
            raise MetaException(f"function {name} doesn't exist")
        database = databases.find(tx, *target)
        if database is None:
            if ctx.rules.explains_functions:
                raise _refused(ctx, f"Database {target.database} doesn't exist.")
            raise internal_error("alter_function", f"database {ctx.database_name(target)} does not exist")
        before = rows.function_of(row, *where)
        # Hive changes name, database, owner, class and type, and nothing else.
        stored = replace(_stored(requested, before.createTime or 0), resourceUris=before.resourceUris or ())
        functions.update(tx, row.id, database.id, normalize(requested.functionName or ""), rows.function_body(stored))

    try:
        ctx.database.run(alter)
    except ConstraintViolated:
        raise MetaException(f"function {target.database}.{requested.functionName} already exists") from None


@method
def drop_function(ctx: Context, dbName: str | None, funcName: str | None) -> None:
    where, name = ctx.name(dbName), _name(funcName)

    def drop(tx: Transaction) -> None:
        row = functions.find(tx, *where, name)
        if row is None:
            raise NoSuchObjectException(f"Function {name} does not exist")
        functions.delete(tx, row.id)
        _record(ctx, tx, "DROP_FUNCTION", where, rows.function_of(row, *where))

    ctx.database.run(drop)

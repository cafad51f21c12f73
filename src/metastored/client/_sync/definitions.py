# Made by tools/unasync.py from _async/definitions.py: DO NOT EDIT.
"""Executes the statements that define and change objects, as calls of the metastore under the caller's own session.

A change of a table is made on the table as it is when the call arrives (`Client.change_table`): another client's change
is never undone. IF EXISTS and IF NOT EXISTS hold also where another client drops or makes the object meanwhile.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from metastored.client._sync.partition_changes import alter_partitions, matching, request_compaction, shown
from metastored.client._sync.views import change_query, check_kind, create_view, drop_of_kind
from metastored.client.statements.changed_tables import Changed, has_path, without
from metastored.client.statements.constraints import Constraints, constraints_of
from metastored.client.statements.new_tables import (
    hive_table,
    is_for_spark,
    spark_tables,
)
from metastored.client.statements.values import Result, database_of, owner_type, table_of
from metastored.errors import (
    AlreadyExistsException,
    InvalidOperationException,
    MetastoreError,
    NoSuchObjectException,
    ObjectNotFound,
    PermissionDenied,
)
from metastored.hive.names import normalize
from metastored.model import kinds, makers
from metastored.model.acid import acid_of
from metastored.model.names import DatabaseName, TableName
from metastored.model.spark.creating import default_table_path
from metastored.statements import definitions as s
from metastored.statements.basics import Pairs
from metastored.wire.generated.catalogs import (
    AlterCatalogRequest,
    Catalog,
    CreateCatalogRequest,
    DropCatalogRequest,
    GetCatalogRequest,
)
from metastored.wire.generated.common import FieldSchema, PrincipalType, StorageDescriptor, Table
from metastored.wire.generated.constraints import (
    AddCheckConstraintRequest,
    AddForeignKeyRequest,
    AddPrimaryKeyRequest,
    AddUniqueConstraintRequest,
    DropConstraintRequest,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function, FunctionType, ResourceType, ResourceUri
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from metastored.client._sync.operations import Operations

DONE: Final = Result()
RESOURCES: Final = {"JAR": ResourceType.JAR, "FILE": ResourceType.FILE, "ARCHIVE": ResourceType.ARCHIVE}


def execute_definition(client: Operations, current: DatabaseName, statement: s.DefinitionStatement) -> Result:
    """Executes one statement. Raises what the metastore raises."""
    match statement:
        case s.CreateTable():
            _create_table(client, current, statement)
        case s.CreateTableLike():
            _create_like(client, current, statement)
        case s.AlterTable(name, action):
            _alter_table(client, current, table_of(name, current), action)
        case s.DropTable(name, if_exists, purge):
            drop_of_kind(client, table_of(name, current), if_exists, kinds.MANAGED, purge)
        case s.TruncateTable(name, partition):
            _truncate(client, table_of(name, current), partition)
        case s.CreateView():
            create_view(client, current, statement)
        case s.AlterView(name, action):
            target = table_of(name, current)
            check_kind(target, client.fresh_table(target), kinds.VIEW, "ALTER")
            if isinstance(action, str):
                change_query(client, current, target, action)
            else:
                _alter_table(client, current, target, action)
        case s.DropView(name, if_exists):
            drop_of_kind(client, table_of(name, current), if_exists, kinds.VIEW)
        case s.CommentOn("TABLE", name, text):
            client.change_table(table_of(name, current), lambda table: _commented(table, text))
        case s.CommentOn("COLUMN", name, text):
            table = table_of(name[:-1], current)
            client.change_table(table, Changed(table, s.ChangeColumn(name[-1], comment=text or "")))
        case s.CreateFunction() | s.DropFunction():
            _functions(client, current, statement)
        case _:
            _databases(client, current, statement)
    return DONE


# --- catalogs and databases -----------------------------------------------------------------------------------


def _databases(client: Operations, current: DatabaseName, statement: s.DefinitionStatement) -> None:
    api = client.api
    match statement:
        case s.CreateDatabase(name, if_not_exists):
            target = database_of(name, current)
            made = makers.database(target.database, location=statement.location, comment=statement.comment)
            made = replace(
                made,
                parameters=dict(statement.properties),
                catalogName=target.catalog_field,
                managedLocationUri=statement.managed_location,
            )
            client.create_database(made, if_not_exists)
        case s.DropDatabase(name, if_exists, cascade):
            field = database_of(name, current).field
            try:
                # Hive before 4 replies to a drop of a missing database with a NullPointerException.
                api.get_database(field)
                api.drop_database(field, True, cascade)
            except NoSuchObjectException:
                if not if_exists:
                    raise
        case s.AlterDatabase(name, action):
            target = database_of(name, current)
            api.alter_database(target.field, _altered(_database(client, target), action))
        case s.CommentOn(_, name, text):
            target = database_of(name, current)
            api.alter_database(target.field, replace(_database(client, target), description=text or ""))
        case s.CreateCatalog(name, if_not_exists, location, comment):
            try:
                api.create_catalog(CreateCatalogRequest(Catalog(name, comment, location)))
            except AlreadyExistsException:
                if not if_not_exists:
                    raise
        case s.AlterCatalog(name, location):
            catalog = (api.get_catalog(GetCatalogRequest(name))).catalog or Catalog(name)
            api.alter_catalog(AlterCatalogRequest(name, replace(catalog, locationUri=location)))
        case s.DropCatalog(name, if_exists):
            try:
                api.drop_catalog(DropCatalogRequest(name))
            except NoSuchObjectException:
                if not if_exists:
                    raise
        case _:
            raise AssertionError(statement)


def _database(client: Operations, name: DatabaseName) -> Database:
    client.forget(name.database)
    return client.api.get_database(name.field)


def _altered(database: Database, action: Any) -> Database:
    match action:
        case s.SetProperties(pairs):
            return replace(database, parameters={**(database.parameters or {}), **dict(pairs)})
        case s.UnsetProperties(keys, if_exists):
            return replace(
                database, parameters=without(database.parameters or {}, keys, if_exists, f"database {database.name}")
            )
        case s.SetOwner(principal):
            return replace(database, ownerName=principal.name, ownerType=owner_type(principal))
        case s.SetLocation(location, True):
            return replace(database, managedLocationUri=location)
        case s.SetLocation(location):
            return replace(database, locationUri=location)
    raise AssertionError(action)


# --- tables ---------------------------------------------------------------------------------------------------


def _create_table(client: Operations, current: DatabaseName, statement: s.CreateTable) -> None:
    name = table_of(statement.name, current)
    if is_for_spark(statement):
        database = _database(client, name.database_name)
        _create_first(
            client, spark_tables(statement, name, client.user, database.locationUri or ""), statement.if_not_exists
        )
        return
    table = hive_table(statement, name, client.user)
    constraints = constraints_of(statement.constraints, statement.columns, name)
    _check_constrained(name, constraints, (*((table.sd and table.sd.cols) or ()), *(table.partitionKeys or ())))
    if not any(constraints):
        client.create_table(table, statement.if_not_exists)
        return
    try:
        client.api.create_table_with_constraints(table, *constraints)
    except AlreadyExistsException:
        if not statement.if_not_exists:
            raise


def _create_first(client: Operations, forms: list[Table], if_not_exists: bool) -> None:
    """Creates a table in the first form that the server takes, as Spark does."""
    *others, last = forms
    for form in others:
        try:
            return client.create_table(form, if_not_exists)
        except (AlreadyExistsException, NoSuchObjectException, PermissionDenied):
            raise
        except MetastoreError:
            continue
    return client.create_table(last, if_not_exists)


def _check_constrained(name: TableName, constraints: Constraints, columns: tuple[FieldSchema, ...]) -> None:
    known = {each.name for each in columns}
    named = [
        *(each.column_name for each in constraints.primary_keys),
        *(each.column_name for each in constraints.unique),
        *(each.fkcolumn_name for each in constraints.foreign_keys),
    ]
    missing = [column for column in named if column not in known]
    if missing:
        raise InvalidOperationException(f"a constraint of {name} names {missing[0]}, which is not a column of it")


def _create_like(client: Operations, current: DatabaseName, statement: s.CreateTableLike) -> None:
    """A table with the columns and the format of another one; of its parameters, Hive copies none."""
    name, like = table_of(statement.name, current), table_of(statement.like, current)
    source = client.fresh_table(like)
    if kinds.is_view(source):
        raise InvalidOperationException(f"{like} is a view: CREATE TABLE LIKE needs a table")
    if has_path(source):
        raise InvalidOperationException(
            f"{like} is a table of Spark's, whose catalog has more than Hive's: run it by Spark: "
            "metastored.spark.sql(spark, statement)"
        )
    parameters = dict(statement.properties)
    if statement.external:
        parameters[kinds.EXTERNAL_PARAMETER] = "TRUE"
    table = Table(
        tableName=name.table,
        dbName=name.database,
        owner=client.user,
        ownerType=PrincipalType.USER if client.user is not None else None,
        createTime=0,
        lastAccessTime=0,
        retention=0,
        sd=replace(source.sd or StorageDescriptor(), location=statement.location),
        partitionKeys=source.partitionKeys,
        parameters=parameters,
        tableType=kinds.EXTERNAL if statement.external else kinds.MANAGED,
        catName=name.catalog_field,
    )
    client.create_table(table, statement.if_not_exists)


def _truncate(client: Operations, name: TableName, partition: Pairs) -> None:
    """The metastore empties the directories and sets the statistics to zero."""
    table = client.fresh_table(name)
    if kinds.is_view(table):
        raise InvalidOperationException(f"{name} is a view, which has no rows")
    if acid_of(table) is not None:
        raise InvalidOperationException(
            f'{name} is an ACID table: run it in a transaction, metastored.spark.sql(spark, "TRUNCATE TABLE {name}")'
        )
    if kinds.is_external_by_either(table) and not kinds.is_true(table, kinds.PURGE):
        raise InvalidOperationException(
            f"{name} is an external table, whose files are not the metastore's: TRUNCATE is for managed tables and "
            f"those with '{kinds.PURGE}' = 'true'"
        )
    names = None
    if partition:
        names = matching(client, name, table, tuple((key, "=", value) for key, value in partition))
        if not names:
            raise ObjectNotFound("partition", shown(name, partition))
    client.api.truncate_table(name.database_field, name.table, names)


def _alter_table(client: Operations, current: DatabaseName, name: TableName, action: s.Action) -> None:
    match action:
        case s.RenameTo(to):
            _rename(client, name, to)
        case s.AddColumns(_, cascade) | s.ChangeColumn(cascade=cascade):
            client.change_table(name, Changed(name, action), cascade)
        case s.AddPartitions() | s.DropPartitions() | s.AlterPartition() | s.ExchangePartition():
            alter_partitions(client, current, name, action)
        case s.Compact():
            request_compaction(client, name, client.fresh_table(name), action)
        case s.AddConstraint(constraint):
            _add_constraint(client, name, constraint)
        case s.DropConstraint(constraint_name):
            request = DropConstraintRequest(name.database, name.table, constraint_name, name.catalog_field)
            client.api.drop_constraint(request)
        case _:
            client.change_table(name, Changed(name, action))
    client.forget(name.database, name.table)


def _rename(client: Operations, name: TableName, to: tuple[str, ...]) -> None:
    target = name._replace(table=to[-1]) if len(to) == 1 else table_of(to, name.database_name)
    if target.catalog not in ("", name.catalog):
        raise InvalidOperationException(f"{name} cannot be renamed to {target}: a table stays in its catalog")
    table = client.fresh_table(name)
    directory = None
    if has_path(table) and table.tableType == kinds.MANAGED:
        location = (_database(client, target.database_name)).locationUri or ""
        directory = default_table_path(location, normalize(target.table))
    client.change_table(name, Changed(name, s.RenameTo((target.database, target.table)), directory))
    client.forget(target.database, target.table)


def _add_constraint(client: Operations, name: TableName, constraint: s.Constraint) -> None:
    table = client.fresh_table(name)
    rows = constraints_of((constraint,), (), name)
    _check_constrained(name, rows, (*((table.sd and table.sd.cols) or ()), *(table.partitionKeys or ())))
    if rows.primary_keys:
        client.api.add_primary_key(AddPrimaryKeyRequest(rows.primary_keys))
    elif rows.foreign_keys:
        client.api.add_foreign_key(AddForeignKeyRequest(rows.foreign_keys))
    elif rows.unique:
        client.api.add_unique_constraint(AddUniqueConstraintRequest(rows.unique))
    else:
        client.api.add_check_constraint(AddCheckConstraintRequest(rows.checks))


def _commented(table: Table, text: str | None) -> Table:
    parameters = {key: value for key, value in (table.parameters or {}).items() if key != "comment"}
    return replace(table, parameters=parameters if text is None else {**parameters, "comment": text})


# --- functions ------------------------------------------------------------------------------------------------


def _functions(client: Operations, current: DatabaseName, statement: s.CreateFunction | s.DropFunction) -> None:
    name = table_of(statement.name, current)
    if isinstance(statement, s.DropFunction):
        try:
            client.api.drop_function(name.database_field, name.table)
        except NoSuchObjectException:
            if not statement.if_exists:
                raise
        return
    function = Function(
        functionName=name.table,
        dbName=name.database,
        className=statement.class_name,
        ownerName=client.user,
        ownerType=PrincipalType.USER,
        createTime=int(time.time()),
        functionType=FunctionType.JAVA,
        resourceUris=tuple(ResourceUri(RESOURCES[kind], uri) for kind, uri in statement.resources),
        catName=name.catalog_field,
    )
    try:
        client.api.create_function(function)
    except AlreadyExistsException:
        if not statement.if_not_exists:
            raise

# Made by tools/unasync.py from _async/definitions.py: DO NOT EDIT.
"""Executes the statements that define and change objects, as calls of the metastore under the caller's own session.

A change of a table is made on the table as it is when the call arrives (`Client.change_table`): another client's change
is never undone. IF EXISTS and IF NOT EXISTS hold also where another client drops or makes the object meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from metastored.client.changed_tables import Changed, has_path, without
from metastored.client.constraints import Constraints, constraints_of
from metastored.client.new_tables import (
    check_named,
    check_query,
    fields_of,
    hive_table,
    is_for_spark,
    lower,
    source_of,
    spark_tables,
    view_table,
    with_storage,
)
from metastored.client.statements import Result, database_of, owner_type, table_of
from metastored.errors import (
    AlreadyExistsException,
    InvalidOperationException,
    MetastoreError,
    NoSuchObjectException,
    ObjectNotFound,
    PermissionDenied,
)
from metastored.hive.names import make_part_name, normalize
from metastored.hive.statements import definitions as s
from metastored.hive.statements.basics import Pairs
from metastored.model import kinds, makers
from metastored.model.acid import acid_of
from metastored.model.names import DatabaseName, TableName
from metastored.model.partitions import keys_of, values_of
from metastored.model.spark.creating import default_table_path
from metastored.wire.generated.catalogs import (
    AlterCatalogRequest,
    Catalog,
    CreateCatalogRequest,
    DropCatalogRequest,
    GetCatalogRequest,
)
from metastored.wire.generated.common import EnvironmentContext, FieldSchema, PrincipalType, StorageDescriptor, Table
from metastored.wire.generated.constraints import (
    AddCheckConstraintRequest,
    AddForeignKeyRequest,
    AddPrimaryKeyRequest,
    AddUniqueConstraintRequest,
    DropConstraintRequest,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function, FunctionType, ResourceType, ResourceUri
from metastored.wire.generated.partitions import DropPartitionsRequest, Partition, RequestPartsSpec
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from metastored.client._sync.client import Client

DONE: Final = Result()
RESOURCES: Final = {"JAR": ResourceType.JAR, "FILE": ResourceType.FILE, "ARCHIVE": ResourceType.ARCHIVE}


def execute_definition(client: Client, current: DatabaseName, statement: s.DefinitionStatement) -> Result:
    """Executes one statement. Raises what the metastore raises."""
    match statement:
        case s.CreateTable():
            _create_table(client, current, statement)
        case s.CreateTableLike():
            _create_like(client, current, statement)
        case s.AlterTable(name, action):
            _alter_table(client, current, table_of(name, current), action)
        case s.DropTable(name, if_exists, purge):
            _drop(client, table_of(name, current), if_exists, purge=purge, view=False)
        case s.TruncateTable(name, partition):
            _truncate(client, table_of(name, current), partition)
        case s.CreateView():
            _create_view(client, current, statement)
        case s.AlterView(name, action):
            _alter_view(client, current, table_of(name, current), action)
        case s.DropView(name, if_exists):
            _drop(client, table_of(name, current), if_exists, purge=False, view=True)
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


def _databases(client: Client, current: DatabaseName, statement: s.DefinitionStatement) -> None:
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
            found = (api.get_catalog(GetCatalogRequest(name))).catalog or Catalog(name)
            api.alter_catalog(AlterCatalogRequest(name, replace(found, locationUri=location)))
        case s.DropCatalog(name, if_exists):
            try:
                api.drop_catalog(DropCatalogRequest(name))
            except NoSuchObjectException:
                if not if_exists:
                    raise
        case _:
            raise AssertionError(statement)


def _database(client: Client, name: DatabaseName) -> Database:
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


def _create_table(client: Client, current: DatabaseName, statement: s.CreateTable) -> None:
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


def _create_first(client: Client, forms: list[Table], if_not_exists: bool) -> None:
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
        raise InvalidOperationException(f"a constraint of {name} names {missing[0]}, which is no column of it")


def _create_like(client: Client, current: DatabaseName, statement: s.CreateTableLike) -> None:
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


def _drop(client: Client, name: TableName, if_exists: bool, *, purge: bool, view: bool) -> None:
    try:
        table = client.fresh_table(name)
        if kinds.is_view(table) is not view:
            has, needs = ("a table", "DROP TABLE") if view else ("a view", "DROP VIEW")
            raise InvalidOperationException(f"{name} is {has}: use {needs}")
        client.drop_table(name, purge=purge)
    except NoSuchObjectException:
        if not if_exists:
            raise
    client.forget(name.database, name.table)


def _truncate(client: Client, name: TableName, partition: Pairs) -> None:
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
        names = _matching(client, name, table, tuple((key, "=", value) for key, value in partition))
        if not names:
            raise ObjectNotFound("partition", _shown(name, partition))
    client.api.truncate_table(name.database_field, name.table, names)


def _alter_table(client: Client, current: DatabaseName, name: TableName, action: s.Action) -> None:
    match action:
        case s.RenameTo(to):
            _rename(client, name, to)
        case s.AddColumns(_, cascade) | s.ChangeColumn(cascade=cascade):
            client.change_table(name, Changed(name, action), cascade)
        case s.AddPartitions() | s.DropPartitions() | s.AlterPartition():
            _alter_partitions(client, name, action)
        case s.AddConstraint(constraint):
            _add_constraint(client, name, constraint)
        case s.DropConstraint(constraint_name):
            request = DropConstraintRequest(name.database, name.table, constraint_name, name.catalog_field)
            client.api.drop_constraint(request)
        case _:
            client.change_table(name, Changed(name, action))
    client.forget(name.database, name.table)


def _rename(client: Client, name: TableName, to: tuple[str, ...]) -> None:
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


def _add_constraint(client: Client, name: TableName, constraint: s.Constraint) -> None:
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


# --- partitions -----------------------------------------------------------------------------------------------


def _alter_partitions(
    client: Client, name: TableName, action: s.AddPartitions | s.DropPartitions | s.AlterPartition
) -> None:
    table = client.fresh_table(name)
    full = str(name)
    if not table.partitionKeys:
        raise InvalidOperationException(f"{name} is not partitioned")
    match action:
        case s.AddPartitions(written, if_not_exists):
            made = [makers.partition(table, dict(values), location=location) for values, location in written]
            client.add_partitions(name, made, if_not_exists)
        case s.DropPartitions(filters, if_exists, purge):
            found: dict[str, None] = {}
            for comparisons in filters:
                names = _matching(client, name, table, comparisons)
                if not names and not if_exists:
                    raise ObjectNotFound("partition", f"{name} ({', '.join(' '.join(each) for each in comparisons)})")
                found |= dict.fromkeys(names)
            if found:
                _drop_partitions(client, name, tuple(found), if_exists, purge)
        case s.AlterPartition(values, change):
            old = values_of(full, keys_of(table), dict(values))
            if isinstance(change, tuple):
                new = values_of(full, keys_of(table), dict(change))
                partition = replace(client.partition(name, old), values=new)
                client.api.rename_partition(name.database_field, name.table, old, partition)
            else:
                client.partition(name, old)  # Raises ObjectNotFound.
                named = make_part_name(keys_of(table), old)
                client.change_partitions(name, (named,), lambda each: _changed_partition(each, change))


def _changed_partition(partition: Partition, change: s.SetLocation | s.SetStorage) -> Partition:
    if isinstance(change, s.SetLocation):
        return replace(partition, sd=replace(partition.sd or StorageDescriptor(), location=change.location))
    return replace(partition, sd=with_storage(Table(sd=partition.sd), change.storage).sd)


def _matching(
    client: Client, name: TableName, table: Table, comparisons: Iterable[tuple[str, str, str]]
) -> tuple[str, ...]:
    """The names of the partitions for which all comparisons hold."""
    keys = lower(keys_of(table))
    parts = []
    for key, operator, value in comparisons:
        if normalize(key) not in keys:
            raise InvalidOperationException(
                f"{name} has no partition key {key}; its partition keys are {', '.join(keys) or 'none'}"
            )
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        parts.append(f"`{normalize(key)}` {operator} '{escaped}'")
    return client.partition_names(name, " and ".join(parts))


def _drop_partitions(client: Client, name: TableName, names: tuple[str, ...], if_exists: bool, purge: bool) -> None:
    request = DropPartitionsRequest(
        name.database,
        name.table,
        RequestPartsSpec(names=names),
        deleteData=True,
        ifExists=if_exists,
        environmentContext=EnvironmentContext(properties={"ifPurge": "TRUE"}) if purge else None,
        needResult=False,
        catName=name.catalog_field,
    )
    client.api.drop_partitions_req(request)


def _shown(name: TableName, partition: Pairs) -> str:
    return f"{name} ({', '.join(f'{key}={value}' for key, value in partition)})"


# --- views ----------------------------------------------------------------------------------------------------


def _create_view(client: Client, current: DatabaseName, statement: s.CreateView) -> None:
    name = table_of(statement.name, current)
    view = _view(client, current, name, statement)
    if not statement.or_replace:
        client.create_table(view, statement.if_not_exists)
        return
    try:
        client.create_table(view)
    except AlreadyExistsException:
        client.change_table(name, lambda old: _replaced(name, old, view))


def _replaced(name: TableName, old: Table, view: Table) -> Table:
    if not kinds.is_view(old):
        raise InvalidOperationException(f"{name} is a table: CREATE OR REPLACE VIEW replaces only views")
    return replace(view, owner=old.owner, ownerType=old.ownerType, createTime=old.createTime)


def _alter_view(client: Client, current: DatabaseName, name: TableName, action: Any) -> None:
    table = client.fresh_table(name)
    if not kinds.is_view(table):
        raise InvalidOperationException(f"{name} is a table: use ALTER TABLE")
    if isinstance(action, str):
        statement = s.CreateView(name, action, comment=(table.parameters or {}).get("comment"))
        view = _view(client, current, name, statement)
        old = table.parameters or {}
        kept = {key: value for key, value in old.items() if not key.startswith(("view.", "spark."))}
        view = replace(view, parameters={**kept, **(view.parameters or {})})
        client.change_table(name, lambda old: _replaced(name, old, view))
    else:
        _alter_table(client, current, name, action)


def _view(client: Client, current: DatabaseName, name: TableName, statement: s.CreateView) -> Table:
    check_query(statement.query)
    columns, selected = _view_columns(client, current, name, statement)
    return view_table(statement, name, columns, selected, current.database, client.user)


def _view_columns(
    client: Client, current: DatabaseName, name: TableName, statement: s.CreateView
) -> tuple[tuple[FieldSchema, ...], tuple[str, ...]]:
    """The columns with their types, as written or as the table of a simple query has them; and the query's names."""
    written = statement.columns
    if written and all(each.type is not None for each in written):
        check_named(name, statement.query, written)
        return fields_of(written, str(name)), lower(each.name for each in written)
    source = source_of(statement.query)
    if source is None or len(source[0]) > 3:
        example = ", ".join(f"{each.name} STRING" for each in written) or "id BIGINT, name STRING"
        raise InvalidOperationException(
            f"the columns of {name} are not known without an engine: write them with their types, CREATE VIEW "
            f'{name} ({example}) AS …, or run it by Spark: metastored.spark.sql(spark, "CREATE VIEW …")'
        )
    table = client.fresh_table(table_of(source[0], current))
    known = {each.name or "": each for each in (*((table.sd and table.sd.cols) or ()), *(table.partitionKeys or ()))}
    chosen = source[1] if source[1] is not None else tuple((column, column) for column in known)
    missing = [column for column, _ in chosen if normalize(column) not in known]
    if missing:
        raise InvalidOperationException(f"{table_of(source[0], current)} has no column {missing[0]}")
    if written and len(written) != len(chosen):
        raise InvalidOperationException(f"{name} has {len(written)} columns, and its query has {len(chosen)}")
    found = [replace(known[normalize(column)], name=normalize(alias)) for column, alias in chosen]
    columns = tuple(
        replace(each, name=normalize(written[at].name), comment=written[at].comment) if written else each
        for at, each in enumerate(found)
    )
    return columns, tuple(each.name or "" for each in found)


# --- functions ------------------------------------------------------------------------------------------------


def _functions(client: Client, current: DatabaseName, statement: s.CreateFunction | s.DropFunction) -> None:
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

"""Writes objects of another metastore exactly as they are: times, owners and statistics too. Not part of the API.

The functions of the API set creation times, access directories and validate requests. An import must not: it has to
store each object unchanged. These functions add an object, or replace the one with its name, in one transaction with
its event, and never touch a directory. Partitions are in `restore_partitions.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metastored.errors import InvalidObjectException, MetaException, NoSuchObjectException
from metastored.model import normal
from metastored.model.column_statistics import column_of
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.context import Context
from metastored.service.databases.catalogs import insert_catalog
from metastored.service.security.privileges import OWN_AUTHORIZER, target_of
from metastored.service.statistics.data import row_of
from metastored.service.statistics.get import ENGINE
from metastored.service.tables.add_constraints import add_all
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import catalogs, column_statistics, databases, functions, tables
from metastored.store.objects import constraints as constraint_rows
from metastored.store.security import grants, role_grants, roles
from metastored.store.security.grants import Grant
from metastored.store.security.role_grants import RoleGrantRow
from metastored.wire.codec import binary
from metastored.wire.generated.catalogs import Catalog
from metastored.wire.generated.common import ColumnStatisticsObj, PrincipalType, PrivilegeGrantInfo, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function, FunctionType
from metastored.wire.generated.roles import HiveObjectPrivilege, Role, RolePrincipalGrant
from metastored.wire.structs import replace

# --- catalogs, databases, functions ---------------------------------------------------------------------------


def restore_catalog(ctx: Context, catalog: Catalog) -> None:
    """A new catalog gets its database `default`."""
    name = catalog.name or ""

    def write(tx: Transaction) -> None:
        row = catalogs.find(tx, name)
        if row is None:
            insert_catalog(ctx, tx, catalog)
            record(ctx, tx, "CREATE_CATALOG", None, None, [("catalog", binary.encode(catalog))])
            return
        before = rows.catalog_of(row)
        catalogs.update(tx, row.id, rows.catalog_body(catalog))
        objects = [("before", binary.encode(before)), ("after", binary.encode(catalog))]
        record(ctx, tx, "ALTER_CATALOG", None, None, objects)

    ctx.database.run(write)


def restore_database(ctx: Context, where: DatabaseName, database: Database) -> None:
    after = replace(
        database,
        name=where.database,
        catalogName=where.catalog,
        parameters=database.parameters or {},
        ownerType=database.ownerType if database.ownerType is not None else PrincipalType.USER,
    )

    def write(tx: Transaction) -> None:
        row = databases.find(tx, *where)
        if row is None:
            catalog = catalogs.find(tx, where.catalog)
            if catalog is None:
                raise InvalidObjectException(f"there is no catalog {where.catalog} for database {where.database}")
            databases.insert(tx, catalog.id, where.database, rows.database_body(after))
            record(ctx, tx, "CREATE_DATABASE", where, None, [("database", binary.encode(after))])
            return
        databases.lock(tx, row.id, exclusive=True)
        before = rows.database_of(row, where.catalog)
        databases.update(tx, row.id, rows.database_body(after))
        objects = [("before", binary.encode(before)), ("after", binary.encode(after))]
        record(ctx, tx, "ALTER_DATABASE", where, None, objects)

    ctx.database.run(write)


def restore_function(ctx: Context, where: DatabaseName, function: Function) -> None:
    name = function.functionName or ""
    after = replace(
        function,
        dbName=where.database,
        catName=where.catalog,
        ownerType=function.ownerType if function.ownerType is not None else PrincipalType.USER,
        functionType=function.functionType if function.functionType is not None else FunctionType.JAVA,
        resourceUris=function.resourceUris or (),
    )

    def write(tx: Transaction) -> None:
        database = databases.find(tx, *where)
        if database is None:
            raise ctx.no_database(where)
        databases.lock(tx, database.id)
        row = functions.find(tx, *where, name)
        if row is not None:
            # Hive has no event for a changed function.
            functions.update(tx, row.id, database.id, name, rows.function_body(after))
            return
        functions.insert(tx, database.id, name, rows.function_body(after))
        record(ctx, tx, "CREATE_FUNCTION", where, None, [("function", binary.encode(after))])

    ctx.database.run(write)


# --- tables -----------------------------------------------------------------------------------------------------


def restore_table(
    ctx: Context,
    where: DatabaseName,
    table: Table,
    statistics: Sequence[ColumnStatisticsObj] = (),
    forgotten: Sequence[str] = (),
) -> None:
    """A table or view. Statistics of columns that are not passed stay, unless they are to be deleted."""
    name = table.tableName or ""
    if table.sd is None:
        raise MetaException(f"table {where.database}.{name} has no storage descriptor")
    qualified = replace(table, tableName=name, dbName=where.database, catName=where.catalog)
    # Its type is copied from the source; otherwise it would be derived from the parameters.
    after = replace(
        normal.stored(qualified, ctx.rules.external_in_any_case),
        tableName=name,
        tableType=table.tableType,
        catName=where.catalog,
    )
    columns = rows.table_columns(after)._asdict()

    def write(tx: Transaction) -> None:
        database = databases.find(tx, *where)
        if database is None:
            raise ctx.no_database(where)
        databases.lock(tx, database.id)
        row = tables.find(tx, *where, name)
        if row is None:
            table_id = tables.insert(tx, database.id, name, **columns)
            event, objects = "CREATE_TABLE", [("table", binary.encode(after))]
        else:
            table_id = row.id
            tables.lock(tx, table_id)
            before = rows.table_of(row, *where)
            tables.update(tx, table_id, **columns)
            event, objects = "ALTER_TABLE", [("before", binary.encode(before)), ("after", binary.encode(after))]
        if forgotten:
            column_statistics.delete(tx, table_id, columns=forgotten, engine=ENGINE)
        if statistics:
            new = [row_of(table_id, column_of(one), ENGINE, ctx.now()) for one in statistics]
            column_statistics.write_of_table(tx, new)
        record(ctx, tx, event, where, name, objects)

    ctx.database.run(write)


def restore_constraints(
    ctx: Context,
    where: DatabaseName,
    table: str,
    constraints_by_kind: Mapping[str, Sequence[Any]],
    dropped: Iterable[str] = (),
) -> None:
    """Constraints of a table by their kinds; the constraints named in `dropped` are dropped first."""

    def write(tx: Transaction) -> None:
        row = tables.find(tx, *where, table)
        if row is None:
            raise ctx.no_table(where, table)
        for name in dropped:
            if constraint_rows.delete(tx, row.id, name):
                record(ctx, tx, "DROP_CONSTRAINT", where, table, [("constraint", name.encode())])
        add_all(ctx, tx, constraints_by_kind, NoSuchObjectException)

    ctx.database.run(write)


# --- roles and privileges -----------------------------------------------------------------------------------------


def restore_role(ctx: Context, role: Role) -> None:
    """An unknown owner or creation time of a role is as for a new one."""

    def write(tx: Transaction) -> None:
        name, created = role.roleName or "", role.createTime
        row = roles.find(tx, name)
        if row is None:
            roles.insert(tx, name, role.ownerName, ctx.now() if created is None else created)
        elif created is not None:
            roles.update(tx, name, role.ownerName, created)

    ctx.database.run(write)


def restore_member(ctx: Context, member: RolePrincipalGrant) -> None:
    """The members of a role; how, when and by whom it was granted."""
    role, principal, kind = member.roleName or "", member.principalName or "", member.principalType or 0

    def write(tx: Transaction) -> None:
        role_grants.lock(tx)
        role_grants.delete(tx, role, principal, kind)
        role_grants.insert(
            tx,
            RoleGrantRow(
                role,
                principal,
                kind,
                bool(member.grantOption),
                member.grantTime or 0,
                member.grantorName,
                member.grantorPrincipalType,
            ),
        )

    ctx.database.run(write)


def restore_grants(ctx: Context, privileges: Sequence[HiveObjectPrivilege]) -> list[HiveObjectPrivilege]:
    """Writes privileges in one transaction; returns those whose object does not exist."""

    def write(tx: Transaction) -> list[HiveObjectPrivilege]:
        role_grants.lock(tx)
        return [item for item in privileges if not _restore_grant(ctx, tx, item)]

    return ctx.database.run(write)


def _restore_grant(ctx: Context, tx: Transaction, item: HiveObjectPrivilege) -> bool:
    on = target_of(ctx, tx, item.hiveObject).on
    if on is None:
        return False
    info = item.grantInfo or PrivilegeGrantInfo()
    principal, kind = item.principalName or "", item.principalType or 0
    for row in grants.on(tx, on, principal, kind):
        same = (row.grant.privilege, row.grant.grantor) == (info.privilege, info.grantor)
        if same and row.column == (item.hiveObject and item.hiveObject.columnName):
            grants.delete(tx, row.id)
    grant = Grant(
        principal,
        kind,
        info.privilege or "",
        bool(info.grantOption),
        info.createTime or 0,
        info.grantor,
        info.grantorType,
        item.authorizer or OWN_AUTHORIZER,
    )
    grants.insert(tx, on, grant)
    return True

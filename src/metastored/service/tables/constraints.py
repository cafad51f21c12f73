"""Constraints: primary and foreign keys, unique, not null, default, check.

Hive stores them and enforces none. This module gets and drops them; `add_constraints.py` adds them. Where Hive throws
an exception that a call does not declare, which clients get as an internal error, a declared exception has the same
text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from metastored.errors import NoSuchObjectException
from metastored.hive.constraints import CHECK, DEFAULT, FOREIGN, KINDS, NOT_NULL, PRIMARY, UNIQUE
from metastored.hive.names import normalize
from metastored.service.core.changes import record
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.service.tables.get import required_table_name
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import constraints as store
from metastored.store.objects import tables
from metastored.store.objects.constraints import ConstraintRow
from metastored.wire.generated.common import (
    SQLCheckConstraint,
    SQLDefaultConstraint,
    SQLForeignKey,
    SQLNotNullConstraint,
    SQLPrimaryKey,
    SQLUniqueConstraint,
    Table,
)
from metastored.wire.generated.constraints import (
    AllTableConstraintsRequest,
    AllTableConstraintsResponse,
    CheckConstraintsRequest,
    CheckConstraintsResponse,
    DefaultConstraintsRequest,
    DefaultConstraintsResponse,
    DropConstraintRequest,
    ForeignKeysRequest,
    ForeignKeysResponse,
    NotNullConstraintsRequest,
    NotNullConstraintsResponse,
    PrimaryKeysRequest,
    PrimaryKeysResponse,
    SQLAllTableConstraints,
    UniqueConstraintsRequest,
    UniqueConstraintsResponse,
)

# --- getting ------------------------------------------------------------------------------------------------


@method
def get_primary_keys(ctx: Context, request: PrimaryKeysRequest) -> PrimaryKeysResponse:
    constraint_rows = _of(ctx, request.catName, request.db_name, request.tbl_name, PRIMARY)
    return PrimaryKeysResponse(primaryKeys=tuple(map(_primary_key, constraint_rows)))


@method
def get_unique_constraints(ctx: Context, request: UniqueConstraintsRequest) -> UniqueConstraintsResponse:
    constraint_rows = _of(ctx, request.catName, request.db_name, request.tbl_name, UNIQUE)
    return UniqueConstraintsResponse(uniqueConstraints=tuple(map(_unique, constraint_rows)))


@method
def get_not_null_constraints(ctx: Context, request: NotNullConstraintsRequest) -> NotNullConstraintsResponse:
    constraint_rows = _of(ctx, request.catName, request.db_name, request.tbl_name, NOT_NULL)
    return NotNullConstraintsResponse(notNullConstraints=tuple(map(_not_null, constraint_rows)))


@method
def get_default_constraints(ctx: Context, request: DefaultConstraintsRequest) -> DefaultConstraintsResponse:
    constraint_rows = _of(ctx, request.catName, request.db_name, request.tbl_name, DEFAULT)
    return DefaultConstraintsResponse(defaultConstraints=tuple(map(_default, constraint_rows)))


@method
def get_check_constraints(ctx: Context, request: CheckConstraintsRequest) -> CheckConstraintsResponse:
    constraint_rows = _of(ctx, request.catName, request.db_name, request.tbl_name, CHECK)
    return CheckConstraintsResponse(checkConstraints=tuple(map(_check, constraint_rows)))


@method
def get_foreign_keys(ctx: Context, request: ForeignKeysRequest) -> ForeignKeysResponse:
    """By the table of the foreign key, the table it refers to, or both."""
    names = {
        "parent_database": request.parent_db_name,
        "parent_table": request.parent_tbl_name,
        "database": request.foreign_db_name,
        "table": request.foreign_tbl_name,
    }
    catalog = ctx.pattern(request.foreign_db_name or request.parent_db_name, request.catName)[0]
    names_given = {
        key: normalize(ctx.pattern(name)[1] or "") if name is not None else None for key, name in names.items()
    }
    with ctx.reading() as tx:
        return ForeignKeysResponse(foreignKeys=_foreign_keys(tx, store.referring(tx, FOREIGN, catalog, **names_given)))


@method
def get_all_table_constraints(ctx: Context, request: AllTableConstraintsRequest) -> AllTableConstraintsResponse:
    where, name = ctx.name(request.dbName, request.catName), required_table_name(request.tblName)
    with ctx.reading() as tx:
        row = tables.find(tx, *where, name)
        constraint_rows = store.of_table(tx, row.id, *KINDS) if row is not None else []
        foreign = _foreign_keys(tx, [one for one in constraint_rows if one.kind == FOREIGN])

    def shown(kind: str, make: Callable[[ConstraintRow], Any]) -> tuple[Any, ...]:
        return tuple(make(one) for one in constraint_rows if one.kind == kind)

    everything = SQLAllTableConstraints(
        primaryKeys=shown(PRIMARY, _primary_key),
        foreignKeys=foreign,
        uniqueConstraints=shown(UNIQUE, _unique),
        notNullConstraints=shown(NOT_NULL, _not_null),
        defaultConstraints=shown(DEFAULT, _default),
        checkConstraints=shown(CHECK, _check),
    )
    return AllTableConstraintsResponse(allTableConstraints=everything)


def _of(ctx: Context, cat: str | None, db: str | None, table: str | None, kind: str) -> list[ConstraintRow]:
    """None for a table that does not exist: Hive does not check it."""
    where, name = ctx.name(db, cat), required_table_name(table)
    with ctx.reading() as tx:
        row = tables.find(tx, *where, name)
        return store.of_table(tx, row.id, kind) if row is not None else []


def _flags(row: ConstraintRow) -> tuple[bool, bool, bool]:
    return bool(row.flags & 4), bool(row.flags & 2), bool(row.flags & 1)


def _primary_key(row: ConstraintRow) -> SQLPrimaryKey:
    return SQLPrimaryKey(
        row.database, row.table, row.column_name, row.position, row.name, *_flags(row), catName=row.catalog
    )


def _unique(row: ConstraintRow) -> SQLUniqueConstraint:
    column_key = (row.catalog, row.database, row.table, row.column_name)
    return SQLUniqueConstraint(*column_key, row.position, row.name, *_flags(row))


def _not_null(row: ConstraintRow) -> SQLNotNullConstraint:
    return SQLNotNullConstraint(row.catalog, row.database, row.table, row.column_name, row.name, *_flags(row))


def _default(row: ConstraintRow) -> SQLDefaultConstraint:
    column_key = (row.catalog, row.database, row.table, row.column_name)
    return SQLDefaultConstraint(*column_key, row.value, row.name, *_flags(row))


def _check(row: ConstraintRow) -> SQLCheckConstraint:
    column_key = (row.catalog, row.database, row.table, row.column_name)
    return SQLCheckConstraint(*column_key, row.value, row.name, *_flags(row))


def _foreign_keys(tx: Transaction, constraint_rows: Sequence[ConstraintRow]) -> tuple[SQLForeignKey, ...]:
    """Adds the names of the keys that foreign keys refer to."""
    keys: dict[tuple[int | None, str | None], str] = {}
    for parent in dict.fromkeys(row.parent_id for row in constraint_rows):
        # The primary key comes first where a column is also in a unique one.
        for kind in (PRIMARY, UNIQUE):
            for key in store.of_table(tx, parent or 0, kind):
                keys.setdefault((parent, key.column_name), key.name)
    return tuple(_foreign_key(row, keys.get((row.parent_id, row.parent_column))) for row in constraint_rows)


def _foreign_key(row: ConstraintRow, key: str | None) -> SQLForeignKey:
    enable, validate, rely = _flags(row)
    return SQLForeignKey(
        pktable_db=row.parent_database,
        pktable_name=row.parent_table,
        pkcolumn_name=row.parent_column,
        fktable_db=row.database,
        fktable_name=row.table,
        fkcolumn_name=row.column_name,
        key_seq=row.position,
        update_rule=row.update_rule,
        delete_rule=row.delete_rule,
        fk_name=row.name,
        pk_name=key,
        enable_cstr=enable,
        validate_cstr=validate,
        rely_cstr=rely,
        catName=row.catalog,
    )


# --- dropping -----------------------------------------------------------------------------------------------


@method
def drop_constraint(ctx: Context, req: DropConstraintRequest) -> None:
    where, name = ctx.name(req.dbname, req.catName), required_table_name(req.tablename)
    constraint_name = normalize(req.constraintname or "")

    def drop(tx: Transaction) -> None:
        row = tables.find(tx, *where, name)
        if row is None or not store.delete(tx, row.id, constraint_name):
            raise NoSuchObjectException(
                f"The constraint: {req.constraintname} does not exist for the associated table: {where.database}.{name}"
            )
        record(ctx, tx, "DROP_CONSTRAINT", where, name, [("constraint", constraint_name.encode())])

    ctx.database.run(drop)


def follow_columns(tx: Transaction, table_id: int, before: Table, after: Table) -> None:
    """Updates the constraints of an altered table: they follow a renamed column and are dropped with a dropped one.

    A column counts as renamed when another name is in its position, with the same type, and the old name is gone.
    """
    old = (before.sd.cols if before.sd is not None else None) or ()
    new = (after.sd.cols if after.sd is not None else None) or ()
    kept = {field.name for field in new}
    known = {field.name for field in old}
    gone: list[str] = []
    for position, field in enumerate(old):
        if field.name in kept:
            continue
        there = new[position] if position < len(new) and len(new) >= len(old) else None
        if there is not None and there.type == field.type and there.name not in known:
            store.rename_column(tx, table_id, field.name or "", there.name or "")
        else:
            gone.append(field.name or "")
    if gone:
        store.delete_on_columns(tx, table_id, gone)

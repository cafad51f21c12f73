"""The rows of constraints, one for each column of each. Constraints are not checked here.

The parent of a foreign key is the table it refers to; every other constraint has none. A constraint is deleted with
either of its tables.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound, in_list
from metastored.store.engine.transaction import Transaction


class NewConstraint(NamedTuple):
    """A row to be added."""

    kind: str
    name: str
    position: int
    table_id: int
    column_name: str | None
    flags: int
    parent_id: int | None = None
    parent_column: str | None = None
    update_rule: int | None = None
    delete_rule: int | None = None
    value: str | None = None


class ConstraintRow(NamedTuple):
    """A row, with the names of its tables."""

    kind: str
    name: str
    position: int
    catalog: str
    database: str
    table: str
    column_name: str | None
    flags: int
    update_rule: int | None
    delete_rule: int | None
    value: str | None
    parent_id: int | None
    parent_database: str | None
    parent_table: str | None
    parent_column: str | None


_c = schema.constraints.c
_t, _d, _k = schema.tables.c, schema.databases.c, schema.catalogs.c
_parent_tables = schema.tables.alias("parent_tables")
_parent_databases = schema.databases.alias("parent_databases")
_SOURCE = (
    schema.constraints.join(schema.tables, _c.table_id == _t.id)
    .join(schema.databases, _t.db_id == _d.id)
    .join(schema.catalogs, _d.cat_id == _k.id)
    .outerjoin(_parent_tables, _c.parent_id == _parent_tables.c.id)
    .outerjoin(_parent_databases, _parent_tables.c.db_id == _parent_databases.c.id)
)
_ROWS = (
    sa.select(
        *(_c.kind, _c.name, _c.position, _k.name, _d.name, _t.name, _c.column_name, _c.flags),
        *(_c.update_rule, _c.delete_rule, _c.value),
        *(_c.parent_id, _parent_databases.c.name, _parent_tables.c.name, _c.parent_column),
    )
    .select_from(_SOURCE)
    .order_by(_c.id)
)
_OF_TABLE = _c.table_id == sa.bindparam("table_id")
_FIND = Statement(_ROWS.where(_OF_TABLE, in_list(_c.kind, "kinds")))
_NUMBER = sa.select(sa.func.count()).select_from(schema.constraints).where(_c.name == sa.bindparam("name"))
_TAKEN = Statement(_NUMBER)
_TAKEN_IN_TABLE = Statement(_NUMBER.where(_OF_TABLE))
_INSERT = Statement(
    sa.insert(schema.constraints).values(bound(*NewConstraint._fields)).inline(), positions=NewConstraint._fields
)
_DELETE = Statement(
    sa.delete(schema.constraints).where(
        sa.or_(_OF_TABLE, _c.parent_id == sa.bindparam("table_id")), _c.name == sa.bindparam("name")
    )
)
_ON_COLUMNS = sa.select(_c.table_id, _c.name).where(
    sa.or_(
        sa.and_(_OF_TABLE, in_list(_c.column_name, "columns")),
        sa.and_(_c.parent_id == sa.bindparam("table_id"), in_list(_c.parent_column, "columns")),
    )
)
_DELETE_ON_COLUMNS = Statement(sa.delete(schema.constraints).where(sa.tuple_(_c.table_id, _c.name).in_(_ON_COLUMNS)))
_RENAME = Statement(
    sa.update(schema.constraints)
    .values(column_name=sa.bindparam("new"))
    .where(_OF_TABLE, _c.column_name == sa.bindparam("old"))
)
_RENAME_PARENT = Statement(
    sa.update(schema.constraints)
    .values(parent_column=sa.bindparam("new"))
    .where(_c.parent_id == sa.bindparam("table_id"), _c.parent_column == sa.bindparam("old"))
)


def of_table(tx: Transaction, table_id: int, *kinds: str) -> list[ConstraintRow]:
    """The constraints of these kinds on a table, in the order they were added."""
    return list(map(ConstraintRow._make, tx.all(_FIND, table_id=table_id, kinds=tx.list(kinds))))


_FILTERS = {
    "parent_database": _parent_databases.c.name,
    "parent_table": _parent_tables.c.name,
    "database": _d.name,
    "table": _t.name,
}


@lru_cache
def _foreign_keys(kind: str, filters: tuple[str, ...]) -> Statement:
    conditions = [_FILTERS[name] == sa.bindparam(name) for name in filters]
    this_kind = _c.kind == sa.bindparam("kind")
    return Statement(_ROWS.where(this_kind, _k.name == sa.bindparam("catalog"), *conditions))


def referring(tx: Transaction, kind: str, catalog: str, **names: str | None) -> list[ConstraintRow]:
    """Constraints of one kind by the names of their tables and parents; a name that is None matches any."""
    parameters = {key: name for key, name in names.items() if name is not None}
    result = tx.all(_foreign_keys(kind, tuple(sorted(parameters))), kind=kind, catalog=catalog, **parameters)
    return list(map(ConstraintRow._make, result))


def is_taken(tx: Transaction, name: str, table_id: int | None = None) -> bool:
    """Whether a table has a constraint of this name; without a table, whether any table has."""
    if table_id is None:
        return tx.one(_TAKEN, name=name) != (0,)
    return tx.one(_TAKEN_IN_TABLE, name=name, table_id=table_id) != (0,)


def insert_many(tx: Transaction, rows: Sequence[NewConstraint]) -> None:
    tx.many(_INSERT, rows)


def delete(tx: Transaction, table_id: int, name: str) -> int:
    """Deletes a constraint on a table, or one that refers to it; returns how many rows it had."""
    return tx.run(_DELETE, table_id=table_id, name=name)


def delete_on_columns(tx: Transaction, table_id: int, columns: Sequence[str]) -> int:
    """Delete every constraint that has one of these columns of a table."""
    return tx.run(_DELETE_ON_COLUMNS, table_id=table_id, columns=tx.list(columns))


def rename_column(tx: Transaction, table_id: int, old: str, new: str) -> None:
    """Updates constraints after a column of a table was renamed."""
    tx.run(_RENAME, table_id=table_id, old=old, new=new)
    tx.run(_RENAME_PARENT, table_id=table_id, old=old, new=new)

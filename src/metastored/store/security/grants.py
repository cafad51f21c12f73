"""Privileges granted on objects: their rows. The meaning of a privilege is not known here.

A row refers to its object by id, so it stays when the object is renamed and is deleted when the object is dropped. The
numbers of object and principal types are those of Hive's HiveObjectType and PrincipalType.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound, in_list
from metastored.store.engine.transaction import Transaction

GLOBAL, DATABASE, TABLE, PARTITION, COLUMN, DATACONNECTOR = range(1, 7)


class On(NamedTuple):
    """The object of a grant: the ids that apply to its type, the others None."""

    object_type: int
    db_id: int | None = None
    table_id: int | None = None
    partition_id: int | None = None
    column_name: str | None = None
    connector: str | None = None


class Grant(NamedTuple):
    """One privilege of one principal."""

    principal: str
    principal_type: int
    privilege: str
    grant_option: bool
    create_time: int
    grantor: str | None = None
    grantor_type: int | None = None
    authorizer: str | None = None


class GrantRow(NamedTuple):
    """A grant with the present names of its object."""

    id: int
    object_type: int
    cat: str | None
    db: str | None
    table: str | None
    partition: str | None
    column: str | None
    connector: str | None
    grant: Grant


_g, _c, _d, _t, _p = (
    schema.grants.c,
    schema.catalogs.c,
    schema.databases.c,
    schema.tables.c,
    schema.partitions.c,
)
_GRANT = [
    *(_g.principal, _g.principal_type, _g.privilege, _g.grant_option, _g.create_time),
    *(_g.grantor, _g.grantor_type, _g.authorizer),
]
_NAMED = (
    sa.select(_g.id, _g.object_type, _c.name, _d.name, _t.name, _p.name, _g.column_name, _g.connector, *_GRANT)
    .select_from(
        schema.grants.outerjoin(schema.tables, _t.id == _g.table_id)
        .outerjoin(schema.partitions, _p.id == _g.partition_id)
        .outerjoin(schema.databases, _d.id == sa.func.coalesce(_g.db_id, _t.db_id))
        .outerjoin(schema.catalogs, _c.id == _d.cat_id)
    )
    .order_by(_g.id)
)
_PRINCIPAL = sa.and_(_g.principal == sa.bindparam("principal"), _g.principal_type == sa.bindparam("principal_type"))
_TYPE = _g.object_type == sa.bindparam("object_type")
_SHALLOW = sa.and_(_TYPE, _g.partition_id.is_(None), _g.column_name.is_(None))

_ON: dict[int, Any] = {
    GLOBAL: _TYPE,
    DATABASE: sa.and_(_g.db_id == sa.bindparam("db_id"), _TYPE),
    TABLE: sa.and_(_g.table_id == sa.bindparam("table_id"), _SHALLOW),
    PARTITION: sa.and_(_g.partition_id == sa.bindparam("partition_id"), _TYPE),
    DATACONNECTOR: sa.and_(_TYPE, _g.connector == sa.bindparam("connector")),
}
_KEYS = {
    GLOBAL: (),
    DATABASE: ("db_id",),
    TABLE: ("table_id",),
    PARTITION: ("partition_id",),
    DATACONNECTOR: ("connector",),
}
_COLUMN_OF_TABLE = sa.and_(_g.table_id == sa.bindparam("table_id"), _g.partition_id.is_(None), _TYPE)
_COLUMN_OF_PARTITION = sa.and_(_g.partition_id == sa.bindparam("partition_id"), _TYPE)
_COLUMN_NAME = _g.column_name == sa.bindparam("column_name")


class _Reading(NamedTuple):
    """The statements for the grants on one kind of object: of all principals, and of one principal."""

    all: Statement
    of_principal: Statement
    keys: tuple[str, ...]


def _reading(condition: Any, keys: tuple[str, ...]) -> _Reading:
    return _Reading(Statement(_NAMED.where(condition)), Statement(_NAMED.where(condition, _PRINCIPAL)), keys)


_READ = {kind: _reading(condition, _KEYS[kind]) for kind, condition in _ON.items()}
_READ_COLUMN = {
    (False, False): _reading(_COLUMN_OF_TABLE, ("table_id",)),
    (False, True): _reading(sa.and_(_COLUMN_OF_TABLE, _COLUMN_NAME), ("table_id", "column_name")),
    (True, False): _reading(_COLUMN_OF_PARTITION, ("partition_id",)),
    (True, True): _reading(sa.and_(_COLUMN_OF_PARTITION, _COLUMN_NAME), ("partition_id", "column_name")),
}
"""By whether a partition, and whether a column, is named."""

_ALL = Statement(_NAMED)
_OF_PRINCIPAL = Statement(_NAMED.where(_PRINCIPAL))
_INSERT = Statement(sa.insert(schema.grants).values(bound(*On._fields, *Grant._fields)))
_COPY = Statement(
    sa.insert(schema.grants).from_select(
        ["object_type", "table_id", "partition_id", "column_name", *Grant._fields],
        sa.select(
            sa.case(
                (_g.object_type == sa.literal_column(str(TABLE)), sa.literal_column(str(PARTITION))),
                else_=_g.object_type,
            ),
            _g.table_id,
            _p.id,
            _g.column_name,
            *(sa.cast(sa.bindparam("now"), sa.BigInteger) if one is _g.create_time else one for one in _GRANT),
        )
        .where(
            _g.table_id == sa.bindparam("table_id"),
            _g.partition_id.is_(None),
            _p.table_id == _g.table_id,
            in_list(_p.name, "names"),
        )
        .order_by(_p.name, _g.id),
    )
)
_END_GRANT_OPTION = Statement(
    sa.update(schema.grants).values(grant_option=sa.false()).where(_g.id == sa.bindparam("id"))
)
_DELETE = Statement(sa.delete(schema.grants).where(_g.id == sa.bindparam("id")))
_DELETE_PRINCIPAL = Statement(sa.delete(schema.grants).where(_PRINCIPAL))
_DELETE_CONNECTOR = Statement(sa.delete(schema.grants).where(_g.connector == sa.bindparam("connector")))


def _row(row: tuple[Any, ...]) -> GrantRow:
    grant = Grant._make(row[8:])
    # SQLite has no boolean type.
    return GrantRow._make((*row[:8], grant._replace(grant_option=bool(grant.grant_option))))


def on(tx: Transaction, what: On, principal: str | None = None, principal_type: int = 0) -> list[GrantRow]:
    """The grants on exactly this object, oldest first: of all principals, or of one.

    Of columns, the grants on all columns when none is named.
    """
    if what.object_type == COLUMN:
        reading = _READ_COLUMN[what.partition_id is not None, what.column_name is not None]
    else:
        reading = _READ[what.object_type]
    values: dict[str, Any] = {name: getattr(what, name) for name in ("object_type", *reading.keys)}
    if principal is None:
        return [_row(row) for row in tx.all(reading.all, **values)]
    result = tx.all(reading.of_principal, **values, principal=principal, principal_type=principal_type)
    return [_row(row) for row in result]


def of_principal(tx: Transaction, principal: str | None, principal_type: int) -> list[GrantRow]:
    """All direct grants of a principal, oldest first; of all principals, when none is named."""
    if principal is None:
        return [_row(row) for row in tx.all(_ALL)]
    return [_row(row) for row in tx.all(_OF_PRINCIPAL, principal=principal, principal_type=principal_type)]


def insert(tx: Transaction, what: On, grant: Grant) -> None:
    tx.run(_INSERT, **what._asdict(), **grant._asdict())


def copy_to_partitions(tx: Transaction, table_id: int, names: Sequence[str], now: int) -> None:
    """Copies the present grants on a table and its columns to partitions."""
    tx.run(_COPY, table_id=table_id, names=tx.list(names), now=now)


def end_grant_option(tx: Transaction, id: int) -> None:
    """Removes the grant option; the principal keeps the privilege."""
    tx.run(_END_GRANT_OPTION, id=id)


def delete(tx: Transaction, id: int) -> None:
    tx.run(_DELETE, id=id)


def delete_principal(tx: Transaction, principal: str, principal_type: int) -> None:
    """Revokes all privileges of a principal."""
    tx.run(_DELETE_PRINCIPAL, principal=principal, principal_type=principal_type)


def delete_connector(tx: Transaction, connector: str) -> None:
    """Deletes the grants on a connector, which is identified by its name alone."""
    tx.run(_DELETE_CONNECTOR, connector=connector)

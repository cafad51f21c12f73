"""Privileges granted on objects: their rows. The meaning of a privilege is not known here.

A row refers to its object by id, so it stays when the object is renamed and is deleted when the object is dropped. The
numbers of object and principal types are those of Hive's HiveObjectType and PrincipalType.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from metastored.store.engine.statements import Statement, column_list, insert_into
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


_SELECT = f"""
    SELECT g.id, g.object_type, c.name, d.name, t.name, p.name, g.column_name, g.connector,
        {column_list(*Grant._fields, of="g")}
    FROM grants g
    LEFT JOIN tables t ON t.id = g.table_id
    LEFT JOIN partitions p ON p.id = g.partition_id
    LEFT JOIN databases d ON d.id = coalesce(g.db_id, t.db_id)
    LEFT JOIN catalogs c ON c.id = d.cat_id
"""
"""Grants with the present names of their objects. The conditions follow, and the order by `g.id`."""
_TYPE = "g.object_type = :object_type"

_ON = {
    GLOBAL: _TYPE,
    DATABASE: f"g.db_id = :db_id AND {_TYPE}",
    TABLE: f"g.table_id = :table_id AND {_TYPE} AND g.partition_id IS NULL AND g.column_name IS NULL",
    PARTITION: f"g.partition_id = :partition_id AND {_TYPE}",
    DATACONNECTOR: f"{_TYPE} AND g.connector = :connector",
}
_KEYS = {
    GLOBAL: (),
    DATABASE: ("db_id",),
    TABLE: ("table_id",),
    PARTITION: ("partition_id",),
    DATACONNECTOR: ("connector",),
}
_COLUMN_OF_TABLE = f"g.table_id = :table_id AND g.partition_id IS NULL AND {_TYPE}"
_COLUMN_OF_PARTITION = f"g.partition_id = :partition_id AND {_TYPE}"
_COLUMN_NAME = "g.column_name = :column_name"


class _Reading(NamedTuple):
    """The statements for the grants on one kind of object: of all principals, and of one principal."""

    all: Statement
    of_principal: Statement
    keys: tuple[str, ...]


def _reading(condition: str, keys: tuple[str, ...]) -> _Reading:
    of_principal = f"{condition} AND g.principal = :principal AND g.principal_type = :principal_type"
    return _Reading(
        Statement(f"{_SELECT} WHERE {condition} ORDER BY g.id"),
        Statement(f"{_SELECT} WHERE {of_principal} ORDER BY g.id"),
        keys,
    )


_READ = {kind: _reading(condition, _KEYS[kind]) for kind, condition in _ON.items()}
_READ_COLUMN = {
    (False, False): _reading(_COLUMN_OF_TABLE, ("table_id",)),
    (False, True): _reading(f"{_COLUMN_OF_TABLE} AND {_COLUMN_NAME}", ("table_id", "column_name")),
    (True, False): _reading(_COLUMN_OF_PARTITION, ("partition_id",)),
    (True, True): _reading(f"{_COLUMN_OF_PARTITION} AND {_COLUMN_NAME}", ("partition_id", "column_name")),
}
"""By whether a partition, and whether a column, is named."""

_ALL = Statement(f"{_SELECT} ORDER BY g.id")
_OF_PRINCIPAL = Statement(
    f"{_SELECT} WHERE g.principal = :principal AND g.principal_type = :principal_type ORDER BY g.id"
)
_INSERT = Statement(insert_into("grants", *On._fields, *Grant._fields))
_COPY = Statement(
    f"""
    INSERT INTO grants (object_type, table_id, partition_id, column_name, create_time,
        principal, principal_type, privilege, grant_option, grantor, grantor_type, authorizer)
    SELECT CASE WHEN g.object_type = {TABLE} THEN {PARTITION} ELSE g.object_type END,
        g.table_id, p.id, g.column_name, CAST(:now AS BIGINT),
        g.principal, g.principal_type, g.privilege, g.grant_option, g.grantor, g.grantor_type, g.authorizer
    FROM grants g JOIN partitions p ON p.table_id = g.table_id
    WHERE g.table_id = :table_id AND g.partition_id IS NULL AND p.name IN :names
    ORDER BY p.name, g.id
    """
)
_END_GRANT_OPTION = Statement("UPDATE grants SET grant_option = FALSE WHERE id = :id")
_DELETE = Statement("DELETE FROM grants WHERE id = :id")
_DELETE_PRINCIPAL = Statement("DELETE FROM grants WHERE principal = :principal AND principal_type = :principal_type")
_DELETE_CONNECTOR = Statement("DELETE FROM grants WHERE connector = :connector")


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

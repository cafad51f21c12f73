"""The rows of tables and their parameters. One function writes a row together with its parameters.

Names are compared exactly: nothing here changes their case.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from metastored.store.engine.stamps import new_stamp
from metastored.store.engine.statements import SQLITE, Statement, assigned, column_list, insert_into
from metastored.store.engine.stored import BODY_FORMAT, PARAM_BYTES
from metastored.store.engine.transaction import Transaction


class TableRow(NamedTuple):
    id: int
    db_id: int
    name: str
    type: str
    owner: str | None
    last_access: int
    write_id: int
    fmt: int
    body: bytes
    creation_metadata: bytes | None
    statistics_stamp: int
    """Equal stamps mean equal column statistics of partitions under equal names; 0 means that none were written."""


class TableMeta(NamedTuple):
    """The columns of a table that a listing contains; its comment is in the body."""

    id: int
    name: str
    type: str
    owner: str | None
    fmt: int
    body: bytes


class SearchableTable(NamedTuple):
    id: int
    name: str
    type: str
    owner: str | None
    last_access: int


_FROM = "FROM tables t JOIN databases d ON t.db_id = d.id JOIN catalogs c ON d.cat_id = c.id"
_IN_DATABASE = "c.name = :cat AND d.name = :db"
_COLUMNS = column_list(*TableRow._fields, of="t")
_META = column_list(*TableMeta._fields, of="t")
_VALUES = ("type", "owner", "last_access", "write_id", "fmt", "body", "creation_metadata")

_FIND = Statement(f"SELECT {_COLUMNS} {_FROM} WHERE {_IN_DATABASE} AND t.name = :name")
_FIND_BY_ID = Statement(f"SELECT {_COLUMNS} {_FROM} WHERE t.id = :id")
_FIND_LOCKED = Statement(f"SELECT {_COLUMNS} FROM tables t WHERE t.id = :id FOR UPDATE")
_FIND_MANY = Statement(f"SELECT {_COLUMNS} {_FROM} WHERE {_IN_DATABASE} AND t.name IN :names ORDER BY t.name")
_ROWS = Statement(f"SELECT {_COLUMNS} {_FROM} WHERE {_IN_DATABASE} ORDER BY t.name")
_BETWEEN = "t.name >= :first AND t.name < :end"
_NAMES = Statement(f"SELECT t.name {_FROM} WHERE {_IN_DATABASE} ORDER BY t.name")
_NAMES_BETWEEN = Statement(f"SELECT t.name {_FROM} WHERE {_IN_DATABASE} AND {_BETWEEN} ORDER BY t.name")
_NAMES_VERSION = Statement(
    f"""
    SELECT s.db_id, s.stamp
    FROM table_name_stamps s JOIN databases d ON s.db_id = d.id JOIN catalogs c ON d.cat_id = c.id
    WHERE {_IN_DATABASE}
    """
)
_NAMES_OF_TYPE = Statement(f"SELECT t.name {_FROM} WHERE {_IN_DATABASE} AND t.type = :type ORDER BY t.name")
_NAMES_OF_TYPE_BETWEEN = Statement(
    f"SELECT t.name {_FROM} WHERE {_IN_DATABASE} AND t.type = :type AND {_BETWEEN} ORDER BY t.name"
)
_METAS = Statement(f"SELECT {_META} {_FROM} WHERE {_IN_DATABASE} ORDER BY t.name")
_METAS_BETWEEN = Statement(f"SELECT {_META} {_FROM} WHERE {_IN_DATABASE} AND {_BETWEEN} ORDER BY t.name")
_SEARCHABLE = Statement(
    f"SELECT {column_list(*SearchableTable._fields, of='t')} {_FROM} WHERE {_IN_DATABASE} ORDER BY t.name"
)
_VALUES_OF = Statement(
    f"SELECT t.id, p.value {_FROM} JOIN table_params p ON p.table_id = t.id WHERE {_IN_DATABASE} AND p.key = :key"
)
_DISTINCT_VALUES = Statement("SELECT DISTINCT value FROM table_params WHERE key = :key")


def _names_by_values(dialect: str) -> str:
    """All names as one JSON text, of which a driver makes ten thousand in a third of the time for as many rows.

    Two indexes have all that is read: a join would look up each table by its id.
    """
    names = "json_group_array(name)" if dialect == SQLITE else "CAST(json_agg(name) AS TEXT)"
    return f"""
        SELECT {names} FROM tables
        WHERE db_id = (SELECT d.id FROM databases d JOIN catalogs c ON d.cat_id = c.id WHERE {_IN_DATABASE})
            AND id IN (SELECT table_id FROM table_params WHERE key = :key AND value IN :values)
    """


_NAMES_BY_VALUES = Statement(_names_by_values)
_OF_TYPE = Statement(
    f"SELECT d.name, {_COLUMNS} {_FROM} WHERE c.name = :cat AND t.type = :type ORDER BY d.name, t.name"
)
_INSERT = Statement(insert_into("tables", "db_id", "name", *_VALUES) + " RETURNING id")
_UPDATE = Statement(f"UPDATE tables SET {assigned(*_VALUES)} WHERE id = :id")
_UPDATE_NAMED = Statement(f"UPDATE tables SET {assigned('db_id', 'name', *_VALUES)} WHERE id = :id")
_RENAME = Statement("UPDATE tables SET db_id = :db_id, name = :name WHERE id = :id")
_DELETE = Statement("DELETE FROM tables WHERE id = :id")
_PLACE = Statement(f"SELECT c.name, d.name, t.name {_FROM} WHERE t.id = :id")
_CREATION_METADATAS = Statement(
    "SELECT id, creation_metadata FROM tables WHERE creation_metadata IS NOT NULL ORDER BY id"
)
_SET_CREATION_METADATA = Statement("UPDATE tables SET creation_metadata = :creation_metadata WHERE id = :id")
_SET_STATISTICS_STAMP = Statement("UPDATE tables SET statistics_stamp = :statistics_stamp WHERE id = :id")
_SHARE = Statement("SELECT id FROM tables WHERE id = :id FOR SHARE")
_LOCK = Statement("SELECT id FROM tables WHERE id = :id FOR UPDATE")
_PARAMS = Statement("SELECT key, value FROM table_params WHERE table_id = :table_id")
_SET_PARAM = Statement(
    """
    INSERT INTO table_params (table_id, key, value) VALUES (:table_id, :key, :value)
    ON CONFLICT (table_id, key) DO UPDATE SET value = excluded.value
    """
)
_DELETE_PARAMS = Statement("DELETE FROM table_params WHERE table_id = :table_id AND key IN :keys")


def find(tx: Transaction, cat: str, db: str, name: str) -> TableRow | None:
    row = tx.one(_FIND, cat=cat, db=db, name=name)
    return None if row is None else TableRow._make(row)


def find_by_id(tx: Transaction, id: int) -> TableRow | None:
    row = tx.one(_FIND_BY_ID, id=id)
    return None if row is None else TableRow._make(row)


def full_name(tx: Transaction, id: int) -> tuple[str, str, str] | None:
    """The catalog, the database and the name of a table."""
    row = tx.one(_PLACE, id=id)
    return None if row is None else (row[0], row[1], row[2])


def creation_metadatas(tx: Transaction) -> list[tuple[int, bytes]]:
    """The id and the creation metadata of every materialized view."""
    return [(id, metadata) for id, metadata in tx.all(_CREATION_METADATAS)]


def find_many(tx: Transaction, cat: str, db: str, names: Sequence[str]) -> list[TableRow]:
    """The named tables that exist, sorted by name."""
    return list(map(TableRow._make, tx.all(_FIND_MANY, cat=cat, db=db, names=tx.list(names))))


def rows(tx: Transaction, cat: str, db: str) -> list[TableRow]:
    """All tables of a database, sorted by name."""
    return list(map(TableRow._make, tx.all(_ROWS, cat=cat, db=db)))


def names(tx: Transaction, cat: str, db: str, type: str | None = None, prefix: str = "") -> list[str]:
    """The names of a database's tables, or of its tables of one type, sorted; only those that begin with a prefix.

    The prefix is printable ASCII, as `hive.patterns.literal_prefix` returns it.
    """
    named: dict[str, Any] = {"cat": cat, "db": db} | ({} if type is None else {"type": type}) | _range(prefix)
    if type is None:
        statement = _NAMES_BETWEEN if prefix else _NAMES
    else:
        statement = _NAMES_OF_TYPE_BETWEEN if prefix else _NAMES_OF_TYPE
    return [name for (name,) in tx.all(statement, **named)]


def names_version(tx: Transaction, cat: str, db: str) -> tuple[int, int] | None:
    """The id of a database and a stamp: equal ones mean equal names and types of its tables.

    None for a database that does not exist, or has had no table.
    """
    row = tx.one(_NAMES_VERSION, cat=cat, db=db)
    return None if row is None else (row[0], row[1])


def metas(tx: Transaction, cat: str, db: str, prefix: str = "") -> list[TableMeta]:
    """The columns for a listing of a database's tables, sorted by name; only those that begin with a prefix."""
    statement = _METAS_BETWEEN if prefix else _METAS
    return list(map(TableMeta._make, tx.all(statement, cat=cat, db=db, **_range(prefix))))


def _range(prefix: str) -> dict[str, str]:
    """The first text with a prefix, and the first one behind all of them."""
    return {"first": prefix, "end": prefix[:-1] + chr(ord(prefix[-1]) + 1)} if prefix else {}


def of_type(tx: Transaction, cat: str, type: str) -> list[tuple[str, TableRow]]:
    """All tables of one type in a catalog, each with the name of its database, sorted."""
    return [(db, TableRow._make(row)) for db, *row in tx.all(_OF_TYPE, cat=cat, type=type)]


def searchable(tx: Transaction, cat: str, db: str) -> list[SearchableTable]:
    """The searchable columns of a database's tables, sorted by name."""
    return list(map(SearchableTable._make, tx.all(_SEARCHABLE, cat=cat, db=db)))


def values_of(tx: Transaction, cat: str, db: str, key: str) -> dict[int, str]:
    """The values of one parameter by table id, for the tables of a database that have it with a short value."""
    return dict(tx.all(_VALUES_OF, cat=cat, db=db, key=key))


def distinct_values(tx: Transaction, key: str) -> set[str]:
    """All short values of one parameter, of tables in any database."""
    return {value for (value,) in tx.all(_DISTINCT_VALUES, key=key)}


def names_by_values(tx: Transaction, cat: str, db: str, key: str, values: Sequence[str]) -> list[str]:
    """The tables of a database whose parameter has one of these short values, sorted by name."""
    row = tx.one(_NAMES_BY_VALUES, cat=cat, db=db, key=key, values=tx.list(values))
    return sorted(json.loads((row and row[0]) or "[]"))


def insert(
    tx: Transaction,
    db_id: int,
    name: str,
    *,
    type: str,
    owner: str | None,
    last_access: int,
    write_id: int,
    body: bytes,
    params: Mapping[str, str],
    creation_metadata: bytes | None = None,
    fmt: int = BODY_FORMAT,
) -> int:
    """Adds a table with its parameters; returns its id."""
    id = tx.insert(
        _INSERT,
        db_id=db_id,
        name=name,
        type=type,
        owner=owner,
        last_access=last_access,
        write_id=write_id,
        fmt=fmt,
        body=body,
        creation_metadata=creation_metadata,
    )
    _write_params(tx, id, {}, _searchable(params))
    return id


def update(
    tx: Transaction,
    id: int,
    *,
    type: str,
    owner: str | None,
    last_access: int,
    write_id: int,
    body: bytes,
    params: Mapping[str, str],
    creation_metadata: bytes | None = None,
    fmt: int = BODY_FORMAT,
    named: tuple[int, str] | None = None,
) -> None:
    """Replaces a table except for its name and its database; with `named`, (database id, name), these too."""
    names = {} if named is None else {"db_id": named[0], "name": named[1]}
    tx.run(
        _UPDATE if named is None else _UPDATE_NAMED,
        id=id,
        **names,
        type=type,
        owner=owner,
        last_access=last_access,
        write_id=write_id,
        fmt=fmt,
        body=body,
        creation_metadata=creation_metadata,
    )
    _write_params(tx, id, searchable_params(tx, id), _searchable(params))


def rename(tx: Transaction, id: int, db_id: int, name: str) -> None:
    """Give a table another name, another database, or both."""
    tx.run(_RENAME, id=id, db_id=db_id, name=name)


def set_creation_metadata(tx: Transaction, id: int, metadata: bytes) -> None:
    """Changes the creation metadata of a materialized view, and nothing else of it."""
    tx.run(_SET_CREATION_METADATA, id=id, creation_metadata=metadata)


def set_statistics_stamp(tx: Transaction, id: int) -> None:
    """Marks the column statistics of a table's partitions as changed.

    The functions of this package that change them, or the names of partitions that have them, call it.
    """
    tx.run(_SET_STATISTICS_STAMP, id=id, statistics_stamp=new_stamp())


def delete(tx: Transaction, id: int) -> None:
    """Delete a table with its parameters, partitions, shapes, bases, statistics and constraints."""
    tx.run(_DELETE, id=id)


def lock(tx: Transaction, id: int, exclusive: bool = True) -> bool:
    """Keeps a table from being changed (or, shared, from being dropped) by others until the transaction ends.

    Returns False if it does not exist. Lock its database first; several tables in the order of their names. Read the
    row after that, not before. SQLite has one write transaction at a time, and there is nothing to lock.
    """
    if tx.dialect == SQLITE:
        return True
    return tx.one(_LOCK if exclusive else _SHARE, id=id) is not None


def find_locked(tx: Transaction, id: int) -> TableRow | None:
    """Locks a table as `lock` does and reads it, in one statement; None if it does not exist."""
    row = tx.one(_FIND_LOCKED, id=id)
    return None if row is None else TableRow._make(row)


def searchable_params(tx: Transaction, id: int) -> dict[str, str]:
    """The searchable parameters of a table: those that are not too long."""
    return dict(tx.all(_PARAMS, table_id=id))


def _searchable(params: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in params.items() if _is_searchable(key) and _is_searchable(value)}


def _is_searchable(text: str) -> bool:
    """Whether a text is short enough for an index, and UTF-8: databases take no other texts."""
    try:
        return len(text.encode()) <= PARAM_BYTES
    except UnicodeEncodeError:
        return False


def _write_params(tx: Transaction, id: int, old: Mapping[str, str], new: Mapping[str, str]) -> None:
    # Most alterations change one or two of a dozen parameters.
    changed = [key for key, value in new.items() if old.get(key) != value]
    stale = [key for key in old if key not in new]
    if stale:
        tx.run(_DELETE_PARAMS, table_id=id, keys=tx.list(stale))
    if changed:
        tx.many(_SET_PARAM, [{"table_id": id, "key": key, "value": new[key]} for key in changed])

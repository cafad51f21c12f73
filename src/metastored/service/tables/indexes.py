"""Indexes, which Hive had until 2.3: an index has a table of its own beside the indexed table. Hive 3 removed them.

An index is a document: its parent is the indexed table, and it is deleted with that. Its own table is an ordinary
table, created and removed with it.
"""

from __future__ import annotations

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    MetastoreError,
    NoSuchObjectException,
)
from metastored.hive.names import normalize
from metastored.model import normal
from metastored.model.names import DatabaseName
from metastored.service.core.changes import record
from metastored.service.core.conflicts import ConcurrentChange, locked
from metastored.service.core.context import Context
from metastored.service.core.directories import finish
from metastored.service.core.documents import Document
from metastored.service.core.java_text import java_text
from metastored.service.core.removing import removing
from metastored.service.core.serving import method
from metastored.service.tables.create import create_table
from metastored.service.tables.removal import INDEXES, remove_table
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import tables
from metastored.wire.codec import binary
from metastored.wire.generated.common import Table
from metastored.wire.generated.indexes import Index
from metastored.wire.structs import replace


def _find(tx: Transaction, where: DatabaseName, table: str | None, name: str | None) -> Document[Index] | None:
    row = tables.find(tx, *where, normalize(table or ""))
    return None if row is None else INDEXES.find(tx, normalize(name or ""), str(row.id))


def _named(document: Document[Index], where: DatabaseName, table: str) -> Index:
    """The index under the present names of its table."""
    return replace(document.value, indexName=document.key, dbName=where.database, origTableName=table)


def _missing(db_name: str | None, tbl_name: str | None, name: str | None) -> NoSuchObjectException:
    return NoSuchObjectException(f"{db_name}.{tbl_name} index={name} not found")


@method
def get_index_by_name(ctx: Context, db_name: str | None, tbl_name: str | None, index_name: str | None) -> Index:
    where = ctx.name(db_name)
    with ctx.reading() as tx:
        document = _find(tx, where, tbl_name, index_name)
    if document is None:
        raise _missing(db_name, tbl_name, index_name)
    return _named(document, where, normalize(tbl_name or ""))


def _of_table(ctx: Context, db_name: str | None, tbl_name: str | None) -> list[Index]:
    where, table = ctx.name(db_name), normalize(tbl_name or "")
    with ctx.reading() as tx:
        row = tables.find(tx, *where, table)
        documents = INDEXES.below(tx, str(row.id)) if row is not None else []
    return [_named(each, where, table) for each in documents]


@method
def get_indexes(ctx: Context, db_name: str | None, tbl_name: str | None, max_indexes: int | None) -> tuple[Index, ...]:
    """All indexes: Hive ignores the limit, and a missing table."""
    return tuple(_of_table(ctx, db_name, tbl_name))


@method
def get_index_names(
    ctx: Context, db_name: str | None, tbl_name: str | None, max_indexes: int | None
) -> tuple[str, ...]:
    return tuple(index.indexName or "" for index in _of_table(ctx, db_name, tbl_name))


@method
def add_index(ctx: Context, new_index: Index | None, index_table: Table | None) -> Index:
    """Creates the index, and its table unless that exists already."""
    if new_index is None or new_index.indexName is None:
        raise MetaException("add_index needs an index with a name")
    index: Index = new_index
    where = ctx.name(index.dbName)
    base, own = normalize(index.origTableName or ""), normalize(index.indexTableName or "")
    taken = AlreadyExistsException(f"Index already exists:{java_text(index)}")
    with ctx.reading() as tx:
        if _find(tx, where, base, index.indexName) is not None:
            raise taken
        if tables.find(tx, *where, base) is None:
            raise InvalidObjectException("Unable to add index because database or the orginal table do not exist")
        exists = tables.find(tx, *where, own) is not None
    if index.sd is None:
        raise InvalidObjectException("Storage descriptor is not defined for index.")
    if index_table is not None:
        if exists:
            raise InvalidObjectException("Unable to add index because index table already exists")
        create_table(ctx, index_table)
    elif not exists:
        raise InvalidObjectException("Underlying index table does not exist for the given index.")
    now = ctx.now()
    stored: Index = replace(
        index,
        createTime=now,
        lastAccessTime=index.lastAccessTime or 0,
        indexTableName=own,
        sd=normal.storage(index.sd),
        parameters=normal.ddl_time(index.parameters, now),
        deferredRebuild=bool(index.deferredRebuild),
    )

    def add(tx: Transaction) -> None:
        row = tables.find(tx, *where, base)
        if row is None:
            raise InvalidObjectException("Unable to add index because database or the orginal table do not exist")
        locked(tx, row)
        if _find(tx, where, base, index.indexName) is not None:
            raise taken
        INDEXES.insert(tx, normalize(index.indexName or ""), stored, parent=str(row.id), table_id=row.id)
        record(ctx, tx, "CREATE_INDEX", where, base, [("index", binary.encode(stored))])

    try:
        ctx.database.run(add)
    except (MetastoreError, ConstraintViolated, ConcurrentChange) as error:
        if index_table is not None:
            finish(ctx, ctx.database.run(lambda tx: _remove_own(ctx, tx, where, own, delete_data=False)))
        raise taken if isinstance(error, ConstraintViolated) else error from None
    return replace(
        index,
        createTime=now,
        lastAccessTime=stored.lastAccessTime,
        parameters=stored.parameters,
        deferredRebuild=stored.deferredRebuild,
    )


@method
def alter_index(
    ctx: Context, dbname: str | None, base_tbl_name: str | None, idx_name: str | None, new_idx: Index | None
) -> None:
    """Only the parameters change."""
    if new_idx is None:
        raise MetaException("alter_index needs an index")
    changed: Index = new_idx
    where, base = ctx.name(dbname), normalize(base_tbl_name or "")
    if changed.sd is None:
        raise InvalidOperationException("Storage descriptor is not defined for index.")
    parameters = normal.ddl_time(changed.parameters, ctx.now())

    def alter(tx: Transaction) -> None:
        row = tables.find(tx, *where, base)
        if row is not None:
            locked(tx, row)
        document = _find(tx, where, base, idx_name)
        if row is None or document is None:
            raise MetaException(f"NoSuchObjectException(message:{_missing(dbname, base_tbl_name, idx_name)})")
        before = _named(document, where, base)
        after = replace(before, parameters=parameters)
        INDEXES.update(tx, document, after)
        objects = [("before", binary.encode(before)), ("after", binary.encode(after))]
        record(ctx, tx, "ALTER_INDEX", where, base, objects)

    ctx.database.run(alter)


def _remove_own(
    ctx: Context, tx: Transaction, where: DatabaseName, name: str | None, *, delete_data: bool
) -> list[int]:
    """Drops the index together with the table of its rows."""
    row = tables.find(tx, *where, name) if name else None
    if row is None:
        return []
    return remove_table(ctx, tx, where, locked(tx, row), delete_data=delete_data, planned=())


@method
def drop_index_by_name(
    ctx: Context, db_name: str | None, tbl_name: str | None, index_name: str | None, deleteData: bool | None
) -> bool:
    where, base = ctx.name(db_name), normalize(tbl_name or "")

    def drop(tx: Transaction) -> tuple[None, list[int]]:
        document = _find(tx, where, base, index_name)
        if document is None:
            raise _missing(db_name, tbl_name, index_name)
        index = _named(document, where, base)
        INDEXES.delete(tx, document)
        planned = _remove_own(ctx, tx, where, index.indexTableName, delete_data=bool(deleteData))
        record(ctx, tx, "DROP_INDEX", where, base, [("index", binary.encode(index))])
        return None, planned

    removing(ctx, drop)
    return True

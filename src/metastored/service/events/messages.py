"""Hive's JSON messages, rendered from event rows. Pure functions, one for each type of event.

The encoding of a row is described in `core/changes.py`. By type, the names in its body are

    CREATE_TABLE, DROP_TABLE                      table
    ALTER_TABLE, ALTER_DATABASE, ALTER_CATALOG    before, after
    ADD_PARTITION                                 table, and partition… or (sd, partitions)…
    ALTER_PARTITION                               table, before, after; since WITHOUT_STORAGE the storage descriptors of
                                                  both are in sd, or in before sd and after sd, perhaps OF_TABLE
    DROP_PARTITION                                table, values… (Partitions with their values only)
    CREATE_DATABASE, DROP_DATABASE                database
    CREATE_FUNCTION, DROP_FUNCTION                function
    CREATE_CATALOG, DROP_CATALOG                  catalog
    CREATE_INDEX, DROP_INDEX                      index; ALTER_INDEX: before, after
    INSERT, RELOAD                                table, partition, fields
    OPEN_TXN                                      first, last
    COMMIT_TXN, ABORT_TXN                         txn, type, write… (catalog, database, table, write id; \\0 between)
    ALLOC_WRITE_ID_EVENT                          txns, write_ids (with commas between)
    COMMIT_COMPACTION_EVENT                       txn, compaction, type, partition (its name)
    ADD_PRIMARYKEY … ADD_CHECKCONSTRAINT          the constraints, under any name
    DROP_CONSTRAINT                               constraint (its name)
    UPDATE_TBL_COL_STAT_EVENT                     table, statistics; UPDATE_PART_COL_STAT_EVENT: and values
    DELETE_TBL_COL_STAT_EVENT                     column; DELETE_PART_COL_STAT_EVENT: and partition (its name), values

Hive lists the files of new tables and partitions in its messages; metastored does not list directories while it records
an event, and the lists are empty here. Objects inside of a message are texts in TJSON. 2.3 and 3.1 get `json-0.2`, 4.x
the same JSON with additional fields, compressed: readers ignore unknown fields, and the order of fields does not
matter.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from gzip import compress
from typing import Any, Final

import orjson

from metastored.errors import RemoteProtocolError, StoreError
from metastored.hive.generation import Generation
from metastored.hive.names import make_part_name
from metastored.service.events.parts import Parts, Quoted, decoded_table, text_and_value, text_of
from metastored.store.objects.events import EventRow
from metastored.wire.codec import binary
from metastored.wire.codec.binary import INCOMPLETE
from metastored.wire.generated.catalogs import Catalog
from metastored.wire.generated.common import (
    ColumnStatistics,
    CompactionType,
    SQLCheckConstraint,
    SQLDefaultConstraint,
    SQLForeignKey,
    SQLNotNullConstraint,
    SQLPrimaryKey,
    SQLUniqueConstraint,
    Table,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function
from metastored.wire.generated.indexes import Index
from metastored.wire.generated.partitions import Partition

PLAIN: Final = "json-0.2"
GZIPPED: Final = "gzip(json-2.0)"

Message = dict[str, Any]
_SPEED = 1
"""gzip's fastest level; readers accept any."""


DAMAGE: Final = (RemoteProtocolError, ValueError, LookupError, TypeError, RecursionError, *INCOMPLETE)
"""The errors of reading bytes, and values of JSON, that metastored has not written."""


def rendered(event: EventRow, generation: Generation) -> tuple[bytes, str]:
    """An event's message and the name of its format. Raises StoreError for an event that cannot be read."""
    render = BY_TYPE.get(event.type)
    if render is None:
        raise StoreError(
            f"event {event.id} has the type {event.type!r}, which this version of metastored does not know"
        )
    try:
        message = _json(render(Parts(event, generation)))
    except DAMAGE as error:
        raise StoreError(f"event {event.id} ({event.type}) cannot be read: {error}") from error
    if generation < Generation.HIVE_4_0:
        return message, PLAIN
    return b64encode(compress(message, _SPEED, mtime=0)), GZIPPED


def _json(message: Message) -> bytes:
    """A message as JSON. Fields that are JSON strings already are written last, as they are."""
    plain: Message = {}
    parts = [b""]
    for name, value in message.items():
        if type(value) is Quoted:
            parts.append(b',"%b":%b' % (name.encode(), value))
        elif type(value) is list and value and type(value[0]) is Quoted:
            parts.append(b',"%b":[%b]' % (name.encode(), b",".join(value)))
        else:
            plain[name] = value
    parts[0] = orjson.dumps(plain)[:-1]
    parts.append(b"}")
    return b"".join(parts)


def _head(parts: Parts, **own: Any) -> Message:
    """The fields of every message.

    Hive writes its own address here if it is configured; a metastored has as many addresses as clients use.
    """
    return {"server": "", "servicePrincipal": "", **own, "timestamp": parts.event.time}


def _since_4(parts: Parts, **own: Any) -> Message:
    return own if parts.generation >= Generation.HIVE_4_0 else {}


def _of_table(parts: Parts, table: Table, **own: Any) -> Message:
    return _head(parts, db=table.dbName, table=table.tableName, tableType=table.tableType, **own)


def _key_values(table: Table, part: Partition) -> dict[str, str]:
    return dict(zip((key.name or "" for key in table.partitionKeys or ()), part.values or (), strict=False))


def _truncates(parts: Parts) -> str:
    return "true" if parts.fields.get("isTruncateOp") else "false"


# --- tables and partitions ------------------------------------------------------------------------------------------


def create_table(parts: Parts) -> Message:
    return _of_table(parts, parts.table(), tableObjJson=parts.text("table", Table)) | {"files": []}


def drop_table(parts: Parts) -> Message:
    return _of_table(parts, parts.table(), tableObjJson=parts.text("table", Table))


def alter_table(parts: Parts) -> Message:
    text, before = text_and_value(Table, parts.bytes("before"))
    message = _of_table(
        parts,
        before,
        tableObjBeforeJson=text,
        tableObjAfterJson=parts.text("after", Table),
        isTruncateOp=_truncates(parts),
    )
    return message | _since_4(parts, writeId=decoded_table(parts.bytes("after")).writeId)


def add_partition(parts: Parts) -> Message:
    table = parts.table()
    keys = tuple([key.name or "" for key in table.partitionKeys or ()])
    values, texts, files = [], [], []
    for part_values, text in parts.partitions(table):
        values.append(dict(zip(keys, part_values, strict=False)))
        texts.append(text)
        files.append({"partitionName": make_part_name(keys, part_values), "files": ()})
    own = {"partitions": values, "partitionListJson": texts, "partitionFiles": files}
    return _of_table(parts, table, tableObjJson=parts.text("table", Table), **own)


def alter_partition(parts: Parts) -> Message:
    table = parts.table()
    before, after = parts.state("before", table), parts.state("after", table)
    message = _of_table(parts, table, tableObjJson=parts.text("table", Table), isTruncateOp=_truncates(parts))
    return message | {
        **_since_4(parts, writeId=after.writeId),
        "keyValues": _key_values(table, before),
        "partitionObjBeforeJson": text_of(before),
        "partitionObjAfterJson": text_of(after),
    }


def drop_partition(parts: Parts) -> Message:
    table = parts.table()
    values = [_key_values(table, binary.decode(Partition, data)) for data in parts.all("values")]
    return _of_table(parts, table, tableObjJson=parts.text("table", Table)) | {"partitions": values}


def insert(parts: Parts) -> Message:
    table = parts.table()
    part = parts.one("partition")
    message = _of_table(
        parts,
        table,
        tableObjJson=parts.text("table", Table),
        ptnObjJson=None if part is None else text_of(binary.decode(Partition, part)),
    )
    if parts.generation < Generation.HIVE_3_1:
        message["partKeyVals"] = {} if part is None else _key_values(table, binary.decode(Partition, part))
    return message | {"replace": "true" if parts.fields["replace"] else "false", "files": _files(parts)}


def _files(parts: Parts) -> list[str]:
    """File, checksum, and the directory below the table.

    2.3 separates them by one `#`; later versions have an empty field for the directory of removed files that
    replication uses, which metastored does not have.
    """
    named = []
    for uri, checksum, below in parts.fields["files"]:
        if parts.generation < Generation.HIVE_3_1:
            named.append(uri if checksum is None else f"{uri}#{checksum}")
        else:
            named.append(file_text(uri, below))
    return named


def file_text(uri: str, below: str | None) -> str:
    """A file as Hive 3 and later name it in messages."""
    return f"{uri}###{below or ''}"


def reload(parts: Parts) -> Message:
    table = parts.table()
    part = parts.one("partition")
    return _head(
        parts,
        db=table.dbName,
        table=table.tableName,
        tableObjJson=parts.text("table", Table),
        ptnObjJson=None if part is None else text_of(binary.decode(Partition, part)),
        refreshEvent="true" if parts.fields["refreshEvent"] else "false",
    )


# --- databases, functions, catalogs, indexes ------------------------------------------------------------------------


def create_database(parts: Parts) -> Message:
    return _head(parts, db=parts.event.db, dbJson=parts.text("database", Database))


def drop_database(parts: Parts) -> Message:
    return _head(parts, db=parts.event.db, **_since_4(parts, dbJson=parts.text("database", Database)))


def alter_database(parts: Parts) -> Message:
    before, after = parts.text("before", Database), parts.text("after", Database)
    return _head(parts, db=parts.event.db, dbObjBeforeJson=before, dbObjAfterJson=after)


def create_function(parts: Parts) -> Message:
    return _head(parts, db=parts.event.db, functionObjJson=parts.text("function", Function))


def drop_function(parts: Parts) -> Message:
    function = binary.decode(Function, parts.bytes("function"))
    return _head(parts, db=parts.event.db, functionName=function.functionName)


def one_catalog(parts: Parts) -> Message:
    return _head(parts, catalog=binary.decode(Catalog, parts.bytes("catalog")).name)


def alter_catalog(parts: Parts) -> Message:
    before, after = parts.text("before", Catalog), parts.text("after", Catalog)
    return _head(parts, catObjBeforeJson=before, catObjAfterJson=after)


def create_index(parts: Parts) -> Message:
    return _head(parts, db=parts.event.db, indexObjJson=parts.text("index", Index))


def alter_index(parts: Parts) -> Message:
    before, after = parts.text("before", Index), parts.text("after", Index)
    return _head(parts, db=parts.event.db, beforeIndexObjJson=before, afterIndexObjJson=after)


def drop_index(parts: Parts) -> Message:
    index = binary.decode(Index, parts.bytes("index"))
    named = {"indexName": index.indexName, "origTableName": index.origTableName}
    return _head(parts, db=parts.event.db, **named, indexTableName=index.indexTableName)


# --- transactions ---------------------------------------------------------------------------------------------------


def open_txn(parts: Parts) -> Message:
    return _head(parts, txnIds=None, fromTxnId=parts.number("first"), toTxnId=parts.number("last"))


def _writes(parts: Parts) -> tuple[list[str], list[int]]:
    """The database and the write id of each table that a transaction could write to."""
    written = [value.decode().split("\0") for value in parts.all("write")]
    return [item[1] for item in written], [int(item[3]) for item in written]


def commit_txn(parts: Parts) -> Message:
    databases, write_ids = _writes(parts)
    nothing = dict.fromkeys(("tables", "partitions", "tableObjs", "partitionObjs", "files"))
    own = _since_4(parts, writeIds=write_ids, databases=databases, **nothing)
    return _head(parts, txnid=parts.number("txn"), **own)


def abort_txn(parts: Parts) -> Message:
    databases, write_ids = _writes(parts)
    return _head(parts, txnid=parts.number("txn"), **_since_4(parts, dbsUpdated=databases, writeIds=write_ids))


def alloc_write_id(parts: Parts) -> Message:
    txns, write_ids = ([int(number) for number in parts.named(name).split(",")] for name in ("txns", "write_ids"))
    event = parts.event
    return _head(parts, dbName=event.db, tableName=event.tbl, txnIdList=txns, writeIdList=write_ids)


def commit_compaction(parts: Parts) -> Message:
    event, part = parts.event, parts.one("partition")
    return _head(
        parts,
        txnid=parts.number("txn"),
        compactionId=parts.number("compaction"),
        type=CompactionType.NAMES[parts.number("type")],
        dbname=event.db,
        tableName=event.tbl,
        partName=None if part is None else part.decode(),
    )


# --- constraints and statistics -------------------------------------------------------------------------------------


def _constraints(cls: type, name: str) -> Callable[[Parts], Message]:
    def message(parts: Parts) -> Message:
        return _head(parts) | {name: [text_and_value(cls, data)[0] for data in parts.objects()]}

    return message


def drop_constraint(parts: Parts) -> Message:
    event = parts.event
    return _head(parts, dbName=event.db, tableName=event.tbl, constraintName=parts.named("constraint"))


def update_statistics(parts: Parts) -> Message:
    table = parts.table()
    message = _head(
        parts,
        writeId=table.writeId if table.writeId is not None else -1,
        database=parts.event.db,
        colStatsJson=parts.text("statistics", ColumnStatistics),
        tableObjJson=parts.text("table", Table),
    )
    values = parts.one("values")
    if values is None:
        return message | {"parameters": table.parameters or {}}
    return message | {"parameters": {}, "partVals": binary.decode(Partition, values).values or ()}


def delete_statistics(parts: Parts) -> Message:
    message = _head(parts, database=parts.event.db, colName=parts.named("column"))
    values = parts.one("values")
    if values is not None:
        message |= {"partName": parts.named("partition"), "partValues": binary.decode(Partition, values).values or ()}
    return message


BY_TYPE: Final[dict[str, Callable[[Parts], Message]]] = {
    "CREATE_TABLE": create_table,
    "DROP_TABLE": drop_table,
    "ALTER_TABLE": alter_table,
    "ADD_PARTITION": add_partition,
    "ALTER_PARTITION": alter_partition,
    "DROP_PARTITION": drop_partition,
    "INSERT": insert,
    "RELOAD": reload,
    "CREATE_DATABASE": create_database,
    "DROP_DATABASE": drop_database,
    "ALTER_DATABASE": alter_database,
    "CREATE_FUNCTION": create_function,
    "DROP_FUNCTION": drop_function,
    "CREATE_CATALOG": one_catalog,
    "DROP_CATALOG": one_catalog,
    "ALTER_CATALOG": alter_catalog,
    "CREATE_INDEX": create_index,
    "ALTER_INDEX": alter_index,
    "DROP_INDEX": drop_index,
    "OPEN_TXN": open_txn,
    "COMMIT_TXN": commit_txn,
    "ABORT_TXN": abort_txn,
    "ALLOC_WRITE_ID_EVENT": alloc_write_id,
    "COMMIT_COMPACTION_EVENT": commit_compaction,
    "DROP_CONSTRAINT": drop_constraint,
    "ADD_PRIMARYKEY": _constraints(SQLPrimaryKey, "primaryKeyListJson"),
    "ADD_FOREIGNKEY": _constraints(SQLForeignKey, "foreignKeyListJson"),
    "ADD_UNIQUECONSTRAINT": _constraints(SQLUniqueConstraint, "uniqueConstraintListJson"),
    "ADD_NOTNULLCONSTRAINT": _constraints(SQLNotNullConstraint, "notNullConstraintListJson"),
    "ADD_DEFAULTCONSTRAINT": _constraints(SQLDefaultConstraint, "defaultConstraintListJson"),
    "ADD_CHECKCONSTRAINT": _constraints(SQLCheckConstraint, "checkConstraintListJson"),
    "UPDATE_TBL_COL_STAT_EVENT": update_statistics,
    "UPDATE_PART_COL_STAT_EVENT": update_statistics,
    "DELETE_TBL_COL_STAT_EVENT": delete_statistics,
    "DELETE_PART_COL_STAT_EVENT": delete_statistics,
}

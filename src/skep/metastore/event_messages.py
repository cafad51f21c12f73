"""Hive's JSON messages, rendered from what an event row keeps. Pure functions, one for each type of event.

What a row keeps is described in `changes.py`. By type, the names in its body are

    CREATE_TABLE, DROP_TABLE                      table
    ALTER_TABLE, ALTER_DATABASE, ALTER_CATALOG    before, after
    ADD_PARTITION                                 table, and partition… or (sd, partitions)…
    ALTER_PARTITION                               table, before, after
    DROP_PARTITION                                table, values… (Partitions with their values only)
    CREATE_DATABASE, DROP_DATABASE                database
    CREATE_FUNCTION, DROP_FUNCTION                function
    CREATE_CATALOG, DROP_CATALOG                  catalog
    CREATE_INDEX, DROP_INDEX                      index; ALTER_INDEX: before, after
    INSERT, RELOAD                                table, partition, fields
    ADD_PRIMARYKEY … ADD_CHECKCONSTRAINT          constraint…
    UPDATE_TBL_COL_STAT_EVENT, UPDATE_PART_…      stats, table, fields (parameters, writeId; partVals)
    all others (transactions, write ids, …)       fields, under the names of the message

Hive lists the files of new tables and partitions in its messages; an event is no moment to list directories in, and
those lists are empty here. Objects inside of a message are texts in TJSON. 2.3 and 3.1 get `json-0.2`, 4.x the same
JSON with its own fields more, compressed: readers ignore fields that they do not know.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import lru_cache
from gzip import compress
from typing import Any, Final

import orjson

from skep.errors import StoreError
from skep.hive.generation import Generation
from skep.hive.names import make_part_name
from skep.metastore.changes import FORMAT, unpack
from skep.store.events import EventRow
from skep.wire import binary, tjson
from skep.wire.generated.catalogs import Catalog
from skep.wire.generated.common import (
    ColumnStatistics,
    SQLCheckConstraint,
    SQLDefaultConstraint,
    SQLForeignKey,
    SQLNotNullConstraint,
    SQLPrimaryKey,
    SQLUniqueConstraint,
    StorageDescriptor,
    Table,
)
from skep.wire.generated.databases import Database
from skep.wire.generated.functions import Function
from skep.wire.generated.indexes import Index
from skep.wire.generated.partitions import Partition
from skep.wire.structs import replace

PLAIN: Final = "json-0.2"
GZIPPED: Final = "gzip(json-2.0)"

Message = dict[str, Any]
_SPEED = 1
"""gzip's fastest level; readers do not care."""
_MEMO_BYTES = 64 * 1024
_read_partition = binary.struct_codec(Partition)[0]


class Parts:
    """An event's row with its body taken apart."""

    __slots__ = ("_named", "event", "fields", "generation")

    def __init__(self, event: EventRow, generation: Generation) -> None:
        if event.fmt != FORMAT:
            raise StoreError(
                f"event {event.id} is stored in format {event.fmt}, which this version of skep does not read"
            )
        self.event = event
        self.generation = generation
        self._named = list(unpack(event.body))
        given = self.one("fields")
        self.fields: Message = orjson.loads(given) if given is not None else {}

    def one(self, name: str) -> bytes | None:
        return next((value for key, value in self._named if key == name), None)

    def all(self, name: str) -> list[bytes]:
        return [value for key, value in self._named if key == name]

    def bytes(self, name: str) -> bytes:
        found = self.one(name)
        if found is None:
            raise StoreError(f"event {self.event.id} ({self.event.type}) keeps no {name}")
        return found

    def text(self, name: str, cls: type) -> str:
        """An object as TJSON."""
        return _texts(cls, self.bytes(name))[0]

    def table(self) -> Table:
        return _table(self.bytes("table"))

    def partitions(self, table: Table) -> Iterator[Partition]:
        """The partitions of an event, whole."""
        names = {"dbName": table.dbName, "tableName": table.tableName, "catName": table.catName}
        shape: StorageDescriptor | None = None
        for name, value in self._named:
            if name == "sd":
                shape = binary.decode(StorageDescriptor, value)
            elif name == "partition":
                yield binary.decode(Partition, value)
            elif name == "partitions":
                at = 0
                while at < len(value):
                    part, at = _read_partition(value, at)
                    location = part.sd.location if part.sd is not None else None
                    sd = replace(shape, location=location) if shape is not None else part.sd
                    yield replace(part, sd=sd, **names)


def _decoded_text(cls: type, data: bytes) -> tuple[str, Any]:
    value: Any = binary.decode(cls, data)
    return tjson.text(value), value


_remembered = lru_cache(256)(_decoded_text)


def _texts(cls: type, data: bytes) -> tuple[str, Any]:
    """An object as TJSON, and decoded. Many events after another are about one table, so the last are remembered."""
    return _remembered(cls, data) if len(data) < _MEMO_BYTES else _decoded_text(cls, data)


def _table(data: bytes) -> Table:
    table: Table = _texts(Table, data)[1]
    return table


def rendered(event: EventRow, generation: Generation) -> tuple[bytes, str]:
    """An event's message and the name of its format."""
    parts = Parts(event, generation)
    body = orjson.dumps(_BY_TYPE.get(event.type, _plain)(parts))
    if generation < Generation.HIVE_4_0:
        return body, PLAIN
    return b64encode(compress(body, _SPEED, mtime=0)), GZIPPED


def _head(parts: Parts, **own: Any) -> Message:
    """What every message has. Hive names its own address here if it was told one; skep has as many as clients use."""
    return {"server": "", "servicePrincipal": "", **own, "timestamp": parts.event.time}


def _since_4(parts: Parts, **own: Any) -> Message:
    return own if parts.generation >= Generation.HIVE_4_0 else {}


def _plain(parts: Parts) -> Message:
    return _head(parts, **parts.fields)


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
    text, before = _texts(Table, parts.bytes("before"))
    message = _of_table(
        parts,
        before,
        tableObjBeforeJson=text,
        tableObjAfterJson=parts.text("after", Table),
        isTruncateOp=_truncates(parts),
    )
    return message | _since_4(parts, writeId=_table(parts.bytes("after")).writeId)


def add_partition(parts: Parts) -> Message:
    table = parts.table()
    keys = tuple(key.name or "" for key in table.partitionKeys or ())
    values, texts, files = [], [], []
    for part in parts.partitions(table):
        values.append(_key_values(table, part))
        texts.append(tjson.text(part))
        files.append({"partitionName": make_part_name(keys, part.values or ()), "files": ()})
    message = _of_table(parts, table, tableObjJson=parts.text("table", Table))
    return message | {"partitions": values, "partitionListJson": texts, "partitionFiles": files}


def alter_partition(parts: Parts) -> Message:
    table = parts.table()
    before = binary.decode(Partition, parts.bytes("before"))
    after = binary.decode(Partition, parts.bytes("after"))
    message = _of_table(parts, table, tableObjJson=parts.text("table", Table), isTruncateOp=_truncates(parts))
    return message | {
        **_since_4(parts, writeId=after.writeId),
        "keyValues": _key_values(table, before),
        "partitionObjBeforeJson": tjson.text(before),
        "partitionObjAfterJson": tjson.text(after),
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
        ptnObjJson=None if part is None else tjson.text(binary.decode(Partition, part)),
    )
    if parts.generation < Generation.HIVE_3_1:
        message["partKeyVals"] = {} if part is None else _key_values(table, binary.decode(Partition, part))
    return message | {"replace": "true" if parts.fields["replace"] else "false", "files": _files(parts)}


def _files(parts: Parts) -> list[str]:
    """File, checksum, and the directory below the table: 2.3 puts one `#` between, later versions leave room for
    where a replication keeps removed files, which skep has none of."""
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
        ptnObjJson=None if part is None else tjson.text(binary.decode(Partition, part)),
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


# --- constraints and statistics -------------------------------------------------------------------------------------


def _constraints(cls: type, name: str) -> Callable[[Parts], Message]:
    def message(parts: Parts) -> Message:
        return _head(parts) | {name: [_texts(cls, data)[0] for data in parts.all("constraint")]}

    return message


def update_statistics(parts: Parts) -> Message:
    stats = parts.text("stats", ColumnStatistics)
    table = parts.text("table", Table)
    return _head(parts, database=parts.event.db, colStatsJson=stats, tableObjJson=table, **parts.fields)


_BY_TYPE: Final[dict[str, Callable[[Parts], Message]]] = {
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
    "ADD_PRIMARYKEY": _constraints(SQLPrimaryKey, "primaryKeyListJson"),
    "ADD_FOREIGNKEY": _constraints(SQLForeignKey, "foreignKeyListJson"),
    "ADD_UNIQUECONSTRAINT": _constraints(SQLUniqueConstraint, "uniqueConstraintListJson"),
    "ADD_NOTNULLCONSTRAINT": _constraints(SQLNotNullConstraint, "notNullConstraintListJson"),
    "ADD_DEFAULTCONSTRAINT": _constraints(SQLDefaultConstraint, "defaultConstraintListJson"),
    "ADD_CHECKCONSTRAINT": _constraints(SQLCheckConstraint, "checkConstraintListJson"),
    "UPDATE_TBL_COL_STAT_EVENT": update_statistics,
    "UPDATE_PART_COL_STAT_EVENT": update_statistics,
}

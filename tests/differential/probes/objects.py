"""Small objects for the scripts: a text table, its columns, its partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
TEXT_OUTPUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
LAZY_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
AB = "a int, b string"
DS_H = "ds string, h int"


def columns(text: str) -> tuple[FieldSchema, ...]:
    """`a int, b string` as fields; write `;` for a comma inside a type."""
    parts = (part.strip().partition(" ") for part in text.split(",") if part.strip())
    return tuple(FieldSchema(name=name, type=type.replace(";", ",")) for name, _, type in parts)


def storage(cols: str | tuple[FieldSchema, ...] = AB, location: str | None = None, **other: Any) -> StorageDescriptor:
    text = StorageDescriptor(
        cols=columns(cols) if isinstance(cols, str) else cols,
        location=location,
        inputFormat=TEXT_INPUT,
        outputFormat=TEXT_OUTPUT,
        compressed=False,
        numBuckets=-1,
        serdeInfo=SerDeInfo(serializationLib=LAZY_SERDE, parameters={"serialization.format": "1"}),
        bucketCols=(),
        sortCols=(),
        parameters={},
    )
    return replace(text, **other)


def table(
    db: str, name: str | None, cols: str = AB, keys: str = "", location: str | None = None, **other: Any
) -> Table:
    """A managed text table."""
    plain = Table(
        tableName=name,
        dbName=db,
        owner="bob",
        createTime=1,
        lastAccessTime=0,
        retention=0,
        sd=storage(cols, location),
        partitionKeys=columns(keys),
        parameters={},
        tableType="MANAGED_TABLE",
    )
    return replace(plain, **other)


def external(db: str, name: str, location: str | None = None, **other: Any) -> Table:
    given = {"EXTERNAL": "TRUE", **other.pop("parameters", {})}
    return table(db, name, location=location, tableType="EXTERNAL_TABLE", parameters=given, **other)


def view(db: str, name: str, **other: Any) -> Table:
    text = {"tableType": "VIRTUAL_VIEW", "viewOriginalText": "select 1", "viewExpandedText": "select 1"}
    return table(db, name, **(text | other))


def partition(db: str, name: str, values: Sequence[str], location: str | None = None, **other: Any) -> Partition:
    plain = Partition(values=tuple(values), dbName=db, tableName=name, sd=storage(location=location), parameters={})
    return replace(plain, **other)


# --- changes ----------------------------------------------------------------------------------------------------


def with_parameters(**new: str) -> Callable[[Any], Any]:
    return lambda found: replace(found, parameters={**(found.parameters or {}), **new})


def without_parameters(*gone: str) -> Callable[[Any], Any]:
    def change(found: Any) -> Any:
        return replace(found, parameters={k: v for k, v in (found.parameters or {}).items() if k not in gone})

    return change


def with_storage(**new: Any) -> Callable[[Any], Any]:
    return lambda found: replace(found, sd=replace(found.sd, **new))


def with_columns(text: str) -> Callable[[Any], Any]:
    return with_storage(cols=columns(text))


def with_fields(**new: Any) -> Callable[[Any], Any]:
    return lambda found: replace(found, **new)


def all_of(*changes: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def change(found: Any) -> Any:
        for one in changes:
            found = one(found)
        return found

    return change


# --- what is shown ----------------------------------------------------------------------------------------------


def field(*path: str) -> Callable[[Any], Any]:
    """One field of a struct, or of every struct of a list."""

    def pick(value: Any) -> Any:
        if isinstance(value, tuple) and type(value) is tuple:
            return tuple(pick(item) for item in value)
        for name in path:
            value = getattr(value, name)
        return value

    return pick


def starting(*prefixes: str) -> Callable[[Any], Any]:
    """Of a list of names, those of this script: the server may have other databases."""
    return lambda names: tuple(name for name in names if name.startswith(prefixes))

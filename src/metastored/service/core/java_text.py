"""Structs as Java's toString prints them: Hive puts complete objects into some of its messages. Pure."""

from __future__ import annotations

from typing import Any, Final

from metastored.wire.structs import Struct, fields, names

ALWAYS: Final = {
    "Partition": ("values", "dbName", "tableName", "createTime", "lastAccessTime", "sd", "parameters"),
    "StorageDescriptor": (
        *("cols", "location", "inputFormat", "outputFormat", "compressed", "numBuckets"),
        *("serdeInfo", "bucketCols", "sortCols", "parameters"),
    ),
    "FieldSchema": ("name", "type", "comment"),
    "SerDeInfo": ("name", "serializationLib", "parameters"),
    "SkewedInfo": ("skewedColNames", "skewedColValues", "skewedColValueLocationMaps"),
    "Order": ("col", "order"),
    "ISchemaName": ("catName", "dbName", "schemaName"),
    "SchemaVersionDescriptor": ("schema", "version"),
    "Index": (
        *("indexName", "indexHandlerClass", "dbName", "origTableName", "createTime", "lastAccessTime"),
        *("indexTableName", "sd", "parameters", "deferredRebuild"),
    ),
}
"""Fields that are not optional in Hive's IDL are printed even when they are null."""
_ZERO = {"i16": "0", "i32": "0", "i64": "0", "byte": "0", "bool": "false", "double": "0.0"}


def java_text(value: Any) -> str:
    """A value as Java prints it: `Partition(values:[a, 1], dbName:d, …)`."""
    if isinstance(value, Struct):
        return _struct(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | frozenset | list):
        return f"[{', '.join(map(java_text, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{java_text(k)}={java_text(v)}" for k, v in value.items()) + "}"
    return str(value)


def _struct(value: Struct) -> str:
    cls = type(value)
    always = ALWAYS.get(cls.__name__, ())
    types = {field.name: field.type.name for field in fields(cls)}
    printed = [
        f"{name}:{_ZERO.get(types[name], 'null') if item is None else java_text(item)}"
        for name, item in zip(names(cls), value, strict=True)
        if item is not None or name in always
    ]
    return f"{cls.__name__}({', '.join(printed)})"

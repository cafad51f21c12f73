"""The schema that Spark stores in a table's parameters, beside Hive's columns. Pure.

Spark stores it for data source tables, which it alone can read, and for Hive tables, where it has what Hive's columns
cannot have: capitals, NOT NULL, defaults and generated columns. The schema of a Hive table counts only while its names
and types are those of Hive's columns: another program may have altered the table since (Spark has the same rule).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from metastored.errors import ConversionError, SparkCatalogError
from metastored.hive.types.spark import SparkColumn, from_spark_json, json_column
from metastored.hive.types.type_strings import TypeSyntaxError, read_type
from metastored.model.origins import SPARK_PROVIDER
from metastored.model.spark.properties import (
    SCHEMA,
    THRESHOLD,
    partition_columns_from_properties,
    partition_columns_to_properties,
    read_large_property,
    split_large_property,
)
from metastored.model.spark.types import compact_json
from metastored.wire.generated.common import FieldSchema

SPARK_SCHEMA: Final = SCHEMA
LONGEST: Final = THRESHOLD


def is_schema(parameter: str) -> bool:
    """Whether a parameter is a part of Spark's schema."""
    return parameter == SPARK_SCHEMA or parameter.startswith(f"{SPARK_SCHEMA}.")


def spark_columns(parameters: Mapping[str, str], fields: Sequence[FieldSchema]) -> list[SparkColumn] | None:
    """The columns of Spark's schema; None where there is none that can be read, or it is not that of `fields`."""
    schema = _text(parameters)
    if not schema:
        return None
    try:
        found = from_spark_json(schema)
    except ConversionError:
        return None  # It has a type that Hive lacks, such as variant: Hive's columns are the next best.
    return found if SPARK_PROVIDER in parameters or _same(found, fields) else None


def spark_keys(parameters: Mapping[str, str]) -> tuple[str, ...]:
    """The partition columns that Spark's parameters name."""
    try:
        return partition_columns_from_properties(parameters)
    except SparkCatalogError:
        return ()  # A name is missing.


def schema_parameters(columns: Iterable[SparkColumn], keys: Sequence[str]) -> dict[str, str]:
    """The parameters of a schema, as Spark writes them."""
    return _parameters(compact_json({"type": "struct", "fields": list(map(json_column, columns))}), keys)


def edited(
    parameters: Mapping[str, str],
    dropped: Iterable[str],
    renamed: Mapping[str, str],
    types: Mapping[str, str],
    comments: Mapping[str, str],
    added: Iterable[SparkColumn],
) -> dict[str, str]:
    """Parameters with the changes of columns made in Spark's schema, if there is one. Names are in lower case."""
    schema = _text(parameters)
    if not schema:
        return dict(parameters)
    try:
        content = json.loads(schema)
        fields: list[dict[str, Any]] = content["fields"]
        keys = spark_keys(parameters)
        gone, partitions = set(dropped), {key.lower() for key in keys}
        kept = [_changed(each, renamed, types, comments) for each in fields if each["name"].lower() not in gone]
        first = next((at for at, each in enumerate(kept) if each["name"].lower() in partitions), len(kept))
        kept[first:first] = map(json_column, added)
    except (ValueError, KeyError, TypeError, AttributeError):
        return dict(parameters)  # Nobody can read this schema.
    rest = {key: value for key, value in parameters.items() if not is_schema(key)}
    return rest | _parameters(compact_json({**content, "fields": kept}), keys)


def _changed(
    field: dict[str, Any], renamed: Mapping[str, str], types: Mapping[str, str], comments: Mapping[str, str]
) -> dict[str, Any]:
    name = field["name"].lower()
    found = {**field, "name": renamed.get(name, field["name"])}
    if name in types:
        plain = json_column(SparkColumn(found["name"], read_type(types[name])))
        own = {key: value for key, value in (field.get("metadata") or {}).items() if "TYPE_STRING" not in key}
        found |= {"type": plain["type"], "metadata": own | plain["metadata"]}
    if name in comments:
        found["metadata"] = {**(found.get("metadata") or {}), "comment": comments[name]}
    return found


def _same(columns: Sequence[SparkColumn], fields: Sequence[FieldSchema]) -> bool:
    try:
        theirs = [((each.name or "").lower(), str(read_type(each.type or ""))) for each in fields]
    except TypeSyntaxError:
        return False
    return [(each.name.lower(), str(each.type)) for each in columns] == theirs


def _text(parameters: Mapping[str, str]) -> str | None:
    try:
        return read_large_property(parameters, SPARK_SCHEMA)
    except SparkCatalogError:
        return None  # A part of it is missing.


def _parameters(schema: str, keys: Sequence[str]) -> dict[str, str]:
    return split_large_property(SPARK_SCHEMA, schema, LONGEST) | partition_columns_to_properties(keys)

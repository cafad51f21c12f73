"""The properties of a view that hold the context of its query: names, columns, configurations. Pure.

They have no reserved prefix, so users see them among the properties of the view. If the properties are corrupted, each
reader raises SparkCatalogError with Spark's condition, such as `INTERNAL_ERROR_METADATA_CATALOG.SQL_CONFIG`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from metastored.errors import SparkCatalogError

VIEW_PREFIX: Final = "view."
CATALOG_AND_NAMESPACE: Final = "view.catalogAndNamespace."
DEFAULT_DATABASE: Final = "view.default.database"
"""Where Spark before 3.0 stored the database of a view."""
QUERY_OUTPUT: Final = "view.query.out."
SQL_CONFIG: Final = "view.sqlConfig."
REFERRED_TEMP_VIEWS: Final = "view.referredTempViewNames"
REFERRED_TEMP_FUNCTIONS: Final = "view.referredTempFunctionsNames"
REFERRED_TEMP_VARIABLES: Final = "view.referredTempVariablesNames"
SCHEMA_MODE: Final = "view.schemaMode"
SCHEMA_MODES: Final = ("BINDING", "COMPENSATION", "TYPE EVOLUTION", "EVOLUTION")
SESSION_CATALOG: Final = "spark_catalog"


def catalog_and_namespace(properties: Mapping[str, str]) -> tuple[str, ...]:
    """The catalog and the database in which the names of the query are looked up; empty if they are not known."""
    if f"{CATALOG_AND_NAMESPACE}numParts" in properties:
        missing = "TABLE_NAME_CONTEXT", "table name context"
        return _numbered(properties, f"{CATALOG_AND_NAMESPACE}numParts", f"{CATALOG_AND_NAMESPACE}part.", *missing)
    database = properties.get(DEFAULT_DATABASE)
    return () if database is None else (SESSION_CATALOG, database)


def query_column_names(properties: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the columns that the query returned when the view was created; empty if they are not stored."""
    if f"{QUERY_OUTPUT}numCols" not in properties:
        return ()
    missing = "VIEW_QUERY_COLUMN_ARITY", "view query output column names"
    return _numbered(properties, f"{QUERY_OUTPUT}numCols", f"{QUERY_OUTPUT}col.", *missing)


def sql_configs(properties: Mapping[str, str]) -> dict[str, str]:
    """The configuration with which the query is executed."""
    configs = {key.removeprefix(SQL_CONFIG): value for key, value in properties.items() if key.startswith(SQL_CONFIG)}
    if not all(isinstance(value, str) for value in configs.values()):
        raise _corrupted("SQL_CONFIG", "Corrupted view SQL configs in catalog.")
    return configs


def referred_temp_view_names(properties: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """The temporary views that the query refers to, each by the parts of its name."""
    return _names(properties, REFERRED_TEMP_VIEWS, "TEMP_VIEW_REFERENCE", "view")


def referred_temp_function_names(properties: Mapping[str, str]) -> tuple[str, ...]:
    """The temporary functions that the query refers to."""
    wrong = "TEMP_FUNCTION_REFERENCE", "Corrupted view referred temp functions names in catalog."
    return tuple(_text(each, *wrong) for each in _array(properties.get(REFERRED_TEMP_FUNCTIONS, "[]"), *wrong))


def referred_temp_variable_names(properties: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """The variables that the query refers to, each by the parts of its name."""
    return _names(properties, REFERRED_TEMP_VARIABLES, "TEMP_VARIABLE_REFERENCE", "variable")


def schema_mode(properties: Mapping[str, str]) -> str:
    """What happens if the columns of the query change: one of `SCHEMA_MODES`."""
    mode = properties.get(SCHEMA_MODE, SCHEMA_MODES[0])
    if mode not in SCHEMA_MODES:
        raise SparkCatalogError("INTERNAL_ERROR", f"the view has the schema mode {mode!r}, which Spark does not know")
    return mode


def _numbered(properties: Mapping[str, str], count_key: str, prefix: str, condition: str, what: str) -> tuple[str, ...]:
    count = properties[count_key]
    if not count.isdigit():
        raise SparkCatalogError("INTERNAL_ERROR", f"the table property {count_key!r} is {count!r}, not a number")
    values = []
    for at in range(int(count)):
        value = properties.get(f"{prefix}{at}")
        if value is None:
            raise _corrupted(
                condition, f"Corrupted {what} in catalog: {count} parts expected, but part {at} is missing."
            )
        values.append(value)
    return tuple(values)


def _names(properties: Mapping[str, str], key: str, condition: str, kind: str) -> tuple[tuple[str, ...], ...]:
    wrong = condition, f"Corrupted view referred temp {kind} names in catalog."
    names = (_array(each, *wrong) for each in _array(properties.get(key, "[]"), *wrong))
    return tuple(tuple(_text(part, *wrong) for part in each) for each in names)


def _array(content: Any, condition: str, message: str) -> list[Any]:
    try:
        items = json.loads(content) if isinstance(content, str) else content
    except (ValueError, RecursionError) as error:
        raise _corrupted(condition, message) from error
    if not isinstance(items, list):
        raise _corrupted(condition, message)
    return items


def _text(content: Any, condition: str, message: str) -> str:
    if not isinstance(content, str):
        raise _corrupted(condition, message)
    return content


def _corrupted(condition: str, message: str) -> SparkCatalogError:
    return SparkCatalogError(f"INTERNAL_ERROR_METADATA_CATALOG.{condition}", message)

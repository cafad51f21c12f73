"""Hive's checks of transactional tables when they are created or altered. Pure functions.

2.3 requires buckets; later generations also have insert-only tables. Where Hive loads the classes of the
formats to see whether they can keep versions of rows, metastored has a list of their names.
"""

from __future__ import annotations

from typing import Final

from metastored.errors import MetaException
from metastored.model.acid import INSERT_ONLY, PROPERTIES, TRANSACTIONAL, in_any_case, is_insert_only
from metastored.model.kinds import is_external_by_either
from metastored.service.core.compat import Rules
from metastored.wire.generated.common import Table
from metastored.wire.structs import replace

_ACID_FORMATS: Final = frozenset(
    {
        ("org.apache.hadoop.hive.ql.io.orc.OrcInputFormat", "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat"),
    }
)


def _same(one: str | None, other: str | None) -> bool:
    return (one is None) == (other is None) and (one or "").lower() == (other or "").lower()


def checked_on_create(table: Table, rules: Rules) -> Table:
    """The table with its transactional parameters in Hive's form. Raises Hive's error if they are invalid."""
    parameters = dict(table.parameters or {})
    value = in_any_case(parameters, TRANSACTIONAL)
    if value is None:
        return table
    parameters = {key: item for key, item in parameters.items() if key.lower() != TRANSACTIONAL}
    if value.lower() == "false":
        return replace(table, parameters=parameters)
    if value.lower() != "true":
        raise MetaException(
            _named("'transactional' property of TBLPROPERTIES may only have value 'true'", table, rules)
        )
    _check_acid(table, in_any_case(parameters, PROPERTIES), rules)
    parameters[TRANSACTIONAL] = "true"
    return replace(table, parameters=_with_properties(parameters, table, rules))


def checked_on_alter(before: Table, table: Table, rules: Rules) -> Table:
    """As `checked_on_create`, for an altered table: a transactional table stays transactional."""
    requested = dict(table.parameters or {})
    if not requested:
        return table
    old = before.parameters or {}
    value, was = in_any_case(requested, TRANSACTIONAL), in_any_case(old, TRANSACTIONAL)
    properties, had = in_any_case(requested, PROPERTIES), in_any_case(old, PROPERTIES)
    parameters = {key: item for key, item in requested.items() if key.lower() != TRANSACTIONAL}
    if rules.insert_only_acid and value is not None and value.lower() == "false":
        value = None
    if value is not None:
        parameters[TRANSACTIONAL] = value
    becomes = value is not None and value.lower() == "true" and (was or "").lower() != "true"
    if becomes or ((value or "").lower() == "true" and not rules.insert_only_acid):
        if becomes and rules.insert_only_acid and properties is None:
            properties = parameters[PROPERTIES] = "default"
        _check_acid(table, properties, rules)
    elif not _same(was, value) and not (rules.insert_only_acid and is_insert_only(old)):
        raise MetaException(_named("TBLPROPERTIES with 'transactional'='true' cannot be unset", table, rules))
    if properties is not None:
        if was is None:
            parameters = _with_properties(parameters, table, rules)
        elif (had or "").lower() != properties.lower() and not (rules.insert_only_acid and is_insert_only(old)):
            raise MetaException(
                "TBLPROPERTIES with 'transactional_properties' cannot be altered after the table is created"
            )
    return replace(table, parameters=parameters)


def _check_acid(table: Table, properties: str | None, rules: Rules) -> None:
    sd = table.sd
    fits = sd is not None and (sd.inputFormat, sd.outputFormat) in _ACID_FORMATS
    if not rules.insert_only_acid:
        if not fits or sd is None or not sd.bucketCols:
            raise MetaException("The table must be bucketed and stored using an ACID compliant format (such as ORC)")
    elif not fits and (properties or "").lower() != INSERT_ONLY:
        raise MetaException(
            _named("The table must be stored using an ACID compliant format (such as ORC)", table, rules)
        )
    if is_external_by_either(table):
        raise MetaException(
            f"{table.dbName}.{table.tableName} cannot be declared transactional because it's an external table"
        )
    if sd is not None and sd.sortCols and rules.insert_only_acid and (properties or "").lower() != INSERT_ONLY:
        raise MetaException(
            f"Table {table.dbName}.{table.tableName} cannot support full ACID functionality since it is sorted."
        )


def _with_properties(parameters: dict[str, str], table: Table, rules: Rules) -> dict[str, str]:
    value = in_any_case(parameters, PROPERTIES)
    if value is None:
        if not rules.insert_only_acid:
            return parameters
        value = "default"
    if value.lower() not in ("default", INSERT_ONLY if rules.insert_only_acid else "legacy"):
        which = f"{table.dbName}.{table.tableName}" if rules.insert_only_acid else "the table"
        raise MetaException(
            f"Invalid transactional properties specified for {which} with the error"
            f" unknown value {value.lower()} for transactional_properties"
        )
    kept = {key: item for key, item in parameters.items() if key.lower() != PROPERTIES}
    return {**kept, PROPERTIES: value.lower()}


def _named(text: str, table: Table, rules: Rules) -> str:
    return f"{text}: {table.dbName}.{table.tableName}" if rules.insert_only_acid else text

"""SHOW CREATE TABLE: the statement that makes a table or a view again. Pure.

A table of Hive's is printed as Hive prints it, a table of Spark's as Spark prints it. Names and texts are quoted, so
that nothing in them is read as a part of the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from metastored.client.statements.constraints import Constraints
from metastored.client.statements.new_tables import HANDLER
from metastored.client.statements.printed_again import Expected, Item, makes
from metastored.client.statements.view_queries import source_of
from metastored.errors import InvalidOperationException
from metastored.hive.quoting import backquoted
from metastored.model import kinds
from metastored.model.names import TableName
from metastored.model.remotes.keys import is_remote
from metastored.model.spark.converting import from_hive_table
from metastored.model.spark.properties import HIVE_STATISTICS, PROVIDER, SPARK_SQL_PREFIX
from metastored.model.spark.restoring import restore_table_metadata
from metastored.model.spark.type_strings import sql
from metastored.model.spark.types import CURRENT_DEFAULT
from metastored.model.spark.values import CatalogTable, CatalogTableType
from metastored.statements.printing import quoted
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database

LEFT_OUT: Final = HIVE_STATISTICS | {
    *("transient_lastDdlTime", "EXTERNAL", "comment", "last_modified_by", "last_modified_time", HANDLER)
}
"""Parameters that the statement has elsewhere, or that the server sets."""
DEFAULT_SERDE_PARAMETERS: Final = {"serialization.format": "1"}
"""Those of a new table, which Hive does not print."""


def create_statement(table: Table, constraints: Constraints) -> str:
    """The statement, without `;`. Raises InvalidOperationException for a remote table, and where none is possible."""
    name = TableName(table.catName or "", table.dbName or "", table.tableName or "")
    if is_remote(table.parameters):
        raise InvalidOperationException(f"{name} is a remote table: use SHOW CREATE REMOTE TABLE {name}")
    if kinds.is_any_view(table):
        text, expected = _view(table, name), _expected_view(table)
    elif PROVIDER in (table.parameters or {}):
        spark = restore_table_metadata(from_hive_table(table))
        text, expected = _spark_table(spark, name), _expected_spark(spark)
    else:
        text, expected = _hive_table(table, name, constraints), _expected_table(table, constraints)
    if not makes(text, expected):
        raise InvalidOperationException(
            f"no statement makes {name} again: a type, a default, a condition or the query in it cannot be parsed; "
            f"DESCRIBE FORMATTED {name} shows it"
        )
    return text


def create_database_statement(database: Database) -> str:
    """The statement that makes a database again, in Hive 4's layout. Raises InvalidOperationException for a remote."""
    name = database.name or ""
    if is_remote(database.parameters):
        raise InvalidOperationException(f"{name} is a remote database: use SHOW CREATE REMOTE DATABASE {name}")
    full = backquoted(name) if database.catalogName in (None, "", "hive") else (
        f"{backquoted(database.catalogName or '')}.{backquoted(name)}"
    )  # fmt: skip
    lines = [f"CREATE DATABASE {full}"]
    clauses = {
        "COMMENT": database.description,
        "LOCATION": database.locationUri,
        "MANAGEDLOCATION": database.managedLocationUri,
    }
    for word, text in clauses.items():
        if text:
            lines += [word, f"  {quoted(text)}"]
    if database.parameters:
        lines += ["WITH DBPROPERTIES (", f"{_pairs(database.parameters)})"]
    return "\n".join(lines)


def _plain(name: str) -> str:
    """A name as it is where it is a word, else in backquotes."""
    return name if re.fullmatch(r"\w+", name, re.ASCII) else backquoted(name)


def full_name(name: TableName) -> str:
    """A table with its database, and with its catalog unless that is the default one."""
    parts = (name.database, name.table) if name.catalog in ("", "hive") else name
    return ".".join(backquoted(part) for part in parts)


# --- Hive -----------------------------------------------------------------------------------------------------


def _hive_table(table: Table, name: TableName, constraints: Constraints) -> str:
    sd = table.sd or StorageDescriptor()
    parameters = table.parameters or {}
    external = "EXTERNAL " if kinds.is_external_by_either(table) else ""
    items = [*_columns(sd.cols or (), constraints), *_constraints(constraints)]
    lines = [f"CREATE {external}TABLE {full_name(name)}(", ", \n".join(f"  {item}" for item in items) + ")"]
    if "comment" in parameters:
        lines.append(f"COMMENT {quoted(parameters['comment'])}")
    if table.partitionKeys:
        keys = ", \n".join(f"  {item}" for item in _columns(table.partitionKeys, Constraints()))
        lines += ["PARTITIONED BY ( ", f"{keys})"]
    if sd.bucketCols and (sd.numBuckets or 0) > 0:
        lines += _buckets(sd)
    shown = _table_properties(table)
    return "\n".join([*lines, *_storage(table), *_properties(shown)])


def _storage(table: Table) -> list[str]:
    """ROW FORMAT, STORED AS or STORED BY, and LOCATION."""
    sd, parameters = table.sd or StorageDescriptor(), table.parameters or {}
    serde = sd.serdeInfo or SerDeInfo()
    lines = ["ROW FORMAT SERDE ", f"  {quoted(serde.serializationLib or '')} "]
    if serde.parameters and serde.parameters != DEFAULT_SERDE_PARAMETERS:
        lines += ["WITH SERDEPROPERTIES ( ", f"{_pairs(serde.parameters)}) "]
    if HANDLER in parameters:
        lines += ["STORED BY ", f"  {quoted(parameters[HANDLER])} "]
    elif sd.inputFormat and sd.outputFormat:
        lines += ["STORED AS INPUTFORMAT ", f"  {quoted(sd.inputFormat)} "]
        lines += ["OUTPUTFORMAT ", f"  {quoted(sd.outputFormat)}"]
    if sd.location:
        lines += ["LOCATION", f"  {quoted(sd.location)}"]
    return lines


def _table_properties(table: Table) -> dict[str, str]:
    """Without those in which Spark stores its own view of a table of Hive's: no statement can set them."""
    return {
        key: value
        for key, value in (table.parameters or {}).items()
        if key not in LEFT_OUT and not key.startswith(SPARK_SQL_PREFIX)
    }


def _properties(shown: Mapping[str, str]) -> list[str]:
    return ["TBLPROPERTIES (", f"{_pairs(shown)})"] if shown else []


def _columns(columns: Iterable[FieldSchema], constraints: Constraints) -> list[str]:
    not_null = {each.column_name for each in constraints.not_null}
    defaults = {each.column_name: each.default_value for each in constraints.defaults}
    lines = []
    for each in columns:
        text = f"{backquoted(each.name or '')} {each.type}"
        text += " NOT NULL" if each.name in not_null else ""
        text += f" DEFAULT {defaults[each.name]}" if each.name in defaults else ""
        text += f" COMMENT {quoted(each.comment)}" if each.comment else ""
        lines.append(text)
    return lines


def _constraints(constraints: Constraints) -> list[str]:
    clauses: list[str] = []
    if constraints.primary_keys:
        keys = sorted(constraints.primary_keys, key=lambda each: each.key_seq or 0)
        clauses.append(
            f"{_named(keys[0].pk_name)}PRIMARY KEY ({_names(each.column_name for each in keys)})"
            f"{_states(keys[0].enable_cstr, keys[0].validate_cstr, keys[0].rely_cstr)}"
        )
    for name in dict.fromkeys(each.uk_name for each in constraints.unique):
        rows = [each for each in constraints.unique if each.uk_name == name]
        states = _states(rows[0].enable_cstr, rows[0].validate_cstr, rows[0].rely_cstr)
        clauses.append(f"{_named(name)}UNIQUE ({_names(each.column_name for each in rows)}){states}")
    for name in dict.fromkeys(each.fk_name for each in constraints.foreign_keys):
        links = [each for each in constraints.foreign_keys if each.fk_name == name]
        parent = f"{backquoted(links[0].pktable_db or '')}.{backquoted(links[0].pktable_name or '')}"
        states = _states(links[0].enable_cstr, links[0].validate_cstr, links[0].rely_cstr)
        own, others = _names(each.fkcolumn_name for each in links), _names(each.pkcolumn_name for each in links)
        clauses.append(f"{_named(name)}FOREIGN KEY ({own}) REFERENCES {parent} ({others}){states}")
    for check in constraints.checks:
        states = "" if check.enable_cstr else " DISABLE"
        clauses.append(f"{_named(check.dc_name)}CHECK ({check.check_expression}){states}")
    return clauses


def _named(name: str | None) -> str:
    return f"CONSTRAINT {backquoted(name)} " if name else ""


def _names(names: Iterable[str | None]) -> str:
    return ", ".join(backquoted(name or "") for name in names)


def _states(enabled: bool | None, validated: bool | None, relied: bool | None) -> str:
    words = ("ENABLE" if enabled else "DISABLE", "VALIDATE" if validated else "NOVALIDATE", "RELY" if relied else "")
    return "".join(f" {word}" for word in words if word)


def _buckets(sd: StorageDescriptor) -> list[str]:
    lines = ["CLUSTERED BY ( ", ", \n".join(f"  {backquoted(name)}" for name in sd.bucketCols or ()) + ") "]
    if sd.sortCols:
        ordered = [f"  {backquoted(each.col or '')} {'ASC' if each.order else 'DESC'}" for each in sd.sortCols]
        lines += ["SORTED BY ( ", ", \n".join(ordered) + ") "]
    return [*lines, f"INTO {sd.numBuckets} BUCKETS"]


def _pairs(parameters: Mapping[str, str]) -> str:
    return ", \n".join(f"  {quoted(key)}={quoted(value)}" for key, value in sorted(parameters.items()))


def _expected_table(table: Table, constraints: Constraints) -> Expected:
    sd = table.sd or StorageDescriptor()
    not_null = {each.column_name for each in constraints.not_null}
    defaults = {each.column_name: each.default_value for each in constraints.defaults}
    columns = tuple(
        Item(each.name or "", each.type, each.comment or None, each.name in not_null, defaults.get(each.name))
        for each in sd.cols or ()
    )
    keys = (constraints.primary_keys[:1], {each.uk_name for each in constraints.unique})
    return Expected(
        columns,
        tuple(Item(each.name or "", each.type, each.comment or None) for each in table.partitionKeys or ()),
        (table.parameters or {}).get("comment"),
        sd.location,
        _table_properties(table),
        conditions=tuple(each.check_expression or "" for each in constraints.checks),
        keys=sum(map(len, keys)) + len({each.fk_name for each in constraints.foreign_keys}),
        is_bucketed=bool(sd.bucketCols) and (sd.numBuckets or 0) > 0,
    )


# --- Spark ----------------------------------------------------------------------------------------------------


def _spark_table(table: CatalogTable, name: TableName) -> str:
    columns = []
    for each in table.schema:
        text = f"  {backquoted(each.name)} {each.declared_type or sql(each.data_type)}"
        text += "" if each.nullable else " NOT NULL"
        text += f" DEFAULT {each.metadata[CURRENT_DEFAULT]}" if CURRENT_DEFAULT in each.metadata else ""
        text += f" COMMENT {quoted(each.comment)}" if each.comment is not None else ""
        columns.append(text)
    lines = [f"CREATE TABLE {full_name(name)} (", ",\n".join(columns) + ")", f"USING {_plain(table.provider or '')}"]
    hidden = ("path", "serialization.format")
    options = {key: value for key, value in table.storage.properties.items() if key not in hidden}
    if options:
        lines += ["OPTIONS (", _pairs(options).replace(", \n", ",\n") + ")"]
    if table.partition_column_names:
        lines.append(f"PARTITIONED BY ({_names(table.partition_column_names)})")
    if (spec := table.bucket_spec) is not None:
        lines.append(f"CLUSTERED BY ({_names(spec.bucket_column_names)})")
        if spec.sort_column_names:
            lines.append(f"SORTED BY ({_names(spec.sort_column_names)})")
        lines.append(f"INTO {spec.num_buckets} BUCKETS")
    if table.comment is not None:
        lines.append(f"COMMENT {quoted(table.comment)}")
    if table.table_type is CatalogTableType.EXTERNAL and table.storage.location_uri is not None:
        lines.append(f"LOCATION {quoted(table.storage.location_uri)}")
    if shown := _spark_properties(table):
        lines += ["TBLPROPERTIES (", _pairs(shown).replace(", \n", ",\n") + ")"]
    return "\n".join(lines)


def _spark_properties(table: CatalogTable) -> dict[str, str]:
    return {
        key: value
        for key, value in table.properties.items()
        if key not in LEFT_OUT and not key.startswith(SPARK_SQL_PREFIX)
    }


def _expected_spark(table: CatalogTable) -> Expected:
    columns = tuple(
        Item(
            each.name,
            each.declared_type or sql(each.data_type),
            each.comment,
            not each.nullable,
            each.metadata.get(CURRENT_DEFAULT),
        )
        for each in table.schema
    )
    return Expected(
        columns,
        tuple(Item(name) for name in table.partition_column_names),
        table.comment,
        table.storage.location_uri if table.table_type is CatalogTableType.EXTERNAL else None,
        _spark_properties(table),
        is_bucketed=table.bucket_spec is not None,
        provider=table.provider,
    )


def _view(table: Table, name: TableName) -> str:
    query = table.viewOriginalText or table.viewExpandedText or ""
    typed = source_of(query) is None
    columns = []
    for each in (table.sd.cols if table.sd is not None else None) or ():
        text = backquoted(each.name or "") + (f" {each.type}" if typed else "")
        columns.append(text + (f" COMMENT {quoted(each.comment)}" if each.comment else ""))
    parameters, shown = table.parameters or {}, _view_properties(table)
    materialized = kinds.is_materialized_view(table)
    word = "MATERIALIZED VIEW" if materialized else "VIEW"
    lines = [f"CREATE {word} {full_name(name)} ({', '.join(columns)})"]
    if materialized and not table.rewriteEnabled:
        lines.append("DISABLE REWRITE")
    if "comment" in parameters:
        lines.append(f"COMMENT {quoted(parameters['comment'])}")
    if materialized:
        lines += _storage(table)
    return "\n".join([*lines, *_properties(shown), f"AS {query}"])


def _view_properties(table: Table) -> dict[str, str]:
    hidden = ("view.", "spark.")
    parameters = table.parameters or {}
    return {key: value for key, value in parameters.items() if key not in LEFT_OUT and not key.startswith(hidden)}


def _expected_view(table: Table) -> Expected:
    query = table.viewOriginalText or table.viewExpandedText or ""
    typed = source_of(query) is None
    sd = table.sd or StorageDescriptor()
    return Expected(
        tuple(Item(each.name or "", each.type if typed else None, each.comment or None) for each in sd.cols or ()),
        (),
        (table.parameters or {}).get("comment"),
        sd.location if kinds.is_materialized_view(table) else None,
        _view_properties(table),
        query=query,
    )

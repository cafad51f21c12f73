"""DESCRIBE FORMATTED and SHOW TABLE EXTENDED, in Hive's layout. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from metastored.client.statements.descriptions import COLUMNS, Row, remote_rows
from metastored.client.statements.values import Result
from metastored.hive.names import make_part_name
from metastored.model import kinds
from metastored.model.partitions import keys_of
from metastored.model.remotes.keys import is_remote, without_remote_keys
from metastored.wire.generated.common import FieldSchema, PrincipalType, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition

_THRIFT: Final = {"boolean": "bool", "tinyint": "byte", "smallint": "i16", "int": "i32", "bigint": "i64"}
"""Types that Hive writes in Thrift's words in SHOW TABLE EXTENDED."""
_BLANK: Final[Row] = ("", None, None)
_FILES: Final = (("totalNumberFiles", "numFiles"), ("totalFileSize", "totalSize"))


def formatted_table(table: Table) -> Result:
    """DESCRIBE FORMATTED, with the remote configuration at the end."""
    parameters = table.parameters or {}
    shown = without_remote_keys(parameters) if is_remote(parameters) else parameters
    rows = _columns(table)
    rows += [_BLANK, ("# Detailed Table Information", None, None)]
    rows += [
        ("Database:           ", table.dbName, None),
        ("OwnerType:          ", PrincipalType.NAMES.get(table.ownerType or PrincipalType.USER), None),
        ("Owner:              ", table.owner, None),
        ("CreateTime:         ", _time(table.createTime), None),
        ("LastAccessTime:     ", _time(table.lastAccessTime) or "UNKNOWN", None),
        ("Retention:          ", str(table.retention or 0), None),
    ]
    if not kinds.is_view(table):
        rows.append(("Location:           ", table.sd.location if table.sd is not None else None, None))
    rows.append(("Table Type:         ", table.tableType, None))
    rows += _parameters("Table Parameters:", shown)
    rows += _storage(table.sd)
    if table.viewOriginalText or table.viewExpandedText:
        rows += [_BLANK, ("# View Information", None, None)]
        rows.append(("Original Query:     ", table.viewOriginalText, None))
        rows.append(("Expanded Query:     ", table.viewExpandedText, None))
    rows += [(name, value, None) for name, value in remote_rows(parameters)]
    return Result(COLUMNS, tuple(rows))


def formatted_partition(table: Table, partition: Partition) -> Result:
    """DESCRIBE FORMATTED of a partition."""
    rows = _columns(table)
    rows += [_BLANK, ("# Detailed Partition Information", None, None)]
    rows += [
        ("Partition Value:    ", f"[{', '.join(partition.values or ())}]", None),
        ("Database:           ", table.dbName, None),
        ("Table:              ", table.tableName, None),
        ("CreateTime:         ", _time(partition.createTime), None),
        ("LastAccessTime:     ", _time(partition.lastAccessTime) or "UNKNOWN", None),
        ("Location:           ", partition.sd.location if partition.sd is not None else None, None),
    ]
    rows += _parameters("Partition Parameters:", partition.parameters or {})
    rows += _storage(partition.sd)
    return Result(COLUMNS, tuple(rows))


def extended_partition(table: Table, partition: Partition) -> Result:
    """DESCRIBE EXTENDED of a partition, in Spark's layout."""
    keys = keys_of(table)
    sd = partition.sd or StorageDescriptor()
    serde = sd.serdeInfo or SerDeInfo()
    columns = [(each.name, each.type, each.comment) for each in (*_data_columns(table), *(table.partitionKeys or ()))]
    rows: list[Row] = [*columns, ("# Partition Information", "", ""), ("# col_name", "data_type", "comment")]
    rows += [(each.name, each.type, each.comment) for each in table.partitionKeys or ()]
    facts = (
        ("Database", table.dbName),
        ("Table", table.tableName),
        ("Partition Values", f"[{make_part_name(keys, partition.values or ()).replace('/', ', ')}]"),
        ("Location", sd.location),
        ("Serde Library", serde.serializationLib),
        ("InputFormat", sd.inputFormat),
        ("OutputFormat", sd.outputFormat),
        ("Partition Parameters", _map(partition.parameters or {})),
        ("Created Time", _time(partition.createTime)),
    )
    rows += [("", "", ""), ("# Detailed Partition Information", "", "")]
    rows += [(name, value, "") for name, value in facts if value]
    return Result(COLUMNS, tuple(rows))


def extended_tables(tables: Iterable[tuple[Table, Partition | None]]) -> Result:
    """SHOW TABLE EXTENDED: lines of text for each table."""
    rows: list[tuple[str]] = []
    for table, partition in tables:
        sd = (table.sd if partition is None else partition.sd) or StorageDescriptor()
        parameters = (table.parameters if partition is None else partition.parameters) or {}
        rows += [
            (f"tableName:{table.tableName}",),
            (f"owner:{table.owner or ''}",),
            (f"location:{sd.location or ''}",),
            (f"inputformat:{sd.inputFormat or ''}",),
            (f"outputformat:{sd.outputFormat or ''}",),
            (f"columns:struct columns {{ {_struct(_data_columns(table))}}}",),
            (f"partitioned:{'true' if table.partitionKeys else 'false'}",),
            (f"partitionColumns:{_partition_columns(table)}",),
            *((f"{word}:{parameters.get(key, 'unknown')}",) for word, key in _FILES),
            ("",),
        ]
    return Result(("tab_name",), tuple(rows))


def _columns(table: Table) -> list[Row]:
    rows: list[Row] = [("# col_name            ", "data_type           ", "comment             ")]
    rows += [(each.name, each.type, each.comment or "") for each in _data_columns(table)]
    if table.partitionKeys:
        rows += [_BLANK, ("# Partition Information", None, None)]
        rows.append(("# col_name            ", "data_type           ", "comment             "))
        rows += [(each.name, each.type, each.comment or "") for each in table.partitionKeys]
    return rows


def _parameters(heading: str, parameters: Mapping[str, str]) -> list[Row]:
    if not parameters:
        return []
    return [(heading, None, None), *(("", key, parameters[key]) for key in sorted(parameters))]


def _storage(sd: StorageDescriptor | None) -> list[Row]:
    sd = sd or StorageDescriptor()
    serde = sd.serdeInfo or SerDeInfo()
    ordered = [f"Order(col:{each.col}, order:{each.order})" for each in sd.sortCols or ()]
    rows: list[Row] = [
        _BLANK,
        ("# Storage Information", None, None),
        ("SerDe Library:      ", serde.serializationLib, None),
        ("InputFormat:        ", sd.inputFormat, None),
        ("OutputFormat:       ", sd.outputFormat, None),
        ("Compressed:         ", "Yes" if sd.compressed else "No", None),
        ("Num Buckets:        ", str(sd.numBuckets if sd.numBuckets is not None else -1), None),
        ("Bucket Columns:     ", f"[{', '.join(sd.bucketCols or ())}]", None),
        ("Sort Columns:       ", f"[{', '.join(ordered)}]", None),
    ]
    return rows + _parameters("Storage Desc Params:", serde.parameters or {})


def _data_columns(table: Table) -> tuple[FieldSchema, ...]:
    return (table.sd.cols if table.sd is not None else None) or ()


def _struct(columns: Iterable[FieldSchema]) -> str:
    return ", ".join(f"{_THRIFT.get(each.type or '', each.type)} {each.name}" for each in columns)


def _partition_columns(table: Table) -> str:
    return f"struct partition_columns {{ {_struct(table.partitionKeys)}}}" if table.partitionKeys else ""


def _time(seconds: int | None) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).strftime("%a %b %d %H:%M:%S UTC %Y") if seconds else None


def _map(parameters: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key}={parameters[key]}" for key in sorted(parameters)) + "}" if parameters else ""

"""The files of a scan and their deletes, in the JSON of the specification. Imports pyiceberg: import it late.

Deletes apply by the specification's rules for sequence numbers and partitions: position deletes and deletion vectors to
files that are not younger, equality deletes to older ones. Nothing here reads a file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from pyiceberg import types as t
from pyiceberg.conversions import from_bytes, to_json
from pyiceberg.utils.decimal import bytes_to_decimal

from metastored.iceberg.requests import Json
from metastored.model.iceberg.avro import Broken
from metastored.model.iceberg.manifests import DATA, EQUALITY, Entry, File

__all__ = ["Deletes", "PartitionType", "file_json", "partition_values"]

PATH: Final = 2147483546
"""The id of the column of position deletes that has the path of the data file."""
CONTENTS: Final = ("data", "position-deletes", "equality-deletes")
PartitionType = list[tuple[int, Any]]
"""The ids and types of the fields of a partition spec."""
_NUMBERS: Final = (
    t.IntegerType, t.LongType, t.DateType, t.TimeType, t.TimestampType, t.TimestamptzType, t.TimestampNanoType,
    t.TimestamptzNanoType,
)  # fmt: skip


# --- values ---------------------------------------------------------------------------------------------------------


def partition_values(file: File, fields: PartitionType) -> tuple[Any, ...]:
    """The values of a partition as pyiceberg's evaluators expect them. Raises Broken if they are of other types."""
    return tuple(_value(file.partition.get(id), type) for id, type in fields)


def _value(raw: Any, type: Any) -> Any:
    if raw is None or isinstance(type, t.UnknownType):
        return None
    kind: Any = raw.__class__
    if isinstance(type, t.DecimalType) and kind is bytes and len(raw) <= 16:
        return bytes_to_decimal(raw, type.scale)
    if isinstance(type, t.UUIDType) and kind is bytes and len(raw) == 16:
        return UUID(bytes=raw)
    if isinstance(type, (t.FloatType, t.DoubleType)) and kind is float:
        return raw
    for types, expected in (
        (_NUMBERS, int),
        ((t.BooleanType,), bool),
        ((t.StringType,), str),
        ((t.FixedType, t.BinaryType), bytes),
    ):
        if isinstance(type, types) and kind is expected:
            return raw
    raise Broken("it has a partition whose values are not those of its partition spec")


def _json(type: Any, value: Any) -> Any:
    """A value as the specification writes it; None if it has no such form."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.hex().upper()
    try:
        if isinstance(value, Decimal):
            return f"{value:f}"
        return to_json(type, value)
    except (TypeError, ValueError, ArithmeticError, NotImplementedError):
        return None


def _bounds(bounds: Mapping[int, bytes] | None, columns: Mapping[int, Any]) -> Json | None:
    """Bounds of columns. Those that are not of the type of the column, or have no JSON, are left out."""
    by_column: dict[int, Any] = {}
    for id, data in (bounds or {}).items():
        if id not in columns:
            continue
        try:
            value = _json(columns[id], from_bytes(columns[id], data))
        except Exception:  # struct.error and others, by the type: a bound is only a hint.
            continue
        if value is not None and value == value:
            by_column[id] = value
    return _as_map(by_column, columns)


def _as_map(values: Mapping[int, Any] | None, columns: Collection[int]) -> Json | None:
    if values is None:
        return None
    kept = {id: value for id, value in values.items() if id in columns}
    return {"keys": list(kept), "values": list(kept.values())}


def file_json(entry: Entry, fields: PartitionType, values: tuple[Any, ...], columns: Mapping[int, Any]) -> Json:
    """A file in the specification's form. `columns` are the ids and types of those whose statistics are sent."""
    file = entry.file
    json: Json = {
        "spec-id": entry.spec_id,
        "partition": [_json(type, value) for (_, type), value in zip(fields, values, strict=True)],
        "content": CONTENTS[file.content],
        "file-path": file.file_path,
        "file-format": file.file_format,
        "file-size-in-bytes": file.file_size_in_bytes,
        "record-count": file.record_count,
        "key-metadata": None if file.key_metadata is None else file.key_metadata.hex().upper(),
        "split-offsets": file.split_offsets,
        "sort-order-id": file.sort_order_id,
    }
    if file.content == DATA:
        json["first-row-id"] = file.first_row_id
        if columns:
            json["column-sizes"] = _as_map(file.column_sizes, columns)
            json["value-counts"] = _as_map(file.value_counts, columns)
            json["null-value-counts"] = _as_map(file.null_value_counts, columns)
            json["nan-value-counts"] = _as_map(file.nan_value_counts, columns)
            json["lower-bounds"] = _bounds(file.lower_bounds, columns)
            json["upper-bounds"] = _bounds(file.upper_bounds, columns)
    elif file.content == EQUALITY:
        json["equality-ids"] = file.equality_ids
    else:
        json["referenced-data-file"] = file.referenced_data_file
        json["content-offset"] = file.content_offset
        json["content-size-in-bytes"] = file.content_size_in_bytes
    return {name: value for name, value in json.items() if value is not None}


# --- deletes --------------------------------------------------------------------------------------------------------

Partition = tuple[int, tuple[Any, ...]]
"""A partition spec and the values of a partition."""


class Deletes:
    """The delete files of a snapshot, by where they apply."""

    def __init__(self) -> None:
        self._vectors: dict[str, list[tuple[Entry, Json]]] = defaultdict(list)
        self._by_path: dict[str, list[tuple[Entry, Json]]] = defaultdict(list)
        self._positions: dict[Partition, list[tuple[Entry, Json]]] = defaultdict(list)
        self._equality: dict[Partition, list[tuple[Entry, Json]]] = defaultdict(list)
        self._everywhere: list[tuple[Entry, Json]] = []

    def add(self, entry: Entry, values: tuple[Any, ...], json: Json, *, partitioned: bool) -> None:
        """Adds a delete file of a partition. Equality deletes of a spec without partitions apply to all files."""
        file, partition = entry.file, _partition(entry, values)
        if file.content == EQUALITY:
            (self._equality[partition] if partitioned else self._everywhere).append((entry, json))
        elif file.file_format == "puffin" and file.referenced_data_file is not None:
            self._vectors[file.referenced_data_file].append((entry, json))
        elif (path := _only_path(file)) is not None:
            self._by_path[path].append((entry, json))
        else:
            self._positions[partition].append((entry, json))

    def of(self, entry: Entry, values: tuple[Any, ...]) -> list[Json]:
        """The JSON of the deletes that apply to a data file. Callers must not change it."""
        partition, path, at = _partition(entry, values), entry.file.file_path, entry.sequence_number
        deletes = [json for each, json in self._everywhere if each.sequence_number > at]
        deletes += [json for each, json in self._equality.get(partition, ()) if each.sequence_number > at]
        vectors = [json for each, json in self._vectors.get(path, ()) if each.sequence_number >= at]
        if vectors:
            # A deletion vector has the rows of all position deletes before it.
            return deletes + vectors
        deletes += [json for each, json in self._by_path.get(path, ()) if each.sequence_number >= at]
        name = path.encode()
        return deletes + [
            json
            for each, json in self._positions.get(partition, ())
            if each.sequence_number >= at and _may_have(each.file, name)
        ]


def _partition(entry: Entry, values: tuple[Any, ...]) -> Partition:
    # NaN is not equal to itself, and is one partition.
    return entry.spec_id, tuple(each.hex() if isinstance(each, float) else each for each in values)


def _only_path(file: File) -> str | None:
    """The one data file that a file of position deletes is about, if its metadata says it."""
    if file.referenced_data_file is not None:
        return file.referenced_data_file
    lower, upper = (file.lower_bounds or {}).get(PATH), (file.upper_bounds or {}).get(PATH)
    if lower is None or lower != upper:
        return None
    try:
        return lower.decode()
    except UnicodeDecodeError:
        return None


def _may_have(file: File, path: bytes) -> bool:
    lower, upper = (file.lower_bounds or {}).get(PATH), (file.upper_bounds or {}).get(PATH)
    return lower is None or upper is None or lower <= path <= upper

"""Manifest lists and manifests: what a snapshot consists of, read from bytes that anybody may have written. Pure.

Fields are found by Iceberg's ids and checked for their types. The names of attributes are those of pyiceberg's classes,
since its evaluators read them. What a manifest leaves out is inherited as the specification says. Nothing here opens a
file, and no path is followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from metastored.model.iceberg.avro import Broken, Record, records_of
from metastored.model.iceberg.limits import MAX_FILE

__all__ = ["ADDED", "DATA", "EQUALITY", "POSITIONS", "Entry", "File", "Manifest", "Summary", "entries", "manifests"]

DATA, POSITIONS, EQUALITY = 0, 1, 2
"""Contents of files."""
EXISTING, ADDED, DELETED = 0, 1, 2
"""States of entries."""
FORMATS: Final = ("avro", "orc", "parquet", "puffin")
MAX_MANIFESTS: Final = 100_000
MAX_LONG: Final = 2**63 - 1


class Summary(NamedTuple):
    """The values of one partition field in a manifest."""

    contains_null: bool
    contains_nan: bool | None
    lower_bound: bytes | None
    upper_bound: bytes | None


class Manifest(NamedTuple):
    """A line of a manifest list."""

    path: str
    length: int
    spec_id: int
    deletes: bool
    sequence_number: int
    added_snapshot_id: int | None
    files: int
    """How many it has, as its writer counted; 0 if the list does not say it. It may be wrong."""
    partitions: list[Summary] | None
    first_row_id: int | None


class File(NamedTuple):
    """A data file or a delete file."""

    content: int
    file_path: str
    file_format: str
    partition: Record
    """Values as Avro has them, by the ids of partition fields."""
    record_count: int
    file_size_in_bytes: int
    column_sizes: Mapping[int, int] | None
    value_counts: Mapping[int, int] | None
    null_value_counts: Mapping[int, int] | None
    nan_value_counts: Mapping[int, int] | None
    lower_bounds: Mapping[int, bytes] | None
    upper_bounds: Mapping[int, bytes] | None
    key_metadata: bytes | None
    split_offsets: list[int] | None
    equality_ids: list[int] | None
    sort_order_id: int | None
    first_row_id: int | None
    referenced_data_file: str | None
    content_offset: int | None
    content_size_in_bytes: int | None


class Entry(NamedTuple):
    """A file of a snapshot, with what it inherits from its manifest."""

    added: bool
    snapshot_id: int | None
    sequence_number: int
    spec_id: int
    file: File


def manifests(data: bytes) -> list[Manifest]:
    """The manifests of a manifest list. Raises Broken."""
    manifests_listed: list[Manifest] = []
    for record in records_of(data, MAX_FILE):
        if len(manifests_listed) == MAX_MANIFESTS:
            raise Broken(f"it has more than {MAX_MANIFESTS:,} manifests")
        manifests_listed.append(_manifest(record))
    return manifests_listed


def _manifest(record: Record) -> Manifest:
    if record.get(519) is not None:
        raise Broken("it names an encrypted manifest, which this server does not read")
    counts = [_optional(record, id, int) or 0 for id in (504, 505)]
    return Manifest(
        path=_required(record, 500, str),
        length=_required(record, 501, int),
        spec_id=_required(record, 502, int),
        deletes=_choice(_optional(record, 517, int) or 0, (0, 1)) == 1,
        sequence_number=_optional(record, 515, int) or 0,
        added_snapshot_id=_optional(record, 503, int),
        files=sum(max(0, each) for each in counts),
        partitions=_summaries(_optional(record, 507, list)),
        first_row_id=_optional(record, 520, int),
    )


def _summaries(records: list[Any] | None) -> list[Summary] | None:
    if records is None:
        return None
    if not all(isinstance(each, dict) for each in records):
        raise Broken("it has a partition summary that is not a record")
    return [
        Summary(
            _required(each, 509, bool), _optional(each, 518, bool), _optional(each, 510, bytes),
            _optional(each, 511, bytes),
        )
        for each in records
    ]  # fmt: skip


def entries(data: bytes, manifest: Manifest) -> Iterator[Entry]:
    """The files of a manifest that are part of its snapshots, not those that it removes. Raises Broken."""
    if len(data) < manifest.length:
        # A file that was cut at the end of a block is valid Avro, and would be a scan without some of its files.
        raise Broken("it is shorter than its manifest list says")
    next_row = manifest.first_row_id
    for record in records_of(data, MAX_FILE):
        status = _choice(_required(record, 0, int), (EXISTING, ADDED, DELETED))
        file = _file(_required(record, 2, dict))
        if status == DELETED:
            continue
        if (file.content != DATA) != manifest.deletes:
            raise Broken("it has data files and delete files, of which a manifest has one kind")
        if file.content == DATA and file.first_row_id is None and next_row is not None:
            file = file._replace(first_row_id=next_row)
            next_row += file.record_count
            if next_row > MAX_LONG:
                raise Broken("it has more rows than ids of rows")
        sequence = _optional(record, 3, int)
        if sequence is None:
            if status != ADDED and manifest.sequence_number != 0:
                raise Broken("it has an old file without a sequence number")
            sequence = manifest.sequence_number
        snapshot = _optional(record, 1, int)
        yield Entry(
            status == ADDED,
            manifest.added_snapshot_id if snapshot is None else snapshot,
            sequence,
            manifest.spec_id,
            file,
        )


def _file(record: Record) -> File:
    format = _required(record, 101, str).lower()
    return File(
        content=_choice(_optional(record, 134, int) or 0, (DATA, POSITIONS, EQUALITY)),
        file_path=_required(record, 100, str),
        file_format=_choice(format, FORMATS),
        partition=_optional(record, 102, dict) or {},
        record_count=_natural(record, 103),
        file_size_in_bytes=_natural(record, 104),
        column_sizes=_by_column(record, 108, int),
        value_counts=_by_column(record, 109, int),
        null_value_counts=_by_column(record, 110, int),
        nan_value_counts=_by_column(record, 137, int),
        lower_bounds=_by_column(record, 125, bytes),
        upper_bounds=_by_column(record, 128, bytes),
        key_metadata=_optional(record, 131, bytes),
        split_offsets=_numbers(record, 132),
        equality_ids=_numbers(record, 135),
        sort_order_id=_optional(record, 140, int),
        first_row_id=_optional(record, 142, int),
        referenced_data_file=_optional(record, 143, str),
        content_offset=_optional(record, 144, int),
        content_size_in_bytes=_optional(record, 145, int),
    )


# --- fields ---------------------------------------------------------------------------------------------------------


def _optional(record: Record, id: int, kind: type) -> Any:
    value = record.get(id)
    if value is not None and type(value) is not kind:
        raise Broken(f"its field {id} has another type than Iceberg's")
    return value


def _required(record: Record, id: int, kind: type) -> Any:
    value = _optional(record, id, kind)
    if value is None:
        raise Broken(f"it has no value of the field {id}")
    return value


def _natural(record: Record, id: int) -> int:
    value: int = _required(record, id, int)
    if value < 0:
        raise Broken(f"its field {id} is negative")
    return value


def _choice(value: Any, values: tuple[Any, ...]) -> Any:
    if value not in values:
        raise Broken(f"it has a value that is none of {', '.join(map(str, values))}")
    return value


def _by_column(record: Record, id: int, kind: type) -> Mapping[int, Any] | None:
    """A map by the ids of columns."""
    by_column: Mapping[int, Any] | None = _optional(record, id, dict)
    if by_column and not all(type(key) is int and type(value) is kind for key, value in by_column.items()):
        raise Broken(f"its field {id} has another type than Iceberg's")
    return by_column


def _numbers(record: Record, id: int) -> list[int] | None:
    numbers: list[int] | None = _optional(record, id, list)
    if numbers and not all(type(each) is int for each in numbers):
        raise Broken(f"its field {id} has another type than Iceberg's")
    return numbers

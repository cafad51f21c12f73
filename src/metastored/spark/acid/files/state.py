"""The files of a table at a snapshot: what the scan reads, and which files deletes can touch. No Spark job is run.

For each partition the directory is listed and resolved. The tails of delete files say of which write ids and buckets
they delete rows: a data file of another bucket or of other write ids is read without a join. The names of delete files
say nothing: Trino writes the deletes of all buckets of a table without buckets into `bucket_00000`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException, NotSupported
from metastored.hive.locations import join
from metastored.hive.names import DEFAULT_PARTITION
from metastored.hive.orc import Range
from metastored.hive.orc_messages import OrcError
from metastored.hive.transactions.layout import (
    Directory,
    bucket_of_file,
    bucket_of_original,
    decode_bucket,
    encode_bucket,
    flush_length,
    is_side_file,
)
from metastored.hive.transactions.resolution import File, NotEnoughHistory, Resolved, data_files, resolve
from metastored.hive.transactions.snapshots import ValidTxnList, ValidWriteIdList
from metastored.spark.acid.tables import AcidTable, partitions_by_name
from metastored.spark.files import Files, files_of, in_threads, list_location, tail_of
from metastored.wire.generated.partitions import Partition

ACID_FIELDS: Final = ("operation", "originaltransaction", "bucket", "rowid", "currenttransaction", "row")
OWID, BUCKET, ROW = 2, 3, 4
"""The column ids of originalTransaction, bucket and rowId in the statistics of a file."""
ANY: Final = Range(-(2**63), 2**63 - 1)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file with rows."""

    location: str
    partition: int
    write_ids: Range
    """The write ids that its rows can have."""
    bucket: int | None
    """The number in its name; None where the name has none."""
    partly_visible: bool
    """Whether some of its rows are of write ids that the snapshot does not see."""
    touched: bool
    """Whether it can have deleted rows."""
    original: Original | None = None
    """The ids of its rows, if they are not in the file: it was written before the table was transactional."""
    size: int = 0
    """Its bytes."""
    statement: int | None = None
    """The statement id in the name of its directory."""


class Original(NamedTuple):
    """The ids of the rows of a file without ids: they are numbered from `first_row`."""

    write_id: int
    bucket: int
    """The value of the column `bucket`."""
    first_row: int


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """A file with the ids of deleted rows."""

    location: str
    partition: int
    bucket: int | None
    partly_visible: bool
    write_ids: Range
    buckets: Range
    row_ids: Range
    rows: int

    @property
    def numbers(self) -> Range:
        """The numbers of the buckets that it deletes rows of."""
        if self.buckets.low >> 29 != self.buckets.high >> 29:
            return ANY  # Also values of Hive before 3, which are encoded differently.
        low, high = (decode_bucket(each)[0] for each in self.buckets)
        return Range(low, high)

    def may_touch(self, write_ids: Range, bucket: int | None) -> bool:
        """Whether it can delete rows of these write ids in this bucket; None is any bucket."""
        return (
            (bucket is None or self.numbers.low <= bucket <= self.numbers.high)
            and self.write_ids.low <= write_ids.high
            and write_ids.low <= self.write_ids.high
        )


@dataclass(frozen=True, slots=True)
class PartitionState:
    """A partition at a snapshot, or a table without partitions."""

    index: int
    values: tuple[str | None, ...]
    """The values of the keys as texts; None in the default partition."""
    location: str
    resolved: Resolved
    data: tuple[DataFile, ...]
    deletes: tuple[DeleteFile, ...]


class TableState(NamedTuple):
    """A table at a snapshot."""

    table: AcidTable
    write_ids: ValidWriteIdList
    partitions: tuple[PartitionState, ...]


def table_state(
    spark: Any,
    client: Client,
    table: AcidTable,
    write_ids: ValidWriteIdList,
    transactions: ValidTxnList,
    partition_names: Sequence[str] | None,
    row_ids: bool = False,
) -> TableState:
    """The files of a table at a snapshot. `partition_names` are those to be read; None means all.

    With `row_ids`, rows of files without ids are numbered even where no delete can touch them. Raises
    InvalidInputException if the cleaner has removed files that the snapshot needs.
    """
    places: list[tuple[tuple[str | None, ...], str]] = [((), table.location)]
    if table.key_names:
        every = partition_names is None
        partitions = (
            client.partitions(table.name) if every else partitions_by_name(client, table, partition_names or ())
        )
        places = [
            (tuple(None if value == DEFAULT_PARTITION else value for value in each.values or ()), _location(each))
            for each in partitions
        ]
    numbered = list(enumerate(places))

    def one(place: tuple[int, tuple[tuple[str | None, ...], str]]) -> PartitionState:
        index, (values, location) = place
        return _partition_state(spark, table, index, values, location, write_ids, transactions, row_ids)

    return TableState(table, write_ids, tuple(in_threads(one, numbered)))


def _location(partition: Partition) -> str:
    if partition.sd is None or not partition.sd.location:
        raise InvalidInputException(f"the partition {partition.values} has no location")
    return partition.sd.location


def _partition_state(
    spark: Any,
    table: AcidTable,
    index: int,
    values: tuple[str | None, ...],
    location: str,
    write_ids: ValidWriteIdList,
    transactions: ValidTxnList,
    row_ids: bool,
) -> PartitionState:
    files = files_of(spark, location)
    listing = list_location(files, location)
    try:
        resolved = resolve(listing, write_ids, transactions)
    except NotEnoughHistory as error:
        raise InvalidInputException(f"{table.name} cannot be read at this snapshot: {error}") from error
    deletes = []
    for directory in resolved.delete_deltas:
        hidden = directory.name in resolved.partly_visible
        for file in data_files(listing.directories[directory.name]):
            deletes.append(_delete_file(files, location, file, index, hidden))
    data: list[DataFile] = []
    groups: list[tuple[Directory | None, Sequence[File]]] = [(None, resolved.originals)]
    groups += [(each, listing.directories[each.name]) for each in resolved.data]
    for group, listed in groups:
        members = _without_side_files(files, location, listed)
        hidden = group is not None and group.name in resolved.partly_visible
        data += _data_files(files, table, location, group, members, index, hidden, deletes, row_ids)
    return PartitionState(index, values, location, resolved, tuple(data), tuple(deletes))


def _without_side_files(files: Files, location: str, listed: Sequence[File]) -> tuple[File, ...]:
    """The data files of which all bytes may be read. Raises NotSupported for a file that a stream is still writing.

    A side file without a complete number means that nothing of its file may be read yet.
    """
    sizes = {file.path: file.size for file in listed}
    kept = []
    for file in data_files(listed):
        name = file.path.rpartition("/")[2]
        if is_side_file(name):
            continue
        side = f"{file.path}_flush_length"
        if side in sizes:
            length = flush_length(files.read(join(location, side)))
            if length < 0:
                continue
            if length < file.size:
                raise NotSupported(
                    f"{join(location, file.path)} is still written by a stream: only its first {length} bytes may be "
                    "read, and Spark reads complete files. Compact the table first"
                )
        kept.append(file)
    return tuple(kept)


def _delete_file(files: Files, location: str, file: File, index: int, hidden: bool) -> DeleteFile:
    path = join(location, file.path)
    bucket = bucket_of_file(file.path.rpartition("/")[2])
    ranges: list[Range] = [ANY, ANY, ANY]
    rows = file.size * 8  # An upper bound; it is used only to decide how the join is run.
    try:
        tail = tail_of(files, path, file.size)
    except OrcError:
        pass  # Its compression cannot be read here: it may delete any row.
    else:
        rows = tail.rows
        ranges = [(tail.ranges[at] if at < len(tail.ranges) else None) or ANY for at in (OWID, BUCKET, ROW)]
    return DeleteFile(path, index, bucket, hidden, ranges[0], ranges[1], ranges[2], rows)


def _data_files(
    files: Files,
    table: AcidTable,
    location: str,
    directory: Directory | None,
    members: Sequence[File],
    index: int,
    hidden: bool,
    deletes: Sequence[DeleteFile],
    row_ids: bool,
) -> Iterable[DataFile]:
    low, high = (0, 0) if directory is None else (directory.low, directory.high)
    rows_before: dict[int, int] = {}
    for file in sorted(members, key=lambda each: each.path):
        path = join(location, file.path)
        name = file.path.rpartition("/")[2]
        bucket = bucket_of_file(name)
        if table.insert_only:
            yield DataFile(path, index, Range(low, high), None, False, False)
            continue
        if bucket is not None or _has_ids(files, path, file.size):
            known = Range(low, high)
            own = None if directory is None else directory.statement
            touched = _touched(table, known, bucket, deletes)
            yield DataFile(path, index, known, bucket, hidden, touched, None, file.size, own)
            continue
        number = bucket_of_original(name) or 0
        write_id = 0 if directory is None else low or high
        statement = 0 if directory is None else directory.statement or 0
        known = Range(write_id, write_id)
        touched = _touched(table, known, number, deletes)
        first = rows_before.get(number, 0)
        if deletes or row_ids:
            rows_before[number] = first + tail_of(files, path, file.size).rows
        original = Original(write_id, encode_bucket(number, statement), first)
        yield DataFile(path, index, known, number, False, touched, original, file.size)


def _has_ids(files: Files, path: str, size: int) -> bool:
    """Whether the columns of a file are the six of Hive's layout, in any case."""
    return tuple(name.lower() for name in tail_of(files, path, size).fields) == ACID_FIELDS


def _touched(table: AcidTable, write_ids: Range, bucket: int | None, deletes: Sequence[DeleteFile]) -> bool:
    """Whether one of the files can delete rows. The name of a data file is believed only if the table has buckets."""
    number = bucket if table.buckets is not None else None
    return any(each.may_touch(write_ids, number) for each in deletes)

"""The driver's part of a write: the files that Spark has staged get Hive's user metadata and their final names.

    <table>/_tmp_acid_<transaction>/<statement>/acid_p0=2024/acid_op=2/acid_b=3/part-00000-….orc
    <table>/ds=2024/delete_delta_0000007_0000007_0000/bucket_00003

Spark's own commit protocol leaves one file of each task, however often the task was run. The files are renamed before
the metastore commits the transaction: until then no reader uses their directories. Without buckets, a task has a
statement id, and with it a directory, of its own. A base has no statement id in its name: there the files of all tasks
become one. No transaction is opened here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from metastored.errors import MissingExtra, NotSupported
from metastored.hive.locations import is_local, join, local_path
from metastored.hive.names import DEFAULT_PARTITION, make_part_name, unescape
from metastored.hive.orc import Range, Tail, read_tail
from metastored.hive.orc_concatenation import concatenation
from metastored.hive.transactions.layout import (
    VERSION,
    VERSION_FILE,
    Directory,
    base,
    bucket_file,
    delete_delta,
    delta,
    is_hidden,
)
from metastored.hive.transactions.snapshots import ValidTxnList
from metastored.spark.acid.files.staging import DELETE, FILE, IDS, INSERT, OPERATION, key_name
from metastored.spark.acid.files.state import BUCKET, OWID, ROW
from metastored.spark.acid.files.statistics import RowCounts
from metastored.spark.acid.tables import AcidTable
from metastored.spark.files import Files, end_of, in_threads, list_location

STAGING: Final = "_tmp_acid_"
_PART: Final = re.compile(r"part-(\d+)-.*")


class Staged(NamedTuple):
    """A file in the staging directory."""

    location: str
    size: int
    values: tuple[str, ...]
    """The values of the partition keys, as texts."""
    operation: int
    bucket: int | None
    """The bucket of a bucketed table, or of deleted rows."""
    task: int


class Published(NamedTuple):
    """What a statement has written."""

    files: dict[tuple[str, ...], list[str]]
    """The locations of new files, by partition values."""
    rows: dict[tuple[str, ...], RowCounts | None]
    """The numbers of rows, by partition values; None in insert-only tables, whose files may have any format."""
    statements: int
    """How many statement ids were used."""


def publish(
    files: Files,
    table: AcidTable,
    staging: str,
    locate: Callable[[Iterable[tuple[str, ...]], frozenset[tuple[str, ...]]], Locations],
    write_id: int,
    statement: int,
    overwrite: bool,
) -> Published:
    """Completes the staged files and renames them into the directories of the write id.

    `locate` returns the locations of the partitions that are written to, of which rows are deleted in the second ones.
    It is called before the first file is renamed.
    """
    staged = list(_staged(files, table, staging))
    written: dict[tuple[str, ...], list[str]] = {}
    counts: dict[tuple[str, ...], RowCounts] = {}
    if overwrite and table.insert_only and any(each.task >= IDS and each.bucket is None for each in staged):
        raise NotSupported(f"an overwrite of {table.name} has more than {IDS} tasks: coalesce the DataFrame")
    places: dict[tuple[tuple[str, ...], str, str], list[_Part]] = {}
    parts = in_threads(lambda each: _part(files, table, each), staged)
    for each in filter(None, parts):
        directory, name = _place(table, each.staged, write_id, statement, overwrite)
        places.setdefault((each.staged.values, directory.name, name), []).append(each)
        if each.tail is not None:
            number = each.tail.rows
            counts[each.staged.values] = counts.get(each.staged.values, RowCounts()) + (
                RowCounts(deleted=number) if each.staged.operation == DELETE else RowCounts(number)
            )
    changed = frozenset(each.values for each in staged if each.operation == DELETE)
    locations = locate({values for values, _, _ in places}, changed)
    for at in dict.fromkeys(join(locations.of(values), directory) for values, directory, _ in places):
        make_directory(files, table, at)

    def move(place: tuple[tuple[tuple[str, ...], str, str], list[_Part]]) -> tuple[tuple[str, ...], str]:
        (values, directory, name), members = place
        path = join(locations.of(values), directory, name)
        if len(members) > 1 and (not overwrite or table.buckets is not None):
            raise NotSupported(f"two of the files that Spark has written would be {path}")
        _publish_file(files, sorted(members, key=lambda each: each.staged.task), path)
        return values, path

    for values, path in in_threads(move, places.items()):
        written.setdefault(values, []).append(path)
    rows = {values: None if table.insert_only else counts[values] for values in written}
    return Published(written, rows, _used(table, staged))


def _place(table: AcidTable, each: Staged, write_id: int, statement: int, overwrite: bool) -> tuple[Directory, str]:
    """The directory and the name of a file. Only a base of a table without buckets gets one name from several files."""
    own = statement + _statement_of(table, each.task)
    if each.operation == DELETE:
        assert each.bucket is not None
        return delete_delta(write_id, write_id, own), bucket_file(each.bucket)
    directory = base(write_id) if overwrite else delta(write_id, write_id, own)
    if table.insert_only:
        return directory, f"{each.task % IDS if each.bucket is None else each.bucket:06d}_0"
    return directory, bucket_file(each.bucket or 0)


def _statement_of(table: AcidTable, task: int) -> int:
    """Which of the statement ids of a statement a task uses: names in insert-only tables have numbers up to 4095."""
    if table.buckets is not None:
        return 0
    return task // IDS if table.insert_only else task


def _used(table: AcidTable, staged: Iterable[Staged]) -> int:
    return 1 + max((_statement_of(table, each.task) for each in staged), default=0)


class Locations:
    """The directories of partitions: those that exist where they are, new ones below the table's."""

    def __init__(self, table: AcidTable, existing: dict[tuple[str, ...], str]) -> None:
        self._table = table
        self.existing: Final = existing

    def of(self, values: tuple[str, ...]) -> str:
        if not values:
            return self._table.location
        location = self.existing.get(values)
        return location or join(self._table.location, make_part_name(self._table.key_names, values))


def make_directory(files: Files, table: AcidTable, location: str) -> None:
    """Creates the directory of a base or a delta; readers of Hive and Trino look for the version in it."""
    files.make(location)
    if not table.insert_only:
        files.write(join(location, VERSION_FILE), VERSION)


def remove_left_staging(files: Files, table: AcidTable, visible: ValidTxnList, own: int) -> None:
    """Removes what other transactions left that ended without cleaning up: their driver was killed."""
    for entry in files.entries(table.location):
        number = entry.name.removeprefix(STAGING)
        if entry.is_directory and entry.name.startswith(STAGING) and number.isdigit():
            transaction = int(number)
            if transaction != own and transaction < visible.high_watermark and transaction not in visible.open:
                files.remove(join(table.location, entry.name))


def _staged(files: Files, table: AcidTable, staging: str) -> Iterable[Staged]:
    listing = list_location(files, staging)
    every = [*listing.files, *(file for below in listing.directories.values() for file in below)]
    for file in every:
        if is_hidden(file.path) or not file.size:
            continue
        *directories, name = file.path.split("/")
        pairs = dict(part.split("=", 1) for part in directories)
        match = _PART.match(name)
        if match is None:
            raise NotSupported(f"Spark has written {file.path}, whose name has no number of a task")
        yield Staged(
            location=join(staging, file.path),
            size=file.size,
            values=tuple(unescape(pairs[key_name(at)]) or DEFAULT_PARTITION for at in range(len(table.keys))),
            operation=int(pairs.get(OPERATION, INSERT)),
            bucket=_bucket(table, pairs),
            task=int(match[1]),
        )


def _bucket(table: AcidTable, pairs: dict[str, str]) -> int | None:
    new = int(pairs.get(OPERATION, INSERT)) == INSERT
    return int(pairs[FILE]) if FILE in pairs and (table.buckets is not None or not new) else None


class _Part(NamedTuple):
    """A staged file, with its tail if it has Hive's layout."""

    staged: Staged
    end: bytes
    tail: Tail | None


def _part(files: Files, table: AcidTable, each: Staged) -> _Part | None:
    """None for a file without rows."""
    if table.insert_only:
        return _Part(each, b"", None)
    end = end_of(files, each.location, each.size)
    tail = read_tail(end)
    return _Part(each, end, tail) if tail.rows else None


def _publish_file(files: Files, parts: Sequence[_Part], path: str) -> None:
    if parts[0].tail is None:
        (part,) = parts
        files.rename(part.staged.location, path)
        return
    publish_orc(
        files,
        [(each.staged.location, each.staged.size, each.end, each.tail) for each in parts if each.tail is not None],
        path,
        deletes=parts[0].staged.operation == DELETE,
    )


def publish_orc(files: Files, parts: Sequence[tuple[str, int, bytes, Tail]], path: str, deletes: bool) -> None:
    """Makes a file of Hive's layout from files in the order of their rows: location, size, end and tail of each."""
    tails = [tail for _, _, _, tail in parts]
    keys = [key for location, _, _, tail in parts for key in _last_keys(files, location, tail)]
    metadata = _hive_metadata(keys, sum(each.rows for each in tails), deletes)
    if len(parts) == 1:
        ((location, _, end, _),) = parts
        files.add_orc_metadata(location, end, metadata)
        files.rename(location, path)
        return
    made = concatenation([(size, end) for _, size, end, _ in parts], metadata)
    files.concatenate(
        [(location, body) for (location, *_), body in zip(parts, made.bodies, strict=True)], path, made.tail
    )


def _hive_metadata(keys: Iterable[tuple[int, int, int]], rows: int, deletes: bool) -> Mapping[str, bytes]:
    """The user metadata of a file of Hive's layout: the last key of each stripe, the number of rows, the version."""
    return {
        "hive.acid.key.index": "".join(f"{owid},{bucket},{row};" for owid, bucket, row in keys).encode(),
        "hive.acid.stats": (f"0,0,{rows}" if deletes else f"{rows},0,0").encode(),
        "hive.acid.version": VERSION,
    }


def _last_keys(files: Files, location: str, tail: Tail) -> list[tuple[int, int, int]]:
    """The key of the last row of each stripe: by the statistics if all rows have one write id and bucket."""
    keys = []
    for stripe in tail.stripes:
        known = [stripe.ranges[at] if at < len(stripe.ranges) else None for at in (OWID, BUCKET, ROW)]
        if any(each is None for each in known) or _differs(known[0]) or _differs(known[1]):
            return _read_last_keys(files, location)
        keys.append(tuple(each.high for each in known if each is not None))
    return keys  # type: ignore[return-value]


def _differs(each: Range | None) -> bool:
    return each is None or each.low != each.high


def _read_last_keys(files: Files, location: str) -> list[tuple[int, int, int]]:
    try:
        import pyarrow
        from pyarrow import orc
    except ImportError:
        raise MissingExtra("a write of row ids of several transactions", "arrow") from None

    local = is_local(location)  # A local file is read by columns; of others, which are read whole, there is no reader.
    file = orc.ORCFile(local_path(location) if local else pyarrow.BufferReader(files.read(location)))
    keys = []
    for at in range(file.nstripes):
        stripe = file.read_stripe(at, columns=["originalTransaction", "bucket", "rowId"])
        keys.append(tuple(int(stripe.column(name)[-1].as_py()) for name in ("originalTransaction", "bucket", "rowId")))
    return keys  # type: ignore[return-value]

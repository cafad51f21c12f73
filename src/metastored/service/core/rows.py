"""Objects as the store keeps them: a body of Thrift bytes without the fields that vary, and replies spliced from it.

One function writes each kind of row, one reads it, and one splices it into a reply; no other module of the service
contains bytes of the encoding. Bodies have no STOP, so that fields can be appended. No I/O.

    Database   without name (1), privileges (5), catalogName (8)
    Table      without tableName (1), dbName (2), privileges (13), creationMetadata (16), catName (17), 19 to 28
    Partition  without dbName (2), tableName (3), sd (6) and 8 to 13; its sd is a shape (a StorageDescriptor
               without its location) and a location
    Function   without functionName (1), dbName (2), catName (9)
    Statistics of a column: the struct of their kind without bit vector and histogram
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from struct import Struct
from struct import pack as pack_values
from typing import Any, Final, NamedTuple, TypeVar

from metastored.errors import StoreError
from metastored.store.engine.stored import BODY_FORMAT
from metastored.store.engine.transaction import Row
from metastored.store.objects.catalogs import CatalogRow
from metastored.store.objects.databases import DatabaseRow
from metastored.store.objects.functions import FunctionOfDatabase, FunctionRow
from metastored.store.objects.partitions import BASES, CompactRow, PartitionRow, Sizes
from metastored.store.objects.tables import TableRow
from metastored.wire.codec import binary
from metastored.wire.generated.catalogs import Catalog
from metastored.wire.generated.common import CreationMetadata, FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function
from metastored.wire.generated.partitions import Partition, PartitionWithoutSD
from metastored.wire.structs import names, replace

CHUNK: Final = 512 * 1024
"""Long replies are made in pieces of about this many bytes."""

T = TypeVar("T", bound=tuple[Any, ...])

pack, unpack = binary.pack_i, binary.unpack_u
_pack_text_head = Struct(">bhi").pack
STOP: Final = b"\x00"
"""The end of a struct."""
_SUCCESS = b"\x0c\x00\x00"
_SD = b"\x0c\x00\x06"
_LOCATION = b"\x0b\x00\x02"
_WRITE_ID = b"\x0a\x00\x0a"
_VALUES = b"\x0f\x00\x01\x0b"
_FEW_VALUES = _VALUES + bytes(3)
"""The beginning of a list of fewer than 256."""
_CREATED = b"\x08\x00\x04"
_ACCESSED = b"\x08\x00\x05"
_PARAMETERS = b"\x0d\x00\x07\x0b\x0b"
_I64_LIST, _I64_SET = b"\x0f", b"\x0e"


def body_of(value: tuple[Any, ...]) -> bytes:
    """A struct without its STOP."""
    return binary.encode(value)[:-1]


def read_body(cls: type[T], body: bytes) -> T:
    """The struct that `body_of` encoded."""
    return binary.decode(cls, body + STOP)


def text_field(number: int, text: str) -> bytes:
    """A string field in Thrift binary."""
    data = text.encode("utf-8", "surrogateescape")
    return _pack_text_head(11, number, len(data)) + data


def bool_field(number: int, value: bool) -> bytes:
    """A bool field in Thrift binary."""
    return binary.pack_field(2, number) + (b"\x01" if value else b"\x00")


def check_format(fmt: int, what: str) -> None:
    """Raises StoreError where `what` is stored in an encoding that this version does not read."""
    if fmt != BODY_FORMAT:
        raise StoreError(f"{what} is stored in format {fmt}, which this version of metastored does not read")


# --- catalogs, databases, functions ---------------------------------------------------------------------------


def catalog_body(catalog: Catalog) -> bytes:
    return body_of(replace(catalog, name=None))


def catalog_of(row: CatalogRow) -> Catalog:
    check_format(row.fmt, f"catalog {row.name}")
    return replace(read_body(Catalog, row.body), name=row.name)


def database_body(database: Database) -> bytes:
    return body_of(replace(database, name=None, privileges=None, catalogName=None))


def database_of(row: DatabaseRow, catalog: str | None) -> Database:
    check_format(row.fmt, f"database {row.name}")
    return replace(read_body(Database, row.body), name=row.name, catalogName=catalog)


def database_reply(row: DatabaseRow, catalog: str | None) -> bytes:
    """The result struct of get_database; without the field for the catalog when `catalog` is None."""
    check_format(row.fmt, f"database {row.name}")
    named = text_field(8, catalog) if catalog is not None else b""
    return b"".join((_SUCCESS, text_field(1, row.name), row.body, named, b"\x00\x00"))


def function_body(function: Function) -> bytes:
    return body_of(replace(function, functionName=None, dbName=None, catName=None))


def function_of(row: FunctionRow | FunctionOfDatabase, catalog: str | None, database: str) -> Function:
    check_format(row.fmt, f"function {database}.{row.name}")
    function = read_body(Function, row.body)
    return replace(function, functionName=row.name, dbName=database, catName=catalog)


# --- tables -----------------------------------------------------------------------------------------------------

_TABLE_ABSENT = dict.fromkeys(
    (
        *("tableName", "dbName", "privileges", "creationMetadata", "catName", "writeId", "isStatsCompliant"),
        *("colStats", "accessType", "requiredReadCapabilities", "requiredWriteCapabilities", "id"),
        *("fileMetadata", "dictionary", "txnId", "temporary"),
    )
)


_TABLE_VARYING = tuple((name, names(Table).index(name)) for name in _TABLE_ABSENT)
_TABLE_COMPARED = {**_TABLE_ABSENT, "parameters": None, "createTime": None}
"""What does not count in `same_table`; the parameters are compared by themselves."""


class TableColumns(NamedTuple):
    """The columns of a table's row besides its names; computed by one function from the table alone."""

    type: str
    owner: str | None
    last_access: int
    write_id: int
    body: bytes
    params: dict[str, str]
    creation_metadata: bytes | None


def table_columns(table: Table) -> TableColumns:
    metadata = table.creationMetadata
    return TableColumns(
        type=table.tableType or "",
        owner=table.owner,
        last_access=table.lastAccessTime or 0,
        write_id=table.writeId if table.writeId is not None else -1,
        body=body_of(replace(table, **_TABLE_ABSENT)),
        params=table.parameters or {},
        creation_metadata=binary.encode(metadata) if metadata is not None else None,
    )


def table_of(row: TableRow, catalog: str | None, database: str) -> Table:
    check_format(row.fmt, f"table {database}.{row.name}")
    table = read_body(Table, row.body)
    metadata = row.creation_metadata
    return replace(
        table,
        tableName=row.name,
        dbName=database,
        catName=catalog,
        creationMetadata=binary.decode(CreationMetadata, metadata) if metadata is not None else None,
    )


def whole_table(table: Table, body: bytes) -> bytes:
    """The table in Thrift binary, with all its fields. `body` is that of its row, which is not encoded again."""
    varying: dict[str, Any] = {name: table[at] for name, at in _TABLE_VARYING}
    return b"".join((body_of(Table(**varying)), body, STOP))


def same_table(one: Table, other: Table, except_parameters: frozenset[str]) -> bool:
    """Whether two tables have the same row, apart from some parameters and the time of the creation."""
    first, second = one.parameters or {}, other.parameters or {}
    return all(first.get(key) == second.get(key) for key in {*first, *second} - except_parameters) and (
        replace(one, **_TABLE_COMPARED) == replace(other, **_TABLE_COMPARED)
    )


def table_struct(row: TableRow, catalog: str | None, database: str, *, with_id: bool = False) -> bytes:
    """The Table in Thrift binary, spliced; without the field for the catalog when `catalog` is None."""
    if row.fmt != BODY_FORMAT:
        check_format(row.fmt, f"table {database}.{row.name}")
    parts = [text_field(1, row.name), text_field(2, database), row.body]
    if catalog is not None:
        parts.append(text_field(17, catalog))
    if row.creation_metadata is not None:
        parts += (b"\x0c\x00\x10", row.creation_metadata)
    if with_id:
        parts += (b"\x0a\x00\x13", binary.pack_q(max(row.write_id, 0)), b"\x0a\x00\x19", binary.pack_q(row.id))
    elif row.write_id > 0:
        parts += (b"\x0a\x00\x13", binary.pack_q(row.write_id))
    parts.append(STOP)
    return b"".join(parts)


def table_reply(struct: bytes) -> bytes:
    """The result struct of get_table around a Table."""
    return b"".join((_SUCCESS, struct, STOP))


def wrapped_reply(struct: bytes) -> bytes:
    """The result struct of a call that returns a struct with this one as its field 1."""
    return b"".join((_SUCCESS, b"\x0c\x00\x01", struct, b"\x00\x00"))


# --- partitions -------------------------------------------------------------------------------------------------


def partition_body(partition: Partition) -> bytes:
    """The partition's own fields: values, times, parameters. Written without the codec, which takes twice the time."""
    values, created, accessed = partition.values, partition.createTime, partition.lastAccessTime
    parameters = partition.parameters
    parts = [] if values is None else [_VALUES, pack(len(values)), binary.pack_texts(values)]
    if created is not None:
        parts += (_CREATED, pack(created))
    if accessed is not None:
        parts += (_ACCESSED, pack(accessed))
    if parameters is not None:
        texts = list(chain.from_iterable(parameters.items()))
        parts += (_PARAMETERS, pack(len(parameters)), binary.pack_texts(texts))
    return b"".join(parts)


def partition_own(body: bytes) -> Partition:
    """The fields that `partition_body` stored."""
    return read_body(Partition, body)


def partition_parameters(row: PartitionRow) -> dict[str, str]:
    """The parameters of a partition."""
    check_format(row.fmt, f"partition {row.name}")
    return partition_own(row.body).parameters or {}


class ParametersOf:
    """As `partition_parameters`, for many partitions of one table: their parameters are mostly the same."""

    def __init__(self) -> None:
        self._rest = b""
        self._parameters: Mapping[str, str] = {}

    def __call__(self, row: PartitionRow) -> Mapping[str, str]:
        rest = row.body[end_of_values(row) :]
        if rest != self._rest:
            self._parameters = partition_own(row.body).parameters or {}
            self._rest = rest
        return self._parameters


def end_of_values(row: Row) -> int:
    """The position in a partition's body behind the values; 0 if it does not begin with a list of fewer than 256."""
    own = row[-1]
    if row[-2] != BODY_FORMAT:
        check_format(row[-2], f"partition {row[1]}")
    at = 0
    if own.startswith(_FEW_VALUES):
        at = 8
        for _ in range(own[7]):
            at += 4 + unpack(own, at)[0]
    return at


def shape_of(sd: StorageDescriptor) -> bytes:
    """A StorageDescriptor without its location, which many partitions share."""
    return body_of(replace(sd, location=None))


def storage_of(shape: bytes) -> StorageDescriptor:
    """The StorageDescriptor of a shape; it has no location."""
    return read_body(StorageDescriptor, shape)


def partition_in_event(own: bytes, location: str | None, *, has_storage: bool = True) -> bytes:
    """A Partition as events store it: its own fields and the location.

    The rest of its storage is the shape, stored once.
    """
    if not has_storage:
        return own + STOP
    located = text_field(2, location) if location else b""
    return b"".join((own, _SD, located, STOP, STOP))


def altered_partition(part: Partition, own: bytes) -> bytes:
    """A Partition as events of changes store it: of its storage it has only the location. `own` is its body."""
    sd = part.sd
    storage = b"" if sd is None else _SD + (text_field(2, sd.location) if sd.location is not None else b"") + STOP
    return b"".join((own, _name_fields(part.dbName, part.tableName, part.catName), storage, _rarely_set(part), STOP))


@lru_cache(maxsize=256)
def _name_fields(database: str | None, table: str | None, catalog: str | None) -> bytes:
    return body_of(Partition(dbName=database, tableName=table, catName=catalog))


_RARELY_SET: Final = ("privileges", "writeId", "isStatsCompliant", "colStats", "fileMetadata")
_rare_values = itemgetter(*map(names(Partition).index, _RARELY_SET))
_NONE_SET: Final = (None,) * len(_RARELY_SET)


def _rarely_set(part: Partition) -> bytes:
    """The fields of a partition that are in no row, encoded."""
    values = _rare_values(part)
    return b"" if values == _NONE_SET else body_of(Partition(**dict(zip(_RARELY_SET, values, strict=True))))


def storage_beside(shape: bytes, table: Table) -> tuple[bytes, bool]:
    """The struct of a shape, and whether it is without columns, because they are those of the table."""
    sd = storage_of(shape)
    if table.sd is None or not sd.cols or sd.cols != table.sd.cols:
        return shape + STOP, False
    return binary.encode(replace(sd, cols=None)), True


def completed(part: Partition, storage: StorageDescriptor, columns: tuple[FieldSchema, ...] | None) -> Partition:
    """A partition that `altered_partition` wrote, with its storage descriptor and columns."""
    if part.sd is None:
        return part
    return replace(part, sd=replace(storage, cols=columns, location=part.sd.location))


def with_privileges(partition: bytes, privileges: bytes) -> bytes:
    """A Partition struct with its field `privileges`."""
    return b"".join((partition[:-1], b"\x0c\x00\x08", privileges, STOP))


def without_buckets(shape: bytes) -> bytes:
    """A shape for clients that do not support buckets."""
    sd = storage_of(shape)
    return shape_of(replace(sd, numBuckets=-1)) if (sd.numBuckets or 0) > 0 else shape


def _times_and_parameters(rest: bytes) -> tuple[bytes, bytes]:
    """The fields behind the values of a partition's body, as a PartitionWithoutSD has them before and behind its path.

    Times that are absent are zero, as in Java.
    """
    own = partition_own(rest)
    fields = PartitionWithoutSD(own.values, own.createTime or 0, own.lastAccessTime or 0)
    return body_of(fields), binary.encode(PartitionWithoutSD(parameters=own.parameters))


class _CompactHeads(dict[int, bytes]):
    """By place: the bytes between the body of a compact row and its location."""

    def __init__(self, heads: Mapping[int | None, bytes], always_written: bool) -> None:
        super().__init__()
        self._heads = heads
        self._write_id = _WRITE_ID + binary.pack_q(-1) if always_written else b""

    def __missing__(self, place: int) -> bytes:
        head = self[place] = self._write_id + self._heads[place // BASES]
        return head


class _Located(dict[tuple[int, int], bytes]):
    """By place and the length of what follows: the bytes of a location up to the end of its base."""

    def __init__(self, bases: Mapping[int, bytes]) -> None:
        super().__init__()
        self._bases = bases

    def __missing__(self, key: tuple[int, int]) -> bytes:
        place, length = key
        base = self._bases[place % BASES]
        start = self[key] = _LOCATION + pack(len(base) + length) + base
        return start


class Splicer:
    """Turns partition rows of one table into Partition structs, using the table's shapes and bases.

    With `always_written` each has a write id, -1 if there is none.
    """

    def __init__(
        self,
        catalog: str | None,
        database: str,
        table: str,
        shapes: dict[int, bytes],
        bases: dict[int, str],
        *,
        always_written: bool = False,
    ) -> None:
        self._always_written = always_written
        names = text_field(2, database) + text_field(3, table)
        if catalog is not None:
            names += text_field(9, catalog)
        self._heads: dict[int | None, bytes] = {no: names + _SD + sd for no, sd in shapes.items()}
        self._heads[None] = names  # A partition of a view has no storage.
        self._bases = {no: uri.encode("utf-8", "surrogateescape") for no, uri in bases.items()}
        self._rest = self._before = self._behind = b""
        self._length_behind = 0

    def without_shapes(self) -> Splicer:
        """A splicer whose structs have only the location of their storage: see `completed`."""
        other = copy(self)
        other._heads = {no: head if no is None else self._heads[None] + _SD for no, head in self._heads.items()}
        return other

    def parts(self, row: Row) -> tuple[bytes, ...]:
        """The Partition struct in pieces; joined by the caller, with others."""
        _, name, shape, base, suffix, write_id, fmt, own = row
        if fmt != BODY_FORMAT:
            check_format(fmt, f"partition {name}")
        if write_id > 0 or self._always_written:
            own += _WRITE_ID + binary.pack_q(write_id)
        if base is not None:
            location = self._bases[base] + (name if suffix is None else suffix).encode("utf-8", "surrogateescape")
        elif suffix is not None:
            location = suffix.encode("utf-8", "surrogateescape")
        else:
            return own, self._heads[shape], b"\x00" if shape is None else b"\x00\x00"
        return own, self._heads[shape], _LOCATION, pack(len(location)), location, b"\x00\x00"

    def pieces(self, compact: Iterable[CompactRow], others: Iterator[Row]) -> list[bytes]:
        """As `parts`, for many rows; `others` has those that are not compact, in the same order."""
        heads, located = _CompactHeads(self._heads, self._always_written), _Located(self._bases)
        return [
            piece
            for place, tail, own in compact
            for piece in (
                (own, heads[place], located[place, len(tail)], tail, b"\x00\x00")
                if place is not None
                else self.parts(next(others))
            )
        ]

    def location(self, row: Row) -> bytes | None:
        """The location of a partition; None if it has none."""
        _, name, _, base, suffix, _, _, _ = row
        path: str | None = name if suffix is None and base is not None else suffix
        if path is None:
            return None
        encoded = path.encode("utf-8", "surrogateescape")
        return encoded if base is None else self._bases[base] + encoded

    def without_storage(self, row: Row, path: bytes | None) -> bytes:
        """The PartitionWithoutSD struct, with the path below the location that is shared."""
        own, at = row[-1], self._behind_values(row)
        if path is None:
            return b"".join((own[:at], self._before, self._behind))
        return b"".join((own[:at], self._before, b"\x0b\x00\x04", pack(len(path)), path, self._behind))

    def length_without_storage(self, row: Row, path: bytes | None) -> int:
        """The bytes of the PartitionWithoutSD struct."""
        length = self._behind_values(row) + self._length_behind
        return length if path is None else length + 7 + len(path)

    def values(self, row: Row) -> bytes:
        """A Partition struct with the values of this one, and nothing else."""
        own, at = row[-1], end_of_values(row)
        return own[:at] + STOP if at else binary.encode(Partition(values=partition_own(own).values))

    def _behind_values(self, row: Row) -> int:
        """The position in a body behind the values, and the fields there as a PartitionWithoutSD has them.

        The fields of a body are in the order of their ids: only ids differ, and the path is inserted. What follows the
        values is the same for partitions that were added together.
        """
        own, at = row[-1], end_of_values(row)
        if own[at:] != self._rest:
            self._rest = own[at:]
            self._before, self._behind = _times_and_parameters(self._rest)
            self._length_behind = len(self._before) + len(self._behind)
        return at

    def struct(self, row: Row) -> bytes:
        return b"".join(self.parts(row))

    def partition(self, row: Row) -> Partition:
        return binary.decode(Partition, self.struct(row))

    def length(self, row: Row) -> int:
        """The bytes of one struct."""
        return sum(map(len, self.parts(row)))

    def size(self, group: Sizes) -> int:
        """The bytes of all structs of one shape and base."""
        fixed = len(self._heads[group.shape]) + (1 if group.shape is None else 2)
        if group.located:
            fixed += 7 + (len(self._bases[group.base]) if group.base is not None else 0)
        written = group.number if self._always_written else group.written
        return group.number * fixed + group.body + group.location + 11 * written


def joined(pieces: Iterable[bytes], target: int = CHUNK) -> Iterator[bytes]:
    """Pieces joined to chunks of about `target` bytes."""
    some: list[bytes] = []
    size = 0
    for piece in pieces:
        some.append(piece)
        size += len(piece)
        if size > target:
            yield b"".join(some)
            some.clear()
            size = 0
    if some:
        yield b"".join(some)


def chunks(pieces: list[bytes], length: int) -> Iterator[bytes]:
    """Pieces of structs of about the same size, `length` bytes in all, joined to chunks of about CHUNK bytes."""
    step = max(1, len(pieces) * CHUNK // length)
    return (b"".join(pieces[start : start + step]) for start in range(0, len(pieces), step))


def list_head(count: int, *, wrapped: bool = False) -> tuple[bytes, bytes]:
    """The bytes before and after the structs of a result whose success value is a list of `count` of them.

    Wrapped, the success value is a struct that has the list as its field 1.
    """
    if wrapped:
        return _SUCCESS + b"\x0f\x00\x01\x0c" + pack(count), b"\x00\x00"
    return b"\x0f\x00\x00\x0c" + pack(count), STOP


def list_reply(structs: Iterable[bytes], count: int) -> bytes:
    head, tail = list_head(count)
    return b"".join((head, *structs, tail))


def wrapped_list(structs: Iterable[bytes], count: int) -> bytes:
    """As `list_head`, where the list is field 1 of a struct."""
    head, tail = list_head(count, wrapped=True)
    return b"".join((head, *structs, tail))


def flagged_list(structs: Iterable[bytes], count: int, flag: bool) -> bytes:
    """As `wrapped_list`, with a bool as field 2."""
    head, tail = list_head(count, wrapped=True)
    return b"".join((head, *structs, bool_field(2, flag), tail))


def text_list_head(count: int, *, wrapped: bool = False) -> tuple[bytes, bytes]:
    """As `list_head`, for a list of texts."""
    if wrapped:
        return _SUCCESS + b"\x0f\x00\x01\x0b" + pack(count), b"\x00\x00"
    return b"\x0f\x00\x00\x0b" + pack(count), STOP


# --- statistics of columns ----------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _statistics_head(column: str, type: str, number: int) -> bytes:
    return text_field(1, column) + text_field(2, type) + b"\x0c\x00\x03\x0c\x00" + bytes([number])


def statistics_struct(column: str, type: str, number: int, body: bytes) -> bytes:
    """A ColumnStatisticsObj; `number` is the field of the union that the body's kind has."""
    return _statistics_head(column, type, number) + body + b"\x00\x00\x00"


def statistics_by_partition(by_part: Mapping[str, Sequence[bytes]], valid: bool | None) -> bytes:
    """The result struct with a PartitionsStatsResult, spliced: there may be a hundred thousand columns in it."""
    out = [_SUCCESS, b"\x0d\x00\x01\x0b\x0f", pack(len(by_part))]
    for name, objects in by_part.items():
        text = name.encode("utf-8", "surrogateescape")
        out += (pack(len(text)), text, b"\x0c", pack(len(objects)), *objects)
    if valid is not None:
        out.append(bool_field(2, valid))
    out += (STOP, STOP)
    return b"".join(out)


# --- open transactions --------------------------------------------------------------------------------------------


def open_transactions(highest: int, ids: Sequence[int], lowest: int | None, aborted: bytes | None) -> bytes:
    """The result struct with a GetOpenTxnsResponse; without bits for the aborted ones the ids are a set, as in 2.3."""
    parts = [
        _SUCCESS + b"\x0a\x00\x01",
        binary.pack_q(highest),
        _I64_SET if aborted is None else _I64_LIST,
        pack_values(f">hbi{len(ids)}q", 2, 10, len(ids), *ids),
    ]
    if lowest is not None:
        parts += (b"\x0a\x00\x03", binary.pack_q(lowest))
    if aborted is not None:
        parts += (b"\x0b\x00\x04", pack(len(aborted)), aborted)
    return b"".join((*parts, STOP, STOP))
